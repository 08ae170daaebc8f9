use std::{collections::HashMap, time::Duration};

use drystone_mesh::Face;
use drystone_pool::PoolError;
use drystone_render::{
    DrawData, DrawStats, Image, Layer, MeshData, Projection, RenderError, Renderer, View,
};
use drystone_voxel::{ChunkMesh, Material, VoxelPos};
use drystone_world::{Edit, LodCamera, LodTree, NodePos, NodeSink, PixelScale, VoxelShape};
use web_time::Instant;

use super::{Capacity, Meshes, set_palette, update_mesh};

mod coarsening;

use coarsening::Coarsening;

/// A world of any size and a renderer that shows it: near parts fine, far ones coarse, as the
/// eye moves.
///
/// # Cost
/// [`draw`](Self::draw) spends at most about the budget of the tree's
/// [`LodConfig`](drystone_world::LodConfig) on changes, and then draws.
pub struct LodScene {
    tree: LodTree,
    shown: Shown,
    coarsening: Coarsening,
}

/// What the renderer has of each node.
struct Shown {
    renderer: Box<dyn Renderer>,
    /// Bodies, and skirts along faces.
    meshes: HashMap<(NodePos, Option<Face>), Meshes>,
    quads: u64,
    max_quads: u64,
    /// As many there were when the update began.
    quads_before: u64,
}

/// Why a mesh is not shown.
enum Refused {
    /// There is no room.
    Full,
    Failed(RenderError),
}

/// How long to wait for a mesh before looking again.
const WAIT: Duration = Duration::from_millis(50);

impl LodScene {
    /// The most meshes at a time, for [`open_renderer`](super::open_renderer).
    pub const CAPACITY: Capacity = Capacity { quads: 0, meshes: 1 << 16 };
    /// Bytes of vertex memory that are filled, if nothing else is
    /// [said](Self::set_max_bytes).
    pub const MAX_BYTES: u64 = 512 << 20;

    /// Shows nothing yet.
    ///
    /// # Errors
    /// What the renderer says of the palette.
    pub fn new(tree: LodTree, mut renderer: Box<dyn Renderer>) -> Result<Self, RenderError> {
        set_palette(renderer.as_mut(), tree.data().materials())?;
        let shown = Shown {
            renderer,
            meshes: HashMap::new(),
            quads: 0,
            max_quads: Self::MAX_BYTES / QUAD_BYTES,
            quads_before: 0,
        };
        Ok(Self { tree, shown, coarsening: Coarsening::NONE })
    }

    /// The tree, and the voxels.
    pub const fn tree(&self) -> &LodTree {
        &self.tree
    }

    /// From now on fills so many bytes of vertex memory: where that is not enough, the world is
    /// shown coarser. While it becomes coarser, and for the skirts between levels, a few meshes
    /// more may be held.
    pub const fn set_max_bytes(&mut self, bytes: u64) {
        self.shown.max_quads = bytes / QUAD_BYTES;
    }

    /// The renderer.
    pub fn renderer(&mut self) -> &mut dyn Renderer {
        self.shown.renderer.as_mut()
    }

    /// Brings what is shown closer to what `view` should see, in a picture that is
    /// `height_pixels` high, within the frame's budget.
    ///
    /// # Errors
    /// When the device failed. A lack of room is none: the world is shown coarser then.
    pub fn update(&mut self, view: &View, size: super::Size) -> Result<(), RenderError> {
        let mut eye = eye_of(view, size);
        let factor = self.coarsening.factor();
        eye.scale = match eye.scale {
            PixelScale::Perspective(pixels) => PixelScale::Perspective(pixels / factor),
            PixelScale::Parallel(pixels) => PixelScale::Parallel(pixels / factor),
        };
        self.shown.quads_before = self.shown.quads;
        match self.tree.update(&eye, &mut self.shown) {
            Ok(()) => {
                let has_room = self.shown.quads < self.shown.max_quads / 2;
                self.coarsening.accepted(self.tree.is_settled(), has_room);
                Ok(())
            }
            Err(Refused::Full) => {
                let has_changed = self.shown.quads != self.shown.quads_before;
                self.coarsening.refused(has_changed || self.tree.is_waiting());
                if self.coarsening.is_hopeless() && self.hide_largest_root()? {
                    self.coarsening.retry();
                }
                Ok(())
            }
            Err(Refused::Failed(error)) => Err(error),
        }
    }

    /// Hides a root for which there is room as a whole but not beside its own details.
    fn hide_largest_root(&mut self) -> Result<bool, RenderError> {
        match self.tree.hide_largest_root(&mut self.shown) {
            Ok(is_hidden) => Ok(is_hidden),
            Err(Refused::Full) => Ok(false),
            Err(Refused::Failed(error)) => Err(error),
        }
    }

