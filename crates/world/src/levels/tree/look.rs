use super::changes::{Change, Kind};
use super::places::{Place, State};
use super::{LevelTree, Ready, Want};
use crate::NodePos;
use crate::levels::{Eye, LevelConfig, PixelScale};

/// Of meshes that only save work, how much less they are wanted than those that show more.
const MERGE_URGENCY: f64 = 0.5;
/// The same of what lies beside the picture.
const UNSEEN_URGENCY: f64 = 0.2;
/// A node with more nodes shown below it is not merged at once: first those below it are, so
/// that no frame takes away very many meshes.
const MOST_MERGED: u32 = 128;
/// Voxels of level 0, much longer than what distances and ways are rounded by.
const ROUNDING: f64 = 1e-2;

/// How far the eye has to have gone, all ways together, before anything below a node could
/// have to change: nobody need look there until then.
///
/// Every node changes at a distance of its own. No distance grows by more than the eye moves,
/// so what is farthest from changing below a node is told by the nearest to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calm {
    until_voxels: f64,
}

impl Calm {
    /// Something is to be done.
    pub(super) const NONE: Self = Self { until_voxels: 0.0 };

    /// Nothing is to be done before the eye, that has gone `gone` voxels, goes `reach` more.
    fn new(gone: f64, reach: f64) -> Self {
        Self { until_voxels: if reach > ROUNDING { gone + reach - ROUNDING } else { 0.0 } }
    }

    /// What is left of it.
    fn left(self, gone: f64) -> f64 {
        self.until_voxels - gone
    }

    const fn is_none(self) -> bool {
        self.until_voxels <= 0.0
    }
}

/// How far the eye has gone, in voxels of level 0.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Way {
    last: [f64; 3],
    voxels: f64,
}

