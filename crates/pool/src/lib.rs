#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod access;
mod backend;
mod buffers;
mod changes;
mod command;
mod config;
mod defrag;
mod draw_list;
mod error;
mod frames;
pub mod guide;
mod indexed;
mod mesh;
mod null_backend;
mod part_ranges;
mod part_runs;
mod parts;
mod ranges;
mod simulated;
mod space;
mod stats;
mod vertex_pool;
mod writer;

pub use access::Access;
pub use backend::{ALIGNMENT_BYTES, Backend, BackendError};
pub use command::{CommandRun, DrawCommand};
pub use config::{Config, Oversize, Placement};
pub use defrag::{MoveBudget, Moved};
pub use draw_list::{DrawList, DrawView, Grouping, Hidden, ListConfig, sort_key};
pub use error::{EVICTION_CANDIDATES, PoolError};
pub use indexed::{
    ElementRange, IndexedBackend, IndexedList, IndexedPool, IndexedRange, IndexedRun,
};
pub use mesh::MeshHandle;
pub use null_backend::NullBackend;
pub use parts::{MAX_PARTS, PartSet};
pub use ranges::{PoolRange, RangeState};
pub use simulated::{Picture, SimulatedGpu, SimulatedPart, SimulatedStats};
pub use stats::{FrameTraffic, PoolStats};
pub use vertex_pool::{MeshRange, VertexPool};
pub use writer::MeshWriter;
