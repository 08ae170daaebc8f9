use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use drystone_mesh::{Face, FaceSet, QuadBuffer};
use drystone_voxel::ChunkMesh;

use super::workers::Workers;
use super::{Eye, LevelConfig, LevelData, NodeMesh};
use crate::{NodePos, WorldError};

mod counts;
mod edit;
mod walls;
mod wants;

pub use counts::LevelCount;

/// Where meshes of nodes are shown: a renderer, or a test that looks at what is shown.
pub trait NodeSink {
    /// Why something cannot be shown.
    type Error;

    /// Shows `mesh` as the body of `node`, in place of the one that it has; `None` takes
    /// that away.
    ///
    /// # Errors
    /// When there is no room: what was shown is still shown then.
    fn set_body(&mut self, node: NodePos, mesh: Option<&ChunkMesh>) -> Result<(), Self::Error>;

    /// The same of the wall of `node` that looks along `face`.
    ///
    /// # Errors
    /// As [`set_body`](Self::set_body).
    fn set_wall(
        &mut self,
        node: NodePos,
        face: Face,
        wall: Option<&QuadBuffer>,
    ) -> Result<(), Self::Error>;
}

/// Shows a world of any size, near parts fine and far ones coarse.
///
/// The nodes that are shown cover the world, each place once. A node is replaced by its eight
/// children when its voxels seem too large, all at once and only when all eight meshes are
/// there; and they by it when its voxels would seem small. Meanwhile what is shown stays.
///
/// ```text
///  update(eye): results in ─► visit from the roots ─┬► split, merge within the budget ─► sink
///                                                   ├► walls where levels meet ────────► sink
///                                                   └► what is missing, most wanted last ─► threads
/// ```
///
/// # Cost
/// [`update`](Self::update) is O(nodes shown) and takes at most about the budget's time;
/// meshes are made elsewhere.
pub struct LevelTree {
    data: Arc<LevelData>,
    config: LevelConfig,
    workers: Workers,
    roots: Vec<NodePos>,
    shown: HashMap<NodePos, Shown>,
    /// Nodes whose place is covered by nodes below them.
    split: HashSet<NodePos>,
    ready: HashMap<NodePos, Ready>,
    ready_bytes: usize,
    /// How often a node was edited; those never edited are not here.
    revisions: HashMap<NodePos, u32>,
    /// Nodes that came or went in this update, whose borders are to be looked at.
    touched: Vec<NodePos>,
    wanted: Vec<Want>,
    frame: u64,
    /// Whether the sink refused something in the last update.
    was_refused: bool,
    spent: Spent,
}

/// A node that is shown. Its body is the sink's; its walls are kept, to be shown when a
/// neighbour changes its level.
struct Shown {
    mesh: NodeMesh,
    quads: u32,
    walls: FaceSet,
}

/// A mesh that waits to be shown.
struct Ready {
    mesh: NodeMesh,
    bytes: usize,
    wanted_frame: u64,
}

struct Want {
    node: NodePos,
    priority: f64,
}

/// What this update did so far, and what it left for the next.
struct Spent {
    start: Instant,
    bytes: usize,
    has_more: bool,
}

/// Of meshes that only save work, how much less they are wanted than those that show more.
const MERGE_URGENCY: f64 = 0.5;
/// The same of what lies beside the picture.
const UNSEEN_URGENCY: f64 = 0.2;

impl LevelTree {
    /// Shows nothing yet.
    ///
    /// # Errors
    /// [`WorldError::NoThreads`] when the system has none.
    pub fn new(data: Arc<LevelData>, config: LevelConfig) -> Result<Self, WorldError> {
        Ok(Self {
            roots: data.roots(),
            workers: Workers::new(Arc::clone(&data), config.threads)?,
            data,
            config,
            shown: HashMap::new(),
            split: HashSet::new(),
            ready: HashMap::new(),
            ready_bytes: 0,
            revisions: HashMap::new(),
            touched: Vec::new(),
            wanted: Vec::new(),
            frame: 0,
            was_refused: false,
            spent: Spent { start: Instant::now(), bytes: 0, has_more: false },
        })
    }

    /// The voxels.
    pub fn data(&self) -> &LevelData {
        &self.data
    }

