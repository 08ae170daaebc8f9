//! Textures with the colours of faces: a palette with one texel for each material, or an atlas of
//! patches.

use std::borrow::Cow;
use std::collections::HashMap;

use super::portion::{Palette, Patch, WriteFault};

/// Texture of a file, with the positions of colours in it.
pub(super) enum Texture {
    Palette(Palette),
    Atlas(Atlas),
}

impl Texture {
    /// Returns the colours of all materials.
    pub(super) fn palette(&self) -> &Palette {
        match self {
            Self::Palette(palette) => palette,
            Self::Atlas(atlas) => &atlas.palette,
        }
    }

    /// Returns the side lengths, and the texels row by row as red, green, blue and opacity.
    pub(super) fn texels(&self) -> ([u32; 2], Cow<'_, [u8]>) {
        let [width, height] = self.size();
        let texels = match self {
            Self::Palette(palette) => {
                (0..width * height).flat_map(|index| palette.color(index)).collect()
            }
            Self::Atlas(atlas) => Cow::Borrowed(atlas.texels.as_slice()),
        };
        ([width, height], texels)
    }

    /// Returns the middle of a palette's texel, in texels.
    pub(super) fn middle(palette: &Palette, index: u32) -> [f32; 2] {
        let [width, _] = palette_size(palette);
        [(index % width) as f32 + 0.5, (index / width) as f32 + 0.5]
    }

    /// Returns the side lengths.
    pub(super) fn size(&self) -> [u32; 2] {
        match self {
            Self::Palette(palette) => palette_size(palette),
            Self::Atlas(atlas) => [atlas.width, (atlas.texels.len() / 4) as u32 / atlas.width],
        }
    }
}

/// Returns the side lengths of a palette's texture, which are powers of two.
fn palette_size(palette: &Palette) -> [u32; 2] {
    /// Largest width. All 65,536 materials then need a square.
    const MAX_WIDTH: u32 = 256;
    let count = palette.colors.len().max(1) as u32;
    let width = count.next_power_of_two().min(MAX_WIDTH);
    [width, count.div_ceil(width).next_power_of_two()]
}

/// Patches in shelves: rows of one height, in which patches stand side by side.
///
/// ```text
///  ┌─────┬───┬──────────┐
///  │     │   │   free   │  shelf of height 3
///  ├──┬──┴┬─┬┴┬─────────┤
///  └──┴───┴─┴─┴─────────┘  shelf of height 1
/// ```
pub(super) struct Atlas {
    palette: Palette,
    width: u32,
    max_height: u32,
    texels: Vec<u8>,
    /// Next free texel in the last shelf of each height.
    shelves: HashMap<u32, [u32; 2]>,
    /// Texels of single colours.
    single: HashMap<u16, [u32; 2]>,
}

impl Atlas {
    /// Largest side of a texture that every desktop GPU supports.
    const MAX_SIDE: u64 = 16_384;

    /// Returns a width for the faces of some chunks. For more than 8 chunks it depends on the memory
    /// alone: with widths that grow with the content, a part could need more rows than the whole.
    pub(super) fn width_for(chunk_count: usize, max_bytes: u64) -> u32 {
        /// Chunks whose faces always fit into 12 MiB at the smallest width.
        const FEW_CHUNKS: usize = 8;
        if chunk_count <= FEW_CHUNKS {
            return 256;
        }
        // The largest power of two whose square fits.
        let side = (max_bytes / 4).isqrt().clamp(1_024, Self::MAX_SIDE);
        1 << side.ilog2()
    }

    /// Creates an atlas that grows downwards, to at most `max_bytes`.
    pub(super) fn new(palette: Palette, width: u32, max_bytes: u64) -> Self {
        let max_height = (max_bytes / 4 / u64::from(width)).clamp(1, Self::MAX_SIDE) as u32;
        let (shelves, single) = (HashMap::new(), HashMap::new());
        Self { palette, width, max_height, texels: Vec::new(), shelves, single }
    }

