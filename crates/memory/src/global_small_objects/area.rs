use core::alloc::{GlobalAlloc, Layout};
use core::ptr::NonNull;
use core::slice;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::bits::{Claim, Share, SlotBits, WORD_BITS};
use crate::Error;
use crate::small_objects::plan::{ClassPlan, Plan};
use crate::small_objects::section::{ClassTable, Section, slot_at};
use crate::{ClassStats, SmallObjectsConfig};

/// Maximum number of classes, plus one without slots for requests that no class serves.
pub(super) const MAX_CLASSES: usize = SmallObjectsConfig::MAX_CLASSES + 1;
/// Alignment that the system guarantees by default. With a stricter one, its zeroed memory would be
/// written to and become resident.
const MEMORY_ALIGN: usize = 16;
/// Maximum size of a section: caches of threads store offsets in 32 bits.
const MAX_SECTION_BYTES: usize = u32::MAX as usize;

/// Area of small objects with its metadata. Created once and never released, so that all threads
/// may keep pointers to it.
#[repr(C)]
pub(super) struct Area {
    table: ClassTable,
    /// Start of the sections, and number of bytes to the end of the last one.
    start: NonNull<u8>,
    size_bytes: usize,
    /// Number of requests that no class serves.
    too_large: AtomicU64,
    classes: [Class; MAX_CLASSES],
}

/// Slots of one size.
#[repr(align(64))]
pub(super) struct Class {
    /// First slot. Pointers to slots are derived from it.
    start: NonNull<u8>,
    section: Section,
    bits: SlotBits<'static, AtomicU64>,
    /// Word of the summary where a search starts. No earlier word is likely to have free slots.
    lowest: AtomicUsize,
    /// Number of slots in use or in the cache of a thread: present and maximum.
    claimed: AtomicUsize,
    peak: AtomicUsize,
    /// Number of requests that found the class full.
    fallbacks: AtomicU64,
}

// SAFETY: the pointers refer to memory that is never released. Its metadata is atomic, and a slot
// is accessed only by the thread that owns it.
unsafe impl Sync for Area {}
// SAFETY: nothing in it is thread-specific.
unsafe impl Send for Area {}

impl Area {
    /// Creates an area with the slots of the config, in memory of `system`.
    ///
    /// # Errors
    /// `InvalidSize` if the config is invalid or a class is larger than 4 GiB, `Full` if there is
    /// no memory.
    pub(super) fn new(
        system: &impl GlobalAlloc,
        config: &SmallObjectsConfig<'_>,
    ) -> Result<NonNull<Self>, Error> {
        let plan = Plan::exact(config)?;
        let is_too_large = |class: &ClassPlan| size_bytes(&class.section) > MAX_SECTION_BYTES;
        if plan.classes().iter().any(is_too_large) {
            return Err(Error::InvalidSize);
        }
        let layout = Layout::from_size_align(plan.region_bytes(), MEMORY_ALIGN);
        let layout = layout.map_err(|_| Error::InvalidSize)?;
        let header = Layout::new::<Self>();
        // SAFETY: the size of an area is not zero.
        let area =
            NonNull::new(unsafe { system.alloc(header) }).ok_or(Error::full(header.size()))?;
        // SAFETY: a plan has at least headers, so its size is not zero.
        let Some(memory) = NonNull::new(unsafe { system.alloc_zeroed(layout) }) else {
            // SAFETY: it was allocated above, and nothing else refers to it.
            unsafe { system.dealloc(area.as_ptr(), header) };
            return Err(Error::full(layout.size()));
        };
        let area = area.cast::<Self>();
        // SAFETY: the memory is zeroed, large enough for the plan at any start address, and never
        // freed; the header is ours to write.
        unsafe { area.write(Self::in_memory(memory, &plan)) };
        Ok(area)
    }

