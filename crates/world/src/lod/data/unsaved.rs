use drystone_voxel::{Chunk, ChunkPos};
/// A snapshot of the chunks that changed since they were last [saved](crate::LodData::saved).
#[derive(Clone, Debug)]
pub struct Unsaved {
    /// Changed chunks, sorted by position. Chunks that became empty are included.
    pub chunks: Vec<(ChunkPos, Chunk)>,
    pub(super) revision: u64,
}
