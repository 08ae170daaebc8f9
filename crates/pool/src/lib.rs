//! A vertex pool: many meshes in one buffer, drawn with one indirect call.
//!
//! ```text
//!  insert ──► VertexPool ──► Backend          (bytes to the GPU)
//!                 │  places, parts, per-draw data
//!                 ▼
//!             DrawList ──mask──order──► [DrawCommand]   20 bytes each, one call
//! ```
//! A mesh is one allocation whose parts (a chunk's six facings, say) lie side by side, so
//! that a run of visible parts is one command. The pool knows neither a graphics API nor
//! what a vertex is: an *element* is any `Pod` value, placed, copied and counted.
//!
//! # Examples
//! ```
//! use drystone_pool::{Backend, Config, DrawList, PartSet, VertexPool};
//!
//! #[derive(Default)]
//! struct Memory(Vec<u8>);
//! impl Backend for Memory {
//!     fn write_elements(&mut self, offset_bytes: u64, bytes: &[u8]) {
//!         let start = offset_bytes as usize;
//!         self.0.resize(self.0.len().max(start + bytes.len()), 0);
//!         self.0[start..start + bytes.len()].copy_from_slice(bytes);
//!     }
//!     fn write_draw_data(&mut self, _slot: u32, _bytes: &[u8]) {}
//! }
//!
//! let mut memory = Memory::default();
//! let mut pool = VertexPool::<u64, u32>::new(Config { capacity: 100, ..Config::default() })?;
//! // Three elements in part 0, two in part 1.
//! let mesh = pool.insert(&[1, 2, 3, 4, 5], &[3, 2], 7, &mut memory)?;
//!
//! let mut list = DrawList::new();
//! list.insert(mesh);
//! list.mask(&pool, |_data| PartSet::EMPTY.with(1));
//! assert_eq!(list.commands(&pool)[0].base_vertex, 3 * 4);
//! # Ok::<(), drystone_pool::PoolError>(())
//! ```
//!
//! # Limits
//! One buffer of a fixed size, 8 parts a mesh. Writes are *staged*: the backend copies in
//! queue order, which keeps a freed place safe from frames that were submitted before.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod backend;
mod command;
mod draw_list;
mod error;
mod parts;
mod vertex_pool;

pub use backend::Backend;
pub use command::DrawCommand;
pub use draw_list::{DrawList, sort_key};
pub use error::PoolError;
pub use parts::{MAX_PARTS, PartSet};
pub use vertex_pool::{Config, MeshHandle, PoolStats, VertexPool};
