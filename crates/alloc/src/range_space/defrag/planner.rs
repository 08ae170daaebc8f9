use alloc::{collections::BTreeMap, vec::Vec};

use super::{DefragBudget, MoveOrder, RangeMove};
use crate::range_space::nodes::{START, padding};
use crate::{Offset, RangeHandle, RangeSpace};

/// Builds a plan by executing it on a copy of the space.
///
/// ```text
///  low                        region ─────────────────────────────► capacity
///  [..][.]··[...]·[..]···[.] │ ··[kept]·····[kept]··[kept]············
///        gaps that are filled │ ranges that fit below are moved; the rest slides down
/// ```
/// The copy lists only gaps below the region. A gap inside the region is set to 0, so that no range
/// is moved into the part that becomes free. Offsets stay correct.
pub(super) struct Planner<O: Offset> {
    space: RangeSpace<O>,
    budget: DefragBudget<O>,
    /// Size that the largest gap has to reach, in units.
    target: u64,
    moves: Vec<RangeMove<O>>,
    units_left: O,
    /// Only for [`MoveOrder::AtOnce`]: maps a stand-in node to the range that moves. A moved range
    /// keeps its old offset in the copy, and the stand-in node occupies the target.
    stands_for: BTreeMap<u32, u32>,
}

/// Result of the walk down from the last range: the node before the region, and the ranges that
/// stay in the region, highest first.
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

    pub(super) fn plan(mut self) -> Vec<RangeMove<O>> {
        if let Some(region) = self.fill_gaps()
            && self.budget.order == MoveOrder::FrontToBack
        {
            self.slide_down(&region);
        }
        self.moves
    }

    /// Visits the ranges from the last one down and moves those that fit into lower gaps. Stops as
    /// soon as the free units of the region suffice. `None` if the budget is exhausted first.
    fn fill_gaps(&mut self) -> Option<Region> {
        let mut kept = Vec::new();
        // Units that stay, plus the maximum padding for their alignment.
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
                    let moved = self.move_to_gap(at, after, pad)?;
                    (after == before).then_some(moved)
                }
                None => Some(at),
            };
            if let Some(stays) = stays {
                // A range that moved down within the region still belongs to it.
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

    /// Finds a node before a gap that holds `size` units at a multiple of `align`. Returns the node
    /// and the padding. An `align` of 0 means no alignment.
    fn find(&self, size: O, align: O) -> Option<(u32, O)> {
        match align == O::default() {
            true => self.space.find(size).map(|before| (before, O::default())),
            false => self.space.find_aligned(size, align),
        }
    }

    /// Whether a range can move. Stand-in nodes and ranges larger than the whole budget cannot.
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

    /// Moves a range into the gap behind `after`, at `pad` units from its start. Returns the node
    /// at the target in the copy. `None` if the heap has no memory for a new node.
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
                self.space.insert_node(stand_in, after, pad, size);
                self.stands_for.insert(stand_in, at);
                Some(stand_in)
            }
        }
    }

    /// Slides the ranges of a region down, lowest first, until they touch or reach their alignment.
    fn slide_down(&mut self, region: &Region) {
        let mut after = region.before;
        for &at in region.kept.iter().rev() {
            let end = self.space.nodes[after].end();
            let node = &self.space.nodes[at];
            let (offset, size) = (node.offset, node.size);
            // The range's own offset is aligned, so the first aligned offset is not higher.
            let to = end + padding(end, self.space.alignments.get(at)).unwrap_or_default();
            // A range larger than the whole budget stays, and the others are packed behind it.
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
        self.moves.push(RangeMove { handle, from: node.offset, to, size: node.size, after });
    }
}
