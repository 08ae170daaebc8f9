use drystone_mesh::{Face, FaceSet};
use drystone_voxel::{ChunkMesh, Material, MesherOptions, NodePos, VoxelPos};
use hashbrown::{HashMap, HashSet};

use super::LodTree;
use super::apply::Apply;
use super::edit_mesher::MeshJob;
use super::pending_edits::PendingEdit;
use crate::edit::Edit;
use crate::lod::data::edit::{Changes, Part};
use crate::lod::data::span::Span;
use crate::lod::node_mesh::Touched;
use crate::lod::node_sink::NodeSink;

impl LodTree {
    /// Maximum number of changed meshes of an edit that is shown at once.
    pub const MAX_MESHES_AT_ONCE: usize = 64;
    /// Maximum number of chunks that such an edit may have to load.
    const MAX_CHUNKS_AT_ONCE: usize = 64;

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

    /// Whether an edit is not shown yet because some of its meshes are missing.
    pub fn has_waiting_edits(&self) -> bool {
        self.edits.is_waiting()
    }
}

impl LodTree {
    fn show_changes<S: NodeSink>(
        &mut self,
        changes: Changes,
        sink: &mut S,
    ) -> Result<u64, S::Error> {
        self.mesher.begin_edit(changes.number);
        self.extend(&changes);
        let touched = self.touched(&changes);
        let bodies = &mut self.mesher.bodies;
        let mut bodies: HashMap<NodePos, ChunkMesh> =
            touched.keys().filter_map(|&node| Some((node, bodies.take(node)?))).collect();
        let shown = self.forget(&touched);
        if self.edits.has_any(&shown) || !self.can_show_at_once(&shown) {
            let pending = self.pending(&shown, &touched);
            self.edits.add(pending);
            // The threads start before the next update.
            self.workers.request_first(&shown);
            return Ok(changes.count);
        }
        let job = |node: NodePos| {
            let touched = touched.get(&node)?;
            let skirts = self.skirts_to_make(node, touched.skirts);
            let old = bodies.remove(&node).map(|body| (body, touched.voxels));
            Some(MeshJob { node, skirts, old })
        };
        let jobs = shown.into_iter().filter_map(job).collect();
        let meshes = self.mesher.meshes(&self.data, jobs);
        let mut apply = Apply::new(self, sink);
        apply.replace(meshes);
        apply.skirts();
        apply.result().map(|()| changes.count)
    }

    /// Extends the tree to the changed nodes, which may lie outside the world so far.
    fn extend(&mut self, changes: &Changes) {
        let grid = self.data.grid().up_to(self.config.max_level);
        self.nodes.extend(grid, changes.parts.iter().map(|part| part.node));
    }

    /// Returns the skirts to make for a node in which the `changed` skirts may change.
    fn skirts_to_make(&self, node: NodePos, changed: FaceSet) -> FaceSet {
        if self.nodes.grid.top_level == 0 {
            return FaceSet::EMPTY;
        }
        self.shown.skirts_to_make(node, changed)
    }

    /// Returns the nodes whose meshes may change, and what may change in each.
    fn touched(&self, changes: &Changes) -> HashMap<NodePos, Touched> {
        let mut all: HashMap<NodePos, Touched> = HashMap::new();
        let neighbors = MesherOptions::from(self.config.meshing).neighbors();
        // A voxel also changes the ambient occlusion of faces beside it.
        let margin = u8::from(self.config.meshing.occlusion);
        let mut touch = |node: NodePos, touched: Touched| {
            all.entry(node).and_modify(|it| it.join(&touched)).or_insert(touched);
        };
        for &Part { node, span, sides } in &changes.parts {
            let skirts = span.sides();
            touch(node, Touched { skirts, voxels: span.corners() });
            for &offset in neighbors {
                let towards = faces_towards(offset);
                let Some(neighbor) = node.offset(offset) else { continue };
                if towards.without(sides) != FaceSet::EMPTY {
                    continue;
                }
                let beside = self.is_translucent_beside(neighbor, span.next_to(offset, margin));
                let Some(is_translucent) = beside else { continue };
                // The skirts of a translucent neighbour that end at this border may change too.
                let facing = faces_towards(offset.map(|step| -step));
                let along = skirts.without(towards).without(facing);
                let along = if is_translucent { along } else { FaceSet::EMPTY };
                touch(
                    neighbor,
                    Touched { skirts: along.union(facing), voxels: span.beyond(offset) },
                );
            }
        }
        all
    }

    /// Drops all finished meshes of these nodes. Returns the nodes that are shown or uncovered,
    /// sorted.
    fn forget(&mut self, touched: &HashMap<NodePos, Touched>) -> Vec<NodePos> {
        self.workers.forget(|node| touched.contains_key(&node));
        for &node in touched.keys() {
            self.waiting.take(node, &mut self.nodes);
            self.mesher.bodies.take(node);
        }
        let is_due =
            |node: &NodePos| self.nodes.is_shown(*node) || self.nodes.uncovered.contains(node);
        let shown = touched.keys().copied().filter(is_due);
        let mut shown: Vec<NodePos> = shown.collect();
        shown.sort_unstable();
        shown
    }

    /// Returns an edit of these nodes that is shown later.
    fn pending(&mut self, shown: &[NodePos], touched: &HashMap<NodePos, Touched>) -> PendingEdit {
        let mut held = HashSet::new();
        let grid = self.nodes.grid;
        touched.keys().for_each(|&node| grid.insert_with_ancestors(&mut held, node));
        // The edit replaces outdated meshes anyway.
        self.shown.outdated.retain(|node| !touched.contains_key(node));
        PendingEdit::new(shown.iter().copied(), held)
    }

    /// Whether the meshes of these nodes can be made and shown at once.
    fn can_show_at_once(&self, nodes: &[NodePos]) -> bool {
        let neighbors = MesherOptions::from(self.config.meshing).neighbors();
        let mut left = Self::MAX_CHUNKS_AT_ONCE;
        nodes.len() <= Self::MAX_MESHES_AT_ONCE
            && nodes.iter().all(|&node| {
                let around = neighbors.iter().filter_map(|&offset| node.offset(offset));
                around.chain([node]).all(|it| self.data.charge_chunks(it, &mut left))
            })
    }

    /// Whether a neighbour's voxels `beside` changed voxels are or may be translucent. `None` if all
    /// of them are air, so that the neighbour's mesh does not change.
    fn is_translucent_beside(&self, neighbor: NodePos, beside: Span) -> Option<bool> {
        // No chunk is made for this check.
        let chunk = if self.nodes.is_shown(neighbor) { self.data.cached(neighbor) } else { None };
        let Some(chunk) = chunk else { return Some(true) };
        let materials = self.data.materials();
        let is_any = |is_so: &dyn Fn(Material) -> bool| {
            beside.any(|at| is_so(chunk.get(at))).unwrap_or(true)
        };
        is_any(&|voxel| !voxel.is_air()).then(|| is_any(&|voxel| materials.is_translucent(voxel)))
    }
}

/// Returns the faces of a node that a neighbour at `offset` touches, or the face directions whose
/// planes meet at the common edge or corner.
fn faces_towards(offset: [i32; 3]) -> FaceSet {
    Face::ALL.into_iter().filter(|face| face.normal()[face.axis()] == offset[face.axis()]).collect()
}
