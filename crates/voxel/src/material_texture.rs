use alloc::sync::Arc;
use core::fmt;

use crate::Error;
use crate::error::MAX_TEXTURE_SIDE;

/// Square image on the faces of voxels. It covers the face of one voxel of level 0, and repeats with
/// each voxel.
///
/// Its colours multiply the colour of the material. On side faces the first row is at the top. On top
/// faces columns follow X and rows follow Z; on bottom faces rows run against Z.
///
/// # Cost
/// 4 bytes for each texel, shared by clones.
///
/// # Examples
/// ```
/// use drystone_voxel::{MaterialKind, MaterialTable, MaterialTexture};
///
/// let mut table = MaterialTable::new();
/// // Two by two texels: red, green, blue and opacity of each. One is a hole.
/// let texels = [[255; 4], [200, 200, 200, 255], [180, 180, 180, 255], [0; 4]];
/// let texture = table.insert_texture(MaterialTexture::new(2, texels.concat())?)?;
/// let leaves = MaterialKind::new("leaves", [60, 140, 40, 255]).with_cut_out();
/// let leaves = table.with_textures(leaves, [Some(texture); 6])?;
/// let number = table.insert_kind(leaves).unwrap();
/// assert!(table.is_cut_out(number) && !table.covers(number));
/// # Ok::<(), drystone_voxel::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct MaterialTexture {
    side: u32,
    rgba: Arc<[u8]>,
}

impl MaterialTexture {
    /// Maximum number of texels along a side.
    pub const MAX_SIDE: u32 = MAX_TEXTURE_SIDE;

    /// Creates a texture of `side` × `side` texels: red, green, blue and opacity of each, row by row from
    /// the top.
    ///
    /// # Errors
    /// `TextureSize` if the side is not a power of two up to [`MAX_SIDE`](Self::MAX_SIDE), or the number
    /// of bytes does not match.
    pub fn new(side: u32, rgba: impl Into<Arc<[u8]>>) -> Result<Self, Error> {
        let rgba = rgba.into();
        let is_side = side.is_power_of_two() && side <= Self::MAX_SIDE;
        if !is_side || rgba.len() != 4 * side as usize * side as usize {
            return Err(Error::TextureSize { side, bytes: rgba.len() });
        }
        Ok(Self { side, rgba })
    }

    /// Number of texels along a side.
    pub const fn side(&self) -> u32 {
        self.side
    }

    /// Returns red, green, blue and opacity of all texels, row by row from the top.
    pub const fn rgba(&self) -> &Arc<[u8]> {
        &self.rgba
    }
}

impl fmt::Debug for MaterialTexture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MaterialTexture").field("side", &self.side).finish_non_exhaustive()
    }
}
