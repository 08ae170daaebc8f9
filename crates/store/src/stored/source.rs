use std::path::PathBuf;

use drystone_formats::{EditStore, Saving, Source, SourceError};
use drystone_voxel::{Chunk, ChunkBox, ChunkPos, MaterialTable, NodePos};

use super::StoredWorld;
use super::committer::Committer;
use super::index::Index;

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
        let mut positions: Vec<ChunkPos> = self.contents.with_index(|index| index.iter().collect());
        positions.sort_unstable();
        positions
    }

    fn extent(&self) -> Option<ChunkBox> {
        self.contents.with_index(Index::extent)
    }

    fn chunk_count(&self) -> u64 {
        self.contents.with_index(Index::chunk_count)
    }

    fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
        self.contents.chunk(position)
    }

    /// The stored LOD chunk. If it is missing and the world is open for writing, makes and stores
    /// it.
    fn coarse_chunk(&self, node: NodePos) -> Option<Result<Chunk, SourceError>> {
        match node.level {
            0 => Some(self.chunk(node.chunk)),
            _ if self.contents.committer.is_some() => Some(self.levels().chunk(node)),
            _ => self.contents.level(node).map(Ok),
        }
    }

    fn has_exact_air(&self) -> bool {
        true
    }

    fn is_air(&self, node: NodePos) -> bool {
        self.contents.is_air(node)
    }

    fn faults(&self) -> Vec<String> {
        self.contents.faults()
    }

    fn edit_store(&self) -> Option<&dyn EditStore> {
        self.contents.committer.as_ref().map(|_| self as &dyn EditStore)
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
        self.contents.saving()
    }

    fn waiting(&self) -> Vec<(ChunkPos, Chunk)> {
        self.contents.committer.as_ref().map_or_else(Vec::new, Committer::waiting_chunks)
    }
}
