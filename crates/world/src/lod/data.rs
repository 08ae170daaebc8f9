use std::collections::BTreeSet;
#[cfg(test)]
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use drystone_formats::{Source, SourceError};
use drystone_store::ChunkCache;
use drystone_voxel::{
    Chunk, ChunkBox, ChunkPos, Material, MaterialTable, NodePos, VoxelPos, downsample,
};
use hashbrown::{HashMap, HashSet};
use web_time::Instant;

use super::node_grid::{NodeGrid, is_representable};
use crate::edit::VoxelAccess;

pub(super) mod edit;
mod edits;
mod lod_voxels;
pub(super) mod save;
pub(super) mod span;
mod whole;

use edits::Edits;

/// The chunks of a source at every level of detail, with unsaved edits.
///
/// A chunk of level 0 comes from the source. A chunk of a higher level is made by the source or
/// downsampled from its eight children. Recently used chunks are cached. Edited chunks are kept in
/// memory until they are [saved](Self::saved).
///
/// All methods can be called from any thread. No lock is held while a chunk is made.
pub struct LodData {
    source: Box<dyn Source>,
    grid: RwLock<NodeGrid>,
    /// The nodes of the highest level that may hold voxels.
    roots: RwLock<BTreeSet<NodePos>>,
    cache: Mutex<ChunkCache>,
    edits: RwLock<Edits>,
    /// Held during an edit. Holds the number of edits so far.
    editing: Mutex<u64>,
    /// Nodes with chunks below them. Tracked only if the source neither makes levels nor reports
    /// air exactly.
    filled: Option<RwLock<HashSet<NodePos>>>,
    /// A line for each chunk that could not be read.
    faults: Mutex<HashMap<NodePos, String>>,
    pub(super) clock: Clock,
}

/// A chunk, and whether it is complete.
pub(super) struct LoadedChunk {
    pub(super) chunk: Chunk,
    /// Whether all chunks that it is made from could be read.
    pub(super) is_whole: bool,
}

impl LoadedChunk {
    const fn whole(chunk: Chunk) -> Self {
        Self { chunk, is_whole: true }
    }
}

/// Maximum number of damaged chunks that are listed.
const MAX_FAULTS: usize = 1_000;
/// Maximum number of chunks of a source that are tracked, with all nodes above them. Each entry
/// takes 16 bytes.
const MAX_TRACKED_CHUNKS: u64 = 1 << 22;

impl LodData {
    /// Time after which unreadable data is read again. A failing disk may be slow to answer each
    /// attempt. An edit reads it again at once.
    pub const RETRY_AFTER: Duration = Duration::from_secs(4);

    /// Creates the levels of `source`. The cache of recently used chunks takes at most
    /// `cache_bytes`.
    pub fn new(source: Box<dyn Source>, cache_bytes: usize) -> Self {
        let grid = NodeGrid::new(source.extent());
        let is_known = source.makes_levels() || source.has_exact_air();
        let is_tracked = !is_known && source.chunk_count() <= MAX_TRACKED_CHUNKS;
        let filled = || {
            let chunks = source.chunk_positions();
            let mut nodes = HashSet::with_capacity(chunks.len() + chunks.len() / 4);
            chunks.into_iter().for_each(|it| grid.insert_with_ancestors(&mut nodes, it.into()));
            RwLock::new(nodes)
        };
        Self {
            filled: is_tracked.then(filled),
            grid: RwLock::new(grid),
            roots: RwLock::new(grid.roots().into_iter().collect()),
            source,
            cache: Mutex::new(ChunkCache::new(cache_bytes)),
            edits: RwLock::default(),
            editing: Mutex::default(),
            faults: Mutex::default(),
            clock: Clock::start(),
        }
    }

    /// Returns the chunk at `node`. It is air outside the world and where the source failed.
    /// Failures are listed by [`faults`](Self::faults).
    ///
    /// # Cost
    /// A lookup if the chunk was used recently. Otherwise the source's time. At a level that the
    /// source does not make: the time for the eight children, plus 0.2 ms.
    pub fn chunk(&self, node: NodePos) -> Chunk {
        self.readable_chunk(node).unwrap_or_else(|| Chunk::new(Chunk::SIDE, Material::AIR))
    }

    /// Returns the voxel of level 0 at `voxel`.
    pub fn get(&self, voxel: VoxelPos) -> Material {
        let (chunk, local) = voxel.split(Chunk::SIDE);
        self.chunk(chunk.into()).get(local)
    }

    /// Returns the source of the voxels.
    pub fn source(&self) -> &dyn Source {
        self.source.as_ref()
    }

    /// Returns the materials that voxels refer to.
    pub fn materials(&self) -> &MaterialTable {
        self.source.materials()
    }

    /// Returns the box of chunks that can hold voxels. Everything outside is air. Edits outside
    /// extend it.
    pub fn extent(&self) -> Option<ChunkBox> {
        self.grid().extent
    }

    /// Returns the nodes of the highest level, which cover the whole world, sorted. The source has
    /// at most eight, except if the highest level is [`NodePos::MAX_LEVEL`]. Edits outside add some.
    pub fn roots(&self) -> Vec<NodePos> {
        self.roots.read().unwrap_or_else(PoisonError::into_inner).iter().copied().collect()
    }

