use core::alloc::{GlobalAlloc, Layout};
use core::fmt;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use super::{ClassStats, SmallObjectsConfig};
use crate::Error;
use crate::debug_aids::fill_new;

mod area;
mod bits;
#[cfg(feature = "std")]
mod cache;
mod class;
mod misuse;
#[cfg(feature = "pages")]
#[cfg_attr(
    not(any(target_os = "linux", target_os = "android", target_os = "macos")),
    path = "global_small_objects/no_pages.rs"
)]
mod pages;
#[cfg(all(test, feature = "std"))]
mod tests;
#[cfg(feature = "pages")]
mod touched;

use area::Area;
use bits::Share;
use misuse::not_a_slot;

/// [`SmallObjects`](super::SmallObjects) shared by all threads, as the global allocator of a
/// program.
///
/// ```text
///  thread A: bins  [8][16][32]…  ─┐   64 slots at once    ┌ bits ─ 8 8 8 8 8 8 …
///  thread B: bins  [8][16][32]…  ─┼─────────────────────► ┤ bits ─ 16 16 16 16 …      one area
///  thread C: bins  [8][16][32]…  ─┘ ◄── one atomic write  └ bits ─ 32  32  32  32 …
///                                         │ too large, or the class is full
///                                         └──► the system's allocator
/// ```
/// Until [`enable`](Self::enable) is called, every request goes to the wrapped allocator.
/// Afterwards, requests that do not fit still do. The address of an object determines where it was
/// allocated, so the allocator can be enabled at any time, even while other threads allocate.
///
/// One bit per slot marks the used slots; threads set and clear these bits without a lock. With the
/// feature `std`, each thread has a cache of free slots of each class. It takes all free slots of a
/// word of bits at once and allocates from them one by one. A full cache releases 64 slots at once,
/// and a thread that ends releases all. Any thread may free an object; the slot then stays in that
/// thread's cache until the cache is full. Without `std`, each call sets or clears its bit.
///
/// About 3 ns for a pair of calls. The overhead of an object is the rounding to its slot size plus
/// 1.016 bits. A thread caches at most 123 free slots of a class, and its caches take 512 bytes for
/// each class that it uses.
///
/// # Double frees
/// A slot that is released but was not in use aborts the program with a message. With caches, this
/// is detected when the slot returns from the thread's cache to the bits, not when the object is
/// freed. At the latest this happens when the thread ends or calls
/// [`class_stats`](Self::class_stats). Until then, the same slot may have been allocated twice.
///
/// # Examples
/// ```
/// use std::alloc::System;
/// use drystone_memory::{GlobalSmallObjects, SmallObjectsConfig};
///
/// #[global_allocator]
/// static ALLOCATOR: GlobalSmallObjects<System> = GlobalSmallObjects::new(System);
///
/// ALLOCATOR.enable(&SmallObjectsConfig::default())?;
/// let words: Vec<String> = ["small", "objects"].map(String::from).to_vec();
/// assert!(ALLOCATOR.owns(words[0].as_ptr()));
/// assert!(ALLOCATOR.class_stats().map(|class| class.live).sum::<usize>() >= 3);
/// # Ok::<(), drystone_memory::Error>(())
/// ```
///
/// Classes for a program, from a record of its requests. The recorder is inside, so that it records
/// what the area does not serve once that is enabled:
/// ```
/// use std::alloc::System;
/// use drystone_memory::{GlobalSmallObjects, ProposalConfig, Recorder, SmallObjectsConfig};
///
/// #[global_allocator]
/// static ALLOCATOR: GlobalSmallObjects<Recorder<System>> =
///     GlobalSmallObjects::new(Recorder::stopped(System, &System));
///
/// let work = || (0..1000).map(|n| Box::new([n; 3])).collect::<Vec<Box<[u64; 3]>>>();
/// ALLOCATOR.allocator().start();
/// drop(work());
/// let proposal = ALLOCATOR.allocator().record().propose(&ProposalConfig::default());
/// ALLOCATOR.enable(&SmallObjectsConfig { classes: &proposal.classes })?;
/// assert!(work().iter().all(|object| ALLOCATOR.owns(object.as_ptr().cast())));
/// # Ok::<(), drystone_memory::Error>(())
/// ```
/// A started recorder does not stop: print its classes, and use them in a program without it.
///
/// # Limits
/// The area is never released. Its size never changes, unless the feature `pages` and
/// `enable_growing` make it follow the program. Unused memory of the area is only reserved, if the
/// system supports it. A thread has a cache for one allocator at a time: several
/// allocators in a program work, but a thread that alternates between them is slow. On a platform
/// without native thread-local variables, disable the feature `std`.
pub struct GlobalSmallObjects<A> {
    /// Null before it is enabled, then constant.
    area: AtomicPtr<Area>,
    /// Whether a thread has enabled it or is doing so.
    is_claimed: AtomicBool,
    system: A,
}

