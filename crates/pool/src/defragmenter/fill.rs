use alloc::vec::Vec;

use drystone_alloc::{DefragBudget, MoveOrder, RangeMove};

use super::{MAX_FREE_PERCENT, PlannedMove, Planner, Step, Task};
use crate::{
    allocation::{Allocation, Span},
    storage::Space,
};

/// Limit for planning, which copies the table of ranges. Beyond it, planning would take a
/// noticeable part of a frame, so only packing is used, which needs no plan.
const MAX_PLANNED_RANGES: u32 = 1 << 16;

/// Defragmentation step: filling a buffer's gaps from its own end. The most efficient step, since
/// each moved element closes one gap element.
impl Planner<'_> {
    /// Plans the moves.
    pub(super) fn plan_fill(&mut self, number: u16, plan: &mut Vec<RangeMove>) -> Option<Step> {
        match &self.storage.buffers.get(number)?.space {
            Space::Ranges(space) if space.len() <= MAX_PLANNED_RANGES => {
                let budget = DefragBudget::default()
                    .with_order(MoveOrder::AtOnce)
                    .with_target_percent((100 - MAX_FREE_PERCENT) as u8);
                *plan = space.plan_defragmentation(&budget);
                Some(Step::Go(Task::Fill { buffer: number, next: 0 }))
            }
            _ => self.start_pack(number),
        }
    }

    /// Carries out one move of the plan, if it is still possible.
    pub(super) fn step_fill(
        &mut self,
        number: u16,
        next: usize,
        plan: &[RangeMove],
    ) -> Option<Step> {
        let then = Task::Fill { buffer: number, next: next + 1 };
        let buffer = self.storage.buffers.get(number)?;
        let Some(step) = plan.get(next) else {
            return match buffer.waiting {
                0 if buffer.is_compact() => None,
                0 => self.start_pack(number),
                _ => Some(Step::Stop),
            };
        };
        let index = Allocation::of_range(step.handle).index();
        let Some((slot, from, count)) = self.owned(buffer, index) else {
            return Some(Step::Go(then));
        };
        if let Some(step) = self.over_budget(step.size, then) {
            return Some(step);
        }
        let Space::Ranges(space) = &mut self.storage.buffers.get_mut(number)?.space else {
            return None;
        };
        // The buffer may have changed since planning; an impossible move is skipped.
        let Ok(range) = space.allocate_target(step) else { return Some(Step::Go(then)) };
        let allocation = Allocation::of_range(range);
        let to = Span { allocation, first: step.to, buffer: number };
        Some(Step::Move(PlannedMove { slot, from, to, count, then }))
    }
}
