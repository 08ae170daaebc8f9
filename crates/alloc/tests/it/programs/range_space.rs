use drystone_alloc::{DefragBudget, Error, MoveOrder, Offset, RangeHandle, RangeMove, RangeSpace};
use drystone_testing::Bytes;

#[derive(Debug)]
enum Op {
    Allocate {
        size: u64,
        align: u64,
    },
    /// Frees the n-th live range.
    Free(usize),
    /// Passes a stale handle to all functions that take one.
    UseStale(usize),
    Reallocate {
        nth: usize,
        size: u64,
    },
    /// Frees a range, allocates and frees another one, and restores the first.
    Restore {
        nth: usize,
        size: u64,
    },
    Grow(u64),
    Shrink,
    Reserve(u8),
    Reset,
    Defragment {
        units: u64,
        moves: u8,
        at_once: bool,
    },
}

impl Op {
    fn read(bytes: &mut Bytes<'_>) -> Self {
        match bytes.byte() {
            0..=89 => Self::Allocate { size: bytes.size(), align: 1 },
            90..=119 => Self::Allocate { size: bytes.size(), align: bytes.size() },
            120..=189 => Self::Free(bytes.below(usize::MAX)),
            190..=199 => Self::UseStale(bytes.below(usize::MAX)),
            200..=224 => Self::Reallocate { nth: bytes.below(usize::MAX), size: bytes.size() },
            225..=229 => Self::Grow(bytes.size()),
            230..=233 => Self::Shrink,
            234 => Self::Reserve(bytes.byte()),
            235 => Self::Reset,
            236..=240 => Self::Restore { nth: bytes.below(usize::MAX), size: bytes.size() },
            _ => Self::Defragment {
                units: bytes.size(),
                moves: bytes.byte(),
                at_once: bytes.byte().is_multiple_of(2),
            },
        }
    }
}

/// Maximum capacity for a shadow with one number per unit.
const SMALL: u64 = 2000;
const CAPACITIES: [u64; 9] =
    [0, 1, 2, 63, 500, SMALL, u32::MAX as u64 - 1, u32::MAX as u64, u64::MAX];
/// Marks a unit without an owner.
const NO_OWNER: u32 = 0;

/// The reference model: every live range in a list, and the owner of each unit of a small space.
struct Shadow<O> {
    live: Vec<Owned<O>>,
    stale: Vec<RangeHandle>,
    owner: Vec<u32>,
    capacity: u64,
    next_owner: u32,
}

#[derive(Clone, Copy)]
struct Owned<O> {
    handle: RangeHandle,
    offset: O,
    size: O,
    align: O,
    owner: u32,
}

impl<O: Offset> Shadow<O> {
    fn free_units(&self) -> u64 {
        self.capacity - self.live.iter().map(|owned| owned.size.into()).sum::<u64>()
    }

    /// Runs of free units, by address.
    fn gaps(&self) -> Vec<(u64, u64)> {
        let mut ranges: Vec<(u64, u64)> =
            self.live.iter().map(|o| (o.offset.into(), o.offset.into() + o.size.into())).collect();
        ranges.sort_unstable();
        ranges.push((self.capacity, self.capacity));
        let mut end = 0;
        let mut gaps = Vec::new();
        for (start, range_end) in ranges {
            assert!(start >= end, "ranges overlap at {start}");
            if start > end {
                gaps.push((end, start));
            }
            end = range_end;
        }
        gaps
    }

    fn write(&mut self, owned: Owned<O>) {
        if self.capacity <= SMALL {
            let (start, size) = (owned.offset.into() as usize, owned.size.into() as usize);
            self.owner[start..start + size].fill(owned.owner);
        }
    }

    /// Checks that the contents of every live range are those written last.
    fn check_contents(&self) {
        for owned in self.live.iter().filter(|_| self.capacity <= SMALL) {
            let (start, size) = (owned.offset.into() as usize, owned.size.into() as usize);
            let contents = &self.owner[start..start + size];
            assert!(contents.iter().all(|&owner| owner == owned.owner), "at {start}");
        }
    }
}

