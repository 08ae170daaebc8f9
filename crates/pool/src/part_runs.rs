use crate::{MAX_PARTS, PartSet};

/// Maximum number of runs: a hidden part follows each run but the last.
const MAX_RUNS: usize = MAX_PARTS.div_ceil(2);

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
#[derive(Debug)]
pub(crate) struct RunTable {
    entries: [PartRuns; Self::ENTRIES],
}

impl RunTable {
    /// One entry for each mask of a mesh with six parts.
    const ENTRIES: usize = 64;

    pub(crate) const fn new() -> Self {
        Self { entries: [PartRuns::NONE; Self::ENTRIES] }
    }

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
        Self::new()
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
        let mut table = RunTable::new();
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
