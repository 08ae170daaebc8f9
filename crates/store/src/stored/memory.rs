//! Stored worlds in a [`MemoryFile`].

use std::io::ErrorKind;

use drystone_formats::{MemoryFile, SourceError};
use drystone_voxel::MaterialTable;

use super::committer::CommitMode;
use super::database::Store;
use super::{CommitPolicy, StoredWorld, id, write_new};

impl StoredWorld {
    /// Creates a world without chunks in an empty file in memory. See [`create`](Self::create).
    ///
    /// # Errors
    /// The file is not empty, or its limit is too low.
    ///
    /// # Examples
    /// ```
    /// use drystone_formats::{MemoryFile, Source};
    /// use drystone_store::{CommitPolicy, StoredWorld};
    /// use drystone_voxel::{Chunk, ChunkPos, MaterialTable};
    ///
    /// let mut materials = MaterialTable::new();
    /// let stone = materials.insert("stone", [120, 120, 120, 255]).unwrap();
    /// let file = MemoryFile::new("stones.drystone", 16 << 20);
    /// StoredWorld::create_in(&file, "stones", &materials)?;
    ///
    /// let world = StoredWorld::open_in(&file, CommitPolicy::default())?;
    /// world.put([(ChunkPos::new(0, 0, 0), Chunk::new(Chunk::SIDE, stone))])?;
    /// world.flush()?;
    /// let bytes = StoredWorld::finished_bytes(&file)?;
    /// assert_eq!(StoredWorld::parse(&bytes, "stones.drystone")?.chunk_count(), 1);
    /// # Ok::<(), drystone_formats::SourceError>(())
    /// ```
    pub fn create_in(
        file: &MemoryFile,
        name: &str,
        materials: &MaterialTable,
    ) -> Result<(), SourceError> {
        if !file.is_empty() {
            let problem = ErrorKind::AlreadyExists.into();
            return Err(SourceError::Unreadable { path: file.name().into(), problem });
        }
        let id = Some(id::random());
        let made = Store::create_in(file, |it| write_new(it, name, id, materials, None));
        made.and_then(|store| store.close()).inspect_err(|_| drop(file.take()))
    }

    /// Opens a world in memory for reading and writing. See [`open`](Self::open). The caller must
    /// not have the file open already. No background thread commits: [`flush`](Self::flush) commits
    /// on the calling thread, and so does [`put`](Self::put) when too much is pending.
    ///
    /// # Errors
    /// See [`open`](Self::open).
    pub fn open_in(file: &MemoryFile, policy: CommitPolicy) -> Result<Self, SourceError> {
        let mut start = [0; super::MAGIC.len()];
        let _ = file.read_at(0, &mut start);
        Self::check_magic(&start, file.len(), file.name())?;
        Self::of(Store::open_in(file, policy.cache_bytes())?, Some((policy, CommitMode::OnCaller)))
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
