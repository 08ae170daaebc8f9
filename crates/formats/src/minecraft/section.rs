use drystone_voxel::Material;

use super::biomes::Biomes;
use super::blocks::Blocks;
use super::column::{Packed, SECTION_VOXELS, Section};
use super::indices::{apart, spanning};
use super::problems::damaged;
use super::tint::Tints;
use crate::fault::Fault;

/// Minimum number of bits of a palette index.
const MIN_BITS: u32 = 4;
/// Maximum number of bits of a palette index. A section has 4,096 voxels, the game about 30,000
/// blocks.
const MAX_BITS: usize = 16;
/// Length of an array of half bytes, one per voxel, in bytes.
const NIBBLES_BYTES: usize = SECTION_VOXELS / 2;

impl Section<'_> {
    /// Whether any voxel can be other than air.
    pub(super) fn may_be_solid(&self) -> bool {
        match &self.voxels {
            Packed::Palette { materials, .. } => {
                materials.iter().any(|material| !material.is_air())
            }
            Packed::Numbers { low, high, .. } => {
                low.iter().any(|&number| number != 0)
                    || high.is_some_and(|it| it.iter().any(|&n| n != 0))
            }
        }
    }

    /// Whether any voxel can have the colour of its biome.
    fn may_be_tinted(&self, tints: &Tints) -> bool {
        match &self.voxels {
            Packed::Palette { materials, .. } => materials.iter().any(|it| tints.is_tinted(*it)),
            Packed::Numbers { .. } => true,
        }
    }

    /// Unpacks the voxels, X fastest, then Z, then Y, with the tints of the section's biomes, else
    /// of those of its column.
    ///
    /// # Errors
    /// Arrays of the wrong length, and indices beyond the palette.
    pub(super) fn voxels(
        &self,
        blocks: &Blocks,
        column: Option<&Biomes>,
        voxels: &mut [Material; SECTION_VOXELS],
    ) -> Result<(), Fault> {
        let done = match &self.voxels {
            Packed::Palette { materials, words } => unpack(materials, words, voxels),
            Packed::Numbers { low, high, variant } => {
                numbers(blocks, low, [*high, *variant], voxels)
            }
        };
        done.map_err(|fault| fault.within(&format!("section at height {}", self.y)))?;
        if self.may_be_tinted(&blocks.tints) {
            match (&self.biomes, column) {
                (Some(own), _) => own.apply(0, &blocks.tints, voxels),
                (None, Some(column)) => column.apply(self.y, &blocks.tints, voxels),
                (None, None) => {}
            }
        }
        Ok(())
    }
}

/// Unpacks palette indices. Until 1.15 an index can span two words, later not. The number of words
/// identifies the layout; if both layouts have the same number of words, they are equal. Until 1.15
/// indices can be wider than the palette requires: their width follows from the number of words.
///
/// ```text
///  5 bits, spanning       word 0: 0 1 2 … 11 12▏word 1: ▕12 13 …      320 words
///  5 bits, since 1.16     word 0: 0 1 2 … 11 ╱╱▏word 1: 12 13 …       342 words
/// ```
fn unpack(
    palette: &[Material],
    words: &[u8],
    voxels: &mut [Material; SECTION_VOXELS],
) -> Result<(), Fault> {
    if let ([only], true) = (palette, words.is_empty()) {
        voxels.fill(*only);
        return Ok(());
    }
    let [Some(_), ..] = [palette.first()] else {
        return Err(damaged("an empty palette"));
    };
    let bits = (usize::BITS - (palette.len() - 1).leading_zeros()).max(MIN_BITS);
    let per_word = (u64::BITS / bits) as usize;
    let (word_count, spanning_count) = (SECTION_VOXELS.div_ceil(per_word), 64 * bits as usize);
    let (words, _) = words.as_chunks::<8>();
    let filled = if words.len() == word_count {
        apart(palette, words, bits, voxels)
    } else if words.len().is_multiple_of(64)
        && let wide @ ..=MAX_BITS = words.len() / 64
        && wide >= bits as usize
    {
        spanning(palette, words, wide as u32, voxels)
    } else {
        return Err(damaged(format!(
            "{} words for indices of {bits} bits, not {word_count} or {spanning_count}",
            words.len()
        )));
    };
    filled
        .ok_or_else(|| damaged(format!("an index beyond its palette of {} blocks", palette.len())))
}

/// Unpacks block numbers, as before 1.13.
fn numbers(
    blocks: &Blocks,
    low: &[u8],
    halves: [Option<&[u8]>; 2],
    voxels: &mut [Material; SECTION_VOXELS],
) -> Result<(), Fault> {
    let lengths = [low.len() / 2, halves[0].map_or(NIBBLES_BYTES, <[u8]>::len)];
    let variants = halves[1].map_or(NIBBLES_BYTES, <[u8]>::len);
    if low.len() != SECTION_VOXELS || lengths[1] != NIBBLES_BYTES || variants != NIBBLES_BYTES {
        return Err(damaged(format!(
            "{} numbers, {} and {variants} half bytes, not {SECTION_VOXELS} and {NIBBLES_BYTES}",
            low.len(),
            lengths[1]
        )));
    }
    let [high, variant] = halves.map(|half| {
        move |at: usize| {
            let byte = half.and_then(|half| half.get(at / 2)).copied().unwrap_or(0);
            byte >> (at % 2 * 4) & 15
        }
    });
    for (at, (voxel, &low)) in voxels.iter_mut().zip(low).enumerate() {
        *voxel = blocks.numbered(u16::from(high(at)) << 8 | u16::from(low), variant(at));
    }
    Ok(())
}
