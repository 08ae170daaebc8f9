//! Places in a buffer: indices, buckets, ranges and handles, with no memory of their own in
//! what they manage. Places in memory have a page of their own: [`memory`].
//!
//! The buffer may be anything: a GPU buffer, a file, an atlas. What is handed out are
//! numbers, in units of the caller's; the book-keeping lies elsewhere, on the heap.
//!
//! ```text
//!  index 0 1 2 3 …     AddressSpace   [x][x][ ][x][ ][ ]         equal places, lowest first
//!  bucket 0 1 2 …      BucketRing     [ x ][   ][ x ][   ]       equal places, longest free first
//!  offset .. offset    RangeSpace     [xxx][xxxxxxx]   [xx]      any size, close together
//!                      SizeClasses    [xx·|    |xx·][xxxxxxx]    buckets of a few sizes, else ranges
//!  handle ─► value     Slots          (v)( )(v)(v)               values that others point to
//! ```
//!
//! # Which one?
//!
//! | | for | allocate, free | grows | order of reuse | waste |
//! |---|---|---|---|---|---|
//! | [`AddressSpace`] | instances, draw slots: one unit each | O(1), some 4 ns | by itself, to 2³² − 1; shrinks | lowest first, or beside the last | 1.016 bits a slot |
//! | [`BucketRing`] | equal buckets that frames in flight may still read | O(1) | by `grow` | the one freed longest ago, and not before its frame is done | what a bucket's content leaves of it; 16 bytes a bucket |
//! | [`RangeSpace`] | meshes of any size | O(1), some 60 ns with a hundred thousand live | by `grow`; `shrink`, defragmentation | the best of few that fit, to within a thirty-second of the size | gaps: first failure at 99.6 % full; 32 bytes a range |
//! | [`SizeClasses`] | meshes whose sizes are known beforehand | O(log classes) | no | the first free bucket of the class | bounded in each bucket, and buckets that stand empty; 24 bytes a place |
//! | [`Slots`] | values, with handles that go stale | O(1), some 2 ns | by itself | the last freed | 8 bytes a value |
//!
//! Times are of one machine, see `BENCHMARKS.md`; ratios to other crates are there as well.
//! All but `AddressSpace` give handles that name one life of a place: a stale one is an
//! error or `None`, never somebody else's place. Running out is a value with numbers
//! ([`Error::Full`]), and no argument makes anything panic.
//!
//! # Examples
//! ```
//! use drystone_alloc::RangeSpace;
//!
//! let mut space = RangeSpace::new(1000);
//! let range = space.allocate(300)?;
//! assert_eq!(space.range(range), Some(0..300));
//! space.free(range)?;
//! assert_eq!(space.stats().largest_free, 1000);
//! # Ok::<(), drystone_alloc::Error>(())
//! ```
//! Whole programs, each of which checks itself, stand in `examples`: `instance_buffer` (an
//! instance buffer with an `AddressSpace` under it), `level_loader` (a scope stack in a loader),
//! `global_small_objects` (the small-object allocator under a whole program, with statistics).
//!
//! # Limits
//! Indices and numbers of handles are 32 bits; offsets are 32 bits, or 64 as in
//! `RangeSpace<u64>`. A handle is good for the structure that gave it, which cannot tell
//! another's from its own. Nothing here is shared between threads; wrap it in a lock.
//!
//! # Features
//! `memory` needs nothing but `core`. `alloc` adds the places in a buffer, whose metadata lie on
//! the heap, and the heap as a source; `std`, the default, what needs threads;
//! `allocator-api2` makes allocators of collections of those that can be such.
#![no_std]
#![deny(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[cfg(feature = "alloc")]
mod address_space;
#[cfg(feature = "alloc")]
mod bit_tree;
#[cfg(feature = "alloc")]
mod bucket_ring;
mod error;
#[allow(unsafe_code)]
pub mod memory;
#[cfg(feature = "alloc")]
mod offset;
#[cfg(feature = "alloc")]
mod range_space;
#[cfg(feature = "alloc")]
mod size_classes;
#[cfg(feature = "alloc")]
mod slots;

pub use error::Error;

#[cfg(feature = "alloc")]
pub use address_space::{AddressSpace, Gaps, Policy, UsedIndices};
#[cfg(feature = "alloc")]
pub use bucket_ring::{BucketHandle, BucketRing};
#[cfg(feature = "alloc")]
pub use offset::Offset;
#[cfg(feature = "alloc")]
pub use range_space::{
    Block, Blocks, DefragBudget, Move, MoveOrder, RangeHandle, RangeSpace, RangeStats,
};
#[cfg(feature = "alloc")]
pub use size_classes::{ClassAllocation, ClassHandle, SizeClassConfig, SizeClasses};
#[cfg(feature = "alloc")]
pub use slots::{Handle, SlotIter, SlotIterMut, Slots};
