use bytemuck::Pod;

use crate::{Access, VertexPool};

/// Statistics of a pool. Sizes are in elements unless stated otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

/// Counter of the bytes per frame.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traffic {
    current: FrameTraffic,
    last: FrameTraffic,
}

impl Traffic {
    #[inline]
    pub(crate) const fn note_uploaded(&mut self, bytes: usize) {
        self.current.uploaded_bytes += bytes as u64;
    }

    pub(crate) const fn note_moved(&mut self, bytes: u64) {
        self.current.moved_bytes += bytes;
        self.current.moves += 1;
    }

    pub(crate) fn end_frame(&mut self, commands: u64) {
        self.last = FrameTraffic { commands, ..core::mem::take(&mut self.current) };
    }
}

impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// Returns statistics of the pool.
    ///
    /// # Cost
    /// O(meshes), reading one word each, and O(buffers); with ranges, one `RangeSpace::stats` per
    /// buffer.
    pub fn stats(&self) -> PoolStats {
        let parts = self.meshes.iter().map(|(_, mesh)| u64::from(mesh.ranges.part_count()));
        PoolStats {
            meshes: self.meshes.len(),
            parts: parts.sum(),
            last_frame: self.traffic.last,
            ..self.buffer_stats()
        }
    }

    /// Returns statistics of the buffers only.
    pub(crate) fn buffer_stats(&self) -> PoolStats {
        let mut stats = PoolStats::default();
        for (_, buffer) in self.buffers.iter() {
            let free = buffer.space.free_space(buffer.used + buffer.waiting);
            stats.buffers += 1;
            stats.access = buffer.access;
            stats.capacity += u64::from(buffer.elements);
            stats.used += u64::from(buffer.used);
            stats.waiting += u64::from(buffer.waiting);
            stats.wasted += u64::from(free.wasted);
            stats.free += u64::from(free.total);
            stats.largest_free = stats.largest_free.max(free.largest);
            stats.largest_free_sum += u64::from(free.largest);
        }
        let size_bytes = size_of::<V>() as u64;
        stats.capacity_bytes = stats.capacity * size_bytes;
        stats.used_bytes = stats.used * size_bytes;
        stats
    }
}
