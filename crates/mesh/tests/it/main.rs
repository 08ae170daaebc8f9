//! Tests of the public interface: programs of operations compared with a naive store, closed meshes
//! clipped to pieces, heap memory counted by a global allocator.

#![allow(clippy::unwrap_used)]

mod allocation;
mod clipping;
mod examples;
mod frame;
mod insertion;
/// Vertex lists that only the table `polygons` uses.
#[path = "../../../bench/src/polygons/lists.rs"]
mod lists;
mod memory;
mod naive;
mod programs;
mod shapes;
mod triangles;
mod vertex_lists;
