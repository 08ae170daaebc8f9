use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use drystone_voxel::{Chunk, ChunkPos, MaterialTable};
use rayon::ThreadPool;
use rayon::prelude::*;
use redb::{ReadableTable, WriteTransaction};

use super::database::{CHUNKS, INDEX, META, Store, corrupted};
use super::group::{Group, GroupPos, SLOTS};
use super::index::{Index, region_of};
use super::meta::{Head, materials_to_bytes, sealed};
use super::record;
use crate::WorldError;

/// The names of what the table of the whole holds.
pub(super) const HEAD: &str = "world";
pub(super) const MATERIALS: &str = "materials";
pub(super) const IMPORT: &str = "import";

/// What is committed at once.
#[derive(Default)]
pub(super) struct Batch {
    /// Chunks as they are now; empty ones are removed.
    pub(super) chunks: BTreeMap<ChunkPos, Chunk>,
    /// All materials, where some are new.
    pub(super) materials: Option<MaterialTable>,
    /// How far an import has come; empty when it is done.
    pub(super) import: Option<Vec<u8>>,
}

impl Batch {
    pub(super) fn is_empty(&self) -> bool {
        self.chunks.is_empty() && self.materials.is_none() && self.import.is_none()
    }

    /// Adds what was asked for later, which counts where both say something.
    pub(super) fn extend(&mut self, later: Self) {
        self.chunks.extend(later.chunks);
        self.materials = later.materials.or(self.materials.take());
        self.import = later.import.or(self.import.take());
    }
}

/// What was committed last.
pub(super) struct Committed {
    pub(super) head: Head,
    pub(super) index: Index,
}

type Records = [Option<Vec<u8>>; SLOTS];

/// Commits a batch: values, index and head in one transaction.
///
/// # Cost
/// Packs on the threads of `pool`, or on this one; then a transaction, which waits for the
/// disk.
pub(super) fn commit(
    store: &Store,
    committed: &RwLock<Committed>,
    batch: &Batch,
    pool: Option<&ThreadPool>,
) -> Result<(), WorldError> {
    let groups = pack(&batch.chunks, pool);
    let (mut head, mut index) = {
        let committed = committed.read().unwrap_or_else(PoisonError::into_inner);
        (committed.head.clone(), committed.index.clone())
    };
    let mut regions: Vec<_> = Vec::new();
    for (&chunk, voxels) in &batch.chunks {
        if index.contains(chunk) == voxels.is_empty() {
            index.set(chunk, !voxels.is_empty());
            regions.push(region_of(chunk).0);
        }
    }
    regions.sort_unstable();
    regions.dedup();
    head.revision += 1;
    head.chunk_count = index.chunk_count();
    head.region_count = index.region_count() as u64;
    store.write(|transaction| {
        put_groups(transaction, &groups)?;
        let mut table = transaction.open_table(INDEX)?;
        for region in regions {
            match index.region_bytes(region) {
                Some(bytes) => table.insert(region, bytes.as_slice())?,
                None => table.remove(region)?,
            };
        }
        let mut table = transaction.open_table(META)?;
        table.insert(HEAD, head.to_bytes().as_slice())?;
        if let Some(materials) = &batch.materials {
            table.insert(MATERIALS, materials_to_bytes(materials).as_slice())?;
        }
        match batch.import.as_deref() {
            None => {}
            Some([]) => drop(table.remove(IMPORT)?),
            Some(progress) => {
                drop(table.insert(IMPORT, sealed(progress.to_vec()).as_slice())?);
            }
        }
        Ok(())
    })?;
    *committed.write().unwrap_or_else(PoisonError::into_inner) = Committed { head, index };
    Ok(())
}

/// The records of chunks by group, those that are empty for what is to be removed.
fn pack(
    chunks: &BTreeMap<ChunkPos, Chunk>,
    pool: Option<&ThreadPool>,
) -> BTreeMap<GroupPos, Records> {
    let pack = |(&position, chunk): (&ChunkPos, &Chunk)| {
        let record = if chunk.is_empty() { Vec::new() } else { record::encode(chunk) };
        (GroupPos::of(position), record)
    };
    let records: Vec<_> = match pool {
        Some(pool) => pool.install(|| chunks.par_iter().map(pack).collect()),
        None => chunks.iter().map(pack).collect(),
    };
    let mut groups: BTreeMap<GroupPos, Records> = BTreeMap::new();
    for ((group, slot), record) in records {
        groups.entry(group).or_default()[slot] = Some(record);
    }
    groups
}

fn put_groups(
    transaction: &WriteTransaction,
    groups: &BTreeMap<GroupPos, Records>,
) -> Result<(), redb::Error> {
    let mut table = transaction.open_table(CHUNKS)?;
    for (&group, records) in groups {
        let key = group.key();
        let value = {
            let old = match records.iter().all(Option::is_some) {
                true => None,
                false => table.get(&key)?,
            };
            let old = old.as_ref().map(|old| Group::parse(group, old.value()));
            let old = old.transpose().map_err(corrupted)?;
            Group::replaced(group, old.as_ref(), records)
        };
        match value {
            Some(value) => table.insert(&key, value.as_slice())?,
            None => table.remove(&key)?,
        };
    }
    Ok(())
}
