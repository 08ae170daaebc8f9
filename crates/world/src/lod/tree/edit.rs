use drystone_mesh::{Face, FaceSet};
use drystone_voxel::{ChunkMesh, Material, NodePos, VoxelPos};
use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;

use super::super::data::{Changes, Part};
use super::super::node_mesh::{NodeMesher, Touched};
use super::changes::PendingRemoval;
use super::swap::Swap;
use super::{LodTree, NodeSink};
use crate::edit::Edit;
use crate::lod::NodeMesh;
use crate::shape::VoxelShape;

/// Number of meshes up to which the calling thread makes them. More are made on all cores.
const MAX_SERIAL: usize = 4;

impl LodTree {
    /// Maximum number of changed meshes of an edit that is shown at once.
    pub const MAX_MESHES_AT_ONCE: usize = 64;
    /// Maximum number of chunks that such an edit may have to load.
    const MAX_CHUNKS_AT_ONCE: usize = 64;

    /// Sets voxels in the given order and replaces every mesh that they touch: bodies and skirts of
    /// all levels. Voxels outside the world are ignored. Returns the number of changed voxels.
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

    /// Sets all voxels of a shape and replaces the meshes as [`set`](Self::set) does. Returns the
    /// number of changed voxels.
    ///
    /// # Cost
    /// About 0.2 ms per chunk that the shape touches, on all cores, plus the source's time for
    /// chunks that are not cached. A ball with a radius of 100 voxels takes 60 ms. Applying its
    /// [`Edit`] in [parts](crate::EditParts) takes a few milliseconds per part, and a few to show
    /// them.
    ///
    /// # Errors
    /// The first error of the sink. The voxels are set in any case, and the next update tries
    /// again.
    pub fn fill<S: NodeSink>(
        &mut self,
        shape: &VoxelShape,
        material: Material,
        sink: &mut S,
    ) -> Result<u64, S::Error> {
        let changes = self.data.fill(shape, material);
        self.show_changes(changes, sink)
    }

    /// Applies an edit and replaces the meshes as [`set`](Self::set) does. Returns the number of
    /// changed voxels.
    ///
    /// # Cost
    /// About 0.2 ms per chunk that the edit touches, as for [`fill`](Self::fill).
    ///
    /// # Errors
    /// The first error of the sink. The voxels are set in any case, and the next update tries
    /// again.
    pub fn apply_edit<S: NodeSink>(&mut self, edit: &Edit, sink: &mut S) -> Result<u64, S::Error> {
        let changes = self.data.apply(edit);
        self.show_changes(changes, sink)
    }

    /// Whether an edit is not shown yet because some of its meshes are missing.
    pub fn has_waiting_edits(&self) -> bool {
        self.swaps.iter().any(|swap| !swap.is_reread())
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
        self.note_edit(&changes);
        let (changed, _) = self.changed(&changes);
        let shown = self.forget_changed(&changed);
        let swap = Swap::new(&shown, &changed, self.data.top_level());
        self.add_swap(&shown, swap.opened());
        changes.count
    }

    /// Ends an edit in parts. The [`update`](Self::update) after the last finished mesh shows all
    /// parts together.
    pub fn show_parts(&mut self) {
        self.close_swaps();
    }

    fn show_changes<S: NodeSink>(
        &mut self,
        changes: Changes,
        sink: &mut S,
    ) -> Result<u64, S::Error> {
        self.note_edit(&changes);
        let (changed, touched) = self.changed(&changes);
        let mut bodies: HashMap<NodePos, ChunkMesh> =
            changed.iter().filter_map(|&node| Some((node, self.bodies.take(node)?))).collect();
        let shown = self.forget_changed(&changed);
        if self.swaps.iter().any(|swap| swap.has_any(&shown)) || !self.can_show_at_once(&shown) {
            self.add_swap(&shown, Swap::new(&shown, &changed, self.data.top_level()));
            // The threads start before the next update.
            self.workers.request_first(&shown);
            return Ok(changes.count);
        }
        let job = |node: NodePos| {
            let touched = touched.get(&node)?;
            let skirts = self.shown.get(&node)?.made.to_make(touched.skirts);
            let old = bodies.remove(&node).map(|body| (body, touched.voxels));
            Some(MeshJob { node, skirts, old })
        };
        let job = shown.into_iter().filter_map(job).collect();
        let meshes = self.meshes(job);
        let replaced = self.replace_all(meshes, sink);
        replaced.and(self.close_borders(sink)).map(|()| changes.count)
    }

    /// Records an edit. Stored bodies are outdated if another tree has edited the data since.
    fn note_edit(&mut self, changes: &Changes) {
        if changes.number != self.last_edit + 1 {
            self.bodies.clear();
        }
        self.last_edit = changes.number;
    }

