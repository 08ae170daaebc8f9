use core::alloc::{GlobalAlloc, Layout};
use core::ptr::NonNull;
use core::slice;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::bits::{Claim, Share, SlotBits, WORD_BITS};
use super::die;
use crate::Error;
use crate::memory::small_objects::plan::{ClassPlan, Plan};
use crate::memory::small_objects::section::{ClassTable, Section, slot_at};
use crate::memory::{ClassStats, SmallObjectsConfig};

/// A class and one more, which has no slots and serves what the others can't.
pub(super) const MAX_CLASSES: usize = SmallObjectsConfig::MAX_CLASSES + 1;
/// What the system gives without being asked for more: with a stricter alignment, its zeroed
/// memory would be written to, and with that be resident.
const MEMORY_ALIGN: usize = 16;
/// The most bytes of a section: offsets in it are 32 bits in the caches of threads.
const MAX_SECTION_BYTES: usize = u32::MAX as usize;

/// The area of small objects with its metadata. Made once and never given up, so that all
/// threads may keep pointers to it.
#[repr(C)]
pub(super) struct Area {
    table: ClassTable,
    /// Where the sections begin, and how many bytes there are to the end of the last.
    start: NonNull<u8>,
    size_bytes: usize,
    /// Allocations that no class serves.
    too_large: AtomicU64,
    classes: [Class; MAX_CLASSES],
}

/// The slots of one size.
#[repr(align(64))]
pub(super) struct Class {
    /// The first slot; pointers to slots are made from this one.
    start: NonNull<u8>,
    section: Section,
    bits: SlotBits<'static, AtomicU64>,
    /// Where a search starts: no word of the summary before it is likely to be open.
    lowest: AtomicUsize,
    /// Slots that are in use or in the cache of a thread, now and at most.
    claimed: AtomicUsize,
    peak: AtomicUsize,
    /// Allocations that found the class full.
    fallbacks: AtomicU64,
}

// SAFETY: the pointers lead to memory that is never given up. Its metadata are atomics, and a
// slot is touched only by the thread that it belongs to.
unsafe impl Sync for Area {}
// SAFETY: nothing in it belongs to a thread.
unsafe impl Send for Area {}

impl Area {
    /// An area with the slots of the config, in memory of `system`.
    ///
    /// # Errors
    /// As for `GlobalSmallObjects::enable`.
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
        let full = |layout: Layout| Error::Full {
            requested: layout.size() as u64,
            largest_free: 0,
            total_free: 0,
        };
        let header = Layout::new::<Self>();
        // SAFETY: an area is of some size.
        let area = NonNull::new(unsafe { system.alloc(header) }).ok_or(full(header))?;
        // SAFETY: a plan has headers at least, so its size is not zero.
        let Some(memory) = NonNull::new(unsafe { system.alloc_zeroed(layout) }) else {
            // SAFETY: it was allocated above, and nobody knows it.
            unsafe { system.dealloc(area.as_ptr(), header) };
            return Err(full(layout));
        };
        let area = area.cast::<Self>();
        // SAFETY: the memory is zeroed, as large as the plan asks wherever it starts, and
        // nobody gives it back; the header is ours to write.
        unsafe { area.write(Self::in_memory(memory, &plan)) };
        Ok(area)
    }

    /// # Safety
    /// - `memory` has `plan.region_bytes()` zeroed bytes, which are nobody else's, for ever.
    unsafe fn in_memory(memory: NonNull<u8>, plan: &Plan) -> Self {
        let address = memory.addr().get();
        let skipped = address.next_multiple_of(plan.align()) - address;
        // SAFETY: the plan's bytes fit wherever the memory starts.
        let base = unsafe { memory.add(skipped) };
        let classes = core::array::from_fn(|index| {
            let class = plan.classes().get(index).copied().unwrap_or(NO_CLASS);
            // SAFETY: the plan's offsets lie in the memory, and no two classes share words.
            unsafe { Class::new(base, &class) }
        });
        let sections = plan.classes().iter().map(|class| &class.section);
        let first = sections.clone().map(|section| section.start).min().unwrap_or(0);
        let end = sections.map(|section| section.start + size_bytes(section)).max().unwrap_or(0);
        Self {
            table: plan.table(),
            // SAFETY: as above.
            start: unsafe { base.add(first) },
            size_bytes: end - first,
            too_large: AtomicU64::new(0),
            classes,
        }
    }

    /// The number of the class for a layout: at most that of the one without slots, which
    /// is below [`MAX_CLASSES`].
    #[inline(always)]
    pub(super) fn class_for(&self, layout: Layout) -> usize {
        self.table.class_for(layout)
    }

    #[inline]
    pub(super) fn class(&self, number: usize) -> &Class {
        &self.classes[number]
    }

    /// Whether a pointer leads into a section.
    pub(super) fn contains(&self, pointer: *mut u8) -> bool {
        pointer.addr().wrapping_sub(self.start.addr().get()) < self.size_bytes
    }

    pub(super) fn add_too_large(&self, count: u64) {
        self.too_large.fetch_add(count, Ordering::Relaxed);
    }

    pub(super) fn too_large(&self) -> u64 {
        self.too_large.load(Ordering::Relaxed)
    }

    /// The classes that have slots, or might.
    pub(super) fn classes(&self) -> &[Class] {
        &self.classes[..self.table.class_count()]
    }
}

