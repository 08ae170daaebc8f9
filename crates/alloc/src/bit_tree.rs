use core::num::NonZeroU64;

use allocator_api2::alloc::{Allocator, Global};
use allocator_api2::vec::Vec;

/// Bits in a word, and children of a node.
pub(crate) const WORD_BITS: usize = 64;
/// Word whose slots are all free.
pub(crate) const ALL_FREE: u64 = u64::MAX;

/// 64-way tree of bits that marks the free slots, stored as flat levels.
///
/// ```text
///  upper[1]                     1                    a root is added if the level below
///  upper[0]             0 0 … 0   1 …                has more than one word
///  regions          00…0  …  00…0  001…              bit = block has a free slot
///  blocks       00…0  …                0010…         bit = leaf has a free slot
///  leaves   00…0  …                      00100…      bit = slot is free
/// ```
/// A leaf, block or region with a free slot is called open. A clear bit means that the child has no
/// free slot or does not exist, so a walk by trailing zeros never leaves the tree. Each walk reads
/// the lowest three levels. The levels above change only if a region of 262,144 slots fills up or
/// opens.
///
/// Allocation uses a branch to detect that a leaf fills up. The processor predicts this branch
/// well, and then the next walk does not wait for the memory of this one. Without the branch, each
/// allocation would depend on a chain of three loads and the stores before them. Freeing sets its
/// summary bits without a branch, because to set a set bit has no effect and no load depends on it.
#[derive(Clone, Debug)]
pub(crate) struct BitTree<A: Allocator> {
    leaves: Vec<u64, A>,
    blocks: Vec<u64, A>,
    regions: Vec<u64, A>,
    upper: Vec<Vec<u64, A>, A>,
}

impl BitTree<Global> {
    pub(crate) const fn new() -> Self {
        Self { leaves: Vec::new(), blocks: Vec::new(), regions: Vec::new(), upper: Vec::new() }
    }
}

impl<A: Allocator + Clone> BitTree<A> {
    pub(crate) fn new_in(allocator: A) -> Self {
        Self {
            leaves: Vec::new_in(allocator.clone()),
            blocks: Vec::new_in(allocator.clone()),
            regions: Vec::new_in(allocator.clone()),
            upper: Vec::new_in(allocator),
        }
    }

    #[inline]
    pub(crate) fn leaves(&self) -> &[u64] {
        &self.leaves
    }

    /// Returns the lowest open block.
    #[inline]
    pub(crate) fn lowest_open_block(&self) -> Option<usize> {
        let mut child = (!self.upper.is_empty()).then_some(0)?;
        for level in self.upper.iter().rev() {
            child = lowest_child(level, child)?;
        }
        lowest_child(&self.regions, child)
    }

    /// Returns the lowest open leaf of a block. `None` if the block is full or does not exist.
    #[inline]
    pub(crate) fn lowest_open_leaf(&self, block: usize) -> Option<usize> {
        lowest_child(&self.blocks, block)
    }

    /// Takes the lowest free slot of a leaf. `None` if the leaf is full or does not exist.
    #[inline]
    pub(crate) fn take_lowest_in_leaf(&mut self, leaf: usize) -> Option<usize> {
        let word = self.leaves.get_mut(leaf)?;
        let free = NonZeroU64::new(*word)?;
        *word = without_lowest(free);
        if *word == 0 {
            self.leaf_filled(leaf);
        }
        Some(leaf * WORD_BITS + free.trailing_zeros() as usize)
    }

    /// Takes the lowest free slot of the block's lowest open leaf. `None` if the block is full or
    /// does not exist. If the block is full afterwards, `block` is set to the lowest open block of
    /// the same region, if there is one.
    #[inline(always)]
    pub(crate) fn take_lowest_in_block(&mut self, block: &mut usize) -> Option<usize> {
        let open = self.blocks.get_mut(*block)?;
        let old = NonZeroU64::new(*open)?;
        let leaf = *block * WORD_BITS + old.trailing_zeros() as usize;
        let word = self.leaves.get_mut(leaf)?;
        let free = NonZeroU64::new(*word)?;
        *word = without_lowest(free);
        if *word == 0 {
            *open = without_lowest(old);
            if *open == 0 {
                self.block_filled(block);
            }
        }
        Some(leaf * WORD_BITS + free.trailing_zeros() as usize)
    }

    /// Takes the slots below `slot` of a leaf that is all free.
    pub(crate) fn take_below(&mut self, leaf: usize, slot: usize) {
        self.set_leaf(leaf, if slot < WORD_BITS { ALL_FREE << slot } else { 0 });
    }

    /// Clears the summary bits of a leaf that became full.
    #[inline]
    fn leaf_filled(&mut self, leaf: usize) {
        let (mut block, mask) = split(leaf);
        self.blocks[block] &= !mask;
        if self.blocks[block] == 0 {
            self.block_filled(&mut block);
        }
    }

