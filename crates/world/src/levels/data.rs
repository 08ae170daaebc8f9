use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

use drystone_voxel::{
    Chunk, ChunkPos, Material, MaterialTable, VoxelPos, downsample, downsample_block,
};

use super::cache::Cache;
use crate::{ChunkBox, NodePos, Source, WorldError};

/// The chunks of a source at every level of detail, and what was changed in them.
///
/// A chunk of level 0 is the source's. One of a higher level is what the source makes of
/// it, or follows from its eight children. What was used lately is kept; what was changed is
/// kept until it is [taken](Self::edited).
///
/// All of it may be asked from any thread; nothing is locked while a chunk is made.
pub struct LevelData {
    source: Box<dyn Source>,
    extent: Option<ChunkBox>,
    top: u8,
    cache: Mutex<Cache>,
    /// By node: of level 0 what was set, above what follows from it.
    edits: RwLock<HashMap<NodePos, Chunk>>,
    faults: Mutex<Faults>,
}

/// Chunks that the source could not give, each named once.
#[derive(Default)]
struct Faults {
    nodes: HashSet<NodePos>,
    lines: Vec<String>,
}

/// So many damaged chunks are named.
const NAMED_FAULTS: usize = 1_000;

/// What an edit of one voxel changed: the nodes whose voxels are others now, and which.
pub(super) type Changes = Vec<(NodePos, VoxelPos)>;

impl LevelData {
    /// The levels of `source`; chunks that were used lately take at most `cache_bytes`.
    pub fn new(source: Box<dyn Source>, cache_bytes: usize) -> Self {
        let extent = source.extent();
        Self {
            top: extent.map_or(0, top_level),
            extent,
            source,
            cache: Mutex::new(Cache::new(cache_bytes)),
            edits: RwLock::default(),
            faults: Mutex::default(),
        }
    }

    /// Where the voxels come from.
    pub fn source(&self) -> &dyn Source {
        self.source.as_ref()
    }

    /// What the voxels' numbers mean.
    pub fn materials(&self) -> &MaterialTable {
        self.source.materials()
    }

    /// The box of chunks outside of which nothing is and nothing can be set.
    pub fn extent(&self) -> Option<ChunkBox> {
        self.extent
    }

    /// The nodes of the highest level, which cover all there is: at most eight.
    pub fn roots(&self) -> Vec<NodePos> {
        let Some(extent) = self.extent else { return Vec::new() };
        let [low, high] =
            [extent.min, extent.max].map(|it| NodePos::from(it).ancestor(self.top).chunk);
        let mut roots = Vec::new();
        for x in low.x..=high.x {
            for y in low.y..=high.y {
                roots.extend(
                    (low.z..=high.z).map(|z| NodePos::new(self.top, ChunkPos::new(x, y, z))),
                );
            }
        }
        roots
    }

    /// The level of the roots.
    pub const fn top_level(&self) -> u8 {
        self.top
    }

    /// Whether `node` covers any place where something may be.
    pub fn is_inside(&self, node: NodePos) -> bool {
        self.extent.is_some_and(|extent| {
            let [low, high] =
                [extent.min, extent.max].map(|it| NodePos::from(it).ancestor(node.level).chunk);
            ChunkBox { min: low, max: high }.contains(node.chunk)
        })
    }

    /// The chunk at `node`; air outside of the world, and where the source failed, which is
    /// then told among the [`faults`](Self::faults).
    ///
    /// # Cost
    /// A look-up where it was used lately; else what the source takes, or for a level that the
    /// source does not make, its children and 0.2 ms.
    pub fn chunk(&self, node: NodePos) -> Chunk {
        if !self.is_inside(node) {
            return Chunk::new(Chunk::SIDE, Material::AIR);
        }
        if let Some(chunk) = self.read_edits().get(&node) {
            return chunk.clone();
        }
        if let Some(chunk) = lock(&self.cache).get(node) {
            return chunk;
        }
        let chunk = self.make(node).unwrap_or_else(|error| {
            self.note_fault(node, &error);
            Chunk::new(Chunk::SIDE, Material::AIR)
        });
        lock(&self.cache).insert(node, chunk.clone());
        // An edit may have come meanwhile; it wins.
        self.read_edits().get(&node).cloned().unwrap_or(chunk)
    }

    /// Whether a node that is air has nothing but air below it either. Larger voxels that
    /// follow from smaller ones hold all of them; those that the source makes may not.
    pub(super) fn is_air_below(&self, node: NodePos) -> bool {
        node.level == 0 || self.source.is_air(node) || !self.source.makes_levels()
    }

