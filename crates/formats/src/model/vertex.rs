use std::num::NonZeroU32;

use drystone_mesh::Interpolate;

/// Largest step of one coordinate of a stored direction; steps are stored plus 1.
const STEPS: f64 = 65_534.0;

/// Vertex data of a [`Model`](super::Model) beside position and texture coordinates: an optional
/// normal.
///
/// The normal is stored in 4 bytes: an octahedral map, which unfolds the sphere to a square of
/// 65,535² points. The error is below 0.004 degrees. Equal normals stay equal, and the axes are
/// exact.
///
/// # Examples
/// ```
/// use drystone_formats::ModelVertex;
///
/// let up = ModelVertex::new(Some([0.0, 12.0, 0.0]));
/// assert_eq!(up.normal(), Some([0.0, 1.0, 0.0]));
/// assert_eq!(ModelVertex::new(Some([0.0; 3])), ModelVertex::new(None));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ModelVertex {
    /// Two 16-bit numbers from 1 to 65,535.
    normal: Option<NonZeroU32>,
}

impl ModelVertex {
    /// Creates a vertex with a normal in the direction of the vector, whose length is ignored. A
    /// vector without direction (zero, NaN, infinite) means no normal.
    pub fn new(normal: Option<[f32; 3]>) -> Self {
        Self { normal: normal.and_then(|normal| fold(normal.map(f64::from))) }
    }

    /// Creates a vertex from an `f64` vector, whose length may be out of the range of `f32`.
    pub(super) fn toward(normal: [f64; 3]) -> Self {
        Self { normal: fold(normal) }
    }

    /// The normal, with length 1.
    pub fn normal(&self) -> Option<[f32; 3]> {
        self.normal.map(|normal| unfold(normal).map(|number| number as f32))
    }
}

/// Interpolates the direction. The result has no normal if either vertex has none or the normals
/// are opposite.
impl Interpolate for ModelVertex {
    fn interpolate(&self, other: &Self, t: f32) -> Self {
        if self == other {
            return *self;
        }
        let (Some(a), Some(b)) = (self.normal, other.normal) else { return Self::default() };
        let (a, b, t) = (unfold(a), unfold(b), f64::from(t));
        Self { normal: fold([0, 1, 2].map(|axis| a[axis] + (b[axis] - a[axis]) * t)) }
    }
}

/// Maps a direction to a point of the square.
fn fold([x, y, z]: [f64; 3]) -> Option<NonZeroU32> {
    let sum = x.abs() + y.abs() + z.abs();
    if !(sum.is_finite() && sum > 0.0) {
        return None;
    }
    // Zeros of both signs are the same direction.
    let (x, y) = (x / sum + 0.0, y / sum + 0.0);
    // The corners of the square are the lower half of the octahedron.
    let (x, y) = match z < 0.0 {
        true => ((1.0 - y.abs()).copysign(x), (1.0 - x.abs()).copysign(y)),
        false => (x, y),
    };
    let step = |number: f64| ((number + 1.0) / 2.0 * STEPS).round() as u32 + 1;
    NonZeroU32::new(step(x) << 16 | step(y))
}

fn unfold(point: NonZeroU32) -> [f64; 3] {
    let number = |step: u32| f64::from(step.saturating_sub(1)) / STEPS * 2.0 - 1.0;
    let (x, y) = (number(point.get() >> 16), number(point.get() & 0xffff));
    let z = 1.0 - x.abs() - y.abs();
    let back = (-z).max(0.0);
    let (x, y) = (x - back.copysign(x), y - back.copysign(y));
    let length = (x * x + y * y + z * z).sqrt();
    [x, y, z].map(|number| number / length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn degrees_between(a: [f64; 3], b: [f32; 3]) -> f64 {
        let b = b.map(f64::from);
        let cross =
            [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
        let dot: f64 = (0..3).map(|n| a[n] * b[n]).sum();
        cross.iter().map(|n| n * n).sum::<f64>().sqrt().atan2(dot).to_degrees()
    }

    #[test]
    fn normals_are_stored_within_the_stated_angle() {
        let mut worst = 0.0_f64;
        for n in 0..100_000 {
            // A spiral from pole to pole.
            let (y, turn) = (1.0 - f64::from(n) / 50_000.0, f64::from(n) * 2.4);
            let radius = (1.0 - y * y).max(0.0).sqrt();
            let normal = [radius * turn.cos(), y, radius * turn.sin()];
            let vertex = ModelVertex::new(Some(normal.map(|n| n as f32)));
            worst = worst.max(degrees_between(normal, vertex.normal().unwrap()));
        }
        assert!((0.0005..0.004).contains(&worst), "{worst}");
    }

    #[test]
    fn axes_and_diagonals_are_exact() {
        for axis in 0..3 {
            for sign in [1.0, -1.0] {
                let mut normal = [0.0; 3];
                normal[axis] = sign;
                assert_eq!(ModelVertex::new(Some(normal)).normal(), Some(normal));
            }
        }
        let normal = ModelVertex::new(Some([-3.0, -3.0, -3.0])).normal().unwrap();
        assert!(degrees_between([-0.57735027; 3], normal) < 0.004);
    }

    #[test]
    fn vectors_without_direction_are_no_normals() {
        for normal in [[0.0; 3], [f32::NAN, 0.0, 1.0], [f32::INFINITY, 0.0, 0.0]] {
            assert_eq!(ModelVertex::new(Some(normal)).normal(), None);
        }
        for normal in [[-0.0, 0.0, -1.0], [0.0, -0.0, -1.0], [-0.0, -0.0, -1.0]] {
            let plain = ModelVertex::new(Some([0.0, 0.0, -1.0]));
            assert_eq!(ModelVertex::new(Some(normal)), plain, "a zero has no side");
        }
        assert_eq!(ModelVertex::new(Some([0.0, f32::MAX, 0.0])).normal(), Some([0.0, 1.0, 0.0]));
    }

    #[test]
    fn interpolation_of_two_normals() {
        let vertex = |normal| ModelVertex::new(Some(normal));
        let (x, y) = (vertex([1.0, 0.0, 0.0]), vertex([0.0, 1.0, 0.0]));
        let middle = x.interpolate(&y, 0.5).normal().unwrap();
        assert!(degrees_between([0.5f64.sqrt(), 0.5f64.sqrt(), 0.0], middle) < 0.004);
        assert_eq!((x.interpolate(&y, 0.0), x.interpolate(&y, 1.0)), (x, y));
        assert_eq!(x.interpolate(&ModelVertex::new(None), 0.5).normal(), None);
        assert_eq!(x.interpolate(&vertex([-1.0, 0.0, 0.0]), 0.5).normal(), None);
    }
}
