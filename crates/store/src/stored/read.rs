use std::path::PathBuf;
use std::sync::PoisonError;

use drystone_formats::{EditStore, Saving, Source, SourceError};
use drystone_voxel::{Chunk, ChunkBox, ChunkPos, Material, MaterialTable, NodePos};

use super::batch::Committed;
use super::committer::Committer;
use super::database::damaged;
use super::group::{Group, GroupPos};
use super::index::Index;
use super::{MISSING, StoredWorld, location_of, record};

impl StoredWorld {
    pub(super) fn with_committed<T>(&self, read: impl FnOnce(&Committed) -> T) -> T {
        read(&self.committed.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn note(&self, error: &SourceError) {
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        if faults.len() < Self::MAX_FAULTS {
            faults.push(error.to_string());
        }
    }

    /// Calls `read` with the index, including pending changes.
    fn with_index<T>(&self, read: impl FnOnce(&Index) -> T) -> T {
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

    /// The newest content of a chunk, pending or on disk.
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
        read.map_err(|problem| damaged(self.path(), location_of(position), problem))
    }
}

impl Source for StoredWorld {
    fn name(&self) -> &str {
        &self.name
    }

    fn identity(&self) -> String {
        let id = self.id.map_or_else(String::new, |id| format!(", id {id:032x}"));
        format!("{}{id}", self.name)
    }

    fn materials(&self) -> &MaterialTable {
        &self.materials
    }

    fn chunk_positions(&self) -> Vec<ChunkPos> {
        let mut positions: Vec<ChunkPos> = self.with_index(|index| index.iter().collect());
        positions.sort_unstable();
        positions
    }

    fn extent(&self) -> Option<ChunkBox> {
        self.with_index(Index::extent)
    }

    fn chunk_count(&self) -> u64 {
        self.with_index(Index::chunk_count)
    }

    fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
        // A commit may remove the chunk between reading the index and the file. A second attempt
        // then finds that in the pending changes or the index.
        let read = self.newest(position).or_else(|error| match &self.committer {
            Some(_) => self.newest(position),
            None => Err(error),
        });
        read.inspect_err(|error| self.note(error))
    }

    /// The stored LOD chunk. If it is missing and the world is open for writing, makes and stores
    /// it.
    fn coarse_chunk(&self, node: NodePos) -> Option<Result<Chunk, SourceError>> {
        match node.level {
            0 => Some(self.chunk(node.chunk)),
            _ if self.committer.is_some() => Some(self.derive(node)),
            _ => self.stored_level(node).map(Ok),
        }
    }

    fn has_exact_air(&self) -> bool {
        true
    }

    fn is_air(&self, node: NodePos) -> bool {
        // Pending changes first: a change that is committed meanwhile is in the index.
        let waiting = self.committer.as_ref().and_then(|it| it.may_hold(node));
        let is_there = || self.with_committed(|committed| committed.index.has_any(node));
        !waiting.unwrap_or_else(is_there)
    }

    fn faults(&self) -> Vec<String> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn edit_store(&self) -> Option<&dyn EditStore> {
        self.committer.as_ref().map(|_| self as &dyn EditStore)
    }
}

impl EditStore for StoredWorld {
    fn path(&self) -> PathBuf {
        self.path().into()
    }

    fn put_edited(&self, chunks: Vec<(ChunkPos, Chunk)>) -> Result<(), SourceError> {
        self.put(chunks)
    }

    fn flush(&self) -> Result<(), SourceError> {
        self.flush()
    }

    fn saving(&self) -> Saving {
        self.committer.as_ref().map_or_else(Saving::default, Committer::saving)
    }

    fn waiting(&self) -> Vec<(ChunkPos, Chunk)> {
        self.committer.as_ref().map_or_else(Vec::new, Committer::waiting_chunks)
    }
}
