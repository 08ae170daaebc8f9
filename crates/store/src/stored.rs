use std::path::{Path, PathBuf};

use drystone_formats::{MemoryFile, SourceError, WorldFile};
use drystone_voxel::{Chunk, ChunkPos, MaterialTable};

use crate::codec;

mod batch;
mod check;
mod committer;
mod contents;
mod database;
#[doc(hidden)]
pub mod fuzzed;
mod group;
mod id;
mod index;
mod later;
mod levels;
mod meta;
mod nodes;
mod not_closed;
mod open;
mod options;
mod pages;
mod salvage;
mod source;
mod summary;
mod survey;
#[cfg(test)]
pub(crate) mod tests;

use batch::{Batch, IMPORT, of_one_side};
pub use check::WorldCheck;
use committer::CommitMode;
use contents::Contents;
use database::{Access, DATABASE, Store, damaged};
pub use later::StoredLater;
use levels::Levels;
pub use not_closed::NotClosed;
use open::{Meta, NewWorld, check_signature, has_signature, read_index, read_meta};
use options::CACHE_BYTES;
pub use options::{CommitPolicy, StoreAccess, StoreOptions};
pub use summary::StoredSummary;

/// A voxel world in one file. Committed chunks survive a kill at any moment, and a power failure if
/// the disk honours sync requests.
///
/// ```text
///  put ─► pending ──time or size limit──► compressed ─► one transaction ─► file
///            │                                          (values, index, head)
///  chunk ◄───┴── else from the file: index ─► value ─► checksum ─► decompressed
/// ```
/// The file is a `redb` database of six tables:
///
/// | table | key | value |
/// |---|---|---|
/// | `chunks` | a group of 2 × 2 × 2 chunks: X, Z, Y as big-endian words, highest bit inverted | `1`, a bit for each chunk that is present, the length (4 bytes) and checksum (8) of each present chunk's record, then the records |
/// | `chunk pages` | a group's key, and a number (2 bytes, big-endian) | the next 4,074 bytes of the group's value |
/// | `levels 3`, `level pages 3` | same as `chunks` and `chunk pages`, for LOD nodes: X holds the node's level above bit 26 | same, for the node's stored position |
/// | `index` | a region of 16³ chunks: X, Y, Z | a bit for each chunk that is present (512 bytes), checksum (8) |
/// | `meta` | `world` | version (4), revision, chunks, regions (8 each), name, checksum (8) |
/// | | `materials` | for each material except air: red, green, blue, opacity, length of the name (2), name; checksum (8). Longer than 16 KiB: the length of this (4), and this compressed with `zstd`; checksum with seed 1 (8) |
/// | | `looks` | version of this value (1 byte: `4` with textures, cut-out materials or fluids, else `2` with shapes, else `1`; longer than 16 KiB: `3`, the length of such a value (4), and that value compressed with `zstd`), in version 4 the number of textures (2) and for each the binary logarithm of its side (1) and its texels (red, green, blue, opacity), then for each material with a property: its number (2), bits (1: face colours, 2: emission, 4: shape, 8: cut out, 16: textures, 32: fluid), six times red, green, blue in the order of [`Face::ALL`](drystone_voxel::Face::ALL), emission, shape (kind, number of boxes, for each its lowest and highest corner), textures (a bit for each face direction with a texture, the number of each texture (2)), number of the fluid (2); checksum (8); optional |
/// | | `id` | 16 bytes that identify the world under any file name, checksum (8); optional |
/// | | `writer` | random number of the last writer |
/// | | `import` | progress of an unfinished import, checksum (8) |
///
/// `levels 3` is a cache that can be rebuilt from `chunks`. Changing a chunk removes all nodes above
/// it in the same transaction. Nodes are rebuilt on demand, and stored if the world is open for
/// writing. Numbers are little-endian unless stated otherwise. Checksums are 64-bit XXH3. A
/// record's checksum also covers the chunk's position, so a record at the wrong position is
/// detected.
///
/// The database rounds a value that exceeds one page up to a power of two pages. Such a value is
/// therefore cut: `chunks` holds `2`, the value's length (4) and its beginning, and `chunk pages`
/// holds the rest. The beginning includes at least everything before the first record.
///
/// A record is `0` and an uncompressed body, or `1` and a body compressed with `zstd`. The body of
/// a chunk in brick storage is `254` and the output of [`Chunk::write_bricks`]. The body of any
/// other chunk lists its runs, X fastest, then Y, then Z:
///
/// | bytes | content |
/// |---|---|
/// | 1 | storage of the chunk in memory: 0 uniform; 1, 2, 4, 8, 16 bits per voxel; 255 runs |
/// | 2 | materials less one |
/// | 2 each | the materials, sorted by number of runs, most first |
/// | 2 | runs less one |
/// | 1 per run | length if below 32 (else 0), plus 32 × the index of its material in the list (at most 7) |
/// | 2 | number of runs whose material has index 7 or higher |
/// | 2 each | these indices |
/// | 1 to 3 each | the lengths of 32 and more, seven bits per byte, lowest first, all but the last with their highest bit set |
///
/// # Cost
/// Opening reads the index and keeps it in memory: 4 KiB for each 32,000 neighbouring chunks or
/// fewer. Reading, verifying and decompressing a chunk takes about 23 µs. A chunk of terrain takes
/// about 1.6 KB on disk, plus a sixth for LOD data. Memory: at most 32 MiB of cached pages, and the
/// pending chunks.
///
/// # Examples
/// ```
/// use drystone_voxel::{Chunk, ChunkPos, MaterialTable};
/// use drystone_formats::{Source, SourceError};
/// use drystone_store::{StoreOptions, StoredWorld};
///
/// let folder = std::env::temp_dir().join(format!("drystone-doc-{}", std::process::id()));
/// std::fs::create_dir_all(&folder).unwrap();
/// let path = folder.join("world.drystone");
/// let mut materials = MaterialTable::new();
/// let stone = materials.insert("stone", [120, 120, 120, 255]).unwrap();
///
/// let world = StoredWorld::create(&path, "a stone", &materials)?;
/// world.put([(ChunkPos::new(0, 0, 0), Chunk::new(Chunk::SIDE, stone))])?;
/// world.close()?; // commits; dropping the world commits too, but reports no failure
///
/// let world = StoredWorld::open(&path, &StoreOptions::read_only())?;
/// assert_eq!(world.chunk(ChunkPos::new(0, 0, 0))?.uniform(), Some(stone));
/// # world.close()?;
/// # std::fs::remove_dir_all(folder).unwrap();
/// # Ok::<(), SourceError>(())
/// ```
pub struct StoredWorld {
    name: String,
    id: Option<u128>,
    materials: MaterialTable,
    contents: Contents,
}

