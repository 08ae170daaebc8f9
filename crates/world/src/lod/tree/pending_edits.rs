use drystone_voxel::NodePos;
use hashbrown::{HashMap, HashSet};

use super::mesh_requests::MeshRequest;
use crate::lod::node_mesh::NodeMesh;

/// Edits whose new meshes are not shown yet. No two of them share a node.
#[derive(Default)]
pub(super) struct PendingEdits {
    edits: Vec<PendingEdit>,
}

/// Meshes of an edit that are shown together. The old meshes stay until the last new one is
/// finished.
///
/// Until then, the nodes do not change their level, because meshes that are made now already
/// contain the edit. An edit that touches one of these nodes is joined to this one.
#[derive(Default)]
pub(super) struct PendingEdit {
    /// The shown nodes that change, with their new meshes as far as they are finished.
    meshes: HashMap<NodePos, Option<NodeMesh>>,
    missing_count: usize,
    pub(super) size_bytes: usize,
    /// All changed nodes, shown or not, and their ancestors.
    held: HashSet<NodePos>,
    /// Whether more parts of the edit will follow. No mesh is requested before the last part.
    is_open: bool,
    /// Whether this is not an edit, but a new attempt to read a damaged node.
    pub(super) is_reread: bool,
    /// Whether the sink refused some of the meshes. The others are shown, and levels may change:
    /// otherwise no memory would become free.
    was_refused: bool,
}

impl PendingEdits {
    /// Adds an edit, joined with all edits that share nodes with it. Open edits are always joined,
    /// since they are parts of one edit.
    pub(super) fn add(&mut self, newer: PendingEdit) {
        let shown: Vec<NodePos> = newer.meshes.keys().copied().collect();
        let is_joined =
            |edit: &mut PendingEdit| edit.has_any(&shown) || newer.is_open && edit.is_open;
        let touched: Vec<PendingEdit> = self.edits.extract_if(.., is_joined).collect();
        let mut all = PendingEdit { was_refused: true, is_reread: true, ..PendingEdit::default() };
        touched.into_iter().chain([newer]).for_each(|edit| all.join(edit));
        self.edits.push(all);
    }

    /// Requests a new mesh of a shown, damaged node, unless an edit replaces its mesh anyway.
    pub(super) fn reread(&mut self, node: NodePos) {
        if !self.has_any(&[node]) {
            let edit = PendingEdit::new([node], HashSet::new());
            self.edits.push(PendingEdit { is_reread: true, ..edit });
        }
    }

    /// Adds meshes that the sink refused. They are tried again.
    pub(super) fn retry(&mut self, meshes: Vec<(NodePos, NodeMesh)>) {
        if !meshes.is_empty() {
            let edit = PendingEdit::new(meshes.iter().map(|&(node, _)| node), HashSet::new());
            let mut edit = PendingEdit { was_refused: true, ..edit };
            meshes.into_iter().for_each(|(node, mesh)| drop(edit.insert(node, mesh)));
            self.edits.push(edit);
        }
    }

    /// Drops all finished meshes, because they were made with other options. They are made again.
    pub(super) fn forget_meshes(&mut self) {
        for edit in &mut self.edits {
            edit.meshes.values_mut().for_each(|mesh| *mesh = None);
            (edit.missing_count, edit.size_bytes) = (edit.meshes.len(), 0);
        }
    }

    /// Marks open edits as complete. Returns the nodes whose meshes can be made now.
    pub(super) fn close(&mut self) -> Vec<NodePos> {
        let closed = self.edits.iter_mut().filter_map(|edit| {
            std::mem::take(&mut edit.is_open).then(|| edit.missing().collect::<Vec<_>>())
        });
        closed.flatten().collect()
    }

    /// Stores a finished mesh. Returns it if no edit waits for it.
    pub(super) fn insert(&mut self, node: NodePos, mesh: NodeMesh) -> Option<NodeMesh> {
        let first = Some(mesh);
        self.edits
            .iter_mut()
            .fold(first, |mesh, edit| mesh.and_then(|mesh| edit.insert(node, mesh)))
    }

    /// Removes a node that is no longer shown.
    pub(super) fn remove(&mut self, node: NodePos) {
        self.edits.iter_mut().for_each(|edit| edit.remove(node));
    }

