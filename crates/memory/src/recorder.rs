use core::alloc::{GlobalAlloc, Layout};
use core::sync::atomic::{AtomicBool, Ordering};

use crate::MemorySource;
use crate::spin_lock::SpinLock;

// First, so that the documentation of `Record` begins with its own methods.
#[cfg(feature = "alloc")]
mod record;

mod metadata;
#[cfg(feature = "alloc")]
mod picture;
#[cfg(feature = "alloc")]
mod proposal;
mod tally;
#[cfg(all(test, feature = "std"))]
mod tests;

use metadata::Metadata;
#[cfg(feature = "alloc")]
pub use proposal::{Proposal, ProposalConfig};
#[cfg(feature = "alloc")]
pub use record::Record;
pub use tally::SizeRecord;

/// Wraps an allocator and records its requests: sizes, alignments, peak numbers and lifetimes.
///
/// ```text
///  program ─► Recorder ─► allocator                     Record ─► a table
///                │                                        │  ├──► a picture, SVG
///                └─► metadata: a line per size, a table ───────┘  └──► size classes and slot counts
///                    of what lives, in memory of a               that a SmallObjects or a
///                    source of their own                         GlobalSmallObjects is made of
/// ```
/// The metadata is in memory of a [`MemorySource`], never in the recorded allocator, so a recorder
/// can be the global allocator. It can be used from many threads. A lifetime is measured in the
/// allocations, and their bytes, between allocation and free instead of time. It is therefore the
/// same in every run.
///
/// A `realloc` counts as a free and an allocation, which is what it is in an allocator of size
/// classes unless both sizes have the same class.
///
/// # Cost
/// Each call takes a lock and updates a hash table and a line of counters: about 50 ns. Memory: 93
/// KB, and 43 to 86 bytes per live object. Before [`start`](Self::start) is called, a
/// [`stopped`](Self::stopped) recorder takes no memory and reads one flag in each call.
///
/// # Examples
/// ```
/// # #[cfg(feature = "std")] {
/// use std::alloc::System;
/// use drystone_memory::{ProposalConfig, Recorder};
///
/// # struct Program;
/// # impl Program { fn run(&self) { drop(vec![0u8; 48]) } }
/// #[global_allocator]
/// static RECORDER: Recorder<System> = Recorder::new(System, &System);
///
/// # let program = Program;
/// program.run();
/// let record = RECORDER.record();
/// println!("{record}");
/// let proposal = record.propose(&ProposalConfig::default());
/// assert!(proposal.classes.iter().any(|class| class.slot_bytes >= 48));
/// # }
/// ```
///
/// # Limits
/// Sizes above 1024 bytes share lines, eight per doubling. If the source is out of memory, the
/// program continues, and the record reports how much is missing.
pub struct Recorder<A> {
    allocator: A,
    is_started: AtomicBool,
    metadata: SpinLock<Metadata>,
}

impl<A> Recorder<A> {
    /// Creates a recorder of the requests to `allocator`. The metadata is in memory of `source`,
    /// which must not be the recorder itself.
    pub const fn new(allocator: A, source: &'static dyn MemorySource) -> Self {
        let metadata = SpinLock::new(Metadata::new(source));
        Self { allocator, is_started: AtomicBool::new(true), metadata }
    }

    /// Creates a recorder that records nothing before [`start`](Self::start) is called. A program
    /// can therefore have a recorder in its global allocator and let a user decide.
    ///
    /// # Examples
    /// ```
    /// # #[cfg(feature = "std")] {
    /// use std::alloc::System;
    /// use drystone_memory::Recorder;
    ///
    /// #[global_allocator]
    /// static RECORDER: Recorder<System> = Recorder::stopped(System, &System);
    ///
    /// drop(vec![0u8; 333]);
    /// RECORDER.start();
    /// drop(vec![0u8; 444]);
    /// let sizes: Vec<_> = RECORDER.record().sizes().iter().map(|line| line.size_bytes).collect();
    /// assert!(sizes.contains(&444) && !sizes.contains(&333));
    /// # }
    /// ```
    pub const fn stopped(allocator: A, source: &'static dyn MemorySource) -> Self {
        let metadata = SpinLock::new(Metadata::new(source));
        Self { allocator, is_started: AtomicBool::new(false), metadata }
    }

    /// Records all requests from now on. Frees of older objects count as unknown. A recorder does
    /// not stop again, because it would miss frees and then take new objects for old ones.
    pub fn start(&self) {
        self.is_started.store(true, Ordering::Relaxed);
    }

    /// Whether requests are recorded.
    pub fn is_started(&self) -> bool {
        self.is_started.load(Ordering::Relaxed)
    }

    /// Returns the recorded allocator.
    pub const fn allocator(&self) -> &A {
        &self.allocator
    }

