//! Cache of a thread, so that most calls access no shared memory.

use core::alloc::Layout;
use core::cell::Cell;
use core::ptr::{self, NonNull};
use std::thread_local;

use super::area::{Area, MAX_CLASSES};
use super::bits::{Share, WORD_BITS};
use super::class::Class;
use crate::debug_aids::fill_freed;

/// Slots in a bin, so that the whole bin has 512 bytes. The slots of one claimed word fit in
/// addition to as many freed ones.
const BIN_SLOTS: usize = 123;
/// Number of slots that a full bin releases: those that were freed longest ago.
const FLUSHED_SLOTS: usize = 64;
/// A refill stops at this number of slots: if free slots are scattered, one word holds few of them.
const ENOUGH_SLOTS: usize = 16;
const _: () = assert!(ENOUGH_SLOTS + WORD_BITS <= BIN_SLOTS && FLUSHED_SLOTS <= BIN_SLOTS);

thread_local! {
    /// Needs no initialization and no destructor, so that each access is one instruction.
    static CACHE: Cache = const { Cache::new() };
    /// Empties the cache when the thread ends.
    static GUARD: Guard = const { Guard };
}

struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        CACHE.with(Cache::close);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// The thread has not allocated here yet.
    Fresh,
    /// The guard is being initialized, which may allocate.
    Opening,
    Open,
    /// The thread is ending.
    Closed,
}

struct Cache {
    /// Area that the slots belong to; a dangling address if there is none.
    area: Cell<*const Area>,
    state: Cell<State>,
    too_large: Cell<u64>,
    bins: [Bin; MAX_CLASSES],
}

/// Free slots of one class that belong to this thread. The last one is used next.
#[repr(C, align(64))]
struct Bin {
    /// Section of the class; empty for the class without slots.
    start: Cell<*mut u8>,
    size_bytes: Cell<usize>,
    len: Cell<u32>,
    offsets: [Cell<u32>; BIN_SLOTS],
}

const _: () = assert!(size_of::<Bin>() == 512);

/// Takes a slot for the layout from the cache of the thread.
#[inline(always)]
pub(super) fn take(area: &Area, layout: Layout) -> Option<*mut u8> {
    CACHE.with(|cache| {
        let bin = &cache.bins[area.class_for(layout)];
        let len = bin.len.get() as usize;
        if !cache.is_of(area) || len == 0 {
            return None;
        }
        bin.len.set(len as u32 - 1);
        let offset = bin.offsets[len - 1].get() as usize;
        // SAFETY: bins hold offsets of slots in their section, which begins at `start`.
        Some(unsafe { bin.start.get().add(offset) })
    })
}

/// Adds a slot of the layout's class to the cache. Returns `false` if it is no such slot, or the
/// bin is full.
#[inline(always)]
pub(super) fn put(area: &Area, object: *mut u8, layout: Layout) -> bool {
    CACHE.with(|cache| {
        let bin = &cache.bins[area.class_for(layout)];
        let offset = object.addr().wrapping_sub(bin.start.get().addr());
        let len = bin.len.get() as usize;
        if !cache.is_of(area) || offset >= bin.size_bytes.get() || len >= BIN_SLOTS {
            return false;
        }
        poison(object, layout);
        bin.offsets[len].set(offset as u32);
        bin.len.set(len as u32 + 1);
        true
    })
}

/// Fills the bin of a class and takes a slot from it. `None` if the class is full, or if the thread
/// has no cache, because it is starting or ending.
pub(super) fn refill(area: &'static Area, number: usize) -> Option<*mut u8> {
    CACHE.with(|cache| {
        if !cache.open(area) {
            return None;
        }
        cache.bins[number].refill(area.class(number))
    })
}

/// Adds a slot to the cache, and makes space if its bin is full. Returns `false` if the thread has
/// no cache.
pub(super) fn put_or_flush(area: &'static Area, number: usize, offset: usize) -> bool {
    CACHE.with(|cache| {
        if !cache.open(area) {
            return false;
        }
        let bin = &cache.bins[number];
        if bin.len.get() as usize >= BIN_SLOTS {
            bin.flush(area.class(number), FLUSHED_SLOTS);
        }
        bin.push(offset);
        true
    })
}