    /// Removes and returns the edits whose meshes are all finished.
    pub(super) fn take_finished(&mut self) -> Vec<PendingEdit> {
        let is_finished = |edit: &mut PendingEdit| !edit.is_open && edit.missing_count == 0;
        self.edits.extract_if(.., is_finished).collect()
    }

    /// Returns requests for all missing meshes.
    pub(super) fn requests(&self) -> impl Iterator<Item = MeshRequest> {
        self.edits.iter().flat_map(|edit| {
            let priority = if edit.is_reread { MeshRequest::REREAD } else { MeshRequest::EDIT };
            edit.missing().map(move |node| MeshRequest { node, missing: 0, priority })
        })
    }

    /// Whether the level of `node` is fixed, because an edit of it is not shown yet.
    pub(super) fn holds(&self, node: NodePos) -> bool {
        self.edits.iter().any(|edit| !edit.was_refused && edit.held.contains(&node))
    }

    /// Whether an edit replaces the mesh of any of these nodes.
    pub(super) fn has_any(&self, nodes: &[NodePos]) -> bool {
        self.edits.iter().any(|edit| edit.has_any(nodes))
    }

    /// Whether any edit waits, apart from damaged nodes that are read again.
    pub(super) fn is_waiting(&self) -> bool {
        self.edits.iter().any(|edit| !edit.is_reread)
    }

    /// Whether damaged nodes are being read again.
    pub(super) fn is_rereading(&self) -> bool {
        self.edits.iter().any(|edit| edit.is_reread)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// Size of the finished meshes, in bytes.
    pub(super) fn size_bytes(&self) -> usize {
        self.edits.iter().map(|edit| edit.size_bytes).sum()
    }
}

impl PendingEdit {
    /// Creates an edit that replaces the meshes of the nodes `shown`, and holds the levels of the
    /// nodes `held`.
    pub(super) fn new(shown: impl IntoIterator<Item = NodePos>, held: HashSet<NodePos>) -> Self {
        let meshes: HashMap<_, _> = shown.into_iter().map(|node| (node, None)).collect();
        Self { missing_count: meshes.len(), meshes, held, ..Self::default() }
    }

    /// Marks that more parts of the edit will follow.
    pub(super) fn opened(self) -> Self {
        Self { is_open: true, ..self }
    }

    /// Adds the meshes of `newer`, which replace those of the same nodes.
    fn join(&mut self, newer: Self) {
        for (node, mesh) in newer.meshes {
            self.remove(node);
            self.missing_count += usize::from(mesh.is_none());
            self.size_bytes += mesh.as_ref().map_or(0, NodeMesh::size_bytes);
            self.meshes.insert(node, mesh);
        }
        self.held.extend(newer.held);
        self.is_open |= newer.is_open;
        self.was_refused &= newer.was_refused;
        self.is_reread &= newer.is_reread;
    }

    fn insert(&mut self, node: NodePos, mesh: NodeMesh) -> Option<NodeMesh> {
        let Some(slot) = self.meshes.get_mut(&node) else { return Some(mesh) };
        self.size_bytes += mesh.size_bytes();
        match slot.replace(mesh) {
            Some(old) => self.size_bytes -= old.size_bytes(),
            None => self.missing_count -= 1,
        }
        None
    }

    fn remove(&mut self, node: NodePos) {
        match self.meshes.remove(&node) {
            Some(Some(mesh)) => self.size_bytes -= mesh.size_bytes(),
            Some(None) => self.missing_count -= 1,
            None => {}
        }
    }

    /// Returns the finished meshes, sorted by node.
    pub(super) fn into_meshes(self) -> Vec<(NodePos, NodeMesh)> {
        let meshes = self.meshes.into_iter().filter_map(|(node, mesh)| Some((node, mesh?)));
        let mut meshes: Vec<(NodePos, NodeMesh)> = meshes.collect();
        meshes.sort_unstable_by_key(|&(node, _)| node);
        meshes
    }

    /// Returns the nodes whose meshes have to be made.
    fn missing(&self) -> impl Iterator<Item = NodePos> {
        let missing = self.meshes.iter().filter(|(_, mesh)| !self.is_open && mesh.is_none());
        missing.map(|(&node, _)| node)
    }

    fn has_any(&self, nodes: &[NodePos]) -> bool {
        nodes.iter().any(|node| self.meshes.contains_key(node))
    }
}
