use std::fs;

use drystone_formats::{Source, SourceError};
use drystone_voxel::{ChunkBox, Material, MaterialCounts};
use rayon::prelude::*;

use super::StoredWorld;

/// Statistics of a stored world.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredSummary {
    /// Version of the file format.
    pub version: u32,
    /// Number of commits since the file was created.
    pub revision: u64,
    /// Number of chunks that hold voxels.
    pub chunk_count: u64,
    /// Smallest box around these chunks.
    pub extent: Option<ChunkBox>,
    /// Length of the file, in bytes.
    pub file_bytes: u64,
    /// Number of voxels of each material except air, most first.
    pub voxels: Vec<(Material, u64)>,
    /// Number of chunks that could not be read; [`Source::faults`] lists them.
    pub lost: u64,
}

impl StoredSummary {
    /// Counts the chunks and voxels of a world.
    pub(super) fn of(world: &StoredWorld) -> Result<Self, SourceError> {
        let metadata = fs::metadata(world.path());
        let file_bytes = metadata
            .map_err(|problem| SourceError::Unreadable { path: world.path().into(), problem })?
            .len();
        let merge =
            |a: (MaterialCounts, u64), b: (MaterialCounts, u64)| (a.0.merged(b.0), a.1 + b.1);
        let add = |(mut counts, lost): (MaterialCounts, u64), at| match world.chunk(at) {
            Ok(chunk) => {
                counts.add_chunk(&chunk);
                (counts, lost)
            }
            Err(_) => (counts, lost + 1),
        };
        let positions = world.chunk_positions().into_par_iter();
        let (counts, lost) = positions.fold(Default::default, add).reduce(Default::default, merge);
        Ok(Self {
            version: world.version(),
            revision: world.revision(),
            chunk_count: world.chunk_count(),
            extent: world.extent(),
            file_bytes,
            voxels: counts.sorted(),
            lost,
        })
    }
}
