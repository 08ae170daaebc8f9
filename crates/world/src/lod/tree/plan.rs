use drystone_voxel::{Chunk, NodePos};
use hashbrown::HashSet;

use super::camera_path::{NextEvaluation, Reaches};
use super::mesh_requests::{MeshRequest, MeshRequests};
use super::node_table::{NodeState, NodeTable, ShownState, SplitState};
use super::pending_edits::PendingEdits;
use super::waiting_meshes::WaitingMeshes;
use crate::lod::lod_camera::{BlockedLight, LodCamera};

#[cfg(test)]
mod tests;

/// Factor on the priority of merges: they only free memory, while splits add detail.
const MERGE_WEIGHT: f64 = 0.5;
/// Factor on the priority of nodes outside the picture.
const OUT_OF_VIEW_WEIGHT: f64 = 0.2;
/// Maximum number of shown nodes that one merge replaces. Nodes with more are merged level by
/// level, so that no frame hides very many meshes.
const MAX_MERGED: u32 = 128;

/// Changes of an update, as a value. It is computed without the sink and without changing the tree.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Changes of the shown nodes whose meshes are all finished, highest priority first.
    pub(super) changes: Vec<Change>,
    /// The missing meshes of all other changes, and of edits.
    pub(super) requests: MeshRequests,
    /// Nodes whose finished meshes, or whose children's, are still needed.
    pub(super) kept: Vec<NodePos>,
    /// The split nodes that were evaluated, and when they have to be evaluated again.
    pub(super) evaluated: Vec<(NodePos, NextEvaluation)>,
}

/// A change of the shown nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Change {
    pub(super) node: NodePos,
    pub(super) kind: ChangeKind,
    /// Changes with a higher priority come first.
    pub(super) priority: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChangeKind {
    /// Shows a node where nothing was shown.
    Show,
    /// Replaces a node by its children.
    Split,
    /// Replaces all nodes below a node by the node itself.
    Merge,
    /// Replaces the outdated mesh of a shown node.
    Refresh,
}

impl Plan {
    /// Returns an empty plan that reuses the memory of this one.
    pub(super) fn cleared(mut self) -> Self {
        self.changes.clear();
        self.requests.clear();
        self.kept.clear();
        self.evaluated.clear();
        self
    }
}

impl Change {
    /// Sorts changes by priority, highest first.
    fn sort_by_priority(changes: &mut [Self]) {
        changes
            .sort_unstable_by(|a, b| b.priority.total_cmp(&a.priority).then(a.node.cmp(&b.node)));
    }

    /// Sorts changes for the end of the budget: merges first, lowest priority first, because they
    /// are never urgent but free memory.
    pub(super) fn sort_merges_first(changes: &mut [Self]) {
        changes.sort_by(|a, b| {
            let is_merge = |change: &Self| change.kind == ChangeKind::Merge;
            let by_priority = a.priority.total_cmp(&b.priority);
            let by_priority = if is_merge(a) { by_priority } else { by_priority.reverse() };
            is_merge(b).cmp(&is_merge(a)).then(by_priority)
        });
    }
}

/// Nodes that a plan splits.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scope<'a> {
    /// All around the camera, so that it can turn.
    Surroundings,
    /// Nodes that may be in the picture or keep light from it. All others stay as coarse as they are.
    Picture(&'a [BlockedLight]),
}

/// Input of a plan.
pub(super) struct Planner<'a> {
    pub(super) nodes: &'a NodeTable,
    pub(super) waiting: &'a WaitingMeshes,
    pub(super) edits: &'a PendingEdits,
    /// Shown nodes whose meshes have to be replaced.
    pub(super) outdated: &'a HashSet<NodePos>,
    pub(super) camera: &'a LodCamera,
    pub(super) reaches: Reaches,
    /// Length of the camera's path so far.
    pub(super) travelled_voxels: f64,
    /// Whether splits are suspended until every root shows something.
    pub(super) are_splits_held: bool,
    pub(super) scope: Scope<'a>,
}

