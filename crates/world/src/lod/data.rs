use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use drystone_voxel::{Chunk, ChunkPos, Material, MaterialTable, VoxelPos, downsample};
use hashbrown::HashSet;

use super::cache::Cache;
use crate::{ChunkBox, NodePos, Source, WorldError};

mod clock;
mod edit;
mod edited_chunk;
mod edits;
mod save;
mod span;
mod votes;

use clock::Clock;
pub(super) use edit::{Changes, Part};
use edits::Edits;
pub use save::Unsaved;

/// The chunks of a source at every level of detail, and what was changed in them.
///
/// A chunk of level 0 is the source's. One of a higher level is what the source makes of
/// it, or follows from its eight children. What was used lately is kept; what was changed is
/// kept until it is [saved](Self::saved).
///
/// All of it may be asked from any thread; nothing is locked while a chunk is made.
pub struct LodData {
    source: Arc<dyn Source>,
    extent: Option<ChunkBox>,
    top: u8,
    cache: Mutex<Cache>,
    edits: RwLock<Edits>,
    /// One edit at a time; how many there were.
    editing: Mutex<u64>,
    /// Where the source neither makes levels nor knows what is air: the nodes that have chunks
    /// below them.
    filled: Option<RwLock<HashSet<NodePos>>>,
    faults: Mutex<Faults>,
    pub(super) clock: Clock,
}

/// Chunks that the source could not give, each named once.
#[derive(Default)]
struct Faults {
    nodes: HashSet<NodePos>,
    lines: Vec<String>,
}

/// A chunk that was made.
pub(super) struct LoadedChunk {
    pub(super) chunk: Chunk,
    /// Whether all that it is made of could be read.
    pub(super) is_whole: bool,
}

impl LoadedChunk {
    const fn whole(chunk: Chunk) -> Self {
        Self { chunk, is_whole: true }
    }
}

/// So many damaged chunks are named.
const MAX_FAULTS: usize = 1_000;

/// So many chunks of a source are remembered, with all nodes above them: 16 bytes each.
const MAX_TRACKED_CHUNKS: u64 = 1 << 22;
/// The farthest chunk from the origin whose voxels have numbers.
const MAX_CHUNK_COORDINATE: i32 = (1 << 26) - 1;

impl LodData {
    /// So long what could not be read is left alone, before it is tried again: a disk that fails
    /// takes its time for each answer. An edit tries it again at once.
    pub const RETRY_AFTER: Duration = Duration::from_secs(4);

    /// The levels of `source`; chunks that were used lately take at most `cache_bytes`.
    pub fn new(source: Box<dyn Source>, cache_bytes: usize) -> Self {
        Self::shared(source.into(), cache_bytes)
    }

    /// The same of a source that others have, too: who reads it as it was, or keeps edits.
    pub fn shared(source: Arc<dyn Source>, cache_bytes: usize) -> Self {
        let extent = source.extent().and_then(clipped);
        let top = extent.map_or(0, top_level);
        let is_known = source.makes_levels() || source.has_exact_air();
        let is_tracked = !is_known && source.chunk_count() <= MAX_TRACKED_CHUNKS;
        Self {
            filled: is_tracked.then(|| RwLock::new(nodes_above(source.chunk_positions(), top))),
            top,
            extent,
            source,
            cache: Mutex::new(Cache::new(cache_bytes)),
            edits: RwLock::default(),
            editing: Mutex::default(),
            faults: Mutex::default(),
            clock: Clock::start(),
        }
    }

    /// Where the voxels come from.
    pub fn source(&self) -> &dyn Source {
        self.source.as_ref()
    }

    /// The same, for whoever shows it in another way: two that open one file are strangers to each
    /// other, of whom one may write it.
    pub fn shared_source(&self) -> Arc<dyn Source> {
        Arc::clone(&self.source)
    }

    /// What the voxels' numbers mean.
    pub fn materials(&self) -> &MaterialTable {
        self.source.materials()
    }

    /// The box of chunks outside of which nothing is and nothing can be set.
    pub fn extent(&self) -> Option<ChunkBox> {
        self.extent
    }

