use core::alloc::Layout;
use core::cell::Cell;
use core::fmt;
use core::num::NonZeroUsize;
use core::ptr::NonNull;

use super::{MemorySource, Region};
use crate::Error;

#[cfg(feature = "allocator-api2")]
mod allocator;
mod class;
mod config;
pub(crate) mod plan;
pub(crate) mod section;
mod stats;
#[cfg(test)]
mod tests;

use class::Class;
pub use config::{SlotClass, SmallObjectsConfig};
use plan::Plan;
use section::ClassTable;
pub use stats::{ClassStats, SmallObjectsStats};

/// Small objects of a few sizes, with one bit of book-keeping each.
///
/// ```text
///  | metadata      | 8 8 8 8 8 8 … | 16 16 16 16 … | 32  32  32  32 … | 48   48   48 … | …
///    one bit      a section of equal slots for each class of sizes
///    a slot
/// ```
/// The area is divided once, into sections of slots of one size. An object goes to the
/// smallest class that it fits into; what no class can take goes to the fallback, if there
/// is one, and is counted. A pointer tells by its address to which class and slot it
/// belongs, so objects have no headers, and nothing is ever fragmented.
///
/// The article that this comes from, "Small Object Allocator" by D. Gustafsson, searches
/// the bits of a class from the lowest free slot on. That is slow where lifetimes are
/// random. Here each class has a short stack of slots at hand: those freed last, which are
/// used first. Only when it is empty or full are the bits looked at, for 24 slots at a time,
/// and a second layer of bits, one for each 64 slots, says where looking pays.
///
/// # Cost
/// Allocating and freeing are O(1), some 5 ns for the pair, but for a search once in 24
/// times at most: of the summary, one bit for each 64 slots of the class. An object costs
/// what its slot is larger than itself, and 1.016 bits. Each class costs 512 bytes more, and
/// up to 48 slots that are at hand.
///
/// # Double frees
/// Freeing an object twice is an error that [`free`](Self::free) does not always see at
/// once. It does in debug builds, and when the object was the last of its class to be freed.
/// Else it is seen when the slot leaves the stack, by the free that made it leave or by
/// [`flush`](Self::flush), and counted in [`stats`](Self::stats). If the slot is used again
/// before that, it has two owners.
///
/// # Examples
/// ```
/// use core::alloc::Layout;
/// use drystone_alloc::{Error, memory::{Region, SmallObjects, SmallObjectsConfig}};
///
/// let region = Region::heap(1 << 20)?;
/// let objects = SmallObjects::new(region, &SmallObjectsConfig::default())?;
/// let layout = Layout::new::<[u32; 5]>();
/// let object = objects.allocate(layout)?;
/// assert_eq!(objects.class_of(object).map(|class| class.slot_bytes), Some(32));
/// // SAFETY: the object was allocated with this layout, and nobody uses it any more.
/// unsafe {
///     objects.free(object, layout)?;
///     assert_eq!(objects.free(object, layout), Err(Error::NotAllocated));
/// }
/// # Ok::<(), Error>(())
/// ```
pub struct SmallObjects<'m> {
    /// The headers, one more than there are classes; see [`Plan`].
    classes: NonNull<Class>,
    table: ClassTable,
    fallback: Option<&'m dyn MemorySource>,
    /// Blocks of the fallback that are live.
    fallback_live: Cell<usize>,
    region: Region<'m>,
}

impl<'m> SmallObjects<'m> {
    /// Divides a region into the slots of the config, in its proportions. Without fallback.
    ///
    /// # Errors
    /// `InvalidSize` if a class's size is zero or too large or if there are too many
    /// classes, `Full` if the region is too small for the metadata.
    pub fn new(region: Region<'m>, config: &SmallObjectsConfig<'_>) -> Result<Self, Error> {
        let plan = Plan::fitting(config, region.size_bytes())?;
        let address = region.start().addr().get();
        let skipped = address.next_multiple_of(plan.align()) - address;
        // SAFETY: a plan that fits the region does so wherever that starts.
        let base = unsafe { region.start().add(skipped) };
        let classes = base.cast::<Class>();
        for (index, class) in plan.classes().iter().enumerate() {
            // SAFETY: the plan sets aside a header for each class at the base, aligned to a
            // cache line as `Class` is. The region belongs to us, and nobody but the class
            // writes where the plan has its parts.
            unsafe { Self::header(classes, index).write(Class::new(base, class)) };
        }
        let fallback_live = Cell::new(0);
        Ok(Self { classes, table: plan.table(), fallback: None, fallback_live, region })
    }

