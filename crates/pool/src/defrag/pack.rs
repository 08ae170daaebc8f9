use bytemuck::Pod;
use drystone_alloc::{RangeHandle, RangeSpace};

use super::{Left, REST_PERCENT, Step, Task, Verdict};
use crate::{
    Backend, VertexPool,
    buffers::{Buffer, NOBODY, Span},
    space::{Place, Space},
};

/// With direct access a place that was left is a hole only some frames later. While the
/// hole and what waits to join it are smaller than so many budgets, meshes are lifted out
/// of the way as well, so that the hole grows until sliding alone uses the budget.
const HOLE_BUDGETS: u64 = 4;

/// What lies above the packed ranges.
enum Above {
    /// No range that is a mesh's.
    Nothing { waits: bool },
    /// A mesh's range, with elements between that wait.
    Mesh { range: RangeHandle, owner: u32, waiting: u32 },
    /// It takes too long to find out in one call.
    Unknown,
}

/// Sliding a buffer's ranges down until they touch. Source and target of a copy must not
/// overlap, so a range slides only over a hole as large as itself:
///
/// ```text
///  [packed]·[R1]··[R2]···      R1 is larger than the gap: it is lifted to elsewhere,
///  [packed]········[R2]···     which leaves a hole that R2 fits,
///  [packed][R2]···········     and the hole goes up, growing by each gap that it meets
/// ```
impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// Begins at the start; small gaps there are worth less than moving all above them.
    pub(super) fn start_pack(&mut self, number: u16) -> Step {
        let Some(buffer) = self.buffers.get_mut(number) else { return Step::Go(Task::Choose) };
        let Space::Ranges(space) = &buffer.space else {
            buffer.is_settled = true;
            return Step::Go(Task::Choose);
        };
        let free = u64::from(space.capacity() - space.used());
        let leave = free * REST_PERCENT / 100 / 2;
        Step::Go(Task::Pack { buffer: number, packed: None, leave })
    }

    /// Packs one range, or passes one that lies well.
    pub(super) fn step_pack(
        &mut self,
        number: u16,
        packed: Option<RangeHandle>,
        leave: u64,
        left: &mut Left,
        backend: &mut impl Backend,
    ) -> Step {
        let task = |packed, leave| Task::Pack { buffer: number, packed, leave };
        let Some(buffer) = self.buffers.get_mut(number) else { return Step::Go(Task::Choose) };
        let Space::Ranges(space) = &buffer.space else { return Step::Go(Task::Choose) };
        // The last packed range may have been removed.
        let Ok(gap) = space.gap_behind(packed) else { return Step::Go(Task::Choose) };
        let (range, owner, waiting) = match above(buffer, space, packed, left) {
            Above::Unknown => return Step::Stop(task(packed, leave)),
            Above::Nothing { waits: true } => return Step::Stop(task(packed, leave)),
            Above::Nothing { waits: false } => {
                (buffer.is_packed, buffer.is_settled) = (true, false);
                return Step::Go(Task::Choose);
            }
            Above::Mesh { range, owner, waiting } => (range, owner, waiting),
        };
        if waiting == 0 && u64::from(gap) <= leave {
            return Step::Go(task(Some(range), leave - u64::from(gap)));
        }
        let Some((_, count)) = self.owned(owner) else { return Step::Go(Task::Choose) };
        match left.allows(count) {
            Verdict::Yes => {}
            Verdict::Later => return Step::Stop(task(packed, leave)),
            Verdict::Never => return Step::Go(task(Some(range), leave)),
        }
        if gap >= count {
            return match self.slide(number, packed, count) {
                Some(to) if self.move_to(owner, to, left, backend) => {
                    Step::Go(task(to.place.range(), leave))
                }
                Some(_) => Step::Stop(task(packed, leave)),
                None => Step::Go(Task::Choose),
            };
        }
        let hole_bytes = u64::from(gap + waiting) * left.element_bytes;
        let may_lift = waiting == 0 || hole_bytes < left.budget.bytes.saturating_mul(HOLE_BUDGETS);
        match if may_lift { self.find_elsewhere(number, count) } else { None } {
            Some(to) if self.move_to(owner, to, left, backend) => Step::Go(task(packed, leave)),
            Some(_) => Step::Stop(task(packed, leave)),
            None if waiting > 0 => Step::Stop(task(packed, leave)),
            None => Step::Go(task(Some(range), leave)),
        }
    }

    /// The place right behind the packed ranges.
    fn slide(&mut self, number: u16, packed: Option<RangeHandle>, count: u32) -> Option<Span> {
        let buffer = self.buffers.get_mut(number)?;
        let Space::Ranges(space) = &mut buffer.space else { return None };
        let range = space.allocate_behind(packed, count, 1).ok()?;
        let first = space.range(range)?.start;
        Some(Span { place: Place::of_range(range), first, buffer: number })
    }

    /// A place for a range that is in the way: in its own buffer, else in another that has
    /// meshes.
    fn find_elsewhere(&mut self, number: u16, count: u32) -> Option<Span> {
        let own = self.buffers.get_mut(number)?.allocate(count);
        if let Some((place, first)) = own {
            return Some(Span { place, first, buffer: number });
        }
        self.buffers.all.iter_mut().enumerate().find_map(|(other, buffer)| {
            let buffer = buffer.as_mut().filter(|buffer| !buffer.is_empty())?;
            let (place, first) = buffer.allocate(count)?;
            Some(Span { place, first, buffer: other as u16 })
        })
    }
}

/// What lies above the packed ranges of a buffer.
fn above(
    buffer: &Buffer,
    space: &RangeSpace,
    packed: Option<RangeHandle>,
    left: &mut Left,
) -> Above {
    let (mut at, mut waiting) = (space.next(packed), 0);
    while let Some(range) = at {
        let owner = buffer.owner(Place::of_range(range));
        if owner != NOBODY {
            return Above::Mesh { range, owner, waiting };
        }
        if !left.take_step() {
            return Above::Unknown;
        }
        waiting += space.range(range).map_or(0, |range| range.end - range.start);
        at = space.next(Some(range));
    }
    Above::Nothing { waits: waiting > 0 }
}
