//! Tests that need their own binary: they count heap memory with a global allocator.

#![allow(clippy::unwrap_used)]

mod allocation;
mod vertex;
