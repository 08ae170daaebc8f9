//! Drawing tables: whole frames, drystone's pool compared with naive rendering.

pub(crate) mod article;
pub(crate) mod bucket_size;
pub(crate) mod changing;
mod chunk_scene;
mod contenders;
pub(crate) mod cubes;
pub(crate) mod culling;
mod frames;
pub(crate) mod lists;
pub(crate) mod mask_order;
pub(crate) mod million;
pub(crate) mod noise;
mod scene;
pub(crate) mod still;
pub(crate) mod switches;

/// Size of the pictures, in pixels.
const SIZE: [u32; 2] = [720, 720];
