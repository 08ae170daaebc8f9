use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

use drystone_voxel::{Chunk, ChunkPos, Material, MaterialTable};

use crate::lod::Cache;
use crate::stored::DATABASE;
use crate::{
    ChunkBox, CommitPolicy, EditStore, NodePos, Saving, Source, StoredLater, StoredWorld,
    WorldError,
};

mod keeping;
mod numbers;
#[cfg(test)]
mod tests;
mod vote;

use numbers::Numbers;
use vote::vote_again;

/// A source with edits of its chunks, which are kept in a file of their own: the source stays
/// as it is.
///
/// ```text
///  chunk ──► edited? ─yes─► stored world of the edited chunks alone
///               └─no──────► source
/// ```
/// The file is a [`StoredWorld`] whose name says what it is of: the source's
/// [`identity`](Source::identity). Its materials are the source's and one more: a chunk all of
/// that one was emptied. A source that has more materials by now keeps its edits.
///
/// # Cost
/// A look-up more a chunk than the source takes. Larger voxels of a source that makes such
/// itself are made again above edited chunks, and those used lately kept, in as much memory as
/// the file's pages take: 32 MiB at most.
///
/// # Examples
/// ```
/// use drystone_voxel::{Chunk, ChunkPos, Material};
/// use drystone_world::{CommitPolicy, EditStore, EditedSource, Source, open_source};
///
/// let path = std::env::temp_dir().join(format!("edits-{}.drystone", std::process::id()));
/// let (place, policy) = (ChunkPos::new(1, 0, 1), CommitPolicy::default());
/// let edited = EditedSource::open(open_source(None)?, &path, policy)?;
/// edited.put_edited(vec![(place, Chunk::new(Chunk::SIDE, Material::AIR))])?;
/// edited.flush()?;
/// drop(edited);
///
/// let edited = EditedSource::open_read_only(open_source(None)?, &path)?;
/// assert!(edited.chunk(place)?.is_empty());
/// # drop(edited);
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), drystone_world::WorldError>(())
/// ```
pub struct EditedSource {
    source: Box<dyn Source>,
    edits: StoredLater,
    numbers: Numbers,
    can_write: bool,
    /// Nodes that have edited chunks below them.
    above: RwLock<HashSet<NodePos>>,
    /// Larger voxels above edited chunks; their epochs end with every edit below them.
    coarse: Mutex<Cache>,
}

/// What the names of such files begin with.
const EDITS_OF: &str = "edits of ";

impl EditedSource {
    /// The source with the edits that the file at `path` keeps; without such a file, a new one
    /// is made.
    ///
    /// # Errors
    /// [`OtherEdits`](WorldError::OtherEdits) where the file keeps edits of another source; else
    /// as [`StoredWorld::open`].
    pub fn open(
        source: Box<dyn Source>,
        path: &Path,
        policy: CommitPolicy,
    ) -> Result<Self, WorldError> {
        let edited = Self::open_later(source, path, policy)?;
        edited.edits.open_for_writing()?;
        Ok(edited)
    }

    /// The same, but the file is only read, together with others that do, until something is
    /// edited: then it is opened for writing, or made.
    ///
    /// # Errors
    /// As [`open`](Self::open), and where nothing can be written; that another has the file is
    /// an error of the first edit.
    pub fn open_later(
        source: Box<dyn Source>,
        path: &Path,
        policy: CommitPolicy,
    ) -> Result<Self, WorldError> {
        let edits = if path.exists() {
            StoredLater::open(path, policy)?
        } else {
            let (name, materials) = (name_of(source.as_ref()), materials_of(source.as_ref())?);
            StoredLater::absent(Some(path), name, materials, policy)
        };
        let edited = Self::of(source, edits, true)?;
        edited.edits.check_place()?;
        Ok(edited)
    }

    /// The source without edits, and nothing to keep any until [`save_at`](Self::save_at) says
    /// where; but a source that keeps edits itself does so until then.
    ///
    /// # Errors
    /// More materials than can be kept.
    pub fn without_file(source: Box<dyn Source>, policy: CommitPolicy) -> Result<Self, WorldError> {
        let (name, materials) = (name_of(source.as_ref()), materials_of(source.as_ref())?);
        Self::of(source, StoredLater::absent(None, name, materials, policy), true)
    }

    /// The same, to be read only, together with others that do.
    ///
    /// # Errors
    /// A file that is not there, or as [`open`](Self::open).
    pub fn open_read_only(source: Box<dyn Source>, path: &Path) -> Result<Self, WorldError> {
        Self::of(source, StoredLater::open(path, CommitPolicy::default())?, false)
    }

