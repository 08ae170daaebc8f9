use std::{collections::BinaryHeap, fmt, sync::Arc};

use crate::error::RenderError;

/// Textures and materials of triangles, for [`Output::set_textures`](crate::Output::set_textures).
///
/// ```text
/// vertex ──► corner: texture coordinates, colour, material ──► material ──► images with mipmaps
/// ```
/// The colour of a vertex of a textured mesh is the number of a corner
/// ([`TriangleVertex::with_corner`](crate::TriangleVertex::with_corner)). Devices store all of it in one
/// buffer of words, and filter texels in the shader with the same arithmetic: between four texels, and
/// between two mipmaps. So images keep their own size, and every device shows the same picture.
///
/// # Cost
/// For each corner 16 bytes, for each material 80, for each image 64 and 4 for each texel. Devices
/// need a third more for mipmaps.
///
/// # Limits
/// [`MAX_CORNERS`](Self::MAX_CORNERS), [`MAX_MATERIALS`](Self::MAX_MATERIALS),
/// [`MAX_SIDE`](Self::MAX_SIDE). If all does not fit into a storage buffer of the device, the largest
/// images lose their finest mipmaps until it does.
///
/// # Examples
/// ```
/// use drystone_render::{SurfaceMaterial, SurfaceTexture, TextureSet};
///
/// let mut textures = TextureSet::default();
/// let image = textures.add_image([2, 1], [[255, 0, 0, 255], [0, 0, 255, 255]].concat().into());
/// let base = image.map(SurfaceTexture::new);
/// let material = textures.add_material(SurfaceMaterial { base, ..SurfaceMaterial::default() });
/// let corner = textures.add_corner([0.25, 0.5], [255; 4], material.unwrap());
/// assert_eq!(corner, Some(0));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextureSet(Arc<Contents>);

/// Contents that clones of a set share.
#[derive(Clone, Debug, Default, PartialEq)]
struct Contents {
    corners: Vec<Corner>,
    materials: Vec<SurfaceMaterial>,
    images: Vec<Image>,
}

/// Position of a vertex in its textures.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Corner {
    uv: [f32; 2],
    color: [u8; 4],
    material: u32,
}

#[derive(Clone, PartialEq)]
struct Image {
    size: [u32; 2],
    rgba: Arc<[u8]>,
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Image").field("size", &self.size).finish_non_exhaustive()
    }
}

/// Surface of triangles with textures. The colour of a corner multiplies the base texture.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SurfaceMaterial {
    /// Texture of the colour and opacity.
    pub base: Option<SurfaceTexture>,
    /// Use of the opacity.
    pub opacity: Opacity,
    /// Emitted light, which multiplies the emissive texture and is added to the lit colour.
    pub emissive: [u8; 3],
    /// Texture of the emitted light.
    pub emissive_texture: Option<SurfaceTexture>,
    /// Whether the colour is shown without light.
    pub is_unlit: bool,
}

/// Use of the opacity of a surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Opacity {
    /// Ignored.
    #[default]
    Opaque,
    /// Pixels with an opacity below this are not drawn, the others are opaque.
    Mask(u8),
    /// Blended. Meshes of this material belong to [`Layer::Blended`](crate::Layer::Blended).
    Blended,
}

/// An image on a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceTexture {
    /// Number of the image in its set.
    pub image: u32,
    /// Continuation beyond the sides of the image: across and down.
    pub wrap: [TextureWrap; 2],
    /// Maps texture coordinates (u, v, 1) to the image: across and down from its upper left corner,
    /// 1 at the other side.
    pub transform: [[f32; 3]; 2],
}

impl SurfaceTexture {
    /// Creates a texture that repeats, and is not transformed.
    pub const fn new(image: u32) -> Self {
        let transform = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        Self { image, wrap: [TextureWrap::Repeat; 2], transform }
    }
}

/// Continuation of an image beyond its sides. Shaders read the number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextureWrap {
    /// The image repeats.
    #[default]
    Repeat = 0,
    /// The image repeats, mirrored every second time.
    Mirror = 1,
    /// The colours of its sides continue.
    Clamp = 2,
}

/// Number of words before the materials: the number of corners, and the offset of the first.
const HEAD_WORDS: usize = 4;
/// Number of words of a material: flags, cutoff, emitted light, an unused one, and two textures.
const MATERIAL_WORDS: usize = 20;
const TEXTURE_WORDS: usize = 8;
const CORNER_WORDS: usize = 4;
/// Number of words before the texels of an image: its size, its number of mipmaps, and their offsets.
const IMAGE_WORDS: usize = 16;
/// Flags of a material.
const UNLIT: u32 = 1;
const MASKED: u32 = 2;
const HAS_OPACITY: u32 = 4;

