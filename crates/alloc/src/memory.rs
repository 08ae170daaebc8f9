//! Allocators of memory. Each works in a region from the caller or from a memory source.
//!
//! ```text
//!  Linear, FrameRing   |aaaa|bb|cc|→ . . . . . .|           freed all at once
//!  Stack               |aaaa|f|bb|f|→ . . . . . |           freed last first, checked
//!  DoubleStack         |aaaa|f|→ . . . . ←|h|bbb|           two stacks in one region
//!  ScopeStack          |f·a|plain|{ f·b|f·c }→ . |          freed by scope, with destructors
//!  Pool, BlockPool     |[a][·][c][·][·][f]|  free: ·→·→·    one size, freed in any order
//!  SizeLists           |3|5|3|4|→  3: ·→·  4: ·  5: …       short arrays, by length
//!  SmallObjects        |8 8 8 …|16 16 …|32  32 …| + bits    a few sizes, freed in any order
//! ```
//!
//! # Which one?
//!
//! | Type | Use | Free | Time of allocate and free | Overhead | Growth | Destructors |
//! |---|---|---|---|---|---|---|
//! | [`Linear`] | scratch memory of a chunk or a frame, parsed files | all at once, or back to a checkpoint | about 1 ns | padding | no | never run |
//! | [`FrameRing`] | data of frames in flight | a whole frame, after it is complete | same as `Linear` | 16 bytes per frame | no | never run |
//! | [`Stack`] | buffers of nested calls | last first; another order is an error | about 2 ns | 1 word per block | no | run by the caller |
//! | [`DoubleStack`] | long-lived data at one end, temporary data at the other | each end like `Stack` | about 2 ns | 1 word per block | until the ends meet | run by the caller |
//! | [`ScopeStack`] | loading, nested steps | a whole scope | 1 ns without destructors, else about 3 ns | 2 words per value with a destructor | no | run in reverse, also on panics |
//! | [`Pool`] | values of one type, trees and lists of them | any order, by owning handles | about 4 ns | none | by slabs | run |
//! | [`BlockPool`] | raw blocks of one size | any order; a double free is an error | about 6 ns | 1 bit per block | by slabs | run by the caller |
//! | [`SharedPool`] | large blocks, shared by threads | any order | about 20 ns | same as `BlockPool` | by slabs | run by the caller |
//! | [`SizeLists`] | short arrays of plain values | any order, by owning handles | about 5 ns | none | by slabs | none |
//! | [`SmallObjects`] | objects of many sizes, up to a few hundred bytes | any order; a double free is an error | about 5 ns | rounding to the slot size, and 1.016 bits | falls back | run by the caller |
//! | [`GlobalSmallObjects`] | `SmallObjects` as the global allocator of a program | any order, from any thread | about 3 ns | same as `SmallObjects`, plus a cache per thread | falls back | run by the caller |
//!
//! Times were measured on one machine with warm caches. `BENCHMARKS.md` has the details and the
//! best other crates in the same run. A [`Recorder`] around the allocator of a program counts the
//! requested sizes and proposes the classes of a `SmallObjects`.
//!
//! All of them work in a [`Region`], which the caller lends or which comes from a [`MemorySource`].
//! Allocators that grow by slabs request each slab from a source. With the feature
//! `allocator-api2`, most of them implement `Allocator`, so that collections can use them.
//!
//! # Examples
//! ```
//! use core::mem::MaybeUninit;
//! use drystone_alloc::memory::{Linear, Region, ScopeStack};
//!
//! let mut bytes = [MaybeUninit::uninit(); 1024];
//! let scratch = Linear::new(Region::new(&mut bytes));
//! assert_eq!(scratch.alloc_slice(&[1, 2, 3])?, &[1, 2, 3]);
//!
//! let mut stack = ScopeStack::new(Region::heap(4096)?);
//! let length = stack.scope(|scope| scope.alloc(String::from("dropped with the scope")).map(|s| s.len()))?;
//! assert_eq!(length, 22);
//! # Ok::<(), drystone_alloc::Error>(())
//! ```
//!
//! # Sources
//! Linear allocator, stack, double-ended stack, scope stack and pool follow C. Brough's article
//! "Allocators". Small objects follow D. Gustafsson's "Small Object Allocator", and the arrays by
//! length J. Bikker's "Advanced Management of Polygonal Data".
//!
//! # Limits
//! Only `SharedPool`, `GlobalSmallObjects` and `Recorder` are shared between threads. Interfaces to
//! raw memory are `unsafe` and list in `# Safety` what the caller has to guarantee. All others are
//! safe for all arguments.

#[cfg(feature = "allocator-api2")]
mod allocator_api;
mod block_pool;
mod blocks;
mod bump;
mod double_stack;
mod frame_ring;
#[cfg(target_has_atomic = "64")]
mod global_small_objects;
mod linear;
mod pool;
mod pool_stats;
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
mod zeroed;

pub use block_pool::BlockPool;
pub use double_stack::{DoubleStack, StackEnd};
pub use frame_ring::FrameRing;
#[cfg(target_has_atomic = "64")]
pub use global_small_objects::GlobalSmallObjects;
pub use linear::{Checkpoint, Linear};
pub use pool::{Pool, PoolBox};
pub use pool_stats::PoolStats;
#[cfg(feature = "alloc")]
pub use recorder::{Proposal, ProposalConfig, Record};
pub use recorder::{Recorder, SizeRecord};
pub use region::Region;
pub use scope_stack::{Scope, ScopeStack};
pub use shared_pool::SharedPool;
pub use size_lists::{List, SizeLists};
pub use small_objects::{
    ClassStats, SlotClass, SmallObjects, SmallObjectsConfig, SmallObjectsStats,
};
#[cfg(feature = "alloc")]
pub use source::Heap;
pub use source::MemorySource;
pub use stack::Stack;
