use core::ops::Range;

/// Maximum number of parts per mesh.
pub const MAX_PARTS: usize = 8;

/// Set of a mesh's parts, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PartSet(u8);

impl PartSet {
    /// Empty set: the mesh is not drawn.
    pub const EMPTY: Self = Self(0);
    /// Set of all parts.
    pub const ALL: Self = Self(u8::MAX);

    /// Creates a set from bits: bit `n` for part `n`.
    #[inline]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// Creates a set of the parts for which `contains` returns `true`. Use it for data per part: the
    /// per-draw data of a mesh contains an array, which masks read part by part.
    ///
    /// # Examples
    /// ```
    /// use drystone_pool::{Access, DrawList, NullBackend, PartSet, PoolConfig, VertexPool};
    ///
    /// // Each of the two parts has a distance of its own.
    /// let mut backend = NullBackend(Access::Staged);
    /// let mut pool = VertexPool::<u64, [u32; 2]>::new(PoolConfig::default())?;
    /// let mut list = DrawList::new();
    /// list.insert(pool.insert(&[1, 2, 3], &[1, 2], [90, 10], &mut backend)?)?;
    /// list.mask(&pool, |distances| {
    ///     PartSet::from_fn(|part| distances.get(part).is_some_and(|it| *it < 50))
    /// });
    /// assert_eq!(list.commands(&pool)[0].index_count, 2 * 6);
    /// # Ok::<(), drystone_pool::PoolError>(())
    /// ```
    #[inline]
    pub fn from_fn(mut contains: impl FnMut(usize) -> bool) -> Self {
        (0..MAX_PARTS)
            .fold(Self::EMPTY, |set, part| if contains(part) { set.with(part) } else { set })
    }

    /// Returns the set as bits: bit `n` for part `n`.
    #[inline]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Returns the set with `part` added. Values of [`MAX_PARTS`] and above are ignored.
    #[inline]
    #[must_use]
    pub const fn with(self, part: usize) -> Self {
        if part < MAX_PARTS { Self(self.0 | 1 << part) } else { self }
    }

    /// Returns whether `part` is in the set.
    #[inline]
    pub const fn contains(self, part: usize) -> bool {
        part < MAX_PARTS && self.0 >> part & 1 != 0
    }

    /// Returns whether the set is empty.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// Ranges of a mesh's parts, which are adjacent from `first` on in one buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartRanges {
    /// End of each part, relative to `first`. Unused parts end where the last one does.
    ends: [u32; MAX_PARTS],
    pub(crate) first: u32,
    pub(crate) buffer: u16,
    /// Parts that have elements, one bit each.
    filled: u8,
}

impl PartRanges {
    /// Ranges of a mesh without elements.
    pub(crate) const EMPTY: Self = Self { ends: [0; MAX_PARTS], first: 0, buffer: 0, filled: 0 };

    /// Sets the sizes of the parts, at most [`MAX_PARTS`], and returns their sum. If the sum
    /// exceeds 32 bits, the ranges are invalid.
    #[inline]
    pub(crate) fn set_counts(&mut self, part_counts: &[u32]) -> u64 {
        let (mut has, mut end) = ([0; MAX_PARTS], 0);
        for (part, part_end) in self.ends.iter_mut().enumerate() {
            let count = part_counts.get(part).copied().unwrap_or(0);
            end += u64::from(count);
            *part_end = end as u32;
            has[part] = u8::from(count > 0);
        }
        // Gathers eight bytes to eight bits: byte `n` times bit `56 - 7n` is bit `56 + n`.
        const GATHER: u64 = 0x0102_0408_1020_4080;
        self.filled = (u64::from_le_bytes(has).wrapping_mul(GATHER) >> 56) as u8;
        end
    }

    /// Total number of elements.
    #[inline]
    pub(crate) const fn len(&self) -> u32 {
        self.ends[MAX_PARTS - 1]
    }

    /// Number of elements of each part within `held`, relative to `first`.
    pub(crate) fn counts_within(&self, held: &Range<u32>) -> [u32; MAX_PARTS] {
        let mut start = 0;
        self.ends.map(|end| {
            let part = core::mem::replace(&mut start, end)..end;
            part.end.min(held.end).saturating_sub(part.start.max(held.start))
        })
    }

    /// Number of parts that have elements.
    #[inline]
    pub(crate) const fn part_count(&self) -> u32 {
        self.filled.count_ones()
    }