    /// Returns the nodes whose meshes may change, and what may change in each.
    fn changed(&self, changes: &Changes) -> (HashSet<NodePos>, HashMap<NodePos, Touched>) {
        let mut all: HashMap<NodePos, Touched> = HashMap::new();
        let mut touch = |node: NodePos, touched: Touched| {
            all.entry(node).and_modify(|it| it.join(&touched)).or_insert(touched);
        };
        for part in &changes.parts {
            let (skirts, voxels) = (part.span.sides(), part.span.corners());
            touch(part.node, Touched { skirts, voxels });
            for AffectedNeighbor { neighbor, face, is_translucent } in self.affected_neighbors(part)
            {
                // The skirts of a translucent neighbour that end at this border may change too.
                let along = skirts.without(FaceSet::EMPTY.with(face).with(face.opposite()));
                let skirts = if is_translucent { along } else { FaceSet::EMPTY }.with(face);
                touch(neighbor, Touched { skirts, voxels: part.span.beyond(face) });
            }
        }
        (all.keys().copied().collect(), all)
    }

    /// Drops all finished meshes of these nodes. Returns the nodes that are shown.
    fn forget_changed(&mut self, changed: &HashSet<NodePos>) -> Vec<NodePos> {
        self.workers.forget(changed);
        for node in changed {
            self.take_ready(*node);
            self.bodies.take(*node);
        }
        changed.iter().copied().filter(|&node| self.is_shown(node)).collect()
    }

    /// Whether the meshes of these nodes can be made and shown at once.
    fn can_show_at_once(&self, nodes: &[NodePos]) -> bool {
        let mut left = Self::MAX_CHUNKS_AT_ONCE;
        nodes.len() <= Self::MAX_MESHES_AT_ONCE
            && nodes.iter().all(|&node| {
                let around = Face::ALL.into_iter().filter_map(|face| node.offset(face.normal()));
                around.chain([node]).all(|it| self.data.charge_chunks(it, &mut left))
            })
    }

    fn meshes(&mut self, nodes: Vec<MeshJob>) -> Vec<(NodePos, NodeMesh)> {
        let data = self.data.as_ref();
        let mesh = |mesher: &mut NodeMesher, MeshJob { node, skirts, old }: MeshJob| {
            let old = old.as_ref().map(|(body, voxels)| (body, *voxels));
            (node, mesher.remesh(data, node, skirts, old))
        };
        if nodes.len() <= MAX_SERIAL {
            return nodes.into_iter().map(|node| mesh(&mut self.mesher, node)).collect();
        }
        nodes.into_par_iter().map_init(NodeMesher::default, mesh).collect()
    }

    /// Records that the sink has accepted another body of a shown node.
    pub(super) fn note_replaced<S: NodeSink>(
        &mut self,
        node: NodePos,
        mut mesh: NodeMesh,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        self.note_broken(&mesh);
        let body = std::mem::take(&mut mesh.body);
        self.bodies.take(node);
        let Some(shown) = self.shown.get_mut(&node) else { return Ok(()) };
        shown.quads = body.len() as u32;
        if mesh.is_whole() {
            self.bodies.insert(node, body);
        }
        let kept = mesh.skirts.kept();
        mesh.skirts.keep(&mut shown.made);
        shown.made = mesh.skirts;
        // Outdated skirts are removed. The new ones are shown when the borders are closed.
        let skirts = shown.skirts.without(kept);
        shown.skirts = shown.skirts.without(skirts);
        self.record_shown(node, mesh.is_air);
        self.touched.push(node);
        self.invalidate_ancestors(node);
        self.remove_from_sink(node, PendingRemoval { has_body: false, skirts }, sink)
    }

    /// Returns the neighbours whose meshes may change with a node: those with voxels next to
    /// changed voxels.
    fn affected_neighbors(&self, part: &Part) -> impl Iterator<Item = AffectedNeighbor> + '_ {
        let &Part { node, span, sides } = part;
        let materials = self.data.materials();
        let sides = Face::ALL.into_iter().filter(move |&face| sides.contains(face));
        sides.filter_map(move |side| {
            let neighbor = node.offset(side.normal())?;
            let face = side.opposite();
            let affected = AffectedNeighbor { neighbor, face, is_translucent: true };
            // No chunk is made for this check.
            if !self.is_shown(neighbor) {
                return Some(affected);
            }
            let Some(chunk) = self.data.cached(neighbor) else { return Some(affected) };
            let beside = span.at_side(side).at_side(face);
            let is_any = |is_so: &dyn Fn(Material) -> bool| {
                beside.any(|at| is_so(chunk.get(at))).unwrap_or(true)
            };
            let is_translucent = is_any(&|voxel| materials.is_translucent(voxel));
            is_any(&|voxel| !voxel.is_air())
                .then_some(AffectedNeighbor { is_translucent, ..affected })
        })
    }
}

/// A node whose mesh has to be rebuilt.
struct MeshJob {
    node: NodePos,
    skirts: FaceSet,
    /// Previous body, if that is stored, and the bounds of the voxels that may have changed
    /// since.
    old: Option<(ChunkMesh, [[i32; 3]; 2])>,
}

/// A neighbour with voxels next to changed voxels.
struct AffectedNeighbor {
    neighbor: NodePos,
    /// Side of the neighbour that touches the changed node.
    face: Face,
    /// Whether some of these voxels are or may be translucent. The translucent quads of the skirts
    /// may then have changed.
    is_translucent: bool,
}
