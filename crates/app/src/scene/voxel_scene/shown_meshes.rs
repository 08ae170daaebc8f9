use drystone_mesh::{Cube, Face, FaceSet, Quad};
use drystone_pool::PoolError;
use drystone_render::{DrawData, Layer, MeshData, MeshId, RenderError, Renderer};
use drystone_voxel::{ChunkMesh, NodePos};
use drystone_world::{CubeSink, NodeSink};
use hashbrown::HashMap;

/// Meshes of the shown nodes in a renderer, up to a limit of quads. The sink of the tree.
pub(super) struct ShownMeshes {
    pub(super) renderer: Box<dyn Renderer>,
    /// Bodies, and skirts by face.
    meshes: HashMap<(NodePos, Option<Face>), Meshes>,
    pub(super) quads: u64,
    max_quads: u64,
}

/// Rank of shapes above that of their body or skirt, which are below it.
const SHAPES_RANK: u32 = 8;

/// Reason that a mesh is not shown.
pub(super) enum Refused {
    /// The memory limit is reached.
    Full,
    Failed(RenderError),
}

/// Meshes of a body or a skirt in the renderer.
#[derive(Clone, Copy, Default)]
struct Meshes {
    opaque: Option<MeshId>,
    shapes: Option<MeshId>,
    blended: Option<MeshId>,
    /// Number of quads of all.
    quads: u64,
}

impl Meshes {
    const fn are_none(&self) -> bool {
        self.opaque.is_none() && self.shapes.is_none() && self.blended.is_none()
    }
}

impl ShownMeshes {
    /// Creates a sink without meshes.
    pub(super) fn new(renderer: Box<dyn Renderer>, max_bytes: u64) -> Self {
        let mut shown = Self { renderer, meshes: HashMap::new(), quads: 0, max_quads: 0 };
        shown.set_max_bytes(max_bytes);
        shown
    }

    /// Sets the limit for all quads, in bytes.
    pub(super) const fn set_max_bytes(&mut self, bytes: u64) {
        self.max_quads = bytes / size_of::<Quad>() as u64;
    }

    /// Whether less than half of the limit is used.
    pub(super) const fn has_spare_memory(&self) -> bool {
        self.quads < self.max_quads / 2
    }

    /// Returns the draw data of a body or a skirt, with a rank of its own.
    fn draw_data((node, skirt): (NodePos, Option<Face>)) -> DrawData {
        DrawData {
            origin: node.origin().to_array(),
            level: node.level.into(),
            extent: node.side_units(),
            sort_rank: skirt.map_or(0, |face| 1 + face.index() as u32),
        }
    }

    /// Inserts, replaces or removes one mesh. Afterwards `id` is its id, or `None` without quads.
    fn update_mesh(&mut self, id: &mut Option<MeshId>, mesh: &MeshData<'_>) -> Result<(), Refused> {
        match (*id, mesh.quads.is_empty()) {
            (None, true) => {}
            (None, false) => *id = Some(self.renderer.insert(mesh)?),
            (Some(old), false) => self.renderer.replace(old, mesh)?,
            (Some(old), true) => {
                self.renderer.remove(old)?;
                *id = None;
            }
        }
        Ok(())
    }

    /// Shows a body or a skirt in place of the existing one.
    fn set_mesh(
        &mut self,
        part: (NodePos, Option<Face>),
        mesh: Option<&ChunkMesh>,
    ) -> Result<(), Refused> {
        let empty = ChunkMesh::new();
        let mesh = mesh.unwrap_or(&empty);
        let old = self.meshes.get(&part).copied().unwrap_or_default();
        let mut meshes = old;
        let draw_data = Self::draw_data(part);
        let layers = [
            (&mut meshes.opaque, Layer::Opaque, &mesh.opaque, 0),
            (&mut meshes.shapes, Layer::Opaque, &mesh.shapes, SHAPES_RANK),
            (&mut meshes.blended, Layer::Blended, &mesh.translucent, 0),
        ];
        let mut result = Ok(());
        for (id, layer, quads, more) in layers {
            let draw_data = DrawData { sort_rank: draw_data.sort_rank + more, ..draw_data };
            let data = MeshData { quads: quads.quads(), counts: quads.counts(), draw_data, layer };
            result = result.and_then(|()| self.update_mesh(id, &data));
        }
        if result.is_err() && old.are_none() {
            // Nothing of it was visible before, so nothing is now.
            for id in [&mut meshes.opaque, &mut meshes.shapes, &mut meshes.blended] {
                if id.is_some_and(|it| self.renderer.remove(it).is_ok()) {
                    *id = None;
                }
            }
        }
        let quads = if result.is_ok() { mesh.len() as u64 } else { old.quads };
        self.quads = self.quads + quads - old.quads;
        meshes.quads = quads;
        if meshes.are_none() {
            self.meshes.remove(&part);
        } else {
            self.meshes.insert(part, meshes);
        }
        result
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

impl NodeSink for ShownMeshes {
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

    fn cubes(&mut self) -> Option<&mut dyn CubeSink<Error = Refused>> {
        if self.renderer.has_cubes() { Some(self) } else { None }
    }
}

impl CubeSink for ShownMeshes {
    type Error = Refused;

    fn set_cubes(&mut self, node: NodePos, cubes: &[Cube]) -> Result<(), Refused> {
        let part = (node, None);
        let old = self.meshes.get(&part).copied().unwrap_or_default();
        let id = match old.opaque {
            Some(id) => id,
            None if cubes.iter().all(|cube| cube.faces() == FaceSet::EMPTY) => return Ok(()),
            None => {
                let (draw_data, layer) = (Self::draw_data(part), Layer::Opaque);
                let empty = MeshData { quads: &[], counts: [0; Face::COUNT], draw_data, layer };
                let id = self.renderer.insert(&empty)?;
                self.meshes.insert(part, Meshes { opaque: Some(id), ..old });
                id
            }
        };
        Ok(self.renderer.set_cubes(id, cubes)?)
    }
}

#[cfg(test)]
mod tests {
    use drystone_render::{Camera, Projection, Visibility};
    use drystone_voxel::ChunkPos;
    use glam::DVec3;

    use super::*;

    /// No two parts of a node have the same blend key, whatever their slots.
    #[test]
    fn body_and_skirts_of_a_node_have_distinct_blend_keys() {
        let node = NodePos { level: 2, chunk: ChunkPos::new(3, -1, 5) };
        let skirts = Face::ALL.into_iter().map(Some);
        let parts: Vec<_> = [None].into_iter().chain(skirts).collect();
        let middle = node.origin().to_array().map(|c| f64::from(c) + 64.0);
        let [x, y, z] = middle;
        // Along an axis, far away, inside, and where a larger box is hardly farther.
        for eye in [[x, y, 9e3], [x + 1e5, y + 40.0, z], middle, [x + 500.0, y - 500.0, z]] {
            let camera = Camera::look_at(DVec3::from_array(eye), DVec3::ZERO);
            for projection in [camera.projection, Projection::Orthographic { height_voxels: 9.0 }] {
                let seen = Visibility::new(&Camera { projection, ..camera }, 1.0);
                let key =
                    |&skirt: &Option<Face>| seen.blend_key(&ShownMeshes::draw_data((node, skirt)));
                let keys: std::collections::BTreeSet<u64> = parts.iter().map(key).collect();
                assert_eq!(keys.len(), parts.len(), "{eye:?}");
            }
        }
    }
}
