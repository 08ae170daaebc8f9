//! Voxels as a program may store them: its own type, in its own order.

use drystone_voxel::{Error, Halo, Visibility, Voxel, VoxelArray};

/// Side of a chunk, in voxels.
pub(crate) const CHUNK: usize = 32;
/// Chunks along X and Z. The level is one chunk high.
pub(crate) const CHUNKS: usize = 3;
const SIDE: usize = CHUNK * CHUNKS;
/// Cells from one voxel to the next along X, Y and Z: Y is fastest, then X, then Z. Around the level
/// is one layer of air, so that every chunk has a halo.
const STRIDES: [usize; 3] = [CHUNK + 2, 1, (CHUNK + 2) * (SIDE + 2)];

#[derive(Clone, Copy, Default)]
pub(crate) enum Block {
    #[default]
    Air,
    Rock,
    Grass,
    Sand,
}

/// A cell: what is drawn, and data of the program.
#[derive(Clone, Copy, Default)]
pub(crate) struct Cell {
    block: Block,
    _damage: u8,
}

impl Voxel for Cell {
    #[inline]
    fn visibility(self) -> Visibility {
        match self.block {
            Block::Air => Visibility::Empty,
            _ => Visibility::Opaque,
        }
    }

    #[inline]
    fn key(self) -> u32 {
        self.block as u32
    }
}

pub(crate) struct Level {
    cells: Vec<Cell>,
}

impl Level {
    /// Hills.
    pub(crate) fn new() -> Self {
        let mut level = Self { cells: vec![Cell::default(); STRIDES[2] * (SIDE + 2)] };
        for (x, z) in (0..SIDE).flat_map(|x| (0..SIDE).map(move |z| (x, z))) {
            let (along, across) = (x as f32 / 14.0, z as f32 / 17.0);
            let hill = 7.0 * along.sin() * across.cos() + 3.0 * (2.0 * (along + across)).sin();
            let height = (12.0 + hill) as usize;
            let top = if height < 8 { Block::Sand } else { Block::Grass };
            for y in 0..height {
                let block = if y + 2 < height { Block::Rock } else { top };
                level.cells[index([x, y, z])].block = block;
            }
        }
        level
    }

    /// The voxels of a chunk, with those around it as halo.
    pub(crate) fn chunk(&self, [x, z]: [usize; 2]) -> Result<VoxelArray<'_, Cell>, Error> {
        // The slice starts at the lowest corner of the halo.
        let halo = index([x * CHUNK, 0, z * CHUNK]) - STRIDES.iter().sum::<usize>();
        VoxelArray::with_strides(&self.cells[halo..], [CHUNK as u32; 3], STRIDES, Halo::One)
    }

    /// Removes a ball of voxels.
    pub(crate) fn dig(&mut self, middle: [usize; 3], radius: usize) {
        let around = |at: usize, end: usize| at.saturating_sub(radius)..(at + radius + 1).min(end);
        for x in around(middle[0], SIDE) {
            for (y, z) in
                around(middle[1], CHUNK).flat_map(|y| around(middle[2], SIDE).map(move |z| (y, z)))
            {
                let apart = [x.abs_diff(middle[0]), y.abs_diff(middle[1]), z.abs_diff(middle[2])];
                if apart.iter().map(|it| it * it).sum::<usize>() <= radius * radius {
                    self.cells[index([x, y, z])] = Cell::default();
                }
            }
        }
    }
}

/// Index of a voxel of the level.
fn index(position: [usize; 3]) -> usize {
    position.iter().zip(STRIDES).map(|(at, stride)| (at + 1) * stride).sum()
}
