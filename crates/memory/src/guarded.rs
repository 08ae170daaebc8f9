use core::alloc::{GlobalAlloc, Layout};
use core::fmt;
use core::ptr::{self, NonNull};

use crate::debug_aids::{Leak, fill_freed, fill_new, report};
use crate::live_table::{Block, LiveTable};
use crate::spin_lock::SpinLock;
use crate::{Fault, MemorySource};

#[cfg(feature = "allocator-api2")]
mod collections;
#[cfg(test)]
mod tests;

/// Number of bytes that [`Guarded`] adds behind each block. 0 without debug assertions.
pub const GUARD_BYTES: usize = if cfg!(debug_assertions) { 16 } else { 0 };

/// Content of guards, that of Microsoft's debug heap.
const GUARD: u8 = 0xFD;

/// Wraps an allocator and detects misuse of its blocks: writes behind their end, double and foreign
/// frees, and leaks.
///
/// ```text
///  |<- size of the layout ->|<- GUARD_BYTES ->|
///  | CD CD CD CD CD CD CD CD | FD FD FD … FD FD|      after the allocation
///  | 07 00 00 00 21 00 00 00 | 65 FD FD … FD FD|      Overwritten: 0x65, 0 bytes behind the end
///  | DD DD DD DD DD DD DD DD | DD DD DD … DD DD|      after the free
/// ```
/// One wrapper serves all allocators: references to a `Linear`, `Stack`, `Scope`, `BlockPool`,
/// `SharedPool` or `SmallObjects`, and a `StackEnd`, by the trait of the feature `allocator-api2`; a
/// `GlobalSmallObjects` or `Recorder` as the global allocator; and sources of memory, such as
/// `Heap`, below a `Pool` or `SizeLists`.
///
/// Guards are checked when a block is freed, when the wrapper is dropped, and by
/// [`validate`](Self::validate). Blocks that are live when the wrapper is dropped are leaks. Faults
/// go to the handler of [`set_fault_handler`](crate::set_fault_handler). A block that is not live is
/// reported and not freed.
///
/// Allocators do not add guards by themselves: blocks would have other sizes in debug builds, and a
/// region that fits in one build would be full in the other. A wrapper costs where it is used. It is
/// in all builds with debug assertions; otherwise it only passes requests on.
///
/// # Cost
/// Without debug assertions no time, and less than 100 bytes for the wrapper. With them
/// `GUARD_BYTES` and 32 to 64 bytes of a hash table for each block, a lock for each call, and a copy
/// for each change of a block's size.
///
/// # Examples
/// ```
/// # #[cfg(feature = "allocator-api2")] {
/// use std::alloc::Layout;
/// use allocator_api2::{alloc::Allocator, vec::Vec};
/// use drystone_memory::{Guarded, Heap, Linear, Region};
///
/// let linear = Linear::new(Region::heap(4096)?);
/// let guarded = Guarded::new(&linear, &Heap);
/// let mut numbers = Vec::new_in(&guarded);
/// numbers.extend(0..10);
/// assert_eq!(guarded.validate(), Ok(()));
///
/// let layout = Layout::new::<[u8; 10]>();
/// if let Ok(block) = guarded.allocate(layout) {
///     // SAFETY: the byte is in the region, but not in the block.
///     unsafe { block.cast::<u8>().add(10).write(7) };
///     assert_eq!(guarded.validate().is_err(), cfg!(debug_assertions));
///     // SAFETY: it was allocated with this layout, and is not used any more.
///     unsafe { guarded.deallocate(block.cast(), layout) }; // Reports the byte.
/// }
/// # }
/// # Ok::<(), drystone_memory::Error>(())
/// ```
///
/// # Limits
/// Blocks are freed only through the wrapper. A write far behind the end, or in front of a block, is
/// detected only if it hits another guard.
pub struct Guarded<A> {
    allocator: A,
    live: SpinLock<LiveTable<Block>>,
    /// Source of memory for the table.
    source: &'static dyn MemorySource,
}

impl<A> Guarded<A> {
    /// Wraps an allocator. The table of live blocks is in memory of `source`, which must not be the
    /// wrapper itself.
    pub const fn new(allocator: A, source: &'static dyn MemorySource) -> Self {
        Self { allocator, live: SpinLock::new(LiveTable::new()), source }
    }

    /// Returns the wrapped allocator.
    pub const fn allocator(&self) -> &A {
        &self.allocator
    }

    /// Checks the guards of all live blocks.
    ///
    /// # Cost
    /// O(live blocks). Nothing without debug assertions.
    ///
    /// # Errors
    /// The first fault that is found.
    pub fn validate(&self) -> Result<(), Fault> {
        self.live.with(|live| live.iter_mut().try_for_each(|block| check(block)))
    }

    /// Allocates a block of `layout` and a guard, with functions of the wrapped allocator.
    #[inline]
    fn allocate_by(
        &self,
        layout: Layout,
        allocate: impl FnOnce(Layout) -> Option<NonNull<u8>>,
        free: impl FnOnce(NonNull<u8>, Layout),
    ) -> Option<NonNull<u8>> {
        if !is_guarded(layout) {
            return allocate(layout);
        }
        let guarded = with_guard(layout)?;
        let start = allocate(guarded)?;
        // `check` reaches the guard from the recorded address.
        start.as_ptr().expose_provenance();
        if !self.live.with(|live| live.insert(self.source, Block::new(start, layout))) {
            free(start, guarded);
            return None;
        }
        // SAFETY: the block is new, and as large as the layout and the guard.
        unsafe {
            fill_new(start, layout.size());
            start.add(layout.size()).write_bytes(GUARD, GUARD_BYTES);
        }
        Some(start)
    }

