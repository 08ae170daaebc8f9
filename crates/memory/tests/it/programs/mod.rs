//! Each program is a string of bytes, so that property tests and fuzz targets run the
//! same ones. Each run panics at the first step where the structure and its shadow
//! differ.

pub(crate) mod block_pool;
#[allow(dead_code)]
pub(crate) mod counting;
#[cfg(feature = "allocator-api2")]
pub(crate) mod double_stack;
pub(crate) mod global_small_objects;
#[cfg(feature = "allocator-api2")]
pub(crate) mod linear;
pub(crate) mod pool;
pub(crate) mod scope_stack;
#[allow(dead_code)]
pub(crate) mod shadow;
pub(crate) mod size_lists;
pub(crate) mod small_objects;
#[cfg(feature = "allocator-api2")]
pub(crate) mod stack;
