//! Places in memory: allocators that hand out bytes of a region that they were given, or
//! that they asked a source for.
//!
//! ```text
//!  Linear, FrameRing   |aaaa|bb|cc|→ . . . . . .|           all back at once
//!  Stack               |aaaa|f|bb|f|→ . . . . . |           the last first, checked
//!  DoubleStack         |aaaa|f|→ . . . . ←|h|bbb|           two of them, one region
//!  ScopeStack          |f·a|plain|{ f·b|f·c }→ . |          a scope at once, with destructors
//!  Pool, BlockPool     |[a][·][c][·][·][f]|  free: ·→·→·    one size, in any order
//!  SizeLists           |3|5|3|4|→  3: ·→·  4: ·  5: …       short arrays, by length
//!  SmallObjects        |8 8 8 …|16 16 …|32  32 …| + bits    a few sizes, in any order
//! ```
//!
//! # Which one?
//!
//! | | for | frees | allocate and free | overhead | grows | destructors |
//! |---|---|---|---|---|---|---|
//! | [`Linear`] | scratch of a chunk or a frame, parsed files | all at once, or back to a mark | some 1 ns | padding | no | never run |
//! | [`FrameRing`] | data of frames in flight | a frame's at once, when it is done | as `Linear` | a number a frame | no | never run |
//! | [`Stack`] | buffers of nested calls | the last first; anything else is an error | some 2 ns | a word a block | no | yours |
//! | [`DoubleStack`] | what stays, and what is needed meanwhile | each end as `Stack` | some 2 ns | a word a block | until they meet | yours |
//! | [`ScopeStack`] | loading, anything in nested steps | a scope's at once | 1 ns plain, else some 3 | two words a value with a destructor | no | run, in reverse, on panics too |
//! | [`Pool`] | values of one type, trees and lists of them | in any order, by owning handles | some 4 ns | none | by slabs | run |
//! | [`BlockPool`] | raw blocks of one size | in any order; a second free is an error | some 6 ns | a bit a block | by slabs | yours |
//! | [`SharedPool`] | large blocks, for all threads | in any order | some 20 ns | as `BlockPool` | by slabs | yours |
//! | [`SizeLists`] | short arrays of plain values | in any order, by owning handles | some 5 ns | none | by slabs | none to run |
//! | [`SmallObjects`] | objects of many sizes up to some hundred bytes | in any order; a second free is an error | some 5 ns | what a slot is larger, and 1.016 bits | falls back | yours |
//! | [`GlobalSmallObjects`] | the same, as a program's global allocator | in any order, from any thread | some 3 ns | as above, and a thread's cache | falls back | yours |
//!
//! Times are of one machine, with warm caches: see `BENCHMARKS.md` for these and for the
//! best other crates in the same run. A [`Recorder`] around the allocator of a program says
//! which sizes it asks for, and proposes the classes of a `SmallObjects`.
//!
//! All of them work in a [`Region`], which is lent by the caller or comes from a
//! [`MemorySource`]; those that grow by slabs ask a source each time. With the feature
//! `allocator-api2` all that can bear it are allocators of collections.
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
//! Linear, stack, double-ended and scope stack and the pool are those of C. Brough's article
//! "Allocators"; small objects come from D. Gustafsson's "Small Object Allocator", the arrays by
//! length from J. Bikker's "Advanced Management of Polygonal Data".
//!
//! # Limits
//! Nothing here is shared between threads but `SharedPool`, `GlobalSmallObjects` and
//! `Recorder`. Interfaces to raw memory are `unsafe` and say in `# Safety` what they cannot
//! check; all others are safe whatever they are given.

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
