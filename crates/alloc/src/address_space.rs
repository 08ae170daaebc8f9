use alloc::vec::Vec;
use core::ops::Range;

use crate::{
    Error,
    bit_tree::{ALL_FREE, BitTree, WORD_BITS},
};

mod iter;
#[cfg(test)]
mod tests;

pub use iter::{Gaps, UsedIndices};

/// Which free index an [`AddressSpace`] hands out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// Always the lowest free index: keeps the used part short.
    #[default]
    Lowest,
    /// The lowest in the leaf of 64 that served last while it has room, else the lowest
    /// of all: neighbours in time are neighbours in place.
    LastLeaf,
}

/// Hands out indices, one at a time or many, from a space that grows as it fills.
///
/// One bit a slot, and above it a tree of bits that say where nothing is left: 64 slots a
/// leaf, 64 leaves a block, 64 blocks a region. An allocation looks at one word of each.
///
/// # Cost
/// `allocate`, `free` and `contains` are O(1) (the tree has at most six levels, three of
/// which are in every walk); 1.016 bits a slot. Freeing the highest used index looks for
/// the next one below, 64 slots at a time.
///
/// # Examples
/// ```
/// use drystone_alloc::{AddressSpace, Policy};
///
/// let mut space = AddressSpace::new(Policy::Lowest);
/// for index in 0..100 {
///     assert_eq!(space.allocate(), Ok(index));
/// }
/// space.free(13)?;
/// assert_eq!((space.allocate(), space.allocate()), (Ok(13), Ok(100)));
/// assert_eq!(space.high_water(), 101);
/// # Ok::<(), drystone_alloc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct AddressSpace {
    tree: BitTree,
    policy: Policy,
    /// One past the highest index that may ever be handed out.
    limit: u32,
    len: u32,
    high_water: u32,
    /// `Lowest`: the block to take from, below which none has room; `LastLeaf`: the leaf
    /// that served last. When it has no room itself, the tree is asked.
    cursor: usize,
}

impl AddressSpace {
    /// An empty space that grows up to 2³² − 1 indices.
    pub const fn new(policy: Policy) -> Self {
        Self::bounded(policy, u32::MAX)
    }

    /// An empty space that hands out indices below `limit` only.
    pub const fn bounded(policy: Policy, limit: u32) -> Self {
        Self { tree: BitTree::new(), policy, limit, len: 0, high_water: 0, cursor: 0 }
    }

