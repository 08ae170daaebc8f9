use std::{collections::BTreeMap, fmt, sync::Arc};

use crate::{error::RenderError, material_look::MaterialLook, texture_set::halved};

/// Square images on the faces of quads, for
/// [`Output::set_textured_materials`](crate::Output::set_textured_materials).
///
/// An image covers a square of 1 × 1 units, and repeats in a grid through the origin of the world. So
/// merged quads need no texture coordinates. Its colours multiply those of the material. Near texels are
/// squares whose edges are one pixel wide; far ones are filtered between mipmaps. Devices do it in the
/// shader with the same arithmetic, so every device shows the same picture.
///
/// On side faces the first row is at the top. On top faces columns follow X and rows follow Z; on bottom
/// faces rows run against Z.
///
/// # Cost
/// 4 bytes for each texel. Devices need a third more for mipmaps, and 32 bytes for each different
/// combination of textures.
///
/// # Examples
/// ```
/// use drystone_render::{MaterialLook, QuadTextures};
///
/// let mut textures = QuadTextures::default();
/// let checks = [[255; 4], [180, 180, 180, 255], [180, 180, 180, 255], [255; 4]];
/// let checks = textures.add(2, checks.concat().into());
/// let stone = MaterialLook::new([130, 130, 130, 255]).with_textures([checks; 6]);
/// assert_eq!(stone.textures[0], Some(0));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuadTextures(Arc<Vec<Tile>>);

#[derive(Clone, PartialEq)]
struct Tile {
    side: u32,
    rgba: Arc<[u8]>,
}

impl fmt::Debug for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tile").field("side", &self.side).finish_non_exhaustive()
    }
}

/// Words that shaders read, and the offset of each material's record in them; 0 for none.
///
/// ```text
/// record: image of each face direction, flags   image: binary logarithm of its side, mipmaps
/// ```
#[derive(Debug, Default)]
pub(crate) struct TileWords {
    pub(crate) words: Vec<u32>,
    pub(crate) records: Vec<u32>,
    /// Whether a record has holes.
    pub(crate) has_holes: bool,
}

/// Number of words of a record. No record and no image begins at 0.
const RECORD_WORDS: usize = 8;
/// Flag of a record: pixels with little opacity are holes.
pub(crate) const CUT_OUT: u32 = 1;

impl QuadTextures {
    /// Maximum number of texels along a side.
    pub const MAX_SIDE: u32 = 256;
    /// Maximum number of images.
    pub const MAX_IMAGES: usize = 1 << 16;

    /// Adds an image of `side` × `side` texels: four bytes for each texel, red, green, blue and opacity,
    /// row by row from the top. Returns its number; `None` if there are too many images, the side is not
    /// a power of two up to [`MAX_SIDE`](Self::MAX_SIDE), or the bytes do not match.
    pub fn add(&mut self, side: u32, rgba: Arc<[u8]>) -> Option<u16> {
        let is_side = side.is_power_of_two() && side <= Self::MAX_SIDE;
        if !is_side || rgba.len() != 4 * side as usize * side as usize {
            return None;
        }
        let number = u16::try_from(self.0.len()).ok()?;
        Arc::make_mut(&mut self.0).push(Tile { side, rgba });
        Some(number)
    }

    /// Returns the words for these materials, at most `max_bytes` bytes; none if no material has a
    /// texture.
    ///
    /// # Cost
    /// O(materials + texels).
    ///
    /// # Errors
    /// `NoTexture` if a material's texture does not exist, `TooLarge`, `OutOfMemory`.
    pub(crate) fn words(
        &self,
        materials: &[MaterialLook],
        max_bytes: u64,
    ) -> Result<TileWords, RenderError> {
        let used = |look: &MaterialLook| look.textures.iter().any(Option::is_some);
        if !materials.iter().any(used) {
            return Ok(TileWords::default());
        }
        let count = RECORD_WORDS + self.0.iter().map(Tile::words).sum::<usize>();
        let (requested, limit) = (count as u64 * 4, max_bytes);
        let too_large =
            RenderError::TooLarge { what: "textures of materials in bytes", requested, limit };
        if requested > limit {
            return Err(too_large);
        }
        let mut words = Vec::new();
        words.try_reserve_exact(count).map_err(|_| RenderError::OutOfMemory {
            requested_bytes: requested,
            reason: format!("{count} words for textures cannot be allocated; request less"),
        })?;
        words.resize(RECORD_WORDS, 0);
        let mut images = Vec::new();
        for tile in &*self.0 {
            images.push(words.len() as u32);
            tile.push_to(&mut words);
        }
        let mut known: BTreeMap<[u32; RECORD_WORDS], u32> = BTreeMap::new();
        let (mut records, mut has_holes) = (Vec::new(), false);
        for (material, look) in materials.iter().enumerate() {
            let mut record = [0; RECORD_WORDS];
            for (word, texture) in record.iter_mut().zip(look.textures) {
                let Some(texture) = texture else { continue };
                let image = images.get(usize::from(texture)).copied();
                let count = images.len();
                *word = image.ok_or(RenderError::NoTexture { material, texture, count })?;
            }
            if record == [0; RECORD_WORDS] {
                records.push(0);
                continue;
            }
            // Translucent materials have no holes.
            let is_opaque = look.faces.iter().all(|[.., opacity]| *opacity == u8::MAX);
            record[6] = if look.is_cut_out && is_opaque { CUT_OUT } else { 0 };
            has_holes |= record[6] == CUT_OUT;
            records.push(*known.entry(record).or_insert_with(|| {
                words.extend(record);
                (words.len() - RECORD_WORDS) as u32
            }));
        }
        if words.len() as u64 * 4 > max_bytes {
            return Err(too_large);
        }
        Ok(TileWords { words, records, has_holes })
    }
}

