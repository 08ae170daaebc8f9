use core::alloc::Layout;
use core::fmt;
use core::ops::Deref;
use core::ptr::NonNull;

use super::Region;
use super::bump::{Bump, HighMark};
use super::typed;
use crate::Error;

#[cfg(test)]
mod tests;

/// Hands out a region from front to back, and takes it back all at once.
///
/// ```text
///  start          used                          capacity
///  |[aaaa][bb]·[cc]|............. free .............|
///                   └► next
/// ```
/// For what is made together and goes together: a frame's scratch, a chunk's quads, a
/// parsed file. [`reset`](Self::reset) takes back everything, a [`Checkpoint`] all since it
/// was made; the borrow checker sees to it that nobody holds on to what is taken back.
///
/// **No destructor ever runs**: a `Vec` of the heap that is put in here leaks its buffer.
/// For values with destructors there is [`ScopeStack`](super::ScopeStack).
///
/// As an `allocator_api2::Allocator` (feature `allocator-api2`, on `&Linear`) it serves
/// vectors and maps. Then a single block is given back as well, and grows and shrinks in
/// place, if it is the last; any other waits for the reset, and is copied to grow.
///
/// # Cost
/// An allocation adds, compares and stores: some 1 ns. No bytes besides the padding that
/// alignment asks for. `reset` and checkpoints are O(1).
///
/// # Examples
/// ```
/// use core::mem::MaybeUninit;
/// use drystone_alloc::memory::{Linear, Region};
///
/// let mut bytes = [MaybeUninit::uninit(); 1024];
/// let mut linear = Linear::new(Region::new(&mut bytes));
/// let numbers = linear.alloc_slice(&[1, 2, 3])?;
/// let name = linear.alloc_str("three")?;
/// numbers[0] = 7;
/// assert_eq!((numbers[0], &*name), (7, "three"));
/// linear.reset();
/// assert_eq!(linear.remaining(), 1024);
/// # Ok::<(), drystone_alloc::Error>(())
/// ```
pub struct Linear<'m> {
    bump: Bump,
    highest: HighMark,
    region: Region<'m>,
}

// References to what lies in the memory, not to fields: two calls never give the same bytes.
#[allow(clippy::mut_from_ref)]
impl<'m> Linear<'m> {
    /// All of the region, free.
    pub const fn new(region: Region<'m>) -> Self {
        // SAFETY: the region's bytes are its own as long as it exists, which is as long as
        // the allocator that owns it.
        let bump = unsafe { Bump::new(region.start(), region.size_bytes()) };
        Self { bump, highest: HighMark::new(region.start()), region }
    }

    /// Puts a value into the memory. Its destructor will not run.
    ///
    /// # Errors
    /// `Full`; the value is dropped.
    #[inline]
    pub fn alloc<T>(&self, value: T) -> Result<&mut T, Error> {
        self.alloc_with(|| value)
    }

    /// Puts a value into the memory that `make` makes in its place: a large one need not
    /// lie on the stack first. `make` may allocate here itself.
    ///
    /// # Errors
    /// `Full`; `make` is not called.
    #[inline]
    pub fn alloc_with<T>(&self, make: impl FnOnce() -> T) -> Result<&mut T, Error> {
        let place = typed::place_for::<T>(&self.bump)?;
        // SAFETY: the place is aligned, of the right size, and only ours.
        Ok(unsafe { typed::write(place, make) })
    }

    /// A copy of a slice.
    ///
    /// # Errors
    /// `Full`.
    #[inline]
    pub fn alloc_slice<T: Copy>(&self, values: &[T]) -> Result<&mut [T], Error> {
        typed::copy_slice(&self.bump, values)
    }