impl Way {
    fn go(&mut self, position: [f64; 3]) {
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

impl Fineness {
    fn of(eye: &Eye, config: &LevelConfig) -> Self {
        let max_voxel_pixels = config.max_voxel_pixels;
        let min_voxel_pixels = max_voxel_pixels * config.hysteresis;
        Self { scale: eye.scale, max_voxel_pixels, min_voxel_pixels }
    }

    /// The distance at which the voxels of `node` are so many pixels long; none where they are
    /// as long everywhere.
    fn distance(&self, node: NodePos, pixels: f64) -> Option<f64> {
        match self.scale {
            PixelScale::Perspective(scale) => Some(f64::from(node.voxel_units()) * scale / pixels),
            PixelScale::Parallel(_) => None,
        }
    }
}

impl LevelTree {
    /// Finds what can be done, and what is missing for that.
    pub(super) fn look_at_all(&mut self, eye: &Eye) {
        let fineness = Fineness::of(eye, &self.config);
        self.way.go(eye.position);
        if self.fineness != Some(fineness) {
            self.fineness = Some(fineness);
            for place in self.places.values_mut() {
                if let State::Split { calm, .. } = &mut place.state {
                    *calm = Calm::NONE;
                }
            }
        }
        for i in 0..self.roots.len() {
            self.look(self.roots[i], eye, &fineness);
        }
    }

    /// The same at a node and below it. Returns how far the eye can go before anything changes
    /// there; nothing where something is to be done.
    fn look(&mut self, node: NodePos, eye: &Eye, fineness: &Fineness) -> f64 {
        let Some(&Place { children, state }) = self.places.get(&node) else {
            let priority = priority(node, eye);
            if self.is_ready(node, priority) && !self.is_held(node) {
                self.changes.push(Change { node, kind: Kind::Show, priority });
            }
            return 0.0;
        };
        match state {
            State::Shown { is_final: true, .. } => f64::INFINITY,
            State::Shown { ready, .. } => {
                if eye.voxel_pixels(node) <= fineness.max_voxel_pixels {
                    let nearest = fineness.distance(node, fineness.max_voxel_pixels);
                    return nearest.map_or(f64::INFINITY, |nearest| eye.distance(node) - nearest);
                }
                if !self.is_held(node) {
                    self.look_at_split(node, children, ready, eye);
                }
                0.0
            }
            State::Split { calm, shown } => {
                let left = calm.left(self.way.voxels);
                if left > 0.0 {
                    return left;
                }
                let reach = self.look_below(node, children, shown, eye, fineness);
                let now = Calm::new(self.way.voxels, reach);
                if let Some(Place { state: State::Split { calm, .. }, .. }) =
                    self.places.get_mut(&node)
                {
                    *calm = now;
                }
                reach
            }
        }
    }

    /// The same at a node that is split, and that has `shown` nodes below it.
    fn look_below(
        &mut self,
        node: NodePos,
        children: u8,
        shown: u32,
        eye: &Eye,
        fineness: &Fineness,
    ) -> f64 {
        let is_fine = eye.voxel_pixels(node) < fineness.min_voxel_pixels;
        if is_fine && shown <= MOST_MERGED && !self.is_held(node) {
            let priority = priority(node, eye) * MERGE_URGENCY;
            if self.is_ready(node, priority) {
                self.changes.push(Change { node, kind: Kind::Merge, priority });
                return 0.0;
            }
        }
        let farthest = fineness.distance(node, fineness.min_voxel_pixels);
        let mut reach = match farthest {
            _ if is_fine => 0.0,
            Some(farthest) => farthest - eye.distance(node),
            None => f64::INFINITY,
        };
        for child in some_of(node.children(), children) {
            reach = reach.min(self.look(child, eye, fineness));
        }
        reach
    }

    /// The same at a node that is shown and too coarse.
    fn look_at_split(&mut self, node: NodePos, children: u8, is_ready: u8, eye: &Eye) {
        let priority = priority(node, eye);
        let missing = children & !is_ready;
        // At the end of the numbers there are no children.
        if children != 0 && missing == 0 {
            self.changes.push(Change { node, kind: Kind::Split, priority });
        } else if children != 0 {
            self.wanted.push(Want { node, missing, priority });
        }
        if is_ready != 0
            && let Some(Place { state: State::Shown { wanted_frame, .. }, .. }) =
                self.places.get_mut(&node)
        {
            *wanted_frame = self.frame;
        }
    }

    /// Whether a node's mesh is there; if not, it is wanted.
    fn is_ready(&mut self, node: NodePos, priority: f64) -> bool {
        match self.ready.get_mut(&node) {
            Some(Ready { wanted_frame, .. }) => {
                *wanted_frame = self.frame;
                true
            }
            None => {
                self.wanted.push(Want { node, missing: 0, priority });
                false
            }
        }
    }

    /// What was found, and of how many nodes nobody looked below; as it is, or where every node
    /// is looked at.
    #[cfg(test)]
    pub(in crate::levels) fn found(&mut self, eye: &Eye, everywhere: bool) -> (Vec<String>, usize) {
        let before = (self.places.clone(), self.fineness, self.way);
        if everywhere {
            self.fineness = None;
        }
        self.wanted.clear();
        self.look_at_all(eye);
        let gone = self.way.voxels;
        let is_calm = |place: &&Place| matches!(place.state, State::Split { calm, .. } if calm.left(gone) > 0.0);
        let calm = if everywhere { 0 } else { self.places.values().filter(is_calm).count() };
        let wants = self.wanted.drain(..);
        let wants = wants.flat_map(|want| want.nodes().map(move |it| (want.priority, it, None)));
        let changes = self.changes.drain(..).map(|it| (it.priority, it.node, Some(it.kind)));
        let mut found: Vec<String> = wants.chain(changes).map(|it| format!("{it:?}")).collect();
        found.sort_unstable();
        (self.places, self.fineness, self.way) = before;
        (found, calm)
    }

    /// Another node is shown here, or another mesh: all above it are to be looked at.
    pub(super) fn disturb(&mut self, node: NodePos) {
        let mut node = node;
        while node.level < self.data.top_level() {
            node = node.parent();
            let Some(Place { state: State::Split { calm, .. }, .. }) = self.places.get_mut(&node)
            else {
                continue;
            };
            if calm.is_none() {
                // Then there is none above it either.
                return;
            }
            *calm = Calm::NONE;
        }
    }
}

/// Those nodes that have their bits.
pub(super) fn some_of(nodes: Option<[NodePos; 8]>, bits: u8) -> impl Iterator<Item = NodePos> {
    let has_bit = move |&(i, _): &(usize, NodePos)| bits >> i & 1 == 1;
    nodes.into_iter().flatten().enumerate().filter(has_bit).map(|(_, node)| node)
}

/// How much a node is wanted: by the pixels that its voxels take, less out of view. Where the
/// eye is inside, the larger node first.
pub(in crate::levels) fn priority(node: NodePos, eye: &Eye) -> f64 {
    let pixels = eye.voxel_pixels(node).min(1e9 * f64::from(node.voxel_units()));
    if eye.may_see(node) { pixels } else { pixels * UNSEEN_URGENCY }
}
