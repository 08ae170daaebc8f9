use bytemuck::{Pod, Zeroable};

use crate::error::RenderError;

/// Position and voxel size of a mesh, indexed by its slot.
///
/// ```text
/// level 0   ┌┬┬┬┐ 1 unit a voxel          level 1   ┌─┬─┬─┬─┐ 2 units a voxel
/// ├┼┼┼┤                                   ├─┼─┼─┼─┤
/// └┴┴┴┘ extent 4                          └─┴─┴─┴─┘ extent 8
/// └ origin                                └ origin
/// ```
/// A position in the mesh, counted in the mesh's voxels, lies at `origin + position · 2^level`. A
/// unit is the side of a voxel of level 0. The scale is a power of two, so scaling does not round:
/// the corners of LOD voxels coincide with corners of full-detail voxels.
///
/// Shaders that draw read the first four words; those that cull read five.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct DrawData {
    /// Position of the mesh's local (0, 0, 0), in units. The shader subtracts the camera's voxel
    /// from it in integers, so no world coordinate is ever an `f32`. With ambient occlusion it must
    /// be a multiple of 2^`level`.
    pub origin: [i32; 3],
    /// Level of detail: the mesh's voxels are 2^`level` units a side. 0 to
    /// [`MAX_LEVEL`](Self::MAX_LEVEL).
    pub level: u32,
    /// Side of the mesh's box, in units: the mesh lies within `origin` to `origin + extent`. A
    /// chunk of `side` voxels has `side << level`.
    pub extent: u32,
    /// Order of meshes at one distance in one cell of the grid, 0 to 15, such as the parts of one mesh.
    /// Of blended ones, higher ranks are drawn first, of opaque ones lower ranks.
    pub sort_rank: u32,
}

const _: () = assert!(size_of::<DrawData>() == 24);

impl DrawData {
    /// The highest level. The longest quad, of 64 voxels, is then 2^30 units long, and positions
    /// still fit 31 bits. Shaders clamp higher levels to this one.
    pub const MAX_LEVEL: u32 = 24;

    /// Bytes for each slot that drawing shaders read.
    pub const SHADER_BYTES: usize = 16;

    /// Shader bytes of `data` for the slots from `first` on, cut at `slots` slots.
    #[cfg(any(feature = "wgpu", feature = "gl", test))]
    pub(crate) fn shader_bytes(data: &[Self], first: u32, slots: u32) -> Vec<u8> {
        let count = slots.saturating_sub(first) as usize;
        let read = data.iter().take(count);
        read.flat_map(|data| &bytemuck::bytes_of(data)[..Self::SHADER_BYTES]).copied().collect()
    }

    /// Side of the mesh's voxels in units, as shaders compute it.
    #[cfg(any(feature = "soft", test))]
    pub(crate) fn scale(&self) -> f32 {
        voxel_scale(self.level)
    }

    /// Checks that the level is not above the maximum.
    ///
    /// # Errors
    /// `BadTransform`.
    pub(crate) fn check(&self) -> Result<(), RenderError> {
        if self.level > Self::MAX_LEVEL {
            let reason = "its level is above the maximum of 24";
            return Err(RenderError::BadTransform { reason });
        }
        Ok(())
    }

    /// Whether the origin is a multiple of the voxel size.
    pub(crate) fn is_on_grid(&self) -> bool {
        let within = (1 << self.level.min(Self::MAX_LEVEL)) - 1;
        self.origin.iter().all(|coordinate| coordinate & within == 0)
    }
}

/// Side of the voxels of a level in units, as shaders compute it.
#[cfg(any(feature = "soft", feature = "wgpu", test))]
pub(crate) fn voxel_scale(level: u32) -> f32 {
    (1u32 << level.min(DrawData::MAX_LEVEL)) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_doubles_the_scale() {
        for level in 0..=DrawData::MAX_LEVEL {
            let data = DrawData { origin: [0; 3], level, extent: 0, sort_rank: 0 };
            assert!(data.check().is_ok());
            assert_eq!(data.scale(), 2f32.powi(level as i32));
        }
        for level in [DrawData::MAX_LEVEL + 1, 31, 32, u32::MAX] {
            let data = DrawData { level, ..DrawData::default() };
            assert!(matches!(data.check(), Err(RenderError::BadTransform { .. })));
            assert_eq!(data.scale(), 2f32.powi(24));
        }
    }

    #[test]
    fn the_grid_is_that_of_the_level() {
        let at = |coordinate, level| {
            DrawData { origin: [0, coordinate, 0], level, extent: 1, sort_rank: 0 }.is_on_grid()
        };
        assert!(at(-7, 0) && at(6, 1) && at(-8, 3) && at(i32::MIN, 24) && at(0, 99));
        assert!(!at(-7, 1) && !at(6, 2) && !at(1 << 23, 24));
    }

    #[test]
    fn shaders_that_draw_read_origin_and_level() {
        let data = DrawData { origin: [1, -2, 3], level: 4, extent: 5, sort_rank: 0 };
        let bytes = DrawData::shader_bytes(&[data, DrawData::default(), data], 7, 9);
        let words: Vec<i32> = bytemuck::pod_collect_to_vec(&bytes);
        assert_eq!(words, [1, -2, 3, 4, 0, 0, 0, 0]);
        assert!(DrawData::shader_bytes(&[data], 9, 9).is_empty());
    }
}
