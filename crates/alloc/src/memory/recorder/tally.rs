use super::super::zeroed::Zeroable;

/// Up to this size every size has a line of its own.
const EXACT_BYTES: usize = 1024;
/// Above, so many lines to each doubling of the size.
const STEPS_PER_DOUBLING: usize = 8;
const STEP_BITS: u32 = STEPS_PER_DOUBLING.ilog2();
/// Sizes are below 2⁶³.
const DOUBLINGS: usize = 63 - EXACT_BYTES.ilog2() as usize;
/// Lines of the metadata.
pub(super) const LINES: usize = EXACT_BYTES + 1 + DOUBLINGS * STEPS_PER_DOUBLING;

/// What was recorded of one size, or of the sizes that share a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SizeRecord {
    /// The size; the largest of them, where several share a line.
    pub size_bytes: u64,
    /// The strictest alignment asked for with it.
    pub align_bytes: u64,
    /// How often it was allocated.
    pub allocations: u64,
    /// How many of it are allocated now.
    pub live: u64,
    /// How many of it were allocated at one time, at most.
    pub peak: u64,
    /// How many were freed.
    pub deaths: u64,
    /// Sum over those: allocations of any size between birth and death.
    pub lifetime_allocations: u64,
    /// Sum over those: bytes allocated between birth and death.
    pub lifetime_bytes: u64,
}

// SAFETY: only numbers, whose bytes may be anything.
unsafe impl Zeroable for SizeRecord {}

impl SizeRecord {
    /// Allocations of any size between birth and death, on average.
    pub fn mean_lifetime_allocations(&self) -> f64 {
        self.lifetime_allocations as f64 / self.deaths.max(1) as f64
    }

    /// Bytes allocated between birth and death, on average.
    pub fn mean_lifetime_bytes(&self) -> f64 {
        self.lifetime_bytes as f64 / self.deaths.max(1) as f64
    }

    pub(super) fn born(&mut self, size_bytes: u64, align_bytes: u64) {
        self.size_bytes = self.size_bytes.max(size_bytes);
        self.align_bytes = self.align_bytes.max(align_bytes);
        self.allocations += 1;
        self.live += 1;
        self.peak = self.peak.max(self.live);
    }

    pub(super) fn died(&mut self, lifetime_allocations: u64, lifetime_bytes: u64) {
        self.live -= 1;
        self.deaths += 1;
        self.lifetime_allocations = self.lifetime_allocations.saturating_add(lifetime_allocations);
        self.lifetime_bytes = self.lifetime_bytes.saturating_add(lifetime_bytes);
    }

    /// Forgets the dead.
    pub(super) fn reset(&mut self) {
        let Self { size_bytes, align_bytes, live, .. } = *self;
        *self = Self { size_bytes, align_bytes, live, peak: live, ..Self::default() };
    }
}

/// The line that a size stands in.
pub(super) fn line_of(size_bytes: usize) -> usize {
    if size_bytes <= EXACT_BYTES {
        return size_bytes;
    }
    // The sizes of a line have the same highest bit and the same few bits below it.
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
    fn lines_rise_with_the_size_and_none_is_missing() {
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
