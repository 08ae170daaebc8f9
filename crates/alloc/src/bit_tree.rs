use alloc::vec::Vec;
use core::num::NonZeroU64;

/// Bits in a word, children of a node.
pub(crate) const WORD_BITS: usize = 64;
/// A word whose slots are all free.
pub(crate) const ALL_FREE: u64 = u64::MAX;

/// Which slots are free: a 64-way tree of bits, stored as flat levels.
///
/// ```text
///  upper[1]                     1                    a root is added when the one below
///  upper[0]             0 0 … 0   1 …                has more than one word
///  regions          00…0  …  00…0  001…              bit = block has room
///  blocks       00…0  …                0010…         bit = leaf has room
///  leaves   00…0  …                      00100…      bit = slot is free
/// ```
/// A clear bit means "nothing to be had here"; a child that does not exist yet has no
/// room, so a walk by trailing zeros never leaves the tree. Three levels are in every
/// walk; those above are touched only when a region, a quarter of a million slots, fills
/// up or opens.
///
/// Why branches: whether a leaf fills up with an allocation is decided by a branch, not
/// by arithmetic. The processor guesses it well, and then the next walk does not wait for
/// this one's memory; without a branch each allocation is a chain of three loads and the
/// stores before them. Opening on the other hand writes blindly: setting a set bit does
/// no harm and nothing waits for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct BitTree {
    leaves: Vec<u64>,
    blocks: Vec<u64>,
    regions: Vec<u64>,
    upper: Vec<Vec<u64>>,
}

impl BitTree {
    pub(crate) const fn new() -> Self {
        Self { leaves: Vec::new(), blocks: Vec::new(), regions: Vec::new(), upper: Vec::new() }
    }

    #[inline]
    pub(crate) fn leaves(&self) -> &[u64] {
        &self.leaves
    }

    /// The lowest block with room.
    #[inline]
    pub(crate) fn lowest_open_block(&self) -> Option<usize> {
        let mut child = (!self.upper.is_empty()).then_some(0)?;
        for level in self.upper.iter().rev() {
            child = lowest_child(level, child)?;
        }
        lowest_child(&self.regions, child)
    }

    /// The lowest leaf with room of a block; `None` when it has none or does not exist.
    #[inline]
    pub(crate) fn lowest_open_leaf(&self, block: usize) -> Option<usize> {
        lowest_child(&self.blocks, block)
    }

    /// Takes the lowest free slot of a leaf. `None` when it has none or does not exist.
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

    /// Takes the lowest free slot of the block's lowest leaf with room. `None` when the
    /// block has no room or does not exist. If it has none left then, `block` moves on to
    /// the lowest with room in the same region, if there is one.
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

    /// Takes the slots of a leaf, which was all free, below `slot` of it.
    pub(crate) fn take_below(&mut self, leaf: usize, slot: usize) {
        self.set_leaf(leaf, if slot < WORD_BITS { ALL_FREE << slot } else { 0 });
    }

    /// Notes that a leaf has no room.
    #[inline]
    fn leaf_filled(&mut self, leaf: usize) {
        let (mut block, mask) = split(leaf);
        self.blocks[block] &= !mask;
        if self.blocks[block] == 0 {
            self.block_filled(&mut block);
        }
    }

    /// Takes the slots in `mask` of a leaf; those taken already stay so.
    #[inline]
    pub(crate) fn take_in(&mut self, leaf: usize, mask: u64) {
        let word = &mut self.leaves[leaf];
        *word &= !mask;
        if *word == 0 {
            self.leaf_filled(leaf);
        }
    }

    /// Gives one slot back and returns its block; `None` when it was not taken.
    #[inline(always)]
    pub(crate) fn release(&mut self, slot: usize) -> Option<usize> {
        let leaf = slot / WORD_BITS;
        let word = self.leaves.get_mut(leaf)?;
        let had = *word;
        // Written so that the bit is set and tested by one instruction, without a mask.
        let has = had | 1 << (slot % WORD_BITS);
        if has == had {
            return None;
        }
        *word = has;
        self.open_leaf(leaf);
        Some(leaf / WORD_BITS)
    }

    /// Sets the free slots of a whole leaf, whatever was in it.
    pub(crate) fn set_leaf(&mut self, leaf: usize, free: u64) {
        self.leaves[leaf] = free;
        if free == 0 {
            self.leaf_filled(leaf);
        } else {
            self.open_leaf(leaf);
        }
    }

    /// Whether a slot is taken; one that does not exist is not.
    #[inline]
    pub(crate) fn is_taken(&self, slot: usize) -> bool {
        let (leaf, mask) = split(slot);
        self.leaves.get(leaf).is_some_and(|word| word & mask == 0)
    }

    /// Adds a leaf with these slots free. `None` when there is no memory.
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

    /// Keeps the first `leaf_count` leaves and gives the memory of the others back.
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
        // One root is enough: levels above the first that has a single word go.
        let root = self.upper.iter().position(|level| level.len() <= 1);
        let levels = root.map_or(0, |root| root + usize::from(!self.regions.is_empty()));
        self.upper.truncate(levels);
        self.upper.shrink_to_fit();
    }

    /// Bytes of heap memory held.
    pub(crate) fn size_bytes(&self) -> usize {
        let words = self.leaves.capacity() + self.blocks.capacity() + self.regions.capacity();
        let upper: usize = self.upper.iter().map(Vec::capacity).sum();
        (words + upper) * size_of::<u64>() + self.upper.capacity() * size_of::<Vec<u64>>()
    }

    /// Walks the whole tree: every summary bit says what is below it.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
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

    /// Notes that a block has no room, and moves on to the lowest of its region that has.
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

    /// Whether a block below this one has room.
    pub(crate) fn has_room_below(&self, block: usize) -> bool {
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
        let had = *word;
        *word = had | 1 << (block % WORD_BITS);
        if had == 0 {
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

    /// Adds a block without leaves, and above it what is missing up to a single root.
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

    /// Makes room above for one more region; a second word in the top level asks for a
    /// new root above it ("escalation").
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
            let mut root = Vec::new();
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

/// The lowest child with room of node `at` of a level.
#[inline]
fn lowest_child(level: &[u64], at: usize) -> Option<usize> {
    let open = NonZeroU64::new(*level.get(at)?)?;
    Some(at * WORD_BITS + open.trailing_zeros() as usize)
}

/// The word that holds bit `at` of a level, and the bit's mask.
#[inline]
fn split(at: usize) -> (usize, u64) {
    (at / WORD_BITS, BIT[at % WORD_BITS])
}

/// A word with one bit set, by its number. Looked up and not shifted: a shift by a
/// variable amount costs three micro-operations where the build may not assume a newer
/// processor. Only where a bit is set in a register, as in `release`, is there one
/// instruction for it.
static BIT: [u64; WORD_BITS] = {
    let mut words = [0; WORD_BITS];
    let mut bit = 0;
    while bit < WORD_BITS {
        words[bit] = 1 << bit;
        bit += 1;
    }
    words
};

fn reserve_one(level: &mut Vec<u64>) -> Option<()> {
    level.try_reserve(1).ok()
}

/// Drops what stands above children that are gone, and says again what is left.
fn truncate_level(children: &[u64], parents: &mut Vec<u64>) {
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
    let says_open = |child: usize| parents[child / WORD_BITS] >> (child % WORD_BITS) & 1 == 1;
    let is_open = |child: usize| children.get(child).is_some_and(|&word| word != 0);
    match (0..parents.len() * WORD_BITS).all(|child| says_open(child) == is_open(child)) {
        true => Ok(()),
        false => Err("a summary bit does not say what is below it"),
    }
}
