use bytemuck::{Pod, Zeroable};

use crate::RenderError;

/// Where a mesh lies and how large its voxels are, by its slot.
///
/// ```text
///  level 0   ┌┬┬┬┐ 1 unit a voxel       level 1   ┌─┬─┬─┬─┐ 2 units a voxel
///            ├┼┼┼┤                                ├─┼─┼─┼─┤
///            └┴┴┴┘ extent 4                       └─┴─┴─┴─┘ extent 8
///            └ origin                             └ origin
/// ```
/// A place in the mesh, which its quads count in voxels, lies at `origin + place · 2^level`.
/// A unit is the side of a voxel of level 0. The scale is a power of two, so scaling rounds
/// nothing: a mesh of larger voxels has its corners at the very places that as many smaller
/// ones have them.
///
/// Shaders that draw read the first four words, those that cull all five.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct DrawData {
    /// Where the mesh's local (0, 0, 0) lies, in units. The shader subtracts the camera's
    /// voxel from it in integers, so no world coordinate is ever an `f32`. Where corners are
    /// darkened, it must be a multiple of 2^`level`.
    pub origin: [i32; 3],
    /// The mesh's voxels are 2^`level` units a side: 0 to [`MAX_LEVEL`](Self::MAX_LEVEL).
    pub level: u32,
    /// Units a side: the mesh lies within `origin` to `origin + extent`. A chunk of `side`
    /// voxels has `side << level`.
    pub extent: u32,
}

const _: () = assert!(size_of::<DrawData>() == 20);

impl DrawData {
    /// The highest level: then the longest quad, of 64 voxels, is 2^30 units long, and
    /// places still fit 31 bits. Shaders take higher ones for this.
    pub const MAX_LEVEL: u32 = 24;

    /// Bytes of it that shaders which draw read, by slot.
    pub(crate) const SHADER_BYTES: usize = 16;

    /// What shaders read of slots from `first` on, as far as there are so many slots.
    pub(crate) fn shader_bytes(data: &[Self], first: u32, slots: u32) -> Vec<u8> {
        let room = slots.saturating_sub(first) as usize;
        let read = data.iter().take(room);
        read.flat_map(|data| &bytemuck::bytes_of(data)[..Self::SHADER_BYTES]).copied().collect()
    }

    /// Units that a voxel of the mesh is long, as shaders have it.
    pub(crate) fn scale(&self) -> f32 {
        (1u32 << self.level.min(Self::MAX_LEVEL)) as f32
    }

    /// Checks that there is such a level.
    ///
    /// # Errors
    /// `BadTransform`.
    pub(crate) fn check(&self) -> Result<(), RenderError> {
        if self.level > Self::MAX_LEVEL {
            let reason = "its level is above 24, the highest that there is";
            return Err(RenderError::BadTransform { reason });
        }
        Ok(())
    }

    /// Whether the origin is where a voxel of that size may begin: at a multiple of it.
    pub(crate) fn is_on_grid(&self) -> bool {
        let within = (1 << self.level.min(Self::MAX_LEVEL)) - 1;
        self.origin.iter().all(|coordinate| coordinate & within == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_that_there_are_double_the_scale() {
        for level in 0..=DrawData::MAX_LEVEL {
            let place = DrawData { origin: [0; 3], level, extent: 0 };
            assert!(place.check().is_ok());
            assert_eq!(place.scale(), 2f32.powi(level as i32));
        }
        for level in [DrawData::MAX_LEVEL + 1, 31, 32, u32::MAX] {
            let place = DrawData { level, ..DrawData::default() };
            assert!(matches!(place.check(), Err(RenderError::BadTransform { .. })));
            assert_eq!(place.scale(), 2f32.powi(24));
        }
    }

    #[test]
    fn grids_are_of_the_levels_voxels() {
        let at = |coordinate, level| {
            DrawData { origin: [0, coordinate, 0], level, extent: 1 }.is_on_grid()
        };
        assert!(at(-7, 0) && at(6, 1) && at(-8, 3) && at(i32::MIN, 24) && at(0, 99));
        assert!(!at(-7, 1) && !at(6, 2) && !at(1 << 23, 24));
    }

    #[test]
    fn shaders_that_draw_read_origin_and_level() {
        let place = DrawData { origin: [1, -2, 3], level: 4, extent: 5 };
        let bytes = DrawData::shader_bytes(&[place, DrawData::default(), place], 7, 9);
        let words: Vec<i32> = bytemuck::pod_collect_to_vec(&bytes);
        assert_eq!(words, [1, -2, 3, 4, 0, 0, 0, 0]);
        assert!(DrawData::shader_bytes(&[place], 9, 9).is_empty());
    }
}
