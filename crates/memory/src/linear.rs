use core::alloc::Layout;
use core::fmt;
use core::ops::Deref;
use core::ptr::NonNull;

use super::Region;
use super::bump::{Bump, HighWaterMark};
use super::typed;
use crate::Error;

#[cfg(test)]
mod tests;

/// Allocates from a region front to back and frees everything at once.
///
/// ```text
///  start          used                          capacity
///  |[aaaa][bb]·[cc]|............. free .............|
///                   └► next
/// ```
/// Suited to data that is created and freed together: scratch memory of a frame, the quads of a
/// chunk, a parsed file. [`reset`](Self::reset) frees everything, a [`Checkpoint`] everything
/// allocated through it. The borrow checker rejects references that outlive either.
///
/// **No destructor ever runs**: a `Vec` on the heap that is stored here leaks its buffer. Use
/// [`DropLinear`](super::DropLinear) or [`ScopeStack`](super::ScopeStack) for values with
/// destructors.
///
/// Source: Chris Brough's article on allocators, "Linear Allocator".
///
/// With the feature `allocator-api2`, `&Linear` implements `Allocator` for vectors and maps. The
/// last block is then freed, grown and shrunk in place. Any other block stays allocated until the
/// reset and is copied to grow.
///
/// # Cost
/// An allocation is an addition, a comparison and a store: about 1 ns. The only overhead is padding
/// for alignment. `reset` and checkpoints are O(1).
///
/// # Examples
/// ```
/// use core::mem::MaybeUninit;
/// use drystone_memory::{Linear, Region};
///
/// let mut bytes = [MaybeUninit::uninit(); 1024];
/// let mut linear = Linear::new(Region::new(&mut bytes));
/// let numbers = linear.alloc_slice(&[1, 2, 3])?;
/// let name = linear.alloc_str("three")?;
/// numbers[0] = 7;
/// assert_eq!((numbers[0], &*name), (7, "three"));
/// linear.reset();
/// assert_eq!(linear.remaining(), 1024);
/// # Ok::<(), drystone_memory::Error>(())
/// ```
#[doc(alias("bump", "arena"))]
pub struct Linear<'m> {
    bump: Bump,
    highest: HighWaterMark,
    region: Region<'m>,
}

// The references point into the memory, not to fields: two calls never return the same bytes.
#[allow(clippy::mut_from_ref)]
impl<'m> Linear<'m> {
    /// Creates an allocator of the whole region, all free.
    pub const fn new(region: Region<'m>) -> Self {
        // SAFETY: the region owns its bytes exclusively as long as it exists, which is as long as
        // the allocator that owns it.
        let bump = unsafe { Bump::new(region.start(), region.size_bytes()) };
        Self { bump, highest: HighWaterMark::new(region.start()), region }
    }

    /// Allocates a value. Its destructor will not run.
    ///
    /// # Errors
    /// `Full` if the value does not fit. The value is dropped.
    #[inline]
    pub fn alloc<T>(&self, value: T) -> Result<&mut T, Error> {
        self.alloc_with(|| value)
    }

    /// Allocates a value that `make` returns. The value is constructed in place, so a large one
    /// need not be on the stack first. `make` may allocate here itself.
    ///
    /// # Errors
    /// `Full` if the value does not fit. `make` is not called then.
    #[inline]
    pub fn alloc_with<T>(&self, make: impl FnOnce() -> T) -> Result<&mut T, Error> {
        let target = typed::allocate_for::<T>(&self.bump)?;
        // SAFETY: the target is aligned, of the right size, and used only here.
        Ok(unsafe { typed::write(target, make) })
    }

    /// Allocates a copy of a slice.
    ///
    /// # Errors
    /// `Full` if the slice does not fit.
    #[inline]
    pub fn alloc_slice<T: Copy>(&self, values: &[T]) -> Result<&mut [T], Error> {
        typed::copy_slice(&self.bump, values)
    }

    /// Allocates a slice of `len` values, where `make` returns the value of each index. If `make`
    /// panics, the destructors of the values made before do not run.
    ///
    /// # Errors
    /// `Full` if the slice does not fit, `InvalidSize` if it exceeds the address space. `make` is
    /// not called then.
    #[inline]
    pub fn alloc_slice_with<T>(
        &self,
        len: usize,
        make: impl FnMut(usize) -> T,
    ) -> Result<&mut [T], Error> {
        typed::slice_with(&self.bump, len, make)
    }

    /// Allocates a copy of a string.
    ///
    /// # Errors
    /// `Full` if the string does not fit.
    #[inline]
    pub fn alloc_str(&self, text: &str) -> Result<&mut str, Error> {
        typed::copy_str(&self.bump, text)
    }

    /// Allocates a block of uninitialized bytes that is valid until the reset. The address of a
    /// block of 0 bytes is arbitrary but aligned.
    ///
    /// # Errors
    /// `Full` if the block does not fit.
    #[inline]
    pub fn allocate(&self, layout: Layout) -> Result<NonNull<u8>, Error> {
        self.bump.allocate(layout)
    }

