//! Places in a buffer: ranges and generational handles, with no memory of their own in
//! what they manage.
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
//!
//! # Limits
//! Offsets and sizes are 32 bits, in units of the caller's. `RangeSpace` is a plain
//! first fit: O(blocks) for both allocate and free.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod address_space;
mod bit_tree;
mod bucket_ring;
mod error;
mod offset;
mod range_space;
mod size_classes;
mod slots;

pub use address_space::{AddressSpace, Gaps, Policy, UsedIndices};
pub use bucket_ring::{BucketHandle, BucketRing};
pub use error::Error;
pub use offset::Offset;
pub use range_space::{
    Block, Blocks, DefragBudget, Move, MoveOrder, RangeHandle, RangeSpace, RangeStats,
};
pub use size_classes::{Place, PlaceHandle, SizeClassConfig, SizeClasses};
pub use slots::{Handle, SlotIter, SlotIterMut, Slots};
