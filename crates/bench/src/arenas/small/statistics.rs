//! Size classes for the document, proposed by a recorder.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    ptr::NonNull,
};

use drystone_memory::{Heap, ProposalConfig, Record, Recorder, SlotClass, SmallObjectsConfig};

use super::{
    article::SLOT_BYTES,
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
    pub(super) classes: Classes,
}

/// Size classes with their numbers of slots, made of the same record.
pub(super) struct Classes {
    /// Classes that the recorder proposes.
    pub(super) proposed: Vec<SlotClass>,
    /// The slot sizes of the article, with the recorded numbers of objects and the same spare.
    pub(super) article: Vec<SlotClass>,
}

impl Classes {
    /// Creates the same class for all.
    pub(super) fn of_one_size(class: SlotClass) -> Self {
        Self { proposed: vec![class], article: vec![class] }
    }

    /// Replaces the slots of the article by those of drystone's default classes, which have its sizes,
    /// its 12,800 slots of 48 bytes and its 2 MB.
    pub(super) fn with_default_sections(&self) -> Self {
        let article = SmallObjectsConfig::default().classes.to_vec();
        Self { proposed: self.proposed.clone(), article }
    }

    pub(super) fn of(record: &Record) -> Self {
        let config =
            ProposalConfig::default().with_classes(CLASSES).with_largest_bytes(LARGEST_BYTES);
        let proposed = record.propose(&config).classes;
        let mut smaller = 0;
        let article = SLOT_BYTES.map(|slot_bytes| {
            let sizes = record.sizes().iter().filter(|line| {
                let size_bytes = line.size_bytes as usize;
                size_bytes > smaller && size_bytes <= slot_bytes
            });
            let peak = sizes.map(|line| line.peak as usize).sum::<usize>();
            smaller = slot_bytes;
            SlotClass::new(slot_bytes, peak + (peak * config.spare_percent).div_ceil(100))
        });
        Self { proposed, article: article.to_vec() }
    }
}

/// Builds the tree once and records the requests.
pub(super) fn record(tokens: &[Token<'_>]) -> Result<Statistics, &'static str> {
    let mut log = Log { recorder: Recorder::new(System, &Heap), layouts: Vec::new() };
    let tree = Tree::build(&mut log, tokens.iter().copied()).ok_or("out of memory")?;
    let classes = Classes::of(&log.recorder.record());
    // SAFETY: the tree was built with this allocator.
    unsafe { tree.free(&mut log) };
    Ok(Statistics { layouts: log.layouts, classes })
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
