use alloc::vec::Vec;

use super::nodes::padding;
use super::{RangeHandle, RangeSpace};
use crate::{Error, Offset};

mod planner;

use planner::Planner;

/// Sequence in which the caller executes the moves of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MoveOrder {
    /// One after the other, from the front to the back. The source and the target of a move may
    /// overlap, so copy as `memmove` does. A target may overlap the source of an earlier move.
    #[default]
    FrontToBack,
    /// In any order or all at once: no two ranges of the whole plan overlap. Such a plan may end
    /// before the target is reached, because no further move is free of overlap.
    AtOnce,
}

/// Limits of one defragmentation plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DefragBudget<O = u32> {
    /// Maximum number of units moved. A range larger than this is never moved.
    pub units: O,
    /// Maximum number of moves.
    pub moves: u32,
    /// Sequence in which the caller executes the moves.
    pub order: MoveOrder,
    /// Fraction of the free units that the largest gap has to reach, in percent. Planning stops
    /// there.
    pub target_percent: u8,
}

impl<O: Offset> DefragBudget<O> {
    /// Default target. The last few percent cost as much as all the others.
    pub const TARGET_PERCENT: u8 = 95;

    /// A budget of `units` units, with any number of moves, from the front to the back.
    pub const fn units(units: O) -> Self {
        Self {
            units,
            moves: u32::MAX,
            order: MoveOrder::FrontToBack,
            target_percent: Self::TARGET_PERCENT,
        }
    }

    /// Replaces [`moves`](Self::moves).
    #[must_use]
    pub fn with_moves(mut self, moves: u32) -> Self {
        self.moves = moves;
        self
    }

    /// Replaces [`order`](Self::order).
    #[must_use]
    pub fn with_order(mut self, order: MoveOrder) -> Self {
        self.order = order;
        self
    }

    /// Replaces [`target_percent`](Self::target_percent).
    #[must_use]
    pub fn with_target_percent(mut self, target_percent: u8) -> Self {
        self.target_percent = target_percent;
        self
    }
}

impl<O: Offset> Default for DefragBudget<O> {
    fn default() -> Self {
        Self::units(O::MAX)
    }
}

/// A move of a plan: `size` units from offset `from` to offset `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RangeMove<O = u32> {
    /// Handle of the range that moves. It stays valid.
    pub handle: RangeHandle,
    /// Old offset.
    pub from: O,
    /// New offset, always smaller than `from`.
    pub to: O,
    /// Size of the range.
    pub size: O,
    /// Node that the range follows after the move.
    pub(super) after: u32,
}

impl<O: Offset> RangeMove<O> {
    /// Whether source and target overlap, so that a plain copy would corrupt the units.
    pub fn overlaps(&self) -> bool {
        self.from - self.to < self.size
    }
}

impl<O: Offset> RangeSpace<O> {
    /// Plans moves that make the largest gap grow. The space itself does not change. Execute the
    /// moves in sequence: copy the units of a move, then call [`apply_move`](Self::apply_move).
    ///
    /// The plan visits the ranges from the last one down. A range that fits into a lower gap moves
    /// there: each moved unit frees one. A range that fits into no gap stays. As soon as the gaps
    /// between the visited ranges suffice for the target, these ranges slide down, lowest first.
    /// Every move goes to a lower offset, so repeated plans terminate. An empty plan means that the
    /// target is reached. The exception are aligned ranges: each keeps its alignment, and the
    /// padding may remain between ranges.
    ///
    /// # Cost
    /// O(ranges), including a copy of the space's nodes. An aligned range that fits into no early
    /// gap visits every gap that is large enough.
    ///
    /// # Examples
    /// ```
    /// use drystone_alloc::{DefragBudget, RangeSpace};
    ///
    /// let mut space = RangeSpace::new(35);
    /// let ranges = [10, 10, 10].map(|size| space.allocate(size).unwrap());
    /// space.free(ranges[0])?;
    /// for step in space.plan_defragmentation(&DefragBudget::units(10)) {
    ///     // Copy `step.size` units from `step.from` to `step.to`, then:
    ///     space.apply_move(&step)?;
    /// }
    /// space.free(ranges[1])?;
    /// assert_eq!(space.range(ranges[2]), Some(0..10));
    /// assert_eq!(space.stats().largest_free, 25);
    /// # Ok::<(), drystone_alloc::Error>(())
    /// ```
    pub fn plan_defragmentation(&self, budget: &DefragBudget<O>) -> Vec<RangeMove<O>> {
        let free = (self.capacity - self.used).into();
        let target = u128::from(free) * u128::from(budget.target_percent.min(100)) / 100;
        if self.live_blocks == 0 || u128::from(self.largest_free().into()) >= target {
            return Vec::new();
        }
        Planner::new(self.clone(), *budget, target as u64).plan()
    }

    /// Records that a range has moved. From then on, its handle has the new offset.
    ///
    /// # Errors
    /// `Stale` if the range was freed after planning. `NotAllocated` if its offset or size has
    /// changed since. `Full` if the target is no longer free or breaks the alignment. On an error
    /// nothing has changed; drop the rest of the plan.
    pub fn apply_move(&mut self, step: &RangeMove<O>) -> Result<(), Error> {
        let node = self.live_node(step.handle)?;
        if (node.offset, node.size) != (step.from, step.size) {
            return Err(Error::NotAllocated);
        }
        let own_units = if node.prev == step.after { node.size + node.gap } else { O::default() };
        let target = self.nodes.get(step.after).filter(|after| after.generation % 2 == 1);
        let fits = step.after != step.handle.index
            && self.keeps_alignment(step)
            && target.is_some_and(|after| {
                let end = after.end() + after.gap + own_units;
                step.to >= after.end() && step.to <= end && step.size <= end - step.to
            });
        if !fits {
            return Err(Error::Full {
                requested: step.size.into(),
                largest_free: target.map_or(0, |after| after.gap.into()),
                total_free: (self.capacity - self.used).into(),
            });
        }
        self.relocate(step.handle.index, step.after, step.to);
        Ok(())
    }

    /// Whether the target offset of a move has the alignment of its range.
    pub(super) fn keeps_alignment(&self, step: &RangeMove<O>) -> bool {
        padding(step.to, self.alignments.get(step.handle.index)) == Some(O::default())
    }

    /// Moves a range to `to` in the gap after `after`. If `after` is its neighbour, its own units
    /// count as part of the gap.
    fn relocate(&mut self, at: u32, after: u32, to: O) {
        self.detach(at);
        let pad = to - self.nodes[after].end();
        self.attach(at, after, pad);
    }
}
