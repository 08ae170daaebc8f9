use drystone_voxel::{ChunkPos, NodePos};
use hashbrown::HashMap;

use super::evaluate::NextEvaluation;
use super::{LodTree, Ready};

/// State of a node that an evaluation needs. It is small, because a frame reads thousands of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeEntry {
    /// Bits of the children that lie inside the world.
    pub(super) children: u8,
    pub(super) state: State,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    Shown {
        /// Whether splitting would change nothing: the node has level 0 or is empty.
        is_final: bool,
        /// Bits of the children whose meshes are finished.
        ready: u8,
        /// Frame in which these meshes were last requested.
        requested_frame: u64,
    },
    Split {
        next_evaluation: NextEvaluation,
        /// Number of shown nodes in the subtree.
        shown: u32,
        /// Whether the sink refused the node's own mesh. Merges below it are then tried too.
        is_merge_refused: bool,
    },
}

/// All shown nodes and their ancestors. Siblings are stored together, so one lookup finds all eight
/// children of a node.
#[derive(Clone, Default)]
pub(super) struct NodeTable {
    siblings: HashMap<NodePos, Siblings>,
}

/// The children of a node, indexed by [`NodePos::index_in_parent`].
pub(super) type Siblings = [Option<NodeEntry>; NodePos::CHILDREN];

/// Key of a group of siblings: their parent's position. Exists even above the highest level.
const fn parent_key(node: NodePos) -> NodePos {
    let ChunkPos { x, y, z } = node.chunk;
    NodePos { level: node.level + 1, chunk: ChunkPos::new(x >> 1, y >> 1, z >> 1) }
}

impl NodeTable {
    pub(super) fn get(&self, node: NodePos) -> Option<&NodeEntry> {
        self.siblings.get(&parent_key(node))?[node.index_in_parent()].as_ref()
    }

    pub(super) fn get_mut(&mut self, node: NodePos) -> Option<&mut NodeEntry> {
        self.siblings.get_mut(&parent_key(node))?[node.index_in_parent()].as_mut()
    }

    /// Returns the children of a node.
    pub(super) fn below(&self, node: NodePos) -> Siblings {
        self.siblings.get(&node).copied().unwrap_or_default()
    }

    fn insert(&mut self, node: NodePos, entry: NodeEntry) {
        self.siblings.entry(parent_key(node)).or_default()[node.index_in_parent()] = Some(entry);
    }

    pub(super) fn remove(&mut self, node: NodePos) {
        if let Some(siblings) = self.siblings.get_mut(&parent_key(node)) {
            siblings[node.index_in_parent()] = None;
            if siblings.iter().all(Option::is_none) {
                self.siblings.remove(&parent_key(node));
            }
        }
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut NodeEntry> {
        self.siblings.values_mut().flatten().flatten()
    }

    #[cfg(test)]
    pub(super) fn iter(&self) -> impl Iterator<Item = &NodeEntry> {
        self.siblings.values().flatten().flatten()
    }
}

impl LodTree {
    pub(super) fn is_shown(&self, node: NodePos) -> bool {
        matches!(self.table.get(node), Some(NodeEntry { state: State::Shown { .. }, .. }))
    }

    /// Records that a node is shown, or that its mesh was replaced.
    pub(super) fn record_shown(&mut self, node: NodePos, is_air: bool) {
        let is_final = node.level == 0 || is_air;
        let [mut children, mut ready] = [0; 2];
        for child in self.data.children(node) {
            let bit = 1 << child.index_in_parent();
            children |= bit;
            ready |= if self.ready.contains_key(&child) { bit } else { 0 };
        }
        let state = State::Shown { is_final, ready, requested_frame: self.frame };
        self.table.insert(node, NodeEntry { children, state });
    }

    /// Records that a node is replaced by its children.
    pub(super) fn record_split(&mut self, node: NodePos) {
        let children =
            self.data.children(node).fold(0u8, |bits, child| bits | 1 << child.index_in_parent());
        let state = State::Split {
            next_evaluation: NextEvaluation::NOW,
            shown: children.count_ones(),
            is_merge_refused: false,
        };
        self.table.insert(node, NodeEntry { children, state });
    }

    /// Records that the sink refused the mesh of a merge.
    pub(super) fn note_refused_merge(&mut self, node: NodePos) {
        if let Some(NodeEntry { state: State::Split { is_merge_refused, .. }, .. }) =
            self.table.get_mut(node)
        {
            *is_merge_refused = true;
        }
    }

    /// Adds `more` to the number of shown nodes of all ancestors.
    pub(super) fn count_shown(&mut self, node: NodePos, more: i32) {
        let mut node = node;
        while node.level < self.data.top_level() {
            node = node.parent();
            if let Some(NodeEntry { state: State::Split { shown, .. }, .. }) =
                self.table.get_mut(node)
            {
                *shown = shown.saturating_add_signed(more);
            }
        }
    }

    /// Stores a finished mesh until it is shown.
    pub(super) fn insert_ready(&mut self, node: NodePos, ready: Ready) {
        self.ready_bytes += ready.bytes;
        if let Some(old) = self.ready.insert(node, ready) {
            self.ready_bytes -= old.bytes;
        }
        self.note_ready(node, true);
    }

    /// Removes and returns a finished mesh.
    pub(super) fn take_ready(&mut self, node: NodePos) -> Option<Ready> {
        let ready = self.ready.remove(&node)?;
        self.ready_bytes -= ready.bytes;
        self.note_ready(node, false);
        Some(ready)
    }

    fn note_ready(&mut self, node: NodePos, is_ready: bool) {
        let bit = 1 << node.index_in_parent();
        if let Some(NodeEntry { state: State::Shown { ready, .. }, .. }) =
            self.table.get_mut(node.parent())
        {
            *ready = if is_ready { *ready | bit } else { *ready & !bit };
        }
    }

    /// Returns the frame in which a finished mesh was last requested, directly or for its parent's
    /// split.
    pub(super) fn last_requested(&self, node: NodePos, ready: &Ready) -> u64 {
        match self.table.get(node.parent()) {
            Some(NodeEntry { state: State::Shown { requested_frame, .. }, .. }) => {
                ready.requested_frame.max(*requested_frame)
            }
            _ => ready.requested_frame,
        }
    }
}
