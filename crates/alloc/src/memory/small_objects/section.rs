use core::alloc::Layout;

use super::SmallObjectsConfig;

const GRANULE_BYTES: usize = SmallObjectsConfig::GRANULE_BYTES;
/// The largest layout that may be small, in granules.
const MAX_GRANULES: usize = SmallObjectsConfig::MAX_SLOT_BYTES / GRANULE_BYTES;

/// The slots of one class, side by side.
///
/// ```text
///  start            start + slot_bytes
///  |<--- slot 0 --->|<--- slot 1 --->| … |<--- slots − 1 --->|
/// ```
/// Which slot a pointer means is a division, and one that must have no remainder. With
/// `slot_bytes = odd · 2^k` and `inverse · odd = 1` in the arithmetic of machine words,
/// multiplying by `inverse` and rotating by `k` maps words to words one to one, and
/// `n · slot_bytes` to `n`. So everything that is not the start of a slot, be it inside of
/// one, below or above the section, comes out as a number of no slot: one multiplication
/// and one comparison answer all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Section {
    /// Offset of the first slot from the base of the area, in bytes.
    pub(crate) start: usize,
    pub(crate) slot_bytes: usize,
    pub(crate) slots: usize,
    /// See above.
    pub(crate) inverse: usize,
    /// `k` above.
    pub(crate) shift: u32,
}

impl Section {
    /// A section that lies at `start`; `slot_bytes` is not zero.
    pub(crate) const fn new(start: usize, slot_bytes: usize, slots: usize) -> Self {
        let shift = slot_bytes.trailing_zeros();
        Self { start, slot_bytes, slots, inverse: inverse_of(slot_bytes >> shift), shift }
    }

    /// What every slot is aligned to if the section is.
    pub(crate) const fn align(&self) -> usize {
        1 << self.shift
    }
}

/// The slot that starts so many bytes after its section does; a number that is not below
/// [`Section::slots`] if none does. Offsets of pointers below the section wrap around.
#[inline(always)]
pub(crate) const fn slot_at(offset: usize, inverse: usize, shift: u32) -> usize {
    offset.wrapping_mul(inverse).rotate_right(shift)
}

/// The number that gives 1 when multiplied by `odd`, in wrapping arithmetic.
const fn inverse_of(odd: usize) -> usize {
    // Every odd number is its own inverse in the last three bits; each step of Newton's
    // doubles the number of bits that are right.
    let mut inverse = odd;
    let mut right_bits = 3;
    while right_bits < usize::BITS {
        let error = 2usize.wrapping_sub(odd.wrapping_mul(inverse));
        inverse = inverse.wrapping_mul(error);
        right_bits *= 2;
    }
    inverse
}

/// The class that serves a layout: the smallest that is large enough and aligned enough.
///
/// One byte for each multiple of the granule, and one for all that is larger. Where no class serves, the answer is the
/// number past the last one, [`class_count`](Self::class_count): who keeps one more class
/// there, without slots, needs no question of its own on the fast path. Layouts of no bytes
/// are served by none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClassTable {
    by_granules: [u8; MAX_GRANULES + 2],
    /// Sections are aligned to what divides the size of their slots.
    aligns: [u16; SmallObjectsConfig::MAX_CLASSES],
    class_count: u8,
}

impl ClassTable {
    /// The table of these sections, whose sizes are multiples of the granule and go up.
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

    /// The class that serves the layout, at most `class_count`.
    #[inline(always)]
    pub(crate) fn class_for(&self, layout: Layout) -> usize {
        let granules = layout.size().div_ceil(GRANULE_BYTES);
        let class = usize::from(self.by_granules[granules.min(MAX_GRANULES + 1)]);
        if layout.align() > GRANULE_BYTES { self.aligned_class(class, layout) } else { class }
    }

    /// The first class from `class` on that is aligned as the layout asks.
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
    fn slots_are_found_and_nothing_else_is() {
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
    fn the_smallest_class_that_fits_serves() {
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
        let most = Layout::from_size_align(isize::MAX as usize, 1).unwrap();
        assert_eq!(table.class_for(most), sizes.len());
        assert_eq!(ClassTable::new(&[]).class_for(Layout::new::<u64>()), 0);
    }
}
