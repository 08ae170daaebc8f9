use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

use drystone_formats::{EditStore, Saving, Source, SourceError};
use drystone_voxel::{Chunk, ChunkBox, ChunkPos, Material, MaterialTable, NodePos};

use crate::chunk_cache::ChunkCache;
use crate::stored::DATABASE;
use crate::stored::{CommitPolicy, StoredLater, StoredWorld};

mod numbers;
mod saving;
#[cfg(test)]
mod tests;
mod update_parent;

use numbers::Numbers;
use update_parent::update_parent;

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
/// use drystone_voxel::{Chunk, ChunkPos, Material};
/// use drystone_formats::{EditStore, Source};
/// use drystone_store::{CommitPolicy, EditedSource};
/// use drystone_world::{GeneratedWorld, GeneratorConfig};
///
/// let path = std::env::temp_dir().join(format!("edits-{}.drystone", std::process::id()));
/// let (position, policy) = (ChunkPos::new(1, 0, 1), CommitPolicy::default());
/// let edited = EditedSource::open(Box::new(GeneratedWorld::new(GeneratorConfig::default())?), &path, policy)?;
/// edited.put_edited(vec![(position, Chunk::new(Chunk::SIDE, Material::AIR))])?;
/// edited.flush()?;
/// drop(edited);
///
/// let edited = EditedSource::open_read_only(Box::new(GeneratedWorld::new(GeneratorConfig::default())?), &path)?;
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
    /// Opens a source with the edits in the file at `path`. Creates the file if it does not exist.
    ///
    /// # Errors
    /// [`OtherEdits`](SourceError::OtherEdits) if the file has edits of another source, and the
    /// errors of [`StoredWorld::open`].
    pub fn open(
        source: Box<dyn Source>,
        path: &Path,
        policy: CommitPolicy,
    ) -> Result<Self, SourceError> {
        let edited = Self::open_later(source, path, policy)?;
        edited.edits.open_for_writing()?;
        Ok(edited)
    }

    /// Opens a source with the edits in the file at `path`, which is only read until the first
    /// edit. Several processes can read it. The first edit opens the file for writing, or creates
    /// it.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open), and a location that cannot be written. If another
    /// process has the file open for writing, only the first edit fails.
    pub fn open_later(
        source: Box<dyn Source>,
        path: &Path,
        policy: CommitPolicy,
    ) -> Result<Self, SourceError> {
        let edits = if path.exists() {
            StoredLater::open(path, policy)?
        } else {
            let (name, materials) = (name_of(source.as_ref()), materials_of(source.as_ref())?);
            StoredLater::absent(Some(path), name, materials, policy)
        };
        let edited = Self::of(source, edits, true)?;
        edited.edits.check_writable()?;
        Ok(edited)
    }

    /// Opens a source without edits and without a file. Edits can be saved after
    /// [`save_at`](Self::save_at). Until then a source with its own edit store saves them itself.
    ///
    /// # Errors
    /// [`SourceError::TooLarge`] if the source has too many materials.
    pub fn without_file(
        source: Box<dyn Source>,
        policy: CommitPolicy,
    ) -> Result<Self, SourceError> {
        let (name, materials) = (name_of(source.as_ref()), materials_of(source.as_ref())?);
        Self::of(source, StoredLater::absent(None, name, materials, policy), true)
    }

    /// Opens a source with the edits in the file at `path` for reading only. Several processes can
    /// do so.
    ///
    /// # Errors
    /// A missing file, and the errors of [`open`](Self::open).
    pub fn open_read_only(source: Box<dyn Source>, path: &Path) -> Result<Self, SourceError> {
        Self::of(source, StoredLater::open(path, CommitPolicy::default())?, false)
    }

    fn of(
        source: Box<dyn Source>,
        mut edits: StoredLater,
        can_write: bool,
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
        let coarse = Mutex::new(ChunkCache::new(edits.policy().cache_bytes()));
        let edited = Self { numbers, can_write, above, coarse, source, edits };
        edited.note_above(&edited.edits.chunk_positions());
        Ok(edited)
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
                Err(SourceError::BadStored { location, .. }) if location != DATABASE => continue,
                after => after?,
            };
            update_parent(&mut chunk, child.index_in_parent(), [&before, &after], self.materials());
        }
        // Not cached if an edit came meanwhile, since the chunk may contain it or not.
        self.coarse().insert_made(node, &chunk, begun);
        Ok(chunk)
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

impl EditStore for EditedSource {
    fn path(&self) -> PathBuf {
        self.store().path()
    }

    fn put_edited(&self, chunks: Vec<(ChunkPos, Chunk)>) -> Result<(), SourceError> {
        let positions: Vec<ChunkPos> = chunks.iter().map(|&(position, _)| position).collect();
        let renumbered =
            |(position, chunk): (ChunkPos, Chunk)| (position, self.numbers.to_file(chunk));
        if !self.can_write {
            return Err(SourceError::ReadOnly { path: self.path() });
        }
        if chunks.is_empty() {
            return Ok(());
        }
        if let Some(store) = self.in_place() {
            return store.put_edited(chunks);
        }
        self.edits.open_for_writing()?;
        // This comes before the chunks are stored, so that a chunk that is made meanwhile is not
        // cached.
        self.note_above(&positions);
        self.edits.put_edited(chunks.into_iter().map(renumbered).collect())?;
        let mut coarse = self.coarse();
        coarse.begin_epoch(positions.iter().copied());
        for position in positions {
            let mut node = NodePos::from(position);
            while node.level < NodePos::MAX_LEVEL {
                node = node.parent();
                coarse.remove(node);
            }
        }
        Ok(())
    }

    fn flush(&self) -> Result<(), SourceError> {
        self.store().flush()
    }

    fn saving(&self) -> Saving {
        self.store().saving()
    }

    fn waiting(&self) -> Vec<(ChunkPos, Chunk)> {
        match self.in_place() {
            Some(store) => store.waiting(),
            None => {
                let waiting = self.edits.waiting().into_iter();
                waiting.map(|(at, chunk)| (at, self.numbers.to_source(chunk))).collect()
            }
        }
    }
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

    fn has_exact_air(&self) -> bool {
        self.source.has_exact_air()
    }

    fn is_air(&self, node: NodePos) -> bool {
        self.source.is_air(node) && !self.is_edited(node)
    }

    fn faults(&self) -> Vec<String> {
        let mut faults = self.source.faults();
        faults.extend(self.edits.faults());
        faults
    }

    fn edit_store(&self) -> Option<&dyn EditStore> {
        self.in_place().or_else(|| (self.can_write && !self.lacks_file()).then_some(self))
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
