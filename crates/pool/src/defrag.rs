use alloc::vec::Vec;

use bytemuck::Pod;
use drystone_alloc::{Move, RangeHandle};

use crate::{
    Backend, BackendError, MeshHandle, VertexPool,
    buffers::{Buffer, Span},
    mesh::PIECE_BIT,
    space::Space,
};

mod empty;
mod fill;
mod pack;
#[cfg(test)]
mod tests;

/// A buffer is full when no more than this part of it is free, in percent; and of what is
/// free in the one that is not, no more than this part may lie outside its largest gap.
/// The last few percent cost as much as all before.
const REST_PERCENT: u64 = 5;
/// What is looked at and not moved costs time, too: so much of it a call.
const STEPS_PER_CALL: u32 = 4096;
/// Frames for which nothing is looked for when all was well.
const REST_FRAMES: u64 = 16;

/// What a call of [`defragment`](VertexPool::defragment) may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveBudget {
    /// Bytes moved, at most. A mesh larger than this is never moved. Default 1 MiB.
    pub bytes: u64,
    /// Moves, at most: each is a copy that the backend encodes. Default 256.
    pub moves: u32,
}

impl Default for MoveBudget {
    fn default() -> Self {
        Self { bytes: 1 << 20, moves: 256 }
    }
}

/// What a call of [`defragment`](VertexPool::defragment) did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Bytes moved.
    pub bytes: u64,
    /// Moves.
    pub moves: u32,
    /// Whether nothing was left to do: every buffer but one is full, and in that one the
    /// free elements lie together, as far as moving can bring that about. After a call that
    /// found this, the calls of the next 16 frames do not look, and say so too.
    pub is_done: bool,
    /// Why the backend refused a copy, after which the call ended. The mesh stays where it
    /// was, and a later call tries again.
    pub refused: Option<BackendError>,
}

/// What is being done, from call to call.
#[derive(Debug, Default)]
pub(crate) struct Defragmenter {
    task: Task,
    plan: Vec<Move>,
    /// Nothing is looked for before this frame.
    rests_until: u64,
    /// What the last call moved.
    pub(crate) moved: Vec<MeshHandle>,
    /// Why the last call ended early.
    refused: Option<BackendError>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Task {
    #[default]
    Choose,
    /// Nothing was left to do but for places that wait for this frame: when they are free
    /// there may be.
    Wait { frame: u64 },
    /// The meshes of one buffer go to the others that have room; `next` is the place that
    /// comes next, by its index.
    Empty { from: u16, next: usize },
    /// Ranges from the end of one buffer go to its gaps, as planned.
    Fill { buffer: u16, next: usize },
    /// The ranges of one buffer slide down. Those up to `packed` have their place; gaps of
    /// `leave` elements in all may stay.
    Pack { buffer: u16, packed: Option<RangeHandle>, leave: u64 },
}

/// How far a step came.
enum Step {
    /// The next one can follow.
    Go(Task),
    /// The next frame can go on with this.
    Stop(Task),
    /// There is nothing to do.
    Done,
}

/// What is left of a budget.
pub(crate) struct Left {
    budget: MoveBudget,
    bytes: u64,
    moves: u32,
    steps: u32,
    element_bytes: u64,
}

/// What a budget says to a move.
#[derive(PartialEq, Eq)]
enum Verdict {
    Yes,
    /// In another call.
    Later,
    /// The mesh is larger than any call's budget.
    Never,
}

impl Left {
    fn new(budget: MoveBudget, element_bytes: u64) -> Self {
        let steps = STEPS_PER_CALL;
        Self { budget, bytes: budget.bytes, moves: budget.moves, steps, element_bytes }
    }

    /// Whether `count` elements may be moved.
    fn allows(&self, count: u32) -> Verdict {
        let bytes = u64::from(count) * self.element_bytes;
        if bytes > self.budget.bytes || self.budget.moves == 0 {
            Verdict::Never
        } else if bytes > self.bytes || self.moves == 0 {
            Verdict::Later
        } else {
            Verdict::Yes
        }
    }

