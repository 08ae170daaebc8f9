//! Parts of [`PoolBuffers`](crate::PoolBuffers), for devices that arrange buffers differently:
//! creation of buffers with typed errors, copies in order with writes, frame numbers, draw calls, the index
//! pattern.

pub use crate::{
    copies::{Copies, CopyBytes},
    draws::{CallSource, CommandUpload},
    frame_counter::FrameCounter,
    gpu::Gpu,
    pool_buffers::quad_pattern,
};
