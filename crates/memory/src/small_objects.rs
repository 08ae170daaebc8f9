use core::alloc::Layout;
use core::fmt;
use core::iter;
use core::ptr::NonNull;

use crate::debug_aids::{Leak, report_leak};
use crate::region::dangling;
use crate::{Error, MemorySource, Region};

#[cfg(feature = "allocator-api2")]
mod allocator;
mod class;
mod config;
mod fallback;
pub(crate) mod plan;
pub(crate) mod section;
mod stats;
#[cfg(test)]
mod tests;

use class::Class;
pub use config::{SlotClass, SmallObjectsConfig};
use fallback::Fallback;
use plan::Plan;
use section::ClassTable;
pub use stats::{ClassStats, SmallObjectsStats};

/// Allocator of small objects of a few sizes, with one bit of metadata per slot.
///
/// ```text
///  | metadata      | 8 8 8 8 8 8 … | 16 16 16 16 … | 32  32  32  32 … | 48   48   48 … | …
///    one bit      a section of equal slots for each class of sizes
///    a slot
/// ```
/// The area is divided once into sections of slots of one size. An object goes to the smallest
/// class that it fits into. Requests that no class can serve go to the fallback, if there is one,
/// and are counted. The address of an object determines its class and slot, so objects have no
/// headers, and there is no fragmentation.
///
/// Source: "Small Object Allocator" by D. Gustafsson. The article searches the bits of a class from
/// the lowest free slot on, which is slow for random lifetimes. Here each class also has a short
/// stack of cached slots: the slot freed last is used first. The bits are accessed only if the
/// stack is empty or full, for 24 slots at a time. A second layer with one bit per 64 slots
/// shortens the search.
///
/// # Cost
/// Allocating and freeing are O(1), about 5 ns for the pair. At most once in 24 times, the summary
/// is searched, one bit for each 64 slots of the class. The overhead of an object is the rounding
/// to its slot size plus 1.016 bits. Each class takes 512 bytes more, and caches up to 48 slots. A
/// live block of the fallback takes 24 bytes in a hash table, which is at most three quarters full.
///
/// # Wrong frees
/// [`free`](Self::free) and [`resize`](Self::resize) return an error for each pointer that is not
/// the start of an object of this allocator: no slot starts there, or no block of the fallback.
/// [`with_unrecorded_fallback`](Self::with_unrecorded_fallback) leaves pointers outside the slots
/// to the caller.
///
/// A double free is not always detected at once. It is in debug builds, and if the object was the
/// last one of its class to be freed. Otherwise it is detected when the slot leaves the cache, by a
/// later free or by [`flush`](Self::flush), and counted in [`stats`](Self::stats). If the slot is
/// allocated again before that, it has two owners. [`with_checked_frees`] detects every double free
/// in all builds, unless the slot was allocated again in between and so belongs to a new object.
///
/// [`with_checked_frees`]: Self::with_checked_frees
///
/// # Examples
/// ```
/// use core::alloc::Layout;
/// use drystone_memory::{Error, Region, SmallObjects, SmallObjectsConfig};
///
/// let region = Region::heap(1 << 20)?;
/// let objects = SmallObjects::new(region, &SmallObjectsConfig::default())?;
/// let layout = Layout::new::<[u32; 5]>();
/// let object = objects.allocate(layout)?;
/// assert_eq!(objects.class_of(object).map(|class| class.slot_bytes), Some(32));
/// // SAFETY: the object was allocated with this layout, and nothing uses it any more.
/// unsafe {
///     objects.free(object, layout)?;
///     assert_eq!(objects.free(object, layout), Err(Error::NotAllocated));
/// }
/// # Ok::<(), Error>(())
/// ```
#[doc(alias("slab", "size classes"))]
pub struct SmallObjects<'m> {
    /// Headers of the classes, one more than there are classes; see [`Plan`].
    classes: NonNull<Class>,
    table: ClassTable,
    fallback: Option<Fallback<'m>>,
    region: Region<'m>,
}

impl<'m> SmallObjects<'m> {
    /// Divides a region into the slots of the config, in its proportions, without a fallback.
    ///
    /// # Errors
    /// `InvalidSize` if a class's size is zero or too large, or if there are too many classes.
    /// `Full` if the region is too small for the metadata.
    pub fn new(region: Region<'m>, config: &SmallObjectsConfig<'_>) -> Result<Self, Error> {
        let plan = Plan::fitting(config, region.size_bytes())?;
        let address = region.start().addr().get();
        let skipped = address.next_multiple_of(plan.align()) - address;
        // SAFETY: a plan that fits the region does so at any start address.
        let base = unsafe { region.start().add(skipped) };
        let classes = base.cast::<Class>();
        for (index, class) in plan.classes().iter().enumerate() {
            // SAFETY: the plan reserves a header for each class at the base, aligned to a cache
            // line as `Class` is. The region belongs to us, and only the class writes where the
            // plan has its parts.
            unsafe { Self::header(classes, index).write(Class::new(base, class)) };
        }
        Ok(Self { classes, table: plan.table(), fallback: None, region })
    }

