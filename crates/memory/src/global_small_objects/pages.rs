//! Address space that the system fills with pages when they are first used.

use core::ptr::{self, NonNull};

use rustix::mm::{self, MapFlags, ProtFlags};

/// Returns the size of a page, a power of two.
pub(super) fn page_bytes() -> usize {
    rustix::param::page_size()
}

/// Reserves zeroed memory that starts with a page, for the rest of the program. `None` if the system
/// does not have so much address space and `spare_bytes` more, or limits it.
pub(super) fn reserve(size_bytes: usize, spare_bytes: usize) -> Option<NonNull<u8>> {
    let access = ProtFlags::READ | ProtFlags::WRITE;
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
    let size_bytes = size_bytes.checked_next_multiple_of(page_bytes())?;
    let all_bytes = size_bytes.checked_add(spare_bytes)?;
    // SAFETY: a new mapping at an address that the system chooses affects no other memory.
    let memory = unsafe { mm::mmap_anonymous(ptr::null_mut(), all_bytes, access, flags) }.ok()?;
    if spare_bytes > 0 {
        // SAFETY: these pages are in the new mapping, and nothing has used them. If they stay, they are
        // only address space.
        let _ = unsafe { mm::munmap(memory.wrapping_byte_add(size_bytes), spare_bytes) };
    }
    NonNull::new(memory.cast())
}

/// Returns pages to the system. Their content is lost: they have zeros when they are used again.
/// Returns whether the system took them.
///
/// # Safety
/// - The pages are whole ones in memory of [`reserve`], and no thread accesses them meanwhile.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) unsafe fn release(start: NonNull<u8>, size_bytes: usize) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe { mm::madvise(start.as_ptr().cast(), size_bytes, mm::Advice::LinuxDontNeed) }.is_ok()
}

/// Returns pages to the system, which replaces them with new ones. Returns whether it did.
///
/// # Safety
/// - The pages are whole ones in memory of [`reserve`], and no thread accesses them meanwhile.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) unsafe fn release(start: NonNull<u8>, size_bytes: usize) -> bool {
    let access = ProtFlags::READ | ProtFlags::WRITE;
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED;
    // SAFETY: guaranteed by the caller: replaces only pages of the reserved memory.
    unsafe { mm::mmap_anonymous(start.as_ptr().cast(), size_bytes, access, flags) }.is_ok()
}
