use std::alloc::Layout;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use drystone_memory::{Heap, MemorySource};

/// The heap with a limit, and a counter of the blocks that are not freed.
pub(crate) struct Counting {
    used_bytes: AtomicUsize,
    limit_bytes: usize,
}

impl Counting {
    pub(crate) fn new(limit_bytes: usize) -> Self {
        Self { used_bytes: AtomicUsize::new(0), limit_bytes }
    }

    pub(crate) fn used_bytes(&self) -> usize {
        self.used_bytes.load(Ordering::Relaxed)
    }
}

// SAFETY: every block is the heap's; a refused request is `None`.
unsafe impl MemorySource for Counting {
    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>> {
        // A strict alignment needs memory too.
        if self.used_bytes() + layout.size().max(layout.align()) > self.limit_bytes {
            return None;
        }
        let block = Heap.allocate(layout)?;
        self.used_bytes.fetch_add(layout.size(), Ordering::Relaxed);
        Some(block)
    }

    unsafe fn free(&self, block: NonNull<u8>, layout: Layout) {
        self.used_bytes.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: guaranteed by the caller: it came from the heap with this layout.
        unsafe { Heap.free(block, layout) }
    }
}