pub(crate) fn run(program: &[u8]) {
    let mut bytes = Bytes::new(program);
    let capacity = CAPACITIES[bytes.below(CAPACITIES.len())];
    if bytes.byte().is_multiple_of(2) {
        run_with::<u64>(&mut bytes, capacity);
    } else {
        run_with::<u32>(&mut bytes, capacity.min(u32::MAX.into()) as u32);
    }
}

fn run_with<O: Offset>(bytes: &mut Bytes<'_>, capacity: O) {
    let mut space = RangeSpace::with_size(capacity);
    let mut shadow = Shadow {
        live: Vec::new(),
        stale: Vec::new(),
        owner: Vec::new(),
        capacity: capacity.into(),
        next_owner: NO_OWNER + 1,
    };
    while !bytes.is_empty() {
        let op = Op::read(bytes);
        if shadow.capacity <= SMALL {
            shadow.owner.resize(shadow.capacity as usize, NO_OWNER);
        }
        step(&mut space, &mut shadow, &op);
        space.validate().unwrap_or_else(|wrong| panic!("{op:?}: {wrong}"));
        compare(&space, &shadow);
    }
}

/// A size or alignment of a program in the space's units; `None` if it is not representable.
fn units<O: Offset>(value: u64) -> O {
    O::try_from(value).unwrap_or(O::MAX)
}

fn step<O: Offset>(space: &mut RangeSpace<O>, shadow: &mut Shadow<O>, op: &Op) {
    match *op {
        Op::Allocate { size, align } => allocate(space, shadow, units(size), units(align)),
        Op::Free(nth) if !shadow.live.is_empty() => {
            let owned = shadow.live.swap_remove(nth % shadow.live.len());
            shadow.write(Owned { owner: NO_OWNER, ..owned });
            shadow.stale.push(owned.handle);
            assert_eq!(space.free(owned.handle), Ok(()));
        }
        Op::UseStale(nth) if !shadow.stale.is_empty() => {
            let handle = shadow.stale[nth % shadow.stale.len()];
            assert_eq!(space.free(handle), Err(Error::Stale));
            assert_eq!(space.range(handle), None);
            assert_eq!(space.resize_in_place(handle, O::MAX), Err(Error::Stale));
            assert_eq!((space.next(Some(handle)), space.previous(handle)), (None, None));
            assert_eq!(space.gap_behind(Some(handle)), Err(Error::Stale));
            let (one, zero) = (units(1), O::default());
            assert_eq!(space.allocate_behind(Some(handle), one, one), Err(Error::Stale));
            assert_eq!(space.allocate_at(Some(handle), zero, one), Err(Error::Stale));
        }
        Op::Reallocate { nth, size } if !shadow.live.is_empty() => {
            let nth = nth % shadow.live.len();
            resize_in_place(space, shadow, nth, units(size));
        }
        Op::Restore { nth, size } if !shadow.live.is_empty() => {
            let nth = nth % shadow.live.len();
            restore(space, shadow, nth, units(size));
        }
        Op::Grow(more) => {
            let more: O = units(more);
            let fits = more.into() <= O::MAX.into() - shadow.capacity;
            assert_eq!(space.grow(more), if fits { Ok(()) } else { Err(Error::InvalidSize) });
            shadow.capacity += if fits { more.into() } else { 0 };
        }
        Op::Shrink => {
            let ends = shadow.live.iter().map(|o| o.offset.into() + o.size.into());
            shadow.capacity = ends.max().unwrap_or(0);
            assert_eq!(space.shrink().into(), shadow.capacity);
            if shadow.capacity <= SMALL && shadow.owner.len() > SMALL as usize {
                shadow.owner.clear();
            }
            rewrite(shadow);
        }
        Op::Reserve(additional) => {
            assert_eq!(space.reserve(additional.into()), Ok(()));
            let live = shadow.live.len() + usize::from(additional);
            assert!(space.size_bytes() >= live * 8 * size_of::<O>());
        }
        Op::Reset => {
            space.reset();
            let live = std::mem::take(&mut shadow.live);
            shadow.stale.extend(live.iter().map(|owned| owned.handle));
            shadow.owner.fill(NO_OWNER);
        }
        Op::Defragment { units: max_units, moves, at_once } => {
            let order = if at_once { MoveOrder::AtOnce } else { MoveOrder::FrontToBack };
            let moves = if moves == u8::MAX { u32::MAX } else { moves.into() };
            let budget = DefragBudget::units(units(max_units)).with_moves(moves).with_order(order);
            defragment(space, shadow, &budget);
        }
        _ => {}
    }
}