    /// Takes the slots in `mask` of a leaf. Slots that are already taken stay taken.
    #[inline]
    pub(crate) fn take_in(&mut self, leaf: usize, mask: u64) {
        let word = &mut self.leaves[leaf];
        *word &= !mask;
        if *word == 0 {
            self.leaf_filled(leaf);
        }
    }

    /// Releases a slot and returns its block. `None` if the slot was not taken.
    #[inline(always)]
    pub(crate) fn release(&mut self, slot: usize) -> Option<usize> {
        let leaf = slot / WORD_BITS;
        let word = self.leaves.get_mut(leaf)?;
        let old = *word;
        // Written so that one instruction sets and tests the bit, without a mask.
        let new = old | 1 << (slot % WORD_BITS);
        if new == old {
            return None;
        }
        *word = new;
        self.open_leaf(leaf);
        Some(leaf / WORD_BITS)
    }

    /// Replaces the free slots of a whole leaf.
    pub(crate) fn set_leaf(&mut self, leaf: usize, free: u64) {
        self.leaves[leaf] = free;
        if free == 0 {
            self.leaf_filled(leaf);
        } else {
            self.open_leaf(leaf);
        }
    }

    /// Whether a slot is taken. False for a slot that does not exist.
    #[inline]
    pub(crate) fn is_taken(&self, slot: usize) -> bool {
        let (leaf, mask) = split(slot);
        self.leaves.get(leaf).is_some_and(|word| word & mask == 0)
    }

    /// Adds a leaf with the slots of `free` free. `None` if the heap is out of memory.
    #[cold]
    pub(crate) fn push_leaf(&mut self, free: u64) -> Option<()> {
        let leaf = self.leaves.len();
        reserve_one(&mut self.leaves)?;
        if leaf / WORD_BITS == self.blocks.len() {
            self.push_block()?;
        }
        self.leaves.push(free);
        if free != 0 {
            self.open_leaf(leaf);
        }
        Some(())
    }

    /// Reserves memory for `leaf_count` more leaves. `None` if the allocator has none.
    pub(crate) fn reserve(&mut self, leaf_count: usize) -> Option<()> {
        let mut children = self.leaves.len() + leaf_count;
        for level in [&mut self.leaves, &mut self.blocks, &mut self.regions] {
            level.try_reserve_exact(children.saturating_sub(level.len())).ok()?;
            children = children.div_ceil(WORD_BITS);
        }
        Some(())
    }

    /// Keeps the first `leaf_count` leaves and releases the memory of the others.
    pub(crate) fn truncate(&mut self, leaf_count: usize) {
        self.leaves.truncate(leaf_count);
        self.leaves.shrink_to_fit();
        truncate_level(&self.leaves, &mut self.blocks);
        truncate_level(&self.blocks, &mut self.regions);
        let mut below = &self.regions;
        for level in &mut self.upper {
            truncate_level(below, level);
            below = level;
        }
        // Removes the levels above the first one that has a single word: one root is enough.
        let root = self.upper.iter().position(|level| level.len() <= 1);
        let levels = root.map_or(0, |root| root + usize::from(!self.regions.is_empty()));
        self.upper.truncate(levels);
        self.upper.shrink_to_fit();
    }

    /// Returns the heap memory in use, in bytes.
    pub(crate) fn size_bytes(&self) -> usize {
        let words = self.leaves.capacity() + self.blocks.capacity() + self.regions.capacity();
        let upper: usize = self.upper.iter().map(Vec::capacity).sum();
        (words + upper) * size_of::<u64>() + self.upper.capacity() * size_of::<Vec<u64, A>>()
    }

