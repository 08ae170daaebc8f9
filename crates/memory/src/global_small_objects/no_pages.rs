//! A system whose pages the crate does not know: no area grows.

use core::ptr::NonNull;

pub(super) fn page_bytes() -> usize {
    1
}

pub(super) fn reserve(_size_bytes: usize, _spare_bytes: usize) -> Option<NonNull<u8>> {
    None
}

/// # Safety
/// - None: it does nothing.
pub(super) unsafe fn release(_start: NonNull<u8>, _size_bytes: usize) -> bool {
    false
}
