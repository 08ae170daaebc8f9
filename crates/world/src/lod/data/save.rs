use std::sync::PoisonError;

use drystone_voxel::{Chunk, ChunkPos, NodePos};

use super::{LodData, lock};

/// A snapshot of the chunks that changed since they were last [saved](LodData::saved).
#[derive(Clone, Debug)]
pub struct Unsaved {
    /// Changed chunks, sorted by position. Chunks that became empty are included.
    pub chunks: Vec<(ChunkPos, Chunk)>,
    revision: u64,
}

impl LodData {
    /// Returns the chunks of level 0 that changed since they were last saved. Write them into what
    /// the source reads from, then call [`saved`](Self::saved).
    ///
    /// # Cost
    /// O(changed chunks). The voxels are shared, not copied.
    ///
    /// # Examples
    /// ```no_run
    /// # fn save(data: &drystone_world::LodData, world: &drystone_store::StoredWorld)
    /// # -> Result<(), drystone_formats::SourceError> {
    /// let unsaved = data.unsaved();
    /// world.put(unsaved.chunks.iter().cloned())?;
    /// data.saved(&unsaved); // if `world` is what `data` reads from
    /// # Ok(())
    /// # }
    /// ```
    pub fn unsaved(&self) -> Unsaved {
        let edits = self.read_edits();
        Unsaved { chunks: edits.lowest(), revision: edits.revision }
    }

    /// Number of chunks that [`unsaved`](Self::unsaved) returns.
    pub fn unsaved_count(&self) -> usize {
        self.read_edits().lowest_count()
    }

    /// Size of the unsaved changes, in bytes. They are kept without a limit until they are
    /// [saved](Self::saved).
    pub fn edited_bytes(&self) -> usize {
        self.read_edits().size_bytes
    }

    /// Returns the size of the unsaved changes in bytes, summed over all chunks.
    #[cfg(test)]
    pub(crate) fn counted_edited_bytes(&self) -> usize {
        self.read_edits().counted_bytes()
    }

    /// Number of chunks of any level that are kept because of edits.
    #[cfg(test)]
    pub(crate) fn edit_count(&self) -> usize {
        self.read_edits().len()
    }

    /// Declares that the source now returns the chunks in `unsaved`. Those that have not changed
    /// since are released, with the LOD voxels derived from them. A source that makes its own LOD
    /// voxels and has no edit store returns them without edits, so these are kept.
    ///
    /// # Cost
    /// O(changed chunks).
    pub fn saved(&self, unsaved: &Unsaved) {
        let _editing = lock(&self.editing);
        self.mark_filled(unsaved);
        let positions = || unsaved.chunks.iter().map(|&(position, _)| position);
        let is_derived = !self.source.makes_levels() || self.source.edit_store().is_some();
        // Readers wait for the lock, so that they always find a chunk either here or in the source.
        let mut edits = self.write_edits();
        let taken = edits.take_saved(positions(), unsaved.revision, self.grid(), is_derived);
        let mut cache = lock(&self.cache);
        cache.begin_epoch(positions());
        for (node, chunk) in taken {
            cache.insert(node, chunk);
        }
    }

    /// Records which nodes are no longer empty.
    fn mark_filled(&self, unsaved: &Unsaved) {
        let Some(filled) = &self.filled else { return };
        let mut filled = filled.write().unwrap_or_else(PoisonError::into_inner);
        let grid = self.grid();
        for (position, _) in unsaved.chunks.iter().filter(|(_, chunk)| !chunk.is_empty()) {
            grid.insert_with_ancestors(&mut filled, NodePos::from(*position));
        }
    }
}