    /// Returns the level of the roots.
    pub fn top_level(&self) -> u8 {
        self.grid().top_level
    }

    /// Whether `node` overlaps the [extent](Self::extent) of the world.
    pub fn is_inside(&self, node: NodePos) -> bool {
        self.grid().contains(node)
    }

    /// Returns a line for each chunk that could not be read, at most the first thousand.
    pub fn faults(&self) -> Vec<String> {
        let mut lines = self.source.faults();
        lines.extend(lock(&self.faults).values().cloned());
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// Sets the limit for recently used chunks, in bytes. Beyond it, some are dropped at once.
    pub fn set_cache_bytes(&self, cache_bytes: usize) {
        lock(&self.cache).set_limit_bytes(cache_bytes);
    }

    /// Size of the recently used chunks, in bytes.
    pub fn cached_bytes(&self) -> usize {
        lock(&self.cache).size_bytes()
    }
}

impl LodData {
    /// Returns the chunk at `node`, or `None` if the source failed.
    pub(crate) fn readable_chunk(&self, node: NodePos) -> Option<Chunk> {
        self.load(node).map(|made| made.chunk)
    }

    /// Returns the chunk at `node` and whether it is complete, or `None` if the source failed.
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
            // An incomplete chunk is read again after a while.
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
            // If the node was edited or saved meanwhile, the chunk may be outdated and is made
            // again.
            if lock(&self.cache).insert_made(node, &made.chunk, epoch) {
                // An edit that came meanwhile has priority.
                let edited = self.read_edits().get(node).cloned();
                return Some(edited.map_or(made, LoadedChunk::whole));
            }
        }
    }

    fn make(&self, node: NodePos) -> Result<LoadedChunk, SourceError> {
        let air = || Chunk::new(Chunk::SIDE, Material::AIR);
        if self.is_source_air(node) {
            return Ok(LoadedChunk::whole(air()));
        }
        if node.level == 0 {
            return self.source.chunk(node.chunk).map(LoadedChunk::whole);
        }
        // LOD voxels that the source only stores do not contain unsaved edits.
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

    /// Returns the chunk at `node` if a lookup finds it.
    pub(super) fn cached(&self, node: NodePos) -> Option<Chunk> {
        let edited = self.read_edits().get(node).cloned();
        edited.or_else(|| lock(&self.cache).get(node))
    }

    /// Whether an empty node also has no voxels at lower levels. Downsampled LOD voxels cover all
    /// smaller ones, but those that the source makes may not.
    pub(super) fn is_air_below(&self, node: NodePos) -> bool {
        node.level == 0 || self.source.is_air(node) || !self.source.makes_levels()
    }

    /// Whether the source has only air in the chunks that a node covers.
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

    /// Subtracts the number of source chunks that a node still needs from `left`. Returns false if
    /// `left` is too small.
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

    fn note_fault(&self, node: NodePos, error: &SourceError) {
        self.note(node, || error.to_string());
    }

    /// Records that the code that reads a node panicked.
    pub(super) fn note_panic(&self, node: NodePos) {
        let ([x, y, z], level) = ([node.chunk.x, node.chunk.y, node.chunk.z], node.level);
        let name = self.source.name();
        self.note(node, || {
            format!("{name}: chunk {x}, {y}, {z} of level {level}: this program failed to read it; please report it")
        });
    }

    fn note(&self, node: NodePos, line: impl FnOnce() -> String) {
        let mut faults = lock(&self.faults);
        if faults.len() < MAX_FAULTS {
            faults.entry(node).or_insert_with(line);
        }
    }

    pub(super) fn grid(&self) -> NodeGrid {
        *self.grid.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_edits(&self) -> RwLockWriteGuard<'_, Edits> {
        self.edits.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_edits(&self) -> RwLockReadGuard<'_, Edits> {
        self.edits.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Time since the start. In tests, time passes only when a test advances it.
pub(super) struct Clock {
    start: Instant,
    #[cfg(test)]
    skipped_s: AtomicU64,
}

impl Clock {
    fn start() -> Self {
        Self {
            start: Instant::now(),
            #[cfg(test)]
            skipped_s: AtomicU64::new(0),
        }
    }

    #[cfg(not(test))]
    pub(super) fn now(&self) -> Duration {
        self.start.elapsed()
    }

    /// Returns only the time that the test has let pass.
    #[cfg(test)]
    pub(super) fn now(&self) -> Duration {
        let _ = self.start;
        Duration::from_secs(self.skipped_s.load(Ordering::Relaxed))
    }

    #[cfg(test)]
    pub(super) fn pass(&self, time: Duration) {
        self.skipped_s.fetch_add(time.as_secs(), Ordering::Relaxed);
    }
}

/// Locks a mutex, even after a panic in another thread: entries are always inserted completely.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl VoxelAccess for LodData {
    fn side(&self) -> u32 {
        Chunk::SIDE
    }

    fn chunk_at(&self, position: ChunkPos) -> Option<Chunk> {
        is_representable(position).then(|| self.readable_chunk(position.into()))?
    }
}

impl std::fmt::Debug for LodData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LodData").field("source", &self.source.name()).finish_non_exhaustive()
    }
}
