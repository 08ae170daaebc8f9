use std::{sync::Arc, time::Duration};

use drystone_formats::SourceError;
use drystone_render::{
    DrawStats, Image, MaterialLook, Projection, QuadTextures, RenderError, Renderer, TextureSet,
    View,
};
use drystone_voxel::{
    Chunk, ChunkPos, Face, Material, MaterialKind, MaterialTable, VoxelBox, VoxelPos,
};
use drystone_world::{
    BlockedLight, Edit, LodCamera, LodConfig, LodData, LodTree, Meshing, PixelScale, VoxelRay,
    World,
};
use web_time::Instant;

use super::Capacity;

mod coarsening;
mod settling;
mod shown_meshes;

use coarsening::Coarsening;
use shown_meshes::{Refused, ShownMeshes};

/// Voxels with the renderer that shows them. With levels of detail, near parts are fine and far
/// parts coarse, following the camera; without, everything is shown in full detail
/// ([`LodConfig::max_level`] is 0).
///
/// # Cost
/// [`update`](Self::update) takes about the budget of the tree's [`LodConfig`].
///
/// # Examples
/// ```
/// use drystone::scene::{BackendKind, Capacity, RendererKind, Size, VoxelScene, open_renderer};
/// use drystone_voxel::{MaterialTable, VoxelPos};
/// use drystone_world::{Meshing, World};
///
/// let mut materials = MaterialTable::new();
/// let stone = materials.insert("stone", [120, 120, 120, 255]).unwrap();
/// let mut world = World::new("a stone", materials);
/// world.set(VoxelPos::new(0, 0, 0), stone);
///
/// let size = Size { width: 64, height: 64 };
/// let renderer =
///     open_renderer(RendererKind::Pool, BackendKind::Soft, size, Capacity::default())?;
/// let mut scene = VoxelScene::of_world(world, Meshing::default(), renderer)?;
/// assert_eq!(scene.set([(VoxelPos::new(1, 0, 0), stone)])?, 1);
/// assert_eq!(scene.renderer().held().meshes, 1);
/// # Ok::<(), drystone_render::RenderError>(())
/// ```
pub struct VoxelScene {
    tree: LodTree,
    shown: ShownMeshes,
    coarsening: Coarsening,
    /// Camera of the last update.
    camera: LodCamera,
}

/// Returns the appearance of the materials of a table, by number, for
/// [`Renderer::set_materials`].
pub fn material_looks(materials: &MaterialTable) -> Vec<MaterialLook> {
    let look = |kind: &MaterialKind| {
        // The opacity of a material with an opaque shape is that of its cubes, which are not drawn.
        let opaque = |[red, green, blue, opacity]: [u8; 4]| match kind.is_shape_opaque() {
            true => [red, green, blue, u8::MAX],
            false => [red, green, blue, opacity],
        };
        let faces = Face::ALL.map(|face| opaque(kind.face_color(face)));
        let mut look =
            MaterialLook::new(opaque(kind.color)).with_faces(faces).with_emission(kind.emission);
        look.textures = Face::ALL.map(|face| kind.texture(face));
        look.is_cut_out = kind.cut_out;
        look
    };
    materials.iter().map(|(_, kind)| look(kind)).collect()
}

/// Returns the textures of a table, by number, for [`Renderer::set_textured_materials`].
pub fn material_textures(materials: &MaterialTable) -> QuadTextures {
    let mut textures = QuadTextures::default();
    for texture in materials.textures() {
        // The limits of tables are those of renderers.
        let _ = textures.add(texture.side(), texture.rgba().clone());
    }
    textures
}

impl VoxelScene {
    /// Initial capacity with the maximum number of meshes, for
    /// [`open_renderer`](super::open_renderer).
    pub const CAPACITY: Capacity = Capacity { quads: 0, meshes: 1 << 16 };
    /// Default limit of vertex memory in bytes; see [`set_max_bytes`](Self::set_max_bytes).
    pub const MAX_BYTES: u64 = 512 << 20;

    /// Creates a scene without any meshes.
    ///
    /// # Errors
    /// Errors of setting the renderer's palette.
    pub fn new(tree: LodTree, mut renderer: Box<dyn Renderer>) -> Result<Self, RenderError> {
        let materials = tree.data().materials();
        let (looks, textures) = (material_looks(materials), material_textures(materials));
        renderer.set_textured_materials(&looks, &textures)?;
        // Those of a model that the device showed before.
        renderer.set_textures(&TextureSet::default())?;
        let shown = ShownMeshes::new(renderer, Self::MAX_BYTES);
        let camera = LodCamera {
            position: [0.0; 3],
            forward: [0.0, 0.0, -1.0],
            cos_half_view: -1.0,
            scale: PixelScale::Parallel(1.0),
        };
        Ok(Self { tree, shown, coarsening: Coarsening::NONE, camera })
    }