    /// Returns a copy of the data recorded so far.
    #[cfg(feature = "alloc")]
    pub fn record(&self) -> Record {
        // Created before the metadata is locked: the program's allocator may be this recorder.
        let mut record = Record::with_max_lines();
        self.metadata.with(|metadata| record.copy_from(metadata));
        record
    }

    /// Clears all counters. Live objects stay recorded and count as allocated now.
    pub fn reset(&self) {
        self.metadata.with(Metadata::reset);
    }

    fn allocated(&self, address: usize, layout: Layout) {
        if self.is_started() {
            self.metadata.with(|metadata| metadata.allocated(address, layout));
        }
    }

    fn freed(&self, address: usize) {
        if self.is_started() {
            self.metadata.with(|metadata| metadata.freed(address));
        }
    }
}

// SAFETY: every block is the wrapped allocator's, with the caller's layout; the recorder only reads
// addresses. Its metadata neither panics nor allocates through itself.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Recorder<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: guaranteed by the caller.
        let block = unsafe { self.allocator.alloc(layout) };
        if !block.is_null() {
            self.allocated(block.addr(), layout);
        }
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: guaranteed by the caller.
        let block = unsafe { self.allocator.alloc_zeroed(layout) };
        if !block.is_null() {
            self.allocated(block.addr(), layout);
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // Recorded before another thread can allocate the same address.
        self.freed(block.addr());
        // SAFETY: guaranteed by the caller.
        unsafe { self.allocator.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // On success, another thread may get the old address at once. Therefore the free is
        // recorded first, and an allocation in any case.
        self.freed(block.addr());
        // SAFETY: guaranteed by the caller.
        let moved = unsafe { self.allocator.realloc(block, layout, new_size) };
        let (address, size) =
            if moved.is_null() { (block.addr(), layout.size()) } else { (moved.addr(), new_size) };
        if let Ok(layout) = Layout::from_size_align(size, layout.align()) {
            self.allocated(address, layout);
        }
        moved
    }
}

#[cfg(feature = "allocator-api2")]
mod collections {
    use core::ptr::NonNull;

    use allocator_api2::alloc::Allocator;

    use super::{Layout, Recorder};
    use crate::allocator_api::Allocated;

    impl<A> Recorder<A> {
        /// Records a change of a block's layout as a free and an allocation.
        fn resized(
            &self,
            block: NonNull<u8>,
            (old, new): (Layout, Layout),
            resize: impl FnOnce() -> Allocated,
        ) -> Allocated {
            self.freed_unless_empty(block, old);
            let result = resize();
            match result {
                Ok(resized) => self.allocated_unless_empty(resized.cast(), new),
                Err(_) => self.allocated_unless_empty(block, old),
            }
            result
        }

        /// Records an allocation, except for blocks of 0 bytes, whose addresses are not unique.
        fn allocated_unless_empty(&self, block: NonNull<u8>, layout: Layout) {
            if layout.size() > 0 {
                self.allocated(block.addr().get(), layout);
            }
        }

        fn freed_unless_empty(&self, block: NonNull<u8>, layout: Layout) {
            if layout.size() > 0 {
                self.freed(block.addr().get());
            }
        }
    }

    // SAFETY: every block is the wrapped allocator's, with the caller's layout; a recorder
    // that is moved still holds the same allocator.
    unsafe impl<A: Allocator> Allocator for Recorder<A> {
        fn allocate(&self, layout: Layout) -> Allocated {
            let block = self.allocator.allocate(layout)?;
            self.allocated_unless_empty(block.cast(), layout);
            Ok(block)
        }

        fn allocate_zeroed(&self, layout: Layout) -> Allocated {
            let block = self.allocator.allocate_zeroed(layout)?;
            self.allocated_unless_empty(block.cast(), layout);
            Ok(block)
        }

        unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
            self.freed_unless_empty(block, layout);
            // SAFETY: guaranteed by the caller.
            unsafe { self.allocator.deallocate(block, layout) }
        }

        unsafe fn grow(&self, block: NonNull<u8>, old: Layout, new: Layout) -> Allocated {
            // SAFETY: guaranteed by the caller.
            self.resized(block, (old, new), || unsafe { self.allocator.grow(block, old, new) })
        }

        unsafe fn grow_zeroed(&self, block: NonNull<u8>, old: Layout, new: Layout) -> Allocated {
            // SAFETY: guaranteed by the caller.
            self.resized(block, (old, new), || unsafe {
                self.allocator.grow_zeroed(block, old, new)
            })
        }

        unsafe fn shrink(&self, block: NonNull<u8>, old: Layout, new: Layout) -> Allocated {
            // SAFETY: guaranteed by the caller.
            self.resized(block, (old, new), || unsafe { self.allocator.shrink(block, old, new) })
        }
    }
}