    /// As [`update`](Self::update), again and again for about so long, making what is missing in
    /// between: the way where the tree has no threads.
    ///
    /// # Cost
    /// `time`, and one mesh more: some milliseconds.
    ///
    /// # Errors
    /// As [`update`](Self::update).
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
        }
    }

    /// How many times longer than asked voxels may be, since there is no room for more: 1 where
    /// there is.
    pub const fn coarsening(&self) -> f64 {
        self.coarsening.factor()
    }

    /// Brings what is shown to what `view` should see, however long it takes; where there is no
    /// room for that, as close as there is. `progress` is told of each step.
    ///
    /// # Errors
    /// As [`update`](Self::update); and where there is no room to show every place, not even
    /// with the coarsest voxels.
    pub fn settle(
        &mut self,
        view: &View,
        size: super::Size,
        mut progress: impl FnMut(&LodTree),
    ) -> Result<(), RenderError> {
        loop {
            let factor = self.coarsening();
            self.update(view, size)?;
            progress(&self.tree);
            if self.tree.is_settled() && self.coarsening() == factor {
                return Ok(());
            }
            if self.coarsening.is_hopeless() {
                let whole = self.tree.is_whole();
                return whole
                    .then_some(())
                    .ok_or_else(|| no_room("showing a world, however coarse"));
            }
            if self.tree.is_waiting() {
                self.tree.wait(WAIT);
            }
        }
    }

    /// Draws one picture of what is shown; returns when the work is submitted.
    ///
    /// # Errors
    /// When the device is lost or refuses.
    pub fn draw(&mut self, view: &View) -> Result<DrawStats, RenderError> {
        self.shown.renderer.draw(view)
    }

    /// Draws one picture and reads it back, with what it took.
    ///
    /// # Errors
    /// When the device is lost or refuses, or draws to a window.
    pub fn picture(&mut self, view: &View) -> Result<(Image, DrawStats), RenderError> {
        self.shown.renderer.draw(view)?;
        let picture = self.shown.renderer.read_image()?;
        Ok((picture, self.shown.renderer.drawn()))
    }

    /// Sets voxels and shows every mesh that they touch anew, at all levels: up to
    /// [`LodTree::MAX_MESHES_AT_ONCE`] at once, more all together when they are made; see
    /// [`LodTree::set`]. Returns how many changed.
    ///
    /// # Errors
    /// When there is no room, or the device failed: the voxels are set then, and what could
    /// not be shown is shown as it was until there is room.
    pub fn set(
        &mut self,
        voxels: impl IntoIterator<Item = (VoxelPos, Material)>,
    ) -> Result<u64, RenderError> {
        self.tree.set(voxels, &mut self.shown).map_err(edit_error)
    }

    /// Sets all voxels of a shape, as [`set`](Self::set) would one after the other.
    ///
    /// # Errors
    /// As [`set`](Self::set).
    pub fn fill(&mut self, shape: &VoxelShape, material: Material) -> Result<u64, RenderError> {
        self.tree.fill(shape, material, &mut self.shown).map_err(edit_error)
    }

    /// Sets what an edit changes, as [`set`](Self::set) would voxel by voxel.
    ///
    /// # Errors
    /// As [`set`](Self::set).
    pub fn apply_edit(&mut self, edit: &Edit) -> Result<u64, RenderError> {
        self.tree.apply_edit(edit, &mut self.shown).map_err(edit_error)
    }

    /// Sets what a part of an edit changes; shown with all others once
    /// [`show_parts`](Self::show_parts) says that there are no more. Returns how many changed.
    ///
    /// # Cost
    /// As [`LodTree::apply_part`].
    pub fn apply_part(&mut self, part: &Edit) -> u64 {
        self.tree.apply_part(part)
    }

    /// There are no more parts: they show together, as soon as [`update`](Self::update) finds
    /// all of their meshes made.
    pub fn show_parts(&mut self) {
        self.tree.show_parts();
    }
}

fn edit_error(refused: Refused) -> RenderError {
    match refused {
        Refused::Full => no_room("showing an edit"),
        Refused::Failed(error) => error,
    }
}

fn no_room(during: &'static str) -> RenderError {
    RenderError::Device { during, reason: "the limit of vertex memory is reached".into() }
}

const QUAD_BYTES: u64 = size_of::<drystone_mesh::Quad>() as u64;

