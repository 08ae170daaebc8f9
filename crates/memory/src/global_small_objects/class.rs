//! Slots of one size.

use core::ptr::NonNull;
use core::slice;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::bits::{Claim, Share, SlotBits, WORD_BITS};
use super::misuse::{freed_twice, not_a_slot};
#[cfg(feature = "pages")]
use super::touched::{Part, Slots, Touched};
use crate::small_objects::plan::ClassPlan;
use crate::small_objects::section::{Section, slot_at};
use crate::{ClassStats, SmallObjectsConfig};

/// Slots of one size, shared by all threads.
#[repr(align(64))]
pub(super) struct Class {
    /// First slot. Pointers to slots are derived from it.
    start: NonNull<u8>,
    section: Section,
    bits: SlotBits<'static, AtomicU64>,
    /// Word of the summary where a search starts. No earlier word is likely to have free slots.
    lowest: AtomicUsize,
    /// Number of words of the summary from the first to the last where slots were ever claimed.
    end: AtomicUsize,
    /// Number of slots in use or in the cache of a thread: present and maximum.
    claimed: AtomicUsize,
    peak: AtomicUsize,
    /// Number of requests that found the class full.
    fallbacks: AtomicU64,
    /// Memory that may be resident. `None` if it is all from the wrapped allocator.
    #[cfg(feature = "pages")]
    touched: Option<Touched>,
}

/// Returns the size of all slots in bytes. The plan has checked that it does not overflow.
pub(super) const fn size_bytes(section: &Section) -> usize {
    section.slot_bytes * section.slots
}

/// A class without slots also has no words.
pub(super) const NO_CLASS: ClassPlan = ClassPlan {
    section: Section::new(0, SmallObjectsConfig::GRANULE_BYTES, 0),
    bits: 0,
    summary: 0,
};

impl Class {
    /// # Safety
    /// - The plan's words are zeroed, and nothing else uses them or its slots for the rest of the
    ///   program.
    pub(super) unsafe fn new(base: NonNull<u8>, plan: &ClassPlan) -> Self {
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
            end: AtomicUsize::new(0),
            claimed: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            fallbacks: AtomicU64::new(0),
            #[cfg(feature = "pages")]
            touched: None,
        }
    }

    /// Sets the words, all zero, with a bit for each word of slots, for a class whose memory is from
    /// the system.
    #[cfg(feature = "pages")]
    pub(super) fn set_touched(&mut self, words: &'static [AtomicU64]) {
        self.touched = Some(Touched::new(words));
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
        let end = self.end.load(Ordering::Relaxed).max(lowest);
        let claim = self.bits.claim(share, lowest..end)?;
        let start = SlotBits::<AtomicU64>::start_of(claim.word);
        if start != lowest {
            self.lowest.store(start, Ordering::Relaxed);
        }
        if start >= end {
            self.end.fetch_max(start + 1, Ordering::Relaxed);
        }
        let count = claim.slots.count_ones() as usize;
        let claimed = self.claimed.fetch_add(count, Ordering::Relaxed) + count;
        if claimed > self.peak.load(Ordering::Relaxed) {
            self.peak.fetch_max(claimed, Ordering::Relaxed);
        }
        #[cfg(feature = "pages")]
        if let Some(touched) = &self.touched {
            touched.note_claim(claim.word, claimed);
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
        #[cfg(feature = "pages")]
        if let Some(touched) = &self.touched
            && touched.is_excessive(self.claimed.load(Ordering::Relaxed), self.slot_bytes())
        {
            self.trim(Part::Few);
        }
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
        let count = claim.slots.count_ones() as usize;
        self.claimed.fetch_sub(count, Ordering::Relaxed);
    }

    /// Returns pages without used slots to the system: all, or a few if they are many. Returns the
    /// number of bytes; 0 if another thread is trimming the class, or if the system refuses the pages.
    #[cfg(feature = "pages")]
    pub(super) fn trim(&self, part: Part) -> usize {
        let Some(touched) = &self.touched else { return 0 };
        let slots = Slots {
            bits: &self.bits,
            start: self.start,
            slot_bytes: self.slot_bytes(),
            groups: &self.end,
            claimed: &self.claimed,
        };
        let Some(bytes) = touched.trim(&slots, part) else { return 0 };
        // Words that were taken meanwhile are free again.
        self.lowest.store(0, Ordering::Relaxed);
        bytes
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