impl StoredWorld {
    /// File name extension of stored worlds.
    pub const EXTENSION: &str = "drystone";

    /// Creates a world without chunks in a new file, or in an empty file in memory, and opens it
    /// for writing. Material numbers keep their meaning. Of each material name, the first 65,535
    /// bytes are stored.
    ///
    /// # Errors
    /// [`Unwritable`](SourceError::Unwritable) if the file exists or cannot be created. A file in
    /// memory that is not empty, or whose limit is too low.
    pub fn create<'a>(
        file: impl Into<WorldFile<'a>>,
        name: &str,
        materials: &MaterialTable,
    ) -> Result<Self, SourceError> {
        let file = file.into();
        NewWorld::new(name, materials).create(file)?;
        Self::open(file, &StoreOptions::default())
    }

    /// Creates a world without chunks for an import, with the import's initial progress, and closes
    /// it.
    pub(crate) fn create_import(
        path: &Path,
        name: &str,
        materials: &MaterialTable,
        progress: Vec<u8>,
    ) -> Result<(), SourceError> {
        let import = Some(progress);
        NewWorld { import, ..NewWorld::new(name, materials) }.create(path.into())
    }

    /// Opens a world.
    ///
    /// A background thread commits changes of a file on disk. Changes of a file in memory are
    /// committed on the calling thread, by [`flush`](Self::flush), or by [`put`](Self::put) when
    /// too much is pending. The caller must not have the file in memory open already.
    ///
    /// # Errors
    /// [`InUse`](SourceError::InUse) if the world is to be opened for writing and already is. Also
    /// files that are no stored world, have a newer version, or are damaged as a whole.
    ///
    /// # Examples
    /// ```
    /// use drystone_formats::{MemoryFile, Source};
    /// use drystone_store::{StoreOptions, StoredWorld};
    /// use drystone_voxel::{Chunk, ChunkPos, MaterialTable};
    ///
    /// let mut materials = MaterialTable::new();
    /// let stone = materials.insert("stone", [120, 120, 120, 255]).unwrap();
    /// let file = MemoryFile::new("stones.drystone", 16 << 20);
    /// let world = StoredWorld::create(&file, "stones", &materials)?;
    /// world.put([(ChunkPos::new(0, 0, 0), Chunk::new(Chunk::SIDE, stone))])?;
    /// world.flush()?;
    ///
    /// let copy = MemoryFile::of_bytes("copy", StoredWorld::finished_bytes(&file)?, usize::MAX);
    /// let world = StoredWorld::open(&copy, &StoreOptions::read_only())?;
    /// assert_eq!(world.chunk_count(), 1);
    /// # Ok::<(), drystone_formats::SourceError>(())
    /// ```
    pub fn open<'a>(
        file: impl Into<WorldFile<'a>>,
        options: &StoreOptions,
    ) -> Result<Self, SourceError> {
        let (file, StoreOptions { access, policy, threads }) = (file.into(), *options);
        check_signature(file)?;
        let store_access = match (file, access) {
            (WorldFile::Memory(file), _) => Access::Memory(file.clone()),
            (WorldFile::Path(_), StoreAccess::Read) => Access::Read,
            (WorldFile::Path(_), StoreAccess::Write) => Access::Write,
        };
        let mode = match file {
            WorldFile::Memory(_) => CommitMode::OnCaller,
            WorldFile::Path(_) => CommitMode::Background { packers: threads },
        };
        let store = Store::open(file.path(), store_access, policy.cache_bytes())?;
        Self::of(store, (access == StoreAccess::Write).then_some((policy, mode)))
    }

    fn of(store: Store, writing: Option<(CommitPolicy, CommitMode)>) -> Result<Self, SourceError> {
        let Meta { head, id, materials } = read_meta(&store)?;
        let index = read_index(&store, &head)?;
        let name = head.name.clone();
        Ok(Self { name, id, materials, contents: Contents::new(store, head, index, writing)? })
    }

    /// Replaces chunks; a chunk of only air removes the stored one. Reads return the new chunks
    /// immediately. They are committed together, later: by the [`CommitPolicy`], by
    /// [`flush`](Self::flush), or when the world is closed or dropped.
    ///
    /// # Cost
    /// O(chunks); voxel data is shared, not copied. Blocks on the disk only if more than four times
    /// [`CommitPolicy::max_bytes`] are pending.
    ///
    /// # Errors
    /// A world that is open for reading only, a chunk with another side length, or an earlier
    /// commit that failed. After a failed commit, [`flush`](Self::flush) tries again.
    pub fn put(
        &self,
        chunks: impl IntoIterator<Item = (ChunkPos, Chunk)>,
    ) -> Result<(), SourceError> {
        self.contents.put(Batch::of_chunks(of_one_side(chunks)?))
    }

    /// Appends materials to the world's table. They are committed with the next chunks.
    /// [`materials`](drystone_formats::Source::materials) includes them when the world is opened again.
    ///
    /// # Errors
    /// [`OtherMaterials`](SourceError::OtherMaterials) unless `materials` begins with the materials
    /// that the world was opened with. For other errors see [`put`](Self::put).
    pub fn put_materials(&self, materials: &MaterialTable) -> Result<(), SourceError> {
        if !codec::materials::begins_with(materials, &self.materials) {
            return Err(SourceError::OtherMaterials { path: self.path().into() });
        }
        self.contents.put(Batch { materials: Some(materials.clone()), ..Batch::default() })
    }

    /// Adds chunks and the import's progress, to be committed in one transaction.
    pub(crate) fn put_import(
        &self,
        chunks: impl IntoIterator<Item = (ChunkPos, Chunk)>,
        progress: Vec<u8>,
    ) -> Result<(), SourceError> {
        let batch = Batch::of_chunks(of_one_side(chunks)?);
        self.contents.put(Batch { import: Some(progress), ..batch })
    }

    /// Makes all LOD chunks that are not stored yet, and commits them. The top level is the first
    /// at which at most eight nodes cover the world. `each` is called with the number of finished
    /// steps and of all steps.
    ///
    /// # Cost
    /// Reads every chunk that has no stored LOD chunk above it. Making a LOD chunk takes about 0.3
    /// ms, and runs on all cores. Memory: eight chunks per level and core.
    ///
    /// # Errors
    /// Failed writes, and damage to the file as a whole. LOD chunks above a damaged chunk are not
    /// stored.
    pub fn derive_levels(&self, each: &mut dyn FnMut(u64, u64)) -> Result<(), SourceError> {
        self.levels().make_all(None, each)
    }

    pub(crate) const fn levels(&self) -> Levels<'_> {
        Levels { contents: &self.contents, materials: &self.materials }
    }

    /// Commits all pending changes and returns when they are on disk.
    ///
    /// # Errors
    /// A write that failed. The changes stay pending, so the call can be repeated.
    pub fn flush(&self) -> Result<(), SourceError> {
        self.contents.flush()
    }

    /// Commits all pending changes and closes the file.
    ///
    /// # Errors
    /// A write that failed. The error contains the world with all pending changes. Close it again
    /// when there is disk space, or copy it elsewhere.
    pub fn close(self) -> Result<(), Box<NotClosed>> {
        let closed = self.contents.close();
        closed.map_err(|error| Box::new(NotClosed { world: self, error }))
    }

    /// Counts the chunks and voxels of the world.
    ///
    /// # Cost
    /// Reads every chunk once, on all cores. Keeps no chunk in memory.
    ///
    /// # Errors
    /// The length of the file cannot be read.
    pub fn summary(&self) -> Result<StoredSummary, SourceError> {
        StoredSummary::of(self)
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        self.contents.store.path()
    }

    /// Random id that the file got when it was created. Moving, copying and repairing keep it.
    /// `None` for files from before ids existed.
    pub const fn id(&self) -> Option<u128> {
        self.id
    }

    /// Number of commits since the file was created.
    pub fn revision(&self) -> u64 {
        self.contents.with_committed(|committed| committed.head.revision)
    }

    /// Version of the file format.
    pub fn version(&self) -> u32 {
        self.contents.with_committed(|committed| committed.head.version)
    }

    /// Progress of an unfinished import; `None` if there is none.
    pub(crate) fn import_progress(&self) -> Result<Option<Vec<u8>>, SourceError> {
        let Some(bytes) = self.contents.meta(IMPORT)? else { return Ok(None) };
        let opened = codec::opened(&bytes).map(<[u8]>::to_vec);
        opened.map(Some).ok_or_else(|| damaged(self.path(), "import", codec::WRONG_SUM))
    }

    /// Whether another process may write the file while it is open for reading here.
    pub(crate) fn is_shared(&self) -> bool {
        self.contents.store.is_shared()
    }
}