    fn of(
        source: Box<dyn Source>,
        mut edits: StoredLater,
        can_write: bool,
    ) -> Result<Self, WorldError> {
        let (found, expected) = (edits.name(), name_of(source.as_ref()));
        if found != expected {
            let found = match found.strip_prefix(EDITS_OF) {
                Some(other) => format!("edits of {other}"),
                None => format!("\"{found}\", a world of its own"),
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
        let coarse = Mutex::new(Cache::new(edits.policy().cache_bytes()));
        let edited = Self { numbers, can_write, above, coarse, source, edits };
        edited.note_above(&edited.edits.chunk_positions());
        Ok(edited)
    }

    /// What the edits are of.
    pub fn source(&self) -> &dyn Source {
        self.source.as_ref()
    }

    /// How many chunks were edited.
    pub fn edited_count(&self) -> u64 {
        self.edits.chunk_count()
    }

    /// How often edits were committed, ever.
    pub fn revision(&self) -> u64 {
        self.edits.ask(StoredWorld::revision).unwrap_or_default()
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

    fn coarse(&self) -> MutexGuard<'_, Cache> {
        self.coarse.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The node as the source has it.
    fn original(&self, node: NodePos) -> Result<Chunk, WorldError> {
        if self.source.is_air(node) {
            return Ok(Chunk::new(Chunk::SIDE, Material::AIR));
        }
        if node.level == 0 {
            return self.source.chunk(node.chunk);
        }
        let made = self.source.coarse_chunk(node);
        made.unwrap_or_else(|| Ok(Chunk::new(Chunk::SIDE, Material::AIR)))
    }

    /// The node as the source has it, but for the voxels whose eight smaller ones would now
    /// give another vote. An edited chunk that is damaged counts as not edited.
    fn with_edits(&self, node: NodePos) -> Result<Chunk, WorldError> {
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
                Err(WorldError::BadStored { place, .. }) if place != DATABASE => continue,
                after => after?,
            };
            vote_again(&mut chunk, child.index_in_parent(), [&before, &after], self.materials());
        }
        // An edit that came meanwhile may be in it or not: then it is not kept.
        self.coarse().insert_made(node, &chunk, begun);
        Ok(chunk)
    }
}

fn name_of(source: &dyn Source) -> String {
    format!("{EDITS_OF}{}", source.identity())
}

fn other_edits(edits: &StoredLater, source: &dyn Source, found: String) -> WorldError {
    let (path, source_name) = (edits.path(), source.identity());
    WorldError::OtherEdits { path, found, source_name }
}

/// The source's materials, and the one of chunks that were emptied.
fn materials_of(source: &dyn Source) -> Result<MaterialTable, WorldError> {
    Numbers::table(source.materials()).ok_or_else(|| WorldError::TooLarge {
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

    fn put_edited(&self, chunks: Vec<(ChunkPos, Chunk)>) -> Result<(), WorldError> {
        let positions: Vec<ChunkPos> = chunks.iter().map(|&(position, _)| position).collect();
        let kept = |(position, chunk): (ChunkPos, Chunk)| (position, self.numbers.to_file(chunk));
        if !self.can_write {
            return Err(WorldError::ReadOnly { path: self.path() });
        }
        if chunks.is_empty() {
            return Ok(());
        }
        if let Some(store) = self.in_place() {
            return store.put_edited(chunks);
        }
        self.edits.open_for_writing()?;
        // Before they are there: what is made meanwhile is not kept.
        self.note_above(&positions);
        self.edits.put_edited(chunks.into_iter().map(kept).collect())?;
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

    fn flush(&self) -> Result<(), WorldError> {
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
        let id = self.edits.ask(StoredWorld::id).flatten();
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
        // Where the source fills its box, which may be vast, only what lies outside is more.
        if sides.into_iter().fold(1, u64::saturating_mul) == count {
            let edited = self.edits.chunk_positions();
            let is_outside = |it: &ChunkPos| extent.is_none_or(|extent| !extent.contains(*it));
            return count + edited.into_iter().filter(is_outside).count() as u64;
        }
        self.chunk_positions().len() as u64
    }

    fn chunk(&self, position: ChunkPos) -> Result<Chunk, WorldError> {
        // What nobody edited can be read whatever becomes of the edits.
        if !self.is_edited(position.into()) {
            return self.source.chunk(position);
        }
        let edited = self.edits.chunk(position)?;
        if edited.is_empty() {
            return self.source.chunk(position);
        }
        Ok(self.numbers.to_source(edited))
    }

    fn coarse_chunk(&self, node: NodePos) -> Option<Result<Chunk, WorldError>> {
        if !self.is_edited(node) {
            return self.source.coarse_chunk(node);
        }
        // Of others they follow from what lies below.
        self.source.makes_levels().then(|| self.with_edits(node))
    }

    fn original_chunk(&self, node: NodePos) -> Option<Result<Chunk, WorldError>> {
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
