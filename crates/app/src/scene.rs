//! Scenes: voxels or a model with the renderer that shows it. Shared by viewer, command line and
//! benchmarks.
//!
//! ```text
//!  LodData ──► VoxelScene { LodTree ──► Renderer } ──draw──► picture
//!    ▲                (follows the camera; meshes are built on threads)
//!    └── Editor ◄── ray, brush; EditSaver saves the edits
//!  Model ──► ModelTriangles ──► ModelScene { Renderer } ──draw──► picture
//! ```

mod backend;
mod clearance;
mod default_view;
mod editor;
mod haze;
mod land;
mod memory;
mod model;
mod model_scene;
mod outline;
mod quads;
mod ray;
mod scene_box;
mod side;
mod voxel_scene;

#[cfg(not(target_arch = "wasm32"))]
pub use backend::open_renderer;
#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
pub use backend::open_window;
#[cfg(feature = "gpu")]
pub use backend::open_window_async;
pub use backend::{BackendKind, Capacity, OpenDevice, RendererKind, Size, open_soft, set_samples};
pub(crate) use clearance::clearance;
pub use default_view::{DefaultView, default_view, default_view_of_model};
pub(crate) use default_view::{FOV_Y, Framing};
pub use drystone_world::Meshing;
pub(crate) use editor::hit_distance;
pub use editor::{
    Brush, BrushForm, EditAction, EditError, EditSaver, EditStep, EditTool, Edited, Editor, Mirror,
    MirrorPlanes, SaveState, Selection,
};
pub(crate) use haze::{HAZE_BEGINS, edge_haze, haze_towards};
pub(crate) use land::LandChunks;
pub use memory::MemoryBudget;
pub use model::{ModelTransform, ModelTriangles, PartTriangles, Shade};
pub use model_scene::ModelScene;
pub use outline::{OutlineLine, OutlinePart};
pub use quads::{ChunkQuads, mesh_chunk, mesh_world, mesh_world_with, quad_count};
pub use ray::ray_through;
pub(crate) use scene_box::tight_corners;
pub use scene_box::{corners, level_corners, reach};
pub use side::{Side, ViewSide};
pub use voxel_scene::{VoxelScene, lod_camera, material_looks, material_textures};
