//! Cost of a single change for the renderer's thread, without drawing.

use std::time::Instant;

use drystone_mesh::{Cube, FaceSet};
use drystone_render::{
    CubeId, DrawData, InstancedRenderer, RegionId, RenderError, SlotPolicy, SoftDevice,
};

use super::CHANGES;
use crate::{
    Contender, Error, Figure, Random, Run,
    error::By,
    rounds::{Round, elapsed_ns},
};

/// Cases of changes: name and number of cubes.
const CHANGE_CASES: [(&str, usize); 2] = [("changes-100k", 100_000), ("changes-1m", 1_000_000)];
/// Case in which nine of ten cubes are replaced: name and number of cubes.
const REFILL: (&str, usize) = ("refill", 400_000);
/// Number of cubes in a quick run, for every case.
const QUICK_CUBES: usize = 20_000;
/// Regions that contain the cubes: chunks of 32³.
const REGIONS: usize = 125;

/// Contenders.
const POLICIES: [(&str, SlotPolicy); 3] = [
    ("drystone", SlotPolicy::Lowest),
    ("drystone-last-leaf", SlotPolicy::LastLeaf),
    ("drystone-oldest", SlotPolicy::Oldest),
];

type Work = fn(&mut CubeRenderer) -> Round;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    let changes = CHANGE_CASES.map(|(case, count)| (case, count, CubeRenderer::change as Work));
    let refill = (REFILL.0, REFILL.1, CubeRenderer::refill as Work);
    for (case, count, work) in changes.into_iter().chain([refill]) {
        let count = run.options.size(count, QUICK_CUBES);
        run.case(case, || {
            let contender = |(name, policy)| {
                let mut renderer = CubeRenderer::new(policy, count).by(name)?;
                Ok(Contender::new(name, move || work(&mut renderer)))
            };
            POLICIES.into_iter().map(contender).collect()
        })?;
    }
    Ok(())
}

/// A renderer full of cubes.
struct CubeRenderer {
    renderer: InstancedRenderer<SoftDevice>,
    policy: SlotPolicy,
    regions: Vec<RegionId>,
    ids: Vec<CubeId>,
    random: Random,
}

impl CubeRenderer {
    fn new(policy: SlotPolicy, count: usize) -> Result<Self, RenderError> {
        let mut renderer = InstancedRenderer::new(SoftDevice::new(1, 1)?, policy)?;
        let draw_data = DrawData { origin: [0; 3], level: 0, extent: 32, sort_rank: 0 };
        let regions: Result<Vec<_>, _> =
            (0..REGIONS).map(|_| renderer.insert_region(draw_data)).collect();
        let (regions, random) = (regions?, Random::new(5));
        let mut full = Self { renderer, policy, regions, ids: Vec::new(), random };
        for _ in 0..count {
            let cube = full.cube();
            full.ids.push(full.renderer.insert_cube(cube)?);
        }
        Ok(full)
    }

    fn cube(&mut self) -> Cube {
        let region = self.regions[self.random.below(REGIONS)].slot();
        let position = [(); 3].map(|()| self.random.below(32) as u32);
        Cube::new(position, FaceSet::ALL, 1 + self.random.below(3) as u16, region)
    }

    /// One third of the changes replaces cubes, one third removes and one third adds cubes, at
    /// random positions. Each kind runs separately, so that branch prediction between the kinds is
    /// not measured.
    fn change(&mut self) -> Round {
        let count = (CHANGES / 3).min(self.ids.len());
        let slots = self.renderer.cubes().high_water();
        // Prepared before the clock starts. The cubes to remove are last.
        let named = self.ids.len() - count;
        for last in (named..self.ids.len()).rev() {
            let which = self.random.below(last + 1);
            self.ids.swap(which, last);
        }
        let new: Vec<Cube> = (0..count).map(|_| self.cube()).collect();
        let start = Instant::now();
        for (id, &cube) in self.ids[named..].iter().zip(&new) {
            self.renderer.set_cube(*id, cube)?;
        }
        let write_ns = elapsed_ns(start);
        self.check_cubes(&self.ids[named..], &new)?;
        let start = Instant::now();
        for id in self.ids.drain(named..) {
            self.renderer.remove_cube(id)?;
        }
        let free_ns = elapsed_ns(start);
        let start = Instant::now();
        for &cube in &new {
            self.ids.push(self.renderer.insert_cube(cube)?);
        }
        let insert_ns = elapsed_ns(start);
        self.check_cubes(&self.ids[named..], &new)?;
        self.check(slots)?;
        let per_op = |ns: f64| ns / count as f64;
        Ok(vec![
            Figure::time_ns_per_op(insert_ns + free_ns + write_ns, 3 * count),
            Figure::new("place", "ns/op", per_op(insert_ns)),
            Figure::new("free", "ns/op", per_op(free_ns)),
            Figure::new("write", "ns/op", per_op(write_ns)),
        ])
    }

    fn check_cubes(&self, ids: &[CubeId], expected: &[Cube]) -> Result<(), String> {
        let wrong = ids
            .iter()
            .zip(expected)
            .find(|(id, cube)| self.renderer.cubes().get(**id) != Some(**cube));
        wrong.map_or(Ok(()), |(id, cube)| Err(format!("{id:?} is not {cube:?}")))
    }

    /// Removes nine tenths of the cubes at random, and adds the same number. The buffer must not be
    /// longer than before.
    fn refill(&mut self) -> Round {
        let slots = self.renderer.cubes().high_water();
        self.random.shuffle(&mut self.ids);
        let remaining = self.ids.len() / 10;
        let count = self.ids.len() - remaining;
        let new: Vec<Cube> = (0..count).map(|_| self.cube()).collect();
        let start = Instant::now();
        for id in self.ids.drain(remaining..) {
            self.renderer.remove_cube(id)?;
        }
        let few = self.renderer.cubes().high_water();
        for cube in new {
            self.ids.push(self.renderer.insert_cube(cube)?);
        }
        let refill_ns = elapsed_ns(start);
        self.check(slots)?;
        let after = self.renderer.cubes().high_water();
        Ok(vec![
            Figure::time_ns_per_op(refill_ns, 2 * count),
            Figure::new("places-before", "count", slots.into()),
            Figure::new("places-tenth", "count", few.into()),
            Figure::new("places-after", "count", after.into()),
        ])
    }

    /// Checks that all cubes exist and use no more slots than before, except the last leaf, which
    /// the policy of that name fills first.
    fn check(&self, slots: u32) -> Result<(), String> {
        let cubes = self.renderer.cubes();
        cubes.validate()?;
        if cubes.len() as usize != self.ids.len() {
            return Err(format!("{} cubes of {}", cubes.len(), self.ids.len()));
        }
        let max_slots = match self.policy {
            SlotPolicy::LastLeaf => slots.next_multiple_of(64),
            SlotPolicy::Lowest | SlotPolicy::Oldest => slots,
        };
        if cubes.high_water() > max_slots {
            return Err(format!("{} slots are used, {slots} before", cubes.high_water()));
        }
        Ok(())
    }
}
