#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod allocation;
mod backend;
mod command;
mod config;
mod defragmenter;
mod draw_list;
mod draw_table;
mod error;
mod frames;
pub mod guide;
mod indexed;
mod mesh;
mod meshes;
mod parts;
mod simulated;
mod stats;
mod storage;
mod vertex_pool;

pub use backend::{ALIGNMENT_BYTES, Access, Backend, BackendError, NullBackend};
pub use command::{CommandRun, DrawCommand, Grouping, HiddenCommands, ListConfig, sort_key};
pub use config::{Oversize, Placement, PoolConfig};
pub use defragmenter::{MoveBudget, Moved};
pub use draw_list::{DrawList, DrawView, MeshRef};
pub use error::{EVICTION_CANDIDATES, EvictionCandidates, PoolError};
pub use indexed::{IndexedBackend, IndexedList, IndexedPool, IndexedRun};
pub use mesh::MeshHandle;
pub use parts::{MAX_PARTS, PartSet};
pub use simulated::{SimulatedGpu, SimulatedPicture, SimulatedStats};
pub use stats::{FrameTraffic, MeshRange, PoolRange, PoolStats, RangeState};
pub use vertex_pool::{MeshWriter, VertexPool};
