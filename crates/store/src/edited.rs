use std::collections::HashSet;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

use drystone_formats::{
    Arrivals, EditStore, Motion, SeparateEdits, Source, SourceError, Tiles, WorldFile,
};
use drystone_voxel::{
    Chunk, ChunkBox, ChunkPos, LocalPos, Material, MaterialTable, NodePos, downsample_block,
};

use crate::chunk_cache::ChunkCache;
use crate::stored::{StoreOptions, StoredLater, StoredWorld, is_damaged_part};

mod arrivals;
mod numbers;
mod options;
mod saving;
#[cfg(test)]
mod tests;
mod tiles;

use numbers::Numbers;
pub use options::{EditAccess, EditOptions};

/// A source with edits, which are saved in a separate file. The source itself is not changed.
///
/// ```text
///  chunk ──► edited? ─yes─► stored world of the edited chunks alone
///               └─no──────► source
/// ```
/// The file is a [`StoredWorld`] whose name contains the source's [`identity`](Source::identity).
/// Its materials are those of the source, plus one that marks emptied chunks. The edits stay valid
/// when the source gets more materials.
///
/// # Cost
/// One more lookup per chunk. If the source makes its own LOD voxels, those above edited chunks are
/// made again. The recently used ones are cached in as much memory as the pages of the file, at
/// most 32 MiB.
///
/// # Examples
/// ```
/// use drystone_formats::{EditStore, Source};
/// use drystone_store::{EditAccess, EditOptions, EditedSource};
/// use drystone_voxel::{Chunk, ChunkPos, Material};
/// use drystone_world::{GeneratedWorld, GeneratorConfig};
///
/// let path = std::env::temp_dir().join(format!("edits-{}.drystone", std::process::id()));
/// let generated = || GeneratedWorld::new(GeneratorConfig::default()).map(Box::new);
/// let position = ChunkPos::new(1, 0, 1);
/// let write = EditOptions::at(&path).with_access(EditAccess::Write);
/// let edited = EditedSource::open(generated()?, &write)?;
/// edited.put_edited(vec![(position, Chunk::new(Chunk::SIDE, Material::AIR))])?;
/// edited.flush()?;
/// drop(edited);
///
/// let read = EditOptions::at(&path).with_access(EditAccess::Read);
/// let edited = EditedSource::open(generated()?, &read)?;
/// assert!(edited.chunk(position)?.is_empty());
/// # drop(edited);
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), drystone_formats::SourceError>(())
/// ```
pub struct EditedSource {
    source: Box<dyn Source>,
    edits: StoredLater,
    numbers: Numbers,
    can_write: bool,
    /// Nodes with edited chunks below them.
    above: RwLock<HashSet<NodePos>>,
    /// LOD voxels above edited chunks. Every edit begins a new epoch of the nodes above it.
    coarse: Mutex<ChunkCache>,
}

/// Prefix of the names of files of edits.
const EDITS_OF: &str = "edits of ";

impl EditedSource {
    /// Opens a source with its edits.
    ///
    /// # Errors
    /// [`OtherEdits`](SourceError::OtherEdits) if the file has edits of another source,
    /// [`TooLarge`](SourceError::TooLarge) if a new file could not hold the source's materials, a
    /// file that cannot be accessed as requested, and the errors of [`StoredWorld::open`].
    pub fn open(source: Box<dyn Source>, options: &EditOptions<'_>) -> Result<Self, SourceError> {
        let (policy, is_read) = (options.policy, options.access == EditAccess::Read);
        let absent = |path| -> Result<_, SourceError> {
            let (name, materials) = (name_of(source.as_ref()), materials_of(source.as_ref())?);
            Ok(StoredLater::absent(path, name, materials, policy))
        };
        let (edits, can_write) = match options.file {
            None => (absent(None)?, true),
            Some(WorldFile::Path(path)) if !is_read && !path.exists() => {
                (absent(Some(path))?, true)
            }
            Some(file) => (StoredLater::open(file, policy)?, !is_read),
        };
        let coarse_bytes = options.coarse_bytes.unwrap_or(policy.cache_bytes());
        let edited = Self::of(source, edits, can_write, coarse_bytes)?;
        if matches!(options.file, Some(WorldFile::Path(_))) && can_write {
            edited.edits.check_writable()?;
            if options.access == EditAccess::Write {
                edited.edits.open_for_writing()?;
            }
        }
        Ok(edited)
    }

    fn of(
        source: Box<dyn Source>,
        mut edits: StoredLater,
        can_write: bool,
        coarse_bytes: usize,
    ) -> Result<Self, SourceError> {
        let (found, expected) = (edits.name(), name_of(source.as_ref()));
        if found != expected {
            let found = match found.strip_prefix(EDITS_OF) {
                Some(other) => format!("edits of {other}"),
                None => format!("the world \"{found}\""),
            };
            return Err(other_edits(&edits, source.as_ref(), found));
        }
        let Some(numbers) = Numbers::find(edits.materials(), source.materials()) else {
            let found = format!("edits of \"{}\" when it had other materials", source.name());
            return Err(other_edits(&edits, source.as_ref(), found));
        };
        if let (true, Some(grown)) =
            (can_write, numbers.grown(edits.materials(), source.materials()))
        {
            edits.grow_materials(grown)?;
        }
        let above = RwLock::new(HashSet::new());
        let coarse = Mutex::new(ChunkCache::new(coarse_bytes));
        let edited = Self { numbers, can_write, above, coarse, source, edits };
        edited.note_above(&edited.edits.chunk_positions());
        Ok(edited)
    }

