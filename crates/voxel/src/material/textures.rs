//! Textures of a table of materials.

use drystone_mesh::Face;

use super::{MaterialKind, MaterialTable};
use crate::error::{MAX_TEXTURE_BYTES, MAX_TEXTURES};
use crate::{Error, MaterialTexture};

impl MaterialTable {
    /// Maximum number of textures.
    pub const MAX_TEXTURES: usize = MAX_TEXTURES;
    /// Maximum size of all textures, in bytes.
    pub const MAX_TEXTURE_BYTES: usize = MAX_TEXTURE_BYTES;

    /// Adds a texture and returns its number.
    ///
    /// # Errors
    /// `TooManyTextures` beyond [`MAX_TEXTURES`](Self::MAX_TEXTURES) or
    /// [`MAX_TEXTURE_BYTES`](Self::MAX_TEXTURE_BYTES).
    pub fn insert_texture(&mut self, texture: MaterialTexture) -> Result<u16, Error> {
        let bytes =
            self.textures.iter().map(|it| it.rgba().len()).sum::<usize>() + texture.rgba().len();
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

    pub(super) fn check_textures(
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
