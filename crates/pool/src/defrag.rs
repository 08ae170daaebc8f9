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

/// Threshold for a full buffer: at most this percentage of it is free. In the one buffer that is
/// not full, at most this percentage of the free elements may lie outside its largest gap. The last
/// few percent cost as much as all before.
const MAX_FREE_PERCENT: u64 = 5;
/// Limit for steps per call, since checking allocations costs time even without a move.
const STEPS_PER_CALL: u32 = 4096;
/// Number of frames without a search after a search that found nothing to do.
const IDLE_FRAMES: u64 = 16;

/// Limits for one call of [`defragment`](VertexPool::defragment).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveBudget {
    /// Maximum bytes to move. A mesh larger than this is never moved. Default 1 MiB.
    pub bytes: u64,
    /// Maximum number of moves; each is a copy that the backend encodes. Default 256.
    pub moves: u32,
}

impl Default for MoveBudget {
    fn default() -> Self {
        Self { bytes: 1 << 20, moves: 256 }
    }
}

/// Result of one call of [`defragment`](VertexPool::defragment).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Number of bytes moved.
    pub bytes: u64,
    /// Number of moves.
    pub moves: u32,
    /// Whether nothing was remaining to do: all buffers but one are full, and the free elements of that
    /// one are contiguous, as far as moves can achieve this. For the next 16 frames, calls then
    /// return at once with `true`.
    pub is_done: bool,
    /// Error of a refused copy, which ended the call. The mesh stays in its old allocation, and a
    /// later call tries again.
    pub refused: Option<BackendError>,
}

/// State of defragmentation between calls.
#[derive(Debug, Default)]
pub(crate) struct Defragmenter {
    task: Task,
    plan: Vec<Move>,
    /// First frame in which to search again.
    idle_until: u64,
    /// Meshes moved by the last call.
    pub(crate) moved: Vec<MeshHandle>,
    /// Error that ended the last call early.
    refused: Option<BackendError>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Task {
    #[default]
    Choose,
    /// Nothing remaining to do until this frame has completed, because retired allocations become free
    /// then.
    Wait { frame: u64 },
    /// Moves the meshes of one buffer to others with free space. `next` is the index of the next
    /// allocation.
    Empty { from: u16, next: usize },
    /// Moves ranges from the end of one buffer to its gaps, as planned.
    Fill { buffer: u16, next: usize },
    /// Slides the ranges of one buffer down. Ranges up to `packed` are final; gaps of at most
    /// `leave` elements in total may remain.
    Pack { buffer: u16, packed: Option<RangeHandle>, leave: u64 },
}

/// Outcome of one step.
enum Step {
    /// Continue with this task.
    Go(Task),
    /// Continue with this task in the next frame.
    Stop(Task),
    /// Nothing remaining to do.
    Done,
}

/// Remaining budget of a call.
pub(crate) struct Remaining {
    budget: MoveBudget,
    bytes: u64,
    moves: u32,
    steps: u32,
    element_bytes: u64,
}

/// Whether the budget allows a move.
#[derive(PartialEq, Eq)]
enum Verdict {
    Yes,
    /// Not in this call.
    Later,
    /// The mesh exceeds the whole budget of a call.
    Never,
}

impl Remaining {
    fn new(budget: MoveBudget, element_bytes: u64) -> Self {
        let steps = STEPS_PER_CALL;
        Self { budget, bytes: budget.bytes, moves: budget.moves, steps, element_bytes }
    }

    /// Returns whether `count` elements may be moved.
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

