use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::Material;

/// Voxels as runs of one material: X runs fastest, then Y, then Z. What is made of layers
/// and solids is small as this; nothing changes it.
#[derive(Clone, Debug)]
pub(super) struct Runs {
    /// One past each run's last voxel; they ascend.
    ends: Box<[u32]>,
    materials: Box<[Material]>,
}

impl Runs {
    /// Bytes of a run.
    pub(super) const RUN_BYTES: usize = 6;

    /// Runs, each with its length.
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

    /// Each run's length and material, in order.
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

    /// Which run a voxel is in.
    pub(super) fn run_at(&self, voxel: usize) -> usize {
        self.ends.partition_point(|&end| end as usize <= voxel)
    }

    /// Which run a voxel is in that is in this one or behind it: soon found if it is near.
    #[inline]
    pub(super) fn run_from(&self, run: usize, voxel: usize) -> usize {
        let behind = self.ends[run..].iter().take_while(|&&end| end as usize <= voxel);
        run + behind.count()
    }

    #[inline]
    pub(super) fn material(&self, run: usize) -> Material {
        self.materials[run]
    }

    /// Copies voxels from `first` on into `row`. `run` is one that does not begin behind
    /// `first`; returned is the last that was copied from.
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

    /// Bytes beside the struct itself.
    pub(super) fn size_bytes(&self) -> usize {
        self.ends.len() * Self::RUN_BYTES
    }

    /// Says what is wrong with it, for tests.
    pub(super) fn check(&self, volume: usize) -> Result<(), &'static str> {
        if self.ends.len() != self.materials.len() {
            return Err("runs and materials are not as many");
        }
        if self.iter().any(|(len, _)| len == 0) || !self.ends.is_sorted() {
            return Err("a run is empty");
        }
        if self.materials.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err("two runs beside each other are of one material");
        }
        match self.ends.last() {
            Some(&end) if end as usize == volume => Ok(()),
            _ => Err("the runs do not end with the last voxel"),
        }
    }
}