    /// The nodes of the highest level, which cover all there is: at most eight, but at
    /// [`NodePos::MAX_LEVEL`] as many as the numbers of chunks need.
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
        self.extent.is_some_and(|extent| nodes_over(extent, node.level).contains(node.chunk))
    }

    /// The nodes below `node` that cover any place where something may be: at most eight.
    pub(super) fn children(&self, node: NodePos) -> impl Iterator<Item = NodePos> + use<> {
        let inside = self.extent.map(|extent| nodes_over(extent, node.level.saturating_sub(1)));
        let is_inside =
            move |child: &NodePos| inside.is_some_and(|inside| inside.contains(child.chunk));
        node.children().into_iter().flatten().filter(is_inside)
    }

    /// The chunk at `node`; air outside of the world, and where the source failed, which is
    /// then told among the [`faults`](Self::faults).
    ///
    /// # Cost
    /// A look-up where it was used lately; else what the source takes, or for a level that the
    /// source does not make, its children and 0.2 ms.
    pub fn chunk(&self, node: NodePos) -> Chunk {
        self.readable_chunk(node).unwrap_or_else(|| Chunk::new(Chunk::SIDE, Material::AIR))
    }

    /// The same; `None` where the source failed.
    pub(crate) fn readable_chunk(&self, node: NodePos) -> Option<Chunk> {
        self.load(node).map(|made| made.chunk)
    }

    /// The same with whether it lacks a part; `None` where the source failed.
    pub(super) fn load(&self, node: NodePos) -> Option<LoadedChunk> {
        if !self.is_inside(node) {
            return Some(LoadedChunk::whole(Chunk::new(Chunk::SIDE, Material::AIR)));
        }
        loop {
            if let Some(chunk) = self.read_edits().get(node) {
                return Some(LoadedChunk::whole(chunk.clone()));
            }
            let epoch = {
                let mut cache = lock(&self.cache);
                if let Some(chunk) = cache.get(node) {
                    return Some(LoadedChunk::whole(chunk));
                }
                if let Some(broken) = cache.broken(node, self.clock.now()) {
                    return broken.map(|chunk| LoadedChunk { chunk, is_whole: false });
                }
                cache.epoch(node)
            };
            // What lacks a part may be read yet: a while later.
            let remember = |chunk: Option<Chunk>| {
                let until = self.clock.now() + Self::RETRY_AFTER;
                lock(&self.cache).insert_broken(node, chunk, epoch, until);
            };
            let made = match self.make(node) {
                Ok(made) => made,
                Err(error) => {
                    self.note_fault(node, &error);
                    remember(None);
                    return None;
                }
            };
            if !made.is_whole {
                remember(Some(made.chunk.clone()));
                return Some(made);
            }
            // Where it was edited meanwhile, or edits became the source's, this may be of before.
            if lock(&self.cache).insert_made(node, &made.chunk, epoch) {
                // An edit may have come meanwhile; it wins.
                let edited = self.read_edits().get(node).cloned();
                return Some(edited.map_or(made, LoadedChunk::whole));
            }
        }
    }

    /// The chunk at `node`, if that costs no more than a look-up.
    pub(super) fn cached(&self, node: NodePos) -> Option<Chunk> {
        let edited = self.read_edits().get(node).cloned();
        edited.or_else(|| lock(&self.cache).get(node))
    }

    /// Whether a node that is air has nothing but air below it either. Larger voxels that
    /// follow from smaller ones hold all of them; those that the source makes may not.
    pub(super) fn is_air_below(&self, node: NodePos) -> bool {
        node.level == 0 || self.source.is_air(node) || !self.source.makes_levels()
    }

    /// Whether the source has nothing in the chunks that a node covers.
    fn is_source_air(&self, node: NodePos) -> bool {
        let is_filled = |filled: &RwLock<HashSet<NodePos>>| {
            filled.read().unwrap_or_else(PoisonError::into_inner).contains(&node)
        };
        if self.read_edits().is_above_any(node) {
            return false;
        }
        let is_tracked_air = self.filled.as_ref().is_some_and(|filled| !is_filled(filled));
        is_tracked_air || self.source.is_air(node)
    }

    fn make(&self, node: NodePos) -> Result<LoadedChunk, WorldError> {
        let air = || Chunk::new(Chunk::SIDE, Material::AIR);
        if self.is_source_air(node) {
            return Ok(LoadedChunk::whole(air()));
        }
        if node.level == 0 {
            return self.source.chunk(node.chunk).map(LoadedChunk::whole);
        }
        // Larger voxels that the source only keeps know nothing of what is not yet its own.
        let is_behind = !self.source.makes_levels() && self.read_edits().is_above_any(node);
        if let Some(made) = self.source.coarse_chunk(node).filter(|_| !is_behind) {
            return made.map(LoadedChunk::whole);
        }
        let Some(children) = node.children() else { return Ok(LoadedChunk::whole(air())) };
        let chunks = children.map(|child| self.load(child));
        let is_whole = chunks.iter().all(|made| made.as_ref().is_some_and(|made| made.is_whole));
        let chunks = chunks.map(|made| made.map_or_else(air, |made| made.chunk));
        let parent = downsample(Chunk::SIDE, chunks.each_ref().map(Some), self.materials());
        Ok(LoadedChunk { chunk: parent.unwrap_or_else(air), is_whole })
    }

    /// The voxel of level 0 at `voxel`.
    pub fn get(&self, voxel: VoxelPos) -> Material {
        let (chunk, local) = voxel.split(Chunk::SIDE);
        self.chunk(chunk.into()).get(local)
    }

    /// Takes what making the mesh-to-be of a node needs to have made off `left`, counted in
    /// chunks of the source; false where that is not enough.
    pub(super) fn charge_chunks(&self, node: NodePos, left: &mut usize) -> bool {
        let is_here = !self.is_inside(node)
            || self.read_edits().get(node).is_some()
            || lock(&self.cache).get(node).is_some()
            || lock(&self.cache).broken(node, self.clock.now()).is_some()
            || self.is_source_air(node);
        if is_here {
            return true;
        }
        match node.children().filter(|_| node.level > 0 && !self.source.makes_levels()) {
            Some(children) => children.into_iter().all(|child| self.charge_chunks(child, left)),
            None => left.checked_sub(1).map(|rest| *left = rest).is_some(),
        }
    }

    /// What could not be read so far, a line each; the first thousand of them.
    pub fn faults(&self) -> Vec<String> {
        let mut lines = self.source.faults();
        lines.extend(lock(&self.faults).lines.iter().cloned());
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// Bytes of the chunks that were used lately.
    pub fn cached_bytes(&self) -> usize {
        lock(&self.cache).size_bytes()
    }

    fn note_fault(&self, node: NodePos, error: &WorldError) {
        self.note(node, || error.to_string());
    }

    /// Notes that making a node failed in a way that nobody foresaw.
    pub(super) fn note_panic(&self, node: NodePos) {
        let [x, y, z] = [node.chunk.x, node.chunk.y, node.chunk.z];
        let (name, level) = (self.source.name(), node.level);
        self.note(node, || {
            format!("{name}: chunk {x}, {y}, {z} of level {level}: the program failed there; please report it")
        });
    }

    fn note(&self, node: NodePos, line: impl FnOnce() -> String) {
        let mut faults = lock(&self.faults);
        if faults.lines.len() < MAX_FAULTS && faults.nodes.insert(node) {
            faults.lines.push(line());
        }
    }

    fn write_edits(&self) -> RwLockWriteGuard<'_, Edits> {
        self.edits.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_edits(&self) -> RwLockReadGuard<'_, Edits> {
        self.edits.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A panic elsewhere leaves nothing half done here: entries are put in whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The part of a box whose voxels have numbers.
fn clipped(extent: ChunkBox) -> Option<ChunkBox> {
    let clip = |p: ChunkPos| {
        [p.x, p.y, p.z].map(|c| c.clamp(-MAX_CHUNK_COORDINATE - 1, MAX_CHUNK_COORDINATE))
    };
    let ([x, y, z], [to_x, to_y, to_z]) = (clip(extent.min), clip(extent.max));
    let is_beyond =
        |low: i32, high: i32| high < -MAX_CHUNK_COORDINATE - 1 || low > MAX_CHUNK_COORDINATE;
    let ChunkBox { min, max } = extent;
    let is_out = is_beyond(min.x, max.x) || is_beyond(min.y, max.y) || is_beyond(min.z, max.z);
    let clipped = ChunkBox { min: ChunkPos::new(x, y, z), max: ChunkPos::new(to_x, to_y, to_z) };
    (!is_out).then_some(clipped)
}

/// The chunks as nodes, and all nodes above them up to level `top`.
fn nodes_above(chunks: Vec<ChunkPos>, top: u8) -> HashSet<NodePos> {
    let mut nodes = HashSet::with_capacity(chunks.len() + chunks.len() / 4);
    for chunk in chunks {
        let mut node = NodePos::from(chunk);
        while nodes.insert(node) && node.level < top {
            node = node.parent();
        }
    }
    nodes
}

/// The nodes of a level that cover a box of chunks, as a box in the grid of that level.
fn nodes_over(extent: ChunkBox, level: u8) -> ChunkBox {
    let [min, max] = [extent.min, extent.max].map(|it| NodePos::from(it).ancestor(level).chunk);
    ChunkBox { min, max }
}

/// The lowest level at which at most two nodes an axis cover `extent`.
pub(crate) fn top_level(extent: ChunkBox) -> u8 {
    (0..NodePos::MAX_LEVEL)
        .find(|&level| nodes_over(extent, level).size_chunks().iter().all(|&side| side <= 2))
        .unwrap_or(NodePos::MAX_LEVEL)
}

impl std::fmt::Debug for LodData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LodData").field("source", &self.source.name()).finish_non_exhaustive()
    }
}