impl TextureSet {
    /// Maximum number of corners: 64 MiB, half of the smallest storage buffer in use.
    pub const MAX_CORNERS: usize = 1 << 22;
    /// Maximum number of materials.
    pub const MAX_MATERIALS: usize = 1 << 16;
    /// Maximum number of images.
    pub const MAX_IMAGES: usize = 1 << 16;
    /// Maximum number of texels along a side of an image.
    pub const MAX_SIDE: u32 = 8192;

    /// Adds an image: four bytes for each texel, red, green, blue and opacity, row by row from the top.
    /// Returns its number; `None` if there are too many images, a side is 0 or too long, or the bytes
    /// do not match the size.
    pub fn add_image(&mut self, size: [u32; 2], rgba: Arc<[u8]>) -> Option<u32> {
        let images = &self.0.images;
        let is_valid = size.iter().all(|side| (1..=Self::MAX_SIDE).contains(side));
        let bytes = size.map(|side| side as usize).iter().product::<usize>() * 4;
        if !is_valid || rgba.len() != bytes || images.len() == Self::MAX_IMAGES {
            return None;
        }
        let images = &mut Arc::make_mut(&mut self.0).images;
        images.push(Image { size, rgba });
        Some(images.len() as u32 - 1)
    }

    /// Adds a material and returns its number; `None` if there are too many or an image does not exist.
    pub fn add_material(&mut self, material: SurfaceMaterial) -> Option<u32> {
        let Contents { materials, images, .. } = Arc::make_mut(&mut self.0);
        let exists = |texture: &SurfaceTexture| (texture.image as usize) < images.len();
        let textures = [&material.base, &material.emissive_texture];
        let exist = textures.into_iter().flatten().all(exists);
        if !exist || materials.len() == Self::MAX_MATERIALS {
            return None;
        }
        materials.push(material);
        Some(materials.len() as u32 - 1)
    }

    /// Adds a corner: its texture coordinates, its colour, and the number of its material. All corners
    /// of a triangle have the same material. Returns the number of the corner; `None` if there are too
    /// many or the material does not exist.
    pub fn add_corner(&mut self, uv: [f32; 2], color: [u8; 4], material: u32) -> Option<u32> {
        let Contents { corners, materials, .. } = Arc::make_mut(&mut self.0);
        let exists = (material as usize) < materials.len();
        if !exists || corners.len() == Self::MAX_CORNERS {
            return None;
        }
        corners.push(Corner { uv, color, material });
        Some(corners.len() as u32 - 1)
    }

    /// Whether there are no corners, so that no mesh can be textured.
    pub fn is_empty(&self) -> bool {
        self.0.corners.is_empty()
    }

    /// Whether a material emits light.
    pub(crate) fn emits(&self) -> bool {
        !self.is_empty() && self.0.materials.iter().any(|material| material.emissive != [0; 3])
    }

    /// Whether a material has holes.
    pub(crate) fn has_masks(&self) -> bool {
        let has_mask = |it: &SurfaceMaterial| matches!(it.opacity, Opacity::Mask(_));
        !self.is_empty() && self.0.materials.iter().any(has_mask)
    }

    /// Whether the sets are clones of each other without a change, or both empty. Compares no contents.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || (self.is_empty() && other.is_empty())
    }

    /// Returns the words that shaders read, at most `max_bytes` bytes; none for an empty set.
    ///
    /// # Cost
    /// O(corners + texels).
    ///
    /// # Errors
    /// `TooLarge` if even the coarsest mipmaps do not fit; `OutOfMemory`.
    pub(crate) fn words(&self, max_bytes: u64) -> Result<Vec<u32>, RenderError> {
        self.0.words(max_bytes)
    }
}

impl Contents {
    fn words(&self, max_bytes: u64) -> Result<Vec<u32>, RenderError> {
        let mut words = Vec::new();
        if self.corners.is_empty() {
            return Ok(words);
        }
        let max_words = usize::try_from(max_bytes / 4).unwrap_or(usize::MAX).min(u32::MAX as usize);
        let materials_end = HEAD_WORDS + self.materials.len() * MATERIAL_WORDS;
        let images_start = materials_end + self.corners.len() * CORNER_WORDS;
        let skipped = self.skipped_levels(max_words.saturating_sub(images_start))?;
        let image_words = |(image, skipped): (&Image, &u32)| image.words(*skipped);
        let sizes: Vec<usize> = self.images.iter().zip(&skipped).map(image_words).collect();
        let count = images_start + sizes.iter().sum::<usize>();
        words.try_reserve_exact(count).map_err(|_| RenderError::OutOfMemory {
            requested_bytes: count as u64 * 4,
            reason: format!("{count} words for textures cannot be allocated; request less"),
        })?;
        let starts: Vec<usize> = sizes
            .iter()
            .scan(images_start, |next, size| Some(std::mem::replace(next, *next + size)))
            .collect();
        words.extend([self.corners.len() as u32, materials_end as u32, 0, 0]);
        self.materials.iter().for_each(|material| material.push_to(&mut words, &starts));
        for Corner { uv, color, material } in &self.corners {
            let record = HEAD_WORDS + *material as usize * MATERIAL_WORDS;
            let [u, v] = uv.map(f32::to_bits);
            words.extend([u, v, u32::from_le_bytes(*color), record as u32]);
        }
        self.images
            .iter()
            .zip(&skipped)
            .for_each(|(image, skipped)| image.push_to(&mut words, *skipped));
        Ok(words)
    }

