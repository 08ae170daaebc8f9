use std::fs;
use std::io::ErrorKind;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use drystone_formats::{EditStore, Saving, Source, SourceError, WorldFile};
use drystone_voxel::{Chunk, ChunkBox, ChunkPos, Material, MaterialTable, NodePos};
use web_time::Instant;

use super::StoredWorld;
use super::batch::WRITER;
use super::meta::Head;
use super::open::NewWorld;
use super::options::{CommitPolicy, StoreAccess, StoreOptions};
use crate::codec::materials;
use crate::publish;

#[cfg(test)]
mod tests;

/// A stored world that is open for reading until the first change, and for writing after it.
///
/// ```text
///  no file ──first put: create the file──► open for writing
///  open for reading ───────first put─────► open for writing
/// ```
/// Any number of programs can read a file, and one can write it. Readers see the file as it was
/// when they opened it. While another program writes the file,
/// [`put_edited`](EditStore::put_edited) returns an error and reading goes on. A file that another
/// program has changed since it was opened is never written.
///
/// Some file systems lack the locks for that, and readers block writers. The file is then closed
/// for a moment before it is opened for writing. Another program can open it for writing in that
/// moment:
///
/// ```text
///  open for reading ──first put: close, open again─► open for writing
///    ▲        └──another program was faster──► lost
///    └──released there without a change────────┘
/// ```
///
/// # Cost
/// The cost of [`StoredWorld`], plus a read lock per call. The first change reads the index again.
///
/// # Examples
/// ```
/// use drystone_voxel::{Chunk, ChunkPos, MaterialTable};
/// use drystone_formats::EditStore;
/// use drystone_store::{CommitPolicy, StoredLater, StoredWorld};
///
/// let path = std::env::temp_dir().join(format!("later-{}.drystone", std::process::id()));
/// let mut materials = MaterialTable::new();
/// let stone = materials.insert("stone", [120, 120, 120, 255]).unwrap();
/// StoredWorld::create(&path, "stones", &materials)?.close()?;
///
/// let open = || StoredLater::open(&path, CommitPolicy::default());
/// let (world, other) = (open()?, open()?);
/// let edit = vec![(ChunkPos::new(0, 0, 0), Chunk::new(Chunk::SIDE, stone))];
/// world.put_edited(edit.clone())?;
/// assert!(other.put_edited(edit).is_err()); // `world` is open for writing
/// world.flush()?;
/// # drop((world, other));
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), drystone_formats::SourceError>(())
/// ```
pub struct StoredLater {
    name: String,
    materials: MaterialTable,
    /// Material table to write with the first change, if it is longer than `materials`.
    more_materials: Option<MaterialTable>,
    policy: CommitPolicy,
    /// `None` until a path is chosen.
    path: Mutex<Option<PathBuf>>,
    /// State of the file when it was opened for reading.
    stamp: Option<Stamp>,
    state: RwLock<State>,
    /// Time of the last attempt to open a lost file again.
    last_retry: Mutex<Option<Instant>>,
}

/// Minimum time between two attempts to open a lost file. Without it every read would try.
const RETRY_INTERVAL: Duration = Duration::from_millis(200);

enum State {
    /// The file does not exist yet.
    Absent,
    Read(StoredWorld),
    Write(StoredWorld),
    /// The file is open for writing in another program.
    Lost,
}

/// Identifies the state of a file: every commit changes it.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    head: Head,
    materials: MaterialTable,
    writer: Option<Vec<u8>>,
}

impl Stamp {
    fn of(world: &StoredWorld) -> Result<Self, SourceError> {
        let head = world.contents.with_committed(|committed| committed.head.clone());
        let writer = world.contents.meta(WRITER)?;
        Ok(Self { head, materials: world.materials.clone(), writer })
    }
}

