use alloc::vec::Vec;

use crate::error::{Error, full};

/// Plane and the half space on its inside, where `normal · position + offset` is not negative.
///
/// # Examples
/// ```
/// use drystone_mesh::Plane;
///
/// let floor = Plane::new([0.0, 2.0, 0.0], -2.0)?;
/// assert_eq!(floor.distance([7.0, 3.0, 0.0]), 4.0);
/// assert_eq!(floor.opposite().distance([7.0, 3.0, 0.0]), -4.0);
/// # Ok::<(), drystone_mesh::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    normal: [f64; 3],
    offset: f64,
}

impl Plane {
    /// Creates a plane from a normal, of any length, and an offset.
    ///
    /// # Errors
    /// `NoPlane` if the normal is zero or a number is not finite.
    pub fn new(normal: [f32; 3], offset: f32) -> Result<Self, Error> {
        Self::of(normal.map(f64::from), offset.into())
    }

    /// Creates the plane through three points. They are counter-clockwise seen from the inside.
    ///
    /// # Errors
    /// `NoPlane` if the points are on a line or not finite.
    pub fn through(a: [f32; 3], b: [f32; 3], c: [f32; 3]) -> Result<Self, Error> {
        let a = a.map(f64::from);
        Self::at(a, cross(minus(b.map(f64::from), a), minus(c.map(f64::from), a)))
    }

    /// Creates a plane from a normal and a point.
    fn at(point: [f64; 3], normal: [f64; 3]) -> Result<Self, Error> {
        let largest = normal.iter().fold(0.0, |max, n: &f64| n.abs().max(max));
        if largest == 0.0 {
            return Err(Error::NoPlane);
        }
        let normal = normal.map(|n| n / largest);
        Self::of(normal, -dot(normal, point))
    }

    fn of(normal: [f64; 3], offset: f64) -> Result<Self, Error> {
        let is_finite = normal.iter().all(|n| n.is_finite()) && offset.is_finite();
        match is_finite && normal != [0.0; 3] {
            true => Ok(Self { normal, offset }),
            false => Err(Error::NoPlane),
        }
    }

    /// Returns the plane with inside and outside exchanged. Distances differ only in their sign,
    /// bit by bit.
    pub fn opposite(&self) -> Self {
        Self { normal: self.normal.map(|n| -n), offset: -self.offset }
    }

    /// Returns the distance of a position times the length of the normal: positive inside, negative
    /// outside.
    #[inline]
    pub fn distance(&self, position: [f32; 3]) -> f64 {
        dot(self.normal, position.map(f64::from)) + self.offset
    }

    /// Returns the smallest and the largest distance of all positions between `low` and `high`.
    #[inline]
    pub(super) fn distances(&self, low: [f32; 3], high: [f32; 3]) -> (f64, f64) {
        let far = |n: usize| if self.normal[n] < 0.0 { low[n] } else { high[n] };
        let near = |n: usize| if self.normal[n] < 0.0 { high[n] } else { low[n] };
        (self.distance([near(0), near(1), near(2)]), self.distance([far(0), far(1), far(2)]))
    }

    /// Whether a normal points away from the inside.
    pub(super) fn is_faced_away(&self, normal: [f64; 3]) -> bool {
        dot(self.normal, normal) < 0.0
    }
}

/// Appends the planes of a camera's frustum. `matrix` transforms positions to clip space, column by
/// column, where `|x|, |y| ≤ w` and `0 ≤ z ≤ w` are inside. Depth may be reversed. A plane at
/// infinity is omitted.
///
/// # Errors
/// `NoPlane` if a number is not finite, `Full` if the heap is out of memory. Nothing is appended
/// then.
pub fn frustum(matrix: &[[f32; 4]; 4], planes: &mut Vec<Plane>) -> Result<(), Error> {
    let row = |n: usize| -> [f64; 4] { core::array::from_fn(|column| matrix[column][n].into()) };
    let (x, y, z, w) = (row(0), row(1), row(2), row(3));
    let sum = |a: [f64; 4], b: [f64; 4], sign: f64| core::array::from_fn(|n| a[n] + sign * b[n]);
    let rows: [[f64; 4]; 6] =
        [sum(w, x, 1.0), sum(w, x, -1.0), sum(w, y, 1.0), sum(w, y, -1.0), z, sum(w, z, -1.0)];
    if rows.as_flattened().iter().any(|n| !n.is_finite()) {
        return Err(Error::NoPlane);
    }
    reserve(planes, rows.len())?;
    let finite = rows.iter().filter_map(|&[x, y, z, w]| Plane::of([x, y, z], w).ok());
    planes.extend(finite);
    Ok(())
}

/// Appends the sides of the infinite pyramid from `apex` through a convex polygon: the volume lit
/// by a spot light, or visible through a window, on both sides of the polygon.
///
/// # Errors
/// `TooFewCorners` for fewer than three corners. `NoPlane` if `apex` is in the polygon's plane or a
/// number is not finite. `Full` if the heap is out of memory. Nothing is appended then.
pub fn pyramid(apex: [f32; 3], base: &[[f32; 3]], planes: &mut Vec<Plane>) -> Result<(), Error> {
    portal_planes(apex, base, planes, false)
}

