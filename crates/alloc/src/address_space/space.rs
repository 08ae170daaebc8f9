use allocator_api2::alloc::{Allocator, Global};

use super::iter::{IndexGaps, Leaves, UsedIndices};
use crate::Error;
use crate::bit_tree::{ALL_FREE, BitTree, WORD_BITS};

/// Rule for the free index that an [`AddressSpace`] returns next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IndexPolicy {
    /// Always the lowest free index. Keeps the used part short.
    #[default]
    Lowest,
    /// The lowest free index of the last used leaf of 64 slots; if that is full, the lowest of all.
    /// Allocations that are close in time get indices that are close.
    LastLeaf,
}

/// Allocates indices, one at a time or many, from a space that grows as it fills.
///
/// Each slot has one bit. A tree of summary bits above them marks the words without a free slot: 64
/// slots per leaf, 64 leaves per block, 64 blocks per region. An allocation reads one word of each
/// level.
///
/// Source: Michał Szopiński's article "A data structure for managing OpenGL vertex buffers", which
/// describes the 64-way tree, its growth by a new root, and the rule
/// [`LastLeaf`](IndexPolicy::LastLeaf). The levels are flat here, instead of nodes with pointers, and
/// growth ends at 2³² − 1 indices.
///
/// # Cost
/// `allocate`, `free` and `contains` are O(1): the tree has at most six levels, and three are read
/// in the common case. Freeing the highest used index searches for the next used one below, 64 slots
/// at a time.
///
/// Metadata: 1.016 bits per slot of the tree's memory, which doubles as it grows. In the worst case,
/// just past a power of two, these are 2.03 bits per slot in use. After [`reserve`](Self::reserve)
/// for the final number, or [`shrink_to_fit`](Self::shrink_to_fit), it is 1.016 at most 64 slots
/// later.
///
/// The tree is on the heap, or in memory of an `Allocator` of the crate `allocator-api2`; see
/// [`bounded_in`](Self::bounded_in).
///
/// # Examples
/// ```
/// use drystone_alloc::{AddressSpace, IndexPolicy};
///
/// let mut space = AddressSpace::new(IndexPolicy::Lowest);
/// for index in 0..100 {
///     assert_eq!(space.allocate(), Ok(index));
/// }
/// space.free(13)?;
/// assert_eq!((space.allocate(), space.allocate()), (Ok(13), Ok(100)));
/// assert_eq!(space.high_water(), 101);
/// # Ok::<(), drystone_alloc::Error>(())
/// ```
#[doc(alias("bitmap", "id allocator"))]
#[derive(Clone, Debug)]
pub struct AddressSpace<A: Allocator = Global> {
    pub(super) tree: BitTree<A>,
    policy: IndexPolicy,
    /// One past the highest index that can ever be allocated.
    pub(super) limit: u32,
    pub(super) len: u32,
    pub(super) high_water: u32,
    /// While appending: one past the last slot of the leaf that is appended to. Otherwise 0.
    append_end: u32,
    /// Frees below this index take the fast path: they change neither `high_water` nor the append
    /// mode.
    quick_end: u32,
    /// `Lowest`: the block to allocate from. All blocks below it are full. If it is full too, the
    /// tree is searched.
    pub(super) block: usize,
    /// `LastLeaf`: the leaf of the last allocation. If it is full, the tree is searched.
    last_leaf: usize,
}

impl AddressSpace {
    /// Creates an empty space that grows up to 2³² − 1 indices.
    pub const fn new(policy: IndexPolicy) -> Self {
        Self::bounded(policy, u32::MAX)
    }

    /// Creates an empty space that allocates only indices below `limit`.
    pub const fn bounded(policy: IndexPolicy, limit: u32) -> Self {
        Self::with_tree(BitTree::new(), policy, limit)
    }
}

impl<A: Allocator + Clone> AddressSpace<A> {
    /// Creates an empty space that allocates only indices below `limit`, and whose tree is in memory
    /// of `allocator`.
    ///
    /// The memory grows in steps: an allocator that cannot free or resize blocks, such as an arena,
    /// needs a [`reserve`](Self::reserve) first.
    ///
    /// # Examples
    /// ```
    /// use allocator_api2::alloc::Global;
    /// use drystone_alloc::{AddressSpace, IndexPolicy};
    ///
    /// let mut space = AddressSpace::bounded_in(IndexPolicy::Lowest, 100_000, Global);
    /// space.reserve(1000)?;
    /// assert_eq!((space.allocate(), space.capacity()), (Ok(0), 1024));
    /// # Ok::<(), drystone_alloc::Error>(())
    /// ```
    pub fn bounded_in(policy: IndexPolicy, limit: u32, allocator: A) -> Self {
        Self::with_tree(BitTree::new_in(allocator), policy, limit)
    }
}

impl<A: Allocator> AddressSpace<A> {
    const fn with_tree(tree: BitTree<A>, policy: IndexPolicy, limit: u32) -> Self {
        let (len, high_water, append_end, quick_end) = (0, 0, 0, 0);
        let (block, last_leaf) = (0, 0);
        Self { tree, policy, limit, len, high_water, append_end, quick_end, block, last_leaf }
    }
}

