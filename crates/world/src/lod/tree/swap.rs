use hashbrown::{HashMap, HashSet};

use super::{LodTree, MeshRequest, NodeSink};
use crate::NodePos;
use crate::lod::NodeMesh;

/// Meshes that an edit has changed and that come all together: the old ones are shown until
/// the last of the new is made.
///
/// Meanwhile no level changes where any of them lies, since meshes that are made now are of
/// after the edit. An edit that touches any of these nodes joins.
#[derive(Default)]
pub(super) struct Swap {
    /// Nodes that are shown, and their new meshes as far as those are made.
    meshes: HashMap<NodePos, Option<NodeMesh>>,
    missing: usize,
    size_bytes: usize,
    /// The nodes whose meshes are others now, shown or not, and all above them.
    held: HashSet<NodePos>,
    /// Whether more parts of the edit are to come: until then nothing of it is made.
    is_open: bool,
    /// Whether it is no edit: what could not be read is tried again, when there is time.
    is_reread: bool,
    /// Whether the sink has refused a part of it. The rest is shown then, and levels change, or
    /// there might never be room.
    was_refused: bool,
}

/// Meshes of an edit are made before any other.
pub(super) const EDIT_PRIORITY: f64 = 1e30;
/// And what is tried again after all others.
const REREAD_PRIORITY: f64 = 0.0;

impl Swap {
    /// Of the nodes that are `shown`, out of all that have changed.
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

    /// A node that is shown, of which a part could not be read.
    pub(super) fn rereading(node: NodePos) -> Self {
        Self { missing: 1, meshes: [(node, None)].into(), is_reread: true, ..Self::default() }
    }

    /// Whether it only tries to read again.
    pub(super) const fn is_reread(&self) -> bool {
        self.is_reread
    }

    /// The same of an edit of which more parts are to come.
    pub(super) fn opened(self) -> Self {
        Self { is_open: true, ..self }
    }

    /// One that the sink has refused: nothing but these meshes, to be tried again.
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

    /// Takes another in, whose meshes are no older where both know of one.
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

    /// The nodes whose meshes are not made, and are to be.
    fn missing(&self) -> impl Iterator<Item = NodePos> {
        let missing = self.meshes.iter().filter(|(_, mesh)| !self.is_open && mesh.is_none());
        missing.map(|(&node, _)| node)
    }

    const fn is_whole(&self) -> bool {
        !self.is_open && self.missing == 0
    }

    /// Takes a mesh that was made; gives it back where it is not one of these.
    pub(super) fn take(&mut self, node: NodePos, mesh: NodeMesh) -> Option<NodeMesh> {
        let Some(slot) = self.meshes.get_mut(&node) else { return Some(mesh) };
        self.size_bytes += mesh.size_bytes();
        match slot.replace(mesh) {
            Some(old) => self.size_bytes -= old.size_bytes(),
            None => self.missing -= 1,
        }
        None
    }

    /// A node is not shown any more.
    pub(super) fn remove(&mut self, node: NodePos) {
        match self.meshes.remove(&node) {
            Some(Some(mesh)) => self.size_bytes -= mesh.size_bytes(),
            Some(None) => self.missing -= 1,
            None => {}
        }
    }
}

impl LodTree {
    /// Whether the place of `node` waits for an edit to be shown as a whole.
    pub(super) fn is_held(&self, node: NodePos) -> bool {
        self.swaps.iter().any(|swap| swap.holds(node))
    }

    /// Wants what edits that are to be shown lack.
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

    /// Has an edit shown when all of it is there; with any that it touches, which are not yet. Parts
    /// of one edit come together, wherever they lie.
    pub(super) fn add_swap(&mut self, shown: &[NodePos], newer: Swap) {
        let (touched, mut others): (Vec<Swap>, Vec<Swap>) = std::mem::take(&mut self.swaps)
            .into_iter()
            .partition(|swap| swap.has_any(shown) || newer.is_open && swap.is_open);
        let mut all = Swap { was_refused: true, is_reread: true, ..Swap::default() };
        touched.into_iter().chain([newer]).for_each(|swap| all.join(swap));
        others.push(all);
        self.swaps = others;
    }

    /// No more parts are to come: the threads begin before the next update.
    pub(super) fn close_swaps(&mut self) {
        for swap in &mut self.swaps {
            if std::mem::take(&mut swap.is_open) {
                self.workers.request_first(&swap.missing().collect::<Vec<_>>());
            }
        }
    }

    /// Shows the edits of which everything is there.
    pub(super) fn show_edits<S: NodeSink>(&mut self, sink: &mut S) -> Result<(), S::Error> {
        let (whole, others): (Vec<Swap>, Vec<Swap>) =
            std::mem::take(&mut self.swaps).into_iter().partition(Swap::is_whole);
        self.swaps = others;
        let mut all = Ok(());
        for swap in whole {
            self.spent.bytes += swap.size_bytes;
            // Of those that are gone there is nothing to be said.
            if swap.is_reread && !swap.meshes.is_empty() {
                self.note_reread(swap.meshes.values().flatten().all(NodeMesh::is_whole));
            }
            let meshes = swap.meshes.into_iter().filter_map(|(node, mesh)| Some((node, mesh?)));
            all = all.and(self.replace_all(meshes.collect(), sink));
        }
        all
    }

    /// Shows other meshes of nodes that are shown. What the sink refuses is tried again with
    /// the next update.
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
