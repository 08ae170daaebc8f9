use super::{PlannedMove, Planner, Step, Task};

/// Defragmentation step: emptying one buffer into the others.
impl Planner<'_> {
    /// Moves one mesh out of a buffer, or skips it if it does not fit elsewhere.
    pub(super) fn step_empty(&mut self, from: u16, next: usize) -> Step {
        let Some(buffer) = self.storage.buffers.get(from).filter(|buffer| !buffer.is_empty())
        else {
            return Step::Go(Task::Choose);
        };
        if next >= buffer.owners.len() {
            return self.end_pass(from);
        }
        let then = Task::Empty { from, next: next + 1 };
        let Some((slot, span, count)) = self.owned(buffer, next) else { return Step::Go(then) };
        if let Some(step) = self.over_budget(count, then) {
            return step;
        }
        let target = self.storage.buffers.allocate_where(count, |buffer| {
            buffer.number != from && !buffer.is_settled && buffer.is_sparse()
        });
        match target {
            Some(to) => Step::Move(PlannedMove { slot, from: span, to, count, then }),
            None => Step::Go(then),
        }
    }

    /// Ends a pass in which no remaining mesh fits elsewhere. Packs the target with most free space
    /// if that can help; else marks it as settled.
    fn end_pass(&mut self, from: u16) -> Step {
        let targets = self
            .storage
            .buffers
            .iter()
            .filter(|buffer| buffer.number != from && !buffer.is_settled && buffer.is_sparse());
        let emptiest = targets.max_by_key(|buffer| buffer.space.free_total());
        let Some(number) = emptiest.map(|buffer| buffer.number) else {
            return Step::Go(Task::Choose);
        };
        let Some(buffer) = self.storage.buffers.get_mut(number) else {
            return Step::Go(Task::Choose);
        };
        if buffer.waiting > 0 {
            // Retired allocations may provide the missing space.
            return Step::Pause(Task::Empty { from, next: 0 });
        }
        if buffer.is_packed || buffer.is_compact() {
            buffer.is_settled = true;
            return Step::Go(Task::Choose);
        }
        self.start_pack(number)
    }
}