impl<A: Allocator + Clone> AddressSpace<A> {
    /// Allocates a free index, chosen by the policy.
    ///
    /// # Errors
    /// `Full` if every index below the limit is used, or if the heap has no memory for the tree.
    #[inline(always)]
    pub fn allocate(&mut self) -> Result<u32, Error> {
        if self.high_water < self.append_end {
            self.high_water += 1;
            return Ok(self.high_water - 1);
        }
        self.allocate_by_policy().ok_or_else(|| self.full(1))
    }

    /// Allocates the index `index`.
    ///
    /// # Errors
    /// `InvalidSize` if `index` is not below the limit. `Full` with a `largest_free` of 0 if it is
    /// already used. `Full` also if the heap has no memory for the tree.
    pub fn allocate_at(&mut self, index: u32) -> Result<(), Error> {
        if index >= self.limit {
            return Err(Error::InvalidSize);
        }
        self.finish_appending();
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

    /// Frees an index.
    ///
    /// # Errors
    /// `NotAllocated` if the index is not allocated.
    #[inline(always)]
    pub fn free(&mut self, index: u32) -> Result<(), Error> {
        if index >= self.quick_end {
            return self.free_slowly(index);
        }
        self.release(index).ok_or(Error::NotAllocated)
    }

    /// Frees all indices and keeps the memory.
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

    /// Whether the index is allocated.
    #[inline]
    pub fn contains(&self, index: u32) -> bool {
        index < self.high_water && (self.is_appending() || self.tree.is_taken(index as usize))
    }

    /// Number of allocated indices.
    #[inline]
    pub const fn len(&self) -> u32 {
        if self.is_appending() { self.high_water } else { self.len }
    }

    /// Whether no index is allocated.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One past the highest allocated index. Slots from there on need not be drawn.
    #[inline]
    pub const fn high_water(&self) -> u32 {
        self.high_water
    }

    /// One past the highest index that can be allocated.
    #[inline]
    pub const fn limit(&self) -> u32 {
        self.limit
    }

    /// Iterates over all allocated indices in ascending order.
    pub fn iter(&self) -> UsedIndices<'_> {
        UsedIndices::new(self.leaves(), self.high_water)
    }

