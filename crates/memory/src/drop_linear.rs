use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;

use crate::bump::Bump;
use crate::finalizer::Chain;
use crate::{Error, Linear, Region};

#[cfg(test)]
mod tests;

/// [`Linear`] that runs destructors: everything is freed at once, and values that need dropping are
/// dropped before, the last one first.
///
/// ```text
///  [f│value][plain][f│value][f│value]…… free
///   ▲ └───────────◄──┘▲ └─────◄┘▲
///   end of the list             last finalizer
/// ```
/// Unlike a [`ScopeStack`](super::ScopeStack) it needs no closures: it can be a field of a struct,
/// and [`reset`](Self::reset) can be in another function than the allocations. It has no nested
/// scopes. A value may only borrow data that outlives the allocator, so not other values in it:
/// these may be dropped before.
///
/// Source: Chris Brough's article on allocators, whose linear allocator takes the finalizers of the
/// scope stack for values with destructors.
///
/// # Cost
/// A plain value costs the same as in [`Linear`]. A value with a destructor costs two more words,
/// and an indirect call at the reset. `reset` is O(values with destructors).
///
/// # Examples
/// ```
/// use drystone_memory::{DropLinear, Region};
///
/// let mut frame = DropLinear::new(Region::heap(4096)?);
/// let words = frame.alloc(vec![String::from("dropped")])?;
/// words.push(String::from("by the reset"));
/// frame.reset();
/// assert_eq!((frame.used(), frame.high_water() > 24), (0, true));
/// # Ok::<(), drystone_memory::Error>(())
/// ```
#[doc(alias("arena", "typed arena"))]
pub struct DropLinear<'m> {
    finalizers: Chain,
    memory: Linear<'m>,
    /// Invariant: a `&DropLinear` with a shorter `'m` would accept values whose borrows end before
    /// they are dropped. The raw pointer excludes `Send`: values need not be.
    lifetime: PhantomData<(Cell<&'m ()>, *mut ())>,
}

// The references point into the memory, not to fields: two calls never return the same bytes.
#[allow(clippy::mut_from_ref)]
impl<'m> DropLinear<'m> {
    /// Creates an allocator of the whole region, all free.
    pub const fn new(region: Region<'m>) -> Self {
        let memory = Linear::new(region);
        Self { finalizers: Chain::new(), memory, lifetime: PhantomData }
    }

    /// Allocates a value. If its type needs dropping, it is dropped by the reset.
    ///
    /// # Errors
    /// `Full` if the value does not fit. The value is dropped at once.
    #[inline]
    pub fn alloc<T: 'm>(&self, value: T) -> Result<&mut T, Error> {
        self.alloc_with(|| value)
    }

    /// Allocates a value that `make` returns. The value is constructed in place. If `make` panics,
    /// nothing is dropped.
    ///
    /// # Errors
    /// `Full` if the value does not fit. `make` is not called then.
    #[inline]
    pub fn alloc_with<T: 'm>(&self, make: impl FnOnce() -> T) -> Result<&mut T, Error> {
        // SAFETY: the value borrows the allocator, which only a reset or a drop frees, and these run
        // the list first. The value's borrows last for `'m`, longer than the allocator exists.
        unsafe { self.finalizers.alloc_with(self.bump(), make) }
    }

    /// Allocates a slice of `len` values, where `make` returns the value of each index. The values
    /// are dropped from the first to the last, as in an array. If `make` panics, only the values
    /// made before are dropped.
    ///
    /// # Errors
    /// `Full` if the slice does not fit, `InvalidSize` if it exceeds the address space. `make` is
    /// not called then.
    #[inline]
    pub fn alloc_slice_with<T: 'm>(
        &self,
        len: usize,
        make: impl FnMut(usize) -> T,
    ) -> Result<&mut [T], Error> {
        // SAFETY: as in `alloc_with`, for each of the values.
        unsafe { self.finalizers.alloc_slice_with(self.bump(), len, make) }
    }

    /// Drops all values, frees everything and keeps the memory. If a destructor panics, the others
    /// run even so.
    pub fn reset(&mut self) {
        /// Frees the memory, also while a panic unwinds.
        struct Free<'f, 'm>(&'f mut Linear<'m>);

        impl Drop for Free<'_, '_> {
            fn drop(&mut self) {
                self.0.reset();
            }
        }

        let _free = Free(&mut self.memory);
        // SAFETY: all references borrowed the allocator, which is exclusively ours now.
        unsafe { self.finalizers.run() }
    }

    /// Number of allocated bytes, including padding and finalizers.
    #[inline]
    pub fn used(&self) -> usize {
        self.memory.used()
    }

    /// Number of free bytes.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.memory.remaining()
    }

    /// Capacity, in bytes.
    #[inline]
    pub const fn capacity(&self) -> usize {
        self.memory.capacity()
    }

    /// Largest number of bytes that were ever in use at once.
    pub fn high_water(&self) -> usize {
        self.memory.high_water()
    }

    #[inline]
    const fn bump(&self) -> &Bump {
        self.memory.parts().0
    }
}

impl Drop for DropLinear<'_> {
    fn drop(&mut self) {
        self.reset();
    }
}

impl fmt::Debug for DropLinear<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (used, capacity) = (self.used(), self.capacity());
        f.debug_struct("DropLinear").field("used", &used).field("capacity", &capacity).finish()
    }
}
