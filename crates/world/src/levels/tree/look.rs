use super::changes::{Change, Kind};
use super::{LevelTree, Ready, Want};
use crate::NodePos;
use crate::levels::{Eye, LevelConfig, PixelScale};

/// Of meshes that only save work, how much less they are wanted than those that show more.
const MERGE_URGENCY: f64 = 0.5;
/// The same of what lies beside the picture.
const UNSEEN_URGENCY: f64 = 0.2;
/// Voxels of level 0, much longer than what distances are rounded by.
const ROUNDING: f64 = 1e-3;

/// How far the eye can go before anything below a node could have to change: nobody need look
/// there until then.
///
/// Every node changes at a distance of its own. No distance grows by more than the eye moves,
/// so what is farthest from changing below a node is told by the nearest to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calm {
    /// Where the eye was.
    position: [f64; 3],
    /// Voxels of level 0; none where something is to be done.
    reach: f64,
}

impl Calm {
    pub(super) const NONE: Self = Self { position: [0.0; 3], reach: 0.0 };

    /// What is left of it.
    fn left(&self, eye: &Eye) -> f64 {
        if self.reach <= 0.0 {
            return 0.0;
        }
        let moved = (0..3).map(|axis| (eye.position[axis] - self.position[axis]).powi(2));
        self.reach - moved.sum::<f64>().sqrt() - ROUNDING
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
        if self.fineness != Some(fineness) {
            self.fineness = Some(fineness);
            self.split.values_mut().for_each(|calm| *calm = Calm::NONE);
        }
        for i in 0..self.roots.len() {
            self.look(self.roots[i], eye, &fineness);
        }
    }

    /// The same at a node and below it. Returns how far the eye can go before anything changes
    /// there; nothing where something is to be done.
    fn look(&mut self, node: NodePos, eye: &Eye, fineness: &Fineness) -> f64 {
        if let Some(shown) = self.shown.get(&node) {
            if node.level == 0 || shown.mesh.is_air {
                return f64::INFINITY;
            }
            if eye.voxel_pixels(node) <= fineness.max_voxel_pixels {
                let nearest = fineness.distance(node, fineness.max_voxel_pixels);
                return nearest.map_or(f64::INFINITY, |nearest| eye.distance(node) - nearest);
            }
            if !self.is_held(node) {
                self.look_at_split(node, eye);
            }
            return 0.0;
        }
        let Some(calm) = self.split.get(&node) else {
            let priority = priority(node, eye);
            if self.is_ready(node, priority) && !self.is_held(node) {
                self.changes.push(Change { node, kind: Kind::Show, priority });
            }
            return 0.0;
        };
        let left = calm.left(eye);
        if left > 0.0 {
            return left;
        }
        let reach = self.look_below(node, eye, fineness);
        if let Some(calm) = self.split.get_mut(&node) {
            *calm = Calm { position: eye.position, reach };
        }
        reach
    }

    /// The same at a node that is split.
    fn look_below(&mut self, node: NodePos, eye: &Eye, fineness: &Fineness) -> f64 {
        let is_fine = eye.voxel_pixels(node) < fineness.min_voxel_pixels;
        if is_fine && !self.is_held(node) {
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
        for child in self.data.children(node) {
            reach = reach.min(self.look(child, eye, fineness));
        }
        reach
    }

    fn look_at_split(&mut self, node: NodePos, eye: &Eye) {
        let priority = priority(node, eye);
        let (mut all, mut any) = (true, false);
        for child in self.data.children(node) {
            all &= self.is_ready(child, priority);
            any = true;
        }
        // At the end of the numbers there are no children.
        if all && any {
            self.changes.push(Change { node, kind: Kind::Split, priority });
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
                self.wanted.push(Want { node, priority });
                false
            }
        }
    }

    /// What was found, and of how many nodes nobody looked below; as it is, or where every node
    /// is looked at.
    #[cfg(test)]
    pub(in crate::levels) fn found(&mut self, eye: &Eye, everywhere: bool) -> (Vec<String>, usize) {
        let (before, fineness) = (self.split.clone(), self.fineness);
        if everywhere {
            self.fineness = None;
        }
        self.wanted.clear();
        self.look_at_all(eye);
        let calm = self.split.values().filter(|calm| !everywhere && calm.left(eye) > 0.0).count();
        let wants = self.wanted.drain(..).map(|want| (want.priority, want.node, None));
        let changes = self.changes.drain(..).map(|it| (it.priority, it.node, Some(it.kind)));
        let mut found: Vec<String> = wants.chain(changes).map(|it| format!("{it:?}")).collect();
        found.sort_unstable();
        (self.split, self.fineness) = (before, fineness);
        (found, calm)
    }

    /// Another node is shown here, or another mesh: all above it are to be looked at.
    pub(super) fn disturb(&mut self, node: NodePos) {
        let mut node = node;
        while node.level < self.data.top_level() {
            node = node.parent();
            match self.split.get_mut(&node) {
                // Then there is none above it either.
                Some(calm) if calm.reach <= 0.0 => return,
                Some(calm) => *calm = Calm::NONE,
                None => {}
            }
        }
    }
}

/// How much a node is wanted: by the pixels that its voxels take, less out of view. Where the
/// eye is inside, the larger node first.
pub(in crate::levels) fn priority(node: NodePos, eye: &Eye) -> f64 {
    let pixels = eye.voxel_pixels(node).min(1e9 * f64::from(node.voxel_units()));
    if eye.may_see(node) { pixels } else { pixels * UNSEEN_URGENCY }
}
