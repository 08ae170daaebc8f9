//! Defragmentation: moved units, and time until the largest gap has nearly all free units.

use std::time::Instant;

use drystone_alloc::{DefragBudget, RangeSpace};

use super::range_cases::{CAPACITY, PAIRS, QUICK_CAPACITY, QUICK_PAIRS, Steady};
use crate::{
    Contender, Error, Failure, Figure, Run,
    rounds::{Round, elapsed_ns},
};

/// Budget of a step, as a share of the space.
const STEP_PERCENT: u32 = 1;
/// Share of the free units that the largest gap must reach. Rounding may cost a unit.
const TARGET_PERCENT: f64 = 94.999;

/// Cases: the steady state of `ranges-churn`, and the same without a random half of all ranges, as
/// after the camera has left an area.
pub(super) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    for (name, is_thinned) in [("defrag", false), ("defrag-half", true)] {
        let case = Case {
            capacity: run.options.size(CAPACITY, QUICK_CAPACITY),
            pairs: run.options.size(PAIRS, QUICK_PAIRS),
            is_thinned,
        };
        let contender = |name, work: fn(&Case, RangeSpace) -> Round| {
            let mut seed = 20;
            Contender::new(name, move || {
                seed += 1;
                work(&case, case.space(seed)?)
            })
        };
        run.case(name, || {
            Ok(vec![contender("drystone", Case::in_steps), contender("slide-all", Case::slide_all)])
        })?;
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct Case {
    capacity: u32,
    pairs: usize,
    is_thinned: bool,
}

impl Case {
    fn space(&self, seed: u64) -> Result<RangeSpace, Failure> {
        let mut steady = Steady::<RangeSpace>::new(self.capacity, seed)?;
        steady.churn(self.pairs)?;
        if self.is_thinned {
            steady.thin_out();
        }
        Ok(steady.space)
    }

    /// Plans and moves in steps, until no more moves are planned.
    fn in_steps(&self, mut space: RangeSpace) -> Round {
        let budget = DefragBudget::units(self.capacity / 100 * STEP_PERCENT);
        let (mut moved, mut steps) = (0u64, 0);
        let start = Instant::now();
        loop {
            let plan = space.plan_defragmentation(&budget);
            if plan.is_empty() {
                break;
            }
            steps += 1;
            for step in &plan {
                moved += u64::from(step.size);
                space.apply_move(step)?;
            }
        }
        let ns = elapsed_ns(start);
        space.validate()?;
        let stats = space.stats();
        let largest = f64::from(stats.largest_free) / f64::from(stats.free) * 100.0;
        if largest < TARGET_PERCENT {
            return Err(format!("the largest gap is only {largest} % of the free units").into());
        }
        Ok(self.figures(moved, ns, steps, largest))
    }

    /// Units that sliding all ranges down would move. The time is that of the computation.
    fn slide_all(&self, space: RangeSpace) -> Round {
        let start = Instant::now();
        let (mut moved, mut end) = (0, 0);
        for block in space.blocks().filter(|block| block.handle.is_some()) {
            let size = block.range.end - block.range.start;
            moved += if block.range.start == end { 0 } else { u64::from(size) };
            end += size;
        }
        Ok(self.figures(moved, elapsed_ns(start), 1, 100.0))
    }

    fn figures(&self, moved: u64, ns: f64, steps: u32, largest: f64) -> Vec<Figure> {
        let of_space = moved as f64 / f64::from(self.capacity) * 100.0;
        vec![
            Figure::new("moved", "percent", of_space),
            Figure::new("time", "us/step", ns / 1000.0 / f64::from(steps.max(1))),
            Figure::new("steps", "steps", f64::from(steps)),
            Figure::new("largest", "percent", largest),
        ]
    }
}
