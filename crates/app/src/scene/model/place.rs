use drystone_render::TriangleTransform;
use drystone_world::ModelBounds;
use glam::DVec3;

/// Voxels that the longest side of a model becomes, at the most and more than half of it.
const LONGEST_SIDE: f64 = 64.0;

/// Powers of two that a model may be enlarged by: what 32-bit numbers have.
const EXPONENTS: [f64; 2] = [-126.0, 126.0];

/// Where a model stands in the world: its middle in the lowest corner of voxel (0, 0, 0),
/// its longest side 32 to 64 voxels long. So one camera, one depth range and one haze do
/// for models of any unit, and no model is too small or too far out for 32-bit numbers.
///
/// The scale is a power of two, so that shaders round nothing by it.
///
/// # Examples
/// ```
/// use drystone::scene::ModelTransform;
/// use drystone_world::ModelBounds;
/// use glam::DVec3;
///
/// let place = ModelTransform::of(&ModelBounds { min: [1e5, 0.0, 0.0], max: [3e5, 1e5, 1e5] });
/// assert_eq!(place.to_world(DVec3::new(2e5, 5e4, 5e4)), DVec3::ZERO);
/// let (min, max) = place.corners();
/// assert!(max.x - min.x > 32.0 && max.x - min.x <= 64.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelTransform {
    /// The model's middle, in its own units.
    middle: DVec3,
    /// Voxels that one of its units is long.
    scale: f64,
    /// From its middle to its highest corner, in voxels.
    half: DVec3,
}

impl Default for ModelTransform {
    /// Of a model of no polygons: a voxel a unit.
    fn default() -> Self {
        Self { middle: DVec3::ZERO, scale: 1.0, half: DVec3::splat(8.0) }
    }
}

impl ModelTransform {
    /// The place of a model that lies within these bounds.
    pub fn of(bounds: &ModelBounds) -> Self {
        let corner = |numbers: [f32; 3]| DVec3::from(numbers.map(f64::from));
        let (min, max) = (corner(bounds.min), corner(bounds.max));
        let (size, middle) = (max - min, (min + max) / 2.0);
        // A model that is one point has no size to be enlarged by.
        let longest = if size.max_element() > 0.0 { size.max_element() } else { LONGEST_SIDE };
        let [least, most] = EXPONENTS;
        let scale = (LONGEST_SIDE / longest).log2().floor().clamp(least, most).exp2();
        Self { middle, scale, half: size * scale / 2.0 }
    }

    /// Where in the world a point of the model is, in voxels.
    pub fn to_world(&self, point: DVec3) -> DVec3 {
        (point - self.middle) * self.scale
    }

    /// The lowest and the highest corner of the model in the world, in voxels.
    pub fn corners(&self) -> (DVec3, DVec3) {
        (-self.half, self.half)
    }

    /// A point of the model relative to its middle: what vertices hold.
    pub(super) fn vertex(&self, position: [f32; 3]) -> [f32; 3] {
        (DVec3::from(position.map(f64::from)) - self.middle).as_vec3().to_array()
    }

    /// What renderers are told.
    pub fn triangle_transform(&self) -> TriangleTransform {
        TriangleTransform { origin: [0; 3], scale: self.scale as f32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_of_any_unit_end_up_alike() {
        for exponent in -36..=38 {
            let side = 10f32.powi(exponent);
            for offset in [0.0, side * 1000.0] {
                let bounds = ModelBounds {
                    min: [offset, -side, 0.0],
                    max: [offset + side, 0.0, side / 4.0],
                };
                if !bounds.max[0].is_finite() {
                    continue;
                }
                let place = ModelTransform::of(&bounds);
                let (min, max) = place.corners();
                let longest = (max - min).max_element();
                assert!(longest > 32.0 && longest <= 64.0, "{side}: {longest}");
                let scale = place.triangle_transform().scale;
                assert_eq!(f64::from(scale), place.scale);
                assert_eq!(scale.to_bits() << 9, 0, "{scale} is no power of two");
                let low = place.vertex(bounds.min).map(|number| number * scale);
                let off = (DVec3::from(low.map(f64::from)) - min).abs().max_element();
                assert!(off < 1e-4, "{side} {offset}: {off}");
            }
        }
    }

    #[test]
    fn a_point_and_nothing_have_places_too() {
        let point = ModelTransform::of(&ModelBounds { min: [5.0; 3], max: [5.0; 3] });
        assert_eq!(point.corners(), (DVec3::ZERO, DVec3::ZERO));
        assert_eq!(point.to_world(DVec3::splat(6.0)), DVec3::ONE);
        assert!(ModelTransform::default().corners().1.x > 0.0);
    }
}
