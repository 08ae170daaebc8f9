#![doc = include_str!("../README.md")]
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
