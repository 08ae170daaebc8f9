//! A port of D. Gustafsson's small object allocator, written as his article describes it.
//!
//! ```text
//!  area      |8 8 8 …|16  16 …|32    32 …|48      48 …| … |128 … |     else malloc
//!  bits      1101…    1…       111…       1110…  a bit a slot, 1 if it is in use
//!  lowest        ^     ^          ^          ^   below it, every slot is in use
//! ```
//! The area is fixed. An allocation searches the bits of its section from the lowest free slot on, a
//! word at a time. A free finds the section by the address, clears the bit, which may be clear
//! already, and moves the mark down if the slot is below it. Objects without a slot are from
//! `malloc`.
//!
//! The article searches 32 bits with one comparison, "actually 64 nowadays". Words have 64 bits
//! here: the 400 comparisons of its worst case are 200.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    ptr::NonNull,
};

use drystone_memory::{Region, SlotClass};

use super::{
    allocator::{Allocator, BlockBytes},
    tree::Objects,
};
use crate::Failure;

/// Slot sizes of the article, in bytes.
pub(super) const SLOT_BYTES: [usize; 7] = [8, 16, 32, 48, 64, 96, 128];
const GRANULE_BYTES: usize = SLOT_BYTES[0];
const MAX_BYTES: usize = SLOT_BYTES[SLOT_BYTES.len() - 1];
const WORD_BITS: usize = u64::BITS as usize;

pub(super) struct Article {
    /// In ascending order of size, which is that of their addresses.
    sections: Vec<Section>,
    /// Section that serves a size, by the number of granules. Larger sizes have none.
    section_by_granules: [usize; MAX_BYTES / GRANULE_BYTES + 1],
    area: Region<'static>,
    overflows: u64,
}

/// Slots of one size.
struct Section {
    slot_bytes: usize,
    /// Offset of the first slot in the area, in bytes.
    start: usize,
    /// One bit a slot. Bits beyond the last slot are set.
    used: Vec<u64>,
    /// Every slot below this one is in use.
    lowest: usize,
    searched_words: u64,
}

impl Article {
    /// Creates an allocator with these sections, in ascending order of size. Sizes are multiples of 8
    /// bytes up to 128.
    pub(super) fn new(classes: &[SlotClass]) -> Result<Self, Failure> {
        let mut end = 0;
        let sections: Vec<_> = classes.iter().map(|class| Section::new(class, &mut end)).collect();
        let mut section_by_granules = [sections.len(); MAX_BYTES / GRANULE_BYTES + 1];
        for (granules, section) in section_by_granules.iter_mut().enumerate() {
            let fits = |it: &Section| it.slot_bytes >= granules * GRANULE_BYTES;
            *section = sections.iter().position(fits).unwrap_or(sections.len());
        }
        Ok(Self { sections, section_by_granules, area: Region::heap(end)?, overflows: 0 })
    }

    /// Returns the number of the section for objects of this size.
    #[inline]
    fn section_of(&self, size_bytes: usize) -> Option<usize> {
        let granules = size_bytes.div_ceil(GRANULE_BYTES);
        self.section_by_granules.get(granules).copied().filter(|it| *it < self.sections.len())
    }

    /// Returns the offset of an object in the area.
    #[inline]
    fn offset_of(&self, object: NonNull<u8>) -> Option<usize> {
        let offset = object.addr().get().wrapping_sub(self.area.start().addr().get());
        (offset < self.area.size_bytes()).then_some(offset)
    }

    /// Returns the number of the section at an offset.
    #[inline]
    fn section_at(&self, offset: usize) -> Option<usize> {
        self.sections.iter().rposition(|section| section.start <= offset)
    }
}

impl Section {
    fn new(class: &SlotClass, end: &mut usize) -> Self {
        let start = *end;
        *end += class.slots * class.slot_bytes;
        let mut used = vec![0; class.slots.div_ceil(WORD_BITS)];
        let slots_in_last = class.slots % WORD_BITS;
        if let Some(last) = used.last_mut().filter(|_| slots_in_last > 0) {
            *last = u64::MAX << slots_in_last;
        }
        Self { slot_bytes: class.slot_bytes, start, used, lowest: 0, searched_words: 0 }
    }

