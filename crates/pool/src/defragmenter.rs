//! Defragmentation: plans moves of allocations, within a budget per call.

use alloc::vec::Vec;

use drystone_alloc::{RangeHandle, RangeMove};

use crate::{
    allocation::Span,
    backend::{Backend, BackendError},
    frames::Frames,
    mesh::MeshHandle,
    meshes::Meshes,
    storage::{Buffer, Space, Storage},
};

mod fill;
mod pack;

/// Threshold for a full buffer: at most this percentage of it is free. In the one buffer that is
/// not full, at most this percentage of the free elements may lie outside its largest gap. The last
/// few percent cost as much as all before.
const MAX_FREE_PERCENT: u64 = 5;
/// Limit for steps per call, since checking allocations costs time even without a move.
const STEPS_PER_CALL: u32 = 4096;
/// Number of frames without a search after a search that found nothing to do.
pub(crate) const IDLE_FRAMES: u64 = 16;

/// Limits for one call of [`defragment`](crate::VertexPool::defragment).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize), serde(default))]
#[non_exhaustive]
pub struct MoveBudget {
    /// Maximum bytes to move. A mesh larger than this is never moved. Default 1 MiB.
    pub bytes: u64,
    /// Maximum number of moves; each is a copy that the backend encodes. Default 256.
    pub moves: u32,
}

impl Default for MoveBudget {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl MoveBudget {
    /// The default budget, for constants.
    pub const DEFAULT: Self = Self { bytes: 1 << 20, moves: 256 };

    /// Replaces [`bytes`](Self::bytes).
    #[must_use]
    pub const fn with_bytes(mut self, bytes: u64) -> Self {
        self.bytes = bytes;
        self
    }

    /// Replaces [`moves`](Self::moves).
    #[must_use]
    pub const fn with_moves(mut self, moves: u32) -> Self {
        self.moves = moves;
        self
    }
}

/// Result of one call of [`defragment`](crate::VertexPool::defragment).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Moved {
    /// Number of bytes moved.
    pub bytes: u64,
    /// Number of moves.
    pub moves: u32,
    /// Whether nothing was remaining to do: all buffers but one are full, and the free elements of
    /// that one are contiguous, as far as moves can achieve this. For the next 16 frames, calls then
    /// return at once with `true`.
    pub is_done: bool,
    /// Error of a refused copy, which ended the call. The mesh stays in its old allocation, and a
    /// later call tries again.
    pub refused: Option<BackendError>,
}

/// Plans moves, and stores how far it has come between calls.
#[derive(Debug, Default)]
pub(crate) struct Defragmenter {
    task: Task,
    plan: Vec<RangeMove>,
    /// First frame in which to search again.
    idle_until: u64,
    /// Meshes moved by the last call.
    moved: Vec<MeshHandle>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Task {
    #[default]
    Choose,
    /// Nothing remaining to do until this frame has completed, because retired allocations become
    /// free then.
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
    /// Continue with the current task in the next frame.
    Stop,
    /// Continue with this task in the next frame.
    Pause(Task),
    Move(PlannedMove),
    /// Nothing remaining to do.
    Done,
}

/// Move of elements of a slot's mesh to an allocation that is reserved for them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlannedMove {
    slot: u32,
    from: Span,
    to: Span,
    count: u32,
    /// Task after the move.
    then: Task,
}

#[cfg(test)]
impl PlannedMove {
    /// Creates a move that no defragmentation planned.
    pub(crate) const fn new(slot: u32, from: Span, to: Span, count: u32) -> Self {
        Self { slot, from, to, count, then: Task::Choose }
    }
}

/// Budget and result of a call.
pub(crate) struct Call {
    budget: MoveBudget,
    steps: u32,
    pub(crate) moved: Moved,
}

impl Call {
    /// Takes one step from the budget; returns whether there was one.
    const fn take_step(&mut self) -> bool {
        let has_step = self.steps > 0;
        self.steps = self.steps.saturating_sub(1);
        has_step
    }
}

