use alloc::vec::Vec;
use core::ops::IndexMut;

use super::grid::Grid;
use crate::Material;
use crate::simd::{Instructions, Word};

/// Row of voxels as bits, with what the mesher needs of it.
pub(super) trait Row: Word {
    /// Returns the memory for masks of this row length.
    fn words(memory: &mut Memory) -> &mut Words<Self>;

    /// Array with one voxel per bit.
    type Voxels;

    /// Returns the first voxels, if there are enough.
    fn voxels(voxels: &[Material]) -> Option<&Self::Voxels>;

    /// Returns voxels of one material.
    fn all(material: Material) -> Self::Voxels;

    /// Compares pairs of voxels. Bit `i` is set if voxels `i` are equal.
    fn equal<I: Instructions>(a: &Self::Voxels, b: &Self::Voxels) -> Self;

    /// Array with one byte per bit.
    type Bytes;

    /// Returns the first bytes, if there are enough.
    fn bytes(bytes: &[u8]) -> Option<&Self::Bytes>;

    /// Compares bytes with a value. Bit `i` is set if byte `i` is equal.
    fn equal_bytes<I: Instructions>(bytes: &Self::Bytes, value: u8) -> Self;

    /// Row with the halo voxels at its ends; bit 0 is the first halo voxel.
    type Padded: Copy;

    const NONE_PADDED: Self::Padded;

    /// Rows of a layer with the rows of the halo before and after them.
    type HaloRows: Copy + IndexMut<usize, Output = Self> + AsRef<[Self]>;

    const EMPTY_HALO_ROWS: Self::HaloRows;

    /// [`HaloRows`](Self::HaloRows) with the halo voxels at their ends.
    type PaddedRows: Copy + IndexMut<usize, Output = Self::Padded> + AsRef<[Self::Padded]>;

    const EMPTY_PADDED_ROWS: Self::PaddedRows;

    /// Combines a row with its [ends](super::masks::Layers::ends).
    fn padded(row: Self, ends: Self, side: usize) -> Self::Padded;

    /// Returns the 3 × 3 bits around a column of the middle one of three rows. Bits 0 to 2 are from
    /// the previous row, bits 3 to 5 from the middle row, bits 6 to 8 from the next row.
    fn around(rows: &[Self::Padded], column: u32) -> usize;

    /// Transposes a slice: bit `x` of row `y` goes to bit `y` of word `step * x` of `to`. Rows past
    /// the end of `to` are omitted.
    fn transpose<I: Instructions>(rows: &Self::Slice, to: &mut [Self], step: usize);
}

macro_rules! row {
    ($word:ty, $padded:ty, $words:ident, $equal:ident, $equal_bytes:ident, $transpose:ident) => {
        impl Row for $word {
            #[inline(always)]
            fn words(memory: &mut Memory) -> &mut Words<Self> {
                &mut memory.$words
            }

            type Voxels = [Material; Self::ROWS];

            #[inline(always)]
            fn voxels(voxels: &[Material]) -> Option<&Self::Voxels> {
                voxels.first_chunk()
            }

            #[inline(always)]
            fn all(material: Material) -> Self::Voxels {
                [material; Self::ROWS]
            }

            #[inline(always)]
            fn equal<I: Instructions>(a: &Self::Voxels, b: &Self::Voxels) -> Self {
                I::$equal(a, b)
            }

            type Bytes = [u8; Self::ROWS];

            #[inline(always)]
            fn bytes(bytes: &[u8]) -> Option<&Self::Bytes> {
                bytes.first_chunk()
            }

            #[inline(always)]
            fn equal_bytes<I: Instructions>(bytes: &Self::Bytes, value: u8) -> Self {
                I::$equal_bytes(bytes, value)
            }

            type Padded = $padded;

            const NONE_PADDED: $padded = 0;

            type HaloRows = [$word; Self::ROWS + 2];

            const EMPTY_HALO_ROWS: Self::HaloRows = [0; Self::ROWS + 2];

            type PaddedRows = [$padded; Self::ROWS + 2];

            const EMPTY_PADDED_ROWS: Self::PaddedRows = [0; Self::ROWS + 2];

            #[inline(always)]
            fn padded(row: Self, ends: Self, side: usize) -> Self::Padded {
                let [row, ends] = [row, ends].map(<$padded>::from);
                ends & 1 | row << 1 | (ends >> 1 & 1) << (side + 1)
            }

            #[inline(always)]
            fn around(rows: &[Self::Padded], column: u32) -> usize {
                let [before, here, behind, ..] = rows else { return 0 };
                let near = |row: &$padded| (row >> column) as usize & 7;
                near(before) | near(here) << 3 | near(behind) << 6
            }

            #[inline(always)]
            fn transpose<I: Instructions>(rows: &Self::Slice, to: &mut [Self], step: usize) {
                I::$transpose(rows, to, step);
            }
        }
    };
}

