use super::changes::{Change, Kind};
use super::places::{Place, State};
use super::{LodTree, Ready, Want};
use crate::NodePos;
use crate::lod::{LodCamera, LodConfig, PixelScale};

/// Of meshes that only save work, how much less they are wanted than those that show more.
const MERGE_URGENCY: f64 = 0.5;
/// The same of what lies beside the picture.
const UNSEEN_URGENCY: f64 = 0.2;
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
    fn of(eye: &LodCamera, config: &LodConfig) -> Self {
        let max_voxel_pixels = config.max_voxel_pixels;
        let min_voxel_pixels = max_voxel_pixels * config.hysteresis;
        Self { scale: eye.scale, max_voxel_pixels, min_voxel_pixels }
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
    fn left(&self, distance: f64, reach: f64) -> f64 {
        if self.is_parallel { f64::INFINITY } else { (distance - reach).abs() }
    }
}

impl LodTree {
    /// Finds what can be done, and what is missing for that.
    pub(super) fn look_at_all(&mut self, eye: &LodCamera) {
        let fineness = Fineness::of(eye, &self.config);
        self.way.go(eye.position);
        if self.fineness != Some(fineness) {
            self.fineness = Some(fineness);
            for place in self.places.iter_mut() {
                if let State::Split { calm, .. } = &mut place.state {
                    *calm = Calm::NONE;
                }
            }
        }
        let reaches = fineness.reaches();
        for i in 0..self.roots.len() {
            let root = self.roots[i];
            let place = self.places.get(root).copied();
            self.look(root, place, eye, &reaches);
        }
    }

    /// The same at a node and below it. Returns how far the eye can go before anything changes
    /// there; nothing where something is to be done.
    fn look(
        &mut self,
        node: NodePos,
        place: Option<Place>,
        eye: &LodCamera,
        reaches: &Reaches,
    ) -> f64 {
        let Some(place) = place else {
            self.look_at_nothing(node, eye);
            return 0.0;
        };
        match place.state {
            State::Shown { is_final: true, .. } => f64::INFINITY,
            State::Shown { ready, .. } => {
                let (distance, split) =
                    (eye.distance(node), reaches.split[usize::from(node.level)]);
                if distance >= split {
                    return reaches.left(distance, split);
                }
                self.look_at_split(node, place.children, ready, eye);
                0.0
            }
            State::Split { calm, .. } => {
                let left = calm.left(self.way.voxels);
                if left > 0.0 {
                    return left;
                }
                let reach = self.look_below(node, place, eye, reaches);
                let now = Calm::new(self.way.voxels, reach);
                if let Some(Place { state: State::Split { calm, .. }, .. }) =
                    self.places.get_mut(node)
                {
                    *calm = now;
                }
                reach
            }
        }
    }

    /// Finds what can be done at a node that is split, and below it. Returns the distance that
    /// the camera can travel before that changes.
    fn look_below(
        &mut self,
        node: NodePos,
        place: Place,
        eye: &LodCamera,
        reaches: &Reaches,
    ) -> f64 {
        let Place { children, state: State::Split { shown, is_merge_refused, .. } } = place else {
            return 0.0;
        };
        let (distance, merge) = (eye.distance(node), reaches.merge[usize::from(node.level)]);
        let is_fine = distance > merge || (reaches.is_parallel && merge == 0.0);
        if is_fine && shown <= MAX_MERGED {
            // Nothing below it is too coarse, and what is too fine goes with it.
            self.look_at_merge(node, shown, eye);
            if !is_merge_refused {
                return 0.0;
            }
        }
        let mut reach = if is_fine { 0.0 } else { reaches.left(distance, merge) };
        let Some(below) = node.children() else { return reach };
        let places = self.places.below(node);
        for (i, (child, place)) in below.into_iter().zip(places).enumerate() {
            if children >> i & 1 == 1 {
                reach = reach.min(self.look(child, place, eye, reaches));
            }
        }
        reach
    }

    /// The same at a node that is shown and too coarse.
    fn look_at_split(&mut self, node: NodePos, children: u8, is_ready: u8, eye: &LodCamera) {
        let priority = priority(node, eye);
        let missing = children & !is_ready;
        // At the end of the numbers there are no children.
        if self.is_held(node) {
            // What is ready stays so.
        } else if children != 0 && missing == 0 {
            self.changes.push(Change { node, kind: Kind::Split, priority });
        } else if children != 0 {
            self.wanted.push(Want { node, missing, priority });
        }
        if is_ready != 0
            && let Some(Place { state: State::Shown { wanted_frame, .. }, .. }) =
                self.places.get_mut(node)
        {
            *wanted_frame = self.frame;
        }
    }

    /// The same at a node that is split and finer than it need be.
    fn look_at_merge(&mut self, node: NodePos, shown: u32, eye: &LodCamera) {
        let is_held = self.is_held(node);
        if let Some(Ready { wanted_frame, .. }) = self.ready.get_mut(&node) {
            // What is ready stays so, also where it may not be shown yet.
            *wanted_frame = self.frame;
            let priority = priority(node, eye) * MERGE_URGENCY;
            if !is_held {
                self.changes.push(Change { node, kind: Kind::Merge, priority });
            }
        } else if !is_held {
            // What frees most comes first.
            self.wanted_merges.push(Want { node, missing: 0, priority: shown.into() });
        }
    }

    /// The same at a place where nothing is shown.
    fn look_at_nothing(&mut self, node: NodePos, eye: &LodCamera) {
        let priority = priority(node, eye);
        if let Some(Ready { wanted_frame, .. }) = self.ready.get_mut(&node) {
            *wanted_frame = self.frame;
            if !self.is_held(node) {
                self.changes.push(Change { node, kind: Kind::Show, priority });
            }
        } else {
            self.wanted.push(Want { node, missing: 0, priority });
        }
    }

    /// What was found, and of how many nodes nobody looked below; as it is, or where every node
    /// is looked at.
    #[cfg(test)]
    pub(in crate::lod) fn found(
        &mut self,
        eye: &LodCamera,
        everywhere: bool,
    ) -> (Vec<String>, usize) {
        let before = (self.places.clone(), self.fineness, self.way);
        if everywhere {
            self.fineness = None;
        }
        self.wanted.clear();
        self.wanted_merges.clear();
        self.look_at_all(eye);
        let gone = self.way.voxels;
        let is_calm = |place: &&Place| matches!(place.state, State::Split { calm, .. } if calm.left(gone) > 0.0);
        let calm = if everywhere { 0 } else { self.places.iter().filter(is_calm).count() };
        let wants = self.wanted.drain(..).chain(self.wanted_merges.drain(..));
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
            let Some(Place { state: State::Split { calm, .. }, .. }) = self.places.get_mut(node)
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
pub(in crate::lod) fn priority(node: NodePos, eye: &LodCamera) -> f64 {
    let pixels = eye.voxel_pixels(node).min(1e9 * f64::from(node.voxel_units()));
    if eye.may_see(node) { pixels } else { pixels * UNSEEN_URGENCY }
}
