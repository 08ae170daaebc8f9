use std::sync::Arc;
use std::time::Duration;

use drystone_formats::SourceError;
use drystone_mesh::{Face, FaceSet};
use drystone_voxel::{ChunkMesh, NodePos};
use hashbrown::HashMap;
use web_time::Instant;

use super::node_mesh::{NodeMesher, Skirts};
use super::workers::{FinishedMesh, Workers};
use super::{LodCamera, LodConfig, LodData, NodeMesh};

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

/// Destination of node meshes: a renderer, or a test that checks what is shown.
pub trait NodeSink {
    /// Reason why a mesh cannot be shown.
    type Error;

    /// Shows `mesh` as the body of `node` and replaces the node's current body. `None` removes the
    /// body.
    ///
    /// After a refused first body, the tree removes that body too, because the sink may have stored
    /// a part of it.
    ///
    /// # Errors
    /// When the sink is out of memory. The previous body is then still shown.
    fn set_body(&mut self, node: NodePos, mesh: Option<&ChunkMesh>) -> Result<(), Self::Error>;

    /// Shows `skirt` as the skirt of `node` on the side `face` and replaces the current one. `None`
    /// removes the skirt.
    ///
    /// # Errors
    /// When the sink is out of memory. The previous skirt is then still shown.
    fn set_skirt(
        &mut self,
        node: NodePos,
        face: Face,
        skirt: Option<&ChunkMesh>,
    ) -> Result<(), Self::Error>;

    /// Checks a limit that the sink sets itself, before the tree adds `more_quads` quads
    /// permanently. The tree checks roots, splits and edited meshes, and does not show them if this
    /// fails.
    ///
    /// Merges and skirts are not checked. A merge needs both meshes at once but frees more than it
    /// takes, and a missing skirt is a hole. A sink with memory beyond its limit can therefore
    /// always be made coarser.
    ///
    /// # Errors
    /// When `more_quads` more quads would exceed the limit. The default implementation never fails.
    fn check_limit(&self, more_quads: u64) -> Result<(), Self::Error> {
        let _ = more_quads;
        Ok(())
    }
}

/// Shows a world of any size: fine nodes near the camera, coarse nodes far away.
///
/// The shown nodes cover the world without overlap. A node is split into its eight children when
/// its voxels are too long on screen. The split happens at once, when all eight meshes are
/// finished. Eight children are merged into their parent when the parent's voxels would be short
/// enough. Until then, the old meshes stay shown.
///
/// A node is hidden only after the sink has accepted its replacement. A sink without free memory
/// therefore shows a picture without holes. Refused changes are tried again with each update.
///
/// ```text
///  update(camera): finished meshes ─► evaluate roots ─┬► split, merge, by priority ─────────► sink
///                     ▲                               ├► skirts where levels meet ──────────► sink
///                     └──────────── threads ◄─────────┴► requests, highest priority last
/// ```
///
/// # Cost
/// [`update`](Self::update) is O(shown nodes) and takes at most about the time budget. The threads
/// make the meshes.
pub struct LodTree {
    data: Arc<LodData>,
    config: LodConfig,
    workers: Workers,
    roots: Vec<NodePos>,
    table: NodeTable,
    /// The shown nodes.
    shown: HashMap<NodePos, Shown>,
    travel: CameraTravel,
    /// The fineness for which the next evaluations in `table` are valid.
    fineness: Option<Fineness>,
    ready: HashMap<NodePos, Ready>,
    ready_bytes: usize,
    /// Edits that are shown when all of their meshes are finished.
    swaps: Vec<Swap>,
    /// Hidden nodes whose meshes the sink has not removed yet.
    pending_removals: HashMap<NodePos, PendingRemoval>,
    /// Nodes that were shown or hidden in this update. Their borders have to be checked.
    touched: Vec<NodePos>,
    requests: Vec<MeshRequest>,
    /// Requests for merges, which only free memory.
    merge_requests: Vec<MeshRequest>,
    /// Changes whose meshes are all finished.
    changes: Vec<Change>,
    /// Mesher for edits with few meshes.
    mesher: NodeMesher,
    bodies: Bodies,
    /// Number of the last edit that this tree has shown.
    last_edit: u64,
    frame: u64,
    /// Whether a shown node could not be read completely.
    is_broken: bool,
    /// Time at which damaged nodes are read again.
    reread_at: Duration,
    /// Last damaged node that was read again.
    last_reread: Option<NodePos>,
    /// Whether this round of attempts has read a complete node.
    was_reread_whole: bool,
    /// Whether the previous round of attempts read a complete node.
    is_recovering: bool,
    /// Whether the sink refused a change in the last update.
    was_refused: bool,
    /// Whether splits are suspended: after a root was refused, until every root shows something.
    are_splits_held: bool,
    spent: Spent,
}