    /// Marks the lowest free slot and returns its offset in the area.
    #[inline]
    fn allocate(&mut self) -> Option<usize> {
        let first = self.lowest / WORD_BITS;
        let words = self.used.get_mut(first..)?;
        let found = words.iter().position(|word| *word != u64::MAX);
        self.searched_words += found.map_or(words.len(), |at| at + 1) as u64;
        let Some(at) = found else {
            self.lowest = self.used.len() * WORD_BITS;
            return None;
        };
        let bit = words[at].trailing_ones() as usize;
        words[at] |= 1 << bit;
        let slot = (first + at) * WORD_BITS + bit;
        self.lowest = slot + 1;
        Some(self.start + slot * self.slot_bytes)
    }

    #[inline]
    fn free(&mut self, offset: usize) {
        // Both numbers are below 2³², where a division is faster.
        let slot = ((offset - self.start) as u32 / self.slot_bytes as u32) as usize;
        self.used[slot / WORD_BITS] &= !(1 << (slot % WORD_BITS));
        self.lowest = self.lowest.min(slot);
    }
}

// SAFETY: a slot belongs to one object until its bit is cleared. It is inside the area, which lives
// as long as the allocator, and aligned to 8 bytes as the area and all sizes are. Other objects are
// from the system.
unsafe impl Objects for Article {
    #[inline]
    unsafe fn allocate(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        let section = self.section_of(layout.size());
        if let Some(offset) = section.and_then(|it| self.sections[it].allocate()) {
            // SAFETY: the offset is that of a slot in the area.
            return Some(unsafe { self.area.start().add(offset) });
        }
        self.overflows += 1;
        // SAFETY: the caller guarantees that the layout is not empty.
        NonNull::new(unsafe { System.alloc(layout) })
    }

    #[inline]
    unsafe fn free(&mut self, object: NonNull<u8>, layout: Layout) -> bool {
        let Some(offset) = self.offset_of(object) else {
            // SAFETY: objects outside of the area are from the system, with their layout.
            unsafe { System.dealloc(object.as_ptr(), layout) };
            return true;
        };
        let section = self.section_at(offset);
        section.map(|it| self.sections[it].free(offset)).is_some()
    }
}