    /// The same, to be shown by another tree.
    pub fn shared_data(&self) -> Arc<LevelData> {
        Arc::clone(&self.data)
    }

    /// How fine, how fast, with how much memory.
    pub const fn config(&self) -> &LevelConfig {
        &self.config
    }

    /// From now on another fineness and other budgets; threads and cache stay as they are.
    pub const fn set_config(&mut self, config: LevelConfig) {
        self.config = config;
    }

    /// Brings what is shown closer to what `eye` should see, within the budget.
    ///
    /// # Errors
    /// The sink's, for want of room as a rule. What was shown before the change that failed
    /// is shown still; the next update tries again.
    pub fn update<S: NodeSink>(&mut self, eye: &Eye, sink: &mut S) -> Result<(), S::Error> {
        self.frame += 1;
        self.spent = Spent { start: Instant::now(), bytes: 0, has_more: false };
        self.take_made();
        self.wanted.clear();
        let mut visited = Ok(());
        for i in 0..self.roots.len() {
            visited = visited.and(self.visit(self.roots[i], eye, sink));
        }
        let done = visited.and(self.close_borders(sink));
        self.was_refused = done.is_err();
        self.want();
        self.forget_unwanted();
        done
    }

    /// Whether there was nothing left to do or to wait for after the last update.
    pub fn is_settled(&self) -> bool {
        let is_idle = self.wanted.is_empty() && !self.spent.has_more && self.frame > 0;
        is_idle && !self.was_refused && self.touched.is_empty()
    }

    /// Waits until a mesh is made, or makes one where there are no threads; at most `time`.
    pub fn wait(&mut self, time: Duration) {
        if !self.workers.has_threads() {
            self.workers.work();
        } else if let Some(made) = self.workers.wait(time) {
            self.take(made);
        }
    }

    /// Every node that is shown, in no order.
    pub fn shown(&self) -> impl Iterator<Item = NodePos> {
        self.shown.keys().copied()
    }

    /// Bytes of meshes that wait to be shown.
    pub const fn waiting_bytes(&self) -> usize {
        self.ready_bytes
    }

    fn take_made(&mut self) {
        while let Some(made) = self.workers.made() {
            self.take(made);
        }
    }

    /// A mesh of a node that was edited meanwhile is of no use.
    fn take(&mut self, made: super::workers::Made) {
        if made.revision == self.revision(made.node) && !self.shown.contains_key(&made.node) {
            let bytes = made.mesh.size_bytes();
            self.ready_bytes += bytes;
            let ready = Ready { mesh: made.mesh, bytes, wanted_frame: self.frame };
            if let Some(old) = self.ready.insert(made.node, ready) {
                self.ready_bytes -= old.bytes;
            }
        }
    }

    fn revision(&self, node: NodePos) -> u32 {
        self.revisions.get(&node).copied().unwrap_or(0)
    }

    fn visit<S: NodeSink>(
        &mut self,
        node: NodePos,
        eye: &Eye,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        if let Some(shown) = self.shown.get(&node) {
            let pixels = eye.voxel_pixels(node);
            let is_coarse = pixels > self.config.max_voxel_pixels && node.level > 0;
            return if is_coarse && !shown.mesh.is_air {
                self.split(node, eye, sink)
            } else {
                Ok(())
            };
        }
        if !self.split.contains(&node) {
            let priority = priority(node, eye);
            if self.is_ready(node, priority) && self.has_budget() {
                self.show(node, sink)?;
            }
            return Ok(());
        }
        let few = self.config.max_voxel_pixels * self.config.hysteresis;
        if eye.voxel_pixels(node) < few && self.merge(node, eye, sink)? {
            return Ok(());
        }
        let mut visited = Ok(());
        for child in self.children(node) {
            visited = visited.and(self.visit(child, eye, sink));
        }
        visited
    }

    fn children(&self, node: NodePos) -> impl Iterator<Item = NodePos> + use<> {
        let data = Arc::clone(&self.data);
        node.children().into_iter().flatten().filter(move |&child| data.is_inside(child))
    }

