use std::sync::Arc;

use drystone_voxel::ChunkPos;

use super::Edit;

/// An edit in parts, to be applied one after the other: together they are the edit, or what
/// takes it back.
///
/// Chunks that lie together are of one part, since larger voxels above them change with it.
///
/// # Cost
/// 4 bytes a chunk beside the edit, which is shared, and a copy of the part at a time.
#[derive(Clone, Debug)]
pub struct EditParts {
    edit: Arc<Edit>,
    is_inverse: bool,
    /// The numbers of the edit's chunks, neighbours together.
    order: Vec<u32>,
    next: usize,
}

impl EditParts {
    /// A part's chunks: set in some milliseconds by one thread. More would be set by all
    /// cores, for which whoever edits would have to wait where these are busy.
    pub const MAX_CHUNKS: usize = 4;

    /// The edit itself; `is_inverse`: what takes it back.
    pub fn new(edit: Arc<Edit>, is_inverse: bool) -> Self {
        let mut order: Vec<u32> = (0..edit.chunk_count() as u32).collect();
        let above = |&n: &u32| {
            let ChunkPos { x, y, z } = edit.chunks[n as usize].position;
            [3, 2, 1].map(|level| [x, y, z].map(|c| c >> level))
        };
        order.sort_by_key(above);
        Self { edit, is_inverse, order, next: 0 }
    }

    /// All of it.
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
        let part = if self.is_inverse { part.inverse() } else { part };
        (!part.is_empty()).then_some(part)
    }
}
