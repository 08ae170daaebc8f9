use drystone_voxel::{Chunk, ChunkPos};

use crate::NodePos;

/// Voxels a side of every chunk.
pub(super) const SIDE: i32 = Chunk::SIDE as i32;

/// Where the voxels of a chunk lie in the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grid {
    /// The lowest place that the chunk covers, in units.
    pub(super) origin: [i64; 3],
    /// The side of a voxel.
    pub(super) units: i64,
}

impl Grid {
    pub(super) fn new(node: NodePos) -> Self {
        let side = i64::from(node.side_units());
        let ChunkPos { x, y, z } = node.chunk;
        let origin = [x, y, z].map(|c| i64::from(c) * side);
        Self { origin, units: node.voxel_units().into() }
    }

    /// The lowest height of a row of voxels.
    pub(super) fn height(&self, row: i32) -> i64 {
        self.origin[1] + i64::from(row) * self.units
    }

    /// The place in the middle of a column of voxels, on X and Z.
    pub(super) fn middle(&self, x: i32, z: i32) -> [i64; 2] {
        let middle = |origin: i64, c: i32| origin + i64::from(c) * self.units + self.units / 2;
        [middle(self.origin[0], x), middle(self.origin[2], z)]
    }
}
