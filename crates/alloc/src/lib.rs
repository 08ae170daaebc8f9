//! Allocators for buffers and for memory. The types of this page manage indices, buckets, ranges
//! and handles of a buffer; [`memory`] has arenas, pools and other allocators of real memory.
//!
//! The managed buffer can be anything: a GPU buffer, a file, an atlas. An allocation is a number,
//! counted in units that the caller chooses. The metadata is on the heap, not in the buffer.
//!
//! ```text
//!  index 0 1 2 3 …     AddressSpace   [x][x][ ][x][ ][ ]         equal slots, lowest first
//!  bucket 0 1 2 …      BucketRing     [ x ][   ][ x ][   ]       equal buckets, longest free first
//!  offset .. offset    RangeSpace     [xxx][xxxxxxx]   [xx]      any size, close together
//!                      SizeClasses    [xx·|    |xx·][xxxxxxx]    buckets of a few sizes, else ranges
//!  handle ─► value     Slots          (v)( )(v)(v)               values with stable handles
//! ```
//!
//! # Which one?
//!
//! | Type | Use | Allocate, free | Growth | Order of reuse | Overhead |
//! |---|---|---|---|---|---|
//! | [`AddressSpace`] | instances, draw slots: one unit each | O(1), about 4 ns | automatic, to 2³² − 1; shrinks | lowest first, or next to the last one | 1.016 bits per slot |
//! | [`BucketRing`] | equal buckets that frames in flight may still read | O(1) | `grow` | the bucket freed longest ago, after its frame is complete | unused end of each bucket; 16 bytes per bucket |
//! | [`RangeSpace`] | meshes of any size | O(1), about 60 ns with 100,000 live ranges | `grow`; `shrink`, defragmentation | best fit, within 1/32 of the size | gaps: first failure at 99.6 % full; 32 bytes per range |
//! | [`SizeClasses`] | meshes with a known distribution of sizes | O(log classes) | no | first free bucket of the class | bounded in each bucket, plus empty buckets; 24 bytes per allocation |
//! | [`Slots`] | values with generational handles | O(1), about 2 ns | automatic | last freed first | 8 bytes per value |
//!
//! Times were measured on one machine. `BENCHMARKS.md` has the details and a comparison with other
//! crates. All types but `AddressSpace` return generational handles: a stale handle yields an error
//! or `None`, never another allocation. A full space returns [`Error::Full`] with its figures, and
//! no argument causes a panic.
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
//! The folder `examples` has complete programs that verify their own results: `instance_buffer` (an
//! instance buffer on an `AddressSpace`), `level_loader` (a scope stack in a loader) and
//! `global_small_objects` (the small-object allocator as the global allocator, with statistics).
//!
//! # Limits
//! Indices and handle numbers have 32 bits. Offsets have 32 bits, or 64 bits in `RangeSpace<u64>`.
//! A handle is valid only for the structure that returned it; other structures do not detect a
//! foreign handle. These types are not shared between threads: wrap them in a lock.
//!
//! # Features
//! - `memory` without features needs only `core`.
//! - `alloc` adds the allocators of this page, whose metadata is on the heap, and the heap as a
//!   source of memory.
//! - `std` (default) adds the types that need threads.
//! - `allocator-api2` implements its `Allocator` trait, so that collections can use these
//!   allocators.
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
