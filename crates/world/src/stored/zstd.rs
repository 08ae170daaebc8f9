//! What packs and unpacks records: zstd, which is written in C; and where there is no C compiler,
//! as for browsers, a decoder in Rust, beside which records stay unpacked.

#[cfg(not(target_arch = "wasm32"))]
mod native;
#[cfg(any(test, target_arch = "wasm32"))]
mod portable;

#[cfg(not(target_arch = "wasm32"))]
pub(super) use native::Zstd;
#[cfg(target_arch = "wasm32")]
pub(super) use portable::Zstd;