impl<A> GlobalSmallObjects<A> {
    /// Creates an allocator that passes all requests to `system` until it is enabled.
    pub const fn new(system: A) -> Self {
        let area = AtomicPtr::new(ptr::null_mut());
        Self { area, is_claimed: AtomicBool::new(false), system }
    }

    /// Returns the wrapped allocator.
    pub const fn allocator(&self) -> &A {
        &self.system
    }

    /// Returns the area, once it is enabled.
    #[inline(always)]
    fn area(&self) -> Option<&'static Area> {
        // SAFETY: null, or the area that `enable` wrote before it stored the pointer: valid for the
        // rest of the program, and shared from then on.
        unsafe { self.area.load(Ordering::Acquire).as_ref() }
    }
}

impl<A: GlobalAlloc> GlobalSmallObjects<A> {
    /// Creates the area and allocates objects that fit into a class of `config` there from now on.
    /// A full class falls back to the wrapped allocator, which also provides the memory of the
    /// area.
    ///
    /// # Errors
    /// `AlreadyEnabled` if it was called before or another thread is calling it. `InvalidSize` if
    /// `config` is invalid or a class is larger than 4 GiB. `Full` if the wrapped allocator is out
    /// of memory.
    pub fn enable(&'static self, config: &SmallObjectsConfig<'_>) -> Result<(), Error> {
        self.enable_with(|| Area::new(&self.system, config))
    }

    /// Creates an area that grows and shrinks with the program, and allocates objects there from now
    /// on. Each class has address space for `max_class_bytes` of slots, at most 4 GiB, and at least for
    /// the slots of `config` and for 4,096 slots. The system provides its pages when they are used.
    ///
    /// A class that has freed more than half of its memory, and at least 1 MiB, releases pages without
    /// objects to the system: those of at most 4 MiB of slots, or of 4,096 slots, with each flush of a
    /// thread's cache. [`trim`](Self::trim) releases all at once.
    ///
    /// # Cost
    /// Beyond that of [`enable`](Self::enable): a load and a comparison for each refill and flush of a
    /// thread's cache. Memory that is released and used again costs a page fault every 4 KiB.
    ///
    /// # Limits
    /// If the system limits address space, as `ulimit -v` does, classes have less, at most a quarter of
    /// what is left. On systems that do not overcommit memory
    /// (`vm.overcommit_memory = 2`), all of it counts as used; choose a small `max_class_bytes` there.
    /// If that is too little, if `max_class_bytes` is 0, or on other systems than Linux, Android and macOS,
    /// this is the same as `enable`.
    ///
    /// # Errors
    /// As for [`enable`](Self::enable).
    #[cfg(feature = "pages")]
    pub fn enable_growing(
        &'static self,
        config: &SmallObjectsConfig<'_>,
        max_class_bytes: usize,
    ) -> Result<(), Error> {
        self.enable_with(|| Area::growing(&self.system, config, max_class_bytes))
    }