impl Defragmenter {
    /// Begins a call.
    pub(crate) fn begin(&mut self, budget: &MoveBudget, frames: &Frames) -> Call {
        self.moved.clear();
        let is_done = frames.current() < self.idle_until;
        let steps = if is_done { 0 } else { STEPS_PER_CALL };
        Call { budget: *budget, steps, moved: Moved { is_done, ..Moved::default() } }
    }

    /// Plans the next move and reserves its target. Returns `None` at the end of the call.
    pub(crate) fn next_move(
        &mut self,
        call: &mut Call,
        storage: &mut Storage,
        meshes: &Meshes,
        frames: &Frames,
    ) -> Option<PlannedMove> {
        while call.take_step() {
            let mut planner = Planner { call, storage, meshes };
            let step = match self.task {
                Task::Wait { frame } if frames.completed() < frame => Some(Step::Stop),
                Task::Choose | Task::Wait { .. } => planner.choose(&mut self.plan),
                Task::Empty { from, next } => planner.step_empty(from, next),
                Task::Fill { buffer, next } => planner.step_fill(buffer, next, &self.plan),
                Task::Pack { buffer, packed, leave } => planner.step_pack(buffer, packed, leave),
            };
            match step.unwrap_or(Step::Go(Task::Choose)) {
                Step::Go(next) => self.task = next,
                Step::Stop => return None,
                Step::Pause(next) => {
                    self.task = next;
                    return None;
                }
                Step::Move(planned) => return Some(planned),
                Step::Done => {
                    let last_retired = storage.buffers.retired().back();
                    if let (Task::Choose, Some(retired)) = (self.task, last_retired) {
                        self.task = Task::Wait { frame: retired.frame };
                        return None;
                    }
                    self.task = Task::Choose;
                    self.idle_until = frames.current() + IDLE_FRAMES;
                    storage.buffers.emptying = None;
                    call.moved.is_done = true;
                    return None;
                }
            }
        }
        None
    }

    /// Carries out a move: makes the GPU copy the elements, points the mesh to them and retires the
    /// old allocation. Returns whether the backend accepts further copies.
    pub(crate) fn carry_out(
        &mut self,
        planned: PlannedMove,
        call: &mut Call,
        (storage, meshes, frames): (&mut Storage, &mut Meshes, &mut Frames),
        backend: &mut impl Backend,
    ) -> bool {
        let PlannedMove { slot, from, to, count, then } = planned;
        let element_bytes = storage.buffers.element_bytes;
        let size_bytes = u64::from(count) * element_bytes;
        let at = |span: Span| (span.buffer.into(), u64::from(span.first) * element_bytes);
        if let Err(error) = backend.copy_elements(at(from), at(to), size_bytes) {
            storage.buffers.free(to, frames.current());
            call.moved.refused = Some(error);
            return false;
        }
        // The copy uses both allocations until the frame being built has completed.
        frames.note_moved(size_bytes);
        self.moved.extend(meshes.move_piece(slot, (from, to), &mut storage.pieces));
        storage.buffers.retire(from, count, frames);
        if let Some(buffer) = storage.buffers.get_mut(to.buffer) {
            buffer.occupy(to.allocation, count, slot);
        }
        call.moved.bytes += size_bytes;
        call.moved.moves += 1;
        self.task = then;
        true
    }

    /// Meshes moved by the last call.
    pub(crate) fn moved(&self) -> &[MeshHandle] {
        &self.moved
    }
}

/// Plans single steps. A step that finds another situation than expected returns `None`: the next
/// task is chosen again.
struct Planner<'a> {
    call: &'a mut Call,
    storage: &'a mut Storage,
    meshes: &'a Meshes,
}