    /// Whether a node's mesh is there; if not, it is wanted.
    fn is_ready(&mut self, node: NodePos, priority: f64) -> bool {
        match self.ready.get_mut(&node) {
            Some(ready) => {
                ready.wanted_frame = self.frame;
                true
            }
            None => {
                self.wanted.push(Want { node, priority });
                false
            }
        }
    }

    fn has_budget(&mut self) -> bool {
        let is_first = self.touched.is_empty();
        let is_left = self.spent.bytes < self.config.frame_bytes
            && self.spent.start.elapsed() < self.config.frame_time
            || is_first;
        self.spent.has_more |= !is_left;
        is_left
    }

    /// Puts the children in the node's place, if all are there.
    fn split<S: NodeSink>(
        &mut self,
        node: NodePos,
        eye: &Eye,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        let priority = priority(node, eye);
        let mut all = true;
        for child in self.children(node) {
            all &= self.is_ready(child, priority);
        }
        // At the end of the numbers there are no children.
        if !all || self.children(node).next().is_none() || !self.has_budget() {
            return Ok(());
        }
        for child in self.children(node) {
            if let Err(error) = self.show(child, sink) {
                let back = self.children(node).try_for_each(|back| self.hide(back, sink));
                return back.and(Err(error));
            }
        }
        self.split.insert(node);
        self.hide(node, sink)
    }

    /// Puts the node in the place of all below it, if its mesh is there.
    fn merge<S: NodeSink>(
        &mut self,
        node: NodePos,
        eye: &Eye,
        sink: &mut S,
    ) -> Result<bool, S::Error> {
        if !self.is_ready(node, priority(node, eye) * MERGE_URGENCY) || !self.has_budget() {
            return Ok(false);
        }
        // The old goes when the new is there; but where there is no room for both, at once
        // before it: nothing is drawn between.
        if self.show(node, sink).is_ok() {
            self.hide_below(node, sink)?;
        } else {
            self.hide_below(node, sink)?;
            self.show(node, sink)?;
        }
        Ok(true)
    }

    fn hide_below<S: NodeSink>(&mut self, node: NodePos, sink: &mut S) -> Result<(), S::Error> {
        let mut hidden = Ok(());
        let mut below = vec![node];
        while let Some(inner) = below.pop() {
            if self.split.remove(&inner) {
                for child in self.children(inner) {
                    hidden = hidden.and(self.hide(child, sink));
                    below.push(child);
                }
            }
        }
        hidden
    }

    /// Shows a mesh that is ready; it is ready still if that fails.
    fn show<S: NodeSink>(&mut self, node: NodePos, sink: &mut S) -> Result<(), S::Error> {
        let Some(ready) = self.ready.get(&node) else { return Ok(()) };
        sink.set_body(node, Some(&ready.mesh.body))?;
        self.touched.push(node);
        if let Some(Ready { mut mesh, bytes, .. }) = self.ready.remove(&node) {
            self.ready_bytes -= bytes;
            self.spent.bytes += bytes;
            // What has just come may be too coarse: the next update looks.
            self.spent.has_more = true;
            let quads = mesh.body.len() as u32;
            mesh.body = ChunkMesh::default();
            self.shown.insert(node, Shown { mesh, quads, walls: FaceSet::EMPTY });
        }
        Ok(())
    }

    fn hide<S: NodeSink>(&mut self, node: NodePos, sink: &mut S) -> Result<(), S::Error> {
        let Some(shown) = self.shown.remove(&node) else { return Ok(()) };
        self.touched.push(node);
        sink.set_body(node, None)?;
        for face in Face::ALL.into_iter().filter(|&face| shown.walls.contains(face)) {
            sink.set_wall(node, face, None)?;
        }
        Ok(())
    }
}

/// How much a node is wanted: by the pixels that its voxels take, less out of view. Where the
/// eye is inside, the larger node first.
fn priority(node: NodePos, eye: &Eye) -> f64 {
    let pixels = eye.voxel_pixels(node).min(1e9 * f64::from(node.voxel_units()));
    if eye.may_see(node) { pixels } else { pixels * UNSEEN_URGENCY }
}

impl std::fmt::Debug for LevelTree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LevelTree")
            .field("shown", &self.shown.len())
            .field("wanted", &self.wanted.len())
            .finish_non_exhaustive()
    }
}
