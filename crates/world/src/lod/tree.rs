use std::sync::Arc;
use std::time::Duration;

use drystone_formats::SourceError;
use drystone_mesh::FaceSet;
use drystone_voxel::{Material, NodePos, VoxelPos};

use super::config::{LodConfig, Meshing};
use super::data::LodData;
use super::lod_camera::{BlockedLight, LodCamera};
use super::node_mesh::NodeMesh;
use super::node_sink::NodeSink;
use super::workers::Workers;
use crate::edit::Edit;

mod apply;
mod camera_path;
mod edit;
mod edit_mesher;
mod edited_cubes;
mod mesh_requests;
mod node_table;
mod pending_edits;
pub(super) mod plan;
mod progress;
mod rereads;
pub(super) mod shown_nodes;
mod state;
#[cfg(test)]
mod tests;
mod waiting_meshes;

use apply::Apply;
use camera_path::CameraPath;
use edit_mesher::EditMesher;
use node_table::NodeTable;
use pending_edits::PendingEdits;
use plan::{Plan, Planner, Scope};
use progress::Progress;
use rereads::Rereads;
use shown_nodes::ShownNodes;
use waiting_meshes::WaitingMeshes;

/// Shows a world of any size, with fine nodes near the camera and coarse nodes far away. With a
/// [`max_level`](LodConfig::max_level) of 0, the whole world is shown in full detail.
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
///  update(camera): finished edits ──────────────────────────────────────────► Apply ─► sink
///                  plan(tree, camera): changes by priority, ───────────────────┤
///                     │                skirts where levels meet ───────────────┘
///                     └► missing meshes ─► threads ─► waiting meshes ─► next update
/// ```
///
/// # Cost
/// [`update`](Self::update) is O(shown nodes) and takes at most about the time budget. It evaluates
/// only subtrees where the camera has travelled far enough to change something. The threads make the
/// meshes.
pub struct LodTree {
    data: Arc<LodData>,
    config: LodConfig,
    workers: Workers,
    /// The shown nodes and their ancestors, as far as a plan needs them.
    nodes: NodeTable,
    shown: ShownNodes,
    waiting: WaitingMeshes,
    edits: PendingEdits,
    mesher: EditMesher,
    rereads: Rereads,
    path: CameraPath,
    /// Plan of the last update.
    plan: Plan,
    progress: Progress,
}

/// Maximum number of nodes that are sent to the workers, more than they make before the next frame.
const MAX_REQUESTED_NODES: usize = 1_024;

impl LodTree {
    /// Creates a tree that shows nothing yet.
    ///
    /// # Errors
    /// [`SourceError::NoThreads`] when the system cannot start the threads.
    pub fn new(data: Arc<LodData>, config: LodConfig) -> Result<Self, SourceError> {
        let grid = data.grid().up_to(config.max_level);
        let skirts = if grid.top_level == 0 { FaceSet::EMPTY } else { FaceSet::ALL };
        Ok(Self {
            workers: Workers::new(Arc::clone(&data), &config, skirts)?,
            nodes: NodeTable::new(grid, data.roots_up_to(config.max_level)),
            shown: ShownNodes::default(),
            waiting: WaitingMeshes::default(),
            edits: PendingEdits::default(),
            mesher: EditMesher::new(config.edited_bytes(), config.meshing),
            rereads: Rereads::default(),
            path: CameraPath::default(),
            plan: Plan::default(),
            progress: Progress::new(),
            data,
            config,
        })
    }

    /// Sets the detail, the budgets and the [meshing](Self::set_meshing). The highest level, the
    /// number of threads and the size of the cache do not change.
    pub fn set_config(&mut self, config: LodConfig) {
        self.set_meshing(config.meshing);
        self.config = LodConfig { max_level: self.config.max_level, ..config };
        self.mesher.bodies.set_limit(config.edited_bytes());
    }

    /// Sets the options of all meshes. The threads make new meshes of all shown nodes, highest
    /// priority first, and the next updates show them within the budget. Until then the old meshes
    /// stay shown, and levels change as usual.
    pub fn set_meshing(&mut self, meshing: Meshing) {
        if meshing == self.config.meshing {
            return;
        }
        self.config.meshing = meshing;
        self.workers.set_meshing(meshing);
        self.mesher.set_meshing(meshing);
        self.waiting.clear(&mut self.nodes);
        self.edits.forget_meshes();
        let edits = &self.edits;
        let outdated = self.shown.nodes.keys().copied().filter(|&node| !edits.has_any(&[node]));
        self.shown.outdated = outdated.collect();
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
        self.update_within(Scope::Surroundings, camera, sink)
    }

    /// Moves what is shown closer to what a single picture needs. Works as [`update`](Self::update)
    /// does, but splits only nodes that may be in the picture or keep one of `lights` from it. Once a new
    /// tree is [settled](Self::is_settled), the picture is the same. After earlier updates, nodes may
    /// be finer or coarser within the [hysteresis](LodConfig::hysteresis).
    ///
    /// # Cost
    /// Cost of [`update`](Self::update), and a fraction of a microsecond for each node outside the
    /// picture that is not split. A parallel projection sees all nodes.
    ///
    /// # Errors
    /// Errors of [`update`](Self::update).
    pub fn update_picture<S: NodeSink>(
        &mut self,
        camera: &LodCamera,
        lights: &[BlockedLight],
        sink: &mut S,
    ) -> Result<(), S::Error> {
        self.update_within(Scope::Picture(lights), camera, sink)
    }

