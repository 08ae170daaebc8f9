//! x
#![forbid(unsafe_code)]

mod atmosphere;
mod camera;
mod device;
mod draw_data;
mod error;
mod frame;
mod image;
mod visibility;

pub use atmosphere::Atmosphere;
pub use camera::{Camera, Projection};
pub use device::{Batch, Device, Passes};
pub use draw_data::DrawData;
pub use error::RenderError;
pub use frame::Frame;
pub use image::{Image, ImageDifference};
pub use visibility::Visibility;