    /// Shows a whole world in full detail, without a limit of memory, and returns when all meshes
    /// are made.
    ///
    /// # Errors
    /// If the side of the world's chunks is not [`Chunk::SIDE`], or errors of the renderer.
    pub fn of_world(
        world: World,
        meshing: Meshing,
        renderer: Box<dyn Renderer>,
    ) -> Result<Self, RenderError> {
        let failed = |error: SourceError| RenderError::Device {
            during: "showing a world",
            reason: error.to_string(),
        };
        let data = LodData::new(Box::new(world), usize::MAX);
        data.read_all(|| {}).map_err(failed)?;
        let (frame_bytes, frame_time) = (usize::MAX, Duration::from_secs(1));
        let config = LodConfig::default()
            .with_max_level(0)
            .with_meshing(meshing)
            .with_frame_bytes(frame_bytes)
            .with_frame_time(frame_time);
        let tree = LodTree::new(Arc::new(data), config).map_err(failed)?;
        let mut scene = Self::new(tree, renderer)?;
        scene.set_max_bytes(u64::MAX);
        scene.finish(|_| {})?;
        Ok(scene)
    }

    /// Sets the limit of vertex memory in bytes. At the limit, the world is drawn coarser. During
    /// that transition, and for skirts, a few more meshes may be held.
    pub const fn set_max_bytes(&mut self, bytes: u64) {
        self.shown.set_max_bytes(bytes);
    }

    /// Updates the meshes for `view` in a picture of this size, within the frame's budget.
    ///
    /// # Errors
    /// If the device failed. Running out of vertex memory is not an error at levels of detail: the
    /// world is drawn coarser. In full detail it is one, after many attempts.
    pub fn update(&mut self, view: &View, size: super::Size) -> Result<(), RenderError> {
        self.camera = lod_camera(view, size);
        self.update_tree(None)
    }

    fn update_tree(&mut self, picture: Option<&[BlockedLight]>) -> Result<(), RenderError> {
        let mut camera = self.camera;
        let factor = self.coarsening.factor();
        camera.scale = match camera.scale {
            PixelScale::Perspective(pixels) => PixelScale::Perspective(pixels / factor),
            PixelScale::Parallel(pixels) => PixelScale::Parallel(pixels / factor),
        };
        let quads_before = self.shown.quads;
        let updated = match picture {
            None => self.tree.update(&camera, &mut self.shown),
            Some(lights) => self.tree.update_picture(&camera, lights, &mut self.shown),
        };
        match updated {
            Ok(()) => {
                self.coarsening.accepted(self.tree.is_settled(), self.shown.has_spare_memory());
                Ok(())
            }
            Err(Refused::Full) => {
                let has_changed = self.shown.quads != quads_before;
                self.coarsening.refused(has_changed || self.tree.is_waiting());
                if !self.coarsening.is_hopeless() {
                    return Ok(());
                }
                if self.is_full() {
                    return Err(out_of_memory("showing the world in full detail"));
                }
                if self.hide_largest_root()? {
                    self.coarsening.retry();
                }
                Ok(())
            }
            Err(Refused::Failed(error)) => Err(error),
        }
    }

    /// Hides the largest root, whose own mesh does not fit next to its details.
    fn hide_largest_root(&mut self) -> Result<bool, RenderError> {
        match self.tree.hide_largest_root(&mut self.shown) {
            Ok(is_hidden) => Ok(is_hidden),
            Err(Refused::Full) => Ok(false),
            Err(Refused::Failed(error)) => Err(error),
        }
    }

    /// Calls [`update`](Self::update) repeatedly for about `time`, and makes missing meshes in
    /// between, on this thread too.
    ///
    /// # Cost
    /// `time`, plus one mesh: some milliseconds.
    ///
    /// # Errors
    /// Errors of [`update`](Self::update).
    pub fn update_for(
        &mut self,
        view: &View,
        size: super::Size,
        time: Duration,
    ) -> Result<(), RenderError> {
        let start = Instant::now();
        loop {
            self.update(view, size)?;
            if self.tree.is_settled() || start.elapsed() >= time {
                return Ok(());
            }
            while start.elapsed() < time && self.tree.work() {}
            if self.tree.is_waiting() {
                self.tree.wait(time.saturating_sub(start.elapsed()));
            }
        }
    }

    /// Whether the renderer repeatedly had no memory for the rest of a world in full detail, where
    /// nothing can become coarser.
    pub fn is_full(&self) -> bool {
        self.tree.config().max_level == 0 && self.coarsening.is_hopeless() && !self.tree.is_whole()
    }

    /// Sets how meshes are made. The updates replace those that are shown; until then they stay.
    pub fn set_meshing(&mut self, meshing: Meshing) {
        self.tree.set_meshing(meshing);
    }

    /// Draws one picture; returns when the work is submitted.
    ///
    /// # Errors
    /// If the device is lost or refuses.
    pub fn draw(&mut self, view: &View) -> Result<DrawStats, RenderError> {
        self.shown.renderer.draw(view)
    }

    /// Draws one picture and reads it back, with its statistics.
    ///
    /// # Errors
    /// If the device is lost or refuses, or draws to a window.
    pub fn picture(&mut self, view: &View) -> Result<(Image, DrawStats), RenderError> {
        self.shown.renderer.draw(view)?;
        let picture = self.shown.renderer.read_image()?;
        Ok((picture, self.shown.renderer.drawn()))
    }

