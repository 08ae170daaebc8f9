//! Meshers against each other: every clever thing beside its dumb twin.
// The lint's own exception for tests does not reach their helpers.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod allocation;
mod conforming;
mod cover;
mod occlusion;
mod order;
mod programs;
mod rasterised;
mod remeshed;
mod scenes;
mod storages;