    /// Verifies that every summary bit matches the level below it.
    pub(crate) fn validate(&self) -> Result<(), &'static str> {
        check_level(&self.leaves, &self.blocks)?;
        check_level(&self.blocks, &self.regions)?;
        let mut below = &self.regions;
        for level in &self.upper {
            check_level(below, level)?;
            below = level;
        }
        if below.len() > 1 || self.regions.is_empty() != self.upper.is_empty() {
            return Err("the top level is not a single root");
        }
        Ok(())
    }

    /// Clears the summary bits of a block that became full. Sets `block` to the lowest open block
    /// of its region, if there is one.
    #[inline]
    fn block_filled(&mut self, block: &mut usize) {
        let (region, mask) = split(*block);
        let Some(word) = self.regions.get_mut(region) else { return };
        *word &= !mask;
        match NonZeroU64::new(*word) {
            Some(open) => *block = region * WORD_BITS + open.trailing_zeros() as usize,
            None => self.region_filled(region),
        }
    }

    /// Whether a block below `block` is open.
    pub(crate) fn has_free_below(&self, block: usize) -> bool {
        self.blocks.iter().take(block).any(|&word| word != 0)
    }

    #[cold]
    fn region_filled(&mut self, region: usize) {
        let mut child = region;
        for level in &mut self.upper {
            let (parent, mask) = split(child);
            level[parent] &= !mask;
            if level[parent] != 0 {
                return;
            }
            child = parent;
        }
    }

    #[inline(always)]
    fn open_leaf(&mut self, leaf: usize) {
        let block = leaf / WORD_BITS;
        let region = block / WORD_BITS;
        let Some(word) = self.blocks.get_mut(block) else { return };
        *word |= 1 << (leaf % WORD_BITS);
        let Some(word) = self.regions.get_mut(region) else { return };
        let old = *word;
        *word = old | 1 << (block % WORD_BITS);
        if old == 0 {
            self.region_opened(region);
        }
    }

    #[cold]
    fn region_opened(&mut self, region: usize) {
        let mut child = region;
        for level in &mut self.upper {
            let (parent, mask) = split(child);
            level[parent] |= mask;
            child = parent;
        }
    }

    /// Adds a block without leaves, and the missing levels above it up to a single root.
    fn push_block(&mut self) -> Option<()> {
        reserve_one(&mut self.blocks)?;
        let region = self.blocks.len() / WORD_BITS;
        if region == self.regions.len() {
            reserve_one(&mut self.regions)?;
            self.push_above(region)?;
            self.regions.push(0);
        }
        self.blocks.push(0);
        Some(())
    }

    /// Adds the words for one more region to the upper levels. If the top level gets a second word,
    /// a new root is added above it.
    fn push_above(&mut self, region: usize) -> Option<()> {
        let mut child = region;
        for level in &mut self.upper {
            child /= WORD_BITS;
            if child == level.len() {
                reserve_one(level)?;
                level.push(0);
            }
        }
        if self.upper.last().is_none_or(|top| top.len() > 1) {
            self.upper.try_reserve(1).ok()?;
            let below = self.upper.last().unwrap_or(&self.regions);
            let mut root = Vec::new_in(self.regions.allocator().clone());
            reserve_one(&mut root)?;
            root.push(open_children(below));
            self.upper.push(root);
        }
        Some(())
    }
}

#[inline]
const fn without_lowest(word: NonZeroU64) -> u64 {
    word.get() & (word.get() - 1)
}

/// Returns the lowest open child of node `at` of a level.
#[inline]
fn lowest_child(level: &[u64], at: usize) -> Option<usize> {
    let open = NonZeroU64::new(*level.get(at)?)?;
    Some(at * WORD_BITS + open.trailing_zeros() as usize)
}

/// Returns the index of the word that holds bit `at` of a level, and the bit's mask.
#[inline]
fn split(at: usize) -> (usize, u64) {
    (at / WORD_BITS, BIT[at % WORD_BITS])
}

/// Words with one bit set, indexed by the bit. A table is faster than a shift: a shift by a
/// variable amount takes three micro-operations on the baseline x86-64 target. Only `release`
/// shifts, because one instruction sets the bit of a register.
static BIT: [u64; WORD_BITS] = {
    let mut words = [0; WORD_BITS];
    let mut bit = 0;
    while bit < WORD_BITS {
        words[bit] = 1 << bit;
        bit += 1;
    }
    words
};

fn reserve_one<A: Allocator>(level: &mut Vec<u64, A>) -> Option<()> {
    level.try_reserve(1).ok()
}

/// Removes parent words without children and recomputes the others.
fn truncate_level<A: Allocator>(children: &[u64], parents: &mut Vec<u64, A>) {
    parents.truncate(children.len().div_ceil(WORD_BITS));
    parents.shrink_to_fit();
    for (parent, children) in parents.iter_mut().zip(children.chunks(WORD_BITS)) {
        *parent = open_children(children);
    }
}

fn open_children(children: &[u64]) -> u64 {
    let open = children.iter().zip(&BIT).filter(|(word, _)| **word != 0);
    open.fold(0, |bits, (_, bit)| bits | bit)
}

fn check_level(children: &[u64], parents: &[u64]) -> Result<(), &'static str> {
    if parents.len() != children.len().div_ceil(WORD_BITS) {
        return Err("a level has too many or too few words");
    }
    let marked_open = |child: usize| parents[child / WORD_BITS] >> (child % WORD_BITS) & 1 == 1;
    let is_open = |child: usize| children.get(child).is_some_and(|&word| word != 0);
    match (0..parents.len() * WORD_BITS).all(|child| marked_open(child) == is_open(child)) {
        true => Ok(()),
        false => Err("a summary bit does not match the level below it"),
    }
}
