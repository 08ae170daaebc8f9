use drystone_voxel::NodePos;
use hashbrown::{HashMap, HashSet};

use super::{LodTree, MeshRequest, NodeSink};
use crate::lod::NodeMesh;

/// Meshes of an edit that are shown together. The old meshes stay until the last new one is
/// finished.
///
/// Until then, the nodes do not change their level, because meshes that are made now already
/// contain the edit. An edit that touches one of these nodes is joined to this one.
#[derive(Default)]
pub(super) struct Swap {
    /// The shown nodes that change, with their new meshes as far as they are finished.
    meshes: HashMap<NodePos, Option<NodeMesh>>,
    missing: usize,
    size_bytes: usize,
    /// All changed nodes, shown or not, and their ancestors.
    held: HashSet<NodePos>,
    /// Whether more parts of the edit will follow. No mesh is requested before the last part.
    is_open: bool,
    /// Whether this is not an edit, but a new attempt to read a damaged node.
    is_reread: bool,
    /// Whether the sink refused some of the meshes. The others are shown, and levels may change:
    /// otherwise no memory would become free.
    was_refused: bool,
}

/// Meshes of edits are made before all others.
pub(super) const EDIT_PRIORITY: f64 = 1e30;
/// Damaged nodes are read again after all others.
const REREAD_PRIORITY: f64 = 0.0;

impl Swap {
    /// Creates the swap of an edit. `changed` has all changed nodes, `shown` those that are shown.
    pub(super) fn new(shown: &[NodePos], changed: &HashSet<NodePos>, top: u8) -> Self {
        let mut held = HashSet::new();
        for &node in changed {
            let mut node = node;
            while held.insert(node) && node.level < top {
                node = node.parent();
            }
        }
        let meshes = shown.iter().map(|&node| (node, None)).collect();
        Self { meshes, missing: shown.len(), held, ..Self::default() }
    }

    /// Creates a swap that reads a shown, damaged node again.
    pub(super) fn rereading(node: NodePos) -> Self {
        Self { missing: 1, meshes: [(node, None)].into(), is_reread: true, ..Self::default() }
    }

    /// Whether this only reads damaged nodes again.
    pub(super) const fn is_reread(&self) -> bool {
        self.is_reread
    }

    /// Marks that more parts of the edit will follow.
    pub(super) fn opened(self) -> Self {
        Self { is_open: true, ..self }
    }

    /// Creates a swap of meshes that the sink refused. They are tried again.
    pub(super) fn refused(meshes: Vec<(NodePos, NodeMesh)>) -> Self {
        let mut swap = Self { was_refused: true, ..Self::default() };
        swap.missing = meshes.len();
        swap.meshes = meshes.iter().map(|&(node, _)| (node, None)).collect();
        meshes.into_iter().for_each(|(node, mesh)| drop(swap.take(node, mesh)));
        swap
    }

    pub(super) fn holds(&self, node: NodePos) -> bool {
        !self.was_refused && self.held.contains(&node)
    }

    pub(super) fn has_any(&self, nodes: &[NodePos]) -> bool {
        nodes.iter().any(|node| self.meshes.contains_key(node))
    }

    pub(super) const fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    /// Adds the meshes of `newer`, which replace those of the same nodes.
    pub(super) fn join(&mut self, newer: Self) {
        for (node, mesh) in newer.meshes {
            self.remove(node);
            self.missing += usize::from(mesh.is_none());
            self.size_bytes += mesh.as_ref().map_or(0, NodeMesh::size_bytes);
            self.meshes.insert(node, mesh);
        }
        self.held.extend(newer.held);
        self.is_open |= newer.is_open;
        self.was_refused &= newer.was_refused;
        self.is_reread &= newer.is_reread;
    }

    /// Returns the nodes whose meshes have to be made.
    fn missing(&self) -> impl Iterator<Item = NodePos> {
        let missing = self.meshes.iter().filter(|(_, mesh)| !self.is_open && mesh.is_none());
        missing.map(|(&node, _)| node)
    }

    const fn is_whole(&self) -> bool {
        !self.is_open && self.missing == 0
    }

