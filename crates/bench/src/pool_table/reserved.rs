//! `reserved`: bytes that a pool reserves per quad when it is full after long churn. Shows the
//! memory cost of fragmentation, buckets and classes.

use drystone_alloc::{BucketRing, RangeSpace, SizeClasses};
use drystone_pool::{Access, Placement, PoolError};

use super::{
    allocators::RangeAllocator,
    steady::{CLASSES_PERCENT, Meshes, RANGES_PERCENT, Shape, SteadyPool, histogram},
};
use crate::{Contender, Error, Failure, Figure, Options, Random, Run};

/// Number of meshes in the pool when it is full.
const MESHES: usize = 20_000;
const QUICK_MESHES: usize = 1_000;
/// Number of replacements before it is filled up.
const REPLACEMENTS: usize = 200_000;
const QUICK_REPLACEMENTS: usize = 5_000;
/// Number of buffers of the pool.
const BUFFERS: u32 = 4;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    let options = run.options;
    run.case("reserved", || {
        Ok(vec![
            contender::<RangeSpace>("drystone", RANGES_PERCENT, options),
            contender::<SizeClasses>("drystone-classes", CLASSES_PERCENT, options),
            contender::<BucketRing>("drystone-buckets", RANGES_PERCENT, options),
        ])
    })
}

fn contender<P: RangeAllocator>(name: &str, percent: u64, options: &Options) -> Contender<'static> {
    let count = options.size(MESHES, QUICK_MESHES);
    let replacements = options.size(REPLACEMENTS, QUICK_REPLACEMENTS);
    let mut seed = 30;
    Contender::new(name, move || {
        seed += 1;
        let meshes = Meshes::random(count, seed);
        let placement = P::placement(&histogram(&mut Random::new(seed)));
        // Each mesh takes one bucket, of any size.
        let quads = match placement {
            Placement::Buckets { elements } => count as u64 * u64::from(elements),
            _ => meshes.quads(),
        };
        let pool = full_pool(placement, (quads * 100 / percent) as u32, meshes, replacements)?;
        pool.pool.validate()?;
        let stats = pool.pool.stats();
        let per_quad = stats.capacity_bytes as f64 / stats.used as f64;
        let waste = 100.0 * (1.0 - stats.occupancy());
        Ok(vec![
            Figure::new("bytes", "bytes/quad", per_quad),
            Figure::new("waste", "percent", waste),
        ])
    })
}

/// Returns a pool that was churned, and then filled until it was full.
fn full_pool(
    placement: Placement,
    capacity: u32,
    meshes: Meshes,
    replacements: usize,
) -> Result<SteadyPool<u32>, Failure> {
    let config = super::fixed_buffers(BUFFERS, capacity).with_placement(placement);
    let mut pool = SteadyPool::new(config, Access::Staged, meshes)?;
    pool.meshes.make_plan(replacements);
    for turn in 0..replacements {
        pool.remove_and_insert(turn)?;
    }
    let mut random = Random::new(pool.meshes.quads());
    loop {
        match pool.insert(&Shape::random(&mut random)) {
            Ok(_) => {}
            Err(PoolError::Full { .. }) => return Ok(pool),
            Err(error) => return Err(error.into()),
        }
    }
}