row!(u16, u32, narrow, equal_16, equal_bytes_16, transpose_16);
row!(u32, u64, middle, equal_32, equal_bytes_32, transpose_32);
row!(u64, u128, wide, equal_64, equal_bytes_64, transpose_64);

/// Memory of masks, reused for all chunks: one list of words per row length.
#[derive(Debug, Default)]
pub(super) struct Memory {
    narrow: Words<u16>,
    middle: Words<u32>,
    wide: Words<u64>,
}

/// Masks of one row length.
///
/// They are not cleared for each chunk, which would take a twentieth of the time for large chunks.
/// Words that a chunk may write are either written or not read by later chunks of equal extents and
/// halo. All other words remain zero.
#[derive(Debug)]
pub(super) struct Words<W> {
    /// Grid of the last chunk.
    grid: Option<Grid>,
    words: Vec<W>,
}

/// Number of masks: six for each axis.
const MASKS: usize = 18;

impl<W: Row> Words<W> {
    /// Returns all masks for a chunk of these extents: zero outside the chunk, old content inside.
    pub(super) fn masks(&mut self, grid: Grid) -> impl Iterator<Item = &mut [W]> {
        let mask = stride::<W>() * stride::<W>();
        if self.grid != Some(grid) {
            self.grid = Some(grid);
            self.words.clear();
            self.words.resize(MASKS * mask, W::ZERO);
        }
        self.words.chunks_exact_mut(mask)
    }
}

impl<W> Default for Words<W> {
    fn default() -> Self {
        Self { grid: None, words: Vec::new() }
    }
}

/// Number of words between adjacent layers.
pub(super) const fn stride<W: Row>() -> usize {
    W::ROWS + 2
}

#[cfg(test)]
mod tests {
    use alloc::{format, vec::Vec};

    use crate::{ChunkMesh, GreedyMesher, Material, MaterialTable, MesherOptions, PaddedChunk};

    /// Creates a chunk with a random mix of empty, full, translucent and mixed slices.
    fn chunk(side: u32, seed: u64) -> PaddedChunk {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (state >> 33) as u32
        };
        let slices: Vec<u32> = (0..side + 2).map(|_| next() % 6).collect();
        PaddedChunk::from_fn(side, |[x, y, z]| {
            let rare = next() % 40 == 0;
            Material(match slices[[x, y, z][seed as usize % 3] as usize] {
                0 => u16::from(rare),
                1 => u16::from(!rare),
                2 => 3 + u16::from(rare),
                3 => (x / 3 + y / 4) as u16 % 3,
                4 => 0,
                _ => next() as u16 % 5,
            })
        })
    }

    #[test]
    fn earlier_chunks_do_not_affect_a_mesh() {
        let mut table = MaterialTable::new();
        for opacity in [255, 255, 120, 90] {
            table.insert("material", [9, 9, 9, opacity]).unwrap();
        }
        for occlusion in [false, true] {
            let options =
                MesherOptions { ambient_occlusion: occlusion, ..MesherOptions::default() };
            let new = || GreedyMesher::with_options(options);
            let mut kept = new();
            let [mut actual, mut expected] = [ChunkMesh::new(), ChunkMesh::new()];
            let sides = [5, 16, 17, 30, 32, 40, 62, 64];
            // Several chunks of one side, then chunks of changing sides.
            let rounds = sides.iter().flat_map(|&side| [side; 6]).chain(sides);
            for (seed, side) in rounds.enumerate() {
                let chunk = chunk(side, seed as u64);
                kept.mesh(&chunk, &table, &mut actual);
                new().mesh(&chunk, &table, &mut expected);
                assert!(!expected.is_empty() || side < 16, "{side} {seed}");
                let message = format!("{side} {seed}, shaded: {occlusion}");
                assert!(actual.iter().eq(expected.iter()), "{message}");
            }
        }
    }
}
