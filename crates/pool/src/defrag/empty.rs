use bytemuck::Pod;

use super::{Remaining, Step, Task, Verdict};
use crate::{
    Backend, VertexPool,
    buffers::{NO_OWNER, Span},
};

/// Defragmentation step: emptying one buffer into the others.
impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// Moves one mesh out of a buffer, or skips it if it does not fit elsewhere.
    pub(super) fn step_empty(
        &mut self,
        from: u16,
        next: usize,
        remaining: &mut Remaining,
        backend: &mut impl Backend,
    ) -> Step {
        let Some(buffer) = self.buffers.get(from).filter(|buffer| !buffer.is_empty()) else {
            return Step::Go(Task::Choose);
        };
        let Some(&owner) = buffer.owners.get(next) else { return self.end_pass(from) };
        let passed = Task::Empty { from, next: next + 1 };
        if owner == NO_OWNER {
            return Step::Go(passed);
        }
        let Some((_, count)) = self.owned(owner) else { return Step::Go(passed) };
        match remaining.allows(count) {
            Verdict::Yes => {}
            Verdict::Later => return Step::Stop(Task::Empty { from, next }),
            Verdict::Never => return Step::Go(passed),
        }
        match self.allocate_target(from, count) {
            Some(to) if !self.move_to(owner, to, remaining, backend) => {
                Step::Stop(Task::Empty { from, next })
            }
            _ => Step::Go(passed),
        }
    }

    /// Allocates in a buffer that is to be filled.
    fn allocate_target(&mut self, from: u16, count: u32) -> Option<Span> {
        self.buffers.all.iter_mut().enumerate().find_map(|(number, buffer)| {
            let buffer = buffer.as_mut()?;
            let number = number as u16;
            if number == from || buffer.is_settled || !buffer.is_sparse() {
                return None;
            }
            let (allocation, first) = buffer.allocate(count)?;
            Some(Span { allocation, first, buffer: number })
        })
    }

    /// Ends a pass in which no remaining mesh fits elsewhere. Packs the target with most free space
    /// if that can help; else marks it as settled.
    fn end_pass(&mut self, from: u16) -> Step {
        let targets = self
            .buffers
            .iter()
            .filter(|&(number, buffer)| number != from && !buffer.is_settled && buffer.is_sparse());
        let emptiest = targets.max_by_key(|(_, buffer)| buffer.space.free_total());
        let Some((number, _)) = emptiest else { return Step::Go(Task::Choose) };
        let Some(buffer) = self.buffers.get_mut(number) else { return Step::Go(Task::Choose) };
        if buffer.waiting > 0 {
            // Retired allocations may provide the missing space.
            return Step::Stop(Task::Empty { from, next: 0 });
        }
        if buffer.is_packed || buffer.is_compact() {
            buffer.is_settled = true;
            return Step::Go(Task::Choose);
        }
        self.start_pack(number)
    }
}
