use alloc::{collections::BTreeMap, vec::Vec};

use super::{DefragBudget, Move, MoveOrder};
use crate::{
    Offset, RangeHandle, RangeSpace,
    range_space::{alignments::padding, nodes::START},
};

/// Makes a plan by carrying it out on a copy of the space.
///
/// ```text
///  low                        region ─────────────────────────────► capacity
///  [..][.]··[...]·[..]···[.] │ ··[kept]·····[kept]··[kept]············
///        gaps that are filled │ ranges that fit below have left; the rest slides down
/// ```
/// The copy lists only gaps below the region: one that the walk has passed is set to 0
/// there, so that nothing is ever placed in the part that is to become free. Offsets
/// stay true.
pub(super) struct Planner<O: Offset> {
    space: RangeSpace<O>,
    budget: DefragBudget<O>,
    /// Units that the largest gap is to reach.
    target: u64,
    moves: Vec<Move<O>>,
    units_left: O,
    /// At once: a moved range keeps its old place in the copy, and another node takes the
    /// new one. This says for which range that node stands.
    stands_for: BTreeMap<u32, u32>,
}

/// What the walk down from the last range found: the node that the region begins behind,
/// and the ranges that stayed in it, highest first.
struct Region {
    before: u32,
    kept: Vec<u32>,
}

impl<O: Offset> Planner<O> {
    pub(super) fn new(space: RangeSpace<O>, budget: DefragBudget<O>, target: u64) -> Self {
        Self {
            space,
            budget,
            target,
            moves: Vec::new(),
            units_left: budget.units,
            stands_for: BTreeMap::new(),
        }
    }

    pub(super) fn plan(mut self) -> Vec<Move<O>> {
        if let Some(region) = self.fill_gaps()
            && self.budget.order == MoveOrder::FrontToBack
        {
            self.slide_down(&region);
        }
        self.moves
    }

    /// Walks down from the last range and moves what fits into gaps further down, until
    /// what is free in the region passed would do. `None` when the budget ended first.
    fn fill_gaps(&mut self) -> Option<Region> {
        let mut kept = Vec::new();
        // What stays, and what its alignment costs at most.
        let mut kept_units = 0u128;
        let mut at = self.space.nodes[START].prev;
        while at != START {
            self.space.change_gap(at, O::default());
            let node = &self.space.nodes[at];
            let (before, size) = (node.prev, node.size);
            let align = self.space.alignments.get(at);
            let below = if self.may_leave(at) { self.find(size, align) } else { None };
            let stays = match below {
                Some((after, pad)) => {
                    self.spend(size)?;
                    let placed = self.move_to_gap(at, after, pad)?;
                    (after == before).then_some(placed)
                }
                None => Some(at),
            };
            if let Some(stays) = stays {
                // Behind a range that only went down a little the region goes on.
                self.space.change_gap(stays, O::default());
                kept.push(stays);
                kept_units += u128::from(size.into()) + u128::from(align.into().saturating_sub(1));
            }
            let region = (self.space.capacity - self.space.nodes[before].end()).into();
            if u128::from(region) >= kept_units + u128::from(self.target) {
                return Some(Region { before, kept });
            }
            at = before;
        }
        Some(Region { before: START, kept })
    }

    /// The node before a gap that holds `size` units at a multiple of `align`, if that is not
    /// 0, and the units in front of that.
    fn find(&self, size: O, align: O) -> Option<(u32, O)> {
        match align == O::default() {
            true => self.space.find(size).map(|before| (before, O::default())),
            false => self.space.find_aligned(size, align),
        }
    }

    /// Whether a range may go further down: not a node that only stands for one that did,
    /// nor a range that no budget ever suffices for.
    fn may_leave(&self, at: u32) -> bool {
        let is_stand_in = self.stands_for.contains_key(&at);
        !is_stand_in && self.space.nodes[at].size <= self.budget.units
    }

    fn spend(&mut self, size: O) -> Option<()> {
        if self.moves.len() as u64 >= self.budget.moves.into() || size > self.units_left {
            return None;
        }
        self.units_left -= size;
        Some(())
    }

    /// Moves a range into the gap behind `after`, `pad` units in. Returns the node that has
    /// its new place in the copy, or `None` when there is no memory for one.
    fn move_to_gap(&mut self, at: u32, after: u32, pad: O) -> Option<u32> {
        let to = self.space.nodes[after].end() + pad;
        let behind = self.stands_for.get(&after).copied().unwrap_or(after);
        self.push_move(at, to, behind);
        match self.budget.order {
            MoveOrder::FrontToBack => {
                self.space.relocate(at, after, to);
                Some(at)
            }
            MoveOrder::AtOnce => {
                let stand_in = self.space.nodes.take_unused()?;
                let size = self.space.nodes[at].size;
                self.space.hand_out(stand_in, after, pad, size);
                self.stands_for.insert(stand_in, at);
                Some(stand_in)
            }
        }
    }

    /// Slides the ranges of a region down until they touch, or lie at their next alignment,
    /// lowest first.
    fn slide_down(&mut self, region: &Region) {
        let mut after = region.before;
        for &at in region.kept.iter().rev() {
            let end = self.space.nodes[after].end();
            let node = &self.space.nodes[at];
            let (offset, size) = (node.offset, node.size);
            // Where the range lies is aligned, so the first place that is lies no higher.
            let to = end + padding(end, self.space.alignments.get(at)).unwrap_or_default();
            // One that no budget ever suffices for stays, and the others gather behind it.
            if offset > to && size <= self.budget.units {
                if self.spend(size).is_none() {
                    return;
                }
                self.push_move(at, to, after);
                self.space.nodes[at].offset = to;
            }
            after = at;
        }
    }

    fn push_move(&mut self, at: u32, to: O, after: u32) {
        let node = &self.space.nodes[at];
        let handle = RangeHandle { index: at, generation: node.generation };
        self.moves.push(Move { handle, from: node.offset, to, size: node.size, after });
    }
}
