use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use drystone_formats::SourceError;
use drystone_voxel::{Chunk, ChunkPos, MaterialTable, NodePos};
use rayon::ThreadPool;
use rayon::prelude::*;
use redb::{ReadableTable, Table, WriteTransaction};
use twox_hash::XxHash3_64;
use web_time::SystemTime;

use crate::codec::{looks, materials, record, sealed};

use super::database::{INDEX, META, Store, damaged};
use super::group::{Group, GroupPos, SLOTS};
use super::id;
use super::index::{Index, RegionPos, region_of};
use super::meta::{Head, VERSION};
use super::nodes::{nodes_above, stored_position};
use super::pages::{CHUNKS, Cut, LEVELS, OLD_LEVELS, ValuesMut};

/// Keys of the metadata table.
pub(super) const HEAD: &str = "world";
pub(super) const ID: &str = "id";
pub(super) const MATERIALS: &str = "materials";
pub(super) const LOOKS: &str = "looks";
pub(super) const IMPORT: &str = "import";
pub(super) const WRITER: &str = "writer";

/// Changes that are committed in one transaction.
#[derive(Default)]
pub(super) struct Batch {
    /// New contents of chunks; empty chunks are removed.
    pub(super) chunks: BTreeMap<ChunkPos, Chunk>,
    /// Nodes above changed chunks. Their stored LOD chunks are outdated, except those in `levels`.
    pub(super) stale: HashSet<NodePos>,
    /// LOD chunks, up to date with the chunks of this batch.
    pub(super) levels: BTreeMap<NodePos, Chunk>,
    /// The whole material table, if materials were added.
    pub(super) materials: Option<MaterialTable>,
    /// Progress of an import; empty when the import is finished.
    pub(super) import: Option<Vec<u8>>,
}

impl Batch {
    /// A batch that replaces chunks and marks all nodes above them as outdated.
    pub(super) fn of_chunks(chunks: BTreeMap<ChunkPos, Chunk>) -> Self {
        Self { stale: nodes_above(chunks.keys()), chunks, ..Self::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        let has_chunks = !self.chunks.is_empty() || !self.levels.is_empty();
        !has_chunks && self.materials.is_none() && self.import.is_none()
    }

    /// Merges a later batch into this one. Where both have an entry, the later one wins.
    pub(super) fn extend(&mut self, later: Self) {
        // `self.levels` can be large, and `later.stale` is often empty: iterate over the smaller.
        if later.stale.len() < self.levels.len() {
            later.stale.iter().for_each(|node| drop(self.levels.remove(node)));
        } else {
            self.levels.retain(|node, _| !later.stale.contains(node));
        }
        self.levels.extend(later.levels);
        self.stale.extend(later.stale);
        self.chunks.extend(later.chunks);
        self.materials = later.materials.or(self.materials.take());
        self.import = later.import.or(self.import.take());
    }
}

/// State of the last commit, as far as this process has seen it.
pub(super) struct Committed {
    pub(super) head: Head,
    pub(super) index: Index,
    /// Random number that distinguishes this writer's commits from others.
    writer: u64,
}

impl Committed {
    pub(super) fn new(head: Head, index: Index) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let time = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let one = (id::process(), time, COUNT.fetch_add(1, Ordering::Relaxed));
        let writer = XxHash3_64::oneshot(format!("{one:?}").as_bytes());
        Self { head, index, writer }
    }

    /// The head on disk; `None` if another program changed the world. That can happen while the
    /// file is closed after a disk failure.
    ///
    /// The head on disk may be newer than [`head`](Self::head): a commit can reach the disk
    /// although it reported a failure.
    fn head_on_disk(&self, transaction: &WriteTransaction) -> Result<Option<Head>, redb::Error> {
        let table = transaction.open_table(META)?;
        let head = table.get(HEAD)?.and_then(|bytes| Head::of_bytes(bytes.value()));
        let writer = table.get(WRITER)?.map(|bytes| bytes.value().to_vec());
        let is_own = writer.is_some_and(|it| it == self.writer.to_le_bytes());
        Ok(head.filter(|it| *it == self.head || is_own && it.revision > self.head.revision))
    }
}