    /// Sets the source of requests that no class can serve.
    ///
    /// # Examples
    /// ```
    /// use drystone_memory::{Heap, Region, SmallObjects, SmallObjectsConfig};
    ///
    /// let region = Region::heap(1 << 20)?;
    /// let config = SmallObjectsConfig::default();
    /// let objects = SmallObjects::new(region, &config)?.with_fallback(&Heap);
    /// let large = std::alloc::Layout::new::<[u64; 1000]>();
    /// let object = objects.allocate(large)?;
    /// assert!(!objects.owns(object));
    /// assert_eq!(objects.stats().too_large, 1);
    /// // SAFETY: the object was allocated with this layout, and nothing uses it any more.
    /// unsafe { objects.free(object, large)? };
    /// # Ok::<(), drystone_memory::Error>(())
    /// ```
    #[must_use]
    pub fn with_fallback(mut self, fallback: &'m dyn MemorySource) -> Self {
        self.fallback = Some(Fallback::recorded(fallback));
        self
    }

    /// Sets the source of requests that no class can serve, without a record of its blocks. They
    /// take no further time and memory, and are not reported as leaks. A pointer that is not in a
    /// slot is not checked: it is passed to the source.
    ///
    /// # Safety
    /// - Every pointer outside the slots that is later passed to [`free`](Self::free) or
    ///   [`resize`](Self::resize) is a live block of this fallback, not of an earlier one, and the
    ///   layout is the one that it was allocated or last resized with.
    ///
    /// # Examples
    /// ```
    /// use drystone_memory::{Heap, Region, SmallObjects, SmallObjectsConfig};
    ///
    /// let objects = SmallObjects::new(Region::heap(1 << 20)?, &SmallObjectsConfig::default())?;
    /// // SAFETY: only the object below is freed, once.
    /// let objects = unsafe { objects.with_unrecorded_fallback(&Heap) };
    /// let large = std::alloc::Layout::new::<[u64; 1000]>();
    /// let object = objects.allocate(large)?;
    /// // SAFETY: the object was allocated with this layout, and nothing uses it any more.
    /// unsafe { objects.free(object, large)? };
    /// # Ok::<(), drystone_memory::Error>(())
    /// ```
    #[must_use]
    pub unsafe fn with_unrecorded_fallback(mut self, fallback: &'m dyn MemorySource) -> Self {
        // SAFETY: guaranteed by the caller: what is not in a slot is a block of the fallback.
        self.fallback = Some(unsafe { Fallback::counted(fallback) });
        self
    }

    /// Checks every free, in release builds too: a double free is an error, and no slot gets two
    /// owners. Freed slots are not cached, so the lowest free slot is always used first.
    ///
    /// # Cost
    /// Each allocation searches the bits, and each free writes to them. A pair takes 5 to 19 ns
    /// instead of 2: the last or a random one of 10,000 objects is freed, and another allocated. No
    /// memory.
    ///
    /// # Examples
    /// ```
    /// use core::alloc::Layout;
    /// use drystone_memory::{Error, Region, SmallObjects, SmallObjectsConfig};
    ///
    /// let region = Region::heap(1 << 20)?;
    /// let objects = SmallObjects::new(region, &SmallObjectsConfig::default())?.with_checked_frees();
    /// let layout = Layout::new::<u64>();
    /// let [first, second] = [objects.allocate(layout)?, objects.allocate(layout)?];
    /// // SAFETY: nothing uses the objects any more.
    /// unsafe {
    ///     objects.free(first, layout)?;
    ///     objects.free(second, layout)?;
    ///     assert_eq!(objects.free(first, layout), Err(Error::NotAllocated));
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn with_checked_frees(self) -> Self {
        self.classes().for_each(Class::check_frees);
        self
    }

    /// Returns the header of a class.
    ///
    /// # Safety
    /// - `index` is at most the number of classes.
    #[inline(always)]
    unsafe fn header(classes: NonNull<Class>, index: usize) -> NonNull<Class> {
        // SAFETY: there is a header for each class, and one more.
        unsafe { classes.byte_add(index * Plan::HEADER_BYTES) }
    }

