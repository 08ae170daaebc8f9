use core::alloc::Layout;
use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use super::MemorySource;
use crate::Error;

/// A stretch of memory that belongs to one allocator alone: lent by the caller for `'m`, or
/// asked of a [`MemorySource`] and given back when the region ends.
///
/// ```text
///  start                              start + size_bytes
///  |<---------- bytes, of unknown content ---------->|
/// ```
///
/// A region only says where the memory is; it never reads or writes it.
///
/// # Examples
/// ```
/// use core::mem::MaybeUninit;
/// use drystone_alloc::memory::Region;
///
/// let mut bytes = [MaybeUninit::uninit(); 4096];
/// assert_eq!(Region::new(&mut bytes).size_bytes(), 4096);
/// ```
pub struct Region<'m> {
    start: NonNull<u8>,
    layout: Layout,
    /// Who takes the memory back; the caller keeps what it lent.
    source: Option<&'m dyn MemorySource>,
    memory: PhantomData<&'m mut [MaybeUninit<u8>]>,
}

impl<'m> Region<'m> {
    /// Memory lent by the caller. It may be of any size, zero too, and of any alignment.
    pub const fn new(memory: &'m mut [MaybeUninit<u8>]) -> Self {
        let size_bytes = memory.len();
        let start = match NonNull::new(memory.as_mut_ptr().cast::<u8>()) {
            Some(start) => start,
            None => NonNull::dangling(),
        };
        let layout = match Layout::from_size_align(size_bytes, 1) {
            Ok(layout) => layout,
            // A slice is never larger than a layout may be.
            Err(_) => Layout::new::<()>(),
        };
        Self { start, layout, source: None, memory: PhantomData }
    }

    /// Memory from a source, which gets it back when the region ends.
    ///
    /// # Errors
    /// `Full` if the source has no such block.
    pub fn from_source(source: &'m dyn MemorySource, layout: Layout) -> Result<Self, Error> {
        if layout.size() == 0 {
            let start = NonNull::dangling();
            return Ok(Self { start, layout, source: None, memory: PhantomData });
        }
        let requested = layout.size() as u64;
        let full = Error::Full { requested, largest_free: 0, total_free: 0 };
        let start = source.allocate(layout).ok_or(full)?;
        Ok(Self { start, layout, source: Some(source), memory: PhantomData })
    }

    /// Address of the first byte.
    pub const fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Number of bytes.
    pub const fn size_bytes(&self) -> usize {
        self.layout.size()
    }
}

#[cfg(feature = "alloc")]
impl Region<'static> {
    /// Memory from the heap, at the start of a page.
    ///
    /// # Errors
    /// `InvalidSize` if the size is larger than any memory, `Full` if there is none left.
    pub fn heap(size_bytes: usize) -> Result<Self, Error> {
        const PAGE_BYTES: usize = 4096;
        let layout = Layout::from_size_align(size_bytes, PAGE_BYTES);
        Self::from_source(&super::Heap, layout.map_err(|_| Error::InvalidSize)?)
    }
}

impl Drop for Region<'_> {
    fn drop(&mut self) {
        if let Some(source) = self.source {
            // SAFETY: the block came from this source with this layout, and the region, which
            // is neither `Copy` nor `Clone`, gives it back only here.
            unsafe { source.free(self.start, self.layout) }
        }
    }
}

// SAFETY: a region owns its memory, or borrows it exclusively, as a `&mut [u8]` would; it
// holds no thread's state. Sources are `Sync`.
unsafe impl Send for Region<'_> {}
// SAFETY: a shared region gives nothing but its address and its size.
unsafe impl Sync for Region<'_> {}

impl fmt::Debug for Region<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (start, size_bytes) = (self.start, self.layout.size());
        f.debug_struct("Region").field("start", &start).field("size_bytes", &size_bytes).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lent_memory_is_as_large_as_it_was() {
        let mut bytes = [MaybeUninit::uninit(); 7];
        let start = bytes.as_ptr().cast::<u8>();
        let region = Region::new(&mut bytes);
        assert_eq!((region.start().as_ptr().cast_const(), region.size_bytes()), (start, 7));
        assert_eq!(Region::new(&mut []).size_bytes(), 0);
    }

    #[cfg(feature = "alloc")]
    #[test]
    fn the_heap_gives_pages_and_says_when_it_cannot() {
        let region = Region::heap(100).unwrap();
        assert_eq!((region.start().as_ptr() as usize % 4096, region.size_bytes()), (0, 100));
        assert_eq!(Region::heap(0).unwrap().size_bytes(), 0);
        assert_eq!(Region::heap(usize::MAX).unwrap_err(), Error::InvalidSize);
        let most = isize::MAX as usize - 4095;
        assert!(
            matches!(Region::heap(most), Err(Error::Full { requested, .. }) if requested == most as u64)
        );
    }
}
