use crate::{
    Error,
    bit_tree::{ALL_FREE, BitTree, WORD_BITS},
};

mod iter;
mod many;
#[cfg(test)]
mod tests;

use iter::Leaves;
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
    /// While appending, one past the last slot of the leaf that is appended to; else 0.
    append_end: u32,
    /// Frees below this are quick: they change neither `high_water` nor the way of working.
    quick_end: u32,
    /// `Lowest`: the block to take from, below which none has room. When it has none itself,
    /// the tree is asked.
    block: usize,
    /// `LastLeaf`: the leaf that served last. When it has no room, the tree is asked.
    last_leaf: usize,
}

impl AddressSpace {
    /// An empty space that grows up to 2³² − 1 indices.
    pub const fn new(policy: Policy) -> Self {
        Self::bounded(policy, u32::MAX)
    }

    /// An empty space that hands out indices below `limit` only.
    pub const fn bounded(policy: Policy, limit: u32) -> Self {
        Self {
            tree: BitTree::new(),
            policy,
            limit,
            len: 0,
            high_water: 0,
            append_end: 0,
            quick_end: 0,
            block: 0,
            last_leaf: 0,
        }
    }

    /// Hands out a free index, as the policy says.
    ///
    /// # Errors
    /// `Full` when every index below the limit is used, or memory for the tree ran out.
    #[inline(always)]
    pub fn allocate(&mut self) -> Result<u32, Error> {
        if self.high_water < self.append_end {
            self.high_water += 1;
            return Ok(self.high_water - 1);
        }
        self.take().ok_or_else(|| self.full(1))
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
        self.settle();
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
        self.update_quick_end();
        Ok(())
    }

    /// Takes an index back.
    ///
    /// # Errors
    /// `NotAllocated` when it is not handed out, whatever its value.
    #[inline(always)]
    pub fn free(&mut self, index: u32) -> Result<(), Error> {
        if index >= self.quick_end {
            return self.free_slowly(index);
        }
        self.release(index).ok_or(Error::NotAllocated)
    }

    /// Whether the index is handed out.
    #[inline]
    pub fn contains(&self, index: u32) -> bool {
        index < self.high_water && (self.is_appending() || self.tree.is_taken(index as usize))
    }

    /// How many indices are handed out.
    #[inline]
    pub const fn len(&self) -> u32 {
        if self.is_appending() { self.high_water } else { self.len }
    }

