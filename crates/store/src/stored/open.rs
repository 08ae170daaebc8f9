use drystone_formats::SourceError;
use drystone_voxel::MaterialTable;
use redb::{ReadableTable, WriteTransaction};

use super::batch::{HEAD, ID, IMPORT, MATERIALS};
use super::database::{INDEX, META, Store, damaged};
use super::index::Index;
use super::meta::{self, Head, VERSION};
use super::{WRONG_SUM, id};

/// Writes the metadata of a world without chunks.
pub(super) fn write_new(
    transaction: &WriteTransaction,
    name: &str,
    id: Option<u128>,
    materials: &MaterialTable,
    import: Option<Vec<u8>>,
) -> Result<(), redb::Error> {
    let (version, name) = (VERSION, name.to_owned());
    let head = Head { version, revision: 0, chunk_count: 0, region_count: 0, name };
    let mut table = transaction.open_table(META)?;
    table.insert(HEAD, head.to_bytes().as_slice())?;
    if let Some(id) = id {
        table.insert(ID, id::to_bytes(id).as_slice())?;
    }
    table.insert(MATERIALS, meta::materials_to_bytes(materials).as_slice())?;
    if let Some(import) = import {
        table.insert(IMPORT, meta::sealed(import).as_slice())?;
    }
    Ok(())
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
    let (head, id, materials) = store.read(|transaction| {
        let table = match transaction.open_table(META) {
            Err(redb::TableError::TableDoesNotExist(_)) => return Ok((None, None, None)),
            table => table?,
        };
        let bytes = |name| table.get(name).map(|it| it.map(|bytes| bytes.value().to_vec()));
        Ok((bytes(HEAD)?, bytes(ID)?, bytes(MATERIALS)?))
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
    let materials = materials.as_deref().and_then(meta::materials_of_bytes);
    let materials = materials.ok_or_else(|| damaged(path, "materials", WRONG_SUM))?;
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
