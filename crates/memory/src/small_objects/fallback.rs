use core::alloc::Layout;
use core::cell::Cell;
use core::mem;
use core::ptr::NonNull;

use crate::MemorySource;
use crate::debug_aids::{Leak, report_leak};
use crate::live_table::{Block, LiveTable};

/// Source of requests that no class can serve.
pub(super) struct Fallback<'m> {
    source: &'m dyn MemorySource,
    live: Live,
}

/// Live blocks of the source.
enum Live {
    /// A pointer that is no live block is recognized, and never passed to the source, which also
    /// provides the memory of the table.
    Recorded(Cell<LiveTable<Block>>),
    /// Every pointer is passed to the source.
    Counted(Cell<usize>),
}

impl<'m> Fallback<'m> {
    pub(super) const fn recorded(source: &'m dyn MemorySource) -> Self {
        Self { source, live: Live::Recorded(Cell::new(LiveTable::new())) }
    }

    /// # Safety
    /// - Only live blocks of this fallback are passed to its functions, with their layouts.
    pub(super) const unsafe fn counted(source: &'m dyn MemorySource) -> Self {
        Self { source, live: Live::Counted(Cell::new(0)) }
    }

    /// Allocates a block. `None` if the source has no memory for it or for its record.
    pub(super) fn allocate(&self, layout: Layout) -> Option<NonNull<u8>> {
        let block = self.source.allocate(layout)?;
        // SAFETY: the source lives for `'m`, longer than `self`, which owns the table. A table with
        // a shorter lifetime would make that of this type invariant.
        let source = unsafe { mem::transmute::<&'m dyn MemorySource, &'static _>(self.source) };
        let is_recorded = match &self.live {
            Live::Counted(count) => {
                count.set(count.get() + 1);
                true
            }
            Live::Recorded(table) => {
                with(table, |live| live.insert(source, Block::new(block, layout)))
            }
        };
        if !is_recorded {
            // SAFETY: it was just allocated with this layout, and nothing else uses it.
            unsafe { self.source.free(block, layout) };
            return None;
        }
        Some(block)
    }

    /// Frees a block. Returns `false` if blocks are recorded and none with this address and layout
    /// is live.
    ///
    /// # Safety
    /// - If such a block is live, nothing uses it any more.
    pub(super) unsafe fn free(&self, object: NonNull<u8>, layout: Layout) -> bool {
        let is_live = match &self.live {
            Live::Counted(count) => {
                count.set(count.get().saturating_sub(1));
                true
            }
            Live::Recorded(table) => {
                let block = Block::new(object, layout);
                with(table, |live| live.remove_if(block.address, |it| *it == block)).is_some()
            }
        };
        if is_live {
            // SAFETY: the block came from the source with this layout and was live: this is
            // recorded, or guaranteed by the creator. The caller guarantees that nothing uses it.
            unsafe { self.source.free(object, layout) };
        }
        is_live
    }

    /// Whether a block with this address and layout is live. True for every address if blocks are
    /// not recorded.
    pub(super) fn is_live(&self, object: NonNull<u8>, layout: Layout) -> bool {
        let block = Block::new(object, layout);
        match &self.live {
            Live::Counted(_) => true,
            Live::Recorded(table) => with(table, |live| live.get(block.address)) == Some(block),
        }
    }

    /// Number of live blocks.
    pub(super) fn live_count(&self) -> usize {
        match &self.live {
            Live::Counted(count) => count.get(),
            Live::Recorded(table) => with(table, |live| live.len()),
        }
    }
}

fn with<R>(table: &Cell<LiveTable<Block>>, run: impl FnOnce(&mut LiveTable<Block>) -> R) -> R {
    let mut live = table.replace(LiveTable::new());
    let result = run(&mut live);
    table.set(live);
    result
}

impl Drop for Fallback<'_> {
    fn drop(&mut self) {
        if let Live::Recorded(table) = &mut self.live {
            let sizes = table.get_mut().iter_mut().map(|block| block.size_bytes as usize);
            report_leak(|| Leak::of("fallback of SmallObjects", sizes));
        }
    }
}
