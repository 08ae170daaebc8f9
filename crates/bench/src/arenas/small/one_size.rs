//! Cases of objects of one size, with the numbers of D. Gustafsson's article: 12,800 objects of 48
//! bytes, and 1,000 of 8 bytes.
//!
//! `small-48`: every slot of the article's largest section is in use. Each step frees a random object
//! and allocates another. `small-48-worst`: the steps replace the first and the last object in turn,
//! so that every second search of the article reads all bits. `small-8`: memory by accounting.

use std::alloc::Layout;

use drystone_memory::{SlotClass, SmallObjectsConfig};

use super::{
    cases::for_each,
    churn::Churn,
    contenders::{MEMORY_BYTES, NAMES, open},
    statistics::Classes,
};
use crate::{Contender, Error, Figure, Run};

const SLOTS: usize = 12_800;
const STEPS: usize = SLOTS * 50;
const QUICK_STEPS: usize = SLOTS;
/// Objects whose memory is counted.
const COUNTED: usize = 1000;

type Slot = [u64; 6];

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    let steps = run.options.size(STEPS, QUICK_STEPS);
    let slot = Layout::new::<Slot>();
    let classes = &Classes::of_one_size(SlotClass::new(slot.size(), SLOTS));
    for (case, churn) in [
        ("small-48", &Churn::new(&[slot], SLOTS, steps)),
        ("small-48-worst", &Churn::of_both_ends(slot, SLOTS, steps)),
    ] {
        run.case(case, || {
            for_each(NAMES, |name| {
                let mut work = open(name, classes, MEMORY_BYTES)?;
                Ok(Contender::new(name, move || work.replace(churn)))
            })
        })?;
    }
    run_memory(run)
}

fn run_memory(run: &mut Run<'_>) -> Result<(), Error> {
    let object = Layout::new::<u64>();
    let class = SlotClass::new(object.size(), COUNTED);
    let classes = &Classes::of_one_size(class);
    let churn = &Churn::new(&[object], COUNTED, COUNTED);
    run.case("small-8", || {
        let region_bytes = SmallObjectsConfig { classes: &[class] }.region_bytes()?;
        // The default classes have many slots that these objects do not need.
        let names: Vec<_> = NAMES.iter().copied().filter(|it| *it != "drystone-default").collect();
        for_each(&names, |name| {
            let mut work = open(name, classes, region_bytes)?;
            Ok(Contender::new(name, move || {
                let bytes = object.size() as f64 + work.overhead(churn)?;
                Ok(vec![Figure::new("bytes", "bytes", bytes * COUNTED as f64)])
            }))
        })
    })
}