    /// Takes one step from the budget; returns whether there was one.
    fn take_step(&mut self) -> bool {
        let has_step = self.steps > 0;
        self.steps = self.steps.saturating_sub(1);
        has_step
    }
}

impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// Moves some meshes, so that buffers can be released and large meshes fit. Call it once per
    /// frame, before commands are built. The picture does not change.
    ///
    /// ```text
    ///  [##·#··#·] [#·##··##] [·#··#···]     meshes of the emptiest buffer move to the others
    ///  [########] [######·#] [···#····]     until these are full; they are packed if necessary
    ///  [########] [#######·] [#·······]     the last is packed; an empty buffer is released
    /// ```
    /// The GPU copies in queue order. The old allocation is retired until no frame in flight reads
    /// it, so a move is as safe as a replacement.
    ///
    /// Ranges: all buffers but one become at least 95 % full. In the remaining buffer, at least 95
    /// % of the free elements form one gap. Buckets and size classes: meshes only leave the
    /// emptiest buffer.
    ///
    /// # Cost
    /// The budget, and at most 4,096 steps per call. Planning for the last buffer occasionally
    /// costs O(its ranges).
    pub fn defragment(&mut self, budget: &MoveBudget, backend: &mut impl Backend) -> Moved {
        self.defragmenter.moved.clear();
        if self.frames.current() < self.defragmenter.idle_until {
            return Moved { is_done: true, ..Moved::default() };
        }
        self.defragmenter.refused = None;
        let mut remaining = Remaining::new(*budget, size_of::<V>() as u64);
        let mut task = self.defragmenter.task;
        let mut is_done = false;
        while remaining.take_step() {
            let step = match task {
                Task::Choose => self.choose(),
                Task::Wait { frame } if self.frames.completed() < frame => {
                    Step::Stop(Task::Wait { frame })
                }
                Task::Wait { .. } => self.choose(),
                Task::Empty { from, next } => self.step_empty(from, next, &mut remaining, backend),
                Task::Fill { buffer, next } => {
                    self.step_fill(buffer, next, &mut remaining, backend)
                }
                Task::Pack { buffer, packed, leave } => {
                    self.step_pack(buffer, packed, leave, &mut remaining, backend)
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
                    self.defragmenter.idle_until = self.frames.current() + IDLE_FRAMES;
                    break;
                }
            }
        }
        self.defragmenter.task = task;
        Moved {
            bytes: budget.bytes - remaining.bytes,
            moves: budget.moves - remaining.moves,
            is_done,
            refused: self.defragmenter.refused,
        }
    }

    /// Chooses the next task. If several buffers have free space, empties the emptiest; else joins
    /// the free ranges of the only one.
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

    /// Returns the frame that the most recently retired allocation waits for.
    fn last_waiting(&self) -> Option<u64> {
        self.buffers.retired.back().map(|retired| retired.frame)
    }

    /// Returns the allocation of an owner and the number of elements in it.
    fn owned(&self, owner: u32) -> Option<(Span, u32)> {
        if owner & PIECE_BIT == 0 {
            let mesh = self.meshes.get(self.meshes.handle_at(owner)?)?;
            let end = self.pieces.get(mesh.location().more).map_or(mesh.len(), |piece| piece.start);
            return Some((mesh.span(), end));
        }
        let piece = self.pieces.get(owner & !PIECE_BIT)?;
        let mesh = self.meshes.get(self.meshes.handle_at(piece.mesh)?)?;
        let end = self.pieces.get(piece.next).map_or(mesh.len(), |next| next.start);
        Some((piece.span, end - piece.start))
    }

    /// Makes the GPU copy the elements of `owner` to `to`, points the mesh there and retires the
    /// old allocation. Returns whether the backend accepts copies.
    fn move_to(
        &mut self,
        owner: u32,
        to: Span,
        remaining: &mut Remaining,
        backend: &mut impl Backend,
    ) -> bool {
        let Some((from, count)) = self.owned(owner) else {
            self.buffers.free(to, self.frames.current());
            return true;
        };
        let size_bytes = u64::from(count) * remaining.element_bytes;
        let at = |span: Span| (span.buffer.into(), u64::from(span.first) * remaining.element_bytes);
        if let Err(error) = backend.copy_elements(at(from), at(to), size_bytes) {
            self.buffers.free(to, self.frames.current());
            self.defragmenter.refused = Some(error);
            return false;
        }
        // The copy uses both allocations until the frame being built has completed.
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
            buffer.set_owner(to.allocation, owner);
        }
        self.traffic.note_moved(size_bytes);
        self.changes.note(slot);
        remaining.bytes -= size_bytes;
        remaining.moves -= 1;
        true
    }
}

#[cfg(test)]
impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// Moves a mesh to a buffer if it fits, creating the buffer if necessary. Returns the mesh's
    /// buffer.
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
        let Some((allocation, first)) = buffer.and_then(|buffer| buffer.allocate(count)) else {
            return from.buffer.into();
        };
        let budget = MoveBudget { bytes: u64::MAX, moves: u32::MAX };
        let mut remaining = Remaining::new(budget, size_of::<V>() as u64);
        self.move_to(
            mesh.slot(),
            Span { allocation, first, buffer: number },
            &mut remaining,
            backend,
        );
        number.into()
    }
}

impl Buffer {
    /// Returns whether the buffer has meshes and more free space than a full buffer.
    fn is_sparse(&self) -> bool {
        let free = u64::from(self.space.free_total());
        !self.is_empty() && free * 100 > u64::from(self.elements) * MAX_FREE_PERCENT
    }

    /// Returns whether the free elements are nearly contiguous.
    fn is_compact(&self) -> bool {
        let free = self.space.free_space(self.used + self.waiting);
        let outside = u64::from(free.total - free.largest.min(free.total));
        !matches!(self.space, Space::Ranges(_))
            || outside * 100 <= u64::from(free.total) * MAX_FREE_PERCENT
    }
}