    /// Returns the class that serves a layout, possibly the one without slots.
    #[inline(always)]
    fn class_for(&self, layout: Layout) -> &Class {
        // SAFETY: the table returns at most the number of classes; `new` wrote all headers, and
        // they are in the region, which lives as long as `self`.
        unsafe { Self::header(self.classes, self.table.class_for(layout)).as_ref() }
    }

    /// Iterates over all classes, the one without slots last.
    fn classes(&self) -> impl Iterator<Item = &Class> {
        (0..=self.table.class_count()).map(|index| {
            // SAFETY: as in `class_for`.
            unsafe { Self::header(self.classes, index).as_ref() }
        })
    }

    /// Allocates an object of uninitialized bytes, aligned as its layout requires. For a layout of
    /// 0 bytes, returns an aligned address outside the area.
    ///
    /// # Errors
    /// `Full` if neither the layout's class nor the fallback has free memory.
    #[inline]
    pub fn allocate(&self, layout: Layout) -> Result<NonNull<u8>, Error> {
        match self.class_for(layout).take() {
            Some(object) => Ok(object),
            None => self.allocate_from_fallback(layout),
        }
    }

    #[cold]
    fn allocate_from_fallback(&self, layout: Layout) -> Result<NonNull<u8>, Error> {
        if layout.size() == 0 {
            return Ok(dangling(layout));
        }
        self.class_for(layout).count_fallback();
        let block = self.fallback.as_ref().and_then(|fallback| fallback.allocate(layout));
        block.ok_or_else(|| self.full(layout))
    }

    /// Frees an object.
    ///
    /// # Errors
    /// `NotAllocated` if no slot of the layout's size and no block of the fallback with this layout
    /// starts there, or if a double free is detected; see *Wrong frees* above. A detected double
    /// free may be that of an earlier object; this object is then freed all the same.
    ///
    /// # Safety
    /// - If an object of this allocator starts there, nothing uses it any more. This includes a new
    ///   object in the slot of one that was freed before.
    /// - The object was not freed before, unless frees are checked.
    /// - The condition of [`with_unrecorded_fallback`](Self::with_unrecorded_fallback), if it is used.
    #[inline]
    pub unsafe fn free(&self, object: NonNull<u8>, layout: Layout) -> Result<(), Error> {
        let class = self.class_for(layout);
        let slot = class.slot_of(object);
        let is_valid = if class.has_slot(slot) {
            class.free(object)
        } else {
            // SAFETY: guaranteed by the caller.
            unsafe { self.free_outside_class(object, layout) }
        };
        if is_valid { Ok(()) } else { Err(Error::NotAllocated) }
    }

    /// Frees an object that is not in a slot of its layout's class. Returns `false` if it is
    /// invalid.
    ///
    /// # Safety
    /// - The conditions of `free`.
    #[cold]
    unsafe fn free_outside_class(&self, object: NonNull<u8>, layout: Layout) -> bool {
        if layout.size() == 0 {
            return true;
        }
        if let Some(class) = self.class_at(object) {
            // A shrunk object, in a slot of a larger class.
            let is_slot = class.has_slot(class.slot_of(object));
            return is_slot && layout.size() <= class.slot_bytes() && class.free(object);
        }
        // SAFETY: guaranteed by the caller.
        self.fallback.as_ref().is_some_and(|fallback| unsafe { fallback.free(object, layout) })
    }

