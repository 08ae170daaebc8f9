use drystone_voxel::{Chunk, ChunkPos, Material};

use crate::generate::hash::mix;

/// Three colours, equally likely.
pub(super) const MATERIALS: [(&str, [u8; 4]); 3] =
    [("red", [208, 92, 60, 255]), ("green", [84, 148, 92, 255]), ("blue", [70, 110, 190, 255])];

/// Number of chunks that are filled again in each frame, or all if there are fewer.
const CHANGED_CHUNKS: usize = 50;
/// One of this number of voxels is filled.
const FILL: u64 = 10;
/// Distance of two chunks that change after each other, in chunks. A prime above the largest number
/// of chunks, so that all chunks take turns, and neighbours are far apart in time.
const STEP: usize = 100_003;

/// Chunks of random voxels, the worst case for a mesher.
pub(super) struct RandomChunks {
    seed: u64,
    size: [u32; 3],
    /// Number of fillings of each chunk. X changes fastest.
    fillings: Vec<u64>,
    /// Number of chunks that have changed so far.
    changed: usize,
}

impl RandomChunks {
    pub(super) fn new(seed: u64, size: [u32; 3]) -> Self {
        let count = size.iter().map(|&side| side as usize).product();
        Self { seed, size, fillings: vec![0; count], changed: 0 }
    }

    /// Fills chunks again, and returns their positions.
    pub(super) fn next_frame(&mut self) -> Vec<ChunkPos> {
        let [x, y, _] = self.size.map(|side| side as usize);
        let (first, count) = (self.changed, self.fillings.len());
        self.changed += CHANGED_CHUNKS.min(count);
        (first..self.changed)
            .map(|number| {
                let at = number % count * STEP % count;
                self.fillings[at] += 1;
                let [x, y, z] = [at % x, at / x % y, at / (x * y)].map(|c| c as i32);
                ChunkPos::new(x, y, z)
            })
            .collect()
    }

    /// Returns the chunk at a position inside.
    pub(super) fn chunk(&self, [x, y, z]: [u32; 3]) -> Chunk {
        let at = (x + self.size[0] * (y + self.size[1] * z)) as usize;
        let filling = self.fillings.get(at).copied().unwrap_or_default();
        let seed = mix(mix(self.seed ^ (at as u64) << 40) ^ filling);
        let mut number = 0;
        Chunk::from_fn(Chunk::SIDE, |_| {
            number += 1;
            let bits = mix(seed.wrapping_add(number));
            let kind = (bits >> 32) % MATERIALS.len() as u64;
            // The lower half decides whether the voxel is filled.
            let is_filled = ((bits & 0xffff_ffff) * FILL) >> 32 == 0;
            if is_filled { Material(1 + kind as u16) } else { Material::AIR }
        })
    }
}