/// A shown node. The sink stores its body. Its skirts are stored here, to be shown when a neighbour
/// changes its level.
struct Shown {
    made: Skirts,
    quads: u32,
    /// The skirts that the sink shows.
    skirts: FaceSet,
}

/// A finished mesh that is not shown yet.
struct Ready {
    mesh: NodeMesh,
    bytes: usize,
    requested_frame: u64,
}

/// Budget that this update has used, and whether it left changes for the next update.
struct Spent {
    start: Instant,
    bytes: usize,
    change_count: u32,
    merge_count: u32,
    has_more: bool,
    /// Whether the sink refused the mesh of a root that shows nothing.
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
    /// Creates a tree that shows nothing yet.
    ///
    /// # Errors
    /// [`SourceError::NoThreads`] when the system cannot start the threads.
    pub fn new(data: Arc<LodData>, config: LodConfig) -> Result<Self, SourceError> {
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

    /// Returns the voxel data.
    pub fn data(&self) -> &LodData {
        &self.data
    }

    /// Returns a shared reference to the voxel data, for another tree.
    ///
    /// A tree shows only its own edits. Rebuild this tree after another tree has edited the data.
    pub fn shared_data(&self) -> Arc<LodData> {
        Arc::clone(&self.data)
    }

    /// Returns the configuration.
    pub const fn config(&self) -> &LodConfig {
        &self.config
    }

    /// Sets the detail and the budgets. The number of threads and the size of the cache do not
    /// change.
    pub fn set_config(&mut self, config: LodConfig) {
        self.config = config;
        self.bodies.set_limit(config.edited_bytes());
    }

    /// Moves what is shown closer to what `camera` needs, within the budget.
    ///
    /// # Errors
    /// The first error of the sink, usually because it is out of memory. Everything that was shown
    /// before the failed change stays shown. The next update tries again.
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

    /// Whether the last update left nothing to do and nothing to wait for.
    pub fn is_settled(&self) -> bool {
        // Unreadable data is not waited for, unless the source can be read again.
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

    /// Whether the last update requested meshes that are not finished. [`wait`](Self::wait) waits
    /// for one.
    pub fn is_waiting(&self) -> bool {
        !self.requests.is_empty() || !self.merge_requests.is_empty()
    }

    /// Whether every root of the world is covered by shown nodes.
    pub fn is_whole(&self) -> bool {
        self.roots.iter().all(|&root| self.table.get(root).is_some())
    }

    /// Hides all nodes below the root that uses the most quads, which frees their memory. Returns
    /// false if nothing was hidden. One of the next updates shows the root's own mesh.
    ///
    /// Useful for a sink without memory for every root, where coarser nodes do not fit beside the
    /// finer nodes that they replace. Nothing is hidden if the picture [has no gaps](Self::is_whole),
    /// because hiding nodes would open a hole, nor if no root is split.
    ///
    /// # Errors
    /// The sink's error when it cannot remove a mesh. The next update tries again.
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

    /// Waits at most `time` until a mesh is finished. Without threads, makes one mesh instead.
    pub fn wait(&mut self, time: Duration) {
        if !self.workers.has_threads() {
            self.workers.work();
        } else {
            self.workers.wait(time);
        }
    }

    /// Makes the requested mesh with the highest priority on the calling thread. Returns false if
    /// no mesh is requested or the limit for waiting meshes is reached.
    pub fn work(&mut self) -> bool {
        self.workers.work()
    }

    /// Waits until no thread is working: nothing is requested, or the limit is reached.
    #[cfg(test)]
    pub(super) fn wait_for_threads(&self) {
        self.workers.wait_until_idle();
    }

    /// Returns all shown nodes, in no particular order.
    pub fn shown(&self) -> impl Iterator<Item = NodePos> {
        self.shown.keys().copied()
    }

    /// Size of the finished meshes that are not shown yet, in bytes.
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