    /// Allocates a region for another allocator. Several allocators, such as scope stacks, thereby
    /// share the memory of this one and are otherwise independent.
    ///
    /// # Errors
    /// `Full` if the region does not fit.
    ///
    /// # Examples
    /// ```
    /// # use drystone_memory::{Linear, Region, ScopeStack};
    /// # use std::alloc::Layout;
    /// let base = Linear::new(Region::heap(4096)?);
    /// let half = Layout::new::<[u64; 256]>();
    /// let mut parsing = ScopeStack::new(base.region(half)?);
    /// let mut loading = ScopeStack::new(base.region(half)?);
    /// let length = parsing.scope(|outer| {
    ///     let text = outer.alloc(String::from("text"))?;
    ///     // This scope ends first, and could as well end last: it is in another stack.
    ///     loading.scope(|other| Ok::<_, drystone_memory::Error>(other.alloc(text.len())?.clone()))
    /// })?;
    /// assert_eq!((length, base.remaining()), (4, 0));
    /// # Ok::<(), drystone_memory::Error>(())
    /// ```
    pub fn region(&self, layout: Layout) -> Result<Region<'_>, Error> {
        let start = self.allocate(layout)?.cast();
        // SAFETY: the bytes are new, of this size, and belong to the region as long as it borrows
        // the allocator. They may be uninitialized.
        let bytes = unsafe { NonNull::slice_from_raw_parts(start, layout.size()).as_mut() };
        Ok(Region::new(bytes))
    }

    /// Creates a checkpoint. Until it is dropped, allocate through it; the drop frees these
    /// allocations.
    ///
    /// # Examples
    /// ```
    /// # use drystone_memory::{Linear, Region};
    /// let mut linear = Linear::new(Region::heap(1024)?);
    /// linear.alloc(1u64)?;
    /// {
    ///     let checkpoint = linear.checkpoint();
    ///     checkpoint.alloc([0u64; 64])?;
    /// }
    /// assert_eq!((linear.used(), linear.high_water()), (8, 520));
    /// # Ok::<(), drystone_memory::Error>(())
    /// ```
    #[inline]
    pub fn checkpoint(&mut self) -> Checkpoint<'_, 'm> {
        Checkpoint { mark: self.bump.next(), linear: self }
    }

    /// Frees everything and keeps the memory.
    #[inline]
    pub fn reset(&mut self) {
        // SAFETY: all allocations borrowed the allocator, which is exclusively ours now.
        unsafe { self.bump.lower(self.bump.start(), &self.highest) }
    }

    /// Number of allocated bytes, including the padding between them.
    #[inline]
    pub fn used(&self) -> usize {
        self.bump.used()
    }

    /// Number of free bytes.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.bump.remaining()
    }

    /// Capacity, in bytes.
    #[inline]
    pub const fn capacity(&self) -> usize {
        self.region.size_bytes()
    }

    /// Largest number of bytes that were ever in use at once: the size that the region should have.
    pub fn high_water(&self) -> usize {
        let highest = self.highest.get().max(self.bump.next());
        highest.addr().get() - self.region.start().addr().get()
    }

    #[inline]
    pub(super) const fn parts(&self) -> (&Bump, &HighWaterMark) {
        (&self.bump, &self.highest)
    }
}

impl fmt::Debug for Linear<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (used, capacity) = (self.used(), self.capacity());
        f.debug_struct("Linear").field("used", &used).field("capacity", &capacity).finish()
    }
}

/// Scope of a [`Linear`]: everything allocated through it is freed when it is dropped.
///
/// While it exists, the [`Linear`] itself is not accessible. A checkpoint that is leaked with
/// `mem::forget` frees nothing.
#[derive(Debug)]
pub struct Checkpoint<'l, 'm> {
    /// Not `&mut`, and without `DerefMut`: if the allocator were replaced by another one, the mark
    /// would be invalid.
    linear: &'l Linear<'m>,
    mark: NonNull<u8>,
}

impl<'m> Checkpoint<'_, 'm> {
    /// Creates a checkpoint nested in this one.
    #[inline]
    pub fn checkpoint(&mut self) -> Checkpoint<'_, 'm> {
        Checkpoint { mark: self.linear.bump.next(), linear: self.linear }
    }

    /// Frees everything allocated through this checkpoint. The checkpoint stays usable.
    #[inline]
    pub fn rewind(&mut self) {
        // SAFETY: `next` was at the mark, and a checkpoint made earlier rewinds later. All
        // allocations since then borrowed this checkpoint, which is exclusively ours now; the
        // checkpoint or the allocator that made it is borrowed by this one.
        unsafe { self.linear.bump.lower(self.mark, &self.linear.highest) }
    }
}

impl<'m> Deref for Checkpoint<'_, 'm> {
    type Target = Linear<'m>;

    #[inline]
    fn deref(&self) -> &Linear<'m> {
        self.linear
    }
}

impl Drop for Checkpoint<'_, '_> {
    #[inline]
    fn drop(&mut self) {
        self.rewind();
    }
}
