use std::{collections::BTreeMap, fmt, path::Path};

use drystone_mesh::Quad;
use drystone_pool::{PlaceState, PoolPlace, PoolStats};
use serde_json::{Value, json};

use crate::output::plain;

/// Bytes of a quad.
pub(super) const QUAD_BYTES: u64 = size_of::<Quad>() as u64;

/// What the pool holds, all together and buffer by buffer. Sizes are in quads.
#[derive(Debug)]
pub(super) struct Numbers {
    pub(super) source: String,
    pub(super) stats: PoolStats,
    pub(super) buffers: Vec<BufferNumbers>,
}

/// What one buffer holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BufferNumbers {
    pub(super) number: u32,
    pub(super) quads: u64,
    /// Places with meshes: one a mesh, more where meshes are split.
    pub(super) places: u32,
    pub(super) live: u64,
    pub(super) waiting: u64,
    pub(super) free: u64,
    pub(super) largest_free: u64,
}

impl Numbers {
    /// Adds up `places`, which come by buffer and address.
    pub(super) fn new(source: &str, stats: PoolStats, places: &[PoolPlace]) -> Self {
        let mut buffers = BTreeMap::<u32, BufferNumbers>::new();
        for place in places {
            let buffer = buffers.entry(place.buffer).or_default();
            let count = u64::from(place.elements.end - place.elements.start);
            buffer.number = place.buffer;
            buffer.quads += count;
            match place.state {
                PlaceState::Live(_) => {
                    buffer.live += count;
                    buffer.places += 1;
                }
                PlaceState::Waiting => buffer.waiting += count,
                PlaceState::Free => {
                    buffer.free += count;
                    buffer.largest_free = buffer.largest_free.max(count);
                }
            }
        }
        Self { source: source.into(), stats, buffers: buffers.into_values().collect() }
    }

    /// Quads that are neither in meshes nor wait, with those that places leave over.
    pub(super) fn free(&self) -> u64 {
        self.buffers.iter().map(|buffer| buffer.free).sum()
    }

    pub(super) fn to_json(&self, output: &Path) -> Value {
        let stats = &self.stats;
        let buffers: Vec<Value> = self
            .buffers
            .iter()
            .map(|buffer| {
                json!({
                    "buffer": buffer.number,
                    "quads": buffer.quads,
                    "places": buffer.places,
                    "live": buffer.live,
                    "waiting": buffer.waiting,
                    "free": buffer.free,
                    "largest_free": buffer.largest_free,
                })
            })
            .collect();
        json!({
            "output": output.display().to_string(),
            "source": self.source,
            "access": stats.access.name(),
            "meshes": stats.meshes,
            "quads": {
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
        let stats = &self.stats;
        write!(
            f,
            "{}: {} meshes in {}, {} bytes; quads: {} live, {} waiting, {} free, {} the largest \
             gap",
            plain(&self.source),
            stats.meshes,
            buffers(stats.buffers),
            stats.capacity_bytes,
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
