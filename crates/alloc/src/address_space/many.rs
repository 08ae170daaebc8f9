//! Allocation of many indices at once.

use alloc::vec::Vec;
use core::ops::Range;

use super::AddressSpace;
use crate::Error;
use crate::bit_tree::{ALL_FREE, WORD_BITS};

impl AddressSpace {
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
                    self.free_runs(runs.drain(first_run..));
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

    fn free_runs(&mut self, runs: impl Iterator<Item = Range<u32>>) {
        for index in runs.flatten() {
            // These indices were allocated by this call.
            let freed = self.free(index);
            debug_assert!(freed.is_ok());
        }
    }
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
