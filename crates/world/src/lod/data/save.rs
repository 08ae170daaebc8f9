use std::sync::PoisonError;

use drystone_voxel::{Chunk, ChunkPos};

use super::{LodData, lock};
use crate::NodePos;

/// The chunks that were changed since they were last [saved](LodData::saved), as they were
/// when this was asked for.
#[derive(Clone, Debug)]
pub struct Unsaved {
    /// In the order of positions; what was emptied is there, all air.
    pub chunks: Vec<(ChunkPos, Chunk)>,
    revision: u64,
}

impl LodData {
    /// The chunks of level 0 that were changed since they were last saved, to be put into
    /// what the source reads from.
    ///
    /// # Cost
    /// O(changed chunks), whose voxels are shared.
    ///
    /// # Examples
    /// ```no_run
    /// # fn save(data: &drystone_world::LodData, world: &drystone_world::StoredWorld)
    /// # -> Result<(), drystone_world::WorldError> {
    /// let unsaved = data.unsaved();
    /// world.put(unsaved.chunks.iter().cloned())?;
    /// data.saved(&unsaved); // if `world` is what `data` reads from
    /// # Ok(())
    /// # }
    /// ```
    pub fn unsaved(&self) -> Unsaved {
        let edits = self.read_edits();
        Unsaved { chunks: edits.lowest(), revision: edits.revision() }
    }

    /// How many chunks [`unsaved`](Self::unsaved) would give.
    pub fn unsaved_count(&self) -> usize {
        self.read_edits().lowest_count()
    }

    /// Bytes of memory of what was changed and is not the source's: that is kept until it is
    /// [saved](Self::saved), however much it is.
    pub fn edited_bytes(&self) -> usize {
        self.read_edits().size_bytes()
    }

    /// Those bytes, counted anew.
    #[cfg(test)]
    pub(crate) fn counted_edited_bytes(&self) -> usize {
        self.read_edits().counted_bytes()
    }

    /// How many chunks of any level are kept because of edits.
    #[cfg(test)]
    pub(crate) fn edit_count(&self) -> usize {
        self.read_edits().len()
    }

    /// From now on the source gives these chunks as they are in `unsaved`. Those that were
    /// not changed since need not be kept any more, nor do larger voxels that follow from
    /// them; but where the source makes its own and keeps no edits, it knows nothing of the
    /// changes there, so they are kept.
    ///
    /// # Cost
    /// O(changed chunks).
    pub fn saved(&self, unsaved: &Unsaved) {
        let _editing = lock(&self.editing);
        self.mark_filled(unsaved);
        let positions = || unsaved.chunks.iter().map(|&(position, _)| position);
        let is_derived = !self.source.makes_levels() || self.source.edit_store().is_some();
        // Nobody may find a chunk neither here nor there: who looks waits until it is there.
        let mut edits = self.write_edits();
        let taken = edits.take_saved(positions(), unsaved.revision, self.top, is_derived);
        let mut cache = lock(&self.cache);
        cache.begin_epoch(positions());
        for (node, chunk) in taken {
            cache.insert(node, chunk);
        }
    }

    /// Remembers where something is now.
    fn mark_filled(&self, unsaved: &Unsaved) {
        let Some(filled) = &self.filled else { return };
        let mut filled = filled.write().unwrap_or_else(PoisonError::into_inner);
        for (position, _) in unsaved.chunks.iter().filter(|(_, chunk)| !chunk.is_empty()) {
            let mut node = NodePos::from(*position);
            while filled.insert(node) && node.level < self.top {
                node = node.parent();
            }
        }
    }
}