    /// Sets voxels and updates every affected mesh, at all levels. Up to
    /// [`LodTree::MAX_MESHES_AT_ONCE`] meshes are updated at once; more are updated together once
    /// they are built, see [`LodTree::set`]. Returns the number of changed voxels.
    ///
    /// # Errors
    /// If the memory limit is reached, or the device failed. The voxels are set then; meshes that
    /// could not be updated stay until there is memory.
    pub fn set(
        &mut self,
        voxels: impl IntoIterator<Item = (VoxelPos, Material)>,
    ) -> Result<u64, RenderError> {
        self.tree.set(voxels, &mut self.shown).map_err(edit_error)
    }

    /// Applies an edit, with the same result as [`set`](Self::set).
    ///
    /// # Errors
    /// Errors of [`set`](Self::set).
    pub fn apply_edit(&mut self, edit: &Edit) -> Result<u64, RenderError> {
        self.tree.apply_edit(edit, &mut self.shown).map_err(edit_error)
    }

    /// Moves a source whose chunks change by themselves to its next frame, and updates the meshes as
    /// [`set`](Self::set) does. Returns false if the source does not move. Meshes that do not fit into
    /// the memory limit stay as they were until an [`update`](Self::update) has made room.
    ///
    /// # Errors
    /// If the device failed.
    pub fn advance(&mut self) -> Result<bool, RenderError> {
        match self.tree.advance(&mut self.shown) {
            Err(Refused::Full) => Ok(true),
            Err(Refused::Failed(error)) => Err(error),
            Ok(moves) => Ok(moves),
        }
    }

    /// Applies a part of an edit; all parts are shown together after
    /// [`show_parts`](Self::show_parts). Returns the number of changed voxels.
    ///
    /// # Cost
    /// Cost of [`LodTree::apply_part`].
    pub fn apply_part(&mut self, part: &Edit) -> u64 {
        self.tree.apply_part(part)
    }

    /// Ends the parts of an edit. They are shown together, as soon as [`update`](Self::update)
    /// finds all of their meshes built.
    pub fn show_parts(&mut self) {
        self.tree.show_parts();
    }

    /// Returns the maximum distance for finding a voxel, from the camera or from the point where the
    /// ray enters the [bounds](Self::bounds). Farther voxels may have to be read first.
    pub(super) const fn reach_voxels(&self) -> f64 {
        /// A ray of this length crosses some hundred chunks; each takes less than a millisecond.
        const READ_REACH: f64 = 1_024.0;
        if self.tree.config().max_level == 0 { VoxelRay::MAX_REACH } else { READ_REACH }
    }

    /// Returns the box that contains all voxels except air, or `None` if there are none.
    pub(crate) fn bounds(&self) -> Option<VoxelBox> {
        let extent = self.data().extent()?;
        let corner = |chunk: ChunkPos, offset: i32| {
            let [x, y, z] = [chunk.x, chunk.y, chunk.z]
                .map(|c| c.saturating_add(offset).saturating_mul(Chunk::SIDE as i32));
            VoxelPos::new(x, y, z)
        };
        Some(VoxelBox { min: corner(extent.min, 0), max: corner(extent.max, 1) })
    }

    /// Returns the voxels.
    pub fn data(&self) -> &LodData {
        self.tree.data()
    }

    /// Returns the tree, with the voxels.
    pub const fn tree(&self) -> &LodTree {
        &self.tree
    }

    /// Returns the renderer.
    pub fn renderer(&mut self) -> &mut dyn Renderer {
        self.shown.renderer.as_mut()
    }

    /// Returns the factor by which voxels are larger than requested because of the memory limit; 1
    /// if there is enough.
    pub const fn coarsening(&self) -> f64 {
        self.coarsening.factor()
    }
}

fn edit_error(refused: Refused) -> RenderError {
    match refused {
        Refused::Full => out_of_memory("showing an edit"),
        Refused::Failed(error) => error,
    }
}

fn out_of_memory(during: &'static str) -> RenderError {
    RenderError::Device { during, reason: "the limit of vertex memory is reached".into() }
}

/// Returns the camera of the level-of-detail tree for `view` in a picture of this size.
pub fn lod_camera(view: &View, size: super::Size) -> LodCamera {
    let camera = &view.camera;
    let [half_x, half_y] = camera.half_extents(size.aspect()).map(f64::from);
    let pixels = f64::from(size.height);
    let scale = match camera.projection {
        Projection::Perspective { .. } => PixelScale::Perspective(pixels / (2.0 * half_y)),
        Projection::Orthographic { height_voxels } => {
            PixelScale::Parallel(pixels / f64::from(height_voxels))
        }
    };
    LodCamera {
        position: camera.position.to_array(),
        forward: camera.basis()[2].as_dvec3().to_array(),
        cos_half_view: 1.0 / (1.0 + half_x * half_x + half_y * half_y).sqrt(),
        scale,
    }
}
