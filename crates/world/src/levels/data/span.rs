use drystone_voxel::{Chunk, LocalPos};

/// A box of voxels of a chunk, or none: from `low` up to and with `high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::levels) struct Span {
    pub(in crate::levels) low: [u8; 3],
    pub(in crate::levels) high: [u8; 3],
}

impl Span {
    pub(super) const EMPTY: Self = Self { low: [u8::MAX; 3], high: [0; 3] };

    pub(super) const fn is_empty(&self) -> bool {
        self.low[0] > self.high[0]
    }

    pub(super) fn add(&mut self, local: LocalPos) {
        let local = [local.x, local.y, local.z];
        self.add_all(Self { low: local, high: local });
    }

    /// Makes it the smallest box that holds both.
    pub(super) fn add_all(&mut self, other: Self) {
        for axis in 0..3 {
            self.low[axis] = self.low[axis].min(other.low[axis]);
            self.high[axis] = self.high[axis].max(other.high[axis]);
        }
    }

    /// How many voxels it holds.
    pub(super) fn volume(&self) -> usize {
        let side = |axis: usize| usize::from(self.high[axis] - self.low[axis]) + 1;
        if self.is_empty() { 0 } else { (0..3).map(side).product() }
    }

    /// The voxels of the parent that stand for these, if the chunk is its child `index`.
    pub(super) fn in_parent(self, index: usize) -> Self {
        let half = |corner: [u8; 3]| {
            let [x, y, z] = corner.map(|c| c / 2);
            let at = Block { x, y, z }.in_octant(index);
            [at.x, at.y, at.z]
        };
        Self { low: half(self.low), high: half(self.high) }
    }
}

/// Eight voxels of a chunk, for which one of its parent stands: counted in blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) x: u8,
    pub(super) y: u8,
    pub(super) z: u8,
}

impl Block {
    /// The voxel of the parent, if the chunk is its child `index`.
    pub(super) fn in_octant(self, index: usize) -> LocalPos {
        let half = Chunk::SIDE as u8 / 2;
        let [x, y, z] = [index & 1, index >> 1 & 1, index >> 2].map(|far| far as u8 * half);
        LocalPos::new(self.x + x, self.y + y, self.z + z)
    }
}
