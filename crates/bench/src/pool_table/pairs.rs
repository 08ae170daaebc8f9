//! `insert-remove-…`: removes a mesh and inserts another, compared with the bare allocator, which
//! does the same with ranges.

use std::time::Instant;

use drystone_alloc::{BucketRing, RangeSpace, SizeClasses};
use drystone_pool::{Access, PoolConfig};

use super::{
    allocators::RangeAllocator,
    steady::{CLASSES_PERCENT, MAX_QUADS, Meshes, RANGES_PERCENT, SteadyPool, histogram},
};
use crate::{
    Contender, Error, Failure, Figure, Random, Run,
    rounds::{Round, elapsed_ns},
};

/// Number of live meshes: those of the article's largest scene, 15³ chunks.
const MESHES: usize = 3_375;
const QUICK_MESHES: usize = 3_000;
/// Pairs of a removal and an insertion per round.
const PAIRS: usize = 200_000;
const QUICK_PAIRS: usize = 5_000;
/// Pairs between two frames: the number of changed chunks in the article's dynamic scene.
const PAIRS_PER_FRAME: usize = 50;
/// Buckets per used bucket.
const SPARE_BUCKETS: usize = 2;
const SEED: u64 = 7;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    let meshes = Meshes::random(run.options.size(MESHES, QUICK_MESHES), SEED);
    let capacity_at = |percent: u64| (meshes.quads() * 100 / percent) as u32;
    let buckets = (meshes.live.len() * SPARE_BUCKETS) as u32 * MAX_QUADS;
    run_case::<BucketRing>("insert-remove-buckets", run, &meshes, buckets)?;
    let ranges = capacity_at(RANGES_PERCENT);
    run_case::<RangeSpace>("insert-remove-ranges", run, &meshes, ranges)?;
    let classes = capacity_at(CLASSES_PERCENT);
    run_case::<SizeClasses>("insert-remove-classes", run, &meshes, classes)
}

fn run_case<P: RangeAllocator>(
    case: &str,
    run: &mut Run<'_>,
    meshes: &Meshes,
    capacity: u32,
) -> Result<(), Error> {
    let pairs = run.options.size(PAIRS, QUICK_PAIRS);
    let histogram = &histogram(&mut Random::new(SEED));
    let pool = |name, access| {
        let mut state = None;
        Contender::new(name, move || {
            let pool = match &mut state {
                Some(pool) => pool,
                None => {
                    let placement = P::placement(histogram);
                    let slots = meshes.live.len() as u32 + 1;
                    let config = PoolConfig::fixed(capacity, slots).with_placement(placement);
                    state.insert(SteadyPool::new(config, access, meshes.clone())?)
                }
            };
            let ns = churn(pool, pairs)?;
            pool.check()?;
            Ok(vec![Figure::new("time", "ns/pair", ns / pairs as f64)])
        })
    };
    let mut state = None;
    let bare = Contender::new(P::NAME, move || {
        let bare = match &mut state {
            Some(bare) => bare,
            None => state.insert(Bare::new(P::new(capacity, histogram), meshes.clone())?),
        };
        bare.round(pairs)
    });
    run.case(case, || {
        let direct = pool("drystone-direct", Access::Direct);
        Ok(vec![pool("drystone", Access::Staged), direct, bare])
    })
}

/// Removes and inserts meshes. Returns the total time in nanoseconds.
fn churn(pool: &mut SteadyPool<[u32; 4]>, pairs: usize) -> Result<f64, Failure> {
    pool.meshes.make_plan(pairs);
    let start = Instant::now();
    for turn in 0..pairs {
        pool.remove_and_insert(turn)?;
        if (turn + 1) % PAIRS_PER_FRAME == 0 {
            pool.end_frame();
        }
    }
    Ok(elapsed_ns(start))
}

/// The allocator alone, in the same state.
struct Bare<P: RangeAllocator> {
    allocator: P,
    handles: Vec<P::Handle>,
    meshes: Meshes,
}

impl<P: RangeAllocator> Bare<P> {
    fn new(mut allocator: P, meshes: Meshes) -> Result<Self, Failure> {
        let handles: Option<Vec<_>> =
            meshes.live.iter().map(|shape| allocator.allocate(shape.quads)).collect();
        let handles = handles.ok_or("full at less than the steady state")?;
        Ok(Self { allocator, handles, meshes })
    }

    fn round(&mut self, pairs: usize) -> Round {
        self.meshes.make_plan(pairs);
        let start = Instant::now();
        for (at, shape) in &self.meshes.plan {
            let handle = &mut self.handles[*at as usize];
            self.allocator.free(*handle).ok_or("an allocation is stale")?;
            *handle = self.allocator.allocate(shape.quads).ok_or("full in the steady state")?;
        }
        let ns = elapsed_ns(start);
        self.allocator.check()?;
        Ok(vec![Figure::new("time", "ns/pair", ns / pairs as f64)])
    }
}
