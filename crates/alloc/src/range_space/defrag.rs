use alloc::vec::Vec;

use super::{RangeHandle, RangeSpace, alignments::padding};
use crate::{Error, Offset};

mod planner;

use planner::Planner;

/// How the moves of a plan are going to be carried out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MoveOrder {
    /// One after the other, front to back. A move's two ranges may overlap, so that it
    /// has to be copied as `memmove` does, and may lie on what an earlier move left.
    #[default]
    FrontToBack,
    /// In any order or all at once: no two ranges of the whole plan overlap. Such a plan
    /// may end before the target is reached, because nothing more fits without overlap.
    AtOnce,
}

/// What a step of defragmentation may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DefragBudget<O = u32> {
    /// Units moved, at most. A range larger than this is never moved.
    pub units: O,
    /// Moves, at most.
    pub moves: u32,
    /// How the moves are going to be carried out.
    pub order: MoveOrder,
    /// The part of what is free that the largest gap is to reach, in percent; a plan asks
    /// for no more than that.
    pub target_percent: u8,
}

impl<O: Offset> DefragBudget<O> {
    /// The usual target: the last few percent cost as much as all before.
    pub const TARGET_PERCENT: u8 = 95;

    /// At most so many units, in any number of moves, front to back.
    pub const fn units(units: O) -> Self {
        Self {
            units,
            moves: u32::MAX,
            order: MoveOrder::FrontToBack,
            target_percent: Self::TARGET_PERCENT,
        }
    }
}

impl<O: Offset> Default for DefragBudget<O> {
    fn default() -> Self {
        Self::units(O::MAX)
    }
}

/// One move of a plan: `size` units from offset `from` to offset `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move<O = u32> {
    /// The range that moves; its handle stays good.
    pub handle: RangeHandle,
    /// Where it lies.
    pub from: O,
    /// Where it goes: always further down.
    pub to: O,
    /// Its units.
    pub size: O,
    /// The node that it comes to lie behind.
    pub(super) after: u32,
}

impl<O: Offset> Move<O> {
    /// Whether the two ranges overlap, so that the units must be copied with care.
    pub fn overlaps(&self) -> bool {
        self.from - self.to < self.size
    }
}

impl<O: Offset> RangeSpace<O> {
    /// Which ranges to move, and where to, so that the largest gap grows. Nothing changes
    /// yet: carry the moves out in order, each with [`apply_move`](Self::apply_move) when
    /// its units are where they belong.
    ///
    /// The plan walks down from the last range. What fits into a gap further down goes
    /// there: the best bargain, a unit gained for each moved. What does not fit stays,
    /// and as soon as the gaps passed would do, the ranges passed slide down over them,
    /// lowest first. Every move goes down, so that plan after plan comes to an end. When a
    /// plan is empty, the target is reached, unless ranges are aligned: each keeps its
    /// alignment, and the units that this costs may lie between ranges.
    ///
    /// # Cost
    /// O(ranges), a copy of the space's nodes included; and for an aligned range that finds
    /// no gap, a look at every gap that is large enough.
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
    pub fn plan_defragmentation(&self, budget: &DefragBudget<O>) -> Vec<Move<O>> {
        let free = (self.capacity - self.used).into();
        let target = u128::from(free) * u128::from(budget.target_percent.min(100)) / 100;
        if self.live_blocks == 0 || u128::from(self.largest_free().into()) >= target {
            return Vec::new();
        }
        Planner::new(self.clone(), *budget, target as u64).plan()
    }

    /// Notes that a range has moved. Only then does its handle point to the new place.
    ///
    /// # Errors
    /// `Stale` when the range was freed since the plan was made, `NotAllocated` when it
    /// lies elsewhere or has another size now, `Full` when its new place is no longer
    /// free or breaks its alignment. Nothing has changed then; the rest of the plan is best dropped.
    pub fn apply_move(&mut self, step: &Move<O>) -> Result<(), Error> {
        let node = self.live_node(step.handle)?;
        if (node.offset, node.size) != (step.from, step.size) {
            return Err(Error::NotAllocated);
        }
        let own_room = if node.prev == step.after { node.size + node.gap } else { O::default() };
        let room = self.nodes.get(step.after).filter(|after| after.generation % 2 == 1);
        let fits = step.after != step.handle.index
            && self.keeps_alignment(step)
            && room.is_some_and(|after| {
                let end = after.end() + after.gap + own_room;
                step.to >= after.end() && step.to <= end && step.size <= end - step.to
            });
        if !fits {
            return Err(Error::Full {
                requested: step.size.into(),
                largest_free: room.map_or(0, |after| after.gap.into()),
                total_free: (self.capacity - self.used).into(),
            });
        }
        self.relocate(step.handle.index, step.after, step.to);
        Ok(())
    }

    /// Whether the range is aligned at its new place.
    pub(super) fn keeps_alignment(&self, step: &Move<O>) -> bool {
        padding(step.to, self.alignments.get(step.handle.index)) == Some(O::default())
    }

    /// Moves a range to `to`, in the gap behind `after` (its own place included, when that
    /// is its neighbour).
    fn relocate(&mut self, at: u32, after: u32, to: O) {
        self.detach(at);
        let pad = to - self.nodes[after].end();
        self.attach(at, after, pad);
    }
}
