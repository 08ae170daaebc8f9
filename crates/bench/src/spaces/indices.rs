//! The contenders that hand out one index at a time.

use std::collections::BTreeSet;

use bitmap_allocator::{BitAlloc, BitAlloc1M, BitAlloc16M};
use drystone_alloc::{AddressSpace, Policy};
use hibitset::{BitSet, BitSetLike};

use super::article_tree::ArticleTree;

/// One that hands out indices below the capacity it was made for. The calls here vanish
/// (`inline(always)`), for every contender: what is measured is what a caller's loop has.
pub(super) trait IndexSpace: Sized {
    const NAME: &'static str;
    /// Whether it always hands out the lowest free index: those must agree on every one.
    const LOWEST_FIRST: bool;
    fn with_capacity(capacity: u32) -> Self;
    fn allocate(&mut self) -> u32;
    fn free(&mut self, index: u32);
    /// Bytes of its own, where it can tell.
    fn size_bytes(&self) -> Option<usize> {
        None
    }
}

/// What a contender answers when it is full; no index of any case is as large.
const NO_INDEX: u32 = u32::MAX;

impl IndexSpace for AddressSpace {
    const NAME: &'static str = "drystone";
    const LOWEST_FIRST: bool = true;
    fn with_capacity(capacity: u32) -> Self {
        Self::bounded(Policy::Lowest, capacity)
    }
    #[inline(always)]
    fn allocate(&mut self) -> u32 {
        self.allocate().unwrap_or(NO_INDEX)
    }
    #[inline(always)]
    fn free(&mut self, index: u32) {
        if self.free(index).is_err() {
            // Cannot happen to indices it handed out; found by the check of the answers.
            let _ = self.allocate();
        }
    }
    fn size_bytes(&self) -> Option<usize> {
        Some(self.size_bytes())
    }
}

/// The article's policy: stay in the last leaf while it has room.
pub(super) struct LastLeaf(AddressSpace);

impl IndexSpace for LastLeaf {
    const NAME: &'static str = "drystone-last-leaf";
    const LOWEST_FIRST: bool = false;
    fn with_capacity(capacity: u32) -> Self {
        Self(AddressSpace::bounded(Policy::LastLeaf, capacity))
    }
    #[inline(always)]
    fn allocate(&mut self) -> u32 {
        IndexSpace::allocate(&mut self.0)
    }
    #[inline(always)]
    fn free(&mut self, index: u32) {
        IndexSpace::free(&mut self.0, index);
    }
}

impl IndexSpace for ArticleTree {
    const NAME: &'static str = "article-tree";
    const LOWEST_FIRST: bool = false;
    fn with_capacity(_capacity: u32) -> Self {
        Self::new()
    }
    #[inline(always)]
    fn allocate(&mut self) -> u32 {
        self.allocate() as u32
    }
    #[inline(always)]
    fn free(&mut self, index: u32) {
        self.free(index.into());
    }
    fn size_bytes(&self) -> Option<usize> {
        Some(self.size_bytes())
    }
}

impl IndexSpace for BitSet {
    const NAME: &'static str = "hibitset";
    const LOWEST_FIRST: bool = true;
    fn with_capacity(capacity: u32) -> Self {
        let mut free = Self::with_capacity(capacity);
        for index in 0..capacity {
            free.add(index);
        }
        free
    }
    #[inline(always)]
    fn allocate(&mut self) -> u32 {
        let index = (&*self).iter().next().unwrap_or(NO_INDEX);
        if index != NO_INDEX {
            self.remove(index);
        }
        index
    }
    #[inline(always)]
    fn free(&mut self, index: u32) {
        self.add(index);
    }
}

/// The crate's bitmaps have fixed sizes; the smallest that holds the case is taken.
pub(super) enum Bitmap {
    Small(Box<BitAlloc1M>),
    Large(Box<BitAlloc16M>),
}

impl IndexSpace for Bitmap {
    const NAME: &'static str = "bitmap-allocator";
    const LOWEST_FIRST: bool = true;
    fn with_capacity(capacity: u32) -> Self {
        let capacity = capacity as usize;
        if capacity <= BitAlloc1M::CAP {
            let mut small = Box::new(BitAlloc1M::DEFAULT);
            small.insert(0..capacity);
            Self::Small(small)
        } else {
            let mut large = Box::new(BitAlloc16M::DEFAULT);
            large.insert(0..capacity);
            Self::Large(large)
        }
    }
    #[inline(always)]
    fn allocate(&mut self) -> u32 {
        let index = match self {
            Self::Small(small) => small.alloc(),
            Self::Large(large) => large.alloc(),
        };
        index.map_or(NO_INDEX, |index| index as u32)
    }
    #[inline(always)]
    fn free(&mut self, index: u32) {
        match self {
            Self::Small(small) => small.dealloc(index as usize),
            Self::Large(large) => large.dealloc(index as usize),
        };
    }
}

impl IndexSpace for slab::Slab<()> {
    const NAME: &'static str = "slab";
    const LOWEST_FIRST: bool = false;
    fn with_capacity(_capacity: u32) -> Self {
        Self::new()
    }
    #[inline(always)]
    fn allocate(&mut self) -> u32 {
        self.insert(()) as u32
    }
    #[inline(always)]
    fn free(&mut self, index: u32) {
        self.remove(index as usize);
    }
}

/// Every free index in a tree of the standard library.
pub(super) struct FreeSet(BTreeSet<u32>);

impl IndexSpace for FreeSet {
    const NAME: &'static str = "btree-set";
    const LOWEST_FIRST: bool = true;
    fn with_capacity(capacity: u32) -> Self {
        Self((0..capacity).collect())
    }
    #[inline(always)]
    fn allocate(&mut self) -> u32 {
        self.0.pop_first().unwrap_or(NO_INDEX)
    }
    #[inline(always)]
    fn free(&mut self, index: u32) {
        self.0.insert(index);
    }
}

/// Free indices on a stack, nothing checked: the speed limit without order.
pub(super) struct FreeList(Vec<u32>);

impl IndexSpace for FreeList {
    const NAME: &'static str = "free-list";
    const LOWEST_FIRST: bool = false;
    fn with_capacity(capacity: u32) -> Self {
        Self((0..capacity).rev().collect())
    }
    #[inline(always)]
    fn allocate(&mut self) -> u32 {
        self.0.pop().unwrap_or(NO_INDEX)
    }
    #[inline(always)]
    fn free(&mut self, index: u32) {
        self.0.push(index);
    }
}
