use drystone_voxel::NodePos;

use super::changes::{Change, Kind};
use super::node_table::{NodeEntry, State};
use super::{LodTree, MeshRequest, Ready};
use crate::lod::{LodCamera, LodConfig, PixelScale};

/// Factor on the priority of merges: they only free memory, while splits add detail.
const MERGE_WEIGHT: f64 = 0.5;
/// Factor on the priority of nodes outside the picture.
const OUT_OF_VIEW_WEIGHT: f64 = 0.2;
/// Maximum number of shown nodes that one merge replaces. Nodes with more are merged level by
/// level, so that no frame hides very many meshes.
const MAX_MERGED: u32 = 128;
/// Safety margin in voxels of level 0, much larger than the rounding error of distances.
const ROUNDING: f64 = 1e-2;

/// Total camera travel at which a subtree has to be evaluated again. Until then no node in it can
/// change.
///
/// Each node changes at some distance from the camera. The camera's travel bounds the change of
/// every distance, so the node that is closest to changing decides for its subtree.
#[derive(Clone, Copy, Debug)]
pub(super) struct NextEvaluation {
    at_voxels: f64,
}

impl NextEvaluation {
    /// The subtree has to be evaluated in the next update.
    pub(super) const NOW: Self = Self { at_voxels: 0.0 };

    /// The next evaluation after the camera travels `reach` more voxels. `travelled` is its travel
    /// so far.
    fn after(travelled: f64, reach: f64) -> Self {
        Self { at_voxels: if reach > ROUNDING { travelled + reach - ROUNDING } else { 0.0 } }
    }

    /// Returns the travel that remains, in voxels. At most 0 if the evaluation is due.
    fn remaining(self, travelled: f64) -> f64 {
        self.at_voxels - travelled
    }

    const fn is_now(self) -> bool {
        self.at_voxels <= 0.0
    }
}

/// Total length of the camera's path, in voxels of level 0.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CameraTravel {
    last: [f64; 3],
    voxels: f64,
}

impl CameraTravel {
    fn advance(&mut self, position: [f64; 3]) {
        let moved: f64 = (0..3).map(|axis| (position[axis] - self.last[axis]).powi(2)).sum();
        if moved.is_finite() {
            (self.last, self.voxels) = (position, self.voxels + moved.sqrt());
        }
    }
}

/// Everything except the camera's position that decides the level of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fineness {
    scale: PixelScale,
    max_voxel_pixels: f64,
    /// Nodes are merged below this length.
    min_voxel_pixels: f64,
}

/// Distances at which nodes are split and merged, by level. They avoid a division for each node.
struct Reaches {
    /// Nodes closer than this are split.
    split: [f64; LEVELS],
    /// Nodes farther away than this are merged.
    merge: [f64; LEVELS],
    /// Whether the projection is parallel. The distance then does not matter.
    is_parallel: bool,
}

const LEVELS: usize = NodePos::MAX_LEVEL as usize + 1;

impl Fineness {
    fn of(camera: &LodCamera, config: &LodConfig) -> Self {
        let max_voxel_pixels = config.max_voxel_pixels;
        let min_voxel_pixels = max_voxel_pixels * config.hysteresis;
        Self { scale: camera.scale, max_voxel_pixels, min_voxel_pixels }
    }

    fn reaches(&self) -> Reaches {
        let within = |pixels: f64| {
            std::array::from_fn(|level| {
                let units = f64::from(1u32 << level);
                match self.scale {
                    PixelScale::Perspective(scale) => units * scale / pixels,
                    PixelScale::Parallel(scale) if units * scale > pixels => f64::INFINITY,
                    PixelScale::Parallel(_) => 0.0,
                }
            })
        };
        let is_parallel = matches!(self.scale, PixelScale::Parallel(_));
        let (split, merge) = (within(self.max_voxel_pixels), within(self.min_voxel_pixels));
        Reaches { split, merge, is_parallel }
    }
}

impl Reaches {
    /// Returns the travel after which the camera can cross `reach`, from `distance`.
    fn travel_to(&self, distance: f64, reach: f64) -> f64 {
        if self.is_parallel { f64::INFINITY } else { (distance - reach).abs() }
    }
}

