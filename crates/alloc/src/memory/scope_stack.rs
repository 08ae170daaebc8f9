use core::alloc::Layout;
use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::ptr::NonNull;

use super::bump::{Bump, HighMark};
use super::{Region, typed};
use crate::Error;

mod finalizer;
#[cfg(test)]
mod tests;

use finalizer::{Chain, Entries, Entry};

/// Scopes within scopes over one region: what is allocated in a scope goes when the scope
/// ends, values with destructors in the reverse order of their making.
///
/// ```text
///  |<------ scope ------>|<------ scope within ------>|
///  [f│value][plain][f│value][plain][f│value][f│value]…… free
///   ▲ └───────────◄──┘▲              ▲ └───────◄┘▲
///   end of the list   last           end         last finalizer, where the scope starts
/// ```
/// A value whose type needs dropping has a *finalizer* in front: the function that drops
/// it, and where the finalizer before it lies. Plain data has none and costs nothing extra.
/// The list is walked when the scope's function returns or panics. A destructor that panics
/// does not keep the others from running; a second one that does so meanwhile aborts the
/// program, as everywhere in Rust.
///
/// While a scope within it is open a scope cannot be used, but its values can.
///
/// # Cost
/// A plain value costs what it costs in [`Linear`](super::Linear), one with a destructor two
/// words more and an indirect call at the end. A scope itself costs next to nothing: it is
/// a copy of two pointers, and at its end they are forgotten.
///
/// # Examples
/// ```
/// use drystone_alloc::memory::{Region, ScopeStack};
///
/// let mut stack = ScopeStack::new(Region::heap(4096)?);
/// let length = stack.scope(|scope| {
///     let words = scope.alloc(vec!["dropped", "last"])?;
///     scope.scope(|inner| {
///         let more = inner.alloc(vec![String::from("dropped first")])?;
///         words.push("still here");
///         Ok::<_, drystone_alloc::Error>(words.len() + more.len())
///     })
/// })?;
/// assert_eq!(length, 4);
/// # Ok::<(), drystone_alloc::Error>(())
/// ```
pub struct ScopeStack<'m> {
    bump: Bump,
    highest: HighMark,
    region: Region<'m>,
}

impl<'m> ScopeStack<'m> {
    /// All of the region, free.
    pub const fn new(region: Region<'m>) -> Self {
        // SAFETY: the region's bytes are its own as long as it exists, which is as long as
        // the stack that owns it.
        let bump = unsafe { Bump::new(region.start(), region.size_bytes()) };
        Self { bump, highest: HighMark::new(region.start()), region }
    }

    /// Opens a scope, calls `run` with it, and ends it.
    #[inline]
    pub fn scope<'p, R>(&'p mut self, run: impl for<'s> FnOnce(&mut Scope<'s, 'p>) -> R) -> R {
        run(&mut Scope::within(&self.bump, &self.highest))
    }

    /// All bytes.
    pub const fn capacity(&self) -> usize {
        self.region.size_bytes()
    }

    /// The most bytes that were ever used at a time by scopes that have ended.
    pub fn high_water(&self) -> usize {
        self.highest.get().addr().get() - self.region.start().addr().get()
    }
}

impl fmt::Debug for ScopeStack<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (high_water, capacity) = (self.high_water(), self.capacity());
        let mut out = f.debug_struct("ScopeStack");
        out.field("high_water", &high_water).field("capacity", &capacity).finish()
    }
}

/// A scope of a [`ScopeStack`], for as long as the function that it was given to runs.
///
/// `'s` is the time from the scope's opening to the first destructor: how long references
/// into it are good. `'p` is longer, to the end of the last destructor: a value with a
/// destructor may only borrow what lives that long, so it may refer to values of the scopes
/// around, and not to its neighbours, which may be gone when it is dropped. Neither can be
/// shortened or stretched; both are the compiler's to choose.
///
/// As an `allocator_api2::Allocator` (feature `allocator-api2`, on `&Scope`) it serves
/// vectors and maps that end before the scope does.
// The order of the fields matters for the same reason as in `Bump`.
#[repr(C)]
pub struct Scope<'s, 'p: 's> {
    /// Free memory from here on. The scope around it cannot allocate meanwhile.
    bump: Bump,
    finalizers: Chain,
    /// Of the stack.
    highest: &'p HighMark,
    /// Invariant: `&Scope` with a shorter `'p` would take values that borrow what is gone
    /// when they are dropped.
    lifetimes: PhantomData<(Cell<&'s ()>, Cell<&'p ()>)>,
}

// References to what lies in the memory, not to fields: two calls never give the same bytes.
#[allow(clippy::mut_from_ref)]
impl<'s, 'p> Scope<'s, 'p> {
    #[inline]
    fn within(around: &'p Bump, highest: &'p HighMark) -> Self {
        // SAFETY: the allocator around this scope is borrowed mutably for `'p`, which is
        // longer than any block of this is in use.
        let bump = unsafe { around.fork() };
        Self { bump, finalizers: Chain::new(), highest, lifetimes: PhantomData }
    }

