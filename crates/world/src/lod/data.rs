use std::collections::BTreeSet;
#[cfg(test)]
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use drystone_formats::{Source, SourceError};
use drystone_store::ChunkCache;
use drystone_voxel::{
    Chunk, ChunkBox, ChunkPos, Material, MaterialTable, NodePos, VoxelBox, VoxelPos,
};
use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;
use web_time::Instant;

use super::node_grid::{NodeGrid, is_representable};
use crate::edit::VoxelAccess;
use crate::world::{bounds_of, read_chunks};

mod arrivals;
pub(super) mod edit;
mod edits;
mod lod_voxels;
pub(super) mod reading;
pub(super) mod span;
pub(super) mod unsaved;

use edits::Edits;
use unsaved::Unsaved;

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
    /// Materials of LOD voxels, which have no holes. `None` if no material of the source has any.
    lod_materials: Option<MaterialTable>,
    /// Nodes that were read before their data had come over a network.
    wished: Mutex<Vec<NodePos>>,
    pub(super) clock: Clock,
}

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
        let materials = source.materials();
        Self {
            lod_materials: materials.any_cut_out().then(|| materials.without_cut_outs()),
            filled: is_tracked.then(filled),
            grid: RwLock::new(grid),
            roots: RwLock::new(grid.roots().into_iter().collect()),
            source,
            cache: Mutex::new(ChunkCache::new(cache_bytes)),
            edits: RwLock::default(),
            editing: Mutex::default(),
            faults: Mutex::default(),
            wished: Mutex::default(),
            clock: Clock::start(),
        }
    }

    /// Returns the chunk at `node`. It is air outside the world and where the source failed.
    /// Failures are listed by [`faults`](Self::faults). Waits for a chunk that comes over a network, except in
    /// browsers, where it is air until it has come.
    ///
    /// # Cost
    /// A lookup if the chunk was used recently. Otherwise the source's time. At a level that the
    /// source does not make: the time for the eight children, plus 0.2 ms.
    pub fn chunk(&self, node: NodePos) -> Chunk {
        self.awaited_chunk(node).unwrap_or_else(|| Chunk::new(Chunk::SIDE, Material::AIR))
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

    /// Returns the materials with which chunks of a level are meshed. Cut-out ones are opaque above level
    /// 0, where their holes would be smaller than a pixel.
    pub(super) fn meshed_materials(&self, level: u8) -> &MaterialTable {
        let materials = self.lod_materials.as_ref().filter(|_| level > 0);
        materials.unwrap_or_else(|| self.materials())
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

    /// Reads all chunks of the source into the cache, on all cores, and returns the number of those
    /// that are not all air. `on_chunk` is called after each chunk, on any thread. Later reads find
    /// all chunks in memory if the cache has no limit.
    ///
    /// # Errors
    /// The errors of [`World::load`](crate::World::load).
    pub fn read_all(&self, on_chunk: impl Fn() + Sync) -> Result<usize, SourceError> {
        let chunks = read_chunks(self.source(), on_chunk)?;
        let mut cache = lock(&self.cache);
        let mut count = 0;
        for (position, chunk) in chunks {
            if let Some(chunk) = chunk {
                count += usize::from(!chunk.is_empty());
                cache.insert(position.into(), chunk);
            }
        }
        Ok(count)
    }

    /// Returns the positions of all chunks that may hold voxels, sorted: those of the source and
    /// those of unsaved edits.
    ///
    /// # Cost
    /// The cost of [`Source::chunk_positions`](drystone_formats::Source::chunk_positions).
    pub fn chunk_positions(&self) -> Vec<ChunkPos> {
        let mut positions = self.source.chunk_positions();
        positions.extend(self.read_edits().lowest().into_iter().map(|(position, _)| position));
        positions.sort_unstable();
        positions.dedup();
        positions
    }

    /// Number of chunks of level 0 that are not all air.
    ///
    /// # Cost
    /// Reads every chunk that is not cached, on all cores.
    pub fn solid_chunk_count(&self) -> usize {
        self.solid_chunks().len()
    }

    /// Returns the tight box around all voxels that are not air, or `None` if there are none.
    /// Unreadable chunks count as air.
    ///
    /// # Cost
    /// Reads every chunk that is not cached. O(voxels of the outermost chunks), on all cores.
    pub fn bounds(&self) -> Option<VoxelBox> {
        let chunks = self.solid_chunks();
        bounds_of(chunks.iter().map(|(position, chunk)| (*position, chunk)).collect())
    }

    /// Returns the chunks of level 0 that changed since they were last saved. Write them into what
    /// the source reads from, then call [`saved`](Self::saved).
    ///
    /// # Cost
    /// O(changed chunks). The voxels are shared, not copied.
    ///
    /// # Examples
    /// ```no_run
    /// # fn save(data: &drystone_world::LodData, world: &drystone_store::StoredWorld)
    /// # -> Result<(), drystone_formats::SourceError> {
    /// let unsaved = data.unsaved();
    /// world.put(unsaved.chunks.iter().cloned())?;
    /// data.saved(&unsaved); // if `world` is what `data` reads from
    /// # Ok(())
    /// # }
    /// ```
    pub fn unsaved(&self) -> Unsaved {
        let edits = self.read_edits();
        Unsaved { chunks: edits.lowest(), revision: edits.revision }
    }

    /// Number of chunks that [`unsaved`](Self::unsaved) returns.
    pub fn unsaved_count(&self) -> usize {
        self.read_edits().lowest_count()
    }

    /// Size of the unsaved changes, in bytes. They are kept without a limit until they are
    /// [saved](Self::saved).
    pub fn edited_bytes(&self) -> usize {
        self.read_edits().size_bytes
    }

    /// Declares that the source now returns the chunks in `unsaved`. Those that have not changed
    /// since are released, with the LOD voxels derived from them. A source that makes its own LOD
    /// voxels and has no edit store returns them without edits, so these are kept.
    ///
    /// # Cost
    /// O(changed chunks).
    pub fn saved(&self, unsaved: &Unsaved) {
        let _editing = lock(&self.editing);
        self.mark_filled(unsaved);
        let positions = || unsaved.chunks.iter().map(|&(position, _)| position);
        let is_derived = !self.source.makes_levels() || self.source.edit_store().is_some();
        // Readers wait for the lock, so that they always find a chunk either here or in the source.
        let mut edits = self.write_edits();
        let taken = edits.take_saved(positions(), unsaved.revision, self.grid(), is_derived);
        let mut cache = lock(&self.cache);
        cache.begin_epoch(positions());
        for (node, chunk) in taken {
            cache.insert(node, chunk);
        }
    }
}

impl LodData {
    pub(super) fn grid(&self) -> NodeGrid {
        *self.grid.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_edits(&self) -> RwLockWriteGuard<'_, Edits> {
        self.edits.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_edits(&self) -> RwLockReadGuard<'_, Edits> {
        self.edits.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn solid_chunks(&self) -> Vec<(ChunkPos, Chunk)> {
        self.chunk_positions()
            .into_par_iter()
            .map(|position| (position, self.chunk(position.into())))
            .filter(|(_, chunk)| !chunk.is_empty())
            .collect()
    }

    /// Returns the nodes of the highest level up to `max_level` that may hold voxels, sorted.
    pub(in crate::lod) fn roots_up_to(&self, max_level: u8) -> Vec<NodePos> {
        if self.top_level() <= max_level {
            return self.roots();
        }
        let positions = self.chunk_positions();
        let roots = positions.into_iter().map(|at| NodePos::from(at).ancestor(max_level));
        roots.collect::<BTreeSet<NodePos>>().into_iter().collect()
    }

    /// Extends the world to include these chunks.
    pub(super) fn extend(&self, chunks: impl Iterator<Item = ChunkPos> + Clone) {
        let top_level = self.top_level();
        let roots = chunks.clone().map(|chunk| NodePos::from(chunk).ancestor(top_level));
        self.roots.write().unwrap_or_else(PoisonError::into_inner).extend(roots);
        if chunks.clone().any(|chunk| !self.is_inside(chunk.into())) {
            self.grid.write().unwrap_or_else(PoisonError::into_inner).extend(chunks);
        }
    }

    /// Returns the size of the unsaved changes in bytes, summed over all chunks.
    #[cfg(test)]
    pub(crate) fn counted_edited_bytes(&self) -> usize {
        self.read_edits().counted_bytes()
    }

    /// Number of chunks of any level that are kept because of edits.
    #[cfg(test)]
    pub(crate) fn edit_count(&self) -> usize {
        self.read_edits().len()
    }

    /// Records which nodes are no longer empty.
    fn mark_filled(&self, unsaved: &Unsaved) {
        let Some(filled) = &self.filled else { return };
        let mut filled = filled.write().unwrap_or_else(PoisonError::into_inner);
        let grid = self.grid();
        for (position, _) in unsaved.chunks.iter().filter(|(_, chunk)| !chunk.is_empty()) {
            grid.insert_with_ancestors(&mut filled, NodePos::from(*position));
        }
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
