//! Draws meshes of quads and triangles: cameras, three ways to store meshes, and three backends.
//!
//! ```text
//! Renderer                              Device
//! ┌ PoolRenderer       one buffer ┐     ┌ SoftDevice   needs no driver; the reference
//! ├ NaiveRenderer      a buffer a ┼────►┼ WgpuDevice   Vulkan, Metal, Direct3D 12, OpenGL
//! └ InstancedRenderer  a cube an  ┘Frame│
//! entry   commands └ GlDevice     OpenGL 4.5, writes quads directly
//! ```
//! A renderer decides what is drawn, and a device draws it. Every pair of them draws the same
//! picture. Colours are sRGB as shown on screen, and depth is reversed. Positions are taken
//! relative to the camera before they become floats.
//!
//! # Examples
//! ```
//! use drystone_mesh::{Face, Quad};
//! use drystone_render::{
//! Camera, DrawData, Layer, MeshData, PoolRenderer, Renderer, SoftDevice, View,
//! };
//! use glam::DVec3;
//!
//! let mut renderer = PoolRenderer::new(SoftDevice::new(64, 64)?, 1000, 16)?;
//! renderer.set_palette(&[[0; 4], [200, 60, 40, 255]])?;
//! // One red square of 8 by 8 voxels that faces up.
//! let quad = Quad::new([0, 0, 0], [8, 8], Face::PosY, 1);
//! renderer.insert(&MeshData {
//! quads: &[quad],
//! counts: [0, 0, 0, 0, 1, 0],
//! draw_data: DrawData { origin: [0; 3], level: 0, extent: 32 },
//! layer: Layer::Opaque,
//! })?;
//! let camera = Camera::look_at(DVec3::new(4.0, 9.0, 8.0), DVec3::new(4.0, 1.0, 4.0));
//! let drawn = renderer.draw(&View::new(camera))?;
//! assert_eq!((drawn.commands, drawn.quads), (1, 1));
//! let [red, green, ..] = renderer.read_image()?.pixel(32, 32);
//! assert!(red > 2 * green);
//! # Ok::<(), drystone_render::RenderError>(())
//! ```
//! Callers that already have an engine need only `drystone-pool`: see `own_vertices` and `sprites`
//! in `examples`.
//!
//! # Which one?
//! * [`PoolRenderer`] is the default. [`NaiveRenderer`] is for comparison with it.
//! * [`InstancedRenderer`] suits scenes in which single cubes change everywhere and few cubes are
//!   in view. It draws cube by cube and never rebuilds a mesh.
//! * [`WgpuDevice`] needs an adapter. [`GlDevice`] needs OpenGL 4.5 and can write quads without a
//!   copy. [`SoftDevice`] needs neither, and is the reference for the other two.
//!
//! Polygon models are [`TriangleMesh`]es with their own vertices and indices
//! ([`Renderer::insert_triangles`]). They share picture, depth buffer and light with quads.
//!
//! # Limits
//! Meshes of quads have at most 64 voxels a side. A pool buffer has at most as many bytes as the
//! device can bind (at least 128 MiB). Blended meshes are sorted mesh by mesh, and those of models
//! are drawn after those of quads. [`InstancedRenderer`] draws no models. On adapters without
//! indirect first instance (some OpenGL ones) a pool's commands are issued one by one. [Culling on
//! the GPU](Renderer::set_cull) needs wgpu and applies to opaque meshes only.
#![deny(unsafe_code)]

mod atmosphere;
mod camera;
mod cull;
mod device;
mod draw_data;
mod error;
mod fault;
mod frame;
#[cfg(not(target_arch = "wasm32"))]
mod gl;
mod image;
mod instanced_renderer;
mod naive_renderer;
mod overlay;
mod pool_renderer;
mod renderer;
mod replace_file;
mod shared_device;
mod soft;
mod software;
mod triangle_mesh;
mod triangle_vertex;
mod visibility;
mod wgpu;

pub use crate::wgpu::{Api, WgpuDevice, WgpuGeometry, WindowTarget};
pub use atmosphere::Atmosphere;
pub use camera::{Camera, Projection};
pub use cull::{Cull, CullCounts, CullFrame, CullRecord, CullTable, Culled};
pub use device::{Batch, Device, PATTERN_QUADS, Passes, QUADS_PER_CUBE};
pub use draw_data::DrawData;
pub use drystone_pool::Access;
pub use error::RenderError;
pub use frame::Frame;
#[cfg(not(target_arch = "wasm32"))]
pub use gl::{ArticleDevice, ArticleGeometry, FatDevice, GlConfig, GlDevice, GlGeometry};
pub use image::{Image, ImageDifference};
pub use instanced_renderer::{CubeBuffer, CubeId, InstancedRenderer, RegionId, SlotPolicy};
pub use naive_renderer::NaiveRenderer;
pub use overlay::{Overlay, OverlayCorner, OverlayPart, OverlayPatch};
pub use pool_renderer::{
    FlushedBuffers, PoolBuffers, PoolRenderer, PoolRendererConfig, PoolUpload, capacity_for,
};
pub use renderer::{DrawStats, HeldStats, Layer, MeshData, MeshId, Renderer, View};
pub use replace_file::replace_file;
pub use shared_device::SharedDevice;
pub use soft::{SoftDevice, SoftGeometry};
pub use triangle_mesh::{TriangleMesh, TrianglesId};
pub use triangle_vertex::{TriangleTransform, TriangleVertex};
pub use visibility::Visibility;
