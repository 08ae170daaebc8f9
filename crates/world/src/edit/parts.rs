use std::sync::Arc;

use drystone_voxel::ChunkPos;

use super::Edit;

/// Splits an edit, or its inverse, into parts that are applied one after the other.
///
/// Neighbouring chunks are in the same part, because they share the LOD voxels above them.
///
/// # Cost
/// 4 bytes per chunk in addition to the edit, which is shared, and a copy of the current part.
#[derive(Clone, Debug)]
pub struct EditParts {
    edit: Arc<Edit>,
    direction: EditDirection,
    /// Indices of the edit's chunks, neighbours together.
    order: Vec<u32>,
    next: usize,
}

/// Whether an edit is applied or undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditDirection {
    /// Sets the materials after the edit.
    Forward,
    /// Sets the materials before the edit.
    Inverse,
}

impl EditParts {
    /// Maximum number of chunks in a part. One thread applies them in a few milliseconds. Larger
    /// parts would need all cores, and wait if these are busy.
    pub const MAX_CHUNKS: usize = 4;

    /// Splits the edit, or its inverse.
    pub fn new(edit: Arc<Edit>, direction: EditDirection) -> Self {
        let mut order: Vec<u32> = (0..edit.chunk_count() as u32).collect();
        let above = |&n: &u32| {
            let ChunkPos { x, y, z } = edit.chunks[n as usize].position;
            [3, 2, 1].map(|level| [x, y, z].map(|c| c >> level))
        };
        order.sort_by_key(above);
        Self { edit, direction, order, next: 0 }
    }

    /// Returns the fraction of the edit that was returned in parts, 0 to 1.
    pub fn fraction(&self) -> f32 {
        self.next as f32 / self.order.len().max(1) as f32
    }

    /// Returns the whole edit.
    pub const fn edit(&self) -> &Arc<Edit> {
        &self.edit
    }
}

impl Iterator for EditParts {
    type Item = Edit;

    fn next(&mut self) -> Option<Edit> {
        let rest = self.order.get(self.next..)?;
        let mut numbers = rest.get(..Self::MAX_CHUNKS.min(rest.len()))?.to_vec();
        self.next += numbers.len();
        numbers.sort_unstable();
        let chunks = numbers.iter().map(|&n| self.edit.chunks[n as usize].clone());
        let part = Edit { side: self.edit.side, chunks: chunks.collect() };
        let part = match self.direction {
            EditDirection::Forward => part,
            EditDirection::Inverse => part.inverse(),
        };
        (!part.is_empty()).then_some(part)
    }
}
