//! Carries a world through the mesher and a renderer: what viewer, command line and bench
//! share.
//!
//! ```text
//!  World ──mesh_world──► [ChunkQuads] ──► Scene { Renderer } ──draw──► picture
//!          (all cores)                      ▲ set: remeshes what it touches
//!  LodData ──► LodScene { LodTree ──► Renderer } ──draw──► picture
//!                  (follows the eye; meshes are made on threads)
//!  ray, brush ──► Editor ──► either of both, changed at once; and what keeps the edits
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
    Brush, BrushForm, EditAction, EditError, EditSaver, EditStep, Edited, Editor, KeptBy, Reread,
    SaveState,
};
pub use lod_scene::{LodScene, eye_of};
pub use memory::MemoryBudget;
pub use model::{ModelTransform, ModelTriangles, PartTriangles, Shade};
pub use model_scene::ModelScene;
use parts::Parts;
use quads::Scratch;
pub use quads::{
    ChunkQuads, Meshing, mesh_chunk, mesh_world, mesh_world_with, mesh_world_with_progress,
    quad_count,
};
use side_by_side::SideBySide;

use std::collections::HashMap;

use drystone_render::{
    DrawData, DrawStats, Image, Layer, MeshData, MeshId, RenderError, Renderer, View,
};
use drystone_voxel::{ChunkMesh, ChunkPos, Material, MaterialTable, VoxelPos};
use drystone_world::World;

/// A world and a renderer that shows it.
///
/// # Cost
/// Beside the world and the renderer's meshes, two handles a chunk.
pub struct Scene {
    world: World,
    renderer: Box<dyn Renderer>,
    /// The meshes of each chunk that has any, by layer.
    meshes: HashMap<ChunkPos, Meshes>,
    scratch: Scratch,
    side_by_side: SideBySide,
    /// What is edited in parts and not shown.
    parts: Parts,
    /// What it is on the way to.
    change: Option<Change>,
}

#[derive(Clone, Copy, Default)]
struct Meshes {
    opaque: Option<MeshId>,
    blended: Option<MeshId>,
    /// How many quads both have.
    quads: u64,
}

impl Scene {
    /// Hands `quads`, which [`mesh_world`] made of `world`, to `renderer`.
    ///
    /// # Errors
    /// What the renderer says: that it is full, or that its device failed.
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

    /// How chunks are meshed from now on, at first as [`mesh_world`] does; what is shown
    /// stays as it is. Worlds that [`mesh_world_with`] meshed want the same here.
    pub fn set_meshing(&mut self, meshing: Meshing) {
        self.scratch = Scratch::new(meshing);
        self.side_by_side = SideBySide::new(meshing);
        self.parts.restart();
    }

    /// Meshes every chunk anew, on all cores, and shows it: the way to another
    /// [`Meshing`], which later changes are then meshed by as well.
    ///
    /// # Cost
    /// As [`mesh_world_with`], and as inserting all meshes.
    ///
    /// # Errors
    /// When the renderer is full, refuses such meshes or its device failed; what it did not
    /// take is shown as it was.
    pub fn remesh_all(&mut self, meshing: Meshing) -> Result<(), RenderError> {
        self.set_meshing(meshing);
        for ChunkQuads { position, mesh } in &mesh_world_with(&self.world, meshing) {
            self.update(*position, mesh)?;
        }
        Ok(())
    }

    /// The world.
    pub const fn world(&self) -> &World {
        &self.world
    }

    /// The world, to be changed: what changes shows once its chunks are remeshed.
    pub const fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// The renderer.
    pub fn renderer(&mut self) -> &mut dyn Renderer {
        self.renderer.as_mut()
    }

    /// Gives the world back and drops the renderer, to show the world with another.
    pub fn into_world(self) -> World {
        self.world
    }

    /// Draws one picture; returns when the work is submitted.
    ///
    /// # Errors
    /// When the device is lost or refuses.
    pub fn draw(&mut self, view: &View) -> Result<DrawStats, RenderError> {
        self.renderer.draw(view)
    }

    /// Draws one picture and reads it back, with what it took.
    ///
    /// # Errors
    /// When the device is lost or refuses, or draws to a window.
    pub fn picture(&mut self, view: &View) -> Result<(Image, DrawStats), RenderError> {
        self.renderer.draw(view)?;
        let picture = self.renderer.read_image()?;
        // Where the GPU culls, it has said by now what it drew.
        Ok((picture, self.renderer.drawn()))
    }

    /// Sets a voxel and remeshes the chunks that see it: its own, and those that it
    /// borders on. Returns what was there.
    ///
    /// # Errors
    /// When the renderer is full or its device failed; the world has changed then, and the
    /// chunks not yet remeshed are shown as they were.
    pub fn set(&mut self, voxel: VoxelPos, material: Material) -> Result<Material, RenderError> {
        let old = self.world.set(voxel, material);
        if old == material {
            return Ok(old);
        }
        for chunk in quads::chunks_that_see(voxel, self.world.side()) {
            self.remesh(chunk)?;
        }
        Ok(old)
    }

    /// Meshes a chunk anew and shows it.
    ///
    /// # Errors
    /// When the renderer is full or its device failed; the chunk is shown as it was then.
    pub fn remesh(&mut self, chunk: ChunkPos) -> Result<(), RenderError> {
        self.parts.forget(&[chunk]);
        let mut scratch = std::mem::take(&mut self.scratch);
        let updated = self.update(chunk, scratch.mesh(&self.world, chunk));
        self.scratch = scratch;
        updated
    }

    /// Meshes many chunks anew and shows them: as [`remesh`](Self::remesh), but on all cores,
    /// while this thread hands what is ready to the renderer.
    ///
    /// # Cost
    /// Memory for some chunks a core, kept.
    ///
    /// # Errors
    /// When the renderer is full or its device failed; this chunk and those behind it are
    /// shown as they were then.
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

    /// Shows these quads as their chunk's.
    fn update(&mut self, chunk: ChunkPos, mesh: &ChunkMesh) -> Result<(), RenderError> {
        let Self { world, renderer, meshes, change, .. } = self;
        let side = world.side();
        change.iter_mut().for_each(|change| change.edited(side, chunk, mesh));
        Shown { side, renderer: renderer.as_mut(), meshes }.update(chunk, mesh)
    }
}

/// Has a renderer draw materials in their colours.
fn set_palette(renderer: &mut dyn Renderer, materials: &MaterialTable) -> Result<(), RenderError> {
    let colors: Vec<_> = materials.iter().map(|(_, kind)| kind.color).collect();
    renderer.set_palette(&colors)
}

/// What a renderer shows of a world whose chunks have this side.
struct Shown<'a> {
    side: u32,
    renderer: &'a mut dyn Renderer,
    meshes: &'a mut HashMap<ChunkPos, Meshes>,
}

impl Shown<'_> {
    /// Shows these quads as their chunk's.
    fn update(&mut self, chunk: ChunkPos, mesh: &ChunkMesh) -> Result<(), RenderError> {
        let side = self.side;
        let place = DrawData { origin: chunk.origin(side).to_array(), level: 0, extent: side };
        let mut meshes = self.meshes.get(&chunk).copied().unwrap_or_default();
        let layers = [
            (&mut meshes.opaque, Layer::Opaque, &mesh.opaque),
            (&mut meshes.blended, Layer::Blended, &mesh.translucent),
        ];
        let mut result = Ok(());
        for (id, layer, quads) in layers {
            let mesh =
                MeshData { quads: quads.quads(), counts: quads.counts(), draw_data: place, layer };
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

/// Inserts, replaces or removes one mesh, so that `id` names it if it has any quads.
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
