//! Allocation of values, slices and strings from a [`Bump`].

// The references point into the memory, not to fields: two calls never return the same bytes.
#![allow(clippy::mut_from_ref)]

use core::alloc::Layout;
use core::ptr::NonNull;

use super::bump::Bump;
use crate::Error;

/// Allocates memory for one value. The pointer is dangling if the type has 0 bytes.
#[inline]
pub(super) fn allocate_for<T>(bump: &Bump) -> Result<NonNull<T>, Error> {
    match size_of::<T>() {
        0 => Ok(NonNull::dangling()),
        _ => Ok(bump.allocate_multiple(Layout::new::<T>())?.cast()),
    }
}

/// Calls `make` and writes the result to `target`. Because the call is inside this function, the
/// compiler lets `make` write to `target` directly.
///
/// # Safety
/// - `target` is valid for writes of a `T`, aligned, and nothing else uses it for `'a`.
#[inline(always)]
pub(super) unsafe fn write<'a, T>(target: NonNull<T>, make: impl FnOnce() -> T) -> &'a mut T {
    // SAFETY: guaranteed by the caller.
    unsafe {
        target.write(make());
        &mut *target.as_ptr()
    }
}

/// Allocates a slice of `len` values, where `make` returns the value of each index.
#[inline]
pub(super) fn slice_with<T>(
    bump: &Bump,
    len: usize,
    mut make: impl FnMut(usize) -> T,
) -> Result<&mut [T], Error> {
    let layout = Layout::array::<T>(len).map_err(|_| Error::InvalidSize)?;
    let target = bump.allocate_multiple(layout)?.cast::<T>();
    for index in 0..len {
        // SAFETY: the target has space for `len` values.
        unsafe { target.add(index).write(make(index)) }
    }
    // SAFETY: all of them are written, and nothing else has this memory.
    Ok(unsafe { NonNull::slice_from_raw_parts(target, len).as_mut() })
}

/// Allocates a copy of a slice.
#[inline]
pub(super) fn copy_slice<'b, T: Copy>(bump: &'b Bump, from: &[T]) -> Result<&'b mut [T], Error> {
    // A slice always has a valid layout, so no check is needed.
    let target = bump.allocate_multiple(Layout::for_value(from))?.cast::<T>();
    // SAFETY: the target has space for this number of values, and is new: it does not overlap.
    unsafe {
        target.copy_from_nonoverlapping(NonNull::from(from).cast(), from.len());
        Ok(NonNull::slice_from_raw_parts(target, from.len()).as_mut())
    }
}

/// Allocates a copy of a string.
#[inline]
pub(super) fn copy_str<'b>(bump: &'b Bump, from: &str) -> Result<&'b mut str, Error> {
    let bytes = copy_slice(bump, from.as_bytes())?;
    // SAFETY: these are the bytes of a string.
    Ok(unsafe { core::str::from_utf8_unchecked_mut(bytes) })
}
