use alloc::sync::Arc;
use core::fmt;

use drystone_mesh::Face;

use crate::{Error, MaterialKind, MaterialTable};

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
    pub const MAX_SIDE: u32 = 256;

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

impl MaterialTable {
    /// Maximum number of textures.
    pub const MAX_TEXTURES: usize = 4_096;
    /// Maximum size of all textures, in bytes.
    pub const MAX_TEXTURE_BYTES: usize = 16 << 20;

    /// Adds a texture and returns its number.
    ///
    /// # Errors
    /// `TooManyTextures` beyond [`MAX_TEXTURES`](Self::MAX_TEXTURES) or
    /// [`MAX_TEXTURE_BYTES`](Self::MAX_TEXTURE_BYTES).
    pub fn insert_texture(&mut self, texture: MaterialTexture) -> Result<u16, Error> {
        let bytes =
            self.textures.iter().map(|it| it.rgba.len()).sum::<usize>() + texture.rgba.len();
        let count = self.textures.len();
        if count >= Self::MAX_TEXTURES || bytes > Self::MAX_TEXTURE_BYTES {
            return Err(Error::TooManyTextures { count: count + 1, bytes });
        }
        self.textures.push(texture);
        Ok(count as u16)
    }

    /// Returns all textures by number.
    pub fn textures(&self) -> &[MaterialTexture] {
        &self.textures
    }

    /// Sets the texture of each face direction of a material, in the order of [`Face::ALL`], by their
    /// numbers in this table. `None` is plain colour.
    ///
    /// # Errors
    /// `NoTexture` if a number is not in this table.
    pub fn with_textures(
        &self,
        mut kind: MaterialKind,
        textures: [Option<u16>; Face::COUNT],
    ) -> Result<MaterialKind, Error> {
        self.check_textures(&textures)?;
        kind.textures = textures;
        Ok(kind)
    }

    pub(crate) fn check_textures(
        &self,
        textures: &[Option<u16>; Face::COUNT],
    ) -> Result<(), Error> {
        let count = self.textures.len();
        let wrong = textures.iter().flatten().find(|it| usize::from(**it) >= count);
        wrong.map_or(Ok(()), |&texture| Err(Error::NoTexture { texture, count }))
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    fn texture(side: u32) -> MaterialTexture {
        MaterialTexture::new(side, vec![7; 4 * (side * side) as usize]).unwrap()
    }

    #[test]
    fn sizes_and_numbers_are_checked() {
        for (side, bytes) in
            [(0, 0), (3, 36), (512, 512 * 512 * 4), (4, 63), (4, 65), (u32::MAX, 4)]
        {
            let made = MaterialTexture::new(side, vec![0; bytes]);
            assert_eq!(made, Err(Error::TextureSize { side, bytes }));
        }
        let mut table = MaterialTable::new();
        let kind = || MaterialKind::new("any", [1, 2, 3, 255]);
        let missing = Err(Error::NoTexture { texture: 0, count: 0 });
        assert_eq!(table.with_textures(kind(), [Some(0); 6]), missing);
        let number = table.insert_texture(texture(16)).unwrap();
        let textured = table.with_textures(kind(), [Some(number); 6]).unwrap();
        assert_eq!(textured.texture(Face::PosX), Some(0));
        assert!(table.insert_kind(textured.clone()).is_some());
        // A material of another table may have a texture that does not exist here.
        assert_eq!(MaterialTable::new().insert_kind(textured), None);
        assert_eq!(table.textures(), [texture(16)]);
    }

    #[test]
    fn the_number_and_the_size_of_textures_are_limited() {
        let mut table = MaterialTable::new();
        for _ in 0..MaterialTable::MAX_TEXTURES {
            table.insert_texture(texture(1)).unwrap();
        }
        let error = table.insert_texture(texture(1)).unwrap_err();
        assert!(matches!(error, Error::TooManyTextures { count: 4_097, .. }), "{error}");
        let mut table = MaterialTable::new();
        let large = texture(MaterialTexture::MAX_SIDE);
        for _ in 0..64 {
            table.insert_texture(large.clone()).unwrap();
        }
        let error = table.insert_texture(texture(1)).unwrap_err();
        assert_eq!(error, Error::TooManyTextures { count: 65, bytes: (16 << 20) + 4 });
    }
}
