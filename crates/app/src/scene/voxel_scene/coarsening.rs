/// Factor by which voxels are larger than requested, because vertex memory is limited.
///
/// The factor grows whenever memory runs out, and shrinks once the tree is settled and memory may
/// suffice. If that fails repeatedly, shrinking is tried less and less often, since each attempt
/// builds many meshes for nothing.
pub(super) struct Coarsening {
    factor: f64,
    /// Settled updates since the factor last changed.
    idle_updates: u32,
    /// Number of such updates before the factor shrinks.
    wait_updates: u32,
    /// Whether the factor has shrunk and it is not known yet that memory suffices.
    is_shrink_tried: bool,
    /// Consecutive updates in which nothing fitted and no mesh was awaited.
    hopeless_count: u32,
}

/// Growth of the factor each time that memory runs out.
const GROWTH: f64 = 1.15;
/// Maximum factor; beyond it, larger voxels free no more memory.
const MAX_FACTOR: f64 = 4096.0;
/// Maximum number of updates between attempts to shrink.
const MAX_WAIT_UPDATES: u32 = 512;
/// Number of consecutive hopeless updates after which the content cannot fit, even at the maximum
/// factor.
const MAX_HOPELESS: u32 = 100;

impl Coarsening {
    pub(super) const NONE: Self = Self {
        factor: 1.0,
        idle_updates: 0,
        wait_updates: 0,
        is_shrink_tried: false,
        hopeless_count: 0,
    };

    pub(super) const fn factor(&self) -> f64 {
        self.factor
    }

    /// Whether the content repeatedly did not fit, even at the maximum factor.
    pub(super) const fn is_hopeless(&self) -> bool {
        self.hopeless_count > MAX_HOPELESS
    }

    /// Resets the count after something was hidden to free memory.
    pub(super) const fn retry(&mut self) {
        self.hopeless_count = 0;
    }

    /// Records an update that ran out of memory. `has_hope`: something fitted, or awaited meshes
    /// may free memory.
    pub(super) fn refused(&mut self, has_hope: bool) {
        if std::mem::take(&mut self.is_shrink_tried) {
            let longer = (self.wait_updates * 2).max(1);
            self.wait_updates = longer.min(MAX_WAIT_UPDATES);
        }
        self.factor = (self.factor * GROWTH).min(MAX_FACTOR);
        self.idle_updates = 0;
        self.hopeless_count = if has_hope { 0 } else { self.hopeless_count.saturating_add(1) };
    }

    /// Records an update in which everything fitted. `has_spare_memory`: and much memory is left.
    pub(super) fn accepted(&mut self, is_settled: bool, has_spare_memory: bool) {
        self.hopeless_count = 0;
        if !is_settled {
            return;
        }
        if std::mem::take(&mut self.is_shrink_tried) {
            self.wait_updates = 0;
        }
        if self.factor == 1.0 || !has_spare_memory {
            return;
        }
        self.idle_updates = self.idle_updates.saturating_add(1);
        if self.idle_updates > self.wait_updates {
            self.factor = (self.factor / GROWTH).max(1.0);
            self.idle_updates = 0;
            self.is_shrink_tried = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shrinking_is_tried_less_often_until_memory_suffices() {
        let mut coarsening = Coarsening::NONE;
        coarsening.refused(true);
        let mut waits = Vec::new();
        for _ in 0..12 {
            let mut updates = 0;
            while coarsening.factor() > 1.0 {
                coarsening.accepted(true, true);
                updates += 1;
            }
            waits.push(updates);
            coarsening.refused(true);
        }
        assert!(waits.is_sorted() && waits[0] == 1);
        assert_eq!(waits[11], MAX_WAIT_UPDATES + 1);
        // Once it shows that memory suffices, the waiting time is reset.
        while coarsening.factor() > 1.0 {
            coarsening.accepted(true, true);
        }
        coarsening.accepted(true, true);
        coarsening.refused(true);
        coarsening.accepted(true, true);
        assert_eq!(coarsening.factor(), 1.0);
    }

    #[test]
    fn the_factor_stays_while_unsettled_or_short_of_memory() {
        let mut coarsening = Coarsening::NONE;
        coarsening.refused(true);
        for (is_settled, has_spare_memory) in [(false, true), (true, false), (false, false)] {
            coarsening.accepted(is_settled, has_spare_memory);
            assert_eq!(coarsening.factor(), GROWTH);
        }
    }

    #[test]
    fn content_is_hopeless_only_at_the_maximum_factor() {
        let mut coarsening = Coarsening::NONE;
        for i in 0..1_000 {
            coarsening.refused(i % 50 == 0);
            assert!(!coarsening.is_hopeless());
        }
        while !coarsening.is_hopeless() {
            coarsening.refused(false);
        }
        assert_eq!(coarsening.factor(), MAX_FACTOR);
        coarsening.accepted(false, false);
        assert!(!coarsening.is_hopeless());
    }
}
