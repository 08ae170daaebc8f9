/// Slots of the pool's most recent changes. After few changes, commands are patched instead of
/// rebuilt.
#[derive(Debug)]
pub(crate) struct RecentChanges {
    /// Ring buffer: change `revision` is at `revision` modulo the length.
    slots: [u32; Self::MAX],
    revision: u64,
}

impl RecentChanges {
    /// Number of changes that are stored.
    pub(crate) const MAX: usize = 64;
    /// Entry for a change of all slots; not a valid slot.
    const EVERY_SLOT: u32 = u32::MAX;

    pub(crate) const fn new() -> Self {
        Self { slots: [Self::EVERY_SLOT; Self::MAX], revision: 0 }
    }

    /// Total number of changes.
    #[inline]
    pub(crate) const fn revision(&self) -> u64 {
        self.revision
    }

    #[inline]
    pub(crate) const fn note(&mut self, slot: u32) {
        self.revision += 1;
        self.slots[self.revision as usize % Self::MAX] = slot;
    }

    pub(crate) const fn note_every_slot(&mut self) {
        self.note(Self::EVERY_SLOT);
    }

    /// Iterates over the slots of all changes after `revision`, possibly with duplicates. Returns
    /// `None` if some are no longer stored.
    pub(crate) fn since(&self, revision: u64) -> Option<impl Iterator<Item = u32>> {
        let slots = || (revision..self.revision).map(|before| self.slot_of(before + 1));
        let count = self.revision.checked_sub(revision)?;
        let are_stored = count <= Self::MAX as u64 && slots().all(|it| it != Self::EVERY_SLOT);
        are_stored.then(slots)
    }

    const fn slot_of(&self, revision: u64) -> u32 {
        self.slots[revision as usize % Self::MAX]
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn since_returns_all_later_changes_or_none() {
        let mut changes = RecentChanges::new();
        let since = |changes: &RecentChanges, revision| changes.since(revision).map(Vec::from_iter);
        assert_eq!(since(&changes, 0), Some(Vec::new()));
        for slot in 0..200 {
            changes.note(slot);
            for back in 0..=u64::from(slot) + 1 {
                let expected = (slot + 1 - back as u32..=slot).collect();
                let expected = (back <= RecentChanges::MAX as u64).then_some(expected);
                assert_eq!(since(&changes, changes.revision() - back), expected);
            }
        }
        assert_eq!(since(&changes, changes.revision() + 1), None);
        changes.note_every_slot();
        assert_eq!(since(&changes, changes.revision() - 1), None);
        changes.note(7);
        assert_eq!(since(&changes, changes.revision() - 1), Some([7].into()));
        assert_eq!(since(&changes, changes.revision() - 2), None);
    }
}
