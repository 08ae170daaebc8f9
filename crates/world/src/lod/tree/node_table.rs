use drystone_voxel::ChunkPos;
use hashbrown::HashMap;

use super::evaluate::NextEvaluation;
use super::{LodTree, Ready};
use crate::NodePos;

/// What looking at a node needs to know of it, in few bytes: a frame asks for thousands.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeEntry {
    /// Which of the nodes below it lie inside of the world, a bit each.
    pub(super) children: u8,
    pub(super) state: State,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    Shown {
        /// Nothing below it differs: it is of level 0, or there is nothing.
        is_final: bool,
        /// Whose meshes of the nodes below it are ready, a bit each.
        ready: u8,
        /// When these were last wanted.
        requested_frame: u64,
    },
    Split {
        next_evaluation: NextEvaluation,
        /// How many nodes below it are shown.
        shown: u32,
        /// Whether the sink has refused the node's own mesh: merges below it are tried as well.
        is_merge_refused: bool,
    },
}

/// Every node that is shown or that has such below it. Those of one parent lie together, so
/// that whoever looks below a node finds all eight at once.
#[derive(Clone, Default)]
pub(super) struct NodeTable {
    siblings: HashMap<NodePos, Siblings>,
}

/// The children of a node, in their order.
pub(super) type Siblings = [Option<NodeEntry>; NodePos::CHILDREN];

/// By what siblings are found: their parent, even above the highest level.
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

    /// All that lie right below a node.
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

    /// Notes that a node is shown: a new one, or another mesh of one that was.
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

    /// Notes that all nodes below this one are shown in its place.
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

    /// Notes that the sink has refused the mesh that would replace all nodes below this one.
    pub(super) fn note_refused_merge(&mut self, node: NodePos) {
        if let Some(NodeEntry { state: State::Split { is_merge_refused, .. }, .. }) =
            self.table.get_mut(node)
        {
            *is_merge_refused = true;
        }
    }

    /// Another node is shown here, or one less: `more` of them below all that are above it.
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

    /// Keeps a mesh until it is shown.
    pub(super) fn insert_ready(&mut self, node: NodePos, ready: Ready) {
        self.ready_bytes += ready.bytes;
        if let Some(old) = self.ready.insert(node, ready) {
            self.ready_bytes -= old.bytes;
        }
        self.note_ready(node, true);
    }

    /// Takes a mesh out of those that wait.
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

    /// When a mesh that is ready was wanted last, by itself or for what is above it.
    pub(super) fn last_requested(&self, node: NodePos, ready: &Ready) -> u64 {
        match self.table.get(node.parent()) {
            Some(NodeEntry { state: State::Shown { requested_frame, .. }, .. }) => {
                ready.requested_frame.max(*requested_frame)
            }
            _ => ready.requested_frame,
        }
    }
}
