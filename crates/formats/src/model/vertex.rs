use std::num::NonZeroU32;

use drystone_mesh::Interpolate;

/// Largest step of one coordinate of a stored direction; steps are stored plus 1.
const STEPS: f64 = 65_534.0;

/// Largest direction that is no normal but a smoothing group plus 1.
const MAX_GROUP: u32 = 0xffff;

/// Vertex data of a [`Model`](super::Model) beside position and texture coordinates: an optional
/// normal or smoothing group, and a colour. 8 bytes.
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
/// assert_eq!(ModelVertex::new(None).with_smoothing_group(3).smoothing_group(), Some(3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModelVertex {
    /// Two 16-bit numbers from 1 to 65,535; or a smoothing group plus 1.
    direction: Option<NonZeroU32>,
    color: [u8; 4],
}

impl Default for ModelVertex {
    /// White, without a normal.
    fn default() -> Self {
        Self { direction: None, color: [u8::MAX; 4] }
    }
}

impl ModelVertex {
    /// Creates a white vertex with a normal in the direction of the vector, whose length is
    /// ignored. A vector without direction (zero, NaN, infinite) means no normal.
    pub fn new(normal: Option<[f32; 3]>) -> Self {
        let direction = normal.and_then(|normal| fold(normal.map(f64::from)));
        Self { direction, ..Self::default() }
    }

    /// Creates a vertex from an `f64` vector, whose length may be out of the range of `f32`.
    pub(super) fn toward(normal: [f64; 3]) -> Self {
        Self { direction: fold(normal), ..Self::default() }
    }

    /// Replaces the colour, which multiplies that of the material: red, green, blue and opacity in
    /// sRGB.
    #[must_use]
    pub fn with_color(mut self, color: [u8; 4]) -> Self {
        self.color = color;
        self
    }

    /// Sets the smoothing group, unless there is a normal. Numbers above 65,534 are reduced.
    #[must_use]
    pub fn with_smoothing_group(mut self, group: u32) -> Self {
        if self.normal().is_none() {
            self.direction = NonZeroU32::new(group % MAX_GROUP + 1);
        }
        self
    }

    /// The normal, with length 1.
    pub fn normal(&self) -> Option<[f32; 3]> {
        let normal = self.direction.filter(|it| it.get() > MAX_GROUP)?;
        Some(unfold(normal).map(|number| number as f32))
    }

    /// The smoothing group: polygons are shaded as one surface with others of their group. Polygons
    /// of group 0 are flat. `None` without a group, which means one surface of all polygons, or
    /// with a normal.
    pub fn smoothing_group(&self) -> Option<u32> {
        self.direction.map(NonZeroU32::get).filter(|it| *it <= MAX_GROUP).map(|it| it - 1)
    }

    /// The colour, which multiplies that of the material.
    pub const fn color(&self) -> [u8; 4] {
        self.color
    }
}

/// Interpolates direction and colour. The result has no normal if either vertex has none or the
/// normals are opposite. A smoothing group stays if both vertices have it.
impl Interpolate for ModelVertex {
    fn interpolate(&self, other: &Self, t: f32) -> Self {
        if self == other {
            return *self;
        }
        let mixed = |channel: usize| {
            let (a, b) = (f32::from(self.color[channel]), f32::from(other.color[channel]));
            (a + (b - a) * t).round() as u8
        };
        let color = [0, 1, 2, 3].map(mixed);
        let normal = |it: &Self| it.direction.filter(|it| it.get() > MAX_GROUP).map(unfold);
        let direction = match (normal(self), normal(other)) {
            _ if self.direction == other.direction => self.direction,
            (Some(a), Some(b)) => {
                let t = f64::from(t);
                fold([0, 1, 2].map(|axis| a[axis] + (b[axis] - a[axis]) * t))
            }
            _ => None,
        };
        Self { direction, color }
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

    #[test]
    fn groups_and_colours_are_kept_beside_normals() {
        let plain = ModelVertex::new(None);
        assert_eq!((plain.smoothing_group(), plain.color()), (None, [255; 4]));
        for (group, read) in [(0, 0), (65_534, 65_534), (65_535, 0), (u32::MAX, 0)] {
            let vertex = plain.with_smoothing_group(group);
            assert_eq!((vertex.smoothing_group(), vertex.normal()), (Some(read), None));
        }
        // The lowest directions of the map are no groups.
        let corner = ModelVertex::new(Some([-1.0, 0.0, 0.0])).with_smoothing_group(7);
        assert_eq!((corner.smoothing_group(), corner.normal()), (None, Some([-1.0, 0.0, 0.0])));
        let (a, b) = (plain.with_color([0, 100, 0, 255]), plain.with_color([100, 0, 0, 155]));
        assert_eq!(a.interpolate(&b, 0.25).color(), [25, 75, 0, 230]);
        let grouped = [a, b].map(|vertex| vertex.with_smoothing_group(4));
        assert_eq!(grouped[0].interpolate(&grouped[1], 0.5).smoothing_group(), Some(4));
        assert_eq!(grouped[0].interpolate(&b, 0.5).smoothing_group(), None);
    }
}
