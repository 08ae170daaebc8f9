use core::ops::Range;

use crate::{backend::Access, mesh::MeshHandle, parts::MAX_PARTS};

/// Statistics of a pool. Sizes are in elements unless stated otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStats {
    /// Number of meshes in the pool.
    pub meshes: u32,
    /// Number of non-empty parts: the number of commands for drawing each part separately.
    pub parts: u64,
    /// Number of buffers.
    pub buffers: u32,
    /// Access of the last buffer, which normally applies to all buffers.
    pub access: Access,
    /// Elements of all buffers.
    pub capacity: u64,
    /// Elements in meshes.
    pub used: u64,
    /// Elements in retired allocations, which frames in flight may still read.
    pub waiting: u64,
    /// Elements in the unused rest of buckets.
    pub wasted: u64,
    /// Elements in free ranges.
    pub free: u64,
    /// Elements of the largest free range.
    pub largest_free: u32,
    /// Sum of the largest free range of each buffer, in elements.
    pub largest_free_sum: u64,
    /// Size of all buffers, in bytes.
    pub capacity_bytes: u64,
    /// Size of the elements in meshes, in bytes.
    pub used_bytes: u64,
    /// Traffic of the last submitted frame.
    pub last_frame: FrameTraffic,
}

/// Data written for a frame, and commands drawn by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameTraffic {
    /// Bytes of elements and per-draw data passed to the backend.
    pub uploaded_bytes: u64,
    /// Bytes of elements that the GPU moved.
    pub moved_bytes: u64,
    /// Number of moves.
    pub moves: u32,
    /// Number of draw commands that lists returned for the frame, to compare with
    /// [`PoolStats::parts`]. Commands that a list returns twice count twice.
    pub commands: u64,
}

impl PoolStats {
    /// Fraction of the capacity that meshes use, 0 to 1.
    pub fn occupancy(&self) -> f64 {
        part(self.used, self.capacity)
    }

    /// Fraction of the allocated elements that no mesh uses, 0 to 1.
    pub fn internal_fragmentation(&self) -> f64 {
        part(self.wasted, self.used + self.waiting + self.wasted)
    }

    /// Fraction of the free elements outside the largest free range of each buffer, 0 to 1.
    pub fn external_fragmentation(&self) -> f64 {
        part(self.free - self.largest_free_sum.min(self.free), self.free)
    }
}

fn part(of: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { of as f64 / all as f64 }
}

/// State of a range of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeState {
    /// Elements of this mesh.
    Live(MeshHandle),
    /// Freed elements that frames in flight may still read.
    Waiting,
    /// Free, including the unused rest of a bucket.
    Free,
}

/// Range of a buffer and its state, for inspection and maps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolRange {
    /// Number of the buffer.
    pub buffer: u32,
    /// Range of elements in the buffer.
    pub elements: Range<u32>,
    /// State of the range.
    pub state: RangeState,
}

/// Range of a buffer that holds elements of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MeshRange {
    /// Number of the buffer.
    pub buffer: u32,
    /// First element in the buffer.
    pub first: u32,
    /// Number of elements of each part in this range. The parts are stored in sequence.
    pub part_counts: [u32; MAX_PARTS],
}
