use core::fmt;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;

/// Owning pointer to a value in a [`Scope`](super::Scope), one word. Dropping the box drops the
/// value; the box cannot outlive the scope.
///
/// The value needs no finalizer. In exchange its owner decides when it is dropped: a box that is
/// leaked (`mem::forget`) never drops its value, and a box that is moved elsewhere drops it there.
/// The memory is freed at the end of the scope.
pub struct ScopeBox<'s, T> {
    value: NonNull<T>,
    /// Owns a `T`, which is in memory that is valid for `'s`.
    owned: PhantomData<(&'s (), T)>,
}

impl<'s, T> ScopeBox<'s, T> {
    /// # Safety
    /// - There is a value, and its memory is valid for `'s`. Nothing else uses it meanwhile.
    #[inline]
    pub(super) unsafe fn new(value: NonNull<T>) -> Self {
        Self { value, owned: PhantomData }
    }

    /// Moves the value out of the box. The memory stays allocated until the scope ends.
    #[inline]
    pub fn into_inner(self) -> T {
        // SAFETY: the box owns the value, and is not dropped, so the value moves out of it once.
        unsafe { ManuallyDrop::new(self).value.read() }
    }

    /// Returns the value for as long as the scope lasts. Its destructor never runs.
    #[inline]
    pub fn leak(self) -> &'s mut T
    where
        T: 's,
    {
        // SAFETY: the box was the only owner and no longer exists; the memory is valid for `'s`.
        unsafe { ManuallyDrop::new(self).value.as_mut() }
    }
}

impl<T> Drop for ScopeBox<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the box owns the value, and is not used again.
        unsafe { self.value.drop_in_place() }
    }
}

impl<T> Deref for ScopeBox<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the box owns the value, which lives as long.
        unsafe { self.value.as_ref() }
    }
}

impl<T> DerefMut for ScopeBox<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the box owns the value, which lives as long.
        unsafe { self.value.as_mut() }
    }
}

impl<T: fmt::Debug> fmt::Debug for ScopeBox<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

// SAFETY: the box is a unique owner of its value, as `Box` is. Dropping it does not access the scope.
unsafe impl<T: Send> Send for ScopeBox<'_, T> {}

// SAFETY: a shared box gives out only shared references to the value.
unsafe impl<T: Sync> Sync for ScopeBox<'_, T> {}
