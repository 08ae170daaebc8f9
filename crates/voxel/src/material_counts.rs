use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::chunk::Chunk;
use crate::material::Material;

/// Number of voxels of each material, added up over chunks.
///
/// # Examples
/// ```
/// use drystone_voxel::{Chunk, Material, MaterialCounts};
///
/// let mut counts = MaterialCounts::default();
/// counts.add_chunk(&Chunk::new(4, Material(2)));
/// counts.add_chunk(&Chunk::new(4, Material::AIR));
/// assert_eq!(counts.sorted(), [(Material(2), 64)]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct MaterialCounts(BTreeMap<Material, u64>);

impl MaterialCounts {
    /// Adds the voxels of a chunk.
    ///
    /// # Cost
    /// O(voxels). O(1) for a chunk of one material.
    pub fn add_chunk(&mut self, chunk: &Chunk) {
        if let Some(fill) = chunk.uniform() {
            *self.0.entry(fill).or_default() += u64::from(chunk.solid_count());
            return;
        }
        chunk.for_each_row(|_y, _z, row| {
            // Runs of one material are long, so a run is looked up once.
            for run in row.chunk_by(PartialEq::eq) {
                *self.0.entry(run[0]).or_default() += run.len() as u64;
            }
        });
    }

    /// Returns the sums of both.
    #[must_use]
    pub fn merged(mut self, other: Self) -> Self {
        for (material, count) in other.0 {
            *self.0.entry(material).or_default() += count;
        }
        self
    }

    /// Returns the counts of all materials except air, largest count first. Unused materials are
    /// omitted.
    pub fn sorted(self) -> Vec<(Material, u64)> {
        let mut counts: Vec<_> = self.0.into_iter().filter(|(it, _)| !it.is_air()).collect();
        counts.sort_by_key(|&(material, count)| (Reverse(count), material));
        counts
    }
}