/// Bytes of all slots; the plan has checked that there can be so many.
const fn size_bytes(section: &Section) -> usize {
    section.slot_bytes * section.slots
}

/// A class without slots has no words either.
const NO_CLASS: ClassPlan = ClassPlan {
    section: Section::new(0, SmallObjectsConfig::GRANULE_BYTES, 0),
    bits: 0,
    summary: 0,
};

impl Class {
    /// # Safety
    /// - The plan's words are zeroed and nobody else's, for ever, as are its slots.
    unsafe fn new(base: NonNull<u8>, plan: &ClassPlan) -> Self {
        let slots = plan.section.slots;
        let counts = if slots == 0 { (0, 0) } else { (plan.leaf_count(), plan.summary_count()) };
        // SAFETY: the offsets lie in the memory, where there is room for so many words;
        // words are aligned in it, and an atomic is laid out as its number is.
        let (words, full) = unsafe {
            let words = base.add(plan.bits).cast::<AtomicU64>();
            let full = base.add(plan.summary).cast::<AtomicU64>();
            (
                slice::from_raw_parts(words.as_ptr(), counts.0),
                slice::from_raw_parts(full.as_ptr(), counts.1),
            )
        };
        Self {
            // SAFETY: as above.
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

    /// Bytes from the first slot to a pointer, if that leads into the section.
    #[inline]
    pub(super) fn offset_of(&self, pointer: *mut u8) -> Option<usize> {
        let offset = pointer.addr().wrapping_sub(self.start.addr().get());
        (offset < self.size_bytes()).then_some(offset)
    }

    /// The slot at an offset in the section.
    pub(super) fn slot_at(&self, offset: usize) -> NonNull<u8> {
        debug_assert!(offset < self.size_bytes());
        // SAFETY: those who ask have the offset from a slot of the section.
        unsafe { self.start.add(offset) }
    }

    /// Takes slots of one word; none if the class is full.
    pub(super) fn claim(&self, share: Share) -> Option<Claim> {
        // A full class is asked again and again: no search then.
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

    /// Offset of the lowest slot of a claim.
    pub(super) fn first_offset(&self, claim: Claim) -> usize {
        (claim.word * WORD_BITS + claim.slots.trailing_zeros() as usize) * self.section.slot_bytes
    }

    /// Gives slots back that start at these offsets. Those that lie side by side, as they do
    /// where a tree is freed in the order in which it was made, cost one write for all.
    pub(super) fn release(&self, offsets: impl Iterator<Item = usize>) {
        let mut claim = Claim { word: usize::MAX, slots: 0 };
        for offset in offsets {
            let slot = slot_at(offset, self.section.inverse, self.section.shift);
            if slot >= self.section.slots {
                die::not_a_slot(self.slot_bytes());
            }
            let (word, bit) = (slot / WORD_BITS, 1 << (slot % WORD_BITS));
            if word != claim.word {
                self.release_claim(claim);
                claim = Claim { word, slots: 0 };
            }
            if claim.slots & bit != 0 {
                die::freed_twice(self.slot_bytes());
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
            Err(_) => die::freed_twice(self.slot_bytes()),
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