    /// # Safety
    /// - `memory` has `plan.region_bytes()` zeroed bytes, which nothing else uses for the rest of
    ///   the program.
    unsafe fn in_memory(memory: NonNull<u8>, plan: &Plan) -> Self {
        let address = memory.addr().get();
        let skipped = address.next_multiple_of(plan.align()) - address;
        // SAFETY: the plan's bytes fit at any start address.
        let base = unsafe { memory.add(skipped) };
        let classes = core::array::from_fn(|index| {
            let class = plan.classes().get(index).copied().unwrap_or(NO_CLASS);
            // SAFETY: the plan's offsets are in the memory, and no two classes share words.
            unsafe { Class::new(base, &class) }
        });
        let sections = plan.classes().iter().map(|class| &class.section);
        let first = sections.clone().map(|section| section.start).min().unwrap_or(0);
        let end = sections.map(|section| section.start + size_bytes(section)).max().unwrap_or(0);
        Self {
            table: plan.table(),
            // SAFETY: the plan's offsets are in the memory.
            start: unsafe { base.add(first) },
            size_bytes: end - first,
            too_large: AtomicU64::new(0),
            classes,
        }
    }

    /// Returns the index of the class for a layout. It is at most that of the class without slots,
    /// which is below [`MAX_CLASSES`].
    #[inline(always)]
    pub(super) fn class_for(&self, layout: Layout) -> usize {
        self.table.class_for(layout)
    }

    #[inline]
    pub(super) fn class(&self, number: usize) -> &Class {
        &self.classes[number]
    }

    /// Whether a pointer points into a section.
    pub(super) fn contains(&self, pointer: *mut u8) -> bool {
        pointer.addr().wrapping_sub(self.start.addr().get()) < self.size_bytes
    }

    pub(super) fn add_too_large(&self, count: u64) {
        self.too_large.fetch_add(count, Ordering::Relaxed);
    }

    pub(super) fn too_large(&self) -> u64 {
        self.too_large.load(Ordering::Relaxed)
    }

    /// Returns the classes without the last one, which has no slots.
    pub(super) fn classes(&self) -> &[Class] {
        &self.classes[..self.table.class_count()]
    }
}

/// Returns the size of all slots in bytes. The plan has checked that it does not overflow.
const fn size_bytes(section: &Section) -> usize {
    section.slot_bytes * section.slots
}

/// A class without slots also has no words.
const NO_CLASS: ClassPlan = ClassPlan {
    section: Section::new(0, SmallObjectsConfig::GRANULE_BYTES, 0),
    bits: 0,
    summary: 0,
};

impl Class {
    /// # Safety
    /// - The plan's words are zeroed, and nothing else uses them or its slots for the rest of the
    ///   program.
    unsafe fn new(base: NonNull<u8>, plan: &ClassPlan) -> Self {
        let slots = plan.section.slots;
        let counts = if slots == 0 { (0, 0) } else { (plan.leaf_count(), plan.summary_count()) };
        // SAFETY: the offsets are in the memory, which has space for this number of words; words
        // are aligned in it, and an atomic has the layout of its integer.
        let (words, full) = unsafe {
            let words = base.add(plan.bits).cast::<AtomicU64>();
            let full = base.add(plan.summary).cast::<AtomicU64>();
            (
                slice::from_raw_parts(words.as_ptr(), counts.0),
                slice::from_raw_parts(full.as_ptr(), counts.1),
            )
        };
        Self {
            // SAFETY: the plan's offsets are in the memory.
            start: unsafe { base.add(plan.section.start) },
            section: plan.section,
            bits: SlotBits::new(words, full, slots),
            lowest: AtomicUsize::new(0),
            claimed: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            fallbacks: AtomicU64::new(0),
        }
    }

    #[cfg(feature = "std")]
    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    pub(super) fn size_bytes(&self) -> usize {
        size_bytes(&self.section)
    }

    pub(super) fn slot_bytes(&self) -> usize {
        self.section.slot_bytes
    }

    /// Returns the number of bytes from the first slot to a pointer into the section. `None`
    /// outside.
    #[inline]
    pub(super) fn offset_of(&self, pointer: *mut u8) -> Option<usize> {
        let offset = pointer.addr().wrapping_sub(self.start.addr().get());
        (offset < self.size_bytes()).then_some(offset)
    }

    /// Returns the slot at an offset in the section.
    pub(super) fn slot_at(&self, offset: usize) -> NonNull<u8> {
        debug_assert!(offset < self.size_bytes());
        // SAFETY: callers have the offset from a slot of the section.
        unsafe { self.start.add(offset) }
    }

