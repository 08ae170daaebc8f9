use std::collections::BTreeSet;

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
    pub(super) roots: BTreeSet<NodePos>,
    /// Nodes that have to be shown and that no shown node covers: first the roots, later nodes where
    /// an edit extends the world.
    pub(super) uncovered: BTreeSet<NodePos>,
    siblings: HashMap<NodePos, Siblings>,
}

/// The children of a node, indexed by [`NodePos::index_in_parent`].
type Siblings = [Option<NodeState>; NodePos::CHILDREN];

/// Key of a group of siblings: their parent's position. Exists even above the highest level.
const fn parent_key(node: NodePos) -> NodePos {
    let ChunkPos { x, y, z } = node.chunk;
    NodePos { level: node.level + 1, chunk: ChunkPos::new(x >> 1, y >> 1, z >> 1) }
}

/// Bit of a node among its siblings.
const fn child_bit(node: NodePos) -> u8 {
    1 << node.index_in_parent()
}

fn child_bits(children: impl Iterator<Item = NodePos>) -> u8 {
    children.fold(0, |bits, child| bits | child_bit(child))
}

impl NodeTable {
    pub(super) fn new(grid: NodeGrid, roots: impl IntoIterator<Item = NodePos>) -> Self {
        let roots: BTreeSet<NodePos> = roots.into_iter().collect();
        Self { grid, uncovered: roots.clone(), roots, siblings: HashMap::new() }
    }

    /// Extends the world to `grid`. Nodes that no shown node covers are uncovered from now on: roots
    /// among the `changed` nodes, and children of split nodes.
    pub(super) fn extend(&mut self, grid: NodeGrid, changed: impl Iterator<Item = NodePos>) {
        let top = grid.top_level;
        let roots = changed.filter(|node| node.level <= top).map(|node| node.ancestor(top));
        self.uncovered.extend(roots.filter(|&root| self.roots.insert(root)));
        if grid.extent == self.grid.extent {
            return;
        }
        self.grid = grid;
        for (&parent, siblings) in &mut self.siblings {
            let nodes = parent.children().into_iter().flatten();
            for (node, state) in nodes.zip(siblings) {
                let Some(state) = state else { continue };
                let inside = grid.children(node);
                match state {
                    NodeState::Shown(shown) => shown.children = child_bits(inside),
                    NodeState::Split(split) => {
                        let is_new = |child: &NodePos| split.children & child_bit(*child) == 0;
                        self.uncovered.extend(grid.children(node).filter(is_new));
                        split.children = child_bits(inside);
                    }
                }
            }
        }
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
            children |= child_bit(child);
            ready |= if is_ready(child) { child_bit(child) } else { 0 };
        }
        self.uncovered.remove(&node);
        let shown = ShownState { children, ready, is_final, needed_frame };
        self.insert(node, NodeState::Shown(shown));
    }

    /// Records that a node is replaced by its children.
    pub(super) fn split(&mut self, node: NodePos) {
        let children = child_bits(self.grid.children(node));
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
        let bit = child_bit(node);
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

    /// Whether shown nodes cover the world.
    pub(super) fn is_whole(&self) -> bool {
        self.uncovered.is_empty()
    }
}
