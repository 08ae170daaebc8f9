use core::alloc::Layout;
use core::fmt;
use core::marker::PhantomData;
use core::ptr::NonNull;

use super::blocks::{Blocks, Head, InPlaceBlocks, SLAB_BYTES, Shape, block_layout};
use super::{MemorySource, PoolStats, Region};
use crate::Error;

mod pool_box;
#[cfg(test)]
mod tests;

pub use self::pool_box::PoolBox;
use self::pool_box::Vacant;

/// Pool of values of one type, each in a block of its own, freed in any order.
///
/// ```text
///  free ─────────────────────┐
///  slab [ header | [·]  [a]  [b]  [·]  [c] … ]    a free block begins with the address
///                   └──── next ───┘               of the next
/// ```
/// [`insert`](Self::insert) returns a [`PoolBox`], which owns the value like a `Box`. Dropping it
/// drops the value and frees the block, so a double free cannot happen. Values may hold boxes of
/// the same pool, for lists and trees. For handles that outlive a borrow use [`PoolBox::into_raw`]
/// or, with checks, `Slots` of the crate `drystone-alloc`.
///
/// Source: Chris Brough's article on allocators, "Pool Allocator".
///
/// # Cost
/// O(1), about 2 ns per block. The block freed last is reused first. A block is at least as large
/// as an address and has no overhead. If its size is a multiple or a divisor of a cache line, it
/// never crosses a cache line unnecessarily. Values never move. Slabs are released by
/// [`shrink`](Self::shrink) or when the pool is dropped.
///
/// # Examples
/// ```
/// use drystone_memory::{Heap, Pool, PoolBox};
///
/// struct Node<'p> {
///     name: &'static str,
///     children: Vec<PoolBox<'p, Node<'p>>>,
/// }
///
/// let pool = Pool::new(&Heap);
/// let leaf = pool.insert(Node { name: "leaf", children: vec![] })?;
/// let mut tree = pool.insert(Node { name: "tree", children: vec![leaf] })?;
/// tree.name = "birch";
/// assert_eq!((tree.children[0].name, pool.len()), ("leaf", 2));
/// drop(tree);
/// assert!(pool.is_empty());
/// # Ok::<(), drystone_memory::Error>(())
/// ```
///
/// In a region, slabs are aligned to `SLAB` bytes, and parts of the region outside whole slabs are
/// not used: choose a small `SLAB` for a small region.
/// ```
/// use drystone_memory::{Pool, Region};
///
/// let pool = Pool::<u64, 4096>::in_region(Region::heap(16384)?);
/// assert!(pool.stats().capacity > 1900);
/// # Ok::<(), drystone_memory::Error>(())
/// ```
#[doc(alias("object pool", "slab"))]
pub struct Pool<'m, T, const SLAB: usize = SLAB_BYTES> {
    blocks: InPlaceBlocks<'m>,
    values: PhantomData<fn() -> T>,
}

impl<'m, T> Pool<'m, T> {
    /// Creates a pool with slabs of 1 MiB, which are allocated from `source` when needed.
    pub const fn new(source: &'m dyn MemorySource) -> Self {
        Self::in_slabs(source)
    }
}

impl<'m, T, const SLAB: usize> Pool<'m, T, SLAB> {
    const LAYOUT: Layout = Layout::new::<T>();
    /// Mask of a block's address that yields its slab.
    const MASK: usize = Shape::in_slabs(block_layout(Self::LAYOUT), Head::Pool, SLAB).mask();

    /// Creates a pool with slabs of `SLAB` bytes, which are allocated from `source` when needed.
    /// `SLAB` is rounded up to a power of two, to a page and to eight values. Slabs are aligned to
    /// their size.
    pub const fn in_slabs(source: &'m dyn MemorySource) -> Self {
        Self { blocks: InPlaceBlocks::in_slabs(source), values: PhantomData }
    }

    /// Creates a pool with the slabs of `SLAB` bytes that fit into `region` at multiples of their
    /// size. `SLAB` is rounded up to a power of two, to a page and to eight values.
    pub fn in_region(region: Region<'m>) -> Self {
        Self { blocks: InPlaceBlocks::in_region(Self::LAYOUT, SLAB, region), values: PhantomData }
    }

    /// Inserts `value` into a free block.
    ///
    /// # Errors
    /// `Full` if no block is free and the source is out of memory. The value is dropped;
    /// [`insert_with`](Self::insert_with) only makes a value that fits.
    #[inline]
    pub fn insert(&self, value: T) -> Result<PoolBox<'_, T, SLAB>, Error> {
        self.insert_with(|| value)
    }

    /// Inserts the result of `make` into a free block. The compiler constructs it in place if
    /// possible.
    ///
    /// # Errors
    /// `Full` if no block is free and the source is out of memory. `make` is not called then.
    #[inline]
    pub fn insert_with(&self, make: impl FnOnce() -> T) -> Result<PoolBox<'_, T, SLAB>, Error> {
        let blocks = match self.blocks.get() {
            Some(blocks) => blocks,
            None => self.blocks.create(Self::LAYOUT, SLAB)?,
        };
        // SAFETY: a new block for values of this type. It is freed if `make` panics.
        let vacant = unsafe { Vacant::new(blocks.allocate()?) };
        Ok(vacant.fill(make()))
    }

    /// Returns the box of a value released by [`PoolBox::into_raw`].
    ///
    /// # Safety
    /// - `value` is the pointer that `into_raw` of a box of this pool returned, or a copy of it.
    /// - It is converted to a box only once.
    #[inline]
    pub unsafe fn from_raw(&self, value: NonNull<T>) -> PoolBox<'_, T, SLAB> {
        // SAFETY: guaranteed by the caller.
        unsafe { PoolBox::new(value) }
    }

    /// Frees the blocks of all leaked boxes ([`PoolBox::into_raw`], [`PoolBox::leak`],
    /// `mem::forget`), and keeps the memory. No other boxes can exist. Their values are not
    /// dropped.
    pub fn reset(&mut self) {
        self.blocks.reset();
    }

    /// Releases empty slabs to the source, except the first slab, and returns their size in bytes.
    /// A region is kept.
    ///
    /// # Cost
    /// O(free blocks).
    pub fn shrink(&self) -> usize {
        self.blocks.get().map_or(0, |blocks| blocks.shrink(0))
    }

    /// Number of values.
    ///
    /// # Cost
    /// O(free blocks): the pool does not count values when they are inserted or dropped.
    pub fn len(&self) -> usize {
        self.stats().used_count
    }

    /// Whether the pool has no values.
    ///
    /// # Cost
    /// O(free blocks), like [`len`](Self::len).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the statistics.
    ///
    /// # Cost
    /// O(free blocks), like [`len`](Self::len).
    pub fn stats(&self) -> PoolStats {
        self.blocks.get().map(Blocks::stats).unwrap_or_default()
    }

    /// Verifies all invariants, for tests.
    ///
    /// # Errors
    /// The invariant that is violated.
    pub fn validate(&self) -> Result<(), &'static str> {
        self.blocks.get().map_or(Ok(()), |blocks| blocks.validate(None))
    }
}

impl<T, const SLAB: usize> fmt::Debug for Pool<'_, T, SLAB> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("stats", &self.stats()).finish()
    }
}