    /// Whether none is handed out.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
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
        UsedIndices::new(self.leaves(), self.high_water)
    }

    /// Every run of free indices below [`high_water`](Self::high_water), in rising order.
    pub fn gaps(&self) -> Gaps<'_> {
        Gaps::new(self.leaves(), self.high_water)
    }

    /// Takes every index back and keeps the memory.
    pub fn reset(&mut self) {
        // Only leaves below the high-water mark have bits to clear.
        let used = (self.high_water as usize).div_ceil(WORD_BITS);
        for leaf in 0..used {
            let free = self.usable_in(leaf);
            self.tree.set_leaf(leaf, free);
        }
        (self.len, self.high_water, self.append_end, self.quick_end) = (0, 0, 0, 0);
        (self.block, self.last_leaf) = (0, 0);
    }

    /// Gives the memory above the highest used index back.
    ///
    /// # Cost
    /// O(leaves).
    pub fn shrink_to_fit(&mut self) {
        self.settle();
        self.tree.truncate((self.high_water as usize).div_ceil(WORD_BITS));
        self.block = 0;
    }

    /// Walks the whole structure and says what is wrong with it, for tests.
    ///
    /// # Errors
    /// The invariant that does not hold.
    pub fn check(&self) -> Result<(), &'static str> {
        if self.is_appending() {
            let mut settled = self.clone();
            settled.settle();
            return settled.check();
        }
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
        if self.policy == Policy::Lowest && self.tree.has_room_below(self.block) {
            return Err("a block below the one to take from has room");
        }
        if self.iter().last().map_or(0, |index| index + 1) != self.high_water {
            return Err("the high-water mark is not one past the highest used index");
        }
        if self.quick_end != self.high_water.saturating_sub(1) {
            return Err("not exactly the frees below the highest used index are quick");
        }
        Ok(())
    }

    /// Every index below the high-water mark is used, and the leaf it lies in is not
    /// written: neither are `len` and the tree's bits until something else is asked for.
    /// A space that only fills up costs one comparison and one addition an index.
    #[inline]
    const fn is_appending(&self) -> bool {
        self.append_end != 0
    }

    /// Writes down what was appended.
    fn settle(&mut self) {
        if !self.is_appending() {
            return;
        }
        let leaf = self.append_end as usize / WORD_BITS - 1;
        let used = self.high_water as usize - leaf * WORD_BITS;
        self.tree.take_below(leaf, used);
        self.len = self.high_water;
        // A leaf that was there before the one below it ran full may not have served yet.
        if used > 0 {
            self.last_leaf = leaf;
        }
        self.append_end = 0;
        self.update_quick_end();
    }

    /// Goes on appending, if everything below the high-water mark is used and the leaf that
    /// it lies in is neither missing nor cut by the limit.
    fn append(&mut self) {
        let end = u64::from(self.high_water | (WORD_BITS as u32 - 1)) + 1;
        let leaves = self.tree.leaves().len() as u64;
        if self.len == self.high_water && end <= u64::from(self.limit) && end / 64 <= leaves {
            self.append_end = end as u32;
            self.quick_end = 0;
        }
    }

    #[inline]
    const fn update_quick_end(&mut self) {
        self.quick_end = self.high_water.saturating_sub(1);
    }

    /// The leaves, of which the one that is appended to looks as if it were full.
    fn leaves(&self) -> Leaves<'_> {
        let exact = (self.append_end as usize / WORD_BITS).wrapping_sub(1);
        Leaves { words: self.tree.leaves(), exact }
    }

    /// In every caller's loop: it is short, and a call costs as much again.
    #[inline(always)]
    fn take(&mut self) -> Option<u32> {
        if self.is_appending() {
            return self.allocate_elsewhere();
        }
        let taken = match self.policy {
            Policy::Lowest => self.tree.take_lowest_in_block(&mut self.block),
            Policy::LastLeaf => self.tree.take_lowest_in_leaf(self.last_leaf),
        };
        match taken {
            Some(slot) => Some(self.hand_out(slot)),
            None => self.allocate_elsewhere(),
        }
    }

    #[inline(always)]
    fn hand_out(&mut self, slot: usize) -> u32 {
        let index = slot as u32;
        self.len += 1;
        if index >= self.high_water {
            self.rise_to(index + 1);
        }
        index
    }

    /// Not inlined: it happens when the space grows, and then appending begins.
    #[inline(never)]
    fn rise_to(&mut self, high_water: u32) {
        self.high_water = high_water;
        self.update_quick_end();
        self.append();
    }

    /// The block or leaf to take from has no room, or the one that was appended to is full:
    /// looks for the lowest that has, else grows.
    #[inline(never)]
    fn allocate_elsewhere(&mut self) -> Option<u32> {
        self.settle();
        let leaf = self.lowest_open_leaf()?;
        self.point_at(leaf);
        let slot = self.tree.take_lowest_in_leaf(leaf)?;
        Some(self.hand_out(slot))
    }

    #[inline(always)]
    fn release(&mut self, index: u32) -> Option<()> {
        let block = self.tree.release(index as usize)?;
        self.block = self.block.min(block);
        self.len -= 1;
        Some(())
    }

    /// Frees the highest used index, one of a space that was appended to, or none.
    #[inline(never)]
    fn free_slowly(&mut self, index: u32) -> Result<(), Error> {
        self.settle();
        if index >= self.high_water {
            return Err(Error::NotAllocated);
        }
        self.release(index).ok_or(Error::NotAllocated)?;
        if index + 1 == self.high_water {
            self.lower_high_water();
        }
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
        self.block = leaf / WORD_BITS;
        self.last_leaf = leaf;
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
        self.update_quick_end();
    }

    #[cold]
    fn full(&self, requested: u32) -> Error {
        let total_free = u64::from(self.limit - self.len());
        Error::Full { requested: requested.into(), largest_free: total_free, total_free }
    }
}

impl Default for AddressSpace {
    fn default() -> Self {
        Self::new(Policy::default())
    }
}