/// Files that are not open.
impl StoredWorld {
    /// Whether the file begins with the signature of stored worlds.
    pub fn is_stored(path: &Path) -> bool {
        has_signature(path)
    }

    /// Reads a whole stored world, verifies every checksum and decompresses every chunk.
    ///
    /// # Cost
    /// Reads the whole file on one core, about 20 µs for each chunk and LOD chunk.
    ///
    /// # Errors
    /// A file that cannot be opened at all, see [`open`](Self::open). Other damage is a line of
    /// [`WorldCheck::damage`], not an error.
    pub fn check(path: &Path) -> Result<WorldCheck, SourceError> {
        check::check(path)
    }

    /// Repairs a damaged world. Copies every intact chunk into a new file and rebuilds the index,
    /// and LOD chunks if there were any. The new file replaces the damaged one, which is kept with
    /// `.damaged` appended to its name; that path is returned. Lost materials are named by their
    /// number. A lost [`id`](Self::id) is replaced by a new one. A world without damage is not
    /// changed.
    ///
    /// # Cost
    /// A [`check`](Self::check). If there is damage, also writes the whole file.
    ///
    /// # Errors
    /// The errors of [`check`](Self::check), and failed writes. A file that was cut short is
    /// repaired as far as possible. [`Unrepairable`](SourceError::Unrepairable) if no part can be
    /// read.
    pub fn repair(path: &Path) -> Result<(WorldCheck, Option<PathBuf>), SourceError> {
        check::repair(path)
    }

