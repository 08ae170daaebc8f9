//! Compares the meshers with each other, and each optimised one with a simple reference.
// The lint's exception for tests does not include their helper functions.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod allocation;
mod arrays;
mod boxes;
mod conforming;
mod cover;
mod occlusion;
mod order;
mod programs;
mod rasterised;
mod remeshed;
mod scenes;
mod storages;
mod triangles;