type Records = [Option<Vec<u8>>; SLOTS];

/// Commits a batch: values, index and head in one transaction.
///
/// # Cost
/// Compresses on the threads of `pool`, or on the calling thread. The transaction waits for the
/// disk.
pub(super) fn commit(
    store: &Store,
    committed: &RwLock<Committed>,
    batch: &Batch,
    pool: Option<&ThreadPool>,
) -> Result<(), SourceError> {
    let groups = pack(batch.chunks.iter().map(|(&at, chunk)| (at, chunk)).collect(), pool);
    let levels = pack_levels(batch, pool);
    let head = store.write(|transaction| {
        let (on_disk, writer) = {
            let known = committed.read().unwrap_or_else(PoisonError::into_inner);
            (known.head_on_disk(transaction)?, known.writer)
        };
        let path = store.path();
        let Some(on_disk) = on_disk else {
            return Ok(Err(SourceError::ChangedElsewhere { path: path.into() }));
        };
        let is_old = on_disk.version < VERSION;
        let head = match put_index(transaction, on_disk, &batch.chunks)? {
            Ok(head) => head,
            Err(problem) => return Ok(Err(damaged(path, "index", problem))),
        };
        if is_old {
            transaction.delete_table(OLD_LEVELS.values)?;
            transaction.delete_table(OLD_LEVELS.pages)?;
        }
        put_values(transaction, CHUNKS, &groups)?;
        put_values(transaction, LEVELS, &levels)?;
        put_meta(transaction, &head, writer, batch)?;
        Ok(Ok(head))
    })??;
    let mut committed = committed.write().unwrap_or_else(PoisonError::into_inner);
    batch.chunks.iter().for_each(|(&at, chunk)| committed.index.set(at, !chunk.is_empty()));
    committed.head = head;
    Ok(())
}

/// Updates the index on disk and returns the head that follows from the one on disk. Reads the
/// index from disk, since the one in memory lacks commits that failed but reached the disk. Changes
/// nothing if a region is damaged.
fn put_index(
    transaction: &WriteTransaction,
    mut head: Head,
    chunks: &BTreeMap<ChunkPos, Chunk>,
) -> Result<Result<Head, String>, redb::Error> {
    let mut table = transaction.open_table(INDEX)?;
    let mut index = Index::default();
    let regions: BTreeSet<RegionPos> = chunks.keys().map(|&at| region_of(at).0).collect();
    for &region in &regions {
        let Some(bytes) = table.get(region)? else { continue };
        if let Err(problem) = index.add_region(region, bytes.value()) {
            return Ok(Err(format!("region {region:?}: {problem}")));
        }
    }
    let counts = |index: &Index| (index.chunk_count(), index.region_count() as u64);
    let before = counts(&index);
    let mut changed = BTreeSet::new();
    for (&at, chunk) in chunks {
        if index.contains(at) == chunk.is_empty() {
            index.set(at, !chunk.is_empty());
            changed.insert(region_of(at).0);
        }
    }
    for region in changed {
        match index.region_bytes(region) {
            Some(bytes) => table.insert(region, bytes.as_slice())?,
            None => table.remove(region)?,
        };
    }
    let after = counts(&index);
    head.version = VERSION;
    head.revision += 1;
    head.chunk_count = (head.chunk_count + after.0).saturating_sub(before.0);
    head.region_count = (head.region_count + after.1).saturating_sub(before.1);
    Ok(Ok(head))
}