    fn update_within<S: NodeSink>(
        &mut self,
        scope: Scope<'_>,
        camera: &LodCamera,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        self.progress.begin(self.nodes.is_whole());
        self.progress.received_bytes =
            self.data.arrival_state().map_or(0, |state| state.received_bytes);
        self.collect_finished();
        self.reread_damaged();
        let mut apply = Apply::new(self, sink);
        apply.removals();
        apply.edits();
        let mut plan = apply.tree.plan(scope, camera);
        apply.changes(&mut plan.changes);
        apply.skirts();
        let result = apply.result();
        self.plan = plan;
        self.progress.was_refused = result.is_err();
        self.request_meshes();
        self.drop_unneeded();
        result
    }

    /// Hides all nodes below the root that uses the most quads, which frees their memory. Returns
    /// false if nothing was hidden. One of the next updates shows the root's own mesh.
    ///
    /// Useful for a sink without memory for every root, where coarser nodes do not fit beside the
    /// finer nodes that they replace. Nothing is hidden if every root is covered, because hiding nodes
    /// would open a hole, nor if no root is split.
    ///
    /// # Errors
    /// The sink's error when it cannot remove a mesh. The next update tries again.
    pub fn hide_largest_root<S: NodeSink>(&mut self, sink: &mut S) -> Result<bool, S::Error> {
        let top_level = self.nodes.grid.top_level;
        let has_gap = self.nodes.uncovered.iter().any(|node| node.level == top_level);
        let largest = self.shown.largest_root(top_level);
        let Some(root) = largest.filter(|_| has_gap) else { return Ok(false) };
        let hidden = Apply::new(self, sink).hide_below(root);
        self.nodes.remove(root);
        self.nodes.uncovered.insert(root);
        hidden.map(|()| true)
    }

    /// Waits at most `time` until a mesh is finished. Without threads, makes one mesh instead.
    pub fn wait(&mut self, time: Duration) {
        self.workers.wait(time);
    }

    /// Makes the requested mesh with the highest priority on the calling thread. Returns false if
    /// no mesh is requested or the limit for waiting meshes is reached.
    pub fn work(&mut self) -> bool {
        self.workers.work()
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
}

impl LodTree {
    /// Maximum number of changed meshes of an edit that is shown at once.
    pub const MAX_MESHES_AT_ONCE: usize = 64;

    /// Sets voxels in the given order and replaces every mesh that they touch: bodies and skirts of
    /// all levels. Voxels outside the world extend it. Returns the number of changed voxels.
    ///
    /// At most [`MAX_MESHES_AT_ONCE`](Self::MAX_MESHES_AT_ONCE) changed meshes are replaced before
    /// this returns. If there are more, or if many chunks have to be loaded first, the threads make
    /// the meshes. The [`update`](Self::update) after the last one replaces all of them together.
    /// Until then the old meshes stay shown and their levels do not change. An edit that touches a
    /// mesh of a waiting edit is shown together with that edit.
    ///
    /// # Cost
    /// About 0.1 ms per mesh that is replaced at once, and half of that if the mesh was edited
    /// recently. One voxel touches one to four meshes. [`apply_part`](Self::apply_part) splits the
    /// cost of large edits.
    ///
    /// # Errors
    /// The first error of the sink. The voxels are set in any case. Refused meshes keep their old
    /// content, and the next update tries again.
    pub fn set<S: NodeSink>(
        &mut self,
        voxels: impl IntoIterator<Item = (VoxelPos, Material)>,
        sink: &mut S,
    ) -> Result<u64, S::Error> {
        let changes = self.data.set(voxels);
        self.show_changes(changes, sink)
    }

    /// Applies an edit and replaces the meshes as [`set`](Self::set) does. Returns the number of
    /// changed voxels.
    ///
    /// # Cost
    /// About 0.2 ms per chunk that the edit touches, on all cores, plus the source's time for chunks
    /// that are not cached. A ball with a radius of 100 voxels takes 60 ms. Applying an edit in
    /// [parts](crate::EditParts) takes a few milliseconds per part, and a few to show them.
    ///
    /// # Errors
    /// The first error of the sink. The voxels are set in any case, and the next update tries
    /// again.
    pub fn apply_edit<S: NodeSink>(&mut self, edit: &Edit, sink: &mut S) -> Result<u64, S::Error> {
        let changes = self.data.apply(edit);
        self.show_changes(changes, sink)
    }