/// Creates the shadow of a space that became small enough for one.
fn rewrite<O: Offset>(shadow: &mut Shadow<O>) {
    if shadow.capacity <= SMALL {
        shadow.owner = vec![NO_OWNER; shadow.capacity as usize];
        for owned in shadow.live.clone() {
            shadow.write(owned);
        }
    }
}

fn allocate<O: Offset>(space: &mut RangeSpace<O>, shadow: &mut Shadow<O>, size: O, align: O) {
    let unaligned = align.into() == 1;
    let result = if unaligned { space.allocate(size) } else { space.allocate_aligned(size, align) };
    if size.into() == 0 || align.into() == 0 {
        assert_eq!(result, Err(Error::InvalidSize));
        return;
    }
    let holds = |&(start, end): &(u64, u64)| {
        let pad = (align.into() - start % align.into()) % align.into();
        end - start >= size.into() && end - start - size.into() >= pad
    };
    let gaps = shadow.gaps();
    let Ok(handle) = result else {
        let largest_free = gaps.iter().map(|(start, end)| end - start).max().unwrap_or(0);
        let total_free = shadow.free_units();
        assert_eq!(result, Err(Error::Full { requested: size.into(), largest_free, total_free }));
        assert!(!gaps.iter().any(holds), "a gap fits {size:?} at {align:?}");
        return;
    };
    let range = space.range(handle).unwrap();
    assert_eq!(range.end - range.start, size);
    assert_eq!(range.start.into() % align.into(), 0);
    let inside =
        |&(start, end): &(u64, u64)| start <= range.start.into() && range.end.into() <= end;
    assert!(gaps.iter().any(inside), "{range:?} was not free");
    let owned = Owned { handle, offset: range.start, size, align, owner: shadow.next_owner };
    shadow.next_owner += 1;
    shadow.write(owned);
    shadow.live.push(owned);
}

fn resize_in_place<O: Offset>(
    space: &mut RangeSpace<O>,
    shadow: &mut Shadow<O>,
    nth: usize,
    size: O,
) {
    let old = shadow.live[nth];
    let end = old.offset.into() + old.size.into();
    let behind = shadow.gaps().into_iter().find(|gap| gap.0 == end).map_or(0, |gap| gap.1 - end);
    let fits = size.into() <= old.size.into() + behind;
    let result = space.resize_in_place(old.handle, size);
    if size.into() == 0 {
        assert_eq!(result, Err(Error::InvalidSize));
    } else if fits {
        assert_eq!(result, Ok(()));
        shadow.write(Owned { owner: NO_OWNER, ..old });
        shadow.live[nth].size = size;
        shadow.write(shadow.live[nth]);
    } else {
        let (requested, total_free) = (size.into() - old.size.into(), shadow.free_units());
        assert_eq!(result, Err(Error::Full { requested, largest_free: behind, total_free }));
    }
}

fn restore<O: Offset>(space: &mut RangeSpace<O>, shadow: &mut Shadow<O>, nth: usize, size: O) {
    let old = shadow.live[nth];
    let offset_of = |range| space.range(range).unwrap().start;
    let lower = shadow.live.iter().filter(|owned| owned.offset < old.offset);
    let before = space.previous(old.handle);
    assert_eq!(before.map(offset_of), lower.map(|owned| owned.offset).max());
    assert_eq!(space.free(old.handle), Ok(()));
    if let Ok(other) = space.allocate(size) {
        space.validate().unwrap();
        assert_eq!(space.free(other), Ok(()));
        shadow.stale.push(other);
    }
    // One unit beyond the gap does not fit.
    let end = before.map_or(O::default(), |before| space.range(before).unwrap().end);
    let rest = space.gap_behind(before).unwrap() - (old.offset - end);
    assert!(rest == O::MAX || space.allocate_at(before, old.offset, rest + units(1)).is_err());
    let handle = space.allocate_at(before, old.offset, old.size).unwrap();
    shadow.stale.push(old.handle);
    shadow.live[nth] = Owned { handle, align: units(1), ..old };
}

