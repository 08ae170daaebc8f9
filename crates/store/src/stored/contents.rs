use std::sync::{Arc, Mutex, PoisonError, RwLock};

use drystone_formats::{Saving, SourceError};
use drystone_voxel::{Chunk, ChunkPos, Material, NodePos};

use super::batch::{Batch, Committed};
use super::committer::{CommitMode, Committer, PendingLevel};
use super::database::{META, Store, damaged};
use super::group::{Group, GroupPos};
use super::index::Index;
use super::meta::Head;
use super::nodes::{location_of_node, stored_position};
use super::options::CommitPolicy;
use super::{MISSING, location_of};
use crate::codec::record;

/// Chunks of an open world: pending changes, and the file below them.
pub(super) struct Contents {
    pub(super) store: Arc<Store>,
    committed: Arc<RwLock<Committed>>,
    /// `None` if the world is open for reading only.
    pub(super) committer: Option<Committer>,
    faults: Mutex<Vec<String>>,
}

impl Contents {
    /// Maximum number of faults stored for [`Source::faults`](drystone_formats::Source::faults).
    const MAX_FAULTS: usize = 10_000;

    /// Reads chunks of `store`, whose head and index were read, and writes them with the given
    /// policy, if any.
    pub(super) fn new(
        store: Store,
        head: Head,
        index: Index,
        writing: Option<(CommitPolicy, CommitMode)>,
    ) -> Result<Self, SourceError> {
        let (store, committed) = (Arc::new(store), Committed::new(head, index));
        let committed = Arc::new(RwLock::new(committed));
        let committer = writing.map(|(policy, mode)| {
            Committer::new(Arc::clone(&store), Arc::clone(&committed), policy, mode)
        });
        Ok(Self { committer: committer.transpose()?, committed, faults: Mutex::default(), store })
    }

    /// Adds changes, which are committed later.
    pub(super) fn put(&self, batch: Batch) -> Result<(), SourceError> {
        match self.writer()? {
            _ if batch.is_empty() => Ok(()),
            committer => committer.put(batch),
        }
    }

    /// Commits all pending changes and returns when they are on disk.
    pub(super) fn flush(&self) -> Result<(), SourceError> {
        self.committer.as_ref().map_or(Ok(()), Committer::flush)
    }

    /// Commits all pending changes and closes the file.
    pub(super) fn close(&self) -> Result<(), SourceError> {
        self.flush().and_then(|()| self.store.close())
    }

    /// The committer, or an error if the world is open for reading only.
    pub(super) fn writer(&self) -> Result<&Committer, SourceError> {
        let read_only = || SourceError::ReadOnly { path: self.store.path().into() };
        self.committer.as_ref().ok_or_else(read_only)
    }

    pub(super) fn saving(&self) -> Saving {
        self.committer.as_ref().map_or_else(Saving::default, Committer::saving)
    }

    /// The newest content of a chunk, pending or on disk. Notes damage.
    pub(super) fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
        // A commit may remove the chunk between reading the index and the file. A second attempt
        // then finds that in the pending changes or the index.
        let read = self.newest(position).or_else(|error| match &self.committer {
            Some(_) => self.newest(position),
            None => Err(error),
        });
        read.inspect_err(|error| self.note(error))
    }

    fn newest(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
        let waiting = self.committer.as_ref().and_then(|it| it.get(position));
        waiting.map_or_else(|| self.read(position), Ok)
    }

    /// The content of a chunk on disk.
    fn read(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
        if !self.with_committed(|committed| committed.index.contains(position)) {
            return Ok(Chunk::new(Chunk::SIDE, Material::AIR));
        }
        let (group, slot) = GroupPos::of(position);
        let read = self.store.chunks(|values| {
            values.read(group, Some(slot), |value| {
                let group = Group::parse(group, value)?;
                group.record(slot).ok_or(MISSING)?.and_then(record::decode)
            })
        })?;
        let read = read.unwrap_or(Err("it is missing from the file"));
        read.map_err(|problem| damaged(self.store.path(), location_of(position), problem))
    }

    /// The stored LOD chunk of a node; `None` if it is missing, damaged or outdated. Notes damage.
    pub(super) fn level(&self, node: NodePos) -> Option<Chunk> {
        match self.committer.as_ref().map_or(PendingLevel::Unchanged, |it| it.level(node)) {
            PendingLevel::Chunk(chunk) => return Some(chunk),
            PendingLevel::Stale => return None,
            PendingLevel::Unchanged => {}
        }
        let (group, slot) = GroupPos::of(stored_position(node)?);
        let read = self.store.levels(|values| {
            let read = values.read(group, Some(slot), |value| {
                let record = Group::parse(group, value).and_then(|it| it.record(slot).transpose());
                record.and_then(|it| it.map(record::decode).transpose()).transpose()
            });
            Ok(read?.flatten())
        });
        let damage = |problem| damaged(self.store.path(), location_of_node(node), problem);
        let read = read.and_then(|read| read.transpose().map_err(damage));
        read.inspect_err(|error| self.note(error)).ok().flatten()
    }

    /// Whether no chunk below the node has voxels.
    pub(super) fn is_air(&self, node: NodePos) -> bool {
        // Pending changes first: a change that is committed meanwhile is in the index.
        let waiting = self.committer.as_ref().and_then(|it| it.may_hold(node));
        let is_there = || self.with_committed(|committed| committed.index.has_any(node));
        !waiting.unwrap_or_else(is_there)
    }

    /// Calls `read` with the index, including pending changes.
    pub(super) fn with_index<T>(&self, read: impl FnOnce(&Index) -> T) -> T {
        let waiting = self.committer.as_ref().map_or_else(Vec::new, Committer::waiting);
        self.with_committed(|committed| {
            if waiting.is_empty() {
                return read(&committed.index);
            }
            let mut index = committed.index.clone();
            waiting.into_iter().for_each(|(position, is_there)| index.set(position, is_there));
            read(&index)
        })
    }

    /// Calls `read` with the state of the last commit.
    pub(super) fn with_committed<T>(&self, read: impl FnOnce(&Committed) -> T) -> T {
        read(&self.committed.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// An entry of the metadata table on disk.
    pub(super) fn meta(&self, name: &str) -> Result<Option<Vec<u8>>, SourceError> {
        self.store.read(|transaction| {
            let entry = transaction.open_table(META)?.get(name)?;
            Ok(entry.map(|bytes| bytes.value().to_vec()))
        })
    }

    /// Stores the text of an error for [`faults`](Self::faults).
    fn note(&self, error: &SourceError) {
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        if faults.len() < Self::MAX_FAULTS {
            faults.push(error.to_string());
        }
    }

    /// Texts of the damage found so far.
    pub(super) fn faults(&self) -> Vec<String> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