impl LodTree {
    /// Collects the possible changes, and requests the missing meshes for the others.
    pub(super) fn evaluate_all(&mut self, camera: &LodCamera) {
        let fineness = Fineness::of(camera, &self.config);
        self.travel.advance(camera.position);
        if self.fineness != Some(fineness) {
            self.fineness = Some(fineness);
            for entry in self.table.iter_mut() {
                if let State::Split { next_evaluation, .. } = &mut entry.state {
                    *next_evaluation = NextEvaluation::NOW;
                }
            }
        }
        let reaches = fineness.reaches();
        for i in 0..self.roots.len() {
            let root = self.roots[i];
            let entry = self.table.get(root).copied();
            self.evaluate(root, entry, camera, &reaches);
        }
    }

    /// Evaluates a node and its subtree. Returns the distance that the camera can travel before the
    /// result changes, or 0 if a change is already pending.
    fn evaluate(
        &mut self,
        node: NodePos,
        entry: Option<NodeEntry>,
        camera: &LodCamera,
        reaches: &Reaches,
    ) -> f64 {
        let Some(entry) = entry else {
            self.propose_show(node, camera);
            return 0.0;
        };
        match entry.state {
            State::Shown { is_final: true, .. } => f64::INFINITY,
            State::Shown { ready, .. } => {
                let (distance, split) =
                    (camera.distance(node), reaches.split[usize::from(node.level)]);
                if distance >= split {
                    return reaches.travel_to(distance, split);
                }
                self.propose_split(node, entry.children, ready, camera);
                0.0
            }
            State::Split { next_evaluation, .. } => {
                let left = next_evaluation.remaining(self.travel.voxels);
                if left > 0.0 {
                    return left;
                }
                let reach = self.evaluate_below(node, entry, camera, reaches);
                let now = NextEvaluation::after(self.travel.voxels, reach);
                if let Some(NodeEntry { state: State::Split { next_evaluation, .. }, .. }) =
                    self.table.get_mut(node)
                {
                    *next_evaluation = now;
                }
                reach
            }
        }
    }

    /// Evaluates a split node and its subtree. Returns the distance that the camera can travel
    /// before the result changes.
    fn evaluate_below(
        &mut self,
        node: NodePos,
        entry: NodeEntry,
        camera: &LodCamera,
        reaches: &Reaches,
    ) -> f64 {
        let NodeEntry { children, state: State::Split { shown, is_merge_refused, .. } } = entry
        else {
            return 0.0;
        };
        let (distance, merge) = (camera.distance(node), reaches.merge[usize::from(node.level)]);
        let is_fine = distance > merge || (reaches.is_parallel && merge == 0.0);
        if is_fine && shown <= MAX_MERGED {
            // All nodes below are fine enough, and the merge replaces those that are too fine.
            self.propose_merge(node, shown, camera);
            if !is_merge_refused {
                return 0.0;
            }
        }
        let mut reach = if is_fine { 0.0 } else { reaches.travel_to(distance, merge) };
        let Some(below) = node.children() else { return reach };
        let entries = self.table.below(node);
        for (i, (child, entry)) in below.into_iter().zip(entries).enumerate() {
            if children >> i & 1 == 1 {
                reach = reach.min(self.evaluate(child, entry, camera, reaches));
            }
        }
        reach
    }

    /// Adds the split of a shown node that is too coarse, or requests the missing children.
    fn propose_split(&mut self, node: NodePos, children: u8, is_ready: u8, camera: &LodCamera) {
        let priority = priority(node, camera);
        let missing = children & !is_ready;
        // Nodes at the end of the coordinate range have no children.
        if self.is_held(node) {
            // Finished meshes are kept.
        } else if children != 0 && missing == 0 {
            self.changes.push(Change { node, kind: Kind::Split, priority });
        } else if children != 0 {
            self.requests.push(MeshRequest { node, missing, priority });
        }
        if is_ready != 0
            && let Some(NodeEntry { state: State::Shown { requested_frame, .. }, .. }) =
                self.table.get_mut(node)
        {
            *requested_frame = self.frame;
        }
    }

