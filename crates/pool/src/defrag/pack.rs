use bytemuck::Pod;
use drystone_alloc::{RangeHandle, RangeSpace};

use super::{MAX_FREE_PERCENT, Remaining, Step, Task, Verdict};
use crate::{
    Backend, VertexPool,
    buffers::{Buffer, NO_OWNER, Span},
    space::{Allocation, Space},
};

/// Number of budgets that limits moving meshes away. With direct access, the old allocation of a moved mesh becomes free some frames later. While the
/// hole and the retired elements next to it are smaller than this many budgets, meshes that block
/// it are moved away as well. The hole then grows until sliding alone uses the budget.
const HOLE_BUDGETS: u64 = 4;

/// Content above the packed ranges.
enum Above {
    /// No range of a mesh.
    Nothing { waits: bool },
    /// Range of a mesh, after `waiting` retired elements.
    Mesh { range: RangeHandle, owner: u32, waiting: u32 },
    /// Not determined within the steps of one call.
    Unknown,
}

/// Defragmentation step: sliding a buffer's ranges down until they touch. Source and target of a
/// copy must not overlap, so a range slides only into a hole at least as large as itself:
///
/// ```text
///  [packed]·[R1]··[R2]···      R1 is larger than the gap: it is moved elsewhere,
///  [packed]········[R2]···     which leaves a hole that R2 fits,
///  [packed][R2]···········     and the hole moves up and absorbs each gap on the way
/// ```
impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// Starts packing. Small gaps at the start may remain, since closing them would move all ranges
    /// above.
    pub(super) fn start_pack(&mut self, number: u16) -> Step {
        let Some(buffer) = self.buffers.get_mut(number) else { return Step::Go(Task::Choose) };
        let Space::Ranges(space) = &buffer.space else {
            buffer.is_settled = true;
            return Step::Go(Task::Choose);
        };
        let free = u64::from(space.capacity() - space.used());
        let leave = free * MAX_FREE_PERCENT / 100 / 2;
        Step::Go(Task::Pack { buffer: number, packed: None, leave })
    }

    /// Packs one range, or skips one that needs no move.
    pub(super) fn step_pack(
        &mut self,
        number: u16,
        packed: Option<RangeHandle>,
        leave: u64,
        remaining: &mut Remaining,
        backend: &mut impl Backend,
    ) -> Step {
        let task = |packed, leave| Task::Pack { buffer: number, packed, leave };
        let Some(buffer) = self.buffers.get_mut(number) else { return Step::Go(Task::Choose) };
        let Space::Ranges(space) = &buffer.space else { return Step::Go(Task::Choose) };
        // The last packed range may have been removed.
        let Ok(gap) = space.gap_behind(packed) else { return Step::Go(Task::Choose) };
        let (range, owner, waiting) = match above(buffer, space, packed, remaining) {
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
        match remaining.allows(count) {
            Verdict::Yes => {}
            Verdict::Later => return Step::Stop(task(packed, leave)),
            Verdict::Never => return Step::Go(task(Some(range), leave)),
        }
        if gap >= count {
            return match self.allocate_packed(number, packed, count) {
                Some(to) if self.move_to(owner, to, remaining, backend) => {
                    Step::Go(task(to.allocation.range(), leave))
                }
                Some(_) => Step::Stop(task(packed, leave)),
                None => Step::Go(Task::Choose),
            };
        }
        let hole_bytes = u64::from(gap + waiting) * remaining.element_bytes;
        let can_lift =
            waiting == 0 || hole_bytes < remaining.budget.bytes.saturating_mul(HOLE_BUDGETS);
        match if can_lift { self.allocate_elsewhere(number, count) } else { None } {
            Some(to) if self.move_to(owner, to, remaining, backend) => {
                Step::Go(task(packed, leave))
            }
            Some(_) => Step::Stop(task(packed, leave)),
            None if waiting > 0 => Step::Stop(task(packed, leave)),
            None => Step::Go(task(Some(range), leave)),
        }
    }

    /// Allocates right after the packed ranges.
    fn allocate_packed(
        &mut self,
        number: u16,
        packed: Option<RangeHandle>,
        count: u32,
    ) -> Option<Span> {
        let buffer = self.buffers.get_mut(number)?;
        let Space::Ranges(space) = &mut buffer.space else { return None };
        let range = space.allocate_behind(packed, count, 1).ok()?;
        let first = space.range(range)?.start;
        Some(Span { allocation: Allocation::of_range(range), first, buffer: number })
    }

    /// Allocates for a range that blocks packing: in its own buffer, else in another with meshes.
    fn allocate_elsewhere(&mut self, number: u16, count: u32) -> Option<Span> {
        let own = self.buffers.get_mut(number)?.allocate(count);
        if let Some((allocation, first)) = own {
            return Some(Span { allocation, first, buffer: number });
        }
        self.buffers.all.iter_mut().enumerate().find_map(|(other, buffer)| {
            let buffer = buffer.as_mut().filter(|buffer| !buffer.is_empty())?;
            let (allocation, first) = buffer.allocate(count)?;
            Some(Span { allocation, first, buffer: other as u16 })
        })
    }
}

/// Returns the content above the packed ranges of a buffer.
fn above(
    buffer: &Buffer,
    space: &RangeSpace,
    packed: Option<RangeHandle>,
    remaining: &mut Remaining,
) -> Above {
    let (mut at, mut waiting) = (space.next(packed), 0);
    while let Some(range) = at {
        let owner = buffer.owner(Allocation::of_range(range));
        if owner != NO_OWNER {
            return Above::Mesh { range, owner, waiting };
        }
        if !remaining.take_step() {
            return Above::Unknown;
        }
        waiting += space.range(range).map_or(0, |range| range.end - range.start);
        at = space.next(Some(range));
    }
    Above::Nothing { waits: waiting > 0 }
}