    /// Sends what no class can take to `fallback`.
    ///
    /// # Examples
    /// ```
    /// use core::alloc::Layout;
    /// use drystone_alloc::memory::{Heap, Region, SmallObjects, SmallObjectsConfig};
    ///
    /// let region = Region::heap(1 << 20)?;
    /// let config = SmallObjectsConfig::default();
    /// let objects = SmallObjects::new(region, &config)?.with_fallback(&Heap);
    /// let large = Layout::new::<[u64; 1000]>();
    /// let object = objects.allocate(large)?;
    /// assert!(!objects.owns(object));
    /// assert_eq!(objects.stats().too_large, 1);
    /// // SAFETY: the object was allocated with this layout, and nobody uses it any more.
    /// unsafe { objects.free(object, large)? };
    /// # Ok::<(), drystone_alloc::Error>(())
    /// ```
    #[must_use]
    pub fn with_fallback(mut self, fallback: &'m dyn MemorySource) -> Self {
        self.fallback = Some(fallback);
        self
    }

    /// The header of a class.
    ///
    /// # Safety
    /// - `index` is at most the number of classes.
    #[inline(always)]
    unsafe fn header(classes: NonNull<Class>, index: usize) -> NonNull<Class> {
        // SAFETY: there is a header for each class, and one more.
        unsafe { classes.byte_add(index * Plan::HEADER_BYTES) }
    }

    /// The class that serves a layout, maybe the one without slots.
    #[inline(always)]
    fn class_for(&self, layout: Layout) -> &Class {
        // SAFETY: the table answers with the number of a class at most; `new` wrote all
        // headers, and they lie in the region, which lives as long as we do.
        unsafe { Self::header(self.classes, self.table.class_for(layout)).as_ref() }
    }

    /// All classes, the one without slots last.
    fn classes(&self) -> impl Iterator<Item = &Class> {
        (0..=self.table.class_count()).map(|index| {
            // SAFETY: as in `class_for`.
            unsafe { Self::header(self.classes, index).as_ref() }
        })
    }

    /// Bytes for an object, aligned as its layout says, of unknown content. A layout of no
    /// bytes gets an aligned address that is none of an object.
    ///
    /// # Errors
    /// `Full` if neither the layout's class nor the fallback has room.
    #[inline]
    pub fn allocate(&self, layout: Layout) -> Result<NonNull<u8>, Error> {
        match self.class_for(layout).take() {
            Some(object) => Ok(object),
            None => self.allocate_elsewhere(layout),
        }
    }

    #[cold]
    fn allocate_elsewhere(&self, layout: Layout) -> Result<NonNull<u8>, Error> {
        if layout.size() == 0 {
            return Ok(NonNull::without_provenance(aligned_address(layout)));
        }
        self.class_for(layout).count_fallback();
        let block = self.fallback.and_then(|fallback| fallback.allocate(layout));
        let block = block.ok_or_else(|| self.full(layout))?;
        self.fallback_live.set(self.fallback_live.get() + 1);
        Ok(block)
    }

    /// Gives an object back.
    ///
    /// # Errors
    /// `NotAllocated` if no slot of the layout's size starts there, or if the object was
    /// freed before and that is seen; see *Double frees* above. If it is not this object but
    /// another that was freed twice before, this one is free all the same.
    ///
    /// # Safety
    /// - The object came from `allocate` or `resize` of this allocator with the same layout,
    ///   and was not freed since. Errors are for finding mistakes, not for relying on: of the
    ///   blocks of the fallback only the number is known, and a pointer outside of the area
    ///   is taken for one of them while any is live.
    /// - Nobody uses the object any more.
    #[inline]
    pub unsafe fn free(&self, object: NonNull<u8>, layout: Layout) -> Result<(), Error> {
        let class = self.class_for(layout);
        let slot = class.slot_of(object);
        let is_right = if class.has_slot(slot) {
            class.give(object)
        } else {
            // SAFETY: the caller's promise.
            unsafe { self.free_elsewhere(object, layout) }
        };
        if is_right { Ok(()) } else { Err(Error::NotAllocated) }
    }

    /// Frees what is not in a slot of its layout's class; `false` if that is nothing of ours.
    ///
    /// # Safety
    /// - As for `free`.
    #[cold]
    unsafe fn free_elsewhere(&self, object: NonNull<u8>, layout: Layout) -> bool {
        if layout.size() == 0 {
            return true;
        }
        if let Some(class) = self.class_at(object) {
            // An object that became smaller, in a slot of a larger class.
            let is_slot = class.has_slot(class.slot_of(object));
            return is_slot && layout.size() <= class.slot_bytes() && class.give(object);
        }
        let (Some(fallback), 1..) = (self.fallback, self.fallback_live.get()) else {
            return false;
        };
        self.fallback_live.set(self.fallback_live.get() - 1);
        // SAFETY: the caller promises that the block is ours; as it is not in the area, it
        // came from the fallback, with this layout.
        unsafe { fallback.free(object, layout) };
        true
    }

