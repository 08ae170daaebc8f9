//! Allocating and freeing many indices at once.

use alloc::vec::Vec;
use core::ops::Range;

use allocator_api2::alloc::Allocator;

use super::AddressSpace;
use crate::Error;
use crate::bit_tree::{ALL_FREE, WORD_BITS};

impl<A: Allocator + Clone> AddressSpace<A> {
    /// Allocates the `count` lowest free indices, all or nothing. Appends them to `runs` as ranges
    /// in ascending order.
    ///
    /// # Cost
    /// O(leaves touched + runs).
    ///
    /// # Errors
    /// `Full` if fewer indices are free, or if the heap has no memory for the tree. The indices
    /// need not be contiguous, so `largest_free` is the number of all free indices.
    ///
    /// # Examples
    /// ```
    /// use drystone_alloc::{AddressSpace, IndexPolicy};
    ///
    /// let mut space = AddressSpace::new(IndexPolicy::Lowest);
    /// space.allocate_at(2)?;
    /// let mut runs = Vec::new();
    /// space.allocate_many(100, &mut runs)?;
    /// assert_eq!(runs, [0..2, 3..101]);
    /// # Ok::<(), drystone_alloc::Error>(())
    /// ```
    pub fn allocate_many(&mut self, count: u32, runs: &mut Vec<Range<u32>>) -> Result<(), Error> {
        self.finish_appending();
        if count > self.limit - self.len {
            return Err(self.full(count));
        }
        let first_run = runs.len();
        let mut left = count;
        while left > 0 {
            match self.lowest_open_leaf() {
                Some(leaf) => left -= self.take_up_to(left, leaf, first_run, runs),
                None => {
                    self.update_quick_end();
                    // These indices were allocated by this call.
                    let freed = self.free_many(&runs[first_run..]);
                    debug_assert!(freed.is_ok());
                    runs.truncate(first_run);
                    return Err(self.full(count));
                }
            }
        }
        self.update_quick_end();
        Ok(())
    }

    /// Allocates the lowest free slots of a leaf, at most `count`. Returns their number.
    #[inline]
    fn take_up_to(
        &mut self,
        count: u32,
        leaf: usize,
        first_run: usize,
        runs: &mut Vec<Range<u32>>,
    ) -> u32 {
        let mut free = self.tree.leaves()[leaf];
        let base = (leaf * WORD_BITS) as u32;
        let mut left = count;
        let mut taken = 0;
        while free != 0 && left > 0 {
            let start = free.trailing_zeros();
            let length = (free >> start).trailing_ones().min(left);
            let run = (ALL_FREE >> (WORD_BITS as u32 - length)) << start;
            free &= !run;
            taken |= run;
            left -= length;
            push_run(runs, first_run, base + start..base + start + length);
            self.high_water = self.high_water.max(base + start + length);
        }
        self.tree.take_in(leaf, taken);
        self.point_at(leaf);
        self.len += count - left;
        count - left
    }

    /// Frees the indices of several ranges, all or none, such as the runs of
    /// [`allocate_many`](Self::allocate_many). The ranges may have any sequence. Empty ones are
    /// ignored.
    ///
    /// # Cost
    /// O(leaves touched).
    ///
    /// # Errors
    /// `NotAllocated` if one of the indices is not allocated or occurs twice. Nothing changes then.
    ///
    /// # Examples
    /// ```
    /// use drystone_alloc::{AddressSpace, Error};
    ///
    /// let mut space = AddressSpace::default();
    /// space.allocate_many(100, &mut Vec::new())?;
    /// space.free_many(&[80..90, 0..20])?;
    /// assert_eq!(space.free_many(&[30..40, 85..95]), Err(Error::NotAllocated));
    /// assert_eq!((space.len(), space.allocate()), (70, Ok(0)));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn free_many(&mut self, runs: &[Range<u32>]) -> Result<(), Error> {
        self.finish_appending();
        for (number, run) in runs.iter().enumerate() {
            if !self.is_used(run) {
                for (leaf, mask) in runs[..number].iter().flat_map(masks) {
                    self.tree.take_in(leaf, mask);
                }
                return Err(Error::NotAllocated);
            }
            for (leaf, mask) in masks(run) {
                self.tree.set_leaf(leaf, self.tree.leaves()[leaf] | mask);
            }
        }
        self.freed_runs(runs);
        Ok(())
    }

    /// Updates everything but the tree after these runs were freed.
    fn freed_runs(&mut self, runs: &[Range<u32>]) {
        let mut end = 0;
        for run in runs.iter().filter(|run| !run.is_empty()) {
            self.len -= run.end - run.start;
            self.block = self.block.min(run.start as usize / WORD_BITS / WORD_BITS);
            end = end.max(run.end);
        }
        if end == self.high_water {
            self.lower_high_water();
        }
    }

    /// Whether all indices of a run are used.
    fn is_used(&self, run: &Range<u32>) -> bool {
        let leaves = self.tree.leaves();
        run.is_empty()
            || run.end <= self.high_water && masks(run).all(|(leaf, mask)| leaves[leaf] & mask == 0)
    }
}

/// Iterates over the leaves of a run, each with the mask of its slots.
fn masks(run: &Range<u32>) -> impl Iterator<Item = (usize, u64)> + use<> {
    let end = if run.is_empty() { 0 } else { run.end as usize };
    let start = run.start as usize;
    (start / WORD_BITS..end.div_ceil(WORD_BITS)).map(move |leaf| {
        let first = start.saturating_sub(leaf * WORD_BITS);
        let behind = (end - leaf * WORD_BITS).min(WORD_BITS);
        (leaf, ALL_FREE << first & ALL_FREE >> (WORD_BITS - behind))
    })
}

/// Appends a run. If it continues the last run of this call, that run is extended instead.
#[inline]
fn push_run(runs: &mut Vec<Range<u32>>, first_run: usize, run: Range<u32>) {
    if runs.len() > first_run
        && let Some(last) = runs.last_mut()
        && last.end == run.start
    {
        last.end = run.end;
        return;
    }
    runs.push(run);
}