    /// Whether there is time to look at one thing more.
    fn take_step(&mut self) -> bool {
        let has_step = self.steps > 0;
        self.steps = self.steps.saturating_sub(1);
        has_step
    }
}

impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// Moves some meshes, so that memory can be given back and large meshes find room.
    /// Call it once a frame, before commands are taken: the picture does not change.
    ///
    /// ```text
    ///  [##·#··#·] [#·##··##] [·#··#···]     the emptiest buffer's meshes go to the others
    ///  [########] [######·#] [···#····]     until these are full, packed where need be
    ///  [########] [#######·] [#·······]     the last is packed; an empty one is given back
    /// ```
    /// Copies are the GPU's, in queue order. A mesh's old place stays as it is until no
    /// frame reads it any more, so that a move is as safe as a replacement. With ranges,
    /// every buffer but one ends up full to 95 %, and in that one 95 % of what is free is
    /// one gap. With buckets and size classes meshes only leave the emptiest buffer.
    ///
    /// # Cost
    /// The budget, and some thousand steps of looking at places; now and then, for the last
    /// buffer, O(its ranges) to plan.
    pub fn defragment(&mut self, budget: &MoveBudget, backend: &mut impl Backend) -> Moved {
        self.defragmenter.moved.clear();
        if self.frames.current() < self.defragmenter.rests_until {
            return Moved { is_done: true, ..Moved::default() };
        }
        self.defragmenter.refused = None;
        let mut left = Left::new(*budget, size_of::<V>() as u64);
        let mut task = self.defragmenter.task;
        let mut is_done = false;
        while left.take_step() {
            let step = match task {
                Task::Choose => self.choose(),
                Task::Wait { frame } if self.frames.completed() < frame => {
                    Step::Stop(Task::Wait { frame })
                }
                Task::Wait { .. } => self.choose(),
                Task::Empty { from, next } => self.step_empty(from, next, &mut left, backend),
                Task::Fill { buffer, next } => self.step_fill(buffer, next, &mut left, backend),
                Task::Pack { buffer, packed, leave } => {
                    self.step_pack(buffer, packed, leave, &mut left, backend)
                }
            };
            match step {
                Step::Go(next) => task = next,
                Step::Stop(next) => {
                    task = next;
                    break;
                }
                Step::Done => {
                    if let (Task::Choose, Some(frame)) = (task, self.last_waiting()) {
                        task = Task::Wait { frame };
                        break;
                    }
                    (task, is_done) = (Task::Choose, true);
                    self.buffers.emptying = None;
                    self.defragmenter.rests_until = self.frames.current() + REST_FRAMES;
                    break;
                }
            }
        }
        self.defragmenter.task = task;
        Moved {
            bytes: budget.bytes - left.bytes,
            moves: budget.moves - left.moves,
            is_done,
            refused: self.defragmenter.refused,
        }
    }

    /// What to do next: empty the emptiest of the buffers that have room, if there are
    /// several, else bring together what is free in the only one.
    fn choose(&mut self) -> Step {
        let mut emptiest: Option<(u16, u32)> = None;
        let mut targets = 0;
        for (number, buffer) in self.buffers.iter().filter(|(_, buffer)| buffer.is_sparse()) {
            targets += u32::from(!buffer.is_settled);
            if emptiest.is_none_or(|(_, used)| buffer.used < used) {
                emptiest = Some((number, buffer.used));
            }
        }
        let Some((from, _)) = emptiest else { return Step::Done };
        let Some(buffer) = self.buffers.get_mut(from) else { return Step::Done };
        if targets > u32::from(!buffer.is_settled) {
            self.buffers.emptying = Some(from);
            return Step::Go(Task::Empty { from, next: 0 });
        }
        if buffer.is_settled {
            return Step::Done;
        }
        if buffer.is_packed || buffer.is_compact() {
            buffer.is_settled = true;
            return Step::Done;
        }
        self.plan_fill(from)
    }

    /// The frame that the place that waits longest waits for.
    fn last_waiting(&self) -> Option<u64> {
        self.buffers.retired.back().map(|retired| retired.frame)
    }