    /// Takes slots of one word. `None` if the class is full.
    pub(super) fn claim(&self, share: Share) -> Option<Claim> {
        // A full class gets many requests: no search then.
        if self.claimed.load(Ordering::Relaxed) >= self.section.slots {
            return None;
        }
        let lowest = self.lowest.load(Ordering::Relaxed);
        let claim = self.bits.claim(share, lowest)?;
        let start = SlotBits::<AtomicU64>::start_of(claim.word);
        if start != lowest {
            self.lowest.store(start, Ordering::Relaxed);
        }
        let count = claim.slots.count_ones() as usize;
        let claimed = self.claimed.fetch_add(count, Ordering::Relaxed) + count;
        if claimed > self.peak.load(Ordering::Relaxed) {
            self.peak.fetch_max(claimed, Ordering::Relaxed);
        }
        Some(claim)
    }

    /// Returns the offset of the lowest slot of a claim.
    pub(super) fn first_offset(&self, claim: Claim) -> usize {
        (claim.word * WORD_BITS + claim.slots.trailing_zeros() as usize) * self.section.slot_bytes
    }

    /// Releases the slots at these offsets. Adjacent slots of one word need one write only, for
    /// example when a tree is freed in the order of its allocation.
    pub(super) fn release(&self, offsets: impl Iterator<Item = usize>) {
        let mut claim = Claim { word: usize::MAX, slots: 0 };
        for offset in offsets {
            let slot = slot_at(offset, self.section.inverse, self.section.shift);
            if slot >= self.section.slots {
                not_a_slot(self.slot_bytes());
            }
            let (word, bit) = (slot / WORD_BITS, 1 << (slot % WORD_BITS));
            if word != claim.word {
                self.release_claim(claim);
                claim = Claim { word, slots: 0 };
            }
            if claim.slots & bit != 0 {
                freed_twice(self.slot_bytes());
            }
            claim.slots |= bit;
        }
        self.release_claim(claim);
    }

    fn release_claim(&self, claim: Claim) {
        if claim.slots == 0 {
            return;
        }
        match self.bits.release(claim) {
            Ok(true) => {
                let start = SlotBits::<AtomicU64>::start_of(claim.word);
                if start < self.lowest.load(Ordering::Relaxed) {
                    self.lowest.fetch_min(start, Ordering::Relaxed);
                }
            }
            Ok(false) => {}
            Err(_) => freed_twice(self.slot_bytes()),
        }
        self.claimed.fetch_sub(claim.slots.count_ones() as usize, Ordering::Relaxed);
    }

    pub(super) fn count_fallback(&self) {
        self.fallbacks.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn stats(&self) -> ClassStats {
        ClassStats {
            slot_bytes: self.slot_bytes(),
            slots: self.section.slots,
            live: self.claimed.load(Ordering::Relaxed),
            peak: self.peak.load(Ordering::Relaxed),
            fallbacks: self.fallbacks.load(Ordering::Relaxed),
        }
    }
}

// Errors that cannot be handled: the program has freed memory that it does not own, so other objects
// would be corrupted next. An allocator must not unwind.

/// Aborts because of a slot that was released but not in use.
#[cold]
fn freed_twice(slot_bytes: usize) -> ! {
    stop("double free of an object in a slot of ", slot_bytes)
}

/// Aborts because of a pointer that is not the start of a slot of the layout's class.
#[cold]
pub(super) fn not_a_slot(slot_bytes: usize) -> ! {
    stop(
        "a freed pointer is not the start of an object, or the layout is wrong; slot size: ",
        slot_bytes,
    )
}

#[cfg(feature = "std")]
fn stop(what: &str, slot_bytes: usize) -> ! {
    use std::io::Write;

    // Standard error has no buffer, and formatting the number does not allocate.
    let _ = writeln!(std::io::stderr(), "drystone-memory: {what}{slot_bytes} bytes");
    std::process::abort()
}

/// Aborts without the standard library, by a second panic during unwinding.
#[cfg(not(feature = "std"))]
fn stop(what: &str, slot_bytes: usize) -> ! {
    struct Unwinding;

    impl Drop for Unwinding {
        fn drop(&mut self) {
            panic!("drystone-memory: aborted");
        }
    }

    let _unwinding = Unwinding;
    panic!("drystone-memory: {what}{slot_bytes} bytes")
}
