#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod flight;
pub mod scene;
mod walk;

pub use flight::{Flight, FlightKey, Stride};
pub use walk::Walk;

/// The examples of the repository's README, as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