// SAFETY: a resized object stays in its slot if the new size has the same section. Otherwise it is
// one of this allocator with a copy of its bytes, or one that the system has resized.
unsafe impl Allocator for Article {
    unsafe fn resize(
        &mut self,
        object: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Option<NonNull<u8>> {
        let section = self.section_of(new.size());
        match self.offset_of(object) {
            Some(offset) if section.is_some() && section == self.section_at(offset) => Some(object),
            None if section.is_none() => {
                // SAFETY: the object is from the system, and the caller guarantees the layouts.
                NonNull::new(unsafe { System.realloc(object.as_ptr(), old, new.size()) })
            }
            // SAFETY: the caller guarantees the layouts. Both objects are live and have at least the
            // smaller size; the old one is not used after this.
            _ => unsafe {
                let moved = Objects::allocate(self, new)?;
                moved.copy_from_nonoverlapping(object, old.size().min(new.size()));
                Objects::free(self, object, old).then_some(moved)
            },
        }
    }

    unsafe fn block_bytes(&self, object: NonNull<u8>, _: Layout) -> usize {
        match self.offset_of(object).and_then(|offset| self.section_at(offset)) {
            Some(section) => self.sections[section].slot_bytes,
            // SAFETY: the object is live and outside of the area, so it is from the system.
            None => unsafe { System.block_bytes(object) },
        }
    }

    fn metadata_bytes(&self) -> usize {
        self.sections.iter().map(|section| size_of_val(&section.used[..])).sum()
    }

    fn searched_words(&self) -> Option<u64> {
        Some(self.sections.iter().map(|section| section.searched_words).sum())
    }

    fn overflows(&self) -> Option<u64> {
        Some(self.overflows)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Random;

    const SLOTS: usize = 100;
    const EIGHT: Layout = Layout::new::<u64>();

    fn with(slots: usize) -> Article {
        Article::new(&[SlotClass::new(8, slots), SlotClass::new(48, slots)]).unwrap()
    }

    /// The number of an object's slot in the first section.
    fn slot_of(article: &Article, object: NonNull<u8>) -> Option<usize> {
        article.offset_of(object).map(|offset| offset / 8)
    }

    #[test]
    fn the_lowest_free_slot_is_allocated_and_the_rest_is_from_the_system() {
        let mut article = with(SLOTS);
        let (mut live, mut free) = (Vec::new(), (0..SLOTS).collect::<BTreeSet<_>>());
        let (mut random, mut overflows) = (Random::new(1), 0);
        for step in 0..20_000 {
            // Fills up, empties, and so on.
            let is_growing = step % 400 < 200;
            if live.is_empty() || random.below(4) < if is_growing { 3 } else { 1 } {
                // SAFETY: the layout is not empty.
                let object = unsafe { Objects::allocate(&mut article, EIGHT) }.unwrap();
                assert_eq!(slot_of(&article, object), free.pop_first());
                overflows += u64::from(slot_of(&article, object).is_none());
                live.push(object);
            } else {
                let object = live.swap_remove(random.below(live.len()));
                free.extend(slot_of(&article, object));
                // SAFETY: the object is live, and not used after this.
                assert!(unsafe { Objects::free(&mut article, object, EIGHT) });
            }
        }
        assert!(overflows > 100 && article.overflows() == Some(overflows), "{overflows}");
        // SAFETY: the objects are live, and not used after this.
        live.iter().for_each(|it| assert!(unsafe { Objects::free(&mut article, *it, EIGHT) }));
    }

    #[test]
    fn a_size_has_the_smallest_section_that_fits() {
        let classes = SLOT_BYTES.map(|slot_bytes| SlotClass::new(slot_bytes, 1));
        let mut article = Article::new(&classes).unwrap();
        for size_bytes in 1..=MAX_BYTES + 1 {
            let layout = Layout::from_size_align(size_bytes, 1).unwrap();
            // SAFETY: the layout is not empty.
            let object = unsafe { Objects::allocate(&mut article, layout) }.unwrap();
            let section = article.offset_of(object).and_then(|it| article.section_at(it));
            let slot_bytes = section.map(|it| article.sections[it].slot_bytes);
            assert_eq!(slot_bytes, SLOT_BYTES.into_iter().find(|it| *it >= size_bytes));
            // SAFETY: the object is live, and not used after this.
            assert!(unsafe { Objects::free(&mut article, object, layout) });
        }
    }

    #[test]
    fn a_second_free_changes_nothing() {
        let mut article = with(SLOTS);
        // SAFETY: the layout is not empty.
        let allocate = |it: &mut Article| unsafe { Objects::allocate(it, EIGHT) }.unwrap();
        let objects = [(); 3].map(|()| allocate(&mut article));
        for _ in 0..2 {
            // SAFETY: the object is of this allocator. Freeing it twice only clears its bit twice.
            assert!(unsafe { Objects::free(&mut article, objects[1], EIGHT) });
        }
        assert_eq!(allocate(&mut article), objects[1]);
        let next = allocate(&mut article);
        assert_eq!(slot_of(&article, next), Some(3));
    }

    #[test]
    fn metadata_is_one_bit_a_slot_and_a_full_section_is_searched_once() {
        let mut article = Article::new(&[SlotClass::new(48, 12_800)]).unwrap();
        assert_eq!(article.metadata_bytes() * 8, 12_800);
        let layout = Layout::new::<[u64; 6]>();
        // SAFETY: the layout is not empty.
        let allocate = |it: &mut Article| unsafe { Objects::allocate(it, layout) }.unwrap();
        let objects: Vec<_> = (0..12_800).map(|_| allocate(&mut article)).collect();
        // SAFETY: the object is live, and not used before it is allocated again.
        let free = |it: &mut Article, at: usize| unsafe {
            assert!(Objects::free(it, objects[at], layout));
        };
        free(&mut article, 0);
        free(&mut article, 12_799);
        assert_eq!(allocate(&mut article), objects[0]);
        let searched = |it: &Article| it.searched_words().unwrap();
        let before = searched(&article);
        assert_eq!(allocate(&mut article), objects[12_799]);
        assert_eq!(searched(&article) - before, 200);
        free(&mut article, 0);
        assert_eq!(allocate(&mut article), objects[0]);
        let before = searched(&article);
        let others = [(); 2].map(|()| allocate(&mut article));
        assert!(others.iter().all(|it| article.offset_of(*it).is_none()));
        assert_eq!(searched(&article) - before, 200);
        for object in others {
            // SAFETY: the object is live, and not used after this.
            assert!(unsafe { Objects::free(&mut article, object, layout) });
        }
    }
}