impl Shown {
    /// Where a body or a skirt lies. Each skirt of a node is said to be larger by another number of
    /// units, so that what is translucent of it has its own place in the one order of blending.
    fn place((node, skirt): (NodePos, Option<Face>)) -> DrawData {
        let rank = skirt.map_or(0, |face| 1 + face.index() as u32);
        DrawData {
            origin: node.origin().to_array(),
            level: node.level.into(),
            extent: node.side_units() + rank,
        }
    }

    /// Shows a body, or the skirt along a face, in place of the one that there is.
    fn set_mesh(
        &mut self,
        part: (NodePos, Option<Face>),
        mesh: Option<&ChunkMesh>,
    ) -> Result<(), Refused> {
        let empty = ChunkMesh::new();
        let mesh = mesh.unwrap_or(&empty);
        let old = self.meshes.get(&part).copied().unwrap_or_default();
        let mut meshes = old;
        let place = Self::place(part);
        let layers = [
            (&mut meshes.opaque, Layer::Opaque, &mesh.opaque),
            (&mut meshes.blended, Layer::Blended, &mesh.translucent),
        ];
        let mut result = Ok(());
        for (id, layer, quads) in layers {
            let data =
                MeshData { quads: quads.quads(), counts: quads.counts(), draw_data: place, layer };
            result = result.and_then(|()| update_mesh(self.renderer.as_mut(), id, &data));
        }
        if result.is_err() && old.opaque.is_none() && old.blended.is_none() {
            // Nothing of it was shown, so nothing is.
            for id in [&mut meshes.opaque, &mut meshes.blended] {
                if id.is_some_and(|it| self.renderer.remove(it).is_ok()) {
                    *id = None;
                }
            }
        }
        let quads = if result.is_ok() { mesh.len() as u64 } else { old.quads };
        self.quads = self.quads + quads - old.quads;
        meshes.quads = quads;
        if meshes.opaque.is_none() && meshes.blended.is_none() {
            self.meshes.remove(&part);
        } else {
            self.meshes.insert(part, meshes);
        }
        Ok(result?)
    }
}

impl From<RenderError> for Refused {
    fn from(error: RenderError) -> Self {
        match error {
            RenderError::Pool(PoolError::Full { .. } | PoolError::SlotsFull { .. })
            | RenderError::OutOfMemory { .. } => Self::Full,
            other => Self::Failed(other),
        }
    }
}

impl NodeSink for Shown {
    type Error = Refused;

    fn check_limit(&self, more_quads: u64) -> Result<(), Refused> {
        let fits = more_quads == 0 || self.quads + more_quads <= self.max_quads;
        if fits { Ok(()) } else { Err(Refused::Full) }
    }

    fn set_body(&mut self, node: NodePos, mesh: Option<&ChunkMesh>) -> Result<(), Refused> {
        self.set_mesh((node, None), mesh)
    }

    fn set_skirt(
        &mut self,
        node: NodePos,
        face: Face,
        skirt: Option<&ChunkMesh>,
    ) -> Result<(), Refused> {
        self.set_mesh((node, Some(face)), skirt)
    }
}

/// From where `view` looks at the world, in a picture of this size.
pub fn eye_of(view: &View, size: super::Size) -> LodCamera {
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

#[cfg(test)]
mod tests {
    use drystone_render::{Camera, Visibility};
    use drystone_voxel::ChunkPos;
    use glam::DVec3;

    use super::*;

    /// Whatever slots they have: nowhere are two parts of a node equally far.
    #[test]
    fn body_and_skirts_of_a_node_are_told_apart_when_they_are_blended() {
        let node = NodePos { level: 2, chunk: ChunkPos::new(3, -1, 5) };
        let skirts = Face::ALL.into_iter().map(Some);
        let parts: Vec<_> = [None].into_iter().chain(skirts).collect();
        let middle = node.origin().to_array().map(|c| f64::from(c) + 64.0);
        let [x, y, z] = middle;
        // Along an axis, far away, within it, and where a larger box is hardly farther.
        for eye in [[x, y, 9e3], [x + 1e5, y + 40.0, z], middle, [x + 500.0, y - 500.0, z]] {
            let camera = Camera::look_at(DVec3::from_array(eye), DVec3::ZERO);
            for projection in [camera.projection, Projection::Orthographic { height_voxels: 9.0 }] {
                let seen = Visibility::new(&Camera { projection, ..camera }, 1.0);
                let key = |&skirt: &Option<Face>| seen.blend_key(&Shown::place((node, skirt)));
                let keys: std::collections::BTreeSet<u64> = parts.iter().map(key).collect();
                assert_eq!(keys.len(), parts.len(), "{eye:?}");
            }
        }
    }
}
