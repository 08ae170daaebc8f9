//! OpenGL's functions, types and constants, as `build.rs` generates them.
#![allow(missing_docs, unused_qualifications, unreachable_pub, dead_code, clippy::all)]
#![allow(unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks)]

include!(concat!(env!("OUT_DIR"), "/gl.rs"));
