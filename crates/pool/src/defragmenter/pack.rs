use drystone_alloc::{RangeHandle, RangeSpace};

use super::{Call, MAX_FREE_PERCENT, PlannedMove, Planner, Step, Task};
use crate::{
    allocation::{Allocation, NO_OWNER, Span},
    storage::{Buffer, Space},
};

/// Number of budgets that limits moving meshes away. With direct access, the old allocation of a
/// moved mesh becomes free some frames later. While the hole and the retired elements next to it are
/// smaller than this many budgets, meshes that block it are moved away as well. The hole then grows
/// until sliding alone uses the budget.
const HOLE_BUDGETS: u64 = 4;

/// Content above the packed ranges.
enum Above {
    /// No range of a mesh.
    Nothing { waits: bool },
    /// Range of a mesh, after `waiting` retired elements.
    Mesh { range: RangeHandle, waiting: u32 },
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
impl Planner<'_> {
    /// Starts packing. Small gaps at the start may remain, since closing them would move all ranges
    /// above.
    pub(super) fn start_pack(&mut self, number: u16) -> Option<Step> {
        let buffer = self.storage.buffers.get_mut(number)?;
        let Space::Ranges(space) = &buffer.space else {
            buffer.is_settled = true;
            return None;
        };
        let free = u64::from(space.capacity() - space.used());
        let leave = free * MAX_FREE_PERCENT / 100 / 2;
        Some(Step::Go(Task::Pack { buffer: number, packed: None, leave }))
    }

    /// Packs one range, or skips one that needs no move.
    pub(super) fn step_pack(
        &mut self,
        number: u16,
        packed: Option<RangeHandle>,
        leave: u64,
    ) -> Option<Step> {
        let task = |packed, leave| Task::Pack { buffer: number, packed, leave };
        let buffer = self.storage.buffers.get_mut(number)?;
        let Space::Ranges(space) = &buffer.space else { return None };
        // The last packed range may have been removed.
        let gap = space.gap_behind(packed).ok()?;
        let (range, waiting) = match above(buffer, space, packed, self.call) {
            Above::Mesh { range, waiting } => (range, waiting),
            Above::Unknown | Above::Nothing { waits: true } => return Some(Step::Stop),
            Above::Nothing { waits: false } => {
                (buffer.is_packed, buffer.is_settled) = (true, false);
                return None;
            }
        };
        if waiting == 0 && u64::from(gap) <= leave {
            return Some(Step::Go(task(Some(range), leave - u64::from(gap))));
        }
        let buffer = self.storage.buffers.get(number)?;
        let (slot, from, count) = self.owned(buffer, Allocation::of_range(range).index())?;
        let skipped = task(Some(range), leave);
        if let Some(step) = self.over_budget(count, skipped) {
            return Some(step);
        }
        if gap >= count {
            let to = self.allocate_packed(number, packed, count)?;
            let then = task(to.allocation.range(), leave);
            return Some(Step::Move(PlannedMove { slot, from, to, count, then }));
        }
        let max_hole_bytes = self.call.budget.bytes.saturating_mul(HOLE_BUDGETS);
        let can_lift = waiting == 0 || self.bytes(gap + waiting) < max_hole_bytes;
        Some(match if can_lift { self.allocate_elsewhere(number, count) } else { None } {
            Some(to) => {
                let then = task(packed, leave);
                Step::Move(PlannedMove { slot, from, to, count, then })
            }
            None if waiting > 0 => Step::Stop,
            None => Step::Go(skipped),
        })
    }

    /// Allocates right after the packed ranges.
    fn allocate_packed(
        &mut self,
        number: u16,
        packed: Option<RangeHandle>,
        count: u32,
    ) -> Option<Span> {
        let buffer = self.storage.buffers.get_mut(number)?;
        let Space::Ranges(space) = &mut buffer.space else { return None };
        let range = space.allocate_behind(packed, count, 1).ok()?;
        let first = space.range(range)?.start;
        Some(Span { allocation: Allocation::of_range(range), first, buffer: number })
    }

    /// Allocates for a range that blocks packing: in its own buffer, else in another with meshes.
    fn allocate_elsewhere(&mut self, number: u16, count: u32) -> Option<Span> {
        let buffers = &mut self.storage.buffers;
        let own = buffers.get_mut(number)?.allocate(count);
        own.or_else(|| buffers.allocate_where(count, |buffer| !buffer.is_empty()))
    }
}

/// Returns the content above the packed ranges of a buffer.
fn above(
    buffer: &Buffer,
    space: &RangeSpace,
    packed: Option<RangeHandle>,
    call: &mut Call,
) -> Above {
    let (mut at, mut waiting) = (space.next(packed), 0);
    while let Some(range) = at {
        if buffer.owner(Allocation::of_range(range)) != NO_OWNER {
            return Above::Mesh { range, waiting };
        }
        if !call.take_step() {
            return Above::Unknown;
        }
        waiting += space.range(range).map_or(0, |range| range.end - range.start);
        at = space.next(Some(range));
    }
    Above::Nothing { waits: waiting > 0 }
}