impl Planner<'_> {
    /// Adds everything to an empty plan.
    ///
    /// # Cost
    /// O(uncovered nodes), and O(shown nodes) below those roots where a node may change. All other
    /// subtrees are skipped.
    /// O(outdated nodes) after a change of the meshes' options.
    pub(super) fn plan(&self, mut plan: Plan) -> Plan {
        plan.requests.needed.extend(self.edits.requests());
        self.cover(&mut plan);
        // Nodes of level 0 are never split.
        if self.nodes.grid.top_level > 0 {
            for &root in &self.nodes.roots {
                self.evaluate(root, self.nodes.get(root).copied(), &mut plan);
            }
        }
        self.outdated.iter().for_each(|&node| self.replace(node, ChangeKind::Refresh, &mut plan));
        Change::sort_by_priority(&mut plan.changes);
        plan
    }

    /// Evaluates a node and its subtree. Returns the distance that the camera can travel before the
    /// result changes. Returns 0 if a change is already pending, or if the camera only has to turn.
    fn evaluate(&self, node: NodePos, state: Option<NodeState>, plan: &mut Plan) -> f64 {
        match state {
            // Uncovered nodes are planned separately, and evaluated once they are shown.
            None | Some(NodeState::Shown(ShownState { is_final: true, .. })) => {
                return f64::INFINITY;
            }
            Some(NodeState::Shown(shown)) => {
                let distance = self.camera.distance(node);
                if !self.reaches.is_coarse(node, distance) {
                    return self.reaches.travel_to_split(node, distance);
                }
                if self.is_in_scope(node) {
                    self.split(node, shown, plan);
                }
            }
            Some(NodeState::Split(split)) => {
                let left = split.next_evaluation.remaining(self.travelled_voxels);
                if left > 0.0 {
                    return left;
                }
                let reach = self.evaluate_below(node, split, plan);
                let next = NextEvaluation::after(self.travelled_voxels, reach);
                plan.evaluated.push((node, next));
                return reach;
            }
        }
        0.0
    }

    /// Evaluates a split node and its subtree. Returns the distance that the camera can travel
    /// before the result changes.
    fn evaluate_below(&self, node: NodePos, split: SplitState, plan: &mut Plan) -> f64 {
        let distance = self.camera.distance(node);
        let is_fine = self.reaches.is_fine(node, distance);
        if is_fine && split.shown_count <= MAX_MERGED {
            // All nodes below are fine enough, and the merge replaces those that are too fine.
            self.merge(node, split.shown_count, plan);
            if !split.is_merge_refused {
                return 0.0;
            }
        }
        let mut reach = if is_fine { 0.0 } else { self.reaches.travel_to_merge(node, distance) };
        let Some(children) = node.children() else { return reach };
        let states = self.nodes.below(node);
        for (i, (child, state)) in children.into_iter().zip(states).enumerate() {
            if split.children >> i & 1 == 1 {
                reach = reach.min(self.evaluate(child, state, plan));
            }
        }
        reach
    }

    fn is_in_scope(&self, node: NodePos) -> bool {
        let Scope::Picture(lights) = self.scope else { return true };
        let extent = self.nodes.grid.extent;
        let lowest = extent.map_or(0.0, |it| f64::from(it.min.origin(Chunk::SIDE).y));
        self.camera.may_see(node)
            || lights.iter().any(|light| self.camera.may_block(node, light, lowest))
    }

    /// Plans the split of a shown node that is too coarse, or requests the missing children.
    fn split(&self, node: NodePos, shown: ShownState, plan: &mut Plan) {
        let priority = priority(node, self.camera);
        let missing = shown.children & !shown.ready;
        if shown.ready != 0 {
            plan.kept.push(node);
        }
        // Nodes at the end of the coordinate range have no children.
        if shown.children == 0 || self.edits.holds(node) {
            return;
        }
        if missing != 0 {
            plan.requests.needed.push(MeshRequest { node, missing, priority });
        } else if !self.are_splits_held {
            plan.changes.push(Change { node, kind: ChangeKind::Split, priority });
        }
    }

    /// Plans the merge of a split node that is finer than necessary, or requests its mesh.
    fn merge(&self, node: NodePos, shown_count: u32, plan: &mut Plan) {
        let is_held = self.edits.holds(node);
        if self.waiting.contains(node) {
            // A finished mesh is kept, even while an edit suspends the merge.
            plan.kept.push(node);
            let priority = priority(node, self.camera) * MERGE_WEIGHT;
            if !is_held {
                plan.changes.push(Change { node, kind: ChangeKind::Merge, priority });
            }
        } else if !is_held {
            // Merges that free more nodes come first.
            let priority = shown_count.into();
            plan.requests.merges.push(MeshRequest { node, missing: 0, priority });
        }
    }

    /// Plans to show uncovered nodes and requests their meshes. An edit of such a node does both
    /// itself.
    ///
    /// A node is shown after all with a higher priority, even if its mesh is finished earlier. The
    /// sink then gets new nodes in an order that does not depend on the threads.
    fn cover(&self, plan: &mut Plan) {
        let has_edits = !self.edits.is_empty();
        let is_due = |node: &&NodePos| !has_edits || !self.edits.has_any(&[**node]);
        let due = self.nodes.uncovered.iter().filter(is_due);
        let mut due: Vec<(f64, NodePos)> =
            due.map(|&node| (priority(node, self.camera), node)).collect();
        due.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let is_ready = |&(_, node): &(f64, NodePos)| self.waiting.contains(node);
        let ready_count = due.iter().take_while(|it| is_ready(it)).count();
        for (priority, node) in due.split_off(ready_count) {
            match self.waiting.contains(node) {
                true => plan.kept.push(node),
                false => plan.requests.needed.push(MeshRequest { node, missing: 0, priority }),
            }
        }
        due.into_iter().for_each(|(_, node)| self.replace(node, ChangeKind::Show, plan));
    }

    /// Plans to show an uncovered node or to refresh a node, or requests its mesh.
    fn replace(&self, node: NodePos, kind: ChangeKind, plan: &mut Plan) {
        let priority = priority(node, self.camera);
        if !self.waiting.contains(node) {
            plan.requests.needed.push(MeshRequest { node, missing: 0, priority });
            return;
        }
        plan.kept.push(node);
        if !self.edits.holds(node) {
            plan.changes.push(Change { node, kind, priority });
        }
    }
}

/// Priority of a node: the length of its voxels in pixels, reduced outside the picture. If the
/// camera is inside the node, larger nodes have priority.
pub(in crate::lod) fn priority(node: NodePos, camera: &LodCamera) -> f64 {
    let pixels = camera.voxel_pixels(node).min(1e9 * f64::from(node.voxel_units()));
    if camera.may_see(node) { pixels } else { pixels * OUT_OF_VIEW_WEIGHT }
}
