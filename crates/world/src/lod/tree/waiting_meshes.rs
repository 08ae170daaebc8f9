use drystone_voxel::NodePos;
use hashbrown::HashMap;

use super::node_table::{NodeState, NodeTable};
use crate::lod::node_mesh::NodeMesh;

/// Number of frames after which a finished mesh that is no longer needed is dropped.
const UNNEEDED_FRAMES: u64 = 120;
/// Number of frames between two searches for such meshes.
const CHECK_INTERVAL_FRAMES: u64 = 16;

/// Finished meshes that are not shown yet.
#[derive(Default)]
pub(super) struct WaitingMeshes {
    meshes: HashMap<NodePos, WaitingMesh>,
    /// Size of all meshes.
    pub(super) size_bytes: usize,
}

struct WaitingMesh {
    mesh: NodeMesh,
    /// Last frame in which a plan needed it.
    needed_frame: u64,
}

impl WaitingMeshes {
    /// Stores a mesh until it is shown, and marks it in the table.
    pub(super) fn insert(
        &mut self,
        node: NodePos,
        mesh: NodeMesh,
        frame: u64,
        table: &mut NodeTable,
    ) {
        self.size_bytes += mesh.size_bytes();
        let old = self.meshes.insert(node, WaitingMesh { mesh, needed_frame: frame });
        self.size_bytes -= old.map_or(0, |old| old.mesh.size_bytes());
        table.set_ready(node, true);
    }

    /// Removes and returns a mesh.
    pub(super) fn take(&mut self, node: NodePos, table: &mut NodeTable) -> Option<NodeMesh> {
        let WaitingMesh { mesh, .. } = self.meshes.remove(&node)?;
        self.size_bytes -= mesh.size_bytes();
        table.set_ready(node, false);
        Some(mesh)
    }

    /// Drops all meshes.
    pub(super) fn clear(&mut self, table: &mut NodeTable) {
        self.meshes.drain().for_each(|(node, _)| table.set_ready(node, false));
        self.size_bytes = 0;
    }

    /// Records that the mesh of a node, or those of a shown node's children, are needed in `frame`.
    pub(super) fn keep(&mut self, node: NodePos, frame: u64, table: &mut NodeTable) {
        if let Some(shown) = table.shown_mut(node) {
            shown.needed_frame = frame;
        }
        if let Some(waiting) = self.meshes.get_mut(&node) {
            waiting.needed_frame = frame;
        }
    }

    /// Returns the nodes whose meshes are no longer needed. Above `limit_bytes`, these are all
    /// meshes that `frame` does not need.
    pub(super) fn unneeded(
        &self,
        frame: u64,
        limit_bytes: usize,
        table: &NodeTable,
    ) -> Vec<NodePos> {
        let is_full = self.size_bytes > limit_bytes;
        if !is_full && !frame.is_multiple_of(CHECK_INTERVAL_FRAMES) {
            return Vec::new();
        }
        let patience = if is_full { 0 } else { UNNEEDED_FRAMES };
        let needed_frame = |node: NodePos, waiting: &WaitingMesh| match table.get(node.parent()) {
            Some(NodeState::Shown(shown)) => waiting.needed_frame.max(shown.needed_frame),
            _ => waiting.needed_frame,
        };
        let is_old = |&(node, waiting): &(&NodePos, &WaitingMesh)| {
            needed_frame(*node, waiting) + patience < frame
        };
        self.meshes.iter().filter(is_old).map(|(&node, _)| node).collect()
    }

    pub(super) fn get(&self, node: NodePos) -> Option<&NodeMesh> {
        self.meshes.get(&node).map(|waiting| &waiting.mesh)
    }

    pub(super) fn contains(&self, node: NodePos) -> bool {
        self.meshes.contains_key(&node)
    }

    /// Number of quads in the body of a node.
    pub(super) fn quads(&self, node: NodePos) -> u64 {
        self.get(node).map_or(0, |mesh| mesh.body.len() as u64)
    }
}
