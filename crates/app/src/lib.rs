#![doc = include_str!(concat!("../", env!("CARGO_PKG_README")))]
#![forbid(unsafe_code)]

pub mod scene;
