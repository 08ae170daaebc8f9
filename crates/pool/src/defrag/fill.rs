use bytemuck::Pod;
use drystone_alloc::{DefragBudget, MoveOrder};

use super::{MAX_FREE_PERCENT, Remaining, Step, Task, Verdict};
use crate::{
    Backend, VertexPool,
    buffers::{NO_OWNER, Span},
    space::{Allocation, Space},
};

/// Limit for planning, which copies the table of ranges. Beyond it, planning would take a
/// noticeable part of a frame, so only packing is used, which needs no plan.
const MAX_PLANNED_RANGES: u32 = 1 << 16;

/// Defragmentation step: filling a buffer's gaps from its own end. The most efficient step, since
/// each moved element closes one gap element.
impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// Plans the moves.
    pub(super) fn plan_fill(&mut self, number: u16) -> Step {
        let Some(buffer) = self.buffers.get(number) else { return Step::Go(Task::Choose) };
        match &buffer.space {
            Space::Ranges(space) if space.len() <= MAX_PLANNED_RANGES => {
                let budget = DefragBudget {
                    order: MoveOrder::AtOnce,
                    target_percent: (100 - MAX_FREE_PERCENT) as u8,
                    ..DefragBudget::default()
                };
                self.defragmenter.plan = space.plan_defragmentation(&budget);
                Step::Go(Task::Fill { buffer: number, next: 0 })
            }
            _ => self.start_pack(number),
        }
    }

    /// Executes one move of the plan, if it is still possible.
    pub(super) fn step_fill(
        &mut self,
        number: u16,
        next: usize,
        remaining: &mut Remaining,
        backend: &mut impl Backend,
    ) -> Step {
        let passed = Task::Fill { buffer: number, next: next + 1 };
        let Some(buffer) = self.buffers.get_mut(number) else { return Step::Go(Task::Choose) };
        let Some(step) = self.defragmenter.plan.get(next) else {
            if buffer.waiting > 0 {
                return Step::Stop(Task::Fill { buffer: number, next });
            }
            if buffer.is_compact() {
                return Step::Go(Task::Choose);
            }
            return self.start_pack(number);
        };
        let owner = buffer.owner(Allocation::of_range(step.handle));
        if owner == NO_OWNER {
            return Step::Go(passed);
        }
        match remaining.allows(step.size) {
            Verdict::Yes => {}
            Verdict::Later => return Step::Stop(Task::Fill { buffer: number, next }),
            Verdict::Never => return Step::Go(passed),
        }
        let Space::Ranges(space) = &mut buffer.space else { return Step::Go(Task::Choose) };
        // The buffer may have changed since planning; an impossible move is skipped.
        if let Ok(range) = space.allocate_target(step) {
            let to =
                Span { allocation: Allocation::of_range(range), first: step.to, buffer: number };
            if !self.move_to(owner, to, remaining, backend) {
                return Step::Stop(Task::Fill { buffer: number, next });
            }
        }
        Step::Go(passed)
    }
}