    fn enable_with(
        &'static self,
        create: impl FnOnce() -> Result<NonNull<Area>, Error>,
    ) -> Result<(), Error> {
        // If two threads call this at once, the second must not create an unused area.
        if self.is_claimed.swap(true, Ordering::Relaxed) {
            return Err(Error::AlreadyEnabled);
        }
        match create() {
            Ok(area) => self.area.store(area.as_ptr(), Ordering::Release),
            Err(error) => {
                self.is_claimed.store(false, Ordering::Relaxed);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Allocates a request that the cache of the thread cannot serve.
    #[cold]
    #[inline(never)]
    fn allocate_slowly(&self, layout: Layout) -> *mut u8 {
        let slot = self.area().and_then(|area| allocate_in(area, layout));
        let slot = slot.map(|slot| filled(slot, layout));
        // SAFETY: guaranteed by the caller: the size is not zero.
        slot.unwrap_or_else(|| unsafe { self.system.alloc(layout) })
    }

    /// # Safety
    /// - The conditions of `dealloc`.
    #[cold]
    #[inline(never)]
    unsafe fn free_slowly(&self, object: *mut u8, layout: Layout) {
        match self.area().filter(|area| area.contains(object)) {
            Some(area) => free_in(area, object, layout),
            // SAFETY: an object outside the area came from the system's allocator.
            None => unsafe { self.system.dealloc(object, layout) },
        }
    }

    /// # Safety
    /// - The conditions of `realloc`, and the object does not stay in place.
    #[cold]
    unsafe fn reallocate_slowly(&self, object: *mut u8, old: Layout, new: Layout) -> *mut u8 {
        if !self.owns(object) {
            // SAFETY: an object outside the area came from the system's allocator.
            return unsafe { self.system.realloc(object, old, new.size()) };
        }
        // SAFETY: the new size is not zero.
        let moved = unsafe { self.alloc(new) };
        if !moved.is_null() {
            let kept_bytes = old.size().min(new.size());
            // SAFETY: both objects are live and distinct, and as large as their layouts. The old
            // one is not used any more.
            unsafe {
                moved.copy_from_nonoverlapping(object, kept_bytes);
                self.dealloc(object, old);
            }
        }
        moved
    }
}

impl<A> GlobalSmallObjects<A> {
    /// Whether small objects are allocated in the area.
    pub fn is_enabled(&self) -> bool {
        self.area().is_some()
    }

    /// Whether a pointer points into the area.
    pub fn owns(&self, pointer: *const u8) -> bool {
        self.area().is_some_and(|area| area.contains(pointer.cast_mut()))
    }

    /// Iterates over the statistics of the classes, sorted by size; empty before it is enabled.
    /// `live` includes the free slots in the caches of other threads, and `peak` those of all
    /// threads.
    pub fn class_stats(&self) -> impl Iterator<Item = ClassStats> {
        let area = self.area();
        #[cfg(feature = "std")]
        area.inspect(|area| cache::flush(area));
        area.into_iter().flat_map(Area::classes).map(class::Class::stats)
    }

    /// Releases the memory of all pages without objects to the system. Returns the number of their
    /// bytes; 0 unless [`enable_growing`](Self::enable_growing) enabled it. Free slots in the caches of
    /// other threads keep their pages, and so do classes that another thread is trimming. Pages that
    /// the cache of this thread releases by itself meanwhile are not counted.
    ///
    /// # Examples
    /// ```
    /// use std::alloc::System;
    /// use drystone_memory::{GlobalSmallObjects, SmallObjectsConfig};
    ///
    /// #[global_allocator]
    /// static ALLOCATOR: GlobalSmallObjects<System> = GlobalSmallObjects::new(System);
    ///
    /// ALLOCATOR.enable_growing(&SmallObjectsConfig::default(), 1 << 30)?;
    /// let boxes: Vec<Box<u64>> = (0..1_000_000).map(Box::new).collect();
    /// assert!(ALLOCATOR.class_stats().all(|class| class.fallbacks == 0));
    /// drop(boxes);
    /// ALLOCATOR.trim();
    /// # Ok::<(), drystone_memory::Error>(())
    /// ```
    #[cfg(feature = "pages")]
    pub fn trim(&self) -> usize {
        let area = self.area();
        area.inspect(|area| cache::flush(area));
        area.into_iter().flat_map(Area::classes).map(|class| class.trim(touched::Part::All)).sum()
    }

    /// Number of requests since it was enabled that were too large or too strictly aligned for all
    /// classes. Other threads add their counts when they end.
    pub fn too_large(&self) -> u64 {
        let area = self.area();
        #[cfg(feature = "std")]
        area.inspect(|area| cache::flush(area));
        area.map_or(0, Area::too_large)
    }
}

/// Allocates a slot of the layout's class, through the cache of the thread if it has one.
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

/// Overwrites a new object in debug builds, and returns it.
#[inline(always)]
fn filled(slot: *mut u8, layout: Layout) -> *mut u8 {
    if let Some(object) = NonNull::new(slot) {
        // SAFETY: the slot is new, and as large as the layout.
        unsafe { fill_new(object, layout.size()) };
    }
    slot
}

fn count_too_large(area: &'static Area) {
    #[cfg(feature = "std")]
    if cache::count_too_large(area) {
        return;
    }
    area.add_too_large(1);
}

/// Frees an object whose address is in the area.
fn free_in(area: &'static Area, object: *mut u8, layout: Layout) {
    let number = area.class_for(layout);
    let class = area.class(number);
    let Some(offset) = class.offset_of(object) else { not_a_slot(class.slot_bytes()) };
    #[cfg(feature = "std")]
    {
        cache::poison(object, layout);
        if cache::put_or_flush(area, number, offset) {
            return;
        }
    }
    class.release(core::iter::once(offset));
}

// SAFETY: a slot belongs to one owner from the moment its bit was set until it is cleared: the
// cache of one thread or one object. Sections hold slots of the size and alignment that the table
// of classes states; all else belongs to the system's allocator. Nothing unwinds: accesses to the
// metadata are within bounds, and a corrupted state aborts.
unsafe impl<A: GlobalAlloc> GlobalAlloc for GlobalSmallObjects<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        #[cfg(feature = "std")]
        if let Some(slot) = self.area().and_then(|area| cache::take(area, layout)) {
            return filled(slot, layout);
        }
        self.allocate_slowly(layout)
    }

    #[inline]
    unsafe fn dealloc(&self, object: *mut u8, layout: Layout) {
        #[cfg(feature = "std")]
        if self.area().is_some_and(|area| cache::put(area, object, layout)) {
            return;
        }
        // SAFETY: guaranteed by the caller.
        unsafe { self.free_slowly(object, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let is_small = |area: &Area| area.class(area.class_for(layout)).size_bytes() > 0;
        if !self.area().is_some_and(is_small) {
            // Large memory may be zero without being written.
            self.area().inspect(|area| count_too_large(area));
            // SAFETY: guaranteed by the caller.
            return unsafe { self.system.alloc_zeroed(layout) };
        }
        // SAFETY: guaranteed by the caller.
        let object = unsafe { self.alloc(layout) };
        if !object.is_null() {
            // SAFETY: it is ours and as large as the layout.
            unsafe { object.write_bytes(0, layout.size()) };
        }
        object
    }

    unsafe fn realloc(&self, object: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller guarantees that the new size is a valid layout.
        let new = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        if let Some(area) = self.area() {
            let number = area.class_for(new);
            if number == area.class_for(layout) && area.class(number).offset_of(object).is_some() {
                return object;
            }
        }
        // SAFETY: guaranteed by the caller.
        unsafe { self.reallocate_slowly(object, layout, new) }
    }
}

impl<A> fmt::Debug for GlobalSmallObjects<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GlobalSmallObjects").field("is_enabled", &self.is_enabled()).finish()
    }
}
