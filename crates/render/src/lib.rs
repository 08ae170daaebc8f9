//! x
#![forbid(unsafe_code)]

mod atmosphere;
mod camera;
mod device;
mod draw_data;
mod error;
mod frame;
mod image;
mod naive_renderer;
mod pool_renderer;
mod renderer;
mod visibility;
mod wgpu;

pub use crate::wgpu::{Api, WgpuDevice, WgpuGeometry, WindowTarget};
pub use atmosphere::Atmosphere;
pub use camera::{Camera, Projection};
pub use device::{Batch, Device, PATTERN_QUADS, Passes};
pub use draw_data::DrawData;
pub use error::RenderError;
pub use frame::Frame;
pub use image::{Image, ImageDifference};
pub use naive_renderer::NaiveRenderer;
pub use pool_renderer::PoolRenderer;
pub use renderer::{DrawStats, HeldStats, Layer, MeshData, MeshId, Renderer, View};
pub use visibility::Visibility;