    /// Opens a scope within this one, calls `run` with it, and ends it. This scope is out
    /// of reach meanwhile; what lies in it is not.
    #[inline]
    pub fn scope<'q, R>(&'q mut self, run: impl for<'c> FnOnce(&mut Scope<'c, 'q>) -> R) -> R {
        run(&mut Scope::within(&self.bump, self.highest))
    }

    /// Puts a value into the scope. If its type needs dropping, it is dropped when the scope
    /// ends.
    ///
    /// # Errors
    /// `Full`; the value is dropped at once.
    #[inline]
    pub fn alloc<T: 'p>(&self, value: T) -> Result<&'s mut T, Error> {
        self.alloc_with(|| value)
    }

    /// Puts a value into the scope that `make` makes in its place. If `make` panics, there
    /// is nothing to drop.
    ///
    /// # Errors
    /// `Full`; `make` is not called.
    #[inline]
    pub fn alloc_with<T: 'p>(&self, make: impl FnOnce() -> T) -> Result<&'s mut T, Error> {
        if !core::mem::needs_drop::<T>() {
            let place = typed::place_for::<T>(&self.bump)?;
            // SAFETY: the place is aligned, of the right size, and only ours.
            return Ok(unsafe { typed::write(place, make) });
        }
        let entry = self.bump.allocate_multiple(Layout::new::<Entry<T>>())?.cast::<Entry<T>>();
        let place = Entry::place(entry);
        // SAFETY: as above.
        let value = unsafe { typed::write(place, make) };
        // SAFETY: the entry's value is written, and nobody else drops it. It lives for `'p`,
        // to the end of the drop of this scope.
        unsafe { self.finalizers.add(entry) }
        Ok(value)
    }

    /// Puts plain data into the scope. Unlike with [`alloc`](Self::alloc) it may refer to
    /// what lies in the same scope, which makes lists and trees possible; so no type is
    /// accepted that needs dropping.
    ///
    /// # Errors
    /// `Full`.
    ///
    /// # Examples
    /// ```
    /// # use drystone_alloc::memory::{Region, ScopeStack};
    /// struct Node<'s>(u32, Option<&'s Node<'s>>);
    ///
    /// let mut stack = ScopeStack::new(Region::heap(4096)?);
    /// stack.scope(|scope| {
    ///     let leaf = scope.alloc_plain(Node(1, None))?;
    ///     let root = scope.alloc_plain(Node(2, Some(leaf)))?;
    ///     assert_eq!(root.1.map(|leaf| leaf.0), Some(1));
    ///     Ok::<_, drystone_alloc::Error>(())
    /// })?;
    /// # Ok::<(), drystone_alloc::Error>(())
    /// ```
    /// What has a destructor is refused when the program is built:
    /// ```compile_fail
    /// # use drystone_alloc::memory::{Region, ScopeStack};
    /// # let mut stack = ScopeStack::new(Region::heap(4096).unwrap());
    /// stack.scope(|scope| scope.alloc_plain(String::new()).is_ok());
    /// ```
    #[inline]
    pub fn alloc_plain<T>(&self, value: T) -> Result<&'s mut T, Error> {
        const { assert!(!core::mem::needs_drop::<T>(), "the type needs dropping: use `alloc`") };
        let place = typed::place_for::<T>(&self.bump)?;
        // SAFETY: the place is aligned, of the right size, and only ours.
        Ok(unsafe { typed::write(place, || value) })
    }

    /// A copy of a slice.
    ///
    /// # Errors
    /// `Full`.
    #[inline]
    pub fn alloc_slice<T: Copy>(&self, values: &[T]) -> Result<&'s mut [T], Error> {
        let copy: *mut [T] = typed::copy_slice(&self.bump, values)?;
        // SAFETY: the bytes are only ours until the scope ends, not just for this call.
        Ok(unsafe { &mut *copy })
    }

    /// A slice of `len` values, each made by `make` from its index. They are dropped one
    /// after the other from the first to the last, as those of an array are. If `make`
    /// panics, those are that were made before.
    ///
    /// # Errors
    /// `Full`, or `InvalidSize` when no memory could hold so many; `make` is not called.
    #[inline]
    pub fn alloc_slice_with<T: 'p>(
        &self,
        len: usize,
        mut make: impl FnMut(usize) -> T,
    ) -> Result<&'s mut [T], Error> {
        if !core::mem::needs_drop::<T>() {
            let place = typed::place_for_slice::<T>(&self.bump, len)?;
            for index in 0..len {
                // SAFETY: the place has room for `len` values.
                unsafe { place.add(index).write(make(index)) }
            }
            // SAFETY: all of them are written, and nobody else has this place.
            return Ok(unsafe { NonNull::slice_from_raw_parts(place, len).as_mut() });
        }
        let block = self.bump.allocate(Entries::<T>::layout(len)?)?;
        // SAFETY: the block has the layout of the entries, and is only ours. They are not
        // touched after the scope has ended, and then dropped; they live for `'p`.
        unsafe { Entries::fill(block, len, make, &self.finalizers) }
    }

    /// A copy of a string.
    ///
    /// # Errors
    /// `Full`.
    #[inline]
    pub fn alloc_str(&self, text: &str) -> Result<&'s mut str, Error> {
        let copy: *mut str = typed::copy_str(&self.bump, text)?;
        // SAFETY: the bytes are only ours until the scope ends, not just for this call.
        Ok(unsafe { &mut *copy })
    }

    /// A block of unknown content, good until the scope ends. One of no bytes may lie
    /// anywhere.
    ///
    /// # Errors
    /// `Full`.
    #[inline]
    pub fn allocate(&self, layout: Layout) -> Result<NonNull<u8>, Error> {
        self.bump.allocate(layout)
    }

    /// Bytes handed out by this scope, and the padding between them.
    #[inline]
    pub fn used(&self) -> usize {
        self.bump.used()
    }

    /// Bytes that are free.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.bump.remaining()
    }

    #[cfg(feature = "allocator-api2")]
    #[inline]
    pub(super) const fn parts(&self) -> (&Bump, &HighMark) {
        (&self.bump, self.highest)
    }
}

impl Drop for Scope<'_, '_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: nothing is used any more that `'s` limits: the function that this scope
        // was lent to has ended. What the values borrow lives for `'p`, which has not.
        unsafe {
            self.finalizers.run();
            self.bump.lower(self.bump.start(), self.highest);
        }
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("remaining", &self.remaining()).finish_non_exhaustive()
    }
}