    /// Stores a finished mesh. Returns it if the node is not part of this swap.
    pub(super) fn take(&mut self, node: NodePos, mesh: NodeMesh) -> Option<NodeMesh> {
        let Some(slot) = self.meshes.get_mut(&node) else { return Some(mesh) };
        self.size_bytes += mesh.size_bytes();
        match slot.replace(mesh) {
            Some(old) => self.size_bytes -= old.size_bytes(),
            None => self.missing -= 1,
        }
        None
    }

    /// Removes a node that is no longer shown.
    pub(super) fn remove(&mut self, node: NodePos) {
        match self.meshes.remove(&node) {
            Some(Some(mesh)) => self.size_bytes -= mesh.size_bytes(),
            Some(None) => self.missing -= 1,
            None => {}
        }
    }
}

impl LodTree {
    /// Whether the level of `node` is fixed, because an edit of it is not shown yet.
    pub(super) fn is_held(&self, node: NodePos) -> bool {
        self.swaps.iter().any(|swap| swap.holds(node))
    }

    /// Requests the missing meshes of all edits.
    pub(super) fn request_edit_meshes(&mut self) {
        for swap in self.swaps.iter().filter(|swap| swap.missing > 0) {
            let priority = if swap.is_reread { REREAD_PRIORITY } else { EDIT_PRIORITY };
            self.requests.extend(swap.missing().map(|node| MeshRequest {
                node,
                missing: 0,
                priority,
            }));
        }
    }

    /// Adds an edit, joined with all edits that share nodes with it. Open edits are always joined,
    /// since they are parts of one edit.
    pub(super) fn add_swap(&mut self, shown: &[NodePos], newer: Swap) {
        let (touched, mut others): (Vec<Swap>, Vec<Swap>) = std::mem::take(&mut self.swaps)
            .into_iter()
            .partition(|swap| swap.has_any(shown) || newer.is_open && swap.is_open);
        let mut all = Swap { was_refused: true, is_reread: true, ..Swap::default() };
        touched.into_iter().chain([newer]).for_each(|swap| all.join(swap));
        others.push(all);
        self.swaps = others;
    }

    /// Marks open edits as complete. The threads start before the next update.
    pub(super) fn close_swaps(&mut self) {
        for swap in &mut self.swaps {
            if std::mem::take(&mut swap.is_open) {
                self.workers.request_first(&swap.missing().collect::<Vec<_>>());
            }
        }
    }

    /// Shows all edits whose meshes are finished.
    pub(super) fn show_edits<S: NodeSink>(&mut self, sink: &mut S) -> Result<(), S::Error> {
        let (whole, others): (Vec<Swap>, Vec<Swap>) =
            std::mem::take(&mut self.swaps).into_iter().partition(Swap::is_whole);
        self.swaps = others;
        let mut all = Ok(());
        for swap in whole {
            self.spent.bytes += swap.size_bytes;
            // A swap whose nodes were all hidden gives no result.
            if swap.is_reread && !swap.meshes.is_empty() {
                self.note_reread(swap.meshes.values().flatten().all(NodeMesh::is_whole));
            }
            let meshes = swap.meshes.into_iter().filter_map(|(node, mesh)| Some((node, mesh?)));
            all = all.and(self.replace_all(meshes.collect(), sink));
        }
        all
    }

    /// Replaces the bodies of shown nodes. The next update retries those that the sink refuses.
    pub(super) fn replace_all<S: NodeSink>(
        &mut self,
        meshes: Vec<(NodePos, NodeMesh)>,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        let mut all = Ok(());
        let mut refused = Vec::new();
        for (node, mesh) in meshes {
            let shown = self.shown.get(&node).map_or(0, |shown| u64::from(shown.quads));
            let more = (mesh.body.len() as u64).saturating_sub(shown);
            let set = sink.check_limit(more).and_then(|()| sink.set_body(node, Some(&mesh.body)));
            match set {
                Ok(()) => all = all.and(self.note_replaced(node, mesh, sink)),
                Err(error) => {
                    all = all.and(Err(error));
                    refused.push((node, mesh));
                }
            }
        }
        if !refused.is_empty() {
            self.swaps.push(Swap::refused(refused));
        }
        all
    }
}