    fn make(&self, node: NodePos) -> Result<Chunk, WorldError> {
        if node.level == 0 {
            return self.source.chunk(node.chunk);
        }
        if let Some(made) = self.source.coarse_chunk(node) {
            return made;
        }
        let air = || Chunk::new(Chunk::SIDE, Material::AIR);
        let Some(children) = node.children() else { return Ok(air()) };
        let chunks = children.map(|child| self.chunk(child));
        let parent = downsample(Chunk::SIDE, chunks.each_ref().map(Some), self.materials());
        Ok(parent.unwrap_or_else(air))
    }

    /// The voxel of level 0 at `voxel`.
    pub fn get(&self, voxel: VoxelPos) -> Material {
        let (chunk, local) = voxel.split(Chunk::SIDE);
        self.chunk(chunk.into()).get(local)
    }

    /// Sets a voxel, and at every level the voxel that stands for it. Returns what changed,
    /// the lowest level first: nothing outside of the world.
    pub(super) fn set(&self, voxel: VoxelPos, material: Material) -> Changes {
        let mut changes = Changes::new();
        let (chunk, local) = voxel.split(Chunk::SIDE);
        let mut node = NodePos::from(chunk);
        if !self.is_inside(node) {
            return changes;
        }
        let (mut at, mut local, mut material) = (voxel, local, material);
        loop {
            let mut chunk = self.chunk(node);
            if chunk.set(local, material) == material {
                return changes;
            }
            changes.push((node, at));
            self.write_edit(node, chunk.clone());
            if node.level == self.top {
                return changes;
            }
            let low = |c: u8| c & !1;
            let block: [Material; 8] = std::array::from_fn(|i| {
                let [dx, dy, dz] = [i & 1, i >> 1 & 1, i >> 2].map(|far| far as u8);
                let [x, y, z] = [low(local.x) + dx, low(local.y) + dy, low(local.z) + dz];
                chunk.get(drystone_voxel::LocalPos::new(x, y, z))
            });
            material = downsample_block(block, self.materials());
            at = VoxelPos::new(at.x >> 1, at.y >> 1, at.z >> 1);
            local = at.split(Chunk::SIDE).1;
            node = node.parent();
        }
    }

    /// The chunks of level 0 that were changed, as they are now, in the order of positions.
    pub fn edited(&self) -> Vec<(ChunkPos, Chunk)> {
        let edits = self.read_edits();
        let lowest = edits.iter().filter(|(node, _)| node.level == 0);
        let mut chunks: Vec<_> = lowest.map(|(node, chunk)| (node.chunk, chunk.clone())).collect();
        chunks.sort_unstable_by_key(|&(position, _)| position);
        chunks
    }

    /// What could not be read so far, a line each; the first thousand of them.
    pub fn faults(&self) -> Vec<String> {
        let mut lines = self.source.faults();
        lines.extend(lock(&self.faults).lines.iter().cloned());
        lines
    }

    /// Bytes of the chunks that were used lately.
    pub fn cached_bytes(&self) -> usize {
        lock(&self.cache).size_bytes()
    }

    fn note_fault(&self, node: NodePos, error: &WorldError) {
        let mut faults = lock(&self.faults);
        if faults.lines.len() < NAMED_FAULTS && faults.nodes.insert(node) {
            faults.lines.push(error.to_string());
        }
    }

    fn read_edits(&self) -> std::sync::RwLockReadGuard<'_, HashMap<NodePos, Chunk>> {
        self.edits.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_edit(&self, node: NodePos, chunk: Chunk) {
        self.edits.write().unwrap_or_else(PoisonError::into_inner).insert(node, chunk);
    }
}

/// A panic elsewhere leaves nothing half done here: entries are put in whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The lowest level at which at most two nodes an axis cover `extent`.
fn top_level(extent: ChunkBox) -> u8 {
    (0..NodePos::MAX_LEVEL)
        .find(|&level| {
            let [low, high] =
                [extent.min, extent.max].map(|it| NodePos::from(it).ancestor(level).chunk);
            ChunkBox { min: low, max: high }.size_chunks().iter().all(|&side| side <= 2)
        })
        .unwrap_or(NodePos::MAX_LEVEL)
}

impl std::fmt::Debug for LevelData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LevelData").field("source", &self.source.name()).finish_non_exhaustive()
    }
}
