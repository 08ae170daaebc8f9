use core::fmt;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;

use super::Pool;
use crate::blocks::{Blocks, SLAB_BYTES};

/// Owning pointer to a value in a [`Pool`](super::Pool). Dropping the box drops the value; the box
/// cannot outlive the pool.
///
/// The block of a leaked box (`mem::forget`) is not reused until the pool is reset or dropped.
pub struct PoolBox<'p, T, const SLAB: usize = SLAB_BYTES> {
    /// The address as the pool returned it, from which the pool is found.
    value: NonNull<T>,
    owned: PhantomData<(&'p (), T)>,
}

// The pool is found through the address of the value, so the box is one pointer.
const _: () = assert!(size_of::<Option<PoolBox<'_, u64>>>() == size_of::<usize>());

impl<'p, T, const SLAB: usize> PoolBox<'p, T, SLAB> {
    /// # Safety
    /// - `value` is a value in a block, in use, of a pool of this type that lives for `'p`. No
    ///   other box owns it, and the address is the one that the pool returned.
    #[inline]
    pub(super) unsafe fn new(value: NonNull<T>) -> Self {
        Self { value, owned: PhantomData }
    }

    /// Removes the value and frees the block.
    #[inline]
    pub fn into_inner(self) -> T {
        let this = ManuallyDrop::new(self);
        // SAFETY: the box is not dropped, so the value moves out of it once.
        let value = unsafe { this.value.read() };
        // SAFETY: the block is in use and now holds no value.
        drop(unsafe { Vacant::<T, SLAB>::new(this.value.cast()) });
        value
    }

    /// Releases ownership of the value, which stays in the pool. [`Pool::from_raw`] restores the
    /// box.
    ///
    /// [`Pool::from_raw`]: super::Pool::from_raw
    #[inline]
    pub fn into_raw(self) -> NonNull<T> {
        ManuallyDrop::new(self).value
    }

    /// Returns the value for as long as the pool is borrowed. Its destructor never runs.
    #[inline]
    pub fn leak(self) -> &'p mut T {
        // SAFETY: the box was the only owner and no longer exists; the block stays in use as long
        // as the pool is borrowed.
        unsafe { self.into_raw().as_mut() }
    }
}

impl<T, const SLAB: usize> Drop for PoolBox<'_, T, SLAB> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the box owned the block; it is freed below, also if the value's destructor
        // panics.
        let _vacant = unsafe { Vacant::<T, SLAB>::new(self.value.cast()) };
        // SAFETY: the box owns the value and is not used again.
        unsafe { self.value.drop_in_place() }
    }
}

impl<T, const SLAB: usize> Deref for PoolBox<'_, T, SLAB> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the box owns the value, which lives as long.
        unsafe { self.value.as_ref() }
    }
}

impl<T, const SLAB: usize> DerefMut for PoolBox<'_, T, SLAB> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the box owns the value, which lives as long.
        unsafe { self.value.as_mut() }
    }
}

impl<T: fmt::Debug, const SLAB: usize> fmt::Debug for PoolBox<'_, T, SLAB> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// Block in use that holds no value. It is freed unless it is filled.
pub(super) struct Vacant<'p, T, const SLAB: usize> {
    block: NonNull<u8>,
    becomes: PhantomData<PoolBox<'p, T, SLAB>>,
}

impl<'p, T, const SLAB: usize> Vacant<'p, T, SLAB> {
    /// # Safety
    /// - `block` is a block of a pool of this type that lives for `'p`, in use, and nothing else
    ///   frees it. The address is the one that the pool returned.
    #[inline]
    pub(super) unsafe fn new(block: NonNull<u8>) -> Self {
        Self { block, becomes: PhantomData }
    }

    #[inline]
    pub(super) fn fill(self, value: T) -> PoolBox<'p, T, SLAB> {
        let value_at = ManuallyDrop::new(self).block.cast();
        // SAFETY: the block has space for a value and holds none.
        unsafe { value_at.write(value) }
        // SAFETY: the value was just written.
        unsafe { PoolBox::new(value_at) }
    }
}

impl<T, const SLAB: usize> Drop for Vacant<'_, T, SLAB> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the block belongs to such a pool, is in use, and holds no value.
        unsafe { Blocks::of(self.block, Pool::<T, SLAB>::MASK).free(self.block) }
    }
}
