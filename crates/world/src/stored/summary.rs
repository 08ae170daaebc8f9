use std::collections::BTreeMap;
use std::fs;

use drystone_voxel::Material;
use rayon::prelude::*;

use super::StoredWorld;
use crate::world::count_chunk;
use crate::{ChunkBox, Source, WorldError};

/// Statistics of a stored world.
#[derive(Clone, Debug, PartialEq, Eq)]
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

impl StoredWorld {
    /// Counts the chunks and voxels of the world.
    ///
    /// # Cost
    /// Reads every chunk once, on all cores. Keeps no chunk in memory.
    ///
    /// # Errors
    /// The length of the file cannot be read.
    pub fn summary(&self) -> Result<StoredSummary, WorldError> {
        let metadata = fs::metadata(self.path());
        let file_bytes = metadata
            .map_err(|problem| WorldError::Unreadable { path: self.path().into(), problem })?
            .len();
        type Counts = (BTreeMap<Material, u64>, u64);
        let merge = |mut a: Counts, b: Counts| {
            b.0.into_iter().for_each(|(material, n)| *a.0.entry(material).or_default() += n);
            (a.0, a.1 + b.1)
        };
        let count = |at| match self.chunk(at) {
            Ok(chunk) => (count_chunk(&chunk), 0),
            Err(_) => (BTreeMap::new(), 1),
        };
        let positions = self.chunk_positions();
        let (counts, lost) = positions.into_par_iter().map(count).reduce(Counts::default, merge);
        let mut voxels: Vec<_> = counts.into_iter().filter(|(it, _)| !it.is_air()).collect();
        voxels.sort_by_key(|&(material, count)| (std::cmp::Reverse(count), material));
        Ok(StoredSummary {
            version: self.version(),
            revision: self.revision(),
            chunk_count: self.chunk_count(),
            extent: self.extent(),
            file_bytes,
            voxels,
            lost,
        })
    }
}
