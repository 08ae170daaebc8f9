use core::alloc::Layout;
use core::cell::Cell;
use core::mem;
use core::ptr::NonNull;

use crate::MemorySource;
use crate::debug_aids::{Leak, report_leak};
use crate::live_table::{Block, LiveTable};

/// Source of requests that no class can serve, and the blocks of it that are live. A pointer that
/// is no such block is thereby recognized, and never passed to the source.
pub(super) struct Fallback<'m> {
    source: &'m dyn MemorySource,
    /// Live blocks. The source provides the memory of the table.
    live: Cell<LiveTable<Block>>,
}

impl<'m> Fallback<'m> {
    pub(super) const fn new(source: &'m dyn MemorySource) -> Self {
        Self { source, live: Cell::new(LiveTable::new()) }
    }

    /// Allocates a block. `None` if the source has no memory for it or for its record.
    pub(super) fn allocate(&self, layout: Layout) -> Option<NonNull<u8>> {
        let block = self.source.allocate(layout)?;
        // SAFETY: the source lives for `'m`, longer than `self`, which owns the table. A table with
        // a shorter lifetime would make that of this type invariant.
        let source = unsafe { mem::transmute::<&'m dyn MemorySource, &'static _>(self.source) };
        if !self.with_live(|live| live.insert(source, Block::new(block, layout))) {
            // SAFETY: it was just allocated with this layout, and nothing else uses it.
            unsafe { self.source.free(block, layout) };
            return None;
        }
        Some(block)
    }

    /// Frees a block. Returns `false` if no block with this address and layout is live.
    ///
    /// # Safety
    /// - If such a block is live, nothing uses it any more.
    pub(super) unsafe fn free(&self, object: NonNull<u8>, layout: Layout) -> bool {
        let block = Block::new(object, layout);
        let removed = self.with_live(|live| live.remove_if(block.address, |it| *it == block));
        if removed.is_some() {
            // SAFETY: the block came from the source with this layout and was live. The caller
            // guarantees that nothing uses it.
            unsafe { self.source.free(object, layout) };
        }
        removed.is_some()
    }

    /// Whether a block with this address and layout is live.
    pub(super) fn is_live(&self, object: NonNull<u8>, layout: Layout) -> bool {
        let block = Block::new(object, layout);
        self.with_live(|live| live.get(block.address)) == Some(block)
    }

    /// Number of live blocks.
    pub(super) fn live_count(&self) -> usize {
        self.with_live(|live| live.len())
    }

    fn with_live<R>(&self, run: impl FnOnce(&mut LiveTable<Block>) -> R) -> R {
        let mut live = self.live.replace(LiveTable::new());
        let result = run(&mut live);
        self.live.set(live);
        result
    }
}

impl Drop for Fallback<'_> {
    fn drop(&mut self) {
        let sizes = self.live.get_mut().iter_mut().map(|block| block.size_bytes as usize);
        report_leak(|| Leak::of("fallback of SmallObjects", sizes));
    }
}
