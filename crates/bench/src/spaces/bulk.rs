//! Cases `bulk…`: many indices at once, in a space with random used slots.

use std::{hint::black_box, time::Instant};

use drystone_alloc::{AddressSpace, IndexPolicy};

use super::{
    index_cases::{QUICK_SLOTS, SLOTS},
    indices::{FreeList, IndexSpace},
};
use crate::{Contender, Error, Figure, Random, Run, rounds::Round};

/// Slots that are allocated at once.
const BULK: u32 = 4096;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    let slots = run.options.size(SLOTS, QUICK_SLOTS);
    for (case, taken) in [("bulk", 0), ("bulk-holes", slots as usize / 2)] {
        let mut order: Vec<u32> = (0..slots).collect();
        Random::new(4).shuffle(&mut order);
        let (taken, free) = order.split_at(taken);
        run.case(case, || {
            Ok(vec![
                Contender::new("drystone", || at_once(slots, taken)),
                Contender::new("drystone-one-by-one", || one_by_one(slots, taken)),
                Contender::new("free-list", || Ok(from_list(free))),
            ])
        })?;
    }
    Ok(())
}

fn prepared(slots: u32, taken: &[u32]) -> Result<AddressSpace, String> {
    let mut space = AddressSpace::bounded(IndexPolicy::Lowest, slots);
    let all_taken = taken.iter().all(|&index| space.allocate_at(index).is_ok());
    all_taken.then_some(space).ok_or_else(|| "could not take some slots".to_owned())
}

fn finished(space: &AddressSpace, slots: u32, start: Instant, taken: &[u32]) -> Round {
    let figure = Figure::time_since(start, slots as usize - taken.len());
    let full = space.len() == slots && space.gaps().next().is_none();
    full.then_some(vec![figure]).ok_or_else(|| "the space is not full".into())
}

fn at_once(slots: u32, taken: &[u32]) -> Round {
    let mut space = prepared(slots, taken)?;
    let mut runs = Vec::new();
    let start = Instant::now();
    while space.len() < slots {
        runs.clear();
        space.allocate_many(BULK.min(slots - space.len()), &mut runs)?;
        black_box(&runs);
    }
    finished(&space, slots, start, taken)
}

fn one_by_one(slots: u32, taken: &[u32]) -> Round {
    let mut space = prepared(slots, taken)?;
    let start = Instant::now();
    for _ in taken.len()..slots as usize {
        black_box(space.allocate())?;
    }
    finished(&space, slots, start, taken)
}

fn from_list(free: &[u32]) -> Vec<Figure> {
    let mut list = FreeList::with_capacity(0);
    free.iter().for_each(|&index| list.free(index));
    let start = Instant::now();
    for _ in free {
        black_box(list.allocate());
    }
    vec![Figure::time_since(start, free.len())]
}