    /// Whether the file at `path` has edits of this source. False if it cannot be read now.
    ///
    /// # Cost
    /// Opens the file.
    pub fn is_saved_in(source: &dyn Source, path: &Path) -> bool {
        StoredWorld::open(path, &StoreOptions::read_only())
            .is_ok_and(|world| world.name() == name_of(source))
    }

    /// Whether a stored world is a file of edits, to be opened together with its source. Checks its
    /// [name](Source::name) and whether it has the material that marks emptied chunks.
    pub fn is_file_of_edits(world: &dyn Source) -> bool {
        let mut kinds = world.materials().iter();
        world.name().starts_with(EDITS_OF) && kinds.any(|(_, kind)| Numbers::could_be_emptied(kind))
    }

    /// Returns the source without the edits.
    pub fn source(&self) -> &dyn Source {
        self.source.as_ref()
    }

    /// Number of edited chunks.
    pub fn edited_count(&self) -> u64 {
        self.edits.chunk_count()
    }

    /// Number of commits of edits so far.
    pub fn revision(&self) -> u64 {
        self.edits.query(StoredWorld::revision).unwrap_or_default()
    }

    /// Returns the source's own edit store, if that saves the edits.
    fn in_place(&self) -> Option<&dyn EditStore> {
        self.edits.file_path().is_none().then(|| self.source.edit_store()).flatten()
    }

    /// Returns the store that saves the edits.
    fn store(&self) -> &dyn EditStore {
        self.in_place().unwrap_or(&self.edits)
    }

    fn note_above(&self, chunks: &[ChunkPos]) {
        let mut above = self.above.write().unwrap_or_else(PoisonError::into_inner);
        for &chunk in chunks {
            let mut node = NodePos::from(chunk);
            while above.insert(node) && node.level < NodePos::MAX_LEVEL {
                node = node.parent();
            }
        }
    }

    /// Whether any chunk that the node covers was edited.
    fn is_edited(&self, node: NodePos) -> bool {
        self.above.read().unwrap_or_else(PoisonError::into_inner).contains(&node)
    }

    fn coarse(&self) -> MutexGuard<'_, ChunkCache> {
        self.coarse.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the chunk of a node without edits.
    fn original(&self, node: NodePos) -> Result<Chunk, SourceError> {
        if self.source.is_air(node) {
            return Ok(Chunk::new(Chunk::SIDE, Material::AIR));
        }
        if node.level == 0 {
            return self.source.chunk(node.chunk);
        }
        let made = self.source.coarse_chunk(node);
        made.unwrap_or_else(|| Ok(Chunk::new(Chunk::SIDE, Material::AIR)))
    }

    /// Returns the chunk of a node with edits. A LOD voxel of the source is replaced only if its
    /// eight smaller voxels now downsample to another result. A damaged edited chunk counts as not
    /// edited.
    fn with_edits(&self, node: NodePos) -> Result<Chunk, SourceError> {
        if node.level == 0 {
            return self.chunk(node.chunk);
        }
        let begun = {
            let mut coarse = self.coarse();
            if let Some(made) = coarse.get(node) {
                return Ok(made);
            }
            coarse.epoch(node)
        };
        let mut chunk = self.original(node)?;
        for child in node.children().into_iter().flatten().filter(|&it| self.is_edited(it)) {
            let before = self.original(child)?;
            let after = match self.with_edits(child) {
                Err(error) if is_damaged_part(&error) => continue,
                after => after?,
            };
            update_parent(&mut chunk, child.index_in_parent(), [&before, &after], self.materials());
        }
        // Not cached if an edit came meanwhile, since the chunk may contain it or not.
        self.coarse().insert_made(node, &chunk, begun);
        Ok(chunk)
    }
}

/// Updates the voxels of `parent` whose eight smaller voxels in a changed child now downsample to
/// another result. `child` is its index in the parent.
fn update_parent(
    parent: &mut Chunk,
    child: usize,
    [before, after]: [&Chunk; 2],
    materials: &MaterialTable,
) {
    let half = (Chunk::SIDE / 2) as u8;
    let corner = [child & 1, child >> 1 & 1, child >> 2].map(|far| far as u8 * half);
    for (z, y) in (0..half).flat_map(|z| (0..half).map(move |y| (z, y))) {
        for x in 0..half {
            let block = |chunk: &Chunk| -> [Material; 8] {
                std::array::from_fn(|i| {
                    let [dx, dy, dz] = [i & 1, i >> 1 & 1, i >> 2].map(|far| far as u8);
                    chunk.get(LocalPos::new(2 * x + dx, 2 * y + dy, 2 * z + dz))
                })
            };
            let (old, new) = (block(before), block(after));
            if old == new {
                continue;
            }
            let [old, new] = [old, new].map(|block| downsample_block(block, materials));
            if old != new {
                parent.set(LocalPos::new(corner[0] + x, corner[1] + y, corner[2] + z), new);
            }
        }
    }
}

