//! A vertex pool: many meshes in a few buffers, drawn with one indirect call each.
//!
//! ```text
//! ```text
//!  insert ──► VertexPool ──► Backend          (bytes to the GPU: staged, or direct)
//!                 │  allocations, parts, per-draw data
//!                 ▼
//!             DrawList ──mask──sort───► [DrawCommand]   20 bytes each, one call per buffer
//!                                            │ submit
//!  freed allocations ◄─────── completed ◄────┘ frame 7, 8, 9 …
//! ```
//! A mesh is one allocation. Its parts (for example the six face directions of a chunk) are
//! adjacent, so a run of visible parts needs one command. The pool depends on no graphics API and
//! no vertex format: an *element* is any `Pod` value.
//!
//! Buffers are added and released with the content of the pool. Growing copies nothing, and
//! [`VertexPool::defragment`] gathers sparse meshes in few buffers. The pool never writes memory
//! that a frame in flight may read, with either kind of [`Access`].
//!
//! # Which placement?
//!
//! | [`Placement`] | for | waste | moved by `defragment` |
//! |---|---|---|---|
//! | `Ranges` | meshes of any size | gaps, which can be closed | within and between buffers |
//! | `SizeClasses` | meshes with a known distribution of sizes | bounded in each bucket | between buffers |
//! | `Buckets` | meshes of equal size, as in the article | the unused rest of each bucket | between buffers |
//!
//! # Examples
//! ```
//! use drystone_pool::{Access, Config, DrawList, PartSet, SimulatedGpu, VertexPool};
//!
//! let mut gpu = SimulatedGpu::new(Access::Staged, 2);
//! let mut pool = VertexPool::<u64, u32>::new(Config::default())?;
//! // Three elements in part 0, two in part 1.
//! let mesh = pool.insert(&[1, 2, 3, 4, 5], &[3, 2], 7, &mut gpu)?;
//!
//! let mut list = DrawList::new();
//! list.insert(mesh)?;
//! list.mask(&pool, |_data| PartSet::EMPTY.with(1));
//! assert_eq!(list.commands(&pool)[0].base_vertex, 3 * 4);
//! # Ok::<(), drystone_pool::PoolError>(())
//! ```
//!
//! Two complete programs are in the `examples` of `drystone-render`:
//! - `own_vertices`: a wgpu backend with its own vertex format and shader.
//! - `sprites`: a backend in plain memory, with masks, sorting and several views of one list.
//!
//! The [`guide`] explains how the pool works, how fences protect memory, which policies to choose
//! and how to size a pool.
//!
//! Use a [`VertexPool`] for elements with a fixed index pattern (quads). Use an [`IndexedPool`] for
//! meshes with their own indices (polygon models); it combines two vertex pools.
//!
//! # Limits
//! At most 8 parts per mesh, 65,535 buffers, 2³¹ − 1 vertices per buffer and 2³¹ − 1 meshes per
//! pool. One thread writes a pool; several threads can read its draw commands.
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
