#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)]
#![cfg_attr(
    not(any(feature = "soft", feature = "wgpu", feature = "gl")),
    allow(dead_code, reason = "without a device nothing uses what all devices share")
)]

mod atmosphere;
mod bloom;
mod buffers;
mod camera;
mod cull;
mod device;
mod draw_data;
mod error;
#[cfg(any(feature = "wgpu", feature = "gl"))]
mod fault;
mod frame;
#[cfg(all(feature = "gl", not(target_arch = "wasm32")))]
mod gl;
mod image;
mod instanced_renderer;
mod material_look;
mod mesh_data;
mod naive_renderer;
mod overlay;
mod passes;
mod pool_renderer;
mod quad_order;
mod quad_textures;
mod quad_writer;
mod renderer;
#[cfg(feature = "png")]
mod replace_file;
mod samples;
mod shadows;
mod shared_device;
#[cfg(any(feature = "soft", test))]
mod soft;
#[cfg(any(feature = "wgpu", feature = "gl"))]
mod software;
mod texture_set;
mod triangle_mesh;
mod triangle_vertex;
mod view;
mod visibility;
#[cfg(feature = "wgpu")]
mod wgpu_device;
#[cfg(any(feature = "wgpu", feature = "gl"))]
mod window_target;

pub use atmosphere::Atmosphere;
pub use buffers::{BufferData, BufferKind, CopyRange, DrawSlots, PATTERN_QUADS, QUADS_PER_CUBE};
pub use camera::{Camera, Projection};
pub use cull::{Cull, CullCounts, Culled, UnknownCull};
#[doc(hidden)]
pub use device::sealed;
pub use device::{Destination, Device, DeviceInfo, Output, Progress, Submitted};
pub use draw_data::DrawData;
pub use drystone_pool::Access;
pub use error::RenderError;
pub use frame::Frame;
#[cfg(all(feature = "gl", not(target_arch = "wasm32")))]
pub use gl::{GlConfig, GlDevice, GlGeometry, parts as gl_parts};
pub use glam;
pub use image::{Image, ImageDifference};
pub use instanced_renderer::{CubeBuffer, CubeId, InstancedRenderer, RegionId, SlotPolicy};
pub use material_look::MaterialLook;
pub use mesh_data::{Layer, MeshData, MeshId};
pub use naive_renderer::NaiveRenderer;
pub use overlay::{Overlay, OverlayCorner, OverlayPart, OverlayPatch};
pub use passes::{Batch, Passes, ShadowPass};
pub use pool_renderer::{
    FlushedBuffers, PoolGeometries, PoolRenderer, PoolRendererConfig, PoolUpload, capacity_for,
};
pub use quad_textures::QuadTextures;
pub use quad_writer::QuadWriter;
pub use renderer::{DrawStats, HeldStats, Renderer};
#[cfg(feature = "png")]
pub use replace_file::replace_file;
pub use samples::{Samples, UnknownSamples};
pub use shadows::BlockedLight;
pub use shared_device::SharedDevice;
#[cfg(any(feature = "soft", test))]
pub use soft::{SoftDevice, SoftGeometry};
pub use texture_set::{Opacity, SurfaceMaterial, SurfaceTexture, TextureSet, TextureWrap};
pub use triangle_mesh::{TriangleMesh, TrianglesId};
pub use triangle_vertex::{TriangleTransform, TriangleVertex};
pub use view::View;
pub use visibility::Visibility;
#[cfg(feature = "wgpu")]
pub use wgpu;
#[cfg(feature = "wgpu")]
pub use wgpu_device::{Api, DrawTarget, WgpuDevice, WgpuGeometry};
#[cfg(any(feature = "wgpu", feature = "gl"))]
pub use window_target::WindowTarget;
#[cfg(all(any(feature = "wgpu", feature = "gl"), not(target_arch = "wasm32")))]
pub use window_target::{DisplayHandle, WindowHandle};
