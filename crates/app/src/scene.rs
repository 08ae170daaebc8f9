//! Scenes: a world or model with the renderer that shows it. Shared by viewer, command line and
//! benchmarks.
//!
//! ```text
//!  World ──mesh_world──► [ChunkQuads] ──► Scene { Renderer } ──draw──► picture
//!          (all cores)                      ▲ set: remeshes the affected chunks
//!  LodData ──► LodScene { LodTree ──► Renderer } ──draw──► picture
//!                  (follows the camera; meshes are built on threads)
//!  ray, brush ──► Editor ──► either of both; EditSaver saves the edits
//!  Model ──► ModelTriangles ──► ModelScene { Renderer } ──draw──► picture
//! ```

mod backend;
mod change;
mod default_view;
mod edit;
mod editor;
mod lod_scene;
mod memory;
mod model;
mod model_scene;
mod parts;
mod quads;
mod side_by_side;

pub use backend::{BackendKind, Capacity, OpenDevice, RendererKind, Size, open_window_async};
#[cfg(not(target_arch = "wasm32"))]
pub use backend::{open_renderer, open_soft, open_window};
use change::Change;
pub use default_view::{
    DefaultView, Framing, HAZE_BEGINS, Side, corners, default_view, default_view_of_box,
    default_view_of_model, edge_haze, haze_towards, level_corners, reach,
};
pub use edit::{EditScene, ray_through};
pub use editor::{
    Brush, BrushForm, EditAction, EditError, EditSaver, EditStep, EditTarget, Edited, Editor,
    Reread, SaveState,
};
pub use lod_scene::{LodScene, lod_camera};
pub use memory::MemoryBudget;
pub use model::{ModelTransform, ModelTriangles, PartTriangles, Shade};
pub use model_scene::ModelScene;
use parts::Parts;
use quads::Scratch;
pub use quads::{
    ChunkQuads, mesh_chunk, mesh_world, mesh_world_with, mesh_world_with_progress, quad_count,
};
use side_by_side::SideBySide;

use std::collections::HashMap;

use drystone_render::{
    DrawData, DrawStats, Image, Layer, MeshData, MeshId, RenderError, Renderer, View,
};
use drystone_voxel::{ChunkMesh, ChunkPos, Material, MaterialTable, VoxelPos};
pub use drystone_world::Meshing;
use drystone_world::World;

/// World in memory with the renderer that shows it.
///
/// # Cost
/// Two handles per chunk, in addition to the world and the renderer's meshes.
pub struct Scene {
    world: World,
    renderer: Box<dyn Renderer>,
    /// Meshes of each chunk that has any, by layer.
    meshes: HashMap<ChunkPos, Meshes>,
    scratch: Scratch,
    side_by_side: SideBySide,
    /// Chunks that were edited in parts and are not shown yet.
    parts: Parts,
    /// Change of renderer or meshing in progress.
    change: Option<Change>,
}

#[derive(Clone, Copy, Default)]
struct Meshes {
    opaque: Option<MeshId>,
    blended: Option<MeshId>,
    /// Number of quads of both.
    quads: u64,
}

impl Scene {
    /// Creates a scene and uploads `quads`, which [`mesh_world`] returned for `world`, to
    /// `renderer`.
    ///
    /// # Errors
    /// Errors of the renderer: it is full, or its device failed.
    pub fn new(
        world: World,
        quads: &[ChunkQuads],
        mut renderer: Box<dyn Renderer>,
    ) -> Result<Self, RenderError> {
        set_palette(renderer.as_mut(), world.materials())?;
        let (meshes, scratch) = (HashMap::new(), Scratch::default());
        let (side_by_side, parts, change) = (SideBySide::default(), Parts::default(), None);
        let mut scene = Self { world, renderer, meshes, scratch, side_by_side, parts, change };
        for chunk in quads {
            scene.update(chunk.position, &chunk.mesh)?;
        }
        Ok(scene)
    }

    /// Sets how chunks are meshed from now on; the default is that of [`mesh_world`]. Existing
    /// meshes stay. After [`mesh_world_with`], pass the same value here.
    pub fn set_meshing(&mut self, meshing: Meshing) {
        self.scratch = Scratch::new(meshing);
        self.side_by_side = SideBySide::new(meshing);
        self.parts.restart();
    }

    /// Meshes every chunk again with `meshing`, on all cores, and shows it. Later changes use
    /// `meshing`, too.
    ///
    /// # Cost
    /// Cost of [`mesh_world_with`], and of inserting all meshes.
    ///
    /// # Errors
    /// If the renderer is full, refuses such meshes, or its device failed. Chunks that it did not
    /// accept keep their old meshes.
    pub fn remesh_all(&mut self, meshing: Meshing) -> Result<(), RenderError> {
        self.set_meshing(meshing);
        for ChunkQuads { position, mesh } in &mesh_world_with(&self.world, meshing) {
            self.update(*position, mesh)?;
        }
        Ok(())
    }

    /// Returns the world.
    pub const fn world(&self) -> &World {
        &self.world
    }

    /// Returns the world for changes; they are shown once their chunks are remeshed.
    pub const fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// Returns the renderer.
    pub fn renderer(&mut self) -> &mut dyn Renderer {
        self.renderer.as_mut()
    }

    /// Drops the renderer and returns the world, to show it with another.
    pub fn into_world(self) -> World {
        self.world
    }

