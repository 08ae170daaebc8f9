use core::alloc::Layout;
use core::fmt;
use core::marker::PhantomData;
use core::ptr::NonNull;

use super::blocks::{Blocks, Head, Home, SLAB_BYTES, Shape, block_layout};
use super::{MemorySource, PoolStats, Region};
use crate::Error;

mod pool_box;
#[cfg(test)]
mod tests;

pub use self::pool_box::PoolBox;
use self::pool_box::Vacant;

/// Values of one type, each in a block of its own, freed in any order.
///
/// ```text
///  free ─────────────────────┐
///  slab [ header | [·]  [a]  [b]  [·]  [c] … ]    a free block begins with the address
///                   └──── next ───┘               of the next
/// ```
/// [`insert`](Self::insert) gives a [`PoolBox`], which owns the value like a `Box`: it drops
/// the value and gives the block back when it goes, so that a second free cannot be
/// written. Values may hold boxes of the same pool: lists and trees. For handles that
/// outlive a borrow there are [`PoolBox::into_raw`] and, checked, [`Slots`](crate::Slots).
///
/// From Chris Brough's article on allocators, "Pool Allocator".
///
/// # Cost
/// O(1), some 2 ns a block; the block freed last is the first reused. A block is at least as
/// large as an address, and costs nothing besides. Blocks whose size is a multiple or an
/// even part of a cache line straddle none. Values never move. Slabs are given back by
/// [`shrink`](Self::shrink) or with the pool.
///
/// # Examples
/// ```
/// use drystone_alloc::memory::{Heap, Pool, PoolBox};
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
/// # Ok::<(), drystone_alloc::Error>(())
/// ```
///
/// In a region, slabs lie at multiples of `SLAB` bytes, and what of the region does not
/// belong to a whole one is not used: take a small `SLAB` for a small region.
/// ```
/// use drystone_alloc::memory::{Pool, Region};
///
/// let pool = Pool::<u64, 4096>::in_region(Region::heap(16384)?);
/// assert!(pool.stats().capacity > 1900);
/// # Ok::<(), drystone_alloc::Error>(())
/// ```
pub struct Pool<'m, T, const SLAB: usize = SLAB_BYTES> {
    home: Home<'m>,
    values: PhantomData<fn() -> T>,
}

impl<'m, T> Pool<'m, T> {
    /// Values in slabs of a mebibyte, which are asked of `source` as they are needed.
    pub const fn new(source: &'m dyn MemorySource) -> Self {
        Self::in_slabs(source)
    }
}

impl<'m, T, const SLAB: usize> Pool<'m, T, SLAB> {
    const LAYOUT: Layout = Layout::new::<T>();
    /// The bits of a block's address that are its slab's.
    const MASK: usize = Shape::in_slabs(block_layout(Self::LAYOUT), Head::Home, SLAB).mask();

    /// Values in slabs of `SLAB` bytes, rounded up to a power of two, to a page and to room
    /// for eight values, which are asked of `source` as they are needed. They are aligned
    /// to their size.
    pub const fn in_slabs(source: &'m dyn MemorySource) -> Self {
        Self { home: Home::in_slabs(source), values: PhantomData }
    }

    /// Values in the slabs of `SLAB` bytes, rounded up in the same way, for which there is
    /// room in `region` at multiples of their size.
    pub fn in_region(region: Region<'m>) -> Self {
        Self { home: Home::in_region(Self::LAYOUT, SLAB, region), values: PhantomData }
    }

    /// Puts `value` into a free block.
    ///
    /// # Errors
    /// `Full` when there is none and the source has no more memory. The value is dropped;
    /// [`insert_with`](Self::insert_with) makes it only when there is room.
    #[inline]
    pub fn insert(&self, value: T) -> Result<PoolBox<'_, T, SLAB>, Error> {
        self.insert_with(|| value)
    }

    /// Puts what `make` returns into a free block, right where it is made if the compiler
    /// can.
    ///
    /// # Errors
    /// `Full` when there is none and the source has no more memory. `make` is not called
    /// then.
    #[inline]
    pub fn insert_with(&self, make: impl FnOnce() -> T) -> Result<PoolBox<'_, T, SLAB>, Error> {
        let blocks = match self.home.blocks() {
            Some(blocks) => blocks,
            None => self.home.found(Self::LAYOUT, SLAB)?,
        };
        // SAFETY: a new block for values of this type. It is given back if `make` panics.
        let vacant = unsafe { Vacant::new(blocks.allocate()?) };
        Ok(vacant.fill(make()))
    }

    /// The box of a value that [`PoolBox::into_raw`] let go of.
    ///
    /// # Safety
    /// - `value` came from `into_raw` of a box of this pool, and is a copy of what that
    ///   returned.
    /// - It is made into a box once.
    #[inline]
    pub unsafe fn from_raw(&self, value: NonNull<T>) -> PoolBox<'_, T, SLAB> {
        // SAFETY: the caller's promise.
        unsafe { PoolBox::new(value) }
    }

    /// Takes back the blocks of boxes that were let go of with [`PoolBox::into_raw`],
    /// [`PoolBox::leak`] or `mem::forget`: there can be no others. Their values are not
    /// dropped. The memory is kept.
    pub fn reset(&mut self) {
        self.home.reset();
    }

    /// Gives slabs that have no value back to the source, all but the first, and says how
    /// many bytes that were. A region is kept.
    ///
    /// # Cost
    /// Looks at every free block.
    pub fn shrink(&self) -> usize {
        self.home.blocks().map_or(0, |blocks| blocks.shrink(0))
    }

    /// How many values there are.
    ///
    /// # Cost
    /// Looks at every free block: nothing is counted while values come and go.
    pub fn len(&self) -> usize {
        self.stats().used_count
    }

    /// Whether there is no value.
    ///
    /// # Cost
    /// As of [`len`](Self::len).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is used and what is reserved.
    ///
    /// # Cost
    /// As of [`len`](Self::len).
    pub fn stats(&self) -> PoolStats {
        self.home.blocks().map(Blocks::stats).unwrap_or_default()
    }

    /// Walks the whole pool and says what is wrong with it, for tests.
    ///
    /// # Errors
    /// The invariant that does not hold.
    pub fn check(&self) -> Result<(), &'static str> {
        self.home.blocks().map_or(Ok(()), |blocks| blocks.check(None))
    }
}

impl<T, const SLAB: usize> fmt::Debug for Pool<'_, T, SLAB> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("stats", &self.stats()).finish()
    }
}
