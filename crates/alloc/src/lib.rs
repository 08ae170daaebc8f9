#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
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

pub use address_space::{AddressSpace, IndexGaps, IndexPolicy, UsedIndices};
pub use bucket_ring::{BucketHandle, BucketRing};
pub use error::Error;
pub use offset::Offset;
pub use range_space::{
    DefragBudget, MoveOrder, RangeBlock, RangeBlocks, RangeHandle, RangeMove, RangeSpace,
    RangeStats,
};
pub use size_classes::{ClassAllocation, ClassHandle, SizeClassConfig, SizeClasses};
pub use slots::{Handle, SlotDrain, SlotIter, SlotIterMut, Slots};
