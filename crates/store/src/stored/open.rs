use std::fs;
use std::io::{ErrorKind, Read};
use std::path::Path;

use drystone_formats::{Format, MemoryFile, SourceError, WorldFile};
use drystone_voxel::MaterialTable;
use redb::{ReadableTable, WriteTransaction};

use super::batch::{HEAD, ID, IMPORT, LOOKS, MATERIALS, put_materials};
use super::database::{INDEX, META, Store, damaged};
use super::id;
use super::index::Index;
use super::meta::{Head, VERSION};
use crate::codec::{WRONG_SUM, looks, materials, sealed};
use crate::publish;

/// Metadata of a world without chunks, to be written into a new file.
pub(super) struct NewWorld<'a> {
    pub(super) name: &'a str,
    pub(super) id: Option<u128>,
    pub(super) materials: &'a MaterialTable,
    /// Initial progress of an import.
    pub(super) import: Option<Vec<u8>>,
}

impl<'a> NewWorld<'a> {
    /// Metadata with a random id.
    pub(super) fn new(name: &'a str, materials: &'a MaterialTable) -> Self {
        Self { name, id: Some(id::random()), materials, import: None }
    }

    /// Creates the file and closes it.
    pub(super) fn create(&self, file: WorldFile<'_>) -> Result<(), SourceError> {
        match file {
            WorldFile::Path(path) => publish::create(path, |new| self.fill(new)),
            WorldFile::Memory(file) => self.fill_memory(file),
        }
    }

    /// Writes an empty file and closes it.
    pub(super) fn fill(&self, path: &Path) -> Result<(), SourceError> {
        Store::create(path, |it| self.write(it))?.close()
    }

    fn fill_memory(&self, file: &MemoryFile) -> Result<(), SourceError> {
        if !file.is_empty() {
            let problem = ErrorKind::AlreadyExists.into();
            return Err(SourceError::Unwritable { path: file.name().into(), problem });
        }
        let made = Store::create_in(file, |it| self.write(it));
        made.and_then(|store| store.close()).inspect_err(|_| drop(file.take()))
    }

    fn write(&self, transaction: &WriteTransaction) -> Result<(), redb::Error> {
        let (version, name) = (VERSION, self.name.to_owned());
        let head = Head { version, revision: 0, chunk_count: 0, region_count: 0, name };
        let mut table = transaction.open_table(META)?;
        table.insert(HEAD, head.to_bytes().as_slice())?;
        put_materials(&mut table, self.materials)?;
        if let Some(id) = self.id {
            table.insert(ID, id::to_bytes(id).as_slice())?;
        }
        if let Some(import) = &self.import {
            table.insert(IMPORT, sealed(import.clone()).as_slice())?;
        }
        Ok(())
    }
}

/// First bytes of every database file.
const MAGIC: [u8; 4] = Format::STORED_SIGNATURE;

/// Whether the file begins with the signature of stored worlds.
pub(super) fn has_signature(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    fs::metadata(path).is_ok_and(|it| it.is_file())
        && fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
        && start == MAGIC
}

/// Returns an error that describes the file unless it begins with the signature of stored worlds.
pub(super) fn check_signature(file: WorldFile<'_>) -> Result<(), SourceError> {
    let path = file.path().to_path_buf();
    let len = match file {
        WorldFile::Path(path) if has_signature(path) => return Ok(()),
        WorldFile::Path(_) => match fs::metadata(&path) {
            Err(problem) => return Err(SourceError::Unreadable { path, problem }),
            Ok(it) if it.is_dir() => {
                let found = "a folder, not a stored world".into();
                return Err(SourceError::Unsupported { path, found });
            }
            Ok(it) => it.len(),
        },
        WorldFile::Memory(file) => {
            let mut start = [0; MAGIC.len()];
            match file.read_at(0, &mut start) {
                Ok(()) if start == MAGIC => return Ok(()),
                _ => file.len() as u64,
            }
        }
    };
    let found = format!("not a stored world ({len} bytes without its signature)");
    Err(SourceError::Unsupported { path, found })
}

/// Metadata of a world.
pub(super) struct Meta {
    pub(super) head: Head,
    pub(super) id: Option<u128>,
    pub(super) materials: MaterialTable,
}

/// Reads the metadata of a world and verifies its checksums.
pub(super) fn read_meta(store: &Store) -> Result<Meta, SourceError> {
    let path = store.path();
    let (head, id, materials, looks) = store.read(|transaction| {
        let table = match transaction.open_table(META) {
            Err(redb::TableError::TableDoesNotExist(_)) => return Ok((None, None, None, None)),
            table => table?,
        };
        let bytes = |name| table.get(name).map(|it| it.map(|bytes| bytes.value().to_vec()));
        Ok((bytes(HEAD)?, bytes(ID)?, bytes(MATERIALS)?, bytes(LOOKS)?))
    })?;
    let head = head.ok_or_else(|| SourceError::Unsupported {
        path: path.into(),
        found: "a database of another kind".into(),
    })?;
    match Head::version_of(&head) {
        Some(found) if found > VERSION => {
            return Err(SourceError::NewerStored { path: path.into(), found, known: VERSION });
        }
        _ => {}
    }
    let head = Head::of_bytes(&head).ok_or_else(|| damaged(path, "head", WRONG_SUM))?;
    let id = id.map(|id| id::of_bytes(&id).ok_or_else(|| damaged(path, "id", WRONG_SUM)));
    let materials = materials.as_deref().and_then(materials::of_bytes);
    let materials = materials.ok_or_else(|| damaged(path, "materials", WRONG_SUM))?;
    let materials = match looks {
        Some(looks) => looks::read(&materials, &looks)
            .map_err(|problem| damaged(path, "looks of materials", problem))?,
        None => materials,
    };
    Ok(Meta { head, id: id.transpose()?, materials })
}

/// Reads the index of present chunks and compares it with the counts in `head`.
pub(super) fn read_index(store: &Store, head: &Head) -> Result<Index, SourceError> {
    let index = store.read(|transaction| {
        let mut index = Index::default();
        for entry in transaction.open_table(INDEX)?.iter()? {
            let (region, bytes) = entry?;
            let region = region.value();
            if let Err(problem) = index.add_region(region, bytes.value()) {
                return Ok(Err(format!("region {region:?}: {problem}")));
            }
        }
        Ok(Ok(index))
    })?;
    let index = index.map_err(|problem| damaged(store.path(), "index", problem))?;
    let found = (index.chunk_count(), index.region_count() as u64);
    if found != (head.chunk_count, head.region_count) {
        let problem = format!("it lists {} chunks instead of {}", found.0, head.chunk_count);
        return Err(damaged(store.path(), "index", problem));
    }
    Ok(index)
}
