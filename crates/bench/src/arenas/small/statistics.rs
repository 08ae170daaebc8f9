//! Size classes for the document, from a recorder.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::RefCell,
    ptr::NonNull,
};

use drystone_alloc::memory::{Heap, ProposalConfig, Recorder, SlotClass};

use super::{
    contenders::{BlockBytes, InProgram},
    document::Token,
    tree::Tree,
};

/// What building the tree of a document asks for.
pub(super) struct Statistics {
    /// Every allocation, in its order.
    pub(super) layouts: Vec<Layout>,
    /// Classes and numbers of slots that it suggests.
    pub(super) classes: Vec<SlotClass>,
}

/// Size classes: more than this saves nothing worth having.
const CLASSES: usize = 12;
/// Larger objects are none of ours.
const LARGEST_BYTES: usize = 256;

/// Builds the tree once and looks on.
pub(super) fn record(tokens: &[Token<'_>]) -> Result<Statistics, String> {
    let log = Log { recorder: Recorder::new(System, &Heap), layouts: RefCell::default() };
    let mut objects = InProgram(log);
    let tree = Tree::build(&mut objects, tokens).ok_or("no memory for the document")?;
    let config =
        ProposalConfig { classes: CLASSES, largest_bytes: LARGEST_BYTES, ..Default::default() };
    let proposal = objects.0.recorder.record().propose(&config);
    // SAFETY: the tree was built with this allocator.
    unsafe { tree.free(&mut objects) };
    Ok(Statistics { layouts: objects.0.layouts.into_inner(), classes: proposal.classes })
}

/// A recorder, which forgets the order, and the order.
struct Log {
    recorder: Recorder<System>,
    layouts: RefCell<Vec<Layout>>,
}

// SAFETY: all is the recorder's.
unsafe impl GlobalAlloc for Log {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.layouts.borrow_mut().push(layout);
        // SAFETY: the caller's promise.
        unsafe { self.recorder.alloc(layout) }
    }
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { self.recorder.dealloc(block, layout) }
    }
}

impl BlockBytes for Log {
    unsafe fn block_bytes(&self, object: NonNull<u8>) -> usize {
        // SAFETY: the caller's promise.
        unsafe { System.block_bytes(object) }
    }
}
