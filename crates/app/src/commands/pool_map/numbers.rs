use std::{collections::BTreeMap, fmt};

use drystone_mesh::Quad;
use drystone_pool::{PoolRange, PoolStats, RangeState};
use drystone_render::TriangleVertex;
use serde_json::{Value, json};

/// Unit of a pool's ranges.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    /// Title of the pool.
    pub(super) pool: &'static str,
    /// Singular, with its article.
    pub(super) one: &'static str,
    pub(super) many: &'static str,
    pub(super) bytes: u64,
}

impl Unit {
    pub(super) const QUADS: Self = Self::new::<Quad>(["Vertex pool", "a quad", "quads"]);
    pub(super) const VERTICES: Self =
        Self::new::<TriangleVertex>(["Vertex pool", "a vertex", "vertices"]);
    pub(super) const INDICES: Self = Self::new::<u32>(["Index pool", "an index", "indices"]);

    const fn new<T>([pool, one, many]: [&'static str; 3]) -> Self {
        Self { pool, one, many, bytes: size_of::<T>() as u64 }
    }
}

/// Contents of the pool, in total and by buffer, in elements of its unit.
#[derive(Debug)]
pub(super) struct Numbers {
    pub(super) source: String,
    pub(super) unit: Unit,
    pub(super) stats: PoolStats,
    pub(super) buffers: Vec<BufferNumbers>,
}

/// Contents of one buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BufferNumbers {
    pub(super) number: u32,
    pub(super) elements: u64,
    /// Live ranges: one per mesh, more if meshes are split.
    pub(super) live_ranges: u32,
    pub(super) live: u64,
    pub(super) waiting: u64,
    pub(super) free: u64,
    pub(super) largest_free: u64,
}

impl Numbers {
    /// Adds up `ranges`, which are sorted by buffer and offset.
    pub(super) fn new(source: &str, unit: Unit, stats: PoolStats, ranges: &[PoolRange]) -> Self {
        let mut buffers = BTreeMap::<u32, BufferNumbers>::new();
        for range in ranges {
            let buffer = buffers.entry(range.buffer).or_default();
            let count = u64::from(range.elements.end - range.elements.start);
            buffer.number = range.buffer;
            buffer.elements += count;
            match range.state {
                RangeState::Live(_) => {
                    buffer.live += count;
                    buffer.live_ranges += 1;
                }
                RangeState::Waiting => buffer.waiting += count,
                RangeState::Free => {
                    buffer.free += count;
                    buffer.largest_free = buffer.largest_free.max(count);
                }
            }
        }
        Self { source: source.into(), unit, stats, buffers: buffers.into_values().collect() }
    }

    /// Free elements, including unused tails of allocations.
    pub(super) fn free(&self) -> u64 {
        self.buffers.iter().map(|buffer| buffer.free).sum()
    }

    /// Returns the figures of this pool alone.
    pub(super) fn to_json(&self) -> Value {
        let Self { stats, unit, .. } = self;
        let buffers: Vec<Value> = self
            .buffers
            .iter()
            .map(|buffer| {
                json!({
                    "buffer": buffer.number,
                    (unit.many): buffer.elements,
                    "places": buffer.live_ranges,
                    "live": buffer.live,
                    "waiting": buffer.waiting,
                    "free": buffer.free,
                    "largest_free": buffer.largest_free,
                })
            })
            .collect();
        json!({
            "access": stats.access.name(),
            "meshes": stats.meshes,
            (unit.many): {
                "capacity": stats.capacity,
                "live": stats.used,
                "waiting": stats.waiting,
                "free": self.free(),
                "left_over": stats.wasted,
                "largest_free": stats.largest_free,
            },
            "bytes": {"capacity": stats.capacity_bytes, "live": stats.used_bytes},
            "occupancy": stats.occupancy(),
            "internal_fragmentation": stats.internal_fragmentation(),
            "external_fragmentation": stats.external_fragmentation(),
            "buffers": buffers,
        })
    }
}

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stats, unit, .. } = self;
        write!(
            f,
            "{} meshes in {}, {} bytes; {}: {} live, {} waiting, {} free, largest gap {}",
            stats.meshes,
            buffers(stats.buffers),
            stats.capacity_bytes,
            unit.many,
            stats.used,
            stats.waiting,
            self.free(),
            stats.largest_free,
        )
    }
}

/// Formats a number of buffers.
pub(super) fn buffers(count: u32) -> String {
    if count == 1 { "1 buffer".into() } else { format!("{count} buffers") }
}
