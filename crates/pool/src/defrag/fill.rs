use bytemuck::Pod;
use drystone_alloc::{DefragBudget, MoveOrder};

use super::{Left, REST_PERCENT, Step, Task, Verdict};
use crate::{
    Backend, VertexPool,
    buffers::{NOBODY, Span},
    space::{Place, Space},
};

/// Planning copies the table of ranges; beyond so many it would be felt in a frame, and
/// packing, which needs no plan, does alone.
const MAX_PLANNED_RANGES: u32 = 1 << 16;

/// Filling a buffer's gaps from its own end: the best bargain, a unit gained for each that
/// is moved.
impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// Plans which ranges go where.
    pub(super) fn plan_fill(&mut self, number: u16) -> Step {
        let Some(buffer) = self.buffers.get(number) else { return Step::Go(Task::Choose) };
        match &buffer.space {
            Space::Ranges(space) if space.len() <= MAX_PLANNED_RANGES => {
                let budget = DefragBudget {
                    order: MoveOrder::AtOnce,
                    target_percent: (100 - REST_PERCENT) as u8,
                    ..DefragBudget::default()
                };
                self.defragmenter.plan = space.plan_defragmentation(&budget);
                Step::Go(Task::Fill { buffer: number, next: 0 })
            }
            _ => self.start_pack(number),
        }
    }

    /// Carries out one move of the plan, if it still can be.
    pub(super) fn step_fill(
        &mut self,
        number: u16,
        next: usize,
        left: &mut Left,
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
        let owner = buffer.owner(Place::of_range(step.handle));
        if owner == NOBODY {
            return Step::Go(passed);
        }
        match left.allows(step.size) {
            Verdict::Yes => {}
            Verdict::Later => return Step::Stop(Task::Fill { buffer: number, next }),
            Verdict::Never => return Step::Go(passed),
        }
        let Space::Ranges(space) = &mut buffer.space else { return Step::Go(Task::Choose) };
        // Between plan and move anything may have happened; such a move is left out.
        if let Ok(range) = space.allocate_target(step) {
            let to = Span { place: Place::of_range(range), first: step.to, buffer: number };
            if !self.move_to(owner, to, left, backend) {
                return Step::Stop(Task::Fill { buffer: number, next });
            }
        }
        Step::Go(passed)
    }
}
