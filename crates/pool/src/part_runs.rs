use crate::{MAX_PARTS, PartSet};

/// More runs do not fit: each but the last has a hidden part behind it.
const MAX_RUNS: usize = MAX_PARTS.div_ceil(2);

/// The runs of parts that are drawn of a mesh, by which of its parts have elements and
/// which are to be seen.
///
/// A run goes from a visible part to before the next hidden one; empty parts are neither.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartRuns {
    filled: u8,
    visible: PartSet,
    count: u8,
    /// Of each run the first part, and the part behind the last.
    bounds: [(u8, u8); MAX_RUNS],
}

impl PartRuns {
    const NONE: Self =
        Self { filled: 0, visible: PartSet::EMPTY, count: 0, bounds: [(0, 0); MAX_RUNS] };

    /// One step a run, not one a part.
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

    /// Of each run the first part, and the part behind the last.
    #[inline]
    pub(crate) fn bounds(&self) -> &[(u8, u8)] {
        &self.bounds[..usize::from(self.count).min(MAX_RUNS)]
    }

    #[inline]
    const fn is_of(&self, filled: u8, visible: PartSet) -> bool {
        self.filled == filled && self.visible.bits() == visible.bits()
    }
}

/// Remembers runs. Meshes mostly have all their parts, and an eye sees whole regions from
/// the same sides: what was found for one mesh serves most of the others.
#[derive(Debug)]
pub(crate) struct RunTable {
    entries: [PartRuns; Self::ENTRIES],
}

impl RunTable {
    /// One for each mask of meshes that have six parts.
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

    /// Part by part: a filled part that is seen begins a run or goes on with it, one that
    /// is hidden ends it.
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

    /// All sets there are, in an order in which entries of the table are taken by others.
    #[test]
    fn runs_are_what_going_part_by_part_gives() {
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