impl StoredLater {
    /// Opens a world on disk for reading, and for writing at the first change. Opens a world in
    /// memory for writing at once, since no other program can have it.
    ///
    /// # Errors
    /// See [`StoredWorld::open`].
    pub fn open<'a>(
        file: impl Into<WorldFile<'a>>,
        policy: CommitPolicy,
    ) -> Result<Self, SourceError> {
        let file = file.into();
        let access = match file {
            WorldFile::Path(_) => StoreAccess::Read,
            WorldFile::Memory(_) => StoreAccess::Write,
        };
        let options = StoreOptions { access, ..policy.into() };
        let world = StoredWorld::open(file, &options)?;
        let (name, materials) = (world.name().into(), world.materials().clone());
        let (stamp, state) = match access {
            StoreAccess::Read => (Some(Stamp::of(&world)?), State::Read(world)),
            StoreAccess::Write => (None, State::Write(world)),
        };
        let state = RwLock::new(state);
        Ok(Self { stamp, state, ..Self::absent(Some(file.path()), name, materials, policy) })
    }

    /// Creates a world without a file. The first change creates the file; without a path,
    /// [`make`](Self::make) does.
    pub(crate) fn absent(
        path: Option<&Path>,
        name: String,
        materials: MaterialTable,
        policy: CommitPolicy,
    ) -> Self {
        let path = Mutex::new(path.map(Path::to_owned));
        let state = RwLock::new(State::Absent);
        let last_retry = Mutex::default();
        Self { name, materials, more_materials: None, policy, path, stamp: None, state, last_retry }
    }

    /// Adds materials to the file with the next change. See [`StoredWorld::put_materials`].
    pub(crate) fn grow_materials(&mut self, materials: MaterialTable) -> Result<(), SourceError> {
        if let State::Write(world) = &*self.state() {
            world.put_materials(&materials)?;
        }
        self.more_materials = Some(materials);
        Ok(())
    }

    /// Path of the file; `None` until one is chosen.
    pub(crate) fn file_path(&self) -> Option<PathBuf> {
        self.path.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Checks that the file can be written, or created if it does not exist.
    ///
    /// # Errors
    /// [`Unwritable`](SourceError::Unwritable).
    pub(crate) fn check_writable(&self) -> Result<(), SourceError> {
        let Some(path) = self.file_path() else { return Ok(()) };
        let can = match &*self.state() {
            State::Absent => publish::can_make(&path),
            _ => fs::OpenOptions::new().write(true).open(&path).map(drop),
        };
        can.map_err(|problem| SourceError::Unwritable { path, problem })
    }

    /// Creates a file with everything that can be read from the current file, and uses it from now
    /// on.
    ///
    /// # Errors
    /// A file that exists and is not empty, or cannot be created. Nothing changes then.
    pub(crate) fn make(&self, file: WorldFile<'_>) -> Result<(), SourceError> {
        let mut state = self.lock();
        let options = self.policy.into();
        let world = match file {
            WorldFile::Path(path) => {
                publish::create(path, |new| {
                    self.new_world().fill(new)?;
                    let world = StoredWorld::open(new, &options)?;
                    copy(&state, &world)?;
                    Ok(world.close()?)
                })?;
                StoredWorld::open(path, &options)?
            }
            WorldFile::Memory(_) => {
                self.new_world().create(file)?;
                let world = StoredWorld::open(file, &options)?;
                copy(&state, &world)?;
                world
            }
        };
        *state = State::Write(world);
        *self.path.lock().unwrap_or_else(PoisonError::into_inner) = Some(file.path().into());
        Ok(())
    }

    /// A new file for all materials.
    fn new_world(&self) -> NewWorld<'_> {
        NewWorld::new(&self.name, self.more_materials.as_ref().unwrap_or(&self.materials))
    }

    /// Creates the file and opens it. An existing file is opened if it has the same name and
    /// materials and was never changed. Such a file was created here and could not be opened, or by
    /// a program that put nothing into it.
    fn create(&self, path: &Path) -> Result<StoredWorld, SourceError> {
        match NewWorld::new(&self.name, &self.materials).create(path.into()) {
            Err(SourceError::Unwritable { problem, .. })
                if problem.kind() == ErrorKind::AlreadyExists => {}
            made => made?,
        }
        let world = StoredWorld::open(path, &self.policy.into())?;
        let is_new = world.revision() == 0
            && world.name == self.name
            && materials::begins_with(&self.materials, &world.materials);
        if is_new { Ok(world) } else { Err(SourceError::ChangedElsewhere { path: path.into() }) }
    }

    /// Opens the file for writing, if it is not open for writing.
    ///
    /// # Errors
    /// Another program has the file open for writing or has changed it, or it cannot be written.
    /// Reading goes on as before.
    pub fn open_for_writing(&self) -> Result<(), SourceError> {
        let Some(path) = self.file_path().filter(|_| !self.is_writing()) else { return Ok(()) };
        let path = path.as_path();
        let mut state = self.lock();
        match mem::replace(&mut *state, State::Lost) {
            State::Write(world) => {
                *state = State::Write(world);
                return Ok(());
            }
            State::Absent => {
                let made = self.create(path);
                let (next, done) = match made {
                    Ok(world) => (State::Write(world), Ok(())),
                    Err(error) => (State::Absent, Err(error)),
                };
                *state = next;
                return done;
            }
            State::Read(world) if world.is_shared() => {
                let opened = self.opened_to_write(path);
                let (next, done) = match opened {
                    Ok(world) => (State::Write(world), Ok(())),
                    Err(error) => (State::Read(world), Err(error)),
                };
                *state = next;
                return done;
            }
            // Readers block writers on this file system: close the file first.
            State::Read(world) => drop(world),
            State::Lost => {}
        }
        let (next, done) = match self.opened_to_write(path) {
            Ok(world) => (State::Write(world), Ok(())),
            Err(error) => (self.opened_to_read(path), Err(error)),
        };
        *state = next;
        done
    }

    fn opened_to_write(&self, path: &Path) -> Result<StoredWorld, SourceError> {
        let world = StoredWorld::open(path, &self.policy.into())?;
        if self.stamp.as_ref() != Some(&Stamp::of(&world)?) {
            return Err(SourceError::ChangedElsewhere { path: path.into() });
        }
        if let Some(materials) = &self.more_materials {
            world.put_materials(materials)?;
        }
        Ok(world)
    }

    fn opened_to_read(&self, path: &Path) -> State {
        let options = StoreOptions { access: StoreAccess::Read, ..self.policy.into() };
        match StoredWorld::open(path, &options) {
            Ok(world) if Stamp::of(&world).ok() == self.stamp => State::Read(world),
            _ => State::Lost,
        }
    }

    /// Whether the file is open for writing, so that no other program can write it.
    pub fn is_writing(&self) -> bool {
        matches!(&*self.state(), State::Write(_))
    }

    /// Calls `query` with the open world; `None` if no file is open.
    pub(crate) fn query<T>(&self, query: impl FnOnce(&StoredWorld) -> T) -> Option<T> {
        match &*self.state() {
            State::Read(world) | State::Write(world) => Some(query(world)),
            State::Absent | State::Lost => None,
        }
    }

    /// The state, after an attempt to open a lost file again.
    fn state_with_retry(&self) -> RwLockReadGuard<'_, State> {
        let state = self.state();
        let (State::Lost, Some(path)) = (&*state, self.file_path()) else { return state };
        drop(state);
        let mut state = self.lock();
        if matches!(*state, State::Lost) && self.is_retry_due() {
            *state = self.opened_to_read(&path);
        }
        drop(state);
        self.state()
    }

    /// Whether a lost file may be tried again. Restarts the interval if so.
    fn is_retry_due(&self) -> bool {
        let mut last_retry = self.last_retry.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = last_retry.is_none_or(|last| last.elapsed() >= RETRY_INTERVAL);
        if is_due {
            *last_retry = Some(Instant::now());
        }
        is_due
    }

    /// The error for reads from a lost file.
    fn lost(&self) -> SourceError {
        SourceError::InUse { path: self.path() }
    }

    fn state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Copies all chunks that can be read into another world. Skips damaged chunks.
