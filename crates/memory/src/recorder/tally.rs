use crate::live_table::Zeroable;

/// Every size up to this one has a line of its own.
const EXACT_BYTES: usize = 1024;
/// Number of lines for each doubling of larger sizes.
const STEPS_PER_DOUBLING: usize = 8;
const STEP_BITS: u32 = STEPS_PER_DOUBLING.ilog2();
/// Number of doublings. Sizes are below 2⁶³.
const DOUBLINGS: usize = 63 - EXACT_BYTES.ilog2() as usize;
/// Number of lines of the metadata.
pub(super) const LINES: usize = EXACT_BYTES + 1 + DOUBLINGS * STEPS_PER_DOUBLING;

/// Recorded data of one size, or of the sizes that share a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SizeRecord {
    /// Size in bytes. If several sizes share a line, the largest that occurred.
    pub size_bytes: u64,
    /// Strictest alignment that occurred with this size, in bytes.
    pub align_bytes: u64,
    /// Number of allocations.
    pub allocations: u64,
    /// Number of objects that are allocated now.
    pub live: u64,
    /// Largest number of objects that were allocated at once.
    pub peak: u64,
    /// Number of frees.
    pub deaths: u64,
    /// Sum over all freed objects: allocations of any size between allocation and free.
    pub lifetime_allocations: u64,
    /// Sum over all freed objects: bytes allocated between allocation and free.
    pub lifetime_bytes: u64,
}

// SAFETY: integers, all of whose bit patterns are valid.
unsafe impl Zeroable for SizeRecord {}

impl SizeRecord {
    /// Mean number of allocations of any size between allocation and free.
    pub fn mean_lifetime_allocations(&self) -> f64 {
        self.lifetime_allocations as f64 / self.deaths.max(1) as f64
    }

    /// Mean number of bytes allocated between allocation and free.
    pub fn mean_lifetime_bytes(&self) -> f64 {
        self.lifetime_bytes as f64 / self.deaths.max(1) as f64
    }

    pub(super) fn allocated(&mut self, size_bytes: u64, align_bytes: u64) {
        self.size_bytes = self.size_bytes.max(size_bytes);
        self.align_bytes = self.align_bytes.max(align_bytes);
        self.allocations += 1;
        self.live += 1;
        self.peak = self.peak.max(self.live);
    }

    pub(super) fn freed(&mut self, lifetime_allocations: u64, lifetime_bytes: u64) {
        self.live -= 1;
        self.deaths += 1;
        self.lifetime_allocations = self.lifetime_allocations.saturating_add(lifetime_allocations);
        self.lifetime_bytes = self.lifetime_bytes.saturating_add(lifetime_bytes);
    }

    /// Clears the counters of freed objects.
    pub(super) fn reset(&mut self) {
        let Self { size_bytes, align_bytes, live, .. } = *self;
        *self = Self { size_bytes, align_bytes, live, peak: live, ..Self::default() };
    }
}

/// Returns the line of a size.
pub(super) fn line_of(size_bytes: usize) -> usize {
    if size_bytes <= EXACT_BYTES {
        return size_bytes;
    }
    // The sizes of a line share the highest bit and the few bits below it.
    let size = size_bytes - 1;
    let doubling = size.ilog2();
    let step = (size >> (doubling - STEP_BITS)) & (STEPS_PER_DOUBLING - 1);
    let first = EXACT_BYTES + 1;
    let line = first + (doubling - EXACT_BYTES.ilog2()) as usize * STEPS_PER_DOUBLING + step;
    line.min(LINES - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_ascend_with_the_size_without_gaps() {
        let mut last = 0;
        for size in 0..100_000 {
            let line = line_of(size);
            assert!(line == last || line == last + 1, "{size}");
            last = line;
        }
        assert_eq!((line_of(1), line_of(EXACT_BYTES)), (1, EXACT_BYTES));
        assert_eq!(line_of(EXACT_BYTES + 1), EXACT_BYTES + 1);
        assert_eq!(line_of(isize::MAX as usize), LINES - 1);
    }
}
