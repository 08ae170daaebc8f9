//! Size classes for the document, proposed by a recorder.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::RefCell,
    ptr::NonNull,
};

use drystone_memory::{Heap, ProposalConfig, Recorder, SlotClass};

use super::{
    contenders::{BlockBytes, InProgram},
    document::Token,
    tree::Tree,
};

/// Requests that building the tree of a document makes.
pub(super) struct Statistics {
    /// All allocations, in order.
    pub(super) layouts: Vec<Layout>,
    /// Proposed classes with their numbers of slots.
    pub(super) classes: Vec<SlotClass>,
}

/// Largest number of size classes. More classes save little.
const CLASSES: usize = 12;
/// Largest object of a size class, in bytes.
const LARGEST_BYTES: usize = 256;

/// Builds the tree once and records the requests.
pub(super) fn record(tokens: &[Token<'_>]) -> Result<Statistics, String> {
    let log = Log { recorder: Recorder::new(System, &Heap), layouts: RefCell::default() };
    let mut objects = InProgram(log);
    let tree = Tree::build(&mut objects, tokens).ok_or("out of memory")?;
    let config =
        ProposalConfig { classes: CLASSES, largest_bytes: LARGEST_BYTES, ..Default::default() };
    let proposal = objects.0.recorder.record().propose(&config);
    // SAFETY: the tree was built with this allocator.
    unsafe { tree.free(&mut objects) };
    Ok(Statistics { layouts: objects.0.layouts.into_inner(), classes: proposal.classes })
}

/// A recorder, together with the order of the requests, which it does not store.
struct Log {
    recorder: Recorder<System>,
    layouts: RefCell<Vec<Layout>>,
}

// SAFETY: all calls go to the recorder.
unsafe impl GlobalAlloc for Log {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.layouts.borrow_mut().push(layout);
        // SAFETY: the caller guarantees it.
        unsafe { self.recorder.alloc(layout) }
    }
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller guarantees it.
        unsafe { self.recorder.dealloc(block, layout) }
    }
}

impl BlockBytes for Log {
    unsafe fn block_bytes(&self, object: NonNull<u8>) -> usize {
        // SAFETY: the caller guarantees it.
        unsafe { System.block_bytes(object) }
    }
}
