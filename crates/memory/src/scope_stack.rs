use core::alloc::Layout;
use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::ptr::NonNull;

use crate::bump::{Bump, HighWaterMark};
use crate::finalizer::Chain;
use crate::{Error, Linear, Region, typed};

mod scope_box;
#[cfg(test)]
mod tests;

pub use scope_box::ScopeBox;

/// Nested scopes in one region. The end of a scope frees everything allocated in it and drops
/// values with destructors in reverse order of their allocation.
///
/// ```text
///  |<------ scope ------>|<------ nested scope ------>|
///  [f│value][plain][f│value][plain][f│value][f│value]…… free
///   ▲ └───────────◄──┘▲              ▲ └───────◄┘▲
///   end of the list   last           end         last finalizer when the scope starts
/// ```
/// A value whose type needs dropping has a *finalizer* in front: the function that drops it, and
/// the address of the previous finalizer. Plain data has no finalizer and no overhead, and neither
/// has a value in a [`ScopeBox`], which drops it. The list is run when the scope's function returns
/// or panics. If a destructor panics, the others still run; a second panic meanwhile aborts the
/// program, as everywhere in Rust.
///
/// While a nested scope is open, the outer scope cannot be used, but its values can. Stacks that are
/// independent of each other share a region through [`Linear::region`].
///
/// Source: Chris Brough's article on allocators, "Scope Stack Allocator", and its finalizers.
///
/// # Cost
/// A plain value costs the same as in [`Linear`](super::Linear). A value with a destructor costs
/// two more words and an indirect call at the end. In a [`ScopeBox`] it costs no more than a plain
/// one: its owner keeps a pointer, and drops it. A scope costs almost nothing: it copies two
/// pointers.
///
/// # Examples
/// ```
/// use drystone_memory::{Region, ScopeStack};
///
/// let mut stack = ScopeStack::new(Region::heap(4096)?);
/// let length = stack.scope(|scope| {
///     let words = scope.alloc(vec!["dropped", "last"])?;
///     scope.scope(|inner| {
///         let more = inner.alloc(vec![String::from("dropped first")])?;
///         words.push("still here");
///         Ok::<_, drystone_memory::Error>(words.len() + more.len())
///     })
/// })?;
/// assert_eq!(length, 4);
/// # Ok::<(), drystone_memory::Error>(())
/// ```
#[doc(alias = "arena")]
pub struct ScopeStack<'m> {
    memory: Linear<'m>,
}

impl<'m> ScopeStack<'m> {
    /// Creates a stack of the whole region, all free.
    pub const fn new(region: Region<'m>) -> Self {
        Self { memory: Linear::new(region) }
    }

    /// Opens a scope, calls `run` with it, and ends the scope.
    #[inline]
    pub fn scope<'p, R>(&'p mut self, run: impl for<'s> FnOnce(&mut Scope<'s, 'p>) -> R) -> R {
        let (bump, highest) = self.memory.parts();
        run(&mut Scope::within(bump, highest))
    }

    /// Capacity, in bytes.
    pub const fn capacity(&self) -> usize {
        self.memory.capacity()
    }

    /// Largest number of bytes that ended scopes ever used at once.
    pub fn high_water(&self) -> usize {
        self.memory.high_water()
    }
}

impl fmt::Debug for ScopeStack<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (high_water, capacity) = (self.high_water(), self.capacity());
        let mut out = f.debug_struct("ScopeStack");
        out.field("high_water", &high_water).field("capacity", &capacity).finish()
    }
}

/// Open scope of a [`ScopeStack`]. It ends when the function that received it returns.
///
/// `'s` lasts from the opening of the scope to the first destructor: references into the scope are
/// valid for `'s`. `'p` is longer and lasts to the end of the last destructor. A value with a
/// destructor may only borrow data that lives for `'p`. It can refer to values of outer scopes, but
/// not to values of its own scope, which may already be dropped. Both lifetimes are invariant and
/// inferred by the compiler.
///
/// With the feature `allocator-api2`, `&Scope` implements `Allocator` for vectors and maps that are
/// dropped before the scope ends.
// The order of the fields matters for the same reason as in `Bump`.
#[repr(C)]
pub struct Scope<'s, 'p: 's> {
    /// Free memory of this scope. The outer scope cannot allocate meanwhile.
    bump: Bump,
    finalizers: Chain,
    /// High-water mark of the stack.
    highest: &'p HighWaterMark,
    /// Invariant: a `&Scope` with a shorter `'p` would accept values whose borrows end before they
    /// are dropped.
    lifetimes: PhantomData<(Cell<&'s ()>, Cell<&'p ()>)>,
}

