//! Contenders that allocate one index at a time.

use std::collections::BTreeSet;

use bitmap_allocator::{BitAlloc, BitAlloc1M, BitAlloc16M};
use drystone_alloc::{AddressSpace, IndexPolicy};
use hibitset::{BitSet, BitSetLike};

use super::article_tree::ArticleTree;

/// An allocator of indices below a fixed capacity. The calls are inlined (`inline(always)`) for
/// every contender, as in a caller's loop.
pub(super) trait IndexSpace: Sized {
    const NAME: &'static str;
    /// Whether it always returns the lowest free index. Such contenders must agree on every index.
    const LOWEST_FIRST: bool = false;
    fn with_capacity(capacity: u32) -> Self;
    fn allocate(&mut self) -> u32;
    fn free(&mut self, index: u32);
    /// Returns the size of its metadata in bytes, if it can.
    fn size_bytes(&self) -> Option<usize> {
        None
    }
}

/// Result of a full allocator. No index of a case is this large.
const NO_INDEX: u32 = u32::MAX;

impl IndexSpace for AddressSpace {
    const NAME: &'static str = "drystone";
    const LOWEST_FIRST: bool = true;
    fn with_capacity(capacity: u32) -> Self {
        Self::bounded(IndexPolicy::Lowest, capacity)
    }
    #[inline(always)]
    fn allocate(&mut self) -> u32 {
        self.allocate().unwrap_or(NO_INDEX)
    }
    #[inline(always)]
    fn free(&mut self, index: u32) {
        if self.free(index).is_err() {
            // Cannot fail for indices that it returned. The check of the results would find it.
            let _ = self.allocate();
        }
    }
    fn size_bytes(&self) -> Option<usize> {
        Some(self.size_bytes())
    }
}

/// The article's policy: use the last leaf until it is full.
pub(super) struct LastLeaf(AddressSpace);

impl IndexSpace for LastLeaf {
    const NAME: &'static str = "drystone-last-leaf";
    fn with_capacity(capacity: u32) -> Self {
        Self(AddressSpace::bounded(IndexPolicy::LastLeaf, capacity))
    }
    #[inline(always)]
    fn allocate(&mut self) -> u32 {
        IndexSpace::allocate(&mut self.0)
    }
    #[inline(always)]
    fn free(&mut self, index: u32) {
        IndexSpace::free(&mut self.0, index);
    }
    fn size_bytes(&self) -> Option<usize> {
        Some(self.0.size_bytes())
    }
}

impl IndexSpace for ArticleTree {
    const NAME: &'static str = "article-tree";
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

/// The crate's bitmaps have fixed sizes. The smallest one for the case is used.
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

/// Free indices in a tree of the standard library.
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

/// Free indices on a stack, without checks: the speed limit of an unordered allocator.
pub(super) struct FreeList(Vec<u32>);

impl IndexSpace for FreeList {
    const NAME: &'static str = "free-list";
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