impl Planner<'_> {
    /// Chooses the next task. If several buffers have free space, empties the emptiest; else joins
    /// the free ranges of the only one.
    fn choose(&mut self, plan: &mut Vec<RangeMove>) -> Option<Step> {
        let buffers = &mut self.storage.buffers;
        let sparse = || buffers.iter().filter(|buffer| buffer.is_sparse());
        let targets = sparse().filter(|buffer| !buffer.is_settled).count();
        let emptiest = sparse().min_by_key(|buffer| buffer.used).map(|buffer| buffer.number);
        let Some(from) = emptiest else { return Some(Step::Done) };
        let buffer = buffers.get_mut(from)?;
        if targets > usize::from(!buffer.is_settled) {
            buffers.emptying = Some(from);
            return Some(Step::Go(Task::Empty { from, next: 0 }));
        }
        if buffer.is_settled || buffer.is_packed || buffer.is_compact() {
            buffer.is_settled = true;
            return Some(Step::Done);
        }
        self.plan_fill(from, plan)
    }

    /// Moves one mesh out of a buffer, or skips it if it does not fit elsewhere.
    pub(super) fn step_empty(&mut self, from: u16, next: usize) -> Option<Step> {
        let buffer = self.storage.buffers.get(from).filter(|buffer| !buffer.is_empty())?;
        if next >= buffer.owners.len() {
            return self.end_pass(from);
        }
        let then = Task::Empty { from, next: next + 1 };
        let Some((slot, span, count)) = self.owned(buffer, next) else {
            return Some(Step::Go(then));
        };
        self.over_budget(count, then).or_else(|| {
            let to = self.storage.buffers.allocate_where(count, |it| it.is_target(from));
            let planned = to.map(|to| PlannedMove { slot, from: span, to, count, then });
            Some(planned.map_or(Step::Go(then), Step::Move))
        })
    }

    /// Ends a pass in which no remaining mesh fits elsewhere. Packs the target with most free space
    /// if that can help; else marks it as settled.
    fn end_pass(&mut self, from: u16) -> Option<Step> {
        let targets = self.storage.buffers.iter().filter(|buffer| buffer.is_target(from));
        let number = targets.max_by_key(|buffer| buffer.space.free_total())?.number;
        let buffer = self.storage.buffers.get_mut(number)?;
        if buffer.waiting > 0 {
            // Retired allocations may provide the missing space.
            return Some(Step::Pause(Task::Empty { from, next: 0 }));
        }
        if buffer.is_packed || buffer.is_compact() {
            buffer.is_settled = true;
            return None;
        }
        self.start_pack(number)
    }

    /// Returns the mesh that owns the allocation with this index in a buffer: its slot, the
    /// allocation and the number of elements in it. Returns `None` for a free or retired one.
    fn owned(&self, buffer: &Buffer, index: usize) -> Option<(u32, Span, u32)> {
        let slot = *buffer.owners.get(index)?;
        let piece = self.meshes.piece_at(slot, buffer.number, index, &self.storage.pieces);
        piece.map(|(span, count)| (slot, span, count))
    }

    /// Returns the step to take instead of a move of `count` elements that exceeds the budget.
    /// `skipped` is the task without the move.
    fn over_budget(&self, count: u32, skipped: Task) -> Option<Step> {
        let (Call { budget, moved, .. }, bytes) = (&*self.call, self.bytes(count));
        if bytes > budget.bytes || budget.moves == 0 {
            // The mesh exceeds the whole budget of a call.
            return Some(Step::Go(skipped));
        }
        let is_over = bytes > budget.bytes - moved.bytes || moved.moves == budget.moves;
        is_over.then_some(Step::Stop)
    }

    /// Size of `count` elements, in bytes.
    fn bytes(&self, count: u32) -> u64 {
        u64::from(count) * self.storage.buffers.element_bytes
    }
}

impl Buffer {
    /// Returns whether meshes of buffer `from` may move to this one.
    fn is_target(&self, from: u16) -> bool {
        self.number != from && !self.is_settled && self.is_sparse()
    }

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
