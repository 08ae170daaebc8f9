/// How many times longer than they should voxels may be, for want of memory.
///
/// They become longer whenever there was no room, and shorter again as soon as nothing is left to
/// do and there may be; where there was none again and again, ever more seldom, since each time
/// much is made for nothing.
pub(super) struct Coarsening {
    factor: f64,
    /// Updates with nothing left to do, since the factor last changed.
    idle_updates: u32,
    /// So many of these are waited for before voxels become shorter again.
    patience_updates: u32,
    /// Whether they have become shorter, and it has not yet shown that there is room.
    is_tried: bool,
    /// How often in a row there was room for nothing, and nothing to wait for.
    hopeless_count: u32,
}

/// How much longer voxels may be after each time that there was no room.
const COARSER: f64 = 1.15;
/// Beyond this, longer voxels make no more room.
const COARSEST: f64 = 4096.0;
/// When there is no room again and again, it is looked for after so many updates at the latest.
const MAX_PATIENCE_UPDATES: u32 = 512;
/// After so many updates in a row that found room for nothing, and nothing to wait for, the last
/// of them with the longest voxels, no more is hoped for.
const MAX_HOPELESS: u32 = 100;

impl Coarsening {
    pub(super) const NONE: Self = Self {
        factor: 1.0,
        idle_updates: 0,
        patience_updates: 0,
        is_tried: false,
        hopeless_count: 0,
    };

    pub(super) const fn factor(&self) -> f64 {
        self.factor
    }

    /// Whether even the longest voxels found no room, again and again.
    pub(super) const fn is_hopeless(&self) -> bool {
        self.hopeless_count > MAX_HOPELESS
    }

    /// Starts to count again: something was hidden to make room.
    pub(super) const fn retry(&mut self) {
        self.hopeless_count = 0;
    }

    /// There was no room for all in an update; `has_hope`: but for some, or meshes are awaited
    /// that may make room.
    pub(super) fn refused(&mut self, has_hope: bool) {
        if std::mem::take(&mut self.is_tried) {
            let longer = (self.patience_updates * 2).max(1);
            self.patience_updates = longer.min(MAX_PATIENCE_UPDATES);
        }
        self.factor = (self.factor * COARSER).min(COARSEST);
        self.idle_updates = 0;
        self.hopeless_count = if has_hope { 0 } else { self.hopeless_count.saturating_add(1) };
    }

    /// There was room for all in an update; `has_room`: and much is left.
    pub(super) fn accepted(&mut self, is_settled: bool, has_room: bool) {
        self.hopeless_count = 0;
        if !is_settled {
            return;
        }
        if std::mem::take(&mut self.is_tried) {
            self.patience_updates = 0;
        }
        if self.factor == 1.0 || !has_room {
            return;
        }
        self.idle_updates = self.idle_updates.saturating_add(1);
        if self.idle_updates > self.patience_updates {
            self.factor = (self.factor / COARSER).max(1.0);
            self.idle_updates = 0;
            self.is_tried = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_looked_for_ever_more_seldom_until_there_is_some() {
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
        assert_eq!(waits[11], MAX_PATIENCE_UPDATES + 1);
        // There is room: as soon as that shows, nothing is waited for any more.
        while coarsening.factor() > 1.0 {
            coarsening.accepted(true, true);
        }
        coarsening.accepted(true, true);
        coarsening.refused(true);
        coarsening.accepted(true, true);
        assert_eq!(coarsening.factor(), 1.0);
    }

    #[test]
    fn without_much_room_or_with_more_to_do_voxels_stay_long() {
        let mut coarsening = Coarsening::NONE;
        coarsening.refused(true);
        for (is_settled, has_room) in [(false, true), (true, false), (false, false)] {
            coarsening.accepted(is_settled, has_room);
            assert_eq!(coarsening.factor(), COARSER);
        }
    }

    #[test]
    fn hope_ends_only_at_the_longest_and_not_while_any_is_left() {
        let mut coarsening = Coarsening::NONE;
        for i in 0..1_000 {
            coarsening.refused(i % 50 == 0);
            assert!(!coarsening.is_hopeless());
        }
        while !coarsening.is_hopeless() {
            coarsening.refused(false);
        }
        assert_eq!(coarsening.factor(), COARSEST);
        coarsening.accepted(false, false);
        assert!(!coarsening.is_hopeless());
    }
}
