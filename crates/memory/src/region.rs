use core::alloc::Layout;
use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use crate::{Error, MemorySource};

/// Memory that belongs to one allocator: lent by the caller for `'m`, or allocated from a
/// [`MemorySource`] and freed when the region is dropped.
///
/// ```text
///  start                              start + size_bytes
///  |<---------- -- uninitialized bytes -- ---------->|
/// ```
///
/// A region only stores the address and the size. It never reads or writes the memory.
///
/// # Examples
/// ```
/// use core::mem::MaybeUninit;
/// use drystone_memory::Region;
///
/// let mut bytes = [MaybeUninit::uninit(); 4096];
/// assert_eq!(Region::new(&mut bytes).size_bytes(), 4096);
/// ```
pub struct Region<'m> {
    start: NonNull<u8>,
    layout: Layout,
    /// Source that the memory is returned to; `None` for memory lent by the caller.
    source: Option<&'m dyn MemorySource>,
    memory: PhantomData<&'m mut [MaybeUninit<u8>]>,
}

impl<'m> Region<'m> {
    /// Wraps memory lent by the caller, of any size (also zero) and any alignment.
    pub const fn new(memory: &'m mut [MaybeUninit<u8>]) -> Self {
        let size_bytes = memory.len();
        let start = match NonNull::new(memory.as_mut_ptr().cast::<u8>()) {
            Some(start) => start,
            None => NonNull::dangling(),
        };
        let layout = match Layout::from_size_align(size_bytes, 1) {
            Ok(layout) => layout,
            // Unreachable: a slice is never larger than the maximum layout.
            Err(_) => Layout::new::<()>(),
        };
        Self { start, layout, source: None, memory: PhantomData }
    }

    /// Allocates memory from a source. It is freed when the region is dropped.
    ///
    /// # Errors
    /// `Full` if the source cannot allocate the block.
    pub fn from_source(source: &'m dyn MemorySource, layout: Layout) -> Result<Self, Error> {
        if layout.size() == 0 {
            let start = NonNull::dangling();
            return Ok(Self { start, layout, source: None, memory: PhantomData });
        }
        let start = source.allocate(layout).ok_or(Error::full(layout.size()))?;
        Ok(Self { start, layout, source: Some(source), memory: PhantomData })
    }

    /// Returns the address of the first byte.
    pub const fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Size of the region, in bytes.
    pub const fn size_bytes(&self) -> usize {
        self.layout.size()
    }
}

#[cfg(feature = "alloc")]
impl Region<'static> {
    /// Allocates memory from the heap, aligned to a page of 4,096 bytes.
    ///
    /// # Errors
    /// `InvalidSize` if the size exceeds the address space, `Full` if the heap is out of memory.
    pub fn heap(size_bytes: usize) -> Result<Self, Error> {
        const PAGE_BYTES: usize = 4096;
        let layout = Layout::from_size_align(size_bytes, PAGE_BYTES);
        Self::from_source(&crate::Heap, layout.map_err(|_| Error::InvalidSize)?)
    }
}

impl Drop for Region<'_> {
    fn drop(&mut self) {
        if let Some(source) = self.source {
            // SAFETY: the block came from this source with this layout, and the region, which is
            // neither `Copy` nor `Clone`, frees it only here.
            unsafe { source.free(self.start, self.layout) }
        }
    }
}

// SAFETY: a region owns its memory, or borrows it exclusively like a `&mut [u8]`; it has no
// thread-specific state. Sources are `Sync`.
unsafe impl Send for Region<'_> {}
// SAFETY: a shared region exposes only its address and its size.
unsafe impl Sync for Region<'_> {}

impl fmt::Debug for Region<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (start, size_bytes) = (self.start, self.layout.size());
        f.debug_struct("Region").field("start", &start).field("size_bytes", &size_bytes).finish()
    }
}

/// Returns the address of a block of 0 bytes: dangling, but aligned.
pub(crate) const fn dangling(layout: Layout) -> NonNull<u8> {
    let address = core::ptr::without_provenance_mut(layout.align());
    match NonNull::new(address) {
        Some(address) => address,
        // Unreachable: an alignment is never zero.
        None => NonNull::dangling(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_has_the_size_of_the_lent_memory() {
        let mut bytes = [MaybeUninit::uninit(); 7];
        let start = bytes.as_ptr().cast::<u8>();
        let region = Region::new(&mut bytes);
        assert_eq!((region.start().as_ptr().cast_const(), region.size_bytes()), (start, 7));
        assert_eq!(Region::new(&mut []).size_bytes(), 0);
    }

    #[cfg(feature = "alloc")]
    #[test]
    fn heap_regions_are_page_aligned_and_refuse_impossible_sizes() {
        let region = Region::heap(100).unwrap();
        assert_eq!((region.start().as_ptr() as usize % 4096, region.size_bytes()), (0, 100));
        assert_eq!(Region::heap(0).unwrap().size_bytes(), 0);
        assert_eq!(Region::heap(usize::MAX).unwrap_err(), Error::InvalidSize);
        let max = isize::MAX as usize - 4095;
        assert!(
            matches!(Region::heap(max), Err(Error::Full { requested, .. }) if requested == max as u64)
        );
    }
}
