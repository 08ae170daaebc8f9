use drystone_mesh::{Face, FaceSet};
use drystone_voxel::{ChunkMesh, Material, VoxelPos};
use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;

use super::super::data::{Changes, Part};
use super::super::node_mesh::{NodeMesher, Touched};
use super::changes::PendingRemoval;
use super::swap::Swap;
use super::{LodTree, NodeSink};
use crate::lod::NodeMesh;
use crate::{Edit, NodePos, VoxelShape};

/// Up to so many meshes are made by whoever edits; more, on all cores.
const FEW: usize = 4;

impl LodTree {
    /// An edit that touches no more meshes than this shows at once.
    pub const MAX_MESHES_AT_ONCE: usize = 64;
    /// And that needs no more chunks than this that are not in memory.
    const MAX_CHUNKS_AT_ONCE: usize = 64;

    /// Sets voxels, in their order, and shows every mesh that they touch anew: bodies, skirts,
    /// all levels. Voxels outside of the world are left as they are. Returns how often a voxel
    /// became another.
    ///
    /// Up to [`MAX_MESHES_AT_ONCE`](Self::MAX_MESHES_AT_ONCE) meshes are shown before this
    /// returns. More are made by the threads and come all together, with the
    /// [`update`](Self::update) that finds the last of them made; until then the old ones are
    /// shown, and levels stay as they are there. So it is too where many chunks would first
    /// have to be read, and for an edit that touches a mesh which is waited for: the
    /// meshes show both edits then.
    ///
    /// # Cost
    /// About 0.1 ms for each mesh that is shown at once, half as much where it was edited lately:
    /// one voxel touches one to four. Whoever must not be held up by many takes [`apply_part`](Self::apply_part).
    ///
    /// # Errors
    /// The sink's. The voxels are set then; what could not be shown is shown as it was, and the
    /// next update tries again.
    pub fn set<S: NodeSink>(
        &mut self,
        voxels: impl IntoIterator<Item = (VoxelPos, Material)>,
        sink: &mut S,
    ) -> Result<u64, S::Error> {
        let changes = self.data.set(voxels);
        self.show_changes(changes, sink)
    }

    /// Sets all voxels of a shape, as [`set`](Self::set) would one after the other.
    ///
    /// # Cost
    /// About 0.2 ms a chunk that the shape touches, on all cores, and what the source takes for
    /// chunks that were not used lately: 60 ms for a ball of 100 voxels' radius. An
    /// [`Edit`] of it in [parts](crate::EditParts) takes some milliseconds a part, and some for
    /// showing them. Beyond that as [`set`](Self::set).
    ///
    /// # Errors
    /// As [`set`](Self::set).
    pub fn fill<S: NodeSink>(
        &mut self,
        shape: &VoxelShape,
        material: Material,
        sink: &mut S,
    ) -> Result<u64, S::Error> {
        let changes = self.data.fill(shape, material);
        self.show_changes(changes, sink)
    }

    /// Sets what an edit changes, as [`set`](Self::set) would voxel by voxel.
    ///
    /// # Cost
    /// As [`fill`](Self::fill).
    ///
    /// # Errors
    /// As [`set`](Self::set).
    pub fn apply_edit<S: NodeSink>(&mut self, edit: &Edit, sink: &mut S) -> Result<u64, S::Error> {
        let changes = self.data.apply(edit);
        self.show_changes(changes, sink)
    }

    /// Whether an edit waits until all of it can be shown.
    pub fn has_waiting_edits(&self) -> bool {
        self.swaps.iter().any(|swap| !swap.is_reread())
    }

    /// Sets what a part of an edit changes, and shows nothing of it before
    /// [`show_parts`](Self::show_parts): then all parts come together. Until then levels stay as
    /// they are there. Returns how often a voxel became another.
    ///
    /// # Cost
    /// About 0.2 ms a chunk that the part touches, and as much again for the larger voxels
    /// above them.
    pub fn apply_part(&mut self, part: &Edit) -> u64 {
        let changes = self.data.apply(part);
        self.note_edit(&changes);
        let (changed, _) = self.changed(&changes);
        let shown = self.forget_changed(&changed);
        let swap = Swap::new(&shown, &changed, self.data.top_level());
        self.add_swap(&shown, swap.opened());
        changes.count
    }

