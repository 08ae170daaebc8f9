//! A vertex pool: many meshes in a few buffers, drawn with one indirect call each.
//!
//! ```text
//!  insert ──► VertexPool ──► Backend          (bytes to the GPU: staged, or direct)
//!                 │  places, parts, per-draw data
//!                 ▼
//!             DrawList ──mask──order──► [DrawCommand]   20 bytes each, one call a buffer
//!                                            │ submit
//!  places that were freed ◄── completed ◄────┘ frame 7, 8, 9 …
//! ```
//! A mesh is one allocation whose parts (a chunk's six facings, say) lie side by side, so
//! that a run of visible parts is one command. The pool knows neither a graphics API nor
//! what a vertex is: an *element* is any `Pod` value, placed, copied and counted.
//!
//! Buffers come and go with what is in them: growing copies nothing, and
//! [`VertexPool::defragment`] gathers what is left in few of them. A place that a frame in
//! flight may read is never written, whichever way writes go ([`Access`]).
//!
//! # Which placement?
//!
//! | [`Placement`] | for | waste | moved by `defragment` |
//! |---|---|---|---|
//! | `Ranges` | meshes of any size | gaps, which can be closed | within and between buffers |
//! | `SizeClasses` | meshes whose sizes are known beforehand | bounded in each bucket | between buffers |
//! | `Buckets` | equal meshes; the article's | what a mesh leaves of its bucket | between buffers |
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
//! Whole programs stand in the `examples` of `drystone-render`: `own_vertices` (a backend over
//! wgpu, with a vertex format and a shader of one's own) and `sprites` (a backend in plain
//! memory; masks, orders, several looks at one list).
//!
//! The [`guide`] has more of this: how it works, why fences hold, what to choose, how large.
//!
//! Elements that follow a pattern (quads) need a [`VertexPool`]; meshes of vertices with
//! indices of their own (polygon models) an [`IndexedPool`], which is two of them.
//!
//! # Limits
//! 8 parts a mesh, 65,535 buffers, 2³¹ − 1 vertices a buffer and meshes a pool. A pool is
//! written by one thread; what it draws can be asked from several.
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
mod places;
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
pub use error::{CANDIDATES, PoolError};
pub use indexed::{
    ElementRange, IndexedBackend, IndexedList, IndexedPool, IndexedRange, IndexedRun,
};
pub use mesh::MeshHandle;
pub use null_backend::NullBackend;
pub use parts::{MAX_PARTS, PartSet};
pub use places::{PoolRange, RangeState};
pub use simulated::{Picture, SimulatedGpu, SimulatedPart, SimulatedStats};
pub use stats::{FrameTraffic, PoolStats};
pub use vertex_pool::{MeshRange, VertexPool};
pub use writer::MeshWriter;
