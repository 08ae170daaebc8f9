use std::collections::HashSet;

use drystone_mesh::Face;
use drystone_voxel::{Chunk, ChunkMesh, Material, VoxelPos};
use rayon::prelude::*;

use super::super::node_mesh::NodeMesher;
use super::{LevelTree, NodeSink};
use crate::NodePos;
use crate::levels::NodeMesh;

/// Up to so many meshes are made by whoever edits; more, on all cores.
const FEW: usize = 4;

impl LevelTree {
    /// Sets voxels, and shows every mesh that they touch anew: bodies, walls, all levels.
    /// Voxels outside of the world are left as they are. Returns how many voxels changed.
    ///
    /// # Cost
    /// About 0.1 ms for each mesh that is shown and touched: one voxel touches one to four.
    ///
    /// # Errors
    /// The sink's. The voxels are set then; what could not be shown is shown as it was, until
    /// its node is edited or shown again.
    pub fn set<S: NodeSink>(
        &mut self,
        voxels: impl IntoIterator<Item = (VoxelPos, Material)>,
        sink: &mut S,
    ) -> Result<u64, S::Error> {
        let mut dirty = HashSet::new();
        let mut count = 0;
        for (voxel, material) in voxels {
            let changes = self.data.set(voxel, material);
            count += u64::from(!changes.is_empty());
            for (node, at) in changes {
                dirty.insert(node);
                dirty.extend(neighbors_that_see(node, at));
            }
        }
        self.workers.forget(&dirty);
        for &node in &dirty {
            if let Some(ready) = self.ready.remove(&node) {
                self.ready_bytes -= ready.bytes;
            }
        }
        let nodes: Vec<NodePos> =
            dirty.into_iter().filter(|node| self.shown.contains_key(node)).collect();
        let mut shown = Ok(());
        for (node, mesh) in self.meshes(nodes) {
            shown = shown.and(self.replace(node, mesh, sink));
        }
        shown.and(self.close_borders(sink)).map(|()| count)
    }

    fn meshes(&self, nodes: Vec<NodePos>) -> Vec<(NodePos, NodeMesh)> {
        let data = self.data.as_ref();
        let mesh = |mesher: &mut NodeMesher, node| (node, mesher.mesh(data, node));
        if nodes.len() <= FEW {
            let mut mesher = NodeMesher::default();
            return nodes.into_iter().map(|node| mesh(&mut mesher, node)).collect();
        }
        nodes.into_par_iter().map_init(NodeMesher::default, mesh).collect()
    }

    /// Shows another mesh of a node that is shown.
    fn replace<S: NodeSink>(
        &mut self,
        node: NodePos,
        mut mesh: NodeMesh,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        let Some(shown) = self.shown.get_mut(&node) else { return Ok(()) };
        sink.set_body(node, Some(&mesh.body))?;
        shown.quads = mesh.body.len() as u32;
        mesh.body = ChunkMesh::default();
        shown.mesh = mesh;
        // The old walls go, and those that there are now come with the borders.
        let walls = std::mem::replace(&mut shown.walls, drystone_mesh::FaceSet::EMPTY);
        self.touched.push(node);
        let mut all = Ok(());
        for face in Face::ALL.into_iter().filter(|&face| walls.contains(face)) {
            all = all.and(sink.set_wall(node, face, None));
        }
        all
    }
}

/// The neighbours of `node` whose meshes look at the voxel `at` of it, counted in voxels of
/// its level.
fn neighbors_that_see(node: NodePos, at: VoxelPos) -> impl Iterator<Item = NodePos> {
    let (_, local) = at.split(Chunk::SIDE);
    let local = [local.x, local.y, local.z];
    Face::ALL.into_iter().filter_map(move |face| {
        let border = if face.is_positive() { Chunk::SIDE as u8 - 1 } else { 0 };
        (local[face.axis()] == border).then(|| node.offset(face.normal())).flatten()
    })
}