    /// Passes the elements of each run of parts to `emit`, in order.
    #[inline]
    pub(crate) fn for_each_run(&self, runs: &PartRuns, mut emit: impl FnMut(Range<u32>)) {
        for &(first, stop) in runs.bounds() {
            // No run ends before its first part; the modulo lets the compiler omit the bounds
            // check.
            let end_of = |part: u8| self.ends[usize::from(part) % MAX_PARTS];
            let start = if first == 0 { 0 } else { end_of(first - 1) };
            emit(start..end_of(stop.wrapping_sub(1)));
        }
    }

    /// Parts that have elements, one bit each.
    #[inline]
    pub(crate) const fn filled(&self) -> u8 {
        self.filled
    }
}

/// Maximum number of runs: a hidden part follows each run but the last.
pub(crate) const MAX_RUNS: usize = MAX_PARTS.div_ceil(2);

/// Runs of parts that are drawn of a mesh, for a set of non-empty parts and a set of visible parts.
///
/// A run extends from a visible part to the next hidden part. Empty parts do not end a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartRuns {
    filled: u8,
    visible: PartSet,
    count: u8,
    /// First part of each run, and the part after its last.
    bounds: [(u8, u8); MAX_RUNS],
}

impl PartRuns {
    const NONE: Self =
        Self { filled: 0, visible: PartSet::EMPTY, count: 0, bounds: [(0, 0); MAX_RUNS] };

    /// Finds the runs. Takes one step per run, not per part.
    pub(crate) fn new(filled: u8, visible: PartSet) -> Self {
        let mut runs = Self { filled, visible, ..Self::NONE };
        let mut drawn = u32::from(filled & visible.bits());
        let hidden = u32::from(filled & !visible.bits()) | 1 << MAX_PARTS;
        while drawn != 0 {
            let first = drawn.trailing_zeros();
            let stop = (hidden & !0 << first).trailing_zeros();
            runs.bounds[usize::from(runs.count)] = (first as u8, stop as u8);
            runs.count += 1;
            drawn &= !0 << stop;
        }
        runs
    }

    /// Returns the first part of each run, and the part after its last.
    #[inline]
    pub(crate) fn bounds(&self) -> &[(u8, u8)] {
        &self.bounds[..usize::from(self.count).min(MAX_RUNS)]
    }

    #[inline]
    const fn is_of(&self, filled: u8, visible: PartSet) -> bool {
        self.filled == filled && self.visible.bits() == visible.bits()
    }
}

/// Cache of runs. Most meshes have all parts, and a camera sees whole regions from the same sides.
/// So an entry serves many meshes.
#[derive(Clone, Debug)]
pub(crate) struct RunTable {
    entries: [PartRuns; Self::ENTRIES],
}

impl RunTable {
    /// One entry for each mask of a mesh with six parts.
    const ENTRIES: usize = 64;

    #[inline]
    pub(crate) fn runs(&mut self, filled: u8, visible: PartSet) -> &PartRuns {
        let entry = &mut self.entries[usize::from(filled ^ visible.bits()) % Self::ENTRIES];
        if !entry.is_of(filled, visible) {
            *entry = PartRuns::new(filled, visible);
        }
        entry
    }
}

impl Default for RunTable {
    fn default() -> Self {
        Self { entries: [PartRuns::NONE; Self::ENTRIES] }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// Reference: a filled part that is visible begins or extends a run, and a hidden one ends it.
    fn runs_part_by_part(filled: u8, visible: PartSet) -> Vec<Vec<usize>> {
        let (mut runs, mut is_open) = (Vec::<Vec<usize>>::new(), false);
        for part in (0..MAX_PARTS).filter(|part| filled >> part & 1 != 0) {
            match (visible.contains(part), runs.last_mut()) {
                (true, Some(run)) if is_open => run.push(part),
                (true, _) => runs.push([part].into()),
                (false, _) => {}
            }
            is_open = visible.contains(part);
        }
        runs
    }

    /// Checks all sets, in an order that evicts entries of the cache.
    #[test]
    fn runs_equal_those_found_part_by_part() {
        let mut table = RunTable::default();
        for step in 0..1_u32 << 16 {
            let [filled, visible, ..] = step.wrapping_mul(40_503).to_le_bytes();
            let visible = PartSet::from_bits(visible);
            let runs = table.runs(filled, visible).bounds();
            let filled_parts = |&(first, stop): &(u8, u8)| {
                (first..stop).map(usize::from).filter(|part| filled >> part & 1 != 0).collect()
            };
            let runs: Vec<Vec<usize>> = runs.iter().map(filled_parts).collect();
            assert_eq!(runs, runs_part_by_part(filled, visible), "{filled:08b} {visible:?}");
        }
    }
}
