use core::fmt;
use core::ptr::NonNull;

/// The only handle to an array in [`SizeLists`](super::SizeLists).
#[must_use = "the array stays until it is removed"]
pub struct List<T> {
    pub(super) start: NonNull<T>,
    pub(super) len: u32,
    /// Number of the allocator that it belongs to.
    pub(super) owner: u32,
}

impl<T> List<T> {
    /// Number of values of the array.
    #[inline]
    pub const fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether the array is empty.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

// SAFETY: a list owns its values.
unsafe impl<T: Send> Send for List<T> {}
// SAFETY: a shared list gives access to shared values only.
unsafe impl<T: Sync> Sync for List<T> {}

impl<T> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "List({} values of {})", self.len, self.owner)
    }
}
