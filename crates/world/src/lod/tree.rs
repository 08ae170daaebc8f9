use std::sync::Arc;
use std::time::Duration;

use drystone_mesh::{Face, FaceSet};
use drystone_voxel::ChunkMesh;
use hashbrown::HashMap;
use web_time::Instant;

use super::node_mesh::{NodeMesher, Skirts};
use super::workers::{FinishedMesh, Workers};
use super::{LodCamera, LodConfig, LodData, NodeMesh};
use crate::{NodePos, WorldError};

mod bodies;
mod changes;
mod counts;
mod edit;
mod evaluate;
mod node_table;
mod requests;
mod reread;
mod skirts;
mod swap;

use bodies::Bodies;
use changes::{Change, PendingRemoval};
pub use counts::LodCount;
#[cfg(test)]
pub(super) use evaluate::priority;
use evaluate::{CameraTravel, Fineness};
use node_table::NodeTable;
use requests::MeshRequest;
use swap::Swap;

/// Where meshes of nodes are shown: a renderer, or a test that looks at what is shown.
pub trait NodeSink {
    /// Why something cannot be shown.
    type Error;

    /// Shows `mesh` as the body of `node`, in place of the one that it has; `None` takes
    /// that away. One that was refused where nothing was shown is taken away, too: a sink may have
    /// taken a part of it.
    ///
    /// # Errors
    /// When there is no room: what was shown is still shown then.
    fn set_body(&mut self, node: NodePos, mesh: Option<&ChunkMesh>) -> Result<(), Self::Error>;

    /// The same of the skirt of `node` that looks along `face`.
    ///
    /// # Errors
    /// As [`set_body`](Self::set_body).
    fn set_skirt(
        &mut self,
        node: NodePos,
        face: Face,
        skirt: Option<&ChunkMesh>,
    ) -> Result<(), Self::Error>;

    /// Checks a limit that the sink sets itself, before the tree adds `more_quads` quads for good:
    /// for roots, splits and edited meshes, which are not shown if this fails.
    ///
    /// Merges and skirts are not checked. A merge needs both meshes at once but frees more than it
    /// takes, and a missing skirt is a hole. A sink that has memory beyond its limit can therefore
    /// always be made coarser.
    ///
    /// # Errors
    /// When so many more would exceed the limit. The default has none.
    fn check_limit(&self, more_quads: u64) -> Result<(), Self::Error> {
        let _ = more_quads;
        Ok(())
    }
}

/// Shows a world of any size, near parts fine and far ones coarse.
///
/// The nodes that are shown cover the world, each place once. A node is replaced by its eight
/// children when its voxels seem too large, all at once and only when all eight meshes are
/// there; and they by it when its voxels would seem small. Meanwhile what is shown stays.
/// Nothing is hidden before what replaces it was accepted by the sink, so a sink without free
/// memory keeps a picture without holes. Refused changes are tried again with each update.
///
/// ```text
///  update(eye): meshes in ─► look from the roots ─┬► split, merge, most needed first ──► sink
///                    ▲                            ├► skirts where levels meet ────────► sink
///                    └──────────── threads ◄──────┴► what is missing, most wanted last
/// ```
///
/// # Cost
/// [`update`](Self::update) is O(nodes shown) and takes at most about the budget's time;
/// meshes are made elsewhere.
pub struct LodTree {
    data: Arc<LodData>,
    config: LodConfig,
    workers: Workers,
    roots: Vec<NodePos>,
    table: NodeTable,
    /// What there is of those that are shown.
    shown: HashMap<NodePos, Shown>,
    travel: CameraTravel,
    /// What that is true of.
    fineness: Option<Fineness>,
    ready: HashMap<NodePos, Ready>,
    ready_bytes: usize,
    /// Edits that are shown when all of their meshes are there.
    swaps: Vec<Swap>,
    /// Nodes that are not shown any more, of which the sink still has something.
    pending_removals: HashMap<NodePos, PendingRemoval>,
    /// Nodes that came or went in this update, whose borders are to be looked at.
    touched: Vec<NodePos>,
    requests: Vec<MeshRequest>,
    /// Those that would only save work.
    merge_requests: Vec<MeshRequest>,
    /// What can be done now.
    changes: Vec<Change>,
    /// For edits of few meshes.
    mesher: NodeMesher,
    bodies: Bodies,
    /// The number of the last edit that this tree has shown.
    last_edit: u64,
    frame: u64,
    /// Whether something is shown of which a part could not be read; when that is tried again,
    /// and what was tried last.
    is_broken: bool,
    reread_at: Duration,
    last_reread: Option<NodePos>,
    /// Whether anything of what was tried last could be read, and of the time before.
    was_reread_whole: bool,
    is_recovering: bool,
    /// Whether the sink refused something in the last update.
    was_refused: bool,
    /// Whether no node is split: a root found no memory, and something is shown for each root
    /// before any more memory goes to details.
    are_splits_held: bool,
    spent: Spent,
}

