use bytemuck::Pod;

use crate::{Access, VertexPool};

/// Figures of a pool. Sizes are in elements unless they say otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolStats {
    /// Meshes in the pool.
    pub meshes: u32,
    /// Their parts that have elements: the draw commands that there would be if all were
    /// drawn, each part by itself.
    pub parts: u64,
    /// Buffers that there are.
    pub buffers: u32,
    /// How elements are written; where buffers differ, how those of the last one are.
    pub access: Access,
    /// Elements of all buffers.
    pub capacity: u64,
    /// Elements in meshes.
    pub used: u64,
    /// Elements in freed places that unfinished frames may still read.
    pub waiting: u64,
    /// Elements that places have and their meshes do not: what buckets leave over.
    pub wasted: u64,
    /// Elements in free places.
    pub free: u64,
    /// The largest free place.
    pub largest_free: u32,
    /// The largest free places of all buffers, together.
    pub largest_free_sum: u64,
    /// Bytes of all buffers.
    pub capacity_bytes: u64,
    /// Bytes of elements in meshes.
    pub used_bytes: u64,
    /// What the last frame that was submitted had uploaded and moved before it, and drew.
    pub last_frame: FrameTraffic,
}

/// What was written before a frame, and what it drew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameTraffic {
    /// Bytes of elements and per-draw data handed to the backend.
    pub uploaded_bytes: u64,
    /// Bytes of elements that the GPU copied from place to place.
    pub moved_bytes: u64,
    /// Such copies.
    pub moves: u32,
    /// Draw commands that lists handed out for it, of [`PoolStats::parts`]; those of a list
    /// that was asked twice count twice.
    pub commands: u64,
}

impl PoolStats {
    /// The part of all buffers' elements that meshes have, 0 to 1.
    pub fn occupancy(&self) -> f64 {
        part(self.used, self.capacity)
    }

    /// The part of what is handed out that no mesh uses, 0 to 1.
    pub fn internal_fragmentation(&self) -> f64 {
        part(self.wasted, self.used + self.waiting + self.wasted)
    }

    /// The part of what is free that is not in the largest free place of its buffer, 0 to
    /// 1: what cannot be had in one piece.
    pub fn external_fragmentation(&self) -> f64 {
        part(self.free - self.largest_free_sum.min(self.free), self.free)
    }
}

fn part(of: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { of as f64 / all as f64 }
}

/// Counts bytes frame by frame.
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
    /// The figures.
    ///
    /// # Cost
    /// O(meshes), a word of each, and O(buffers), with ranges what `RangeSpace::stats`
    /// costs each.
    pub fn stats(&self) -> PoolStats {
        let parts = self.meshes.iter().map(|(_, mesh)| u64::from(mesh.ranges.part_count()));
        PoolStats {
            meshes: self.meshes.len(),
            parts: parts.sum(),
            last_frame: self.traffic.last,
            ..self.room()
        }
    }

    /// The figures of the buffers alone.
    pub(crate) fn room(&self) -> PoolStats {
        let mut stats = PoolStats::default();
        for (_, buffer) in self.buffers.iter() {
            let room = buffer.space.room(buffer.used + buffer.waiting);
            stats.buffers += 1;
            stats.access = buffer.access;
            stats.capacity += u64::from(buffer.elements);
            stats.used += u64::from(buffer.used);
            stats.waiting += u64::from(buffer.waiting);
            stats.wasted += u64::from(room.wasted);
            stats.free += u64::from(room.total);
            stats.largest_free = stats.largest_free.max(room.largest);
            stats.largest_free_sum += u64::from(room.largest);
        }
        let size_bytes = size_of::<V>() as u64;
        stats.capacity_bytes = stats.capacity * size_bytes;
        stats.used_bytes = stats.used * size_bytes;
        stats
    }
}