    /// The number of finest mipmaps that each image loses, so that all have at most `max_words`.
    fn skipped_levels(&self, max_words: usize) -> Result<Vec<u32>, RenderError> {
        let mut skipped = vec![0; self.images.len()];
        let mut total: usize = self.images.iter().map(|image| image.words(0)).sum();
        let level_texels =
            |image: &Image, level: u32| image.level_size(level).iter().product::<usize>();
        let mut largest: BinaryHeap<(usize, usize)> =
            self.images.iter().enumerate().map(|(n, it)| (level_texels(it, 0), n)).collect();
        while total > max_words {
            let Some((texels, number)) = largest.pop().filter(|(texels, _)| *texels > 1) else {
                let (requested, limit) = (total as u64 * 4, max_words as u64 * 4);
                return Err(RenderError::TooLarge { what: "textures in bytes", requested, limit });
            };
            total -= texels;
            skipped[number] += 1;
            largest.push((level_texels(&self.images[number], skipped[number]), number));
        }
        Ok(skipped)
    }
}

impl SurfaceMaterial {
    /// Appends the words of the material. `images` are the offsets of the images.
    fn push_to(&self, words: &mut Vec<u32>, images: &[usize]) {
        let (opacity, cutoff) = match self.opacity {
            Opacity::Opaque => (0, 0),
            Opacity::Mask(cutoff) => (HAS_OPACITY | MASKED, cutoff),
            Opacity::Blended => (HAS_OPACITY, 0),
        };
        let [red, green, blue] = self.emissive;
        let unlit = if self.is_unlit { UNLIT } else { 0 };
        let cutoff = (f32::from(cutoff) / 255.0).to_bits();
        words.extend([opacity | unlit, cutoff, u32::from_le_bytes([red, green, blue, 0]), 0]);
        for texture in [&self.base, &self.emissive_texture] {
            let Some(SurfaceTexture { image, wrap: [across, down], transform }) = *texture else {
                words.extend([0; TEXTURE_WORDS]);
                continue;
            };
            let [[a, b, c], [d, e, f]] = transform.map(|row| row.map(f32::to_bits));
            let wrap = across as u32 | (down as u32) << 2;
            words.extend([images[image as usize] as u32, wrap, a, b, c, d, e, f]);
        }
    }
}

impl Image {
    /// Number of mipmaps, from the whole image down to one texel.
    fn level_count(&self) -> u32 {
        self.size[0].max(self.size[1]).ilog2() + 1
    }

    fn level_size(&self, level: u32) -> [usize; 2] {
        self.size.map(|side| (side >> level).max(1) as usize)
    }

    /// Number of words without the finest `skipped` mipmaps.
    fn words(&self, skipped: u32) -> usize {
        let texels = |level| self.level_size(level).iter().product::<usize>();
        IMAGE_WORDS + (skipped..self.level_count()).map(texels).sum::<usize>()
    }

    /// Appends the head and the mipmaps without the finest `skipped` ones.
    fn push_to(&self, words: &mut Vec<u32>, skipped: u32) {
        let levels = skipped..self.level_count();
        let [width, height] = self.level_size(skipped);
        let head = words.len();
        words.extend([width as u32 | (height as u32) << 16, levels.len() as u32]);
        let mut next = head + IMAGE_WORDS;
        for level in levels.clone() {
            words.push(next as u32);
            next += self.level_size(level).iter().product::<usize>();
        }
        words.resize(head + IMAGE_WORDS, 0);
        let mut texels: Vec<[u8; 4]> = bytemuck::cast_slice(&self.rgba).to_vec();
        for level in 0..levels.end {
            if level > 0 {
                texels = halved(&texels, self.level_size(level - 1), self.level_size(level));
            }
            if level >= skipped {
                words.extend(texels.iter().map(|texel| u32::from_le_bytes(*texel)));
            }
        }
    }
}

