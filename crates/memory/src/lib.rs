#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]

#[cfg(any(feature = "alloc", test))]
extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

#[cfg(feature = "allocator-api2")]
mod allocator_api;
mod block_pool;
mod blocks;
mod bump;
mod debug_aids;
mod double_stack;
mod drop_linear;
mod error;
mod finalizer;
mod frame_ring;
#[cfg(target_has_atomic = "64")]
mod global_small_objects;
mod guarded;
mod linear;
mod live_table;
mod pool;
mod recorder;
mod region;
mod scope_stack;
mod shared_pool;
mod size_lists;
mod small_objects;
mod source;
mod spin_lock;
mod stack;
mod typed;

pub use block_pool::BlockPool;
pub use blocks::PoolStats;
pub use debug_aids::{Fault, Leak, set_fault_handler};
pub use double_stack::{DoubleStack, StackEnd, StackMark};
pub use drop_linear::DropLinear;
pub use error::Error;
pub use frame_ring::FrameRing;
#[cfg(target_has_atomic = "64")]
pub use global_small_objects::GlobalSmallObjects;
pub use guarded::{GUARD_BYTES, Guarded};
pub use linear::{Checkpoint, Linear};
pub use pool::{Pool, PoolBox};
#[cfg(feature = "alloc")]
pub use recorder::{Proposal, ProposalConfig, Record};
pub use recorder::{Recorder, SizeRecord};
pub use region::Region;
pub use scope_stack::{Scope, ScopeBox, ScopeStack};
pub use shared_pool::SharedPool;
pub use size_lists::{List, SizeLists};
pub use small_objects::{
    ClassStats, SlotClass, SmallObjects, SmallObjectsConfig, SmallObjectsStats,
};
#[cfg(feature = "alloc")]
pub use source::Heap;
pub use source::MemorySource;
pub use stack::Stack;
