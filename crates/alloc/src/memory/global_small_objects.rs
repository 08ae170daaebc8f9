use core::alloc::{GlobalAlloc, Layout};
use core::fmt;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use super::{ClassStats, SmallObjectsConfig};
use crate::Error;

mod area;
mod bits;
#[cfg(feature = "std")]
mod cache;
mod die;
#[cfg(all(test, feature = "std"))]
mod tests;

use area::Area;
use bits::Share;

/// [`SmallObjects`](super::SmallObjects) for all threads of a program, as its global
/// allocator.
///
/// ```text
///  thread A: bins  [8][16][32]…  ─┐   64 slots at once    ┌ bits ─ 8 8 8 8 8 8 …
///  thread B: bins  [8][16][32]…  ─┼─────────────────────► ┤ bits ─ 16 16 16 16 …      one area
///  thread C: bins  [8][16][32]…  ─┘ ◄── one atomic write  └ bits ─ 32  32  32  32 …
///                                         │ too large, or the class is full
///                                         └──► the system's allocator
/// ```
/// Until [`enable`](Self::enable) is called everything goes to the allocator that it wraps,
/// and afterwards what does not fit. Whose an object is its address tells: so it may be
/// enabled at any time, also while other threads allocate.
///
/// Which slots are taken stands in one bit each, which threads set and clear without a lock.
/// With the feature `std`, each thread keeps some free slots of each class for itself: it
/// takes the free slots of a whole word of bits at once, hands them out one by one, and
/// gives back 64 at once when it has too many. A thread that ends gives back all. Objects
/// may be freed by another thread than the one that allocated them; they stay with it until
/// its bin is full. Without `std` each call sets or clears its bit.
///
/// # Cost
/// Some 3 ns for a pair of calls, and for a byte of the metadata in 8 objects; an object costs
/// what its slot is larger than itself and 1.016 bits. A thread keeps at most 123 free slots
/// of a class, and its bins are 512 bytes for each class that it uses.
///
/// # Double frees
/// A slot that is given back but was not taken aborts the program with a message. With
/// caches, that is noticed when the slot goes from the thread's cache back to the bits, at
/// the latest when the thread ends or [`stats`](Self::class_stats) are asked for, and not when
/// the object is freed: until then the same slot may have been handed out twice.
///
/// # Examples
/// ```
/// use std::alloc::System;
/// use drystone_alloc::memory::{GlobalSmallObjects, SmallObjectsConfig};
///
/// #[global_allocator]
/// static ALLOCATOR: GlobalSmallObjects<System> = GlobalSmallObjects::new(System);
///
/// ALLOCATOR.enable(&SmallObjectsConfig::default())?;
/// let words: Vec<String> = ["small", "objects"].map(String::from).to_vec();
/// assert!(ALLOCATOR.owns(words[0].as_ptr()));
/// assert!(ALLOCATOR.class_stats().map(|class| class.live).sum::<usize>() >= 3);
/// # Ok::<(), drystone_alloc::Error>(())
/// ```
///
/// # Limits
/// The area is never given back, and its size never changes; memory that was not used yet
/// is only reserved, where the system does so. A thread keeps a cache of one allocator at a
/// time; more than one in a program work, but a thread that uses them in turns is slow. On a
/// platform without native thread-local variables, leave out the feature `std`.
pub struct GlobalSmallObjects<A> {
    /// None before it is enabled, then the same for ever.
    area: AtomicPtr<Area>,
    /// A thread is about to enable it, or has.
    is_claimed: AtomicBool,
    system: A,
}

impl<A> GlobalSmallObjects<A> {
    /// An allocator that leaves everything to `system` until it is enabled.
    pub const fn new(system: A) -> Self {
        let area = AtomicPtr::new(ptr::null_mut());
        Self { area, is_claimed: AtomicBool::new(false), system }
    }

    /// The area, once there is one.
    #[inline(always)]
    fn area(&self) -> Option<&'static Area> {
        // SAFETY: null, or what `enable` has written before it stored the pointer: good for
        // ever, and shared from then on.
        unsafe { self.area.load(Ordering::Acquire).as_ref() }
    }

    /// Whether small objects go to an area of their own.
    pub fn is_enabled(&self) -> bool {
        self.area().is_some()
    }

    /// Whether a pointer leads into the area.
    pub fn owns(&self, pointer: *const u8) -> bool {
        self.area().is_some_and(|area| area.contains(pointer.cast_mut()))
    }

    /// Numbers of each class, by size; none before it is enabled. Free slots in the caches
    /// of other threads count as live, and in `peak` those of any thread did.
    pub fn class_stats(&self) -> impl Iterator<Item = ClassStats> {
        let area = self.area();
        #[cfg(feature = "std")]
        area.inspect(|area| cache::flush(area));
        area.into_iter().flat_map(Area::classes).map(area::Class::stats)
    }

    /// Allocations since it was enabled that were too large or too strictly aligned for any
    /// class; what other threads have counted follows when they end.
    pub fn too_large(&self) -> u64 {
        let area = self.area();
        #[cfg(feature = "std")]
        area.inspect(|area| cache::flush(area));
        area.map_or(0, Area::too_large)
    }
}