/// Appends the sides of the [`pyramid`] and the plane of `base`: the volume behind a portal that is
/// visible through it.
///
/// # Errors
/// `TooFewCorners` for fewer than three corners. `NoPlane` if `apex` is in the polygon's plane or a
/// number is not finite. `Full` if the heap is out of memory. Nothing is appended then.
pub fn portal(apex: [f32; 3], base: &[[f32; 3]], planes: &mut Vec<Plane>) -> Result<(), Error> {
    portal_planes(apex, base, planes, true)
}

fn portal_planes(
    apex: [f32; 3],
    base: &[[f32; 3]],
    planes: &mut Vec<Plane>,
    is_behind: bool,
) -> Result<(), Error> {
    let count = base.len();
    if count < 3 {
        return Err(Error::TooFewCorners { count });
    }
    let point = |n: usize| base[n % count].map(f64::from);
    let front = Plane::at(point(0), newell(base.iter().copied()))?;
    let apex_distance = front.distance(apex);
    if apex_distance == 0.0 {
        return Err(Error::NoPlane);
    }
    reserve(planes, count + 1)?;
    let first = planes.len();
    let apex = apex.map(f64::from);
    for n in 0..count {
        // With counter-clockwise winding, the inside is to the left of each edge.
        let normal = cross(minus(point(n + 1), apex), minus(point(n), apex));
        let normal = if apex_distance > 0.0 { normal } else { normal.map(|n| -n) };
        match Plane::at(apex, normal) {
            Ok(plane) => planes.push(plane),
            Err(error) => {
                planes.truncate(first);
                return Err(error);
            }
        }
    }
    if is_behind {
        planes.push(if apex_distance > 0.0 { front.opposite() } else { front });
    }
    Ok(())
}

fn reserve(planes: &mut Vec<Plane>, count: usize) -> Result<(), Error> {
    planes.try_reserve(count).map_err(|_| full(count * size_of::<Plane>()))
}

/// Returns the normal of a polygon, with twice its area as the length. It points to the side from
/// which the polygon is counter-clockwise.
pub(super) fn newell(mut positions: impl Iterator<Item = [f32; 3]>) -> [f64; 3] {
    let Some(first) = positions.next() else { return [0.0; 3] };
    let first = first.map(f64::from);
    let (mut sum, mut last) = ([0.0; 3], [0.0; 3]);
    for position in positions {
        let next = minus(position.map(f64::from), first);
        let area = cross(last, next);
        sum = core::array::from_fn(|n| sum[n] + area[n]);
        last = next;
    }
    sum
}

#[inline]
fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline]
fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    core::array::from_fn(|n| a[n] - b[n])
}

#[inline]
fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: [[f32; 3]; 4] =
        [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]];

    fn is_inside(planes: &[Plane], position: [f32; 3]) -> bool {
        planes.iter().all(|plane| plane.distance(position) >= 0.0)
    }

    #[test]
    fn invalid_planes_are_errors() {
        assert_eq!(Plane::new([0.0; 3], 1.0), Err(Error::NoPlane));
        assert_eq!(Plane::new([f32::NAN, 0.0, 1.0], 1.0), Err(Error::NoPlane));
        assert_eq!(Plane::new([1.0, 0.0, 1.0], f32::INFINITY), Err(Error::NoPlane));
        let [a, b, _, _] = SQUARE;
        assert_eq!(Plane::through(a, b, a), Err(Error::NoPlane));
        let mut planes = Vec::new();
        assert_eq!(pyramid([5.0, 0.0, 0.0], &SQUARE, &mut planes), Err(Error::NoPlane));
        assert_eq!(
            portal([0.0; 3], &SQUARE[..2], &mut planes),
            Err(Error::TooFewCorners { count: 2 })
        );
        assert_eq!(frustum(&[[f32::NAN; 4]; 4], &mut planes), Err(Error::NoPlane));
        assert!(planes.is_empty());
    }

    #[test]
    fn a_portal_works_from_both_sides() {
        for side in [1.0, -1.0] {
            let (mut cone, mut behind) = (Vec::new(), Vec::new());
            pyramid([0.0, 0.0, side], &SQUARE, &mut cone).unwrap();
            portal([0.0, 0.0, side], &SQUARE, &mut behind).unwrap();
            for (position, in_cone, is_behind) in [
                ([0.0, 0.0, 0.5 * side], true, false),
                ([0.0, 0.0, -side], true, true),
                ([1.9, 0.0, -side], true, true),
                ([2.1, 0.0, -side], false, false),
                ([0.0, -2.1, -side], false, false),
            ] {
                assert_eq!(is_inside(&cone, position), in_cone, "{position:?} {side}");
                assert_eq!(is_inside(&behind, position), is_behind, "{position:?} {side}");
            }
        }
    }

    #[test]
    fn a_frustum_contains_the_positions_inside_clip_space() {
        // Camera along +z with a near plane at 1 and no far plane: clip space is (x, y, 1, z).
        let matrix = [
            [1.0, 0.0, 0.0, 0.0],
            [0.0, 1.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 1.0],
            [0.0, 0.0, 1.0, 0.0],
        ];
        let mut planes = Vec::new();
        frustum(&matrix, &mut planes).unwrap();
        assert_eq!(planes.len(), 5);
        assert!(is_inside(&planes, [0.0, 0.0, 1.5]) && is_inside(&planes, [99.0, -99.0, 100.0]));
        assert!(!is_inside(&planes, [0.0, 0.0, 0.5]) && !is_inside(&planes, [3.0, 0.0, 2.0]));
    }
}