/// A node that is shown. Its body is the sink's; its skirts are kept, to be shown when a
/// neighbour changes its level.
struct Shown {
    made: Skirts,
    quads: u32,
    /// Those that the sink has.
    skirts: FaceSet,
}

/// A mesh that waits to be shown.
struct Ready {
    mesh: NodeMesh,
    bytes: usize,
    requested_frame: u64,
}

/// What this update did so far, and whether it left anything for the next.
struct Spent {
    start: Instant,
    bytes: usize,
    change_count: u32,
    merge_count: u32,
    has_more: bool,
    /// Whether the sink has refused the mesh of a root where nothing is shown.
    is_root_refused: bool,
}

impl Spent {
    fn nothing() -> Self {
        Self {
            start: Instant::now(),
            bytes: 0,
            change_count: 0,
            merge_count: 0,
            has_more: false,
            is_root_refused: false,
        }
    }
}

impl LodTree {
    /// Shows nothing yet.
    ///
    /// # Errors
    /// [`WorldError::NoThreads`] when the system has none.
    pub fn new(data: Arc<LodData>, config: LodConfig) -> Result<Self, WorldError> {
        Ok(Self {
            roots: data.roots(),
            workers: Workers::new(Arc::clone(&data), config.threads)?,
            data,
            config,
            shown: HashMap::new(),
            table: NodeTable::default(),
            travel: CameraTravel::default(),
            fineness: None,
            ready: HashMap::new(),
            ready_bytes: 0,
            swaps: Vec::new(),
            pending_removals: HashMap::new(),
            touched: Vec::new(),
            requests: Vec::new(),
            merge_requests: Vec::new(),
            changes: Vec::new(),
            mesher: NodeMesher::default(),
            bodies: Bodies::new(config.edited_bytes()),
            last_edit: 0,
            frame: 0,
            is_broken: false,
            reread_at: Duration::ZERO,
            last_reread: None,
            was_reread_whole: false,
            is_recovering: false,
            was_refused: false,
            are_splits_held: false,
            spent: Spent::nothing(),
        })
    }

    /// The voxels.
    pub fn data(&self) -> &LodData {
        &self.data
    }

    /// The same, to be shown by another tree. What that edits, this one shows only where its own
    /// edits touch it: it is to be made anew.
    pub fn shared_data(&self) -> Arc<LodData> {
        Arc::clone(&self.data)
    }

    /// How fine, how fast, with how much memory.
    pub const fn config(&self) -> &LodConfig {
        &self.config
    }

    /// From now on another fineness and other budgets; threads and cache stay as they are.
    pub fn set_config(&mut self, config: LodConfig) {
        self.config = config;
        self.bodies.set_limit(config.edited_bytes());
    }

    /// Brings what is shown closer to what `eye` should see, within the budget.
    ///
    /// # Errors
    /// The sink's, for want of room as a rule. What was shown before the change that failed
    /// is shown still; the next update tries again.
    pub fn update<S: NodeSink>(
        &mut self,
        camera: &LodCamera,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        self.frame += 1;
        self.are_splits_held |= self.spent.is_root_refused;
        self.are_splits_held &= !self.is_whole();
        self.spent = Spent::nothing();
        self.collect_finished();
        self.reread_damaged();
        let taken = self.retry_removals(sink);
        let edited = taken.and(self.show_edits(sink));
        self.requests.clear();
        self.merge_requests.clear();
        self.request_edit_meshes();
        self.evaluate_all(camera);
        let changed = self.apply_changes(sink);
        let done = edited.and(changed).and(self.close_borders(sink));
        self.was_refused = done.is_err();
        self.request();
        self.drop_unrequested();
        done
    }

