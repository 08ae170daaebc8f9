use std::{collections::BTreeMap, fmt};

use drystone_mesh::Quad;
use drystone_pool::{PoolRange, PoolStats, RangeState};
use drystone_render::TriangleVertex;
use serde_json::{Value, json};

/// What a pool's places are counted in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    /// What the pool is called.
    pub(super) pool: &'static str,
    /// One, with its article.
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

/// What the pool holds, all together and buffer by buffer, in elements of its unit.
#[derive(Debug)]
pub(super) struct Numbers {
    pub(super) source: String,
    pub(super) unit: Unit,
    pub(super) stats: PoolStats,
    pub(super) buffers: Vec<BufferNumbers>,
}

/// What one buffer holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BufferNumbers {
    pub(super) number: u32,
    pub(super) elements: u64,
    /// Places with meshes: one a mesh, more where meshes are split.
    pub(super) places: u32,
    pub(super) live: u64,
    pub(super) waiting: u64,
    pub(super) free: u64,
    pub(super) largest_free: u64,
}

impl Numbers {
    /// Adds up `places`, which come by buffer and address.
    pub(super) fn new(source: &str, unit: Unit, stats: PoolStats, places: &[PoolRange]) -> Self {
        let mut buffers = BTreeMap::<u32, BufferNumbers>::new();
        for place in places {
            let buffer = buffers.entry(place.buffer).or_default();
            let count = u64::from(place.elements.end - place.elements.start);
            buffer.number = place.buffer;
            buffer.elements += count;
            match place.state {
                RangeState::Live(_) => {
                    buffer.live += count;
                    buffer.places += 1;
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

    /// Elements that are neither in meshes nor wait, with those that places leave over.
    pub(super) fn free(&self) -> u64 {
        self.buffers.iter().map(|buffer| buffer.free).sum()
    }

    /// What there is to say of the pool alone.
    pub(super) fn to_json(&self) -> Value {
        let Self { stats, unit, .. } = self;
        let buffers: Vec<Value> = self
            .buffers
            .iter()
            .map(|buffer| {
                json!({
                    "buffer": buffer.number,
                    (unit.many): buffer.elements,
                    "places": buffer.places,
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
            "{} meshes in {}, {} bytes; {}: {} live, {} waiting, {} free, {} the largest gap",
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

/// So many buffers, in words.
pub(super) fn buffers(count: u32) -> String {
    if count == 1 { "1 buffer".into() } else { format!("{count} buffers") }
}