    /// Shrinks the file as far as possible without compressing records again. Useful for finished
    /// worlds and after many edits.
    ///
    /// # Cost
    /// Moves up to the whole file.
    ///
    /// # Errors
    /// See [`open`](Self::open). Also fails while the world is open for reading elsewhere.
    pub fn compact(path: &Path) -> Result<(), SourceError> {
        check_signature(path.into())?;
        Store::open(path, Access::Write, CACHE_BYTES)?.close()?;
        Store::compact(path)
    }

    /// The bytes of a file as if it were closed now, with all commits and as short as possible.
    /// Does not change the file.
    ///
    /// # Cost
    /// Two copies for a moment, and moving used pages together.
    ///
    /// # Errors
    /// The file is no stored world, or memory for the copies is missing.
    pub fn finished_bytes(file: &MemoryFile) -> Result<Vec<u8>, SourceError> {
        let unreadable = |problem| SourceError::Unreadable { path: file.name().into(), problem };
        let copy = file.to_bytes().map_err(unreadable)?;
        let copy = MemoryFile::of_bytes(file.name(), copy, usize::MAX);
        Store::compact_in(&copy)?;
        Ok(copy.take())
    }

    /// Checks all pages of a file in memory that the database reads when it writes. Damage to these
    /// may panic, like other damage while it is open.
    ///
    /// # Errors
    /// The first damage that is found.
    pub fn verify(file: &MemoryFile) -> Result<(), SourceError> {
        Store::verify_in(file)
    }
}

/// Whether an error concerns only a part of a stored or packed world, so that the rest can be read.
pub(crate) fn is_damaged_part(error: &SourceError) -> bool {
    match error {
        SourceError::BadStored { location, .. } => location != DATABASE,
        SourceError::BadPacked { .. } => true,
        _ => false,
    }
}

const MISSING: &str = "it is missing from its group";

/// The path with `.` and `ending` appended.
fn with_suffix(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}

/// Text for a chunk in messages.
fn location_of(position: ChunkPos) -> String {
    format!("chunk {},{},{}", position.x, position.y, position.z)
}

impl std::fmt::Debug for StoredWorld {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoredWorld").field("path", &self.path()).finish_non_exhaustive()
    }
}