    /// Where the place of an owner is, and how many elements are in it.
    fn owned(&self, owner: u32) -> Option<(Span, u32)> {
        if owner & PIECE_BIT == 0 {
            let mesh = self.meshes.get(self.meshes.handle_at(owner)?)?;
            let end = self.pieces.get(mesh.placed().more).map_or(mesh.len(), |piece| piece.start);
            return Some((mesh.span(), end));
        }
        let piece = self.pieces.get(owner & !PIECE_BIT)?;
        let mesh = self.meshes.get(self.meshes.handle_at(piece.mesh)?)?;
        let end = self.pieces.get(piece.next).map_or(mesh.len(), |next| next.start);
        Some((piece.span, end - piece.start))
    }

    /// Has the GPU copy what `owner` has to another place, points the mesh there, and
    /// retires the old place. Returns whether the backend accepts copies.
    fn move_to(
        &mut self,
        owner: u32,
        to: Span,
        left: &mut Left,
        backend: &mut impl Backend,
    ) -> bool {
        let Some((from, count)) = self.owned(owner) else {
            self.buffers.give_back(to, self.frames.current());
            return true;
        };
        let size_bytes = u64::from(count) * left.element_bytes;
        let at = |span: Span| (span.buffer.into(), u64::from(span.first) * left.element_bytes);
        if let Err(error) = backend.copy_elements(at(from), at(to), size_bytes) {
            self.buffers.give_back(to, self.frames.current());
            self.defragmenter.refused = Some(error);
            return false;
        }
        // Both places are in the copy's hands until the frame being built has completed.
        self.frames.note_copy();
        let mut slot = owner;
        if owner & PIECE_BIT == 0 {
            let mesh = self.meshes.handle_at(owner).and_then(|mesh| self.meshes.get_mut(mesh));
            if let Some(mesh) = mesh {
                mesh.set_span(to);
            }
        } else if let Some(piece) = self.pieces.get_mut(owner & !PIECE_BIT) {
            (piece.span, slot) = (to, piece.mesh);
        }
        let moved = self.meshes.handle_at(slot).map(|mesh| self.handle(mesh));
        self.defragmenter.moved.extend(moved);
        self.buffers.retire(from, count, &self.frames);
        if let Some(buffer) = self.buffers.get_mut(to.buffer) {
            buffer.used += count;
            buffer.set_owner(to.place, owner);
        }
        self.traffic.note_moved(size_bytes);
        self.changes.note(slot);
        left.bytes -= size_bytes;
        left.moves -= 1;
        true
    }
}

#[cfg(test)]
impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// Moves a mesh to a buffer, which comes to be if need be, if there is room; returns
    /// the one that it is in then.
    pub(crate) fn move_to_buffer(
        &mut self,
        mesh: MeshHandle,
        number: u16,
        backend: &mut impl Backend,
    ) -> u32 {
        let Some((from, count)) = self.owned(mesh.slot()).filter(|(_, count)| *count > 0) else {
            return number.into();
        };
        while self.buffers.get(number).is_none() {
            let request = crate::buffers::Request {
                size: 1,
                element_bytes: size_of::<V>() as u64,
                config: &self.config,
                frame: self.frames.current(),
            };
            if self.buffers.add(&request, &mut *backend) != Ok(true) {
                break;
            }
        }
        let buffer = self.buffers.get_mut(number).filter(|_| from.buffer != number);
        let Some((place, first)) = buffer.and_then(|buffer| buffer.allocate(count)) else {
            return from.buffer.into();
        };
        let budget = MoveBudget { bytes: u64::MAX, moves: u32::MAX };
        let mut left = Left::new(budget, size_of::<V>() as u64);
        self.move_to(mesh.slot(), Span { place, first, buffer: number }, &mut left, backend);
        number.into()
    }
}

impl Buffer {
    /// Whether it has meshes and so much room that it is not full.
    fn is_sparse(&self) -> bool {
        let free = u64::from(self.space.free_total());
        !self.is_empty() && free * 100 > u64::from(self.elements) * REST_PERCENT
    }

    /// Whether what is free lies together.
    fn is_compact(&self) -> bool {
        let room = self.space.room(self.used + self.waiting);
        let outside = u64::from(room.total - room.largest.min(room.total));
        !matches!(self.space, Space::Ranges(_))
            || outside * 100 <= u64::from(room.total) * REST_PERCENT
    }
}