// The references point into the memory, not to fields: two calls never return the same bytes.
#[allow(clippy::mut_from_ref)]
impl<'s, 'p> Scope<'s, 'p> {
    #[inline]
    fn within(outer: &'p Bump, highest: &'p HighWaterMark) -> Self {
        // SAFETY: the outer allocator is borrowed mutably for `'p`, which is longer than any block
        // of this scope is in use.
        let bump = unsafe { outer.fork() };
        Self { bump, finalizers: Chain::new(), highest, lifetimes: PhantomData }
    }

    /// Opens a nested scope, calls `run` with it, and ends it. Meanwhile this scope cannot
    /// allocate, but its values stay accessible.
    #[inline]
    pub fn scope<'q, R>(&'q mut self, run: impl for<'c> FnOnce(&mut Scope<'c, 'q>) -> R) -> R {
        run(&mut Scope::within(&self.bump, self.highest))
    }

    /// Allocates a value. If its type needs dropping, it is dropped at the end of the scope.
    ///
    /// # Errors
    /// `Full` if the value does not fit. The value is dropped at once.
    #[inline]
    pub fn alloc<T: 'p>(&self, value: T) -> Result<&'s mut T, Error> {
        self.alloc_with(|| value)
    }

    /// Allocates a value that `make` returns. The value is constructed in place. If `make` panics,
    /// nothing is dropped.
    ///
    /// # Errors
    /// `Full` if the value does not fit. `make` is not called then.
    #[inline]
    pub fn alloc_with<T: 'p>(&self, make: impl FnOnce() -> T) -> Result<&'s mut T, Error> {
        // SAFETY: the memory belongs to this scope, which is borrowed by the value. After the scope
        // has ended the value is only dropped; it lives for `'p`.
        unsafe { self.finalizers.alloc_with(&self.bump, make) }
    }

    /// Allocates a value that its [`ScopeBox`] drops, not the scope: faster for a type that needs
    /// dropping, because the value has no finalizer. The value may refer to data of the same scope.
    ///
    /// # Errors
    /// `Full` if the value does not fit. The value is dropped at once.
    ///
    /// # Examples
    /// ```
    /// use drystone_memory::{Region, ScopeStack};
    ///
    /// let mut stack = ScopeStack::new(Region::heap(4096)?);
    /// stack.scope(|scope| {
    ///     let path = scope.alloc_box(String::from("a/b"))?;
    ///     let parts = scope.alloc_box(path.split('/').collect::<Vec<_>>())?;
    ///     assert_eq!(parts.len(), 2);
    ///     Ok::<_, drystone_memory::Error>(())
    /// })?;
    /// # Ok::<(), drystone_memory::Error>(())
    /// ```
    /// A box cannot leave its scope:
    /// ```compile_fail
    /// # use drystone_memory::{Region, ScopeStack};
    /// # let mut stack = ScopeStack::new(Region::heap(4096).unwrap());
    /// let escaped = stack.scope(|scope| scope.alloc_box(1).unwrap());
    /// ```
    #[inline]
    pub fn alloc_box<T>(&self, value: T) -> Result<ScopeBox<'s, T>, Error> {
        let target = typed::allocate_for::<T>(&self.bump)?;
        // SAFETY: the target is aligned, of the right size, and used only by the box until the
        // scope ends.
        unsafe {
            target.write(value);
            Ok(ScopeBox::new(target))
        }
    }

    /// Allocates plain data. Unlike in [`alloc`](Self::alloc), the value may refer to data of the
    /// same scope, as needed for lists and trees. Therefore types that need dropping are rejected.
    ///
    /// # Errors
    /// `Full` if the value does not fit.
    ///
    /// # Examples
    /// ```
    /// # use drystone_memory::{Region, ScopeStack};
    /// struct Node<'s>(u32, Option<&'s Node<'s>>);
    ///
    /// let mut stack = ScopeStack::new(Region::heap(4096)?);
    /// stack.scope(|scope| {
    ///     let leaf = scope.alloc_plain(Node(1, None))?;
    ///     let root = scope.alloc_plain(Node(2, Some(leaf)))?;
    ///     assert_eq!(root.1.map(|leaf| leaf.0), Some(1));
    ///     Ok::<_, drystone_memory::Error>(())
    /// })?;
    /// # Ok::<(), drystone_memory::Error>(())
    /// ```
    /// A type with a destructor is a compile-time error:
    /// ```compile_fail
    /// # use drystone_memory::{Region, ScopeStack};
    /// # let mut stack = ScopeStack::new(Region::heap(4096).unwrap());
    /// stack.scope(|scope| scope.alloc_plain(String::new()).is_ok());
    /// ```
    #[inline]
    pub fn alloc_plain<T>(&self, value: T) -> Result<&'s mut T, Error> {
        const { assert!(!core::mem::needs_drop::<T>(), "the type needs dropping: use `alloc`") };
        let target = typed::allocate_for::<T>(&self.bump)?;
        // SAFETY: the target is aligned, of the right size, and used only here.
        Ok(unsafe { typed::write(target, || value) })
    }

    /// Allocates a copy of a slice.
    ///
    /// # Errors
    /// `Full` if the slice does not fit.
    #[inline]
    pub fn alloc_slice<T: Copy>(&self, values: &[T]) -> Result<&'s mut [T], Error> {
        let copy: *mut [T] = typed::copy_slice(&self.bump, values)?;
        // SAFETY: the bytes belong to this slice until the scope ends, not just for this call.
        Ok(unsafe { &mut *copy })
    }

    /// Allocates a slice of `len` values, where `make` returns the value of each index. The values
    /// are dropped from the first to the last, as in an array. If `make` panics, only the values
    /// made before are dropped.
    ///
    /// # Errors
    /// `Full` if the slice does not fit, `InvalidSize` if it exceeds the address space. `make` is
    /// not called then.
    #[inline]
    pub fn alloc_slice_with<T: 'p>(
        &self,
        len: usize,
        make: impl FnMut(usize) -> T,
    ) -> Result<&'s mut [T], Error> {
        // SAFETY: as in `alloc_with`, for each of the values.
        unsafe { self.finalizers.alloc_slice_with(&self.bump, len, make) }
    }

    /// Allocates a copy of a string.
    ///
    /// # Errors
    /// `Full` if the string does not fit.
    #[inline]
    pub fn alloc_str(&self, text: &str) -> Result<&'s mut str, Error> {
        let copy: *mut str = typed::copy_str(&self.bump, text)?;
        // SAFETY: the bytes belong to this string until the scope ends, not just for this call.
        Ok(unsafe { &mut *copy })
    }

    /// Allocates a block of uninitialized bytes that is valid until the scope ends. The address of
    /// a block of 0 bytes is arbitrary but aligned.
    ///
    /// # Errors
    /// `Full` if the block does not fit.
    #[inline]
    pub fn allocate(&self, layout: Layout) -> Result<NonNull<u8>, Error> {
        self.bump.allocate(layout)
    }

    /// Number of bytes allocated by this scope, including the padding between them.
    #[inline]
    pub fn used(&self) -> usize {
        self.bump.used()
    }

    /// Number of free bytes.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.bump.remaining()
    }

    #[cfg(feature = "allocator-api2")]
    #[inline]
    pub(super) const fn parts(&self) -> (&Bump, &HighWaterMark) {
        (&self.bump, self.highest)
    }
}

impl Drop for Scope<'_, '_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: nothing that `'s` limits is used any more: the function that this scope was lent
        // to has ended. The data that the values borrow lives for `'p`, which has not ended.
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