    /// Iterates over the runs of free indices below [`high_water`](Self::high_water), in ascending
    /// order.
    pub fn gaps(&self) -> IndexGaps<'_> {
        IndexGaps::new(self.leaves(), self.high_water)
    }

    /// Verifies all invariants, for tests.
    ///
    /// # Errors
    /// The invariant that is violated.
    pub fn validate(&self) -> Result<(), &'static str> {
        if self.is_appending() {
            let mut settled = self.clone();
            settled.finish_appending();
            return settled.validate();
        }
        self.tree.validate()?;
        let leaves = self.tree.leaves();
        let usable = |leaf: usize| self.usable_in(leaf);
        if (0..leaves.len()).any(|leaf| leaves[leaf] & !usable(leaf) != 0) {
            return Err("an index beyond the limit is free");
        }
        let taken = (0..leaves.len()).map(|leaf| (usable(leaf) & !leaves[leaf]).count_ones());
        if taken.sum::<u32>() != self.len {
            return Err("the number of used indices is wrong");
        }
        if self.policy == IndexPolicy::Lowest && self.tree.has_free_below(self.block) {
            return Err("a block below the one to allocate from has a free slot");
        }
        if self.iter().last().map_or(0, |index| index + 1) != self.high_water {
            return Err("the high-water mark is not one past the highest used index");
        }
        if self.quick_end != self.high_water.saturating_sub(1) {
            return Err("the end of the fast path is not the highest used index");
        }
        Ok(())
    }

    /// Whether the space is in append mode: every index below the high-water mark is used. The leaf
    /// at the mark, the tree's bits and `len` are written later, by `finish_appending`. A space
    /// that only fills up costs one comparison and one addition per index.
    #[inline]
    const fn is_appending(&self) -> bool {
        self.append_end != 0
    }

    /// Leaves append mode: writes the appended slots to the tree.
    pub(super) fn finish_appending(&mut self) {
        if !self.is_appending() {
            return;
        }
        let leaf = self.append_end as usize / WORD_BITS - 1;
        let used = self.high_water as usize - leaf * WORD_BITS;
        self.tree.take_below(leaf, used);
        self.len = self.high_water;
        // The leaf may have existed before the one below it was full; without an appended slot it
        // is not the last used one.
        if used > 0 {
            self.last_leaf = leaf;
        }
        self.append_end = 0;
        self.update_quick_end();
    }

    /// Enters append mode if every index below the high-water mark is used and the leaf at the mark
    /// exists and is not cut by the limit.
    fn append(&mut self) {
        let end = u64::from(self.high_water | (WORD_BITS as u32 - 1)) + 1;
        let leaves = self.tree.leaves().len() as u64;
        if self.len == self.high_water && end <= u64::from(self.limit) && end / 64 <= leaves {
            self.append_end = end as u32;
            self.quick_end = 0;
        }
    }

    #[inline]
    pub(super) const fn update_quick_end(&mut self) {
        self.quick_end = self.high_water.saturating_sub(1);
    }

    /// Returns the leaves. In the leaf that is appended to, all slots count as used.
    fn leaves(&self) -> Leaves<'_> {
        let exact = (self.append_end as usize / WORD_BITS).wrapping_sub(1);
        Leaves { words: self.tree.leaves(), exact }
    }

    /// Inlined into the caller's loop: the body is short, and a call would double the cost.
    #[inline(always)]
    fn allocate_by_policy(&mut self) -> Option<u32> {
        if self.is_appending() {
            return self.allocate_from_next_leaf();
        }
        let taken = match self.policy {
            IndexPolicy::Lowest => self.tree.take_lowest_in_block(&mut self.block),
            IndexPolicy::LastLeaf => self.tree.take_lowest_in_leaf(self.last_leaf),
        };
        match taken {
            Some(slot) => Some(self.record_allocation(slot)),
            None => self.allocate_from_next_leaf(),
        }
    }

    #[inline(always)]
    fn record_allocation(&mut self, slot: usize) -> u32 {
        let index = slot as u32;
        self.len += 1;
        if index >= self.high_water {
            self.raise_high_water(index + 1);
        }
        index
    }

    /// Not inlined: called only if the space grows, and append mode begins after it.
    #[inline(never)]
    fn raise_high_water(&mut self, high_water: u32) {
        self.high_water = high_water;
        self.update_quick_end();
        self.append();
    }

    /// Allocates from the lowest leaf that is not full, or from a new one. Called if the current
    /// block or leaf is full, or in append mode.
    #[inline(never)]
    fn allocate_from_next_leaf(&mut self) -> Option<u32> {
        self.finish_appending();
        let leaf = self.lowest_open_leaf()?;
        self.point_at(leaf);
        let slot = self.tree.take_lowest_in_leaf(leaf)?;
        Some(self.record_allocation(slot))
    }

    #[inline(always)]
    fn release(&mut self, index: u32) -> Option<()> {
        let block = self.tree.release(index as usize)?;
        self.block = self.block.min(block);
        self.len -= 1;
        Some(())
    }

    /// Frees an index outside the fast path: the highest used one, any in append mode, or an
    /// invalid one.
    #[inline(never)]
    fn free_slowly(&mut self, index: u32) -> Result<(), Error> {
        self.finish_appending();
        if index >= self.high_water {
            return Err(Error::NotAllocated);
        }
        self.release(index).ok_or(Error::NotAllocated)?;
        if index + 1 == self.high_water {
            self.lower_high_water();
        }
        Ok(())
    }

    /// Returns the lowest leaf with a free slot, which may be a new one.
    #[inline]
    pub(super) fn lowest_open_leaf(&mut self) -> Option<usize> {
        let block = self.tree.lowest_open_block();
        match block.and_then(|block| self.tree.lowest_open_leaf(block)) {
            Some(leaf) => Some(leaf),
            None => self.grow(),
        }
    }

    #[inline]
    pub(super) fn point_at(&mut self, leaf: usize) {
        self.block = leaf / WORD_BITS;
        self.last_leaf = leaf;
    }

    /// Adds a leaf and returns it.
    #[cold]
    pub(super) fn grow(&mut self) -> Option<usize> {
        let leaf = self.tree.leaves().len();
        let usable = self.usable_in(leaf);
        if usable == 0 {
            return None;
        }
        self.tree.push_leaf(usable)?;
        Some(leaf)
    }

    /// Returns the slots of a leaf below the limit.
    fn usable_in(&self, leaf: usize) -> u64 {
        match (self.limit as usize).saturating_sub(leaf * WORD_BITS) {
            0 => 0,
            usable @ 1..WORD_BITS => !(ALL_FREE << usable),
            _ => ALL_FREE,
        }
    }

    pub(super) fn lower_high_water(&mut self) {
        let below = (self.high_water as usize).div_ceil(WORD_BITS);
        let leaves = self.tree.leaves().iter().enumerate().take(below).rev();
        let mut used = leaves.map(|(leaf, free)| (leaf, !free & self.usable_in(leaf)));
        let end_of =
            |(leaf, used): (usize, u64)| ((leaf + 1) * WORD_BITS) as u32 - used.leading_zeros();
        self.high_water = used.find(|(_, used)| *used != 0).map_or(0, end_of);
        self.update_quick_end();
    }

    #[cold]
    pub(super) fn full(&self, requested: u32) -> Error {
        let total_free = u64::from(self.limit - self.len());
        Error::Full { requested: requested.into(), largest_free: total_free, total_free }
    }
}

impl Default for AddressSpace {
    fn default() -> Self {
        Self::new(IndexPolicy::default())
    }
}