    /// Checks the guard of a block, and frees it with a function of the wrapped allocator. A block
    /// that is not live is reported and not freed.
    ///
    /// # Safety
    /// - If a block of this wrapper begins at `start`, nothing uses it any more.
    #[inline]
    unsafe fn free_by(
        &self,
        start: NonNull<u8>,
        layout: Layout,
        free: impl FnOnce(NonNull<u8>, Layout),
    ) {
        let (true, Some(guarded)) = (is_guarded(layout), with_guard(layout)) else {
            return free(start, layout);
        };
        let block = Block::new(start, layout);
        let remove = |live: &mut LiveTable<Block>| {
            live.remove_if(block.address, |it| *it == block)?;
            // Before another thread can get the same address.
            Some(check(&block).err())
        };
        match self.live.with(remove) {
            Some(overwritten) => {
                // Outside of the lock: the handler may allocate.
                overwritten.as_ref().inspect(|fault| report(fault));
                // SAFETY: the block was live, with its guard, and nothing uses it.
                unsafe { fill_freed(start, guarded.size()) };
                free(start, guarded);
            }
            None => report(&Fault::NotAllocated {
                address: start.addr().get(),
                size_bytes: layout.size(),
            }),
        }
    }
}

/// Whether blocks of a layout have a guard. Addresses of blocks of 0 bytes are not unique.
#[inline(always)]
const fn is_guarded(layout: Layout) -> bool {
    cfg!(debug_assertions) && layout.size() > 0
}

/// Returns the layout of a block with its guard. `None` if it exceeds the address space.
fn with_guard(layout: Layout) -> Option<Layout> {
    let size_bytes = layout.size().checked_add(GUARD_BYTES)?;
    Layout::from_size_align(size_bytes, layout.align()).ok()
}

/// Checks the guard of a live block.
fn check(block: &Block) -> Result<(), Fault> {
    let (address, size_bytes) = (block.address as usize, block.size_bytes as usize);
    let guard = ptr::with_exposed_provenance::<u8>(address + size_bytes);
    for bytes_behind in (0..).take(GUARD_BYTES) {
        // SAFETY: the block is live, so its guard is too. It was written when the block was
        // allocated, and its provenance exposed.
        let found = unsafe { guard.add(bytes_behind).read() };
        if found != GUARD {
            return Err(Fault::Overwritten { address, size_bytes, bytes_behind, found });
        }
    }
    Ok(())
}

impl<A> Drop for Guarded<A> {
    fn drop(&mut self) {
        // Outside of the lock: the handler may allocate.
        let mut live = self.live.with(|live| core::mem::replace(live, LiveTable::new()));
        for fault in live.iter_mut().filter_map(|block| check(block).err()) {
            report(&fault);
        }
        if live.len() > 0 {
            let sizes = live.iter_mut().map(|block| block.size_bytes as usize);
            report(&Fault::Leaked(Leak::of("Guarded", sizes)));
        }
    }
}

impl<A: fmt::Debug> fmt::Debug for Guarded<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guarded").field("allocator", &self.allocator).finish_non_exhaustive()
    }
}

// SAFETY: every block is the wrapped allocator's, with at least the caller's layout. A block is
// freed with the layout that it was allocated with. The wrapper does not unwind.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Guarded<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let block = self.allocate_by(
            layout,
            // SAFETY: the caller guarantees that the size is not zero.
            |layout| NonNull::new(unsafe { self.allocator.alloc(layout) }),
            // SAFETY: it was just allocated with this layout.
            |block, layout| unsafe { self.allocator.dealloc(block.as_ptr(), layout) },
        );
        block.map_or(ptr::null_mut(), NonNull::as_ptr)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let Some(start) = NonNull::new(block) else { return };
        // SAFETY: guaranteed by the caller; a block was allocated with this layout.
        unsafe {
            self.free_by(start, layout, |block, layout| {
                self.allocator.dealloc(block.as_ptr(), layout);
            });
        }
    }

    // With guards, these two use the trait's default: they allocate, copy and free.
    #[cfg(not(debug_assertions))]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: guaranteed by the caller.
        unsafe { self.allocator.alloc_zeroed(layout) }
    }

    #[cfg(not(debug_assertions))]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: guaranteed by the caller.
        unsafe { self.allocator.realloc(block, layout, new_size) }
    }
}

// SAFETY: blocks are the wrapped source's, which owns them when it is moved. Each is at least as
// large as its layout.
unsafe impl<S: MemorySource> MemorySource for Guarded<S> {
    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>> {
        self.allocate_by(
            layout,
            |layout| self.allocator.allocate(layout),
            // SAFETY: it was just allocated with this layout.
            |block, layout| unsafe { self.allocator.free(block, layout) },
        )
    }

    unsafe fn free(&self, block: NonNull<u8>, layout: Layout) {
        // SAFETY: guaranteed by the caller; a block was allocated with this layout.
        unsafe {
            self.free_by(block, layout, |block, layout| self.allocator.free(block, layout));
        }
    }
}
