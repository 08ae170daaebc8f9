use std::fs;
use std::io::ErrorKind;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use drystone_voxel::{Chunk, ChunkPos, Material, MaterialTable};
use web_time::Instant;

use super::batch::WRITER;
use super::database::META;
use super::meta::{self, Head};
use super::{CommitPolicy, StoredWorld, id, publish};
use crate::{ChunkBox, EditStore, NodePos, Saving, Source, WorldError};

mod memory;
#[cfg(test)]
mod tests;

/// A stored world that is read, together with others that read it, until something is put into
/// it; then it is opened for writing, which one at a time may.
///
/// ```text
///  not there ──put: made──┐
///  read ────────put───► written
/// ```
/// Others go on reading what was there when they opened it. While another writes the file, what
/// is put is refused, and the world can be read as it was. One that another has changed
/// meanwhile is never written.
///
/// Where a file has no locks for that, who reads shuts out who writes, so it is closed for a
/// moment, in which another may take it:
///
/// ```text
///  read ──put: closed, opened again─► written
///    ▲ └──another has taken it meanwhile─► lost
///    └────────given back as it was────────┘
/// ```
///
/// # Cost
/// As [`StoredWorld`], and a lock that only readers take until something is put. The first put
/// reads the index again.
///
/// # Examples
/// ```
/// use drystone_voxel::{Chunk, ChunkPos, MaterialTable};
/// use drystone_world::{CommitPolicy, EditStore, StoredLater, StoredWorld};
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
/// assert!(other.put_edited(edit).is_err()); // the first has taken it
/// world.flush()?;
/// # drop((world, other));
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), drystone_world::WorldError>(())
/// ```
pub struct StoredLater {
    name: String,
    materials: MaterialTable,
    /// Those that the file is to have from the first put on, if more.
    more_materials: Option<MaterialTable>,
    policy: CommitPolicy,
    /// `None` as long as no place is given.
    path: Mutex<Option<PathBuf>>,
    /// What it was when it was opened to be read.
    stamp: Option<Stamp>,
    state: RwLock<State>,
    /// When it was last looked whether a lost file is there again.
    looked: Mutex<Option<Instant>>,
}

/// How long after one look for a lost file comes the next: every reader would open it else.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

enum State {
    /// There is no file yet.
    Absent,
    Read(StoredWorld),
    Write(StoredWorld),
    /// Another took it.
    Lost,
}

/// What tells a world from itself after any commit.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    head: Head,
    materials: MaterialTable,
    writer: Option<Vec<u8>>,
}

impl Stamp {
    fn of(world: &StoredWorld) -> Result<Self, WorldError> {
        let head = world.with_committed(|committed| committed.head.clone());
        let writer = world.store.read(|transaction| {
            let writer = transaction.open_table(META)?.get(WRITER)?;
            Ok(writer.map(|bytes| bytes.value().to_vec()))
        })?;
        Ok(Self { head, materials: world.materials.clone(), writer })
    }
}

impl StoredLater {
    /// Opens a world to read it, and to write it once something is put.
    ///
    /// # Errors
    /// As [`StoredWorld::open_read_only`].
    pub fn open(path: &Path, policy: CommitPolicy) -> Result<Self, WorldError> {
        let world = StoredWorld::open_to_read(path, policy)?;
        Ok(Self {
            name: world.name().into(),
            materials: world.materials().clone(),
            more_materials: None,
            policy,
            path: Mutex::new(Some(path.into())),
            stamp: Some(Stamp::of(&world)?),
            state: RwLock::new(State::Read(world)),
            looked: Mutex::default(),
        })
    }

    /// A world that is not there, and made when something is put; without a path, when
    /// [`make_at`](Self::make_at) says where.
    pub(crate) fn absent(
        path: Option<&Path>,
        name: String,
        materials: MaterialTable,
        policy: CommitPolicy,
    ) -> Self {
        let path = Mutex::new(path.map(Path::to_owned));
        let state = RwLock::new(State::Absent);
        let looked = Mutex::default();
        Self { name, materials, more_materials: None, policy, path, stamp: None, state, looked }
    }

    /// Has the file get these materials with the first put: see [`StoredWorld::put_materials`].
    pub(crate) fn grow_materials(&mut self, materials: MaterialTable) -> Result<(), WorldError> {
        if let State::Write(world) = &*self.state() {
            world.put_materials(&materials)?;
        }
        self.more_materials = Some(materials);
        Ok(())
    }

