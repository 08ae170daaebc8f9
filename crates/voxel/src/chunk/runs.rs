use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::Material;

/// Voxels as runs of one material: X fastest, then Y, then Z. Small for layers and solids.
/// Immutable: an edit converts the chunk to another storage.
#[derive(Clone, Debug)]
pub(super) struct Runs {
    /// End of each run, exclusive, in ascending order.
    ends: Box<[u32]>,
    materials: Box<[Material]>,
}

impl Runs {
    /// Size of a run, in bytes.
    pub(super) const RUN_BYTES: usize = 6;

    /// Creates storage from runs, given as length and material.
    pub(super) fn new(count: usize, runs: impl Iterator<Item = (u32, Material)>) -> Self {
        let (mut ends, mut materials) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut end = 0;
        for (len, material) in runs {
            end += len;
            ends.push(end);
            materials.push(material);
        }
        Self { ends: ends.into_boxed_slice(), materials: materials.into_boxed_slice() }
    }

    /// Iterates over the length and material of each run, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, Material)> + '_ {
        let mut start = 0;
        self.ends.iter().zip(&self.materials).map(move |(&end, &material)| {
            let len = end - start;
            start = end;
            (len, material)
        })
    }

    pub(super) fn get(&self, voxel: usize) -> Material {
        self.materials[self.run_at(voxel)]
    }

    /// Returns the index of the run that contains a voxel.
    pub(super) fn run_at(&self, voxel: usize) -> usize {
        self.ends.partition_point(|&end| end as usize <= voxel)
    }

    /// Returns the index of the run that contains a voxel, searching from `run` on. Fast if it is
    /// near.
    #[inline]
    pub(super) fn run_from(&self, run: usize, voxel: usize) -> usize {
        let behind = self.ends[run..].iter().take_while(|&&end| end as usize <= voxel);
        run + behind.count()
    }

    #[inline]
    pub(super) fn material(&self, run: usize) -> Material {
        self.materials[run]
    }

    /// Copies consecutive voxels, starting at `first`, to `row`. The run `run` must not start after
    /// `first`. Returns the last run that was copied from.
    #[inline]
    pub(super) fn copy(&self, first: usize, row: &mut [Material], mut run: usize) -> usize {
        run = self.run_from(run, first);
        let mut rest = row;
        let mut start = first;
        loop {
            let end = self.ends[run] as usize;
            let (now, later) = rest.split_at_mut(rest.len().min(end - start));
            now.fill(self.materials[run]);
            if later.is_empty() {
                return run;
            }
            (rest, start) = (later, end);
            run += 1;
        }
    }

    /// Returns the memory in bytes, without the struct.
    pub(super) fn size_bytes(&self) -> usize {
        self.ends.len() * Self::RUN_BYTES
    }

    /// Checks all invariants, for tests.
    pub(super) fn validate(&self, volume: usize) -> Result<(), &'static str> {
        if self.ends.len() != self.materials.len() {
            return Err("the numbers of runs and materials differ");
        }
        if self.iter().any(|(len, _)| len == 0) || !self.ends.is_sorted() {
            return Err("a run is empty");
        }
        if self.materials.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err("two adjacent runs have one material");
        }
        match self.ends.last() {
            Some(&end) if end as usize == volume => Ok(()),
            _ => Err("the runs do not end with the last voxel"),
        }
    }
}
