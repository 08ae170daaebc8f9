//! Size classes for the document, proposed by a recorder.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    ptr::NonNull,
};

use drystone_memory::{Heap, ProposalConfig, Recorder, SlotClass};

use super::{
    document::Token,
    tree::{Objects, Tree},
};

/// Largest number of size classes. More classes save little.
const CLASSES: usize = 12;
/// Largest size in a class, in bytes. Larger blocks are few.
const LARGEST_BYTES: usize = 256;

/// Requests that building the tree of a document makes.
pub(super) struct Statistics {
    /// All allocations, in order.
    pub(super) layouts: Vec<Layout>,
    /// Proposed classes with their numbers of slots.
    pub(super) classes: Vec<SlotClass>,
}

/// Builds the tree once and records the requests.
pub(super) fn record(tokens: &[Token<'_>]) -> Result<Statistics, &'static str> {
    let mut log = Log { recorder: Recorder::new(System, &Heap), layouts: Vec::new() };
    let tree = Tree::build(&mut log, tokens.iter().copied()).ok_or("out of memory")?;
    let classes = propose(&log.recorder);
    // SAFETY: the tree was built with this allocator.
    unsafe { tree.free(&mut log) };
    Ok(Statistics { layouts: log.layouts, classes })
}

/// Returns the classes that a recorder proposes.
pub(super) fn propose(recorder: &Recorder<System>) -> Vec<SlotClass> {
    let config =
        ProposalConfig { classes: CLASSES, largest_bytes: LARGEST_BYTES, ..Default::default() };
    recorder.record().propose(&config).classes
}

/// A recorder, together with the order of the requests, which it does not store.
struct Log {
    recorder: Recorder<System>,
    layouts: Vec<Layout>,
}

// SAFETY: all calls go to the recorder.
unsafe impl Objects for Log {
    unsafe fn allocate(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        self.layouts.push(layout);
        // SAFETY: the caller guarantees that the layout is not empty.
        NonNull::new(unsafe { self.recorder.alloc(layout) })
    }
    unsafe fn free(&mut self, object: NonNull<u8>, layout: Layout) -> bool {
        // SAFETY: the caller guarantees it.
        unsafe { self.recorder.dealloc(object.as_ptr(), layout) };
        true
    }
}