    pub(crate) const fn policy(&self) -> CommitPolicy {
        self.policy
    }

    /// Where it lies; `None` as long as nobody has said.
    pub(crate) fn place(&self) -> Option<PathBuf> {
        self.path.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_place(&self, path: &Path) {
        *self.path.lock().unwrap_or_else(PoisonError::into_inner) = Some(path.into());
    }

    /// Finds out whether it can be written there, or made where it is not.
    ///
    /// # Errors
    /// [`Unwritable`](WorldError::Unwritable).
    pub(crate) fn check_place(&self) -> Result<(), WorldError> {
        let Some(path) = self.place() else { return Ok(()) };
        let can = match &*self.state() {
            State::Absent => publish::can_make(&path),
            _ => fs::OpenOptions::new().write(true).open(&path).map(drop),
        };
        can.map_err(|problem| WorldError::Unwritable { path, problem })
    }

    /// Makes a new file there, which has all that can be read of the one before, and is written
    /// from now on in its place.
    ///
    /// # Errors
    /// A file that is there already, or that cannot be made: all is as before then.
    pub(crate) fn make_at(&self, path: &Path) -> Result<(), WorldError> {
        let mut state = self.lock();
        StoredWorld::publish(path, |new| self.fill(new, &state))?;
        *state = State::Write(StoredWorld::open_with(path, self.policy)?);
        self.set_place(path);
        Ok(())
    }

    /// Makes an empty file a world with the chunks of another.
    fn fill(&self, new: &Path, from: &State) -> Result<(), WorldError> {
        StoredWorld::fill(new, &self.name, Some(id::random()), self.all_materials(), None)?;
        let world = StoredWorld::open_with(new, self.policy)?;
        copy(from, &world)?;
        Ok(world.close()?)
    }

    fn all_materials(&self) -> &MaterialTable {
        self.more_materials.as_ref().unwrap_or(&self.materials)
    }

    /// Makes the file and opens it. One that is there already is opened if nothing was ever put into
    /// it: it was made here and could not be opened then, or by another that put nothing.
    fn create(&self, path: &Path) -> Result<StoredWorld, WorldError> {
        match StoredWorld::create_with(path, &self.name, &self.materials, None) {
            Err(WorldError::Unwritable { problem, .. })
                if problem.kind() == ErrorKind::AlreadyExists => {}
            made => made?,
        }
        let world = StoredWorld::open_with(path, self.policy)?;
        let is_new = world.revision() == 0
            && world.name == self.name
            && meta::begins_with(&self.materials, &world.materials);
        if is_new { Ok(world) } else { Err(WorldError::ChangedElsewhere { path: path.into() }) }
    }

    /// Opens it for writing, if it is not.
    ///
    /// # Errors
    /// When another writes it or has changed it, or it cannot be written: it is read as
    /// before.
    pub fn open_for_writing(&self) -> Result<(), WorldError> {
        let Some(path) = self.place().filter(|_| !self.is_writing()) else { return Ok(()) };
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
            // Who reads shuts out who writes, so what is read is closed first.
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

    fn opened_to_write(&self, path: &Path) -> Result<StoredWorld, WorldError> {
        let world = StoredWorld::open_with(path, self.policy)?;
        if self.stamp.as_ref() != Some(&Stamp::of(&world)?) {
            return Err(WorldError::ChangedElsewhere { path: path.into() });
        }
        if let Some(materials) = &self.more_materials {
            world.put_materials(materials)?;
        }
        Ok(world)
    }

    fn opened_to_read(&self, path: &Path) -> State {
        match StoredWorld::open_to_read(path, self.policy) {
            Ok(world) if Stamp::of(&world).ok() == self.stamp => State::Read(world),
            _ => State::Lost,
        }
    }

    /// Whether something was put, so that nobody else can write it.
    pub fn is_writing(&self) -> bool {
        matches!(&*self.state(), State::Write(_))
    }

    /// Asks the world as it is open now, if it is.
    pub(crate) fn ask<T>(&self, ask: impl FnOnce(&StoredWorld) -> T) -> Option<T> {
        match &*self.state() {
            State::Read(world) | State::Write(world) => Some(ask(world)),
            State::Absent | State::Lost => None,
        }
    }

    /// The state; where another took the file, after a look whether it gave that back.
    fn found_again(&self) -> RwLockReadGuard<'_, State> {
        let state = self.state();
        let (State::Lost, Some(path)) = (&*state, self.place()) else { return state };
        drop(state);
        let mut state = self.lock();
        if matches!(*state, State::Lost) && self.may_look() {
            *state = self.opened_to_read(&path);
        }
        drop(state);
        self.state()
    }

    /// Whether it is long enough ago that a lost file was looked for.
    fn may_look(&self) -> bool {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        let may = looked.is_none_or(|last| last.elapsed() >= LOOK_AGAIN);
        if may {
            *looked = Some(Instant::now());
        }
        may
    }

    /// What is read from a file that another took: nothing, with the reason.
    fn lost(&self) -> WorldError {
        WorldError::InUse { path: self.path() }
    }

    fn state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Puts what can be read of a file into another world. What is damaged stays where it is.
fn copy(from: &State, to: &StoredWorld) -> Result<(), WorldError> {
    let (State::Read(from) | State::Write(from)) = from else { return Ok(()) };
    let whole = |at| from.chunk(at).ok().map(|chunk| (at, chunk));
    from.chunk_positions().into_iter().filter_map(whole).try_for_each(|chunk| to.put([chunk]))
}

impl EditStore for StoredLater {
    fn path(&self) -> PathBuf {
        self.place().unwrap_or_default()
    }

    fn put_edited(&self, chunks: Vec<(ChunkPos, Chunk)>) -> Result<(), WorldError> {
        if chunks.is_empty() {
            return Ok(());
        }
        self.open_for_writing()?;
        self.ask(|world| world.put(chunks)).unwrap_or_else(|| Err(self.lost()))
    }

    fn flush(&self) -> Result<(), WorldError> {
        self.ask(StoredWorld::flush).unwrap_or(Ok(()))
    }

    fn saving(&self) -> Saving {
        self.ask(EditStore::saving).unwrap_or_default()
    }

    fn waiting(&self) -> Vec<(ChunkPos, Chunk)> {
        self.ask(EditStore::waiting).unwrap_or_default()
    }
}

impl Source for StoredLater {
    fn name(&self) -> &str {
        &self.name
    }

    fn identity(&self) -> String {
        self.ask(Source::identity).unwrap_or_else(|| self.name.clone())
    }

    fn materials(&self) -> &MaterialTable {
        &self.materials
    }

    fn chunk_positions(&self) -> Vec<ChunkPos> {
        self.ask(Source::chunk_positions).unwrap_or_default()
    }

    fn extent(&self) -> Option<ChunkBox> {
        self.ask(Source::extent)?
    }

    fn chunk_count(&self) -> u64 {
        self.ask(Source::chunk_count).unwrap_or_default()
    }

    fn chunk(&self, position: ChunkPos) -> Result<Chunk, WorldError> {
        match &*self.found_again() {
            State::Read(world) | State::Write(world) => world.chunk(position),
            State::Absent => Ok(Chunk::new(Chunk::SIDE, Material::AIR)),
            State::Lost => Err(self.lost()),
        }
    }

    fn coarse_chunk(&self, node: NodePos) -> Option<Result<Chunk, WorldError>> {
        match &*self.found_again() {
            State::Read(world) | State::Write(world) => world.coarse_chunk(node),
            State::Absent => None,
            // Or it would be made of all that lies below, which cannot be read either.
            State::Lost => Some(Err(self.lost())),
        }
    }

    fn has_exact_air(&self) -> bool {
        true
    }

    fn is_air(&self, node: NodePos) -> bool {
        match &*self.found_again() {
            State::Read(world) | State::Write(world) => world.is_air(node),
            State::Absent => true,
            State::Lost => false,
        }
    }

    fn faults(&self) -> Vec<String> {
        self.ask(Source::faults).unwrap_or_default()
    }

    fn edit_store(&self) -> Option<&dyn EditStore> {
        self.place().map(|_| self as &dyn EditStore)
    }
}

impl std::fmt::Debug for StoredLater {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoredLater").field("path", &self.place()).finish_non_exhaustive()
    }
}
