//! Compression of records: the C library zstd, or a decoder in Rust on targets without a C compiler
//! such as browsers. The Rust version writes records uncompressed.

#[cfg(not(target_arch = "wasm32"))]
mod native;
#[cfg(any(test, target_arch = "wasm32"))]
mod portable;

#[cfg(not(target_arch = "wasm32"))]
pub(crate) use native::Zstd;
#[cfg(target_arch = "wasm32")]
pub(crate) use portable::Zstd;
