use drystone_formats::ModelBounds;
use drystone_render::TriangleTransform;
use glam::DVec3;

/// Maximum length of a model's longest side, in voxels; the result is more than half of it.
const MAX_SIDE: f64 = 64.0;

/// Range of exponents of the scale: that of 32-bit floats.
const EXPONENTS: [f64; 2] = [-126.0, 126.0];

/// Transform of a model to the world: its middle moves to the origin, and its longest side becomes
/// 32 to 64 voxels long. The same camera, depth range and haze then work for models in any unit,
/// and 32-bit floats suffice for all of them.
///
/// The scale is a power of two, so that shaders multiply by it without rounding.
///
/// # Examples
/// ```
/// use drystone::scene::ModelTransform;
/// use drystone_formats::ModelBounds;
/// use glam::DVec3;
///
/// let transform = ModelTransform::of(&ModelBounds { min: [1e5, 0.0, 0.0], max: [3e5, 1e5, 1e5] });
/// assert_eq!(transform.to_world(DVec3::new(2e5, 5e4, 5e4)), DVec3::ZERO);
/// let (min, max) = transform.corners();
/// assert!(max.x - min.x > 32.0 && max.x - min.x <= 64.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelTransform {
    /// Middle of the model, in its own units.
    middle: DVec3,
    /// Voxels per unit of the model.
    scale: f64,
    /// Vector from its middle to its highest corner, in voxels.
    half: DVec3,
}

impl Default for ModelTransform {
    /// Transform of a model without polygons: one voxel per unit.
    fn default() -> Self {
        Self { middle: DVec3::ZERO, scale: 1.0, half: DVec3::splat(8.0) }
    }
}

impl ModelTransform {
    /// Returns the transform of a model within these bounds.
    pub fn of(bounds: &ModelBounds) -> Self {
        let corner = |numbers: [f32; 3]| DVec3::from(numbers.map(f64::from));
        let (min, max) = (corner(bounds.min), corner(bounds.max));
        let (size, middle) = (max - min, (min + max) / 2.0);
        // A single point has no size to scale by.
        let longest = if size.max_element() > 0.0 { size.max_element() } else { MAX_SIDE };
        let [min, max] = EXPONENTS;
        let scale = (MAX_SIDE / longest).log2().floor().clamp(min, max).exp2();
        Self { middle, scale, half: size * scale / 2.0 }
    }

    /// Converts a point of the model to the world, in voxels.
    pub fn to_world(&self, point: DVec3) -> DVec3 {
        (point - self.middle) * self.scale
    }

    /// Converts a point of the world, in voxels, to the model's units.
    pub fn to_model(&self, point: DVec3) -> DVec3 {
        point / self.scale + self.middle
    }

    /// Returns the lowest and the highest corner of the model in the world, in voxels.
    pub fn corners(&self) -> (DVec3, DVec3) {
        (-self.half, self.half)
    }

    /// Returns a point of the model relative to its middle, as stored in vertices.
    pub(super) fn vertex(&self, position: [f32; 3]) -> [f32; 3] {
        (DVec3::from(position.map(f64::from)) - self.middle).as_vec3().to_array()
    }

    /// Returns the transform for renderers.
    pub(super) fn triangle_transform(&self) -> TriangleTransform {
        TriangleTransform { origin: [0; 3], scale: self.scale as f32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_of_any_unit_get_the_same_size() {
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
                let transform = ModelTransform::of(&bounds);
                let (min, max) = transform.corners();
                let longest = (max - min).max_element();
                assert!(longest > 32.0 && longest <= 64.0, "{side}: {longest}");
                let scale = transform.triangle_transform().scale;
                assert_eq!(f64::from(scale), transform.scale);
                assert_eq!(scale.to_bits() << 9, 0, "{scale} is no power of two");
                let low = transform.vertex(bounds.min).map(|number| number * scale);
                let off = (DVec3::from(low.map(f64::from)) - min).abs().max_element();
                assert!(off < 1e-4, "{side} {offset}: {off}");
            }
        }
    }

    #[test]
    fn a_single_point_and_an_empty_model_have_transforms() {
        let point = ModelTransform::of(&ModelBounds { min: [5.0; 3], max: [5.0; 3] });
        assert_eq!(point.corners(), (DVec3::ZERO, DVec3::ZERO));
        assert_eq!(point.to_world(DVec3::splat(6.0)), DVec3::ONE);
        assert!(ModelTransform::default().corners().1.x > 0.0);
    }
}