fn put_meta(
    transaction: &WriteTransaction,
    head: &Head,
    writer: u64,
    batch: &Batch,
) -> Result<(), redb::Error> {
    let mut table = transaction.open_table(META)?;
    table.insert(HEAD, head.to_bytes().as_slice())?;
    table.insert(WRITER, writer.to_le_bytes().as_slice())?;
    if let Some(materials) = &batch.materials {
        put_materials(&mut table, materials)?;
    }
    match batch.import.as_deref() {
        None => {}
        Some([]) => drop(table.remove(IMPORT)?),
        Some(progress) => {
            drop(table.insert(IMPORT, sealed(progress.to_vec()).as_slice())?);
        }
    }
    Ok(())
}

/// Writes the table of materials.
pub(super) fn put_materials(
    table: &mut Table<'_, &'static str, &'static [u8]>,
    materials: &MaterialTable,
) -> Result<(), redb::Error> {
    table.insert(MATERIALS, materials::to_bytes(materials).as_slice())?;
    if let Some(looks) = looks::to_bytes(materials) {
        table.insert(LOOKS, looks.as_slice())?;
    }
    Ok(())
}

/// Compresses chunks into records, by group. Empty chunks become empty records, which remove.
fn pack(chunks: Vec<(ChunkPos, &Chunk)>, pool: Option<&ThreadPool>) -> BTreeMap<GroupPos, Records> {
    let pack = |(position, chunk): (ChunkPos, &Chunk)| {
        let record = if chunk.is_empty() { Vec::new() } else { record::encode(chunk) };
        (GroupPos::of(position), record)
    };
    let records: Vec<_> = match pool {
        Some(pool) => pool.install(|| chunks.into_par_iter().map(pack).collect()),
        None => chunks.into_iter().map(pack).collect(),
    };
    let mut groups: BTreeMap<GroupPos, Records> = BTreeMap::new();
    for ((group, slot), record) in records {
        groups.entry(group).or_default()[slot] = Some(record);
    }
    groups
}

/// Compresses LOD chunks into records, by group. Outdated nodes that the batch does not replace
/// become empty records, which remove.
fn pack_levels(batch: &Batch, pool: Option<&ThreadPool>) -> BTreeMap<GroupPos, Records> {
    let kept = batch.levels.iter().filter_map(|(&node, it)| Some((stored_position(node)?, it)));
    let mut groups = pack(kept.collect(), pool);
    for (group, slot) in batch.stale.iter().filter_map(|&it| stored_position(it)).map(GroupPos::of)
    {
        groups.entry(group).or_default()[slot].get_or_insert_default();
    }
    groups
}

/// Replaces records in their groups.
///
/// A stored value that does not parse is overwritten, so that damage does not block later edits.
/// The index still lists the group's other chunks, so reading or checking them reports each as
/// lost. LOD chunks are rebuilt.
fn put_values(
    transaction: &WriteTransaction,
    cut: Cut,
    groups: &BTreeMap<GroupPos, Records>,
) -> Result<(), redb::Error> {
    let mut values = ValuesMut::open(transaction, cut)?;
    for (&group, records) in groups {
        let is_all_new = records.iter().all(Option::is_some);
        let old = if is_all_new { None } else { values.get(group)? };
        let parsed = old.as_ref().and_then(|old| Group::parse(group, old).ok());
        let value = Group::replaced(group, parsed.as_ref(), records);
        if value.is_some() || old.is_some() || is_all_new {
            values.put(group, value.as_deref())?;
        }
    }
    Ok(())
}

/// The chunks by position, or an error if one has another side length than [`Chunk::SIDE`].
pub(super) fn of_one_side(
    chunks: impl IntoIterator<Item = (ChunkPos, Chunk)>,
) -> Result<BTreeMap<ChunkPos, Chunk>, SourceError> {
    let chunks = chunks.into_iter().map(|(position, chunk)| match chunk.side() {
        Chunk::SIDE => Ok((position, chunk)),
        found => Err(SourceError::ChunkSide { found, expected: Chunk::SIDE }),
    });
    chunks.collect()
}