    /// No more parts are to come: those that there are show together, with the
    /// [`update`](Self::update) that finds the last of their meshes made.
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
        if self.swaps.iter().any(|swap| swap.has_any(&shown)) || !self.is_quick(&shown) {
            self.add_swap(&shown, Swap::new(&shown, &changed, self.data.top_level()));
            // The threads begin before the next update.
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

    /// Where another tree of the same data has edited meanwhile, bodies are of before.
    fn note_edit(&mut self, changes: &Changes) {
        if changes.number != self.last_edit + 1 {
            self.bodies.clear();
        }
        self.last_edit = changes.number;
    }

    /// The nodes whose meshes may be others after changes, and what of them may be.
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
                // And those whose rims end there.
                let along = skirts.without(FaceSet::EMPTY.with(face).with(face.opposite()));
                let skirts = if is_translucent { along } else { FaceSet::EMPTY }.with(face);
                touch(neighbor, Touched { skirts, voxels: part.span.beyond(face) });
            }
        }
        (all.keys().copied().collect(), all)
    }

    /// Whatever was made of these nodes is of no use; returns those that are shown.
    fn forget_changed(&mut self, changed: &HashSet<NodePos>) -> Vec<NodePos> {
        self.workers.forget(changed);
        for node in changed {
            self.take_ready(*node);
            self.bodies.take(*node);
        }
        changed.iter().copied().filter(|&node| self.is_shown(node)).collect()
    }

    /// Whether these meshes can be made at once.
    fn is_quick(&self, nodes: &[NodePos]) -> bool {
        let mut left = Self::MAX_CHUNKS_AT_ONCE;
        nodes.len() <= Self::MAX_MESHES_AT_ONCE
            && nodes.iter().all(|&node| {
                let around = Face::ALL.into_iter().filter_map(|face| node.offset(face.normal()));
                around.chain([node]).all(|it| self.data.spend_chunks(it, &mut left))
            })
    }

    fn meshes(&mut self, nodes: Vec<MeshJob>) -> Vec<(NodePos, NodeMesh)> {
        let data = self.data.as_ref();
        let mesh = |mesher: &mut NodeMesher, MeshJob { node, skirts, old }: MeshJob| {
            let old = old.as_ref().map(|(body, voxels)| (body, *voxels));
            (node, mesher.remesh(data, node, skirts, old))
        };
        if nodes.len() <= FEW {
            return nodes.into_iter().map(|node| mesh(&mut self.mesher, node)).collect();
        }
        nodes.into_par_iter().map_init(NodeMesher::default, mesh).collect()
    }

    /// The sink has another body of a node that is shown.
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
        // The old skirts go, and those that there are now come with the borders.
        let skirts = shown.skirts.without(kept);
        shown.skirts = shown.skirts.without(skirts);
        self.record_shown(node, mesh.is_air);
        self.touched.push(node);
        self.invalidate_ancestors(node);
        self.remove_from_sink(node, PendingRemoval { has_body: false, skirts }, sink)
    }

    /// The neighbours of a node whose meshes may be others after it has changed: those that
    /// have voxels beside the changed ones.
    fn affected_neighbors(&self, part: &Part) -> impl Iterator<Item = AffectedNeighbor> + '_ {
        let &Part { node, span, sides } = part;
        let materials = self.data.materials();
        let sides = Face::ALL.into_iter().filter(move |&face| sides.contains(face));
        sides.filter_map(move |side| {
            let neighbor = node.offset(side.normal())?;
            let face = side.opposite();
            let affected = AffectedNeighbor { neighbor, face, is_translucent: true };
            // Nothing is made for this.
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

/// A node whose mesh is to be made anew.
struct MeshJob {
    node: NodePos,
    skirts: FaceSet,
    /// Its body, if that is kept, and the voxels that may have changed since.
    old: Option<(ChunkMesh, [[i32; 3]; 2])>,
}

/// A node that has voxels beside others that have changed.
struct AffectedNeighbor {
    neighbor: NodePos,
    /// The side from which it sees them.
    face: Face,
    /// Whether some of its voxels there are translucent, or may be: its rims may have changed.
    is_translucent: bool,
}
