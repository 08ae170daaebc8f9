use std::collections::BTreeSet;
use std::sync::PoisonError;

use drystone_formats::SourceError;
use drystone_voxel::{Chunk, ChunkPos, NodePos, VoxelBox};
use rayon::prelude::*;

use super::{LodData, lock};
use crate::world::{bounds_of, read_chunks};

impl LodData {
    /// Reads all chunks of the source into the cache, on all cores, and returns the number of those
    /// that are not all air. `on_chunk` is called after each chunk, on any thread. Later reads find
    /// all chunks in memory if the cache has no limit.
    ///
    /// # Errors
    /// The errors of [`World::load`](crate::World::load).
    pub fn read_all(&self, on_chunk: impl Fn() + Sync) -> Result<usize, SourceError> {
        let chunks = read_chunks(self.source(), on_chunk)?;
        let mut cache = lock(&self.cache);
        let mut count = 0;
        for (position, chunk) in chunks {
            if let Some(chunk) = chunk {
                count += usize::from(!chunk.is_empty());
                cache.insert(position.into(), chunk);
            }
        }
        Ok(count)
    }

    /// Returns the positions of all chunks that may hold voxels, sorted: those of the source and
    /// those of unsaved edits.
    ///
    /// # Cost
    /// The cost of [`Source::chunk_positions`](drystone_formats::Source::chunk_positions).
    pub fn chunk_positions(&self) -> Vec<ChunkPos> {
        let mut positions = self.source.chunk_positions();
        positions.extend(self.read_edits().lowest().into_iter().map(|(position, _)| position));
        positions.sort_unstable();
        positions.dedup();
        positions
    }

    /// Number of chunks of level 0 that are not all air.
    ///
    /// # Cost
    /// Reads every chunk that is not cached, on all cores.
    pub fn solid_chunk_count(&self) -> usize {
        self.solid_chunks().len()
    }

    fn solid_chunks(&self) -> Vec<(ChunkPos, Chunk)> {
        self.chunk_positions()
            .into_par_iter()
            .map(|position| (position, self.chunk(position.into())))
            .filter(|(_, chunk)| !chunk.is_empty())
            .collect()
    }

    /// Returns the tight box around all voxels that are not air, or `None` if there are none.
    /// Unreadable chunks count as air.
    ///
    /// # Cost
    /// Reads every chunk that is not cached. O(voxels of the outermost chunks), on all cores.
    pub fn bounds(&self) -> Option<VoxelBox> {
        let chunks = self.solid_chunks();
        bounds_of(chunks.iter().map(|(position, chunk)| (*position, chunk)).collect())
    }

    /// Returns the nodes of the highest level up to `max_level` that may hold voxels, sorted.
    pub(in crate::lod) fn roots_up_to(&self, max_level: u8) -> Vec<NodePos> {
        if self.top_level() <= max_level {
            return self.roots();
        }
        let positions = self.chunk_positions();
        let roots = positions.into_iter().map(|at| NodePos::from(at).ancestor(max_level));
        roots.collect::<BTreeSet<NodePos>>().into_iter().collect()
    }

    /// Extends the world to include these chunks.
    pub(super) fn extend(&self, chunks: impl Iterator<Item = ChunkPos> + Clone) {
        let top_level = self.top_level();
        let roots = chunks.clone().map(|chunk| NodePos::from(chunk).ancestor(top_level));
        self.roots.write().unwrap_or_else(PoisonError::into_inner).extend(roots);
        if chunks.clone().any(|chunk| !self.is_inside(chunk.into())) {
            self.grid.write().unwrap_or_else(PoisonError::into_inner).extend(chunks);
        }
    }
}