fn name_of(source: &dyn Source) -> String {
    format!("{EDITS_OF}{}", source.identity())
}

fn other_edits(edits: &StoredLater, source: &dyn Source, found: String) -> SourceError {
    let (path, source_name) = (edits.path(), source.identity());
    SourceError::OtherEdits { path, found, source_name }
}

/// Returns the source's materials plus the one that marks emptied chunks.
fn materials_of(source: &dyn Source) -> Result<MaterialTable, SourceError> {
    Numbers::table(source.materials()).ok_or_else(|| SourceError::TooLarge {
        what: format!("edits of {}", source.name()),
        found: source.materials().len() as u64,
        limit: u64::from(u16::MAX),
        unit: "materials",
        advice: "import it into a stored world and edit that",
    })
}

impl Source for EditedSource {
    fn name(&self) -> &str {
        self.source.name()
    }

    fn identity(&self) -> String {
        let (source, revision) = (self.source.identity(), self.revision());
        let id = self.edits.query(StoredWorld::id).flatten();
        let id = id.map_or_else(String::new, |id| format!(" as {id:032x}"));
        format!("{source}, edited {revision} times{id}")
    }

    fn materials(&self) -> &MaterialTable {
        self.source.materials()
    }

    fn chunk_positions(&self) -> Vec<ChunkPos> {
        let mut positions = self.source.chunk_positions();
        positions.extend(self.edits.chunk_positions());
        positions.sort_unstable();
        positions.dedup();
        positions
    }

    fn extent(&self) -> Option<ChunkBox> {
        let boxes = [self.source.extent(), self.edits.extent()];
        ChunkBox::around(boxes.into_iter().flatten().flat_map(|it| [it.min, it.max]))
    }

    fn chunk_count(&self) -> u64 {
        let count = self.source.chunk_count();
        if self.edited_count() == 0 {
            return count;
        }
        let extent = self.source.extent();
        let sides = extent.map_or([0; 3], |extent| extent.size_chunks());
        // If the source fills its box, which may be huge, only chunks outside the box are added.
        if sides.into_iter().fold(1, u64::saturating_mul) == count {
            let edited = self.edits.chunk_positions();
            let is_outside = |it: &ChunkPos| extent.is_none_or(|extent| !extent.contains(*it));
            return count + edited.into_iter().filter(is_outside).count() as u64;
        }
        self.chunk_positions().len() as u64
    }

    fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
        // Chunks without edits can be read even if the file of edits is damaged.
        if !self.is_edited(position.into()) {
            return self.source.chunk(position);
        }
        let edited = self.edits.chunk(position)?;
        if edited.is_empty() {
            return self.source.chunk(position);
        }
        Ok(self.numbers.to_source(edited))
    }

    fn coarse_chunk(&self, node: NodePos) -> Option<Result<Chunk, SourceError>> {
        if !self.is_edited(node) {
            return self.source.coarse_chunk(node);
        }
        // For other sources, LOD voxels are downsampled from the level below.
        self.source.makes_levels().then(|| self.with_edits(node))
    }

    fn original_chunk(&self, node: NodePos) -> Option<Result<Chunk, SourceError>> {
        self.is_edited(node).then(|| self.original(node))
    }

    fn makes_levels(&self) -> bool {
        self.source.makes_levels()
    }

    fn coarsest_level(&self) -> u8 {
        self.source.coarsest_level()
    }

    fn has_exact_air(&self) -> bool {
        self.source.has_exact_air()
    }

    fn is_air(&self, node: NodePos) -> bool {
        self.source.is_air(node) && !self.is_edited(node)
    }

    fn motion(&self) -> Option<&dyn Motion> {
        self.source.motion()
    }

    fn arrivals(&self) -> Option<&dyn Arrivals> {
        self.source.arrivals().is_some().then_some(self)
    }

    fn limit_memory(&self, bytes: usize) {
        self.source.limit_memory(bytes);
    }

    fn tiles(&self) -> Option<&dyn Tiles> {
        self.source.tiles().is_some().then_some(self)
    }

    fn faults(&self) -> Vec<String> {
        let mut faults = self.source.faults();
        faults.extend(self.edits.faults());
        faults
    }

    fn edit_store(&self) -> Option<&dyn EditStore> {
        let has_file = self.can_write && self.edits.file_path().is_some();
        self.in_place().or_else(|| has_file.then_some(self))
    }

    fn separate_edits(&self) -> Option<&dyn SeparateEdits> {
        Some(self)
    }
}

impl std::fmt::Debug for EditedSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EditedSource")
            .field("source", &self.source.name())
            .field("edits", &self.edits)
            .finish_non_exhaustive()
    }
}
