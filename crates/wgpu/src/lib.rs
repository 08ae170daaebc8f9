#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod cull;
mod draws;
mod elements;
mod error;
mod frame_counter;
mod gpu;
mod indexed_buffers;
pub mod parts;
mod pool_buffers;
mod transfers;
mod vertices;

#[doc(hidden)]
pub use cull::CullMirror;
pub use cull::{
    CullBounds, CullCounts, CullDepth, CullList, CullOrder, CullTable, CullView, Culler,
};
pub use drystone_mesh::QUAD_WGSL;
pub use error::GpuError;
pub use frame_counter::FrameNumbers;
pub use indexed_buffers::IndexedBuffers;
pub use pool_buffers::PoolBuffers;
pub use transfers::WriteMode;
pub use vertices::VertexInput;
pub use wgpu;
