use drystone_voxel::{ChunkPos, NodePos};
use hashbrown::HashMap;

use super::camera_path::NextEvaluation;
use crate::lod::node_grid::NodeGrid;

/// State of a node that a plan needs. It is small, because a frame reads thousands of them.
#[derive(Clone, Copy, Debug)]
pub(super) enum NodeState {
    Shown(ShownState),
    Split(SplitState),
}

/// State of a shown node.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShownState {
    /// Bits of the children that lie inside the world.
    pub(super) children: u8,
    /// Bits of the children whose meshes are finished.
    pub(super) ready: u8,
    /// Whether splitting would change nothing: the node has level 0 or is empty.
    pub(super) is_final: bool,
    /// Frame in which the meshes of the children were last needed.
    pub(super) needed_frame: u64,
}

/// State of a node that is replaced by its children.
#[derive(Clone, Copy, Debug)]
pub(super) struct SplitState {
    /// Bits of the children that lie inside the world.
    pub(super) children: u8,
    /// Whether the sink refused the node's own mesh. Merges below it are then tried too.
    pub(super) is_merge_refused: bool,
    /// Number of shown nodes in the subtree.
    pub(super) shown_count: u32,
    pub(super) next_evaluation: NextEvaluation,
}

/// All shown nodes and their ancestors. Siblings are stored together, so one lookup finds all eight
/// children of a node.
#[derive(Clone)]
pub(super) struct NodeTable {
    pub(super) grid: NodeGrid,
    pub(super) roots: Vec<NodePos>,
    siblings: HashMap<NodePos, Siblings>,
}

/// The children of a node, indexed by [`NodePos::index_in_parent`].
type Siblings = [Option<NodeState>; NodePos::CHILDREN];

/// Key of a group of siblings: their parent's position. Exists even above the highest level.
const fn parent_key(node: NodePos) -> NodePos {
    let ChunkPos { x, y, z } = node.chunk;
    NodePos { level: node.level + 1, chunk: ChunkPos::new(x >> 1, y >> 1, z >> 1) }
}

impl NodeTable {
    pub(super) fn new(grid: NodeGrid) -> Self {
        Self { roots: grid.roots(), grid, siblings: HashMap::new() }
    }

    /// Records that a node is shown, or that its mesh was replaced. `is_air`: its whole subtree is
    /// empty. `is_ready`: whether the mesh of a child is finished.
    pub(super) fn show(
        &mut self,
        node: NodePos,
        is_air: bool,
        needed_frame: u64,
        is_ready: impl Fn(NodePos) -> bool,
    ) {
        let is_final = node.level == 0 || is_air;
        let [mut children, mut ready] = [0; 2];
        for child in self.grid.children(node) {
            let bit = 1 << child.index_in_parent();
            children |= bit;
            ready |= if is_ready(child) { bit } else { 0 };
        }
        let shown = ShownState { children, ready, is_final, needed_frame };
        self.insert(node, NodeState::Shown(shown));
    }

    /// Records that a node is replaced by its children.
    pub(super) fn split(&mut self, node: NodePos) {
        let children =
            self.grid.children(node).fold(0u8, |bits, child| bits | 1 << child.index_in_parent());
        let split = SplitState {
            children,
            is_merge_refused: false,
            shown_count: children.count_ones(),
            next_evaluation: NextEvaluation::NOW,
        };
        self.insert(node, NodeState::Split(split));
    }

    fn insert(&mut self, node: NodePos, state: NodeState) {
        self.siblings.entry(parent_key(node)).or_default()[node.index_in_parent()] = Some(state);
    }

    pub(super) fn remove(&mut self, node: NodePos) {
        if let Some(siblings) = self.siblings.get_mut(&parent_key(node)) {
            siblings[node.index_in_parent()] = None;
            if siblings.iter().all(Option::is_none) {
                self.siblings.remove(&parent_key(node));
            }
        }
    }

    /// Adds `more` to the number of shown nodes of all ancestors.
    pub(super) fn count_shown(&mut self, node: NodePos, more: i32) {
        for above in self.grid.ancestors(node) {
            if let Some(split) = self.split_mut(above) {
                split.shown_count = split.shown_count.saturating_add_signed(more);
            }
        }
    }

    /// Marks all ancestors for evaluation, because another node or mesh is shown here.
    pub(super) fn evaluate_above(&mut self, node: NodePos) {
        for above in self.grid.ancestors(node) {
            let Some(split) = self.split_mut(above) else { continue };
            if split.next_evaluation.is_now() {
                // All nodes above it are marked already.
                return;
            }
            split.next_evaluation = NextEvaluation::NOW;
        }
    }

    /// Marks all nodes for evaluation.
    pub(super) fn evaluate_everywhere(&mut self) {
        for state in self.siblings.values_mut().flatten().flatten() {
            if let NodeState::Split(split) = state {
                split.next_evaluation = NextEvaluation::NOW;
            }
        }
    }

    /// Records whether the mesh of a node is finished.
    pub(super) fn set_ready(&mut self, node: NodePos, is_ready: bool) {
        let bit = 1 << node.index_in_parent();
        if let Some(shown) = self.shown_mut(node.parent()) {
            shown.ready = if is_ready { shown.ready | bit } else { shown.ready & !bit };
        }
    }

    pub(super) fn shown_mut(&mut self, node: NodePos) -> Option<&mut ShownState> {
        match self.get_mut(node) {
            Some(NodeState::Shown(shown)) => Some(shown),
            _ => None,
        }
    }

    pub(super) fn split_mut(&mut self, node: NodePos) -> Option<&mut SplitState> {
        match self.get_mut(node) {
            Some(NodeState::Split(split)) => Some(split),
            _ => None,
        }
    }

    fn get_mut(&mut self, node: NodePos) -> Option<&mut NodeState> {
        self.siblings.get_mut(&parent_key(node))?[node.index_in_parent()].as_mut()
    }

    pub(super) fn get(&self, node: NodePos) -> Option<&NodeState> {
        self.siblings.get(&parent_key(node))?[node.index_in_parent()].as_ref()
    }

    /// Returns the states of a node's children.
    pub(super) fn below(&self, node: NodePos) -> Siblings {
        self.siblings.get(&node).copied().unwrap_or_default()
    }

    pub(super) fn is_shown(&self, node: NodePos) -> bool {
        matches!(self.get(node), Some(NodeState::Shown(_)))
    }

    pub(super) fn is_split(&self, node: NodePos) -> bool {
        matches!(self.get(node), Some(NodeState::Split(_)))
    }

    /// Whether every root is covered by shown nodes.
    pub(super) fn is_whole(&self) -> bool {
        self.roots.iter().all(|&root| self.get(root).is_some())
    }
}