    /// Copies a patch into the atlas. Returns its first texel.
    pub(super) fn insert(&mut self, patch: &Patch) -> Result<[u32; 2], WriteFault> {
        let single = (patch.size == [1, 1]).then(|| patch.colors.first().copied()).flatten();
        if let Some(at) = single.and_then(|color| self.single.get(&color)) {
            return Ok(*at);
        }
        let [width, height] = patch.size;
        let at = self.reserve(width, height)?;
        let [x, y] = at.map(|c| c as usize);
        for (row, colors) in patch.colors.chunks(width as usize).enumerate() {
            let start = 4 * (x + (y + row) * self.width as usize);
            for (texel, color) in self.texels[start..].chunks_exact_mut(4).zip(colors) {
                texel.copy_from_slice(&self.palette.color((*color).into()));
            }
        }
        if let Some(color) = single {
            self.single.insert(color, at);
        }
        Ok(at)
    }

    /// Returns the first texel of a free range.
    fn reserve(&mut self, width: u32, height: u32) -> Result<[u32; 2], WriteFault> {
        let used_height = (self.texels.len() / 4) as u32 / self.width;
        let mut shelf = self.shelves.get(&height).copied().unwrap_or([self.width, 0]);
        if shelf[0] + width > self.width {
            let end = used_height + height;
            if end > self.max_height {
                let [found, limit] = [end, self.max_height].map(u64::from);
                return Err(WriteFault::TextureFull { found, limit });
            }
            self.grow(4 * (end as usize) * self.width as usize);
            shelf = [0, used_height];
        }
        self.shelves.insert(height, [shelf[0] + width, shelf[1]]);
        Ok(shelf)
    }

    /// Appends texels up to a length in bytes. Lists that double would need twice the memory.
    fn grow(&mut self, len: usize) {
        if len > self.texels.capacity() {
            let max_len = 4 * self.width as usize * self.max_height as usize;
            let target = (len + len / 8).min(max_len);
            self.texels.reserve_exact(target - self.texels.len());
        }
        self.texels.resize(len, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_palette_of_any_length_fits_its_texture() {
        for count in [1, 2, 3, 200, 257, 1_000, 65_536] {
            let mut palette = Palette::default();
            (0..count).for_each(|_| palette.push("", [1, 2, 3, 4]));
            let [width, height] = palette_size(&palette);
            assert!(width * height >= count && width * height < 2 * count.next_power_of_two());
            let [x, y] = Texture::middle(&palette, count - 1);
            assert!(x < width as f32 && y < height as f32);
        }
    }

    #[test]
    fn the_width_does_not_grow_with_the_content() {
        for mib in [12, 48, 256, 4_096] {
            let max_bytes = mib << 20;
            let width = Atlas::width_for(9, max_bytes);
            assert_eq!(width, Atlas::width_for(1 << 30, max_bytes));
            let area = |width| {
                let atlas = Atlas::new(Palette::default(), width, max_bytes);
                4 * u64::from(width) * u64::from(atlas.max_height)
            };
            assert!(area(width) > max_bytes.min(1 << 30) - 4 * u64::from(width), "{mib}");
            // A row of patches leaves at most 31 texels, and each height one shelf.
            let few = 8 * 98_304 * 256 / (256 - 31) + 256 * (1..=32).sum::<u64>();
            assert!(area(256) >= 4 * few, "{mib}");
        }
    }

    #[test]
    fn patches_do_not_overlap_and_a_full_atlas_is_an_error() {
        let mut palette = Palette::default();
        (0..9).for_each(|n| palette.push("", [n, 0, 0, 255]));
        let mut atlas = Atlas::new(palette, 8, 8 * 4 * 6);
        let patch = |width: u32, height: u32, color| Patch {
            size: [width, height],
            colors: vec![color; (width * height) as usize],
        };
        let patches = [patch(3, 2, 1), patch(5, 1, 2), patch(4, 2, 3), patch(2, 1, 4)];
        let origins = patches.each_ref().map(|patch| atlas.insert(patch).unwrap());
        assert_eq!(atlas.insert(&patch(1, 1, 5)).unwrap(), atlas.insert(&patch(1, 1, 5)).unwrap());
        assert_eq!(atlas.insert(&patch(8, 2, 6)).unwrap(), [0, 3]);
        let full = atlas.insert(&patch(8, 2, 7));
        assert!(matches!(full, Err(WriteFault::TextureFull { found: 7, limit: 6 })));
        for ([x, y], patch) in origins.into_iter().zip(&patches) {
            for row in 0..patch.size[1] {
                for column in 0..patch.size[0] {
                    let at = 4 * (x + column + (y + row) * 8) as usize;
                    assert_eq!(u16::from(atlas.texels[at]), patch.colors[0]);
                }
            }
        }
    }
}