/// The next coarser mipmap: each texel is the mean of those that it replaces. Opacity weighs colours.
pub(crate) fn halved(
    texels: &[[u8; 4]],
    [from_width, from_height]: [usize; 2],
    [width, height]: [usize; 2],
) -> Vec<[u8; 4]> {
    let range = |at: usize, of: usize, from: usize| at * from / of..((at + 1) * from).div_ceil(of);
    let mean = |x: usize, y: usize| {
        let (mut color, mut opacity, mut count) = ([0_u32; 3], 0_u32, 0_u32);
        for row in range(y, height, from_height) {
            for column in range(x, width, from_width) {
                let own = texels[row * from_width + column].map(u32::from);
                color = [0, 1, 2].map(|channel| color[channel] + own[channel] * own[3]);
                opacity += own[3];
                count += 1;
            }
        }
        let [red, green, blue] = color.map(|sum| ((sum + opacity / 2) / opacity.max(1)) as u8);
        [red, green, blue, ((opacity + count / 2) / count) as u8]
    };
    (0..height).flat_map(|y| (0..width).map(move |x| [x, y])).map(|[x, y]| mean(x, y)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(set: &mut TextureSet, size: [u32; 2]) -> SurfaceTexture {
        let texels = size[0] as usize * size[1] as usize;
        let rgba: Arc<[u8]> = std::iter::repeat_n([80, 120, 160, 200], texels).flatten().collect();
        SurfaceTexture::new(set.add_image(size, rgba).unwrap())
    }

    fn set(sizes: &[[u32; 2]]) -> TextureSet {
        let mut set = TextureSet::default();
        for &size in sizes {
            let base = Some(image(&mut set, size));
            let material = set.add_material(SurfaceMaterial { base, ..Default::default() });
            set.add_corner([0.0; 2], [255; 4], material.unwrap()).unwrap();
        }
        set
    }

    #[test]
    fn sizes_and_numbers_are_checked() {
        let mut set = TextureSet::default();
        assert!(set.is_empty() && set.words(0).unwrap().is_empty());
        for (size, bytes) in [([0, 1], 0), ([1, 2], 4), ([TextureSet::MAX_SIDE + 1, 1], 4 * 8193)] {
            assert_eq!(set.add_image(size, vec![0; bytes].into()), None, "{size:?}");
        }
        let base = Some(SurfaceTexture::new(0));
        assert_eq!(set.add_material(SurfaceMaterial { base, ..Default::default() }), None);
        assert_eq!(set.add_corner([0.0; 2], [0; 4], 0), None);
    }

    /// Words of a set of one image: head, material, corner, head of the image, texels.
    #[test]
    fn all_mipmaps_have_the_colour_of_the_image() {
        for size in [[1, 1], [8, 8], [7, 3], [1, 9]] {
            let words = set(&[size]).words(u64::MAX).unwrap();
            let first = HEAD_WORDS + MATERIAL_WORDS + CORNER_WORDS;
            assert_eq!(words[first], size[0] | size[1] << 16);
            let levels = words[first + 1] as usize;
            assert_eq!(levels as u32, size[0].max(size[1]).ilog2() + 1);
            assert_eq!(words[first + 2] as usize, first + IMAGE_WORDS);
            let texels = &words[first + IMAGE_WORDS..];
            assert!(texels.iter().all(|it| *it == u32::from_le_bytes([80, 120, 160, 200])));
            let last = words[first + 1 + levels] as usize;
            assert_eq!(last, words.len() - 1, "{size:?}");
        }
    }

    #[test]
    fn the_largest_images_become_smaller_first() {
        let set = set(&[[64, 64], [16, 16], [32, 8]]);
        let whole = set.words(u64::MAX).unwrap().len() as u64 * 4;
        let sizes = |max_bytes: u64| -> Vec<u32> {
            let words = set.words(max_bytes).unwrap();
            assert!(words.len() as u64 * 4 <= max_bytes);
            let bases = (0..3).map(|n| words[HEAD_WORDS + n * MATERIAL_WORDS + 4] as usize);
            bases.map(|image| words[image] & 0xffff).collect()
        };
        assert_eq!(sizes(whole), [64, 16, 32]);
        assert_eq!(sizes(whole - 1), [32, 16, 32]);
        assert_eq!(sizes(whole - 4 * 64 * 64 - 1), [16, 16, 32]);
        let least = 4 * (HEAD_WORDS + 3 * (MATERIAL_WORDS + CORNER_WORDS + IMAGE_WORDS + 1)) as u64;
        assert_eq!(sizes(least), [1, 1, 1]);
        assert!(matches!(set.words(least - 1), Err(RenderError::TooLarge { .. })));
    }

    #[test]
    fn clear_texels_do_not_darken_mipmaps() {
        let clear = [0, 0, 0, 0];
        let red = [200, 10, 10, 255];
        assert_eq!(halved(&[clear, red, clear, clear], [2, 2], [1, 1]), [[200, 10, 10, 64]]);
        assert_eq!(halved(&[red, red, clear], [3, 1], [1, 1]), [[200, 10, 10, 170]]);
    }
}
