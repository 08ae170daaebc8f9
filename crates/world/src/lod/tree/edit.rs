use drystone_mesh::{Face, FaceSet};
use drystone_voxel::{ChunkMesh, Material, MesherOptions, NodePos};
use hashbrown::{HashMap, HashSet};

use super::LodTree;
use super::apply::Apply;
use super::edit_mesher::MeshJob;
use super::pending_edits::PendingEdit;
use crate::lod::data::edit::{Changes, Part};
use crate::lod::data::span::Span;
use crate::lod::node_mesh::Touched;
use crate::lod::node_sink::NodeSink;

/// Maximum number of chunks that an edit which is shown at once may have to load.
const MAX_CHUNKS_AT_ONCE: usize = 64;

impl LodTree {
    pub(super) fn show_changes<S: NodeSink>(
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
        if let Some(sink) = sink.cubes()
            && let Some(cubes) = self.edited_cubes(&changes)
        {
            let set = self.set_cubes(&cubes, sink);
            if set.is_err() {
                // The next update replaces the whole meshes.
                let pending = self.pending(&shown, &touched);
                self.edits.add(pending);
            }
            return set.map(|()| changes.count);
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
    pub(super) fn extend(&mut self, changes: &Changes) {
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
    pub(super) fn touched(&self, changes: &Changes) -> HashMap<NodePos, Touched> {
        let mut all: HashMap<NodePos, Touched> = HashMap::new();
        let neighbors = MesherOptions::from(self.config.meshing).neighbors();
        // A voxel also changes the ambient occlusion of faces beside it.
        let margin = u8::from(self.config.meshing.occlusion);
        let mut touch = |node: NodePos, touched: Touched| {
            all.entry(node).and_modify(|it| it.join(&touched)).or_insert(touched);
        };
        for &Part { node, span, sides, .. } in &changes.parts {
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
    pub(super) fn forget(&mut self, touched: &HashMap<NodePos, Touched>) -> Vec<NodePos> {
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
    pub(super) fn pending(
        &mut self,
        shown: &[NodePos],
        touched: &HashMap<NodePos, Touched>,
    ) -> PendingEdit {
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
        let mut left = MAX_CHUNKS_AT_ONCE;
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
