//! Parts of [`PoolBuffers`](crate::PoolBuffers), for devices that arrange buffers differently:
//! creation of buffers with typed errors, writes and copies in order, frame numbers, draw calls, the index
//! pattern.

pub use crate::{
    draws::{CallSource, CommandUpload},
    frame_counter::FrameCounter,
    gpu::Gpu,
    pool_buffers::quad_pattern,
    transfers::{CopyBytes, Transfers},
};