fn copy(from: &State, to: &StoredWorld) -> Result<(), SourceError> {
    let (State::Read(from) | State::Write(from)) = from else { return Ok(()) };
    let whole = |at| from.chunk(at).ok().map(|chunk| (at, chunk));
    from.chunk_positions().into_iter().filter_map(whole).try_for_each(|chunk| to.put([chunk]))
}

impl EditStore for StoredLater {
    fn path(&self) -> PathBuf {
        self.file_path().unwrap_or_default()
    }

    fn put_edited(&self, chunks: Vec<(ChunkPos, Chunk)>) -> Result<(), SourceError> {
        if chunks.is_empty() {
            return Ok(());
        }
        self.open_for_writing()?;
        self.query(|world| world.put(chunks)).unwrap_or_else(|| Err(self.lost()))
    }

    fn flush(&self) -> Result<(), SourceError> {
        self.query(StoredWorld::flush).unwrap_or(Ok(()))
    }

    fn saving(&self) -> Saving {
        self.query(EditStore::saving).unwrap_or_default()
    }

    fn waiting(&self) -> Vec<(ChunkPos, Chunk)> {
        self.query(EditStore::waiting).unwrap_or_default()
    }
}

impl Source for StoredLater {
    fn name(&self) -> &str {
        &self.name
    }

    fn identity(&self) -> String {
        self.query(Source::identity).unwrap_or_else(|| self.name.clone())
    }

    fn materials(&self) -> &MaterialTable {
        &self.materials
    }

    fn chunk_positions(&self) -> Vec<ChunkPos> {
        self.query(Source::chunk_positions).unwrap_or_default()
    }

    fn extent(&self) -> Option<ChunkBox> {
        self.query(Source::extent)?
    }

    fn chunk_count(&self) -> u64 {
        self.query(Source::chunk_count).unwrap_or_default()
    }

    fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
        match &*self.state_with_retry() {
            State::Read(world) | State::Write(world) => world.chunk(position),
            State::Absent => Ok(Chunk::new(Chunk::SIDE, Material::AIR)),
            State::Lost => Err(self.lost()),
        }
    }

    fn coarse_chunk(&self, node: NodePos) -> Option<Result<Chunk, SourceError>> {
        match &*self.state_with_retry() {
            State::Read(world) | State::Write(world) => world.coarse_chunk(node),
            State::Absent => None,
            // `None` would make callers read all chunks below, which fails too.
            State::Lost => Some(Err(self.lost())),
        }
    }

    fn has_exact_air(&self) -> bool {
        true
    }

    fn is_air(&self, node: NodePos) -> bool {
        match &*self.state_with_retry() {
            State::Read(world) | State::Write(world) => world.is_air(node),
            State::Absent => true,
            State::Lost => false,
        }
    }

    fn faults(&self) -> Vec<String> {
        self.query(Source::faults).unwrap_or_default()
    }

    fn edit_store(&self) -> Option<&dyn EditStore> {
        self.file_path().map(|_| self as &dyn EditStore)
    }
}

impl std::fmt::Debug for StoredLater {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoredLater").field("path", &self.file_path()).finish_non_exhaustive()
    }
}