    /// Draws one picture; returns when the work is submitted.
    ///
    /// # Errors
    /// If the device is lost or refuses.
    pub fn draw(&mut self, view: &View) -> Result<DrawStats, RenderError> {
        self.renderer.draw(view)
    }

    /// Draws one picture and reads it back, with its statistics.
    ///
    /// # Errors
    /// If the device is lost or refuses, or draws to a window.
    pub fn picture(&mut self, view: &View) -> Result<(Image, DrawStats), RenderError> {
        self.renderer.draw(view)?;
        let picture = self.renderer.read_image()?;
        // Statistics of culling on the GPU are available after the picture is read.
        Ok((picture, self.renderer.drawn()))
    }

    /// Sets a voxel and remeshes its chunk and the chunks it borders on. Returns the old material.
    ///
    /// # Errors
    /// If the renderer is full or its device failed. The world is changed then, and chunks not yet
    /// remeshed keep their old meshes.
    pub fn set(&mut self, voxel: VoxelPos, material: Material) -> Result<Material, RenderError> {
        let old = self.world.set(voxel, material);
        if old == material {
            return Ok(old);
        }
        for chunk in quads::dependent_chunks(voxel, self.world.side()) {
            self.remesh(chunk)?;
        }
        Ok(old)
    }

    /// Meshes a chunk again and shows it.
    ///
    /// # Errors
    /// If the renderer is full or its device failed; the chunk keeps its old mesh.
    pub fn remesh(&mut self, chunk: ChunkPos) -> Result<(), RenderError> {
        self.parts.forget(&[chunk]);
        let mut scratch = std::mem::take(&mut self.scratch);
        let updated = self.update(chunk, scratch.mesh(&self.world, chunk));
        self.scratch = scratch;
        updated
    }

    /// Meshes many chunks on all cores and shows them, while this thread uploads finished meshes.
    ///
    /// # Cost
    /// Memory for some chunks per core, which is kept.
    ///
    /// # Errors
    /// If the renderer is full or its device failed; this chunk and the following ones keep their
    /// old meshes.
    pub fn remesh_many(&mut self, chunks: &[ChunkPos]) -> Result<(), RenderError> {
        self.parts.forget(chunks);
        let mut side_by_side = std::mem::take(&mut self.side_by_side);
        let Self { world, renderer, meshes, change, .. } = self;
        let side = world.side();
        let mut shown = Shown { side, renderer: renderer.as_mut(), meshes };
        let updated = side_by_side.mesh(world, chunks, |chunk, mesh| {
            change.iter_mut().for_each(|change| change.edited(side, chunk, mesh));
            shown.update(chunk, mesh)
        });
        self.side_by_side = side_by_side;
        updated
    }

    /// Shows a chunk's mesh.
    fn update(&mut self, chunk: ChunkPos, mesh: &ChunkMesh) -> Result<(), RenderError> {
        let Self { world, renderer, meshes, change, .. } = self;
        let side = world.side();
        change.iter_mut().for_each(|change| change.edited(side, chunk, mesh));
        Shown { side, renderer: renderer.as_mut(), meshes }.update(chunk, mesh)
    }
}

/// Sets the renderer's palette to the colours of the materials.
fn set_palette(renderer: &mut dyn Renderer, materials: &MaterialTable) -> Result<(), RenderError> {
    let colors: Vec<_> = materials.iter().map(|(_, kind)| kind.color).collect();
    renderer.set_palette(&colors)
}

/// Meshes of a renderer for a world whose chunks have this side.
struct Shown<'a> {
    side: u32,
    renderer: &'a mut dyn Renderer,
    meshes: &'a mut HashMap<ChunkPos, Meshes>,
}

impl Shown<'_> {
    /// Shows a chunk's mesh.
    fn update(&mut self, chunk: ChunkPos, mesh: &ChunkMesh) -> Result<(), RenderError> {
        let side = self.side;
        let draw_data = DrawData {
            origin: chunk.origin(side).to_array(),
            level: 0,
            extent: side,
            sort_rank: 0,
        };
        let mut meshes = self.meshes.get(&chunk).copied().unwrap_or_default();
        let layers = [
            (&mut meshes.opaque, Layer::Opaque, &mesh.opaque),
            (&mut meshes.blended, Layer::Blended, &mesh.translucent),
        ];
        let mut result = Ok(());
        for (id, layer, quads) in layers {
            let mesh = MeshData { quads: quads.quads(), counts: quads.counts(), draw_data, layer };
            let updated = update_mesh(self.renderer, id, &mesh);
            result = result.and(updated);
        }
        meshes.quads = mesh.len() as u64;
        if meshes.opaque.is_none() && meshes.blended.is_none() {
            self.meshes.remove(&chunk);
        } else {
            self.meshes.insert(chunk, meshes);
        }
        result
    }
}

/// Inserts, replaces or removes one mesh. Afterwards `id` is its id, or `None` without quads.
fn update_mesh(
    renderer: &mut dyn Renderer,
    id: &mut Option<MeshId>,
    mesh: &MeshData<'_>,
) -> Result<(), RenderError> {
    match (*id, mesh.quads.is_empty()) {
        (None, true) => Ok(()),
        (None, false) => {
            *id = Some(renderer.insert(mesh)?);
            Ok(())
        }
        (Some(old), false) => renderer.replace(old, mesh),
        (Some(old), true) => {
            renderer.remove(old)?;
            *id = None;
            Ok(())
        }
    }
}
