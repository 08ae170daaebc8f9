use core::alloc::Layout;

use super::SmallObjectsConfig;

const GRANULE_BYTES: usize = SmallObjectsConfig::GRANULE_BYTES;
/// Size of the largest small layout, in granules.
const MAX_GRANULES: usize = SmallObjectsConfig::MAX_SLOT_BYTES / GRANULE_BYTES;

/// Contiguous slots of one class.
///
/// ```text
///  start            start + slot_bytes
///  |<--- slot 0 --->|<--- slot 1 --->| … |<--- slots − 1 --->|
/// ```
/// The slot of a pointer is a division that must have no remainder. With `slot_bytes = odd · 2^k`
/// and `inverse · odd = 1` in wrapping arithmetic, multiplying by `inverse` and rotating by `k`
/// maps words to words one to one, and `n · slot_bytes` to `n`. All addresses that are not the
/// start of a slot therefore map to a number that is no slot. One multiplication and one comparison
/// check everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Section {
    /// Offset of the first slot from the base of the area, in bytes.
    pub(crate) start: usize,
    pub(crate) slot_bytes: usize,
    pub(crate) slots: usize,
    /// Multiplicative inverse of the odd factor of `slot_bytes`.
    pub(crate) inverse: usize,
    /// Exponent `k` of the power of two in `slot_bytes`.
    pub(crate) shift: u32,
}

impl Section {
    /// Creates a section at `start`. `slot_bytes` is not zero.
    pub(crate) const fn new(start: usize, slot_bytes: usize, slots: usize) -> Self {
        let shift = slot_bytes.trailing_zeros();
        Self { start, slot_bytes, slots, inverse: inverse_of(slot_bytes >> shift), shift }
    }

    /// Returns the alignment of every slot, if the section has it.
    pub(crate) const fn align(&self) -> usize {
        1 << self.shift
    }
}

/// Returns the slot that starts `offset` bytes after the start of its section. If none does,
/// returns a number not below [`Section::slots`]. Offsets of pointers below the section wrap
/// around.
#[inline(always)]
pub(crate) const fn slot_at(offset: usize, inverse: usize, shift: u32) -> usize {
    offset.wrapping_mul(inverse).rotate_right(shift)
}

/// Returns the number whose wrapping product with `odd` is 1.
const fn inverse_of(odd: usize) -> usize {
    // Every odd number is its own inverse in the lowest three bits. Each step of Newton's method
    // doubles the number of correct bits.
    let mut inverse = odd;
    let mut exact_bits = 3;
    while exact_bits < usize::BITS {
        let error = 2usize.wrapping_sub(odd.wrapping_mul(inverse));
        inverse = inverse.wrapping_mul(error);
        exact_bits *= 2;
    }
    inverse
}

/// Table of the classes that serve each layout: the smallest with sufficient size and alignment.
///
/// It has one byte for each multiple of the granule, and one for all larger sizes. For layouts that
/// no class serves, the result is one past the last class, [`class_count`](Self::class_count). A
/// caller with an additional class without slots at this index needs no further check on the fast
/// path. No class serves layouts of 0 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClassTable {
    by_granules: [u8; MAX_GRANULES + 2],
    /// Alignments of the sections: the largest power of two in the slot size.
    aligns: [u16; SmallObjectsConfig::MAX_CLASSES],
    class_count: u8,
}

impl ClassTable {
    /// Creates the table of these sections, sorted by size. Sizes are multiples of the granule.
    pub(crate) fn new(sections: &[Section]) -> Self {
        let class_count = sections.len() as u8;
        let mut aligns = [0; SmallObjectsConfig::MAX_CLASSES];
        for (align, section) in aligns.iter_mut().zip(sections) {
            *align = section.align() as u16;
        }
        let mut by_granules = [class_count; MAX_GRANULES + 2];
        let (mut class, mut granules) = (0, 1);
        while class < sections.len() && granules <= MAX_GRANULES {
            if granules * GRANULE_BYTES <= sections[class].slot_bytes {
                by_granules[granules] = class as u8;
                granules += 1;
            } else {
                class += 1;
            }
        }
        Self { by_granules, aligns, class_count }
    }

    pub(crate) fn class_count(&self) -> usize {
        usize::from(self.class_count)
    }

    /// Returns the class that serves the layout, at most `class_count`.
    #[inline(always)]
    pub(crate) fn class_for(&self, layout: Layout) -> usize {
        let granules = layout.size().div_ceil(GRANULE_BYTES);
        let class = usize::from(self.by_granules[granules.min(MAX_GRANULES + 1)]);
        if layout.align() > GRANULE_BYTES { self.aligned_class(class, layout) } else { class }
    }

    /// Returns the first class from `class` on with the alignment of the layout.
    #[inline(never)]
    fn aligned_class(&self, class: usize, layout: Layout) -> usize {
        let classes = class..self.class_count();
        let is_aligned = |class: &usize| usize::from(self.aligns[*class]) >= layout.align();
        classes.into_iter().find(is_aligned).unwrap_or(self.class_count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_starts_of_slots_map_to_slots() {
        for slot_bytes in (8..=1024).step_by(8) {
            let section = Section::new(0, slot_bytes, 1000);
            for offset in 0..slot_bytes * 1000 + 100 {
                let slot = slot_at(offset, section.inverse, section.shift);
                let expected = offset.is_multiple_of(slot_bytes).then_some(offset / slot_bytes);
                let expected = expected.filter(|slot| *slot < 1000);
                assert_eq!((slot < 1000).then_some(slot), expected, "{offset} of {slot_bytes}");
            }
            for below in (1..100_000).chain([usize::MAX, usize::MAX / 2, 1 << 40]) {
                let offset = 0usize.wrapping_sub(below);
                assert!(slot_at(offset, section.inverse, section.shift) >= 1000);
            }
        }
    }

    #[test]
    fn the_smallest_sufficient_class_is_selected() {
        let sizes = [8, 24, 48, 64, 104, 128];
        let sections = sizes.map(|slot_bytes| Section::new(0, slot_bytes, 1));
        let table = ClassTable::new(&sections);
        for align in [1, 2, 4, 8, 16, 32, 64, 128, 256, 4096] {
            for size in 0..2000 {
                let layout = Layout::from_size_align(size, align).unwrap();
                let fits = |of: &usize| size > 0 && size <= *of && of.is_multiple_of(align);
                let expected = sizes.iter().position(fits).unwrap_or(sizes.len());
                assert_eq!(table.class_for(layout), expected, "{layout:?}");
            }
        }
        let max = Layout::from_size_align(isize::MAX as usize, 1).unwrap();
        assert_eq!(table.class_for(max), sizes.len());
        assert_eq!(ClassTable::new(&[]).class_for(Layout::new::<u64>()), 0);
    }
}