/// Counts a request that no class serves. Returns `false` if the thread has no cache.
pub(super) fn count_too_large(area: &'static Area) -> bool {
    CACHE.with(|cache| {
        let is_of = cache.is_of(area);
        cache.too_large.set(cache.too_large.get() + u64::from(is_of));
        is_of
    })
}

/// Releases all slots that this thread has cached for an area.
pub(super) fn flush(area: &Area) {
    CACHE.with(|cache| {
        if cache.is_of(area) {
            cache.flush(area);
        }
    });
}

/// Overwrites a freed object in debug builds.
#[inline(always)]
pub(super) fn poison(object: *mut u8, layout: Layout) {
    if let Some(object) = NonNull::new(object) {
        // SAFETY: the object was as large as its layout, and nothing uses it any more.
        unsafe { fill_freed(object, layout.size()) };
    }
}

impl Cache {
    const fn new() -> Self {
        Self {
            area: Cell::new(ptr::dangling()),
            state: Cell::new(State::Fresh),
            too_large: Cell::new(0),
            bins: [const { Bin::new() }; MAX_CLASSES],
        }
    }

    #[inline(always)]
    fn is_of(&self, area: &Area) -> bool {
        ptr::eq(self.area.get(), area)
    }

    /// Makes this the cache of an area. Returns `false` if the thread cannot have a cache.
    fn open(&self, area: &'static Area) -> bool {
        match self.state.get() {
            State::Open => {}
            State::Opening | State::Closed => return false,
            State::Fresh => {
                self.state.set(State::Opening);
                let has_guard = GUARD.try_with(|_| ()).is_ok();
                self.state.set(if has_guard { State::Open } else { State::Closed });
                if !has_guard {
                    return false;
                }
            }
        }
        if !self.is_of(area) {
            self.leave();
            self.area.set(area);
            for (bin, number) in self.bins.iter().zip(0..) {
                bin.start.set(area.class(number).start().as_ptr());
                bin.size_bytes.set(area.class(number).size_bytes());
            }
        }
        true
    }

    fn flush(&self, area: &Area) {
        area.add_too_large(self.too_large.take());
        for (bin, number) in self.bins.iter().zip(0..) {
            bin.flush(area.class(number), bin.len.get() as usize);
        }
    }

    /// Releases all slots to the area of this cache.
    fn leave(&self) {
        let area = self.area.replace(ptr::dangling());
        if !ptr::eq(area, ptr::dangling()) {
            // SAFETY: it was set from a `'static` reference.
            self.flush(unsafe { &*area });
        }
    }

    fn close(&self) {
        self.state.set(State::Closed);
        self.leave();
    }
}

impl Bin {
    const fn new() -> Self {
        Self {
            start: Cell::new(ptr::null_mut()),
            size_bytes: Cell::new(0),
            len: Cell::new(0),
            offsets: [const { Cell::new(0) }; BIN_SLOTS],
        }
    }

    fn push(&self, offset: usize) {
        let len = self.len.get() as usize;
        self.offsets[len].set(offset as u32);
        self.len.set(len as u32 + 1);
    }

    /// Takes slots of the class, lowest on top, and returns the top one.
    fn refill(&self, class: &Class) -> Option<*mut u8> {
        while (self.len.get() as usize) < ENOUGH_SLOTS {
            let Some(claim) = class.claim(Share::All) else { break };
            let first = claim.word * WORD_BITS;
            let mut slots = claim.slots;
            while slots != 0 {
                let highest = slots.ilog2();
                self.push((first + highest as usize) * class.slot_bytes());
                slots ^= 1 << highest;
            }
        }
        let last = (self.len.get() as usize).checked_sub(1)?;
        self.len.set(last as u32);
        Some(class.slot_at(self.offsets[last].get() as usize).as_ptr())
    }

    /// Releases the first `count` slots to the class.
    fn flush(&self, class: &Class, count: usize) {
        let len = self.len.get() as usize;
        class.release(self.offsets[..count].iter().map(|offset| offset.get() as usize));
        for (to, from) in (count..len).enumerate() {
            self.offsets[to].set(self.offsets[from].get());
        }
        self.len.set((len - count) as u32);
    }
}
