//! Values, slices and strings in memory that is handed out from front to back.

// References to what lies in the memory, not to fields: two calls never give the same bytes.
#![allow(clippy::mut_from_ref)]

use core::alloc::Layout;
use core::ptr::NonNull;

use super::bump::Bump;
use crate::Error;

/// Room for one value; for one of no bytes, anywhere.
#[inline]
pub(super) fn place_for<T>(bump: &Bump) -> Result<NonNull<T>, Error> {
    match size_of::<T>() {
        0 => Ok(NonNull::dangling()),
        _ => Ok(bump.allocate_multiple(Layout::new::<T>())?.cast()),
    }
}

/// Room for `len` values, one after the other.
#[inline]
pub(super) fn place_for_slice<T>(bump: &Bump, len: usize) -> Result<NonNull<T>, Error> {
    let layout = Layout::array::<T>(len).map_err(|_| Error::InvalidSize)?;
    Ok(bump.allocate_multiple(layout)?.cast())
}

/// Calls `make` and writes what it makes to `place`. A function of its own, with the call in
/// it: so the compiler lets `make` write there directly.
///
/// # Safety
/// - `place` is valid for writes of a `T`, aligned, and nobody else's for `'a`.
#[inline(always)]
pub(super) unsafe fn write<'a, T>(place: NonNull<T>, make: impl FnOnce() -> T) -> &'a mut T {
    // SAFETY: as the caller says.
    unsafe {
        place.write(make());
        &mut *place.as_ptr()
    }
}

/// A copy of a slice.
#[inline]
pub(super) fn copy_slice<'b, T: Copy>(bump: &'b Bump, from: &[T]) -> Result<&'b mut [T], Error> {
    // As a slice it has a layout, which therefore needs no check.
    let place = bump.allocate_multiple(Layout::for_value(from))?.cast::<T>();
    // SAFETY: the place has room for as many values, and is new: it does not overlap.
    unsafe {
        place.copy_from_nonoverlapping(NonNull::from(from).cast(), from.len());
        Ok(NonNull::slice_from_raw_parts(place, from.len()).as_mut())
    }
}

/// A copy of a string.
#[inline]
pub(super) fn copy_str<'b>(bump: &'b Bump, from: &str) -> Result<&'b mut str, Error> {
    let bytes = copy_slice(bump, from.as_bytes())?;
    // SAFETY: they are the bytes of a string.
    Ok(unsafe { core::str::from_utf8_unchecked_mut(bytes) })
}
