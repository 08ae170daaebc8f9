use drystone_mesh::{Cube, Face, FaceSet};
use drystone_voxel::{Chunk, ChunkPos, Material, NodePos, VoxelPos, face_is_visible};
use hashbrown::HashMap;

use super::LodTree;
use crate::lod::data::LodData;
use crate::lod::data::edit::Changes;
use crate::lod::node_sink::CubeSink;

/// Cubes that an edit may have changed, by node.
pub(super) type EditedCubes = HashMap<NodePos, Vec<Cube>>;

impl LodTree {
    /// Returns the cubes that an edit may have changed: those of the changed voxels, and of the six
    /// beside each. A voxel without visible faces is a cube without faces.
    ///
    /// Returns `None` if whole meshes have to be made: for many or translucent voxels, at levels of
    /// detail, with ambient occlusion, for nodes that are not shown completely, and in worlds with
    /// shapes.
    pub(super) fn edited_cubes(&self, changes: &Changes) -> Option<EditedCubes> {
        let has_shapes = self.data.materials().any_shaped();
        if self.nodes.grid.top_level > 0 || self.config.meshing.occlusion || has_shapes {
            return None;
        }
        let mut all = EditedCubes::new();
        let mut voxels = Voxels { data: &self.data, chunks: HashMap::new() };
        for part in changes.parts.iter().filter(|part| part.node.level == 0) {
            if !part.is_opaque {
                return None;
            }
            for voxel in part.span.with_sides(part.node.origin()) {
                let (node, cube) = voxels.cube(voxel)?;
                all.entry(node).or_default().push(cube);
            }
        }
        for cubes in all.values_mut() {
            cubes.sort_unstable();
            cubes.dedup();
        }
        let is_drawn = |cubes: &[Cube]| cubes.iter().any(|cube| cube.faces() != FaceSet::EMPTY);
        // Nodes outside the world are not shown, and have no cubes.
        all.retain(|&node, cubes| self.shown.nodes.contains_key(&node) || is_drawn(cubes));
        all.keys().all(|&node| self.shown.is_current(node)).then_some(all)
    }

    /// Sets single cubes in the sink.
    ///
    /// # Errors
    /// The sink's error. Some of the cubes may be set then.
    pub(super) fn set_cubes<E>(
        &mut self,
        cubes: &EditedCubes,
        sink: &mut dyn CubeSink<Error = E>,
    ) -> Result<(), E> {
        for (&node, cubes) in cubes {
            sink.set_cubes(node, cubes)?;
            self.shown
                .set_air(node, self.data.readable_chunk(node).is_none_or(|chunk| chunk.is_empty()));
        }
        Ok(())
    }
}

/// Voxels of level 0, with the chunks that were read.
struct Voxels<'a> {
    data: &'a LodData,
    chunks: HashMap<ChunkPos, Chunk>,
}

impl Voxels<'_> {
    /// Returns the cube of a voxel, with its visible faces, and its node. `None` if the voxel is
    /// translucent, or a chunk is not readable.
    fn cube(&mut self, voxel: VoxelPos) -> Option<(NodePos, Cube)> {
        let (chunk, local) = voxel.split(Chunk::SIDE);
        let material = self.get(voxel)?;
        let materials = self.data.materials();
        if materials.is_translucent(material) {
            return None;
        }
        let mut faces = FaceSet::EMPTY;
        for face in Face::ALL.into_iter().filter(|_| !material.is_air()) {
            if face_is_visible(material, self.get(beside(voxel, face)?)?, materials) {
                faces = faces.with(face);
            }
        }
        let position = [local.x, local.y, local.z].map(u32::from);
        Some((chunk.into(), Cube::new(position, faces, material.0, 0)))
    }

    fn get(&mut self, voxel: VoxelPos) -> Option<Material> {
        let (chunk, local) = voxel.split(Chunk::SIDE);
        if !self.chunks.contains_key(&chunk) {
            let loaded = self.data.load(chunk.into()).filter(|it| it.is_whole)?;
            self.chunks.insert(chunk, loaded.chunk);
        }
        self.chunks.get(&chunk).map(|chunk| chunk.get(local))
    }
}

/// Returns the voxel beside a face, or `None` beyond the last coordinate.
fn beside(voxel: VoxelPos, face: Face) -> Option<VoxelPos> {
    let [dx, dy, dz] = face.normal();
    let [x, y, z] = [(voxel.x, dx), (voxel.y, dy), (voxel.z, dz)].map(|(c, by)| c.checked_add(by));
    Some(VoxelPos::new(x?, y?, z?))
}