impl Tile {
    /// Number of words of the image with its mipmaps.
    const fn words(&self) -> usize {
        let texels = self.side as usize * self.side as usize;
        1 + (4 * texels - 1) / 3
    }

    /// Appends the image and its mipmaps. Clear texels get the mean colour, which pixels between them and
    /// others show.
    fn push_to(&self, words: &mut Vec<u32>) {
        let bits = self.side.ilog2();
        let mut levels: Vec<Vec<[u8; 4]>> = vec![bytemuck::cast_slice(&self.rgba).to_vec()];
        for level in 1..=bits {
            let [from, to] = [level - 1, level].map(|level| [(self.side >> level) as usize; 2]);
            levels.push(halved(&levels[level as usize - 1], from, to));
        }
        let [red, green, blue, _] = levels[bits as usize][0];
        words.push(bits);
        let shown = |texel: &[u8; 4]| if texel[3] == 0 { [red, green, blue, 0] } else { *texel };
        words.extend(levels.iter().flatten().map(|texel| u32::from_le_bytes(shown(texel))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tile(side: u32, texel: [u8; 4]) -> Arc<[u8]> {
        std::iter::repeat_n(texel, (side * side) as usize).flatten().collect()
    }

    #[test]
    fn sizes_and_numbers_are_checked() {
        let mut textures = QuadTextures::default();
        for (side, bytes) in [(0, 0), (3, 36), (512, 4 << 18), (4, 60), (4, 68), (1 << 31, 4)] {
            assert_eq!(textures.add(side, vec![0; bytes].into()), None, "{side}");
        }
        assert_eq!(textures.add(4, tile(4, [1; 4])), Some(0));
        let plain = MaterialLook::new([9, 9, 9, 255]);
        assert!(textures.words(&[plain; 3], 0).unwrap().words.is_empty());
        let wrong = plain.with_textures([Some(0), None, Some(1), None, None, None]);
        let error = textures.words(&[plain, wrong], u64::MAX).unwrap_err();
        let is_right =
            matches!(error, RenderError::NoTexture { material: 1, texture: 1, count: 1 });
        assert!(is_right, "{error}");
        let right = plain.with_textures([Some(0); 6]);
        let bytes = 4 * textures.words(&[right], u64::MAX).unwrap().words.len() as u64;
        assert!(textures.words(&[right], bytes).is_ok());
        for less in [bytes - 1, bytes - 40, 0] {
            let error = textures.words(&[right], less).unwrap_err();
            assert!(matches!(error, RenderError::TooLarge { .. }), "{error}");
        }
    }

    #[test]
    fn equal_materials_share_a_record_and_clear_texels_have_the_mean_colour() {
        let mut textures = QuadTextures::default();
        let texels = [[200, 100, 50, 255], [0, 0, 0, 0], [100, 100, 50, 255], [0, 0, 0, 0]];
        let number = textures.add(2, texels.concat().into());
        let look = MaterialLook::new([9, 9, 9, 255]).with_textures([number; 6]);
        let glass = MaterialLook::new([9, 9, 9, 90]).with_textures([number; 6]).with_cut_out();
        let all = [MaterialLook::new([0; 4]), look, look.with_cut_out(), look, glass];
        assert!(!textures.words(&[look, glass], u64::MAX).unwrap().has_holes);
        let TileWords { words, records, has_holes } = textures.words(&all, u64::MAX).unwrap();
        assert!(has_holes);
        assert_eq!(words.len(), RECORD_WORDS + 6 + 2 * RECORD_WORDS);
        assert_eq!(records, [0, 14, 22, 14, 14]);
        assert_eq!(words[14..22], [8, 8, 8, 8, 8, 8, 0, 0]);
        assert_eq!(words[22 + 6], CUT_OUT);
        let texel = |at: usize| words[8 + 1 + at].to_le_bytes();
        assert_eq!((words[8], texel(0), texel(1)), (1, texels[0], [150, 100, 50, 0]));
        assert_eq!(texel(4), [150, 100, 50, 128]);
    }
}