impl<A: GlobalAlloc> GlobalSmallObjects<A> {
    /// From now on, objects that fit into a class of the config go to an area of their own,
    /// as long as it has room. Its memory comes from the allocator that this one wraps.
    ///
    /// # Errors
    /// `AlreadyEnabled` if it was called before or another thread is at it, `InvalidSize` if
    /// the config can't be used or a class is larger than 4 GiB, `Full` if there is no memory.
    pub fn enable(&'static self, config: &SmallObjectsConfig<'_>) -> Result<(), Error> {
        // Of two threads at once the second must not make an area that nobody would use.
        if self.is_claimed.swap(true, Ordering::Relaxed) {
            return Err(Error::AlreadyEnabled);
        }
        match Area::new(&self.system, config) {
            Ok(area) => self.area.store(area.as_ptr(), Ordering::Release),
            Err(error) => {
                self.is_claimed.store(false, Ordering::Relaxed);
                return Err(error);
            }
        }
        Ok(())
    }

    /// What the cache of the thread could not answer.
    #[cold]
    #[inline(never)]
    fn allocate_slowly(&self, layout: Layout) -> *mut u8 {
        let slot = self.area().and_then(|area| allocate_in(area, layout));
        // SAFETY: the callers' promise: the size is not zero.
        slot.unwrap_or_else(|| unsafe { self.system.alloc(layout) })
    }

    /// # Safety
    /// - As for `dealloc`.
    #[cold]
    #[inline(never)]
    unsafe fn free_slowly(&self, object: *mut u8, layout: Layout) {
        match self.area().filter(|area| area.contains(object)) {
            Some(area) => free_in(area, object, layout),
            // SAFETY: what is not in the area came from the system's allocator.
            None => unsafe { self.system.dealloc(object, layout) },
        }
    }

    /// # Safety
    /// - As for `realloc`, and the object does not stay where it is.
    #[cold]
    unsafe fn reallocate_slowly(&self, object: *mut u8, old: Layout, new: Layout) -> *mut u8 {
        if !self.owns(object) {
            // SAFETY: what is not in the area came from the system's allocator.
            return unsafe { self.system.realloc(object, old, new.size()) };
        }
        // SAFETY: the new size is not zero.
        let moved = unsafe { self.alloc(new) };
        if !moved.is_null() {
            let kept_bytes = old.size().min(new.size());
            // SAFETY: both objects are live and not the same, and as large as their layouts.
            // The old one is not used any more.
            unsafe {
                moved.copy_from_nonoverlapping(object, kept_bytes);
                self.dealloc(object, old);
            }
        }
        moved
    }
}

/// A slot of the layout's class, through the cache of the thread if it has one.
fn allocate_in(area: &'static Area, layout: Layout) -> Option<*mut u8> {
    let number = area.class_for(layout);
    let class = area.class(number);
    if class.size_bytes() == 0 {
        count_too_large(area);
        return None;
    }
    #[cfg(feature = "std")]
    if let Some(slot) = cache::refill(area, number) {
        return Some(slot);
    }
    let slot = class.claim(Share::Lowest).map(|claim| class.slot_at(class.first_offset(claim)));
    if slot.is_none() {
        class.count_fallback();
    }
    slot.map(NonNull::as_ptr)
}

fn count_too_large(area: &'static Area) {
    #[cfg(feature = "std")]
    if cache::count_too_large(area) {
        return;
    }
    area.add_too_large(1);
}

/// Takes back an object whose address lies in the area.
fn free_in(area: &'static Area, object: *mut u8, layout: Layout) {
    let number = area.class_for(layout);
    let class = area.class(number);
    let Some(offset) = class.offset_of(object) else { die::not_a_slot(class.slot_bytes()) };
    #[cfg(feature = "std")]
    {
        cache::poison(object, layout);
        if cache::put_crowded(area, number, offset) {
            return;
        }
    }
    class.release(core::iter::once(offset));
}

// SAFETY: a slot belongs to one owner from the moment its bit was set until it is cleared,
// and in between to the cache of one thread or to one object; sections hold slots as large
// and as aligned as the table of classes says; all else is the system's. Nothing unwinds:
// the metadata index within their bounds, and what is wrong beyond repair aborts.
unsafe impl<A: GlobalAlloc> GlobalAlloc for GlobalSmallObjects<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        #[cfg(feature = "std")]
        if let Some(slot) = self.area().and_then(|area| cache::take(area, layout)) {
            return slot;
        }
        self.allocate_slowly(layout)
    }

    #[inline]
    unsafe fn dealloc(&self, object: *mut u8, layout: Layout) {
        #[cfg(feature = "std")]
        if self.area().is_some_and(|area| cache::put(area, object, layout)) {
            return;
        }
        // SAFETY: the caller's promise.
        unsafe { self.free_slowly(object, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let is_small = |area: &Area| area.class(area.class_for(layout)).size_bytes() > 0;
        if !self.area().is_some_and(is_small) {
            // Large memory may be zero without being written to.
            self.area().inspect(|area| count_too_large(area));
            // SAFETY: the caller's promise.
            return unsafe { self.system.alloc_zeroed(layout) };
        }
        // SAFETY: the caller's promise.
        let object = unsafe { self.alloc(layout) };
        if !object.is_null() {
            // SAFETY: it is ours and as large as the layout.
            unsafe { object.write_bytes(0, layout.size()) };
        }
        object
    }

    unsafe fn realloc(&self, object: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller promises that the new size makes a layout.
        let new = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        if let Some(area) = self.area() {
            let number = area.class_for(new);
            if number == area.class_for(layout) && area.class(number).offset_of(object).is_some() {
                return object;
            }
        }
        // SAFETY: the caller's promise.
        unsafe { self.reallocate_slowly(object, layout, new) }
    }
}

impl<A> fmt::Debug for GlobalSmallObjects<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GlobalSmallObjects").field("is_enabled", &self.is_enabled()).finish()
    }
}
