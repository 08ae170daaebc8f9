#![doc = include_str!(concat!("../", env!("CARGO_PKG_README")))]
#![forbid(unsafe_code)]

mod flight;
pub mod scene;
mod walk;

pub use flight::{Flight, FlightKey, Stride};
pub use walk::Walk;