    /// Whether there was nothing left to do or to wait for after the last update.
    pub fn is_settled(&self) -> bool {
        // What could not be read is not waited for, unless it can be read again.
        let lacks = self.requests.iter().any(|request| request.priority > 0.0);
        let is_waiting = lacks || !self.merge_requests.is_empty();
        let is_idle = !is_waiting && !self.spent.has_more && self.frame > 0;
        is_idle
            && !self.was_refused
            && self.touched.is_empty()
            && !self.is_recovering()
            && self.swaps.iter().all(Swap::is_reread)
            && self.pending_removals.is_empty()
    }

    /// Whether the last update lacked meshes, that [`wait`](Self::wait) waits for.
    pub fn is_waiting(&self) -> bool {
        !self.requests.is_empty() || !self.merge_requests.is_empty()
    }

    /// Whether something is shown in every place of the world.
    pub fn is_whole(&self) -> bool {
        self.roots.iter().all(|&root| self.table.get(root).is_some())
    }

    /// Hides the root that takes the most quads, with all nodes below it, so that its memory can
    /// be used again. Returns whether there was such a root. The root's own mesh is shown by one
    /// of the next updates.
    ///
    /// For a sink that has no memory for every root, where coarser nodes do not fit beside the
    /// finer ones that they would replace. Nothing happens in a [whole](Self::is_whole) picture,
    /// because this would open a hole, nor while no root is split.
    ///
    /// # Errors
    /// The sink's, when it cannot remove a mesh. The next update tries again.
    pub fn hide_largest_root<S: NodeSink>(&mut self, sink: &mut S) -> Result<bool, S::Error> {
        if self.is_whole() {
            return Ok(false);
        }
        let mut quads: HashMap<NodePos, u64> = HashMap::new();
        for (node, shown) in &self.shown {
            let root = node.ancestor(self.data.top_level());
            if root != *node {
                *quads.entry(root).or_default() += u64::from(shown.quads);
            }
        }
        let Some((root, _)) = quads.into_iter().max_by_key(|&(root, quads)| (quads, root)) else {
            return Ok(false);
        };
        let hidden = self.hide_below(root, sink);
        self.table.remove(root);
        hidden.map(|()| true)
    }

    /// Waits until a mesh is made, or makes one where there are no threads; at most `time`.
    pub fn wait(&mut self, time: Duration) {
        if !self.workers.has_threads() {
            self.workers.work();
        } else {
            self.workers.wait(time);
        }
    }

    /// Makes the most wanted mesh here and now, whether or not there are threads that do; whether
    /// one was wanted, and there is room for it.
    pub fn work(&mut self) -> bool {
        self.workers.work()
    }

    /// Waits until the threads stop by themselves: nothing is requested, or enough is made.
    #[cfg(test)]
    pub(super) fn wait_for_threads(&self) {
        self.workers.wait_until_idle();
    }

    /// Every node that is shown, in no order.
    pub fn shown(&self) -> impl Iterator<Item = NodePos> {
        self.shown.keys().copied()
    }

    /// Bytes of meshes that wait to be shown.
    pub fn waiting_bytes(&self) -> usize {
        self.ready_bytes + self.swaps.iter().map(Swap::size_bytes).sum::<usize>()
    }

    fn collect_finished(&mut self) {
        for FinishedMesh { node, mesh } in self.workers.take() {
            let mut mesh = Some(mesh);
            for swap in &mut self.swaps {
                mesh = mesh.and_then(|mesh| swap.take(node, mesh));
            }
            let Some(mesh) = mesh.filter(|_| !self.is_shown(node)) else { continue };
            let bytes = mesh.size_bytes();
            self.insert_ready(node, Ready { mesh, bytes, requested_frame: self.frame });
        }
    }
}

impl std::fmt::Debug for LodTree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LodTree")
            .field("shown", &self.shown.len())
            .field("requests", &self.requests.len())
            .finish_non_exhaustive()
    }
}
