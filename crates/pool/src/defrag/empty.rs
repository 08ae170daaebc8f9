use bytemuck::Pod;

use super::{Left, Step, Task, Verdict};
use crate::{
    Backend, VertexPool,
    buffers::{NOBODY, Span},
};

/// Emptying one buffer into the others.
impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// Moves one mesh out of a buffer, or passes over one for which there is no room.
    pub(super) fn step_empty(
        &mut self,
        from: u16,
        next: usize,
        left: &mut Left,
        backend: &mut impl Backend,
    ) -> Step {
        let Some(buffer) = self.buffers.get(from).filter(|buffer| !buffer.is_empty()) else {
            return Step::Go(Task::Choose);
        };
        let Some(&owner) = buffer.owners.get(next) else { return self.end_pass(from) };
        let passed = Task::Empty { from, next: next + 1 };
        if owner == NOBODY {
            return Step::Go(passed);
        }
        let Some((_, count)) = self.owned(owner) else { return Step::Go(passed) };
        match left.allows(count) {
            Verdict::Yes => {}
            Verdict::Later => return Step::Stop(Task::Empty { from, next }),
            Verdict::Never => return Step::Go(passed),
        }
        match self.find_target(from, count) {
            Some(to) if !self.move_to(owner, to, left, backend) => {
                Step::Stop(Task::Empty { from, next })
            }
            _ => Step::Go(passed),
        }
    }

    /// A place in a buffer that is to be filled.
    fn find_target(&mut self, from: u16, count: u32) -> Option<Span> {
        self.buffers.all.iter_mut().enumerate().find_map(|(number, buffer)| {
            let buffer = buffer.as_mut()?;
            let number = number as u16;
            if number == from || buffer.is_settled || !buffer.is_sparse() {
                return None;
            }
            let (place, first) = buffer.allocate(count)?;
            Some(Span { place, first, buffer: number })
        })
    }

    /// No mesh that is left fits anywhere as it is. If packing may help, the target with
    /// most room is packed; else it is as full as it gets.
    fn end_pass(&mut self, from: u16) -> Step {
        let targets = self
            .buffers
            .iter()
            .filter(|&(number, buffer)| number != from && !buffer.is_settled && buffer.is_sparse());
        let max_room = targets.max_by_key(|(_, buffer)| buffer.space.free_total());
        let Some((number, _)) = max_room else { return Step::Go(Task::Choose) };
        let Some(buffer) = self.buffers.get_mut(number) else { return Step::Go(Task::Choose) };
        if buffer.waiting > 0 {
            // What waits may be just the room that is missing.
            return Step::Stop(Task::Empty { from, next: 0 });
        }
        if buffer.is_packed || buffer.is_compact() {
            buffer.is_settled = true;
            return Step::Go(Task::Choose);
        }
        self.start_pack(number)
    }
}