    /// Changes the layout of an object: in place if the new layout has the same class, otherwise by
    /// moving its bytes. The bytes beyond the smaller of the two sizes are uninitialized.
    ///
    /// # Errors
    /// `Full` if there is no memory for a larger object. `NotAllocated` under the conditions of
    /// [`free`](Self::free). The old object is then unchanged. Shrinking never fails with `Full`.
    ///
    /// # Safety
    /// - The conditions of [`free`](Self::free), with `old` as the layout.
    /// - Nothing uses the old pointer afterwards, unless there was an error.
    #[inline]
    pub unsafe fn resize(
        &self,
        object: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<u8>, Error> {
        let class = self.class_for(new);
        if old.size() > 0 && class.is_live(object) {
            return Ok(object);
        }
        // SAFETY: the caller's promise.
        unsafe { self.move_to(object, old, new) }
    }

    /// # Safety
    /// - The conditions of `resize`.
    unsafe fn move_to(
        &self,
        object: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<u8>, Error> {
        let slot_bytes = self.slot_bytes_of(object, old)?;
        let moved = match self.allocate(new) {
            Ok(moved) => moved,
            // A shrunk object may stay in a slot of a larger class: its address determines the
            // class.
            Err(_) if new.size() <= slot_bytes && is_aligned(object, new) => return Ok(object),
            Err(full) => return Err(full),
        };
        // SAFETY: both are live and ours, so they are distinct, and are as large as their layouts.
        unsafe { moved.copy_from_nonoverlapping(object, old.size().min(new.size())) };
        // An error would concern another object: this one was checked above.
        // SAFETY: the caller's promise.
        let _ = unsafe { self.free(object, old) };
        Ok(moved)
    }

    /// Returns the size of the slot that contains an object; 0 if it is not in a slot.
    ///
    /// # Errors
    /// `NotAllocated` if the object cannot be live.
    fn slot_bytes_of(&self, object: NonNull<u8>, layout: Layout) -> Result<usize, Error> {
        if layout.size() == 0 {
            return Ok(0);
        }
        let Some(class) = self.class_at(object) else {
            let fallback = self.fallback.as_ref();
            let is_live = fallback.is_some_and(|fallback| fallback.is_live(object, layout));
            return if is_live { Ok(0) } else { Err(Error::NotAllocated) };
        };
        let is_live = class.is_live(object) && layout.size() <= class.slot_bytes();
        if is_live { Ok(class.slot_bytes()) } else { Err(Error::NotAllocated) }
    }

    fn class_at(&self, pointer: NonNull<u8>) -> Option<&Class> {
        let offset = pointer.addr().get().wrapping_sub(self.region.start().addr().get());
        let is_inside = offset < self.region.size_bytes();
        self.classes().take_while(|_| is_inside).find(|class| class.spans(pointer.addr().get()))
    }

    /// Returns all cached slots to the bits. The next allocations then take the lowest slots.
    ///
    /// # Errors
    /// `NotAllocated` if a double free is detected. All slots are returned even so.
    pub fn flush(&self) -> Result<(), Error> {
        let is_valid = self.classes().fold(true, |is_valid, class| class.flush_all() & is_valid);
        if is_valid { Ok(()) } else { Err(Error::NotAllocated) }
    }

    /// Frees all objects in the area at once. Objects in the fallback are not freed.
    pub fn reset(&mut self) {
        report_leak(|| self.leak());
        self.classes().for_each(Class::free_all);
    }

    /// Whether a pointer points to a slot or into one.
    pub fn owns(&self, pointer: NonNull<u8>) -> bool {
        self.class_at(pointer).is_some()
    }

    /// Returns the present statistics of the class whose section contains a pointer.
    pub fn class_of(&self, pointer: NonNull<u8>) -> Option<ClassStats> {
        self.class_at(pointer).map(ClassStats::of)
    }

    /// Returns the statistics of all classes together.
    pub fn stats(&self) -> SmallObjectsStats {
        let too_large = self.classes().last().map_or(0, Class::fallbacks);
        let region_bytes = self.region.size_bytes();
        let mut stats = SmallObjectsStats { region_bytes, too_large, ..Default::default() };
        stats.fallback_live = self.fallback.as_ref().map_or(0, Fallback::live_count);
        stats.double_frees = self.classes().map(Class::double_frees).sum();
        self.class_stats().for_each(|class| stats.add(&class));
        stats
    }

    /// Iterates over the statistics of the classes, sorted by size.
    pub fn class_stats(&self) -> impl Iterator<Item = ClassStats> {
        self.classes().take(self.table.class_count()).map(ClassStats::of)
    }

    /// Verifies all invariants, for tests of this crate.
    ///
    /// # Cost
    /// O(slots).
    ///
    /// # Errors
    /// The invariant that is violated.
    pub fn validate(&self) -> Result<(), &'static str> {
        self.classes().try_for_each(Class::validate)
    }

    /// Returns the live objects in the area.
    fn leak(&self) -> Leak {
        let sizes = |class: ClassStats| iter::repeat_n(class.slot_bytes, class.live);
        Leak::of("SmallObjects", self.class_stats().flat_map(sizes))
    }

    #[cold]
    fn full(&self, layout: Layout) -> Error {
        let (mut largest_free, mut total_free) = (0, 0);
        for class in self.class_stats().filter(|class| class.live < class.slots) {
            largest_free = class.slot_bytes as u64;
            total_free += ((class.slots - class.live) * class.slot_bytes) as u64;
        }
        Error::Full { requested: layout.size() as u64, largest_free, total_free }
    }
}

fn is_aligned(object: NonNull<u8>, layout: Layout) -> bool {
    object.addr().get().is_multiple_of(layout.align())
}

// SAFETY: the headers and all that they point to are in the region, which is `Send`. The fallback
// is `Sync`.
unsafe impl Send for SmallObjects<'_> {}

impl Drop for SmallObjects<'_> {
    #[inline]
    fn drop(&mut self) {
        report_leak(|| self.leak());
    }
}

impl fmt::Debug for SmallObjects<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SmallObjects").field("stats", &self.stats()).finish_non_exhaustive()
    }
}