    /// A slice of `len` values, each made by `make` from its index. If `make` panics, those
    /// made before are forgotten, like everything here.
    ///
    /// # Errors
    /// `Full`, or `InvalidSize` when no memory could hold so many; `make` is not called.
    #[inline]
    pub fn alloc_slice_with<T>(
        &self,
        len: usize,
        mut make: impl FnMut(usize) -> T,
    ) -> Result<&mut [T], Error> {
        let place = typed::place_for_slice::<T>(&self.bump, len)?;
        for index in 0..len {
            // SAFETY: the place has room for `len` values.
            unsafe { place.add(index).write(make(index)) }
        }
        // SAFETY: all of them are written, and nobody else has this place.
        Ok(unsafe { NonNull::slice_from_raw_parts(place, len).as_mut() })
    }

    /// A copy of a string.
    ///
    /// # Errors
    /// `Full`.
    #[inline]
    pub fn alloc_str(&self, text: &str) -> Result<&mut str, Error> {
        typed::copy_str(&self.bump, text)
    }

    /// A block of unknown content, good until the reset. One of no bytes may lie anywhere.
    ///
    /// # Errors
    /// `Full`.
    #[inline]
    pub fn allocate(&self, layout: Layout) -> Result<NonNull<u8>, Error> {
        self.bump.allocate(layout)
    }

    /// A mark to which the allocator goes back when it is dropped; until then, allocate
    /// through it.
    ///
    /// # Examples
    /// ```
    /// # use drystone_alloc::memory::{Linear, Region};
    /// let mut linear = Linear::new(Region::heap(1024)?);
    /// linear.alloc(1u64)?;
    /// {
    ///     let checkpoint = linear.checkpoint();
    ///     checkpoint.alloc([0u64; 64])?;
    /// }
    /// assert_eq!((linear.used(), linear.high_water()), (8, 520));
    /// # Ok::<(), drystone_alloc::Error>(())
    /// ```
    #[inline]
    pub fn checkpoint(&mut self) -> Checkpoint<'_, 'm> {
        Checkpoint { mark: self.bump.next(), linear: self }
    }

    /// Takes everything back and keeps the memory.
    #[inline]
    pub fn reset(&mut self) {
        // SAFETY: all that was handed out borrowed the allocator, which is ours alone now.
        unsafe { self.bump.lower(self.bump.start(), &self.highest) }
    }

    /// Bytes handed out, and the padding between them.
    #[inline]
    pub fn used(&self) -> usize {
        self.bump.used()
    }

    /// Bytes that are free.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.bump.remaining()
    }

    /// All bytes.
    #[inline]
    pub const fn capacity(&self) -> usize {
        self.region.size_bytes()
    }

    /// The most bytes that were ever used at a time: what the region should hold.
    pub fn high_water(&self) -> usize {
        let highest = self.highest.get().max(self.bump.next());
        highest.addr().get() - self.region.start().addr().get()
    }

    #[cfg(feature = "allocator-api2")]
    #[inline]
    pub(super) const fn parts(&self) -> (&Bump, &HighMark) {
        (&self.bump, &self.highest)
    }
}

impl fmt::Debug for Linear<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (used, capacity) = (self.used(), self.capacity());
        f.debug_struct("Linear").field("used", &used).field("capacity", &capacity).finish()
    }
}

/// Everything allocated through it goes when it does.
///
/// It stands for the [`Linear`] that it was made from, which is out of reach meanwhile. One
/// that is forgotten instead of dropped takes nothing back.
#[derive(Debug)]
pub struct Checkpoint<'l, 'm> {
    /// Not `&mut`, nor is there a `DerefMut`: with the allocator exchanged for another one,
    /// the mark would mean nothing.
    linear: &'l Linear<'m>,
    mark: NonNull<u8>,
}

impl<'m> Checkpoint<'_, 'm> {
    /// A checkpoint within this one.
    #[inline]
    pub fn checkpoint(&mut self) -> Checkpoint<'_, 'm> {
        Checkpoint { mark: self.linear.bump.next(), linear: self.linear }
    }

    /// Goes back to the mark, and stays.
    #[inline]
    pub fn rewind(&mut self) {
        // SAFETY: `next` was at the mark, and a checkpoint that was made earlier goes back
        // later. All that was allocated since borrowed this checkpoint, which is ours alone
        // now; the one that made it, or the allocator, is borrowed by this.
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
