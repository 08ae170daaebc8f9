//! What needs a binary of its own: heap memory counted by a global allocator.

#![allow(clippy::unwrap_used)]

mod allocation;
mod vertex;