    /// Adds the merge of a split node that is finer than necessary, or requests its mesh.
    fn propose_merge(&mut self, node: NodePos, shown: u32, camera: &LodCamera) {
        let is_held = self.is_held(node);
        if let Some(Ready { requested_frame, .. }) = self.ready.get_mut(&node) {
            // A finished mesh is kept, even while an edit suspends the merge.
            *requested_frame = self.frame;
            let priority = priority(node, camera) * MERGE_WEIGHT;
            if !is_held {
                self.changes.push(Change { node, kind: Kind::Merge, priority });
            }
        } else if !is_held {
            // Merges that free more nodes come first.
            self.merge_requests.push(MeshRequest { node, missing: 0, priority: shown.into() });
        }
    }

    /// Adds a root that shows nothing, or requests its mesh.
    fn propose_show(&mut self, node: NodePos, camera: &LodCamera) {
        let priority = priority(node, camera);
        if let Some(Ready { requested_frame, .. }) = self.ready.get_mut(&node) {
            *requested_frame = self.frame;
            if !self.is_held(node) {
                self.changes.push(Change { node, kind: Kind::Show, priority });
            }
        } else {
            self.requests.push(MeshRequest { node, missing: 0, priority });
        }
    }

    /// Returns the changes and requests, and the number of nodes whose subtree was skipped. With
    /// `everywhere`, no subtree is skipped.
    #[cfg(test)]
    pub(in crate::lod) fn found(
        &mut self,
        camera: &LodCamera,
        everywhere: bool,
    ) -> (Vec<String>, usize) {
        let before = (self.table.clone(), self.fineness, self.travel);
        if everywhere {
            self.fineness = None;
        }
        self.requests.clear();
        self.merge_requests.clear();
        self.evaluate_all(camera);
        let travelled = self.travel.voxels;
        let is_skipped = |entry: &&NodeEntry| matches!(entry.state, State::Split { next_evaluation, .. } if next_evaluation.remaining(travelled) > 0.0);
        let skipped = if everywhere { 0 } else { self.table.iter().filter(is_skipped).count() };
        let requests = self.requests.drain(..).chain(self.merge_requests.drain(..));
        let requests = requests
            .flat_map(|request| request.nodes().map(move |it| (request.priority, it, None)));
        let changes = self.changes.drain(..).map(|it| (it.priority, it.node, Some(it.kind)));
        let mut found: Vec<String> = requests.chain(changes).map(|it| format!("{it:?}")).collect();
        found.sort_unstable();
        (self.table, self.fineness, self.travel) = before;
        (found, skipped)
    }

    /// Marks all ancestors for evaluation, because another node or mesh is shown here.
    pub(super) fn invalidate_ancestors(&mut self, node: NodePos) {
        let mut node = node;
        while node.level < self.data.top_level() {
            node = node.parent();
            let Some(NodeEntry { state: State::Split { next_evaluation, .. }, .. }) =
                self.table.get_mut(node)
            else {
                continue;
            };
            if next_evaluation.is_now() {
                // All nodes above it are marked already.
                return;
            }
            *next_evaluation = NextEvaluation::NOW;
        }
    }
}

/// Returns the nodes whose bits are set.
pub(super) fn nodes_with_bits(
    nodes: Option<[NodePos; 8]>,
    bits: u8,
) -> impl Iterator<Item = NodePos> {
    let has_bit = move |&(i, _): &(usize, NodePos)| bits >> i & 1 == 1;
    nodes.into_iter().flatten().enumerate().filter(has_bit).map(|(_, node)| node)
}

/// Priority of a node: the length of its voxels in pixels, reduced outside the picture. If the
/// camera is inside the node, larger nodes have priority.
pub(in crate::lod) fn priority(node: NodePos, camera: &LodCamera) -> f64 {
    let pixels = camera.voxel_pixels(node).min(1e9 * f64::from(node.voxel_units()));
    if camera.may_see(node) { pixels } else { pixels * OUT_OF_VIEW_WEIGHT }
}
