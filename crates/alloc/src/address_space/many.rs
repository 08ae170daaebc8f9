//! Many indices at once.

use alloc::vec::Vec;
use core::ops::Range;

use super::AddressSpace;
use crate::{
    Error,
    bit_tree::{ALL_FREE, WORD_BITS},
};

impl AddressSpace {
    /// Hands out the `count` lowest free indices, as runs in rising order appended to
    /// `runs`: all of them or none.
    ///
    /// # Cost
    /// O(leaves touched + runs).
    ///
    /// # Errors
    /// `Full` when fewer are left (they need not lie side by side, so the largest free
    /// place is all of them), or memory for the tree ran out.
    ///
    /// # Examples
    /// ```
    /// use drystone_alloc::{AddressSpace, Policy};
    ///
    /// let mut space = AddressSpace::new(Policy::Lowest);
    /// space.allocate_at(2)?;
    /// let mut runs = Vec::new();
    /// space.allocate_many(100, &mut runs)?;
    /// assert_eq!(runs, [0..2, 3..101]);
    /// # Ok::<(), drystone_alloc::Error>(())
    /// ```
    pub fn allocate_many(&mut self, count: u32, runs: &mut Vec<Range<u32>>) -> Result<(), Error> {
        self.settle();
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
                    self.give_back(runs.drain(first_run..));
                    return Err(self.full(count));
                }
            }
        }
        self.update_quick_end();
        Ok(())
    }

    /// Takes the lowest free slots of a leaf, at most `count`; returns how many.
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

    fn give_back(&mut self, runs: impl Iterator<Item = Range<u32>>) {
        for index in runs.flatten() {
            // They were handed out a moment ago.
            let freed = self.free(index);
            debug_assert!(freed.is_ok());
        }
    }
}

/// Appends a run; one that continues the last makes that one longer, as long as it is
/// among those of this call.
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