    /// Changes the layout of an object: in place if its slot is of the class that the new
    /// layout asks for, else by moving its bytes. The bytes beyond the smaller of the two
    /// sizes are unknown.
    ///
    /// # Errors
    /// `Full` if there is no room for a larger object, `NotAllocated` as for
    /// [`free`](Self::free); the old object is as it was. Making an object smaller never
    /// fails for want of room.
    ///
    /// # Safety
    /// - As for [`free`](Self::free), with `old` for the layout.
    /// - Nobody uses the old pointer afterwards, unless there was an error.
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
    /// - As for `resize`.
    unsafe fn move_to(
        &self,
        object: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<u8>, Error> {
        let slot_bytes = self.slot_bytes_of(object, old)?;
        let moved = match self.allocate(new) {
            Ok(moved) => moved,
            // A slot may hold less than others of its class: whose it is the address tells.
            Err(_) if new.size() <= slot_bytes && is_aligned(object, new) => return Ok(object),
            Err(full) => return Err(full),
        };
        // SAFETY: both are live and ours, so they are not the same, and are as large as
        // their layouts.
        unsafe { moved.copy_from_nonoverlapping(object, old.size().min(new.size())) };
        // An error would be about another object: this one was looked at above.
        // SAFETY: the caller's promise.
        let _ = unsafe { self.free(object, old) };
        Ok(moved)
    }

    /// Size of the slot that an object lies in; 0 if it lies in none.
    ///
    /// # Errors
    /// `NotAllocated` if the object can't be live.
    fn slot_bytes_of(&self, object: NonNull<u8>, layout: Layout) -> Result<usize, Error> {
        if layout.size() == 0 {
            return Ok(0);
        }
        let Some(class) = self.class_at(object) else {
            let is_live = self.fallback_live.get() > 0;
            return if is_live { Ok(0) } else { Err(Error::NotAllocated) };
        };
        let is_live = class.is_live(object) && layout.size() <= class.slot_bytes();
        if is_live { Ok(class.slot_bytes()) } else { Err(Error::NotAllocated) }
    }

    /// Whether a pointer leads to a slot or into one.
    pub fn owns(&self, pointer: NonNull<u8>) -> bool {
        self.class_at(pointer).is_some()
    }

    /// The class in whose section a pointer lies, as it is now.
    pub fn class_of(&self, pointer: NonNull<u8>) -> Option<ClassStats> {
        self.class_at(pointer).map(ClassStats::of)
    }

    fn class_at(&self, pointer: NonNull<u8>) -> Option<&Class> {
        self.classes().find(|class| class.spans(pointer.addr().get()))
    }

    /// Puts all slots at hand back among those that a search finds, the lowest first.
    ///
    /// # Errors
    /// `NotAllocated` if one of them was freed twice. All are back even so.
    pub fn flush(&self) -> Result<(), Error> {
        let is_right = self.classes().fold(true, |is_right, class| class.flush_all() & is_right);
        if is_right { Ok(()) } else { Err(Error::NotAllocated) }
    }

    /// Forgets all objects in the area at once; those in the fallback stay.
    pub fn reset(&mut self) {
        self.classes().for_each(Class::free_all);
    }

    /// Numbers of all classes together.
    pub fn stats(&self) -> SmallObjectsStats {
        let too_large = self.classes().last().map_or(0, Class::fallbacks);
        let region_bytes = self.region.size_bytes();
        let mut stats = SmallObjectsStats { region_bytes, too_large, ..Default::default() };
        stats.fallback_live = self.fallback_live.get();
        stats.double_frees = self.classes().map(Class::double_frees).sum();
        self.class_stats().for_each(|class| stats.add(&class));
        stats
    }

    /// Numbers of each class, by size.
    pub fn class_stats(&self) -> impl Iterator<Item = ClassStats> {
        self.classes().take(self.table.class_count()).map(ClassStats::of)
    }

    /// Compares the metadata with each other; a test of this crate, not of its callers.
    ///
    /// # Cost
    /// O(slots), and slow.
    ///
    /// # Errors
    /// What is wrong, in words.
    #[doc(hidden)]
    pub fn check(&self) -> Result<(), &'static str> {
        self.classes().try_for_each(Class::check)
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

/// An address with the alignment of a layout, and of nobody's.
fn aligned_address(layout: Layout) -> NonZeroUsize {
    NonZeroUsize::new(layout.align()).unwrap_or(NonZeroUsize::MIN)
}

// SAFETY: the headers and all that they point to lie in the region, which may change
// threads. The fallback is `Sync`.
unsafe impl Send for SmallObjects<'_> {}

impl fmt::Debug for SmallObjects<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SmallObjects").field("stats", &self.stats()).finish_non_exhaustive()
    }
}