    /// Hands out a free index, as the policy says.
    ///
    /// # Errors
    /// `Full` when every index below the limit is used, or memory for the tree ran out.
    #[inline(always)]
    pub fn allocate(&mut self) -> Result<u32, Error> {
        self.take().ok_or_else(|| self.full(1))
    }

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
        if count > self.limit - self.len {
            return Err(self.full(count));
        }
        let first_run = runs.len();
        let mut left = count;
        while left > 0 {
            match self.lowest_open_leaf() {
                Some(leaf) => left -= self.take_up_to(left, leaf, first_run, runs),
                None => {
                    self.give_back(runs.drain(first_run..));
                    return Err(self.full(count));
                }
            }
        }
        Ok(())
    }

    /// Hands out this very index.
    ///
    /// # Errors
    /// `InvalidSize` when no index of the space can be so large, `Full` with a largest
    /// free place of 0 when it is used already, or memory for the tree ran out.
    pub fn allocate_at(&mut self, index: u32) -> Result<(), Error> {
        if index >= self.limit {
            return Err(Error::InvalidSize);
        }
        let slot = index as usize;
        if self.tree.is_taken(slot) {
            let total_free = u64::from(self.limit - self.len);
            return Err(Error::Full { requested: 1, largest_free: 0, total_free });
        }
        while self.tree.leaves().len() <= slot / WORD_BITS {
            self.grow().ok_or_else(|| self.full(1))?;
        }
        self.tree.take_in(slot / WORD_BITS, 1 << (slot % WORD_BITS));
        self.high_water = self.high_water.max(index + 1);
        self.len += 1;
        Ok(())
    }

    /// Takes an index back.
    ///
    /// # Errors
    /// `NotAllocated` when it is not handed out, whatever its value.
    #[inline(always)]
    pub fn free(&mut self, index: u32) -> Result<(), Error> {
        if u64::from(index) + 1 >= u64::from(self.high_water) {
            return self.free_highest(index);
        }
        self.release(index).ok_or(Error::NotAllocated)
    }

    /// Whether the index is handed out.
    #[inline]
    pub fn contains(&self, index: u32) -> bool {
        index < self.high_water && self.tree.is_taken(index as usize)
    }

    /// How many indices are handed out.
    #[inline]
    pub const fn len(&self) -> u32 {
        self.len
    }

    /// Whether none is handed out.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// One past the highest index handed out: what lies above need not be drawn.
    #[inline]
    pub const fn high_water(&self) -> u32 {
        self.high_water
    }

    /// One past the highest index that can be handed out.
    #[inline]
    pub const fn limit(&self) -> u32 {
        self.limit
    }

    /// How many indices the tree covers now; it grows beyond by itself.
    pub fn capacity(&self) -> u32 {
        (self.tree.leaves().len() * WORD_BITS).min(self.limit as usize) as u32
    }

    /// Bytes of heap memory held.
    pub fn size_bytes(&self) -> usize {
        self.tree.size_bytes()
    }

    /// Every index handed out, in rising order.
    pub fn iter(&self) -> UsedIndices<'_> {
        UsedIndices::new(self.tree.leaves(), self.high_water)
    }

    /// Every run of free indices below [`high_water`](Self::high_water), in rising order.
    pub fn gaps(&self) -> Gaps<'_> {
        Gaps::new(self.tree.leaves(), self.high_water)
    }

    /// Takes every index back and keeps the memory.
    pub fn reset(&mut self) {
        // Only leaves below the high-water mark have bits to clear.
        let used = (self.high_water as usize).div_ceil(WORD_BITS);
        for leaf in 0..used {
            let free = self.usable_in(leaf);
            self.tree.set_leaf(leaf, free);
        }
        (self.len, self.high_water, self.cursor) = (0, 0, 0);
    }

    /// Gives the memory above the highest used index back.
    ///
    /// # Cost
    /// O(leaves).
    pub fn shrink_to_fit(&mut self) {
        self.tree.truncate((self.high_water as usize).div_ceil(WORD_BITS));
        if self.policy == Policy::Lowest {
            self.cursor = 0;
        }
    }

    /// Walks the whole structure and says what is wrong with it, for tests.
    ///
    /// # Errors
    /// The invariant that does not hold.
    pub fn check(&self) -> Result<(), &'static str> {
        self.tree.check()?;
        let leaves = self.tree.leaves();
        let usable = |leaf: usize| self.usable_in(leaf);
        if (0..leaves.len()).any(|leaf| leaves[leaf] & !usable(leaf) != 0) {
            return Err("an index beyond the limit is free");
        }
        let taken = (0..leaves.len()).map(|leaf| (usable(leaf) & !leaves[leaf]).count_ones());
        if taken.sum::<u32>() != self.len {
            return Err("the number of used indices is wrong");
        }
        if self.policy == Policy::Lowest && self.tree.has_room_below(self.cursor) {
            return Err("a block below the cursor has room");
        }
        if self.iter().last().map_or(0, |index| index + 1) != self.high_water {
            return Err("the high-water mark is not one past the highest used index");
        }
        Ok(())
    }

    /// In every caller's loop: it is short, and a call costs as much again.
    #[inline(always)]
    fn take(&mut self) -> Option<u32> {
        if self.len == self.high_water
            && let Some(index) = self.take_next()
        {
            return Some(index);
        }
        let taken = match self.policy {
            Policy::Lowest => self.tree.take_lowest_in_block(&mut self.cursor),
            Policy::LastLeaf => self.tree.take_lowest_in_leaf(self.cursor),
        };
        match taken {
            Some(slot) => Some(self.hand_out(slot)),
            None => self.allocate_elsewhere(),
        }
    }

    /// Takes the high-water mark, below which nothing is free: what the tree would find as
    /// well. Here its bits are only written, and an allocation does not wait for the one
    /// before. `None` in a leaf that does not exist yet, or is cut by the limit.
    #[inline(always)]
    fn take_next(&mut self) -> Option<u32> {
        let index = self.high_water;
        if index | (WORD_BITS as u32 - 1) >= self.limit {
            return None;
        }
        self.tree.take_all_up_to(index as usize)?;
        if self.policy == Policy::LastLeaf {
            self.cursor = index as usize / WORD_BITS;
        }
        self.high_water = index + 1;
        self.len = index + 1;
        Some(index)
    }

    #[inline(always)]
    fn hand_out(&mut self, slot: usize) -> u32 {
        let index = slot as u32;
        if index >= self.high_water {
            self.high_water = index + 1;
        }
        self.len += 1;
        index
    }

    /// The cursor's block or leaf has no room: looks for the lowest that has, else grows.
    #[inline(never)]
    fn allocate_elsewhere(&mut self) -> Option<u32> {
        let leaf = self.lowest_open_leaf()?;
        self.point_at(leaf);
        let slot = self.tree.take_lowest_in_leaf(leaf)?;
        Some(self.hand_out(slot))
    }

    #[inline(always)]
    fn release(&mut self, index: u32) -> Option<()> {
        let block = self.tree.release(index as usize)?;
        if self.policy == Policy::Lowest {
            self.cursor = self.cursor.min(block);
        }
        self.len -= 1;
        Some(())
    }

    /// Frees the highest used index, or finds that this one is above all.
    #[inline(never)]
    fn free_highest(&mut self, index: u32) -> Result<(), Error> {
        if index >= self.high_water {
            return Err(Error::NotAllocated);
        }
        self.release(index).ok_or(Error::NotAllocated)?;
        self.lower_high_water();
        Ok(())
    }

    /// The lowest leaf with room, which may be a new one.
    #[inline]
    fn lowest_open_leaf(&mut self) -> Option<usize> {
        let block = self.tree.lowest_open_block();
        match block.and_then(|block| self.tree.lowest_open_leaf(block)) {
            Some(leaf) => Some(leaf),
            None => self.grow(),
        }
    }

    #[inline]
    fn point_at(&mut self, leaf: usize) {
        self.cursor = match self.policy {
            Policy::Lowest => leaf / WORD_BITS,
            Policy::LastLeaf => leaf,
        };
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

    /// Adds a leaf and returns it.
    #[cold]
    fn grow(&mut self) -> Option<usize> {
        let leaf = self.tree.leaves().len();
        let usable = self.usable_in(leaf);
        if usable == 0 {
            return None;
        }
        self.tree.push_leaf(usable)?;
        Some(leaf)
    }

    /// The slots of a leaf that lie below the limit.
    fn usable_in(&self, leaf: usize) -> u64 {
        match (self.limit as usize).saturating_sub(leaf * WORD_BITS) {
            0 => 0,
            usable @ 1..WORD_BITS => !(ALL_FREE << usable),
            _ => ALL_FREE,
        }
    }

    fn lower_high_water(&mut self) {
        let below = (self.high_water as usize).div_ceil(WORD_BITS);
        let leaves = self.tree.leaves().iter().enumerate().take(below).rev();
        let mut used = leaves.map(|(leaf, free)| (leaf, !free & self.usable_in(leaf)));
        let end_of =
            |(leaf, used): (usize, u64)| ((leaf + 1) * WORD_BITS) as u32 - used.leading_zeros();
        self.high_water = used.find(|(_, used)| *used != 0).map_or(0, end_of);
    }

    #[cold]
    fn full(&self, requested: u32) -> Error {
        let total_free = u64::from(self.limit - self.len);
        Error::Full { requested: requested.into(), largest_free: total_free, total_free }
    }
}

impl Default for AddressSpace {
    fn default() -> Self {
        Self::new(Policy::default())
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
