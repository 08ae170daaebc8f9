use core::alloc::{GlobalAlloc, Layout};

use super::MemorySource;
use super::spin_lock::SpinLock;

mod live_table;
mod metadata;
#[cfg(feature = "alloc")]
mod picture;
#[cfg(feature = "alloc")]
mod proposal;
#[cfg(feature = "alloc")]
mod record;
mod tally;
#[cfg(all(test, feature = "std"))]
mod tests;

use metadata::Metadata;
#[cfg(feature = "alloc")]
pub use proposal::{Proposal, ProposalConfig};
#[cfg(feature = "alloc")]
pub use record::Record;
pub use tally::SizeRecord;

/// Wraps an allocator and writes down what is asked of it: sizes, alignments, how many of
/// each size live at most, and for how long.
///
/// ```text
///  program ─► Recorder ─► allocator                     Record ─► a table
///                │                                        │  ├──► a picture, SVG
///                └─► metadata: a line a size, a table ───────┘  └──► size classes and slot counts
///                    of what lives, in memory of a               that a SmallObjects or a
///                    source of their own                         GlobalSmallObjects is made of
/// ```
/// The metadata lie in memory of a [`MemorySource`] and never in the allocator that is
/// recorded, so that a recorder can be the global allocator. It may be used from many
/// threads. A lifetime is counted in what was allocated between birth and death, in
/// allocations and in bytes, which is the same in every run, and not in time.
///
/// `realloc` counts as a death and a birth: that is what it is for an allocator of size
/// classes, unless both sizes fall into one.
///
/// # Cost
/// A lock, a hash table and a line of numbers for each call, some 50 ns; 80 KB, and 32 to 64
/// bytes for each live object.
///
/// # Examples
/// ```
/// use std::alloc::System;
/// use drystone_alloc::memory::{ProposalConfig, Recorder};
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
/// ```
///
/// # Limits
/// Sizes above 1024 bytes are taken together, eight to each doubling. When the source has no
/// memory for the metadata, the program goes on and the record says how much it missed.
pub struct Recorder<A> {
    allocator: A,
    metadata: SpinLock<Metadata>,
}

impl<A> Recorder<A> {
    /// Records what is asked of `allocator`, in memory of `source`, which must not be the
    /// recorder itself.
    pub const fn new(allocator: A, source: &'static dyn MemorySource) -> Self {
        Self { allocator, metadata: SpinLock::new(Metadata::new(source)) }
    }

    /// The allocator that is recorded.
    pub const fn allocator(&self) -> &A {
        &self.allocator
    }

    /// What was recorded up to now.
    #[cfg(feature = "alloc")]
    pub fn record(&self) -> Record {
        // Made before the metadata are locked: the program's allocator may be this recorder.
        let mut record = Record::with_room();
        self.metadata.with(|metadata| record.copy_from(metadata));
        record
    }

    /// Forgets all but what lives, which counts as born now.
    pub fn reset(&self) {
        self.metadata.with(Metadata::reset);
    }

    fn born(&self, address: usize, layout: Layout) {
        self.metadata.with(|metadata| metadata.born(address, layout));
    }

    fn died(&self, address: usize) {
        self.metadata.with(|metadata| metadata.died(address));
    }
}

// SAFETY: every block is the wrapped allocator's, with the caller's layout; the recorder
// only looks at addresses. Its metadata neither panic nor allocate through itself.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Recorder<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is passed on.
        let block = unsafe { self.allocator.alloc(layout) };
        if !block.is_null() {
            self.born(block.addr(), layout);
        }
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is passed on.
        let block = unsafe { self.allocator.alloc_zeroed(layout) };
        if !block.is_null() {
            self.born(block.addr(), layout);
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // Before the memory can be another's, whose birth would come first.
        self.died(block.addr());
        // SAFETY: the caller's promise is passed on.
        unsafe { self.allocator.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // When it succeeds, the old address may be another thread's at once: so it dies
        // first, and is born again in any case.
        self.died(block.addr());
        // SAFETY: the caller's promise is passed on.
        let moved = unsafe { self.allocator.realloc(block, layout, new_size) };
        let (address, size) =
            if moved.is_null() { (block.addr(), layout.size()) } else { (moved.addr(), new_size) };
        if let Ok(layout) = Layout::from_size_align(size, layout.align()) {
            self.born(address, layout);
        }
        moved
    }
}

#[cfg(feature = "allocator-api2")]
mod collections {
    use core::ptr::NonNull;

    use allocator_api2::alloc::{AllocError, Allocator};

    use super::{Layout, Recorder};

    impl<A> Recorder<A> {
        fn moved(
            &self,
            old: NonNull<u8>,
            old_layout: Layout,
            layout: Layout,
            result: Result<NonNull<[u8]>, AllocError>,
        ) -> Result<NonNull<[u8]>, AllocError> {
            match result {
                Ok(block) => self.born_unless_empty(block.cast(), layout),
                Err(_) => self.born_unless_empty(old, old_layout),
            }
            result
        }

        /// What has no bytes has no address of its own.
        fn born_unless_empty(&self, block: NonNull<u8>, layout: Layout) {
            if layout.size() > 0 {
                self.born(block.addr().get(), layout);
            }
        }

        fn died_unless_empty(&self, block: NonNull<u8>, layout: Layout) {
            if layout.size() > 0 {
                self.died(block.addr().get());
            }
        }
    }

    // SAFETY: every block is the wrapped allocator's, with the caller's layout; a recorder
    // that is moved still holds the same allocator.
    unsafe impl<A: Allocator> Allocator for Recorder<A> {
        fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
            let block = self.allocator.allocate(layout)?;
            self.born_unless_empty(block.cast(), layout);
            Ok(block)
        }

        fn allocate_zeroed(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
            let block = self.allocator.allocate_zeroed(layout)?;
            self.born_unless_empty(block.cast(), layout);
            Ok(block)
        }

        unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
            self.died_unless_empty(block, layout);
            // SAFETY: the caller's promise is passed on.
            unsafe { self.allocator.deallocate(block, layout) }
        }

        unsafe fn grow(
            &self,
            block: NonNull<u8>,
            old: Layout,
            new: Layout,
        ) -> Result<NonNull<[u8]>, AllocError> {
            self.died_unless_empty(block, old);
            // SAFETY: the caller's promise is passed on.
            self.moved(block, old, new, unsafe { self.allocator.grow(block, old, new) })
        }

        unsafe fn grow_zeroed(
            &self,
            block: NonNull<u8>,
            old: Layout,
            new: Layout,
        ) -> Result<NonNull<[u8]>, AllocError> {
            self.died_unless_empty(block, old);
            // SAFETY: the caller's promise is passed on.
            self.moved(block, old, new, unsafe { self.allocator.grow_zeroed(block, old, new) })
        }

        unsafe fn shrink(
            &self,
            block: NonNull<u8>,
            old: Layout,
            new: Layout,
        ) -> Result<NonNull<[u8]>, AllocError> {
            self.died_unless_empty(block, old);
            // SAFETY: the caller's promise is passed on.
            self.moved(block, old, new, unsafe { self.allocator.shrink(block, old, new) })
        }
    }
}
