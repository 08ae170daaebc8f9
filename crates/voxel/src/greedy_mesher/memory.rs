use alloc::vec::Vec;

use super::masks::stride;
use super::row::Row;

/// Memory of masks, reused for all chunks: one list of words per row length.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub narrow: Words<u16>,
    pub middle: Words<u32>,
    pub wide: Words<u64>,
}

/// Masks of one row length.
///
/// They are not cleared for each chunk, which would take a twentieth of the time for large chunks.
/// Words that a chunk may write are either written or not read by later chunks of equal side. All
/// other words remain zero.
#[derive(Debug)]
pub(super) struct Words<W> {
    /// Side of the last chunk.
    side: usize,
    words: Vec<W>,
}

/// Number of masks: six for each axis.
const MASKS: usize = 18;

impl<W: Row> Words<W> {
    /// Returns all masks for a chunk of this side: zero outside the chunk, old content inside.
    pub(super) fn masks(&mut self, side: usize) -> impl Iterator<Item = &mut [W]> {
        let mask = stride::<W>() * stride::<W>();
        if self.side != side {
            self.side = side;
            self.words.clear();
            self.words.resize(MASKS * mask, W::ZERO);
        }
        self.words.chunks_exact_mut(mask)
    }
}

impl<W> Default for Words<W> {
    fn default() -> Self {
        Self { side: 0, words: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use alloc::{format, vec::Vec};

    use crate::{ChunkMesh, GreedyMesher, Material, MaterialTable, PaddedChunk};

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
            let new = || GreedyMesher::new().ambient_occlusion(occlusion);
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