    /// Applies one part of an edit without showing it. [`show_parts`](Self::show_parts) shows all
    /// parts together. Until then the levels of the changed nodes do not change. Returns the number
    /// of changed voxels.
    ///
    /// # Cost
    /// About 0.2 ms per chunk that the part touches, and the same again for the LOD voxels above
    /// them.
    pub fn apply_part(&mut self, part: &Edit) -> u64 {
        let changes = self.data.apply(part);
        self.mesher.begin_edit(changes.number);
        self.extend(&changes);
        let touched = self.touched(&changes);
        let shown = self.forget(&touched);
        let pending = self.pending(&shown, &touched);
        self.edits.add(pending.opened());
        changes.count
    }

    /// Ends an edit in parts. The [`update`](Self::update) after the last finished mesh shows all
    /// parts together.
    pub fn show_parts(&mut self) {
        // The threads start before the next update.
        let missing = self.edits.close();
        self.workers.request_first(&missing);
    }

    /// Moves a source whose chunks change by themselves to its next frame, and replaces the meshes as
    /// [`set`](Self::set) does. Returns false if the source does not move.
    ///
    /// # Cost
    /// Cost of an edit of all changed chunks.
    ///
    /// # Errors
    /// Errors of [`set`](Self::set).
    pub fn advance<S: NodeSink>(&mut self, sink: &mut S) -> Result<bool, S::Error> {
        let Some(changes) = self.data.advance() else { return Ok(false) };
        self.show_changes(changes, sink).map(|_| true)
    }

    /// Whether an edit is not shown yet because some of its meshes are missing.
    pub fn has_waiting_edits(&self) -> bool {
        self.edits.is_waiting()
    }
}

/// Steps of an update.
impl LodTree {
    fn collect_finished(&mut self) {
        for (node, mesh) in self.workers.take() {
            let Some(mesh) = self.edits.insert(node, mesh) else { continue };
            if !self.nodes.is_shown(node) || self.shown.outdated.contains(&node) {
                self.waiting.insert(node, mesh, self.progress.frame, &mut self.nodes);
            }
        }
    }

    /// Requests new meshes for damaged nodes if the last attempt was long enough ago. The old
    /// meshes stay shown until then.
    fn reread_damaged(&mut self) {
        if !self.edits.is_rereading() {
            let due = self.rereads.due(self.data.clock.now(), || self.shown.damaged());
            due.into_iter().for_each(|node| self.edits.reread(node));
        }
    }

    /// Plans what is shown next, without the sink. Marks the meshes that the plan needs.
    fn plan(&mut self, scope: Scope<'_>, camera: &LodCamera) -> Plan {
        let (reaches, has_changed) = self.path.follow(camera, &self.config);
        if has_changed {
            self.nodes.evaluate_everywhere();
        }
        let plan = std::mem::take(&mut self.plan).cleared();
        let planner = Planner {
            nodes: &self.nodes,
            waiting: &self.waiting,
            edits: &self.edits,
            outdated: &self.shown.outdated,
            camera,
            reaches,
            travelled_voxels: self.path.travelled_voxels,
            are_splits_held: self.progress.are_splits_held(),
            scope,
        };
        let plan = planner.plan(plan);
        for &(node, next_evaluation) in &plan.evaluated {
            if let Some(split) = self.nodes.split_mut(node) {
                split.next_evaluation = next_evaluation;
            }
        }
        for &node in &plan.kept {
            self.waiting.keep(node, self.progress.frame, &mut self.nodes);
        }
        plan
    }

    /// Sends the missing meshes to the workers.
    fn request_meshes(&mut self) {
        let limit_bytes = self.config.unshown_bytes();
        let free_bytes = limit_bytes.checked_sub(self.waiting.size_bytes);
        // If the limit is reached, finished meshes are shown before more are requested. Only the
        // meshes of the next change are requested then, and none if the sink refuses the finished
        // ones.
        let is_full = free_bytes.is_none() && self.edits.is_empty();
        if is_full && self.progress.was_refused {
            self.plan.requests.needed.clear();
        }
        let count = if is_full { NodePos::CHILDREN } else { MAX_REQUESTED_NODES };
        let nodes = self.plan.requests.highest_priority_nodes(count);
        self.workers.request(nodes, free_bytes.unwrap_or(0));
    }

    fn drop_unneeded(&mut self) {
        let (frame, limit_bytes) = (self.progress.frame, self.config.unshown_bytes());
        for node in self.waiting.unneeded(frame, limit_bytes, &self.nodes) {
            self.waiting.take(node, &mut self.nodes);
        }
    }

    /// Records that the shown mesh of a node was replaced, added or removed. Schedules checks of
    /// the skirts around the node, and an evaluation of the nodes above.
    fn touch(&mut self, node: NodePos) {
        self.shown.touch(node);
        self.nodes.evaluate_above(node);
    }

    /// Records the mesh of a node that the sink shows now.
    fn record_shown(&mut self, node: NodePos, mesh: &NodeMesh) {
        let is_ready = |child| self.waiting.contains(child);
        self.nodes.show(node, mesh.is_air, self.progress.frame, is_ready);
        if !mesh.is_whole() {
            self.rereads.note_damaged(self.data.clock.now());
        }
    }
}

impl std::fmt::Debug for LodTree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LodTree")
            .field("shown", &self.shown.nodes.len())
            .field("requests", &self.plan.requests)
            .finish_non_exhaustive()
    }
}