fn defragment<O: Offset>(
    space: &mut RangeSpace<O>,
    shadow: &mut Shadow<O>,
    budget: &DefragBudget<O>,
) {
    let plan = space.plan_defragmentation(budget);
    let moved: u128 = plan.iter().map(|step| u128::from(step.size.into())).sum();
    assert!(moved <= budget.units.into().into() && plan.len() as u64 <= budget.moves.into());
    if budget.order == MoveOrder::AtOnce {
        check_apart(&plan);
    }
    for step in &plan {
        assert!(step.to < step.from, "{step:?} does not go down");
        let start = shadow.live.iter().position(|owned| owned.handle == step.handle).unwrap();
        assert_eq!((shadow.live[start].offset, shadow.live[start].size), (step.from, step.size));
        if shadow.capacity <= SMALL {
            let (from, to) = (step.from.into() as usize, step.to.into() as usize);
            shadow.owner.copy_within(from..from + step.size.into() as usize, to);
        }
        let align = shadow.live[start].align;
        assert_eq!(step.to.into() % align.into(), 0, "{step:?} breaks the alignment {align:?}");
        assert_eq!(space.apply_move(step), Ok(()));
        shadow.live[start].offset = step.to;
        // The contents, copied move by move, are still those of each range.
        shadow.check_contents();
        space.validate().unwrap();
        assert_ne!(space.apply_move(step), Ok(()), "a move cannot be made twice");
    }
    rewrite(shadow);
    let is_unbounded = budget.units == O::MAX && budget.moves == u32::MAX;
    let is_aligned = shadow.live.iter().any(|owned| owned.align.into() > 1);
    if is_unbounded && budget.order == MoveOrder::FrontToBack && !is_aligned {
        let stats = space.stats();
        let target = u128::from(stats.free.into()) * 95 / 100;
        assert!(u128::from(stats.largest_free.into()) >= target, "{stats:?}");
    }
}

/// Checks that no range of the plan overlaps another one.
fn check_apart<O: Offset>(plan: &[RangeMove<O>]) {
    let ends = |offset: O, size: O| (offset.into(), offset.into() + size.into());
    let mut ranges: Vec<(u64, u64)> = plan
        .iter()
        .flat_map(|step| [ends(step.from, step.size), ends(step.to, step.size)])
        .collect();
    ranges.sort_unstable();
    assert!(ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{plan:?}");
}

fn compare<O: Offset>(space: &RangeSpace<O>, shadow: &Shadow<O>) {
    for owned in &shadow.live {
        assert_eq!(space.range(owned.handle), Some(owned.offset..owned.offset + owned.size));
        assert_eq!(space.alignment(owned.handle), Some(owned.align.into()));
    }
    shadow.check_contents();
    let gaps = shadow.gaps();
    let stats = space.stats();
    assert_eq!((stats.capacity.into(), stats.free.into()), (shadow.capacity, shadow.free_units()));
    assert_eq!(stats.used.into() + stats.free.into(), stats.capacity.into());
    assert_eq!(stats.live_blocks as usize, shadow.live.len());
    assert_eq!(stats.free_blocks as usize, gaps.len());
    let largest = gaps.iter().map(|(start, end)| end - start).max().unwrap_or(0);
    assert_eq!(stats.largest_free.into(), largest);
    let blocks: Vec<_> = space.blocks().collect();
    assert!(blocks.windows(2).all(|pair| pair[0].range.end == pair[1].range.start));
    assert!(blocks.windows(2).all(|pair| pair[0].handle.is_some() || pair[1].handle.is_some()));
    assert_eq!(blocks.last().map_or(0, |block| block.range.end.into()), shadow.capacity);
    assert_eq!(blocks.iter().filter(|block| block.handle.is_some()).count(), shadow.live.len());
}
