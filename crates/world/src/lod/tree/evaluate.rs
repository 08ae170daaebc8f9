use super::changes::{Change, Kind};
use super::node_table::{NodeEntry, State};
use super::{LodTree, MeshRequest, Ready};
use crate::NodePos;
use crate::lod::{LodCamera, LodConfig, PixelScale};

/// Of meshes that only save work, how much less they are wanted than those that show more.
const MERGE_WEIGHT: f64 = 0.5;
/// The same of what lies beside the picture.
const OUT_OF_VIEW_WEIGHT: f64 = 0.2;
/// A node with more nodes shown below it is not merged at once: first those below it are, so
/// that no frame takes away very many meshes.
const MAX_MERGED: u32 = 128;
/// Voxels of level 0, much longer than what distances and ways are rounded by.
const ROUNDING: f64 = 1e-2;

/// How far the eye has to have gone, all ways together, before anything below a node could
/// have to change: nobody need look there until then.
///
/// Every node changes at a distance of its own. No distance grows by more than the eye moves,
/// so what is farthest from changing below a node is told by the nearest to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct NextEvaluation {
    at_voxels: f64,
}

impl NextEvaluation {
    /// Something is to be done.
    pub(super) const NOW: Self = Self { at_voxels: 0.0 };

    /// Nothing is to be done before the eye, that has gone `gone` voxels, goes `reach` more.
    fn after(travelled: f64, reach: f64) -> Self {
        Self { at_voxels: if reach > ROUNDING { travelled + reach - ROUNDING } else { 0.0 } }
    }

    /// What is left of it.
    fn remaining(self, travelled: f64) -> f64 {
        self.at_voxels - travelled
    }

    const fn is_now(self) -> bool {
        self.at_voxels <= 0.0
    }
}

/// How far the eye has gone, in voxels of level 0.
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

/// What besides the eye's place decides how fine a node must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fineness {
    scale: PixelScale,
    max_voxel_pixels: f64,
    /// Below it nodes are merged.
    min_voxel_pixels: f64,
}

/// The same as distances, by level: no node needs a division to be compared.
struct Reaches {
    /// A node nearer than this is split.
    split: [f64; LEVELS],
    /// And merged beyond this.
    merge: [f64; LEVELS],
    /// Whether it is so at any distance, since all rays are parallel.
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
    /// How far the eye can go before it comes nearer than `reach`, or farther.
    fn travel_to(&self, distance: f64, reach: f64) -> f64 {
        if self.is_parallel { f64::INFINITY } else { (distance - reach).abs() }
    }
}

impl LodTree {
    /// Finds what can be done, and what is missing for that.
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

    /// The same at a node and below it. Returns how far the eye can go before anything changes
    /// there; nothing where something is to be done.
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

    /// Finds what can be done at a node that is split, and below it. Returns the distance that
    /// the camera can travel before that changes.
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
            // Nothing below it is too coarse, and what is too fine goes with it.
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

    /// The same at a node that is shown and too coarse.
    fn propose_split(&mut self, node: NodePos, children: u8, is_ready: u8, camera: &LodCamera) {
        let priority = priority(node, camera);
        let missing = children & !is_ready;
        // At the end of the numbers there are no children.
        if self.is_held(node) {
            // What is ready stays so.
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

    /// The same at a node that is split and finer than it need be.
    fn propose_merge(&mut self, node: NodePos, shown: u32, camera: &LodCamera) {
        let is_held = self.is_held(node);
        if let Some(Ready { requested_frame, .. }) = self.ready.get_mut(&node) {
            // What is ready stays so, also where it may not be shown yet.
            *requested_frame = self.frame;
            let priority = priority(node, camera) * MERGE_WEIGHT;
            if !is_held {
                self.changes.push(Change { node, kind: Kind::Merge, priority });
            }
        } else if !is_held {
            // What frees most comes first.
            self.merge_requests.push(MeshRequest { node, missing: 0, priority: shown.into() });
        }
    }

    /// The same at a place where nothing is shown.
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

    /// What was found, and of how many nodes nobody looked below; as it is, or where every node
    /// is looked at.
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

    /// Another node is shown here, or another mesh: all above it are to be looked at.
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
                // Then there is none above it either.
                return;
            }
            *next_evaluation = NextEvaluation::NOW;
        }
    }
}

/// Those nodes that have their bits.
pub(super) fn nodes_with_bits(
    nodes: Option<[NodePos; 8]>,
    bits: u8,
) -> impl Iterator<Item = NodePos> {
    let has_bit = move |&(i, _): &(usize, NodePos)| bits >> i & 1 == 1;
    nodes.into_iter().flatten().enumerate().filter(has_bit).map(|(_, node)| node)
}

/// How much a node is wanted: by the pixels that its voxels take, less out of view. Where the
/// eye is inside, the larger node first.
pub(in crate::lod) fn priority(node: NodePos, camera: &LodCamera) -> f64 {
    let pixels = camera.voxel_pixels(node).min(1e9 * f64::from(node.voxel_units()));
    if camera.may_see(node) { pixels } else { pixels * OUT_OF_VIEW_WEIGHT }
}
