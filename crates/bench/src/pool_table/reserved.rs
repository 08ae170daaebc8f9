//! `reserved`: bytes that a pool reserves per quad when it is full after long churn. Shows the
//! memory cost of fragmentation, buckets and classes.

use drystone_alloc::{BucketRing, RangeSpace, SizeClasses};
use drystone_pool::{Access, NullBackend, PoolConfig, PoolError, VertexPool};

use super::{
    allocators::RangeAllocator,
    meshes::{MAX_QUADS, Shape, Turnover, histogram},
};
use crate::{Contender, Error, Figure, Options, Random, Table};

/// Number of meshes in the pool when it is full.
const MESHES: usize = 20_000;
const QUICK_MESHES: usize = 1_000;
/// Number of replacements before it is filled up.
const REPLACEMENTS: usize = 200_000;
const QUICK_REPLACEMENTS: usize = 5_000;
/// Used share during the churn. It is lower for size classes, which have slabs of every class.
const FULL_PERCENT: u64 = 85;
const CLASSES_PERCENT: u64 = 60;
/// Number of buffers of the pool.
const BUFFERS: u32 = 4;

pub(super) fn run(table: &mut Table, options: &Options) -> Result<(), Error> {
    let contenders = vec![
        contender::<RangeSpace>("drystone", FULL_PERCENT, options),
        contender::<SizeClasses>("drystone-classes", CLASSES_PERCENT, options),
        contender::<BucketRing>("drystone-buckets", FULL_PERCENT, options),
    ];
    table.run_case("reserved", options, contenders)
}

fn contender<P: RangeAllocator>(name: &str, percent: u64, options: &Options) -> Contender<'static> {
    let meshes = options.size(MESHES, QUICK_MESHES);
    let replacements = options.size(REPLACEMENTS, QUICK_REPLACEMENTS);
    let mut seed = 30;
    Contender::new(name, move || {
        seed += 1;
        let mut turnover = Turnover::new(meshes, seed);
        let histogram = histogram(&mut Random::new(seed));
        // Each mesh takes one bucket, of any size.
        let quads = match P::placement(&histogram) {
            drystone_pool::Placement::Buckets { elements } => meshes as u64 * u64::from(elements),
            _ => turnover.quads(),
        };
        let buffer = (quads * 100 / percent) as u32 / BUFFERS;
        let config = PoolConfig {
            placement: P::placement(&histogram),
            min_buffer_elements: buffer,
            max_buffer_elements: buffer,
            max_buffers: BUFFERS as u16,
            ..PoolConfig::default()
        };
        let pool = fill(config, &mut turnover, replacements)?;
        pool.validate()?;
        let stats = pool.stats();
        let per_quad = stats.capacity_bytes as f64 / stats.used as f64;
        let waste = 100.0 * (1.0 - stats.occupancy());
        Ok(vec![
            Figure::new("bytes", "bytes/quad", per_quad),
            Figure::new("waste", "percent", waste),
        ])
    })
}

/// Returns a pool that was churned, and then filled until it was full.
fn fill(
    config: PoolConfig,
    turnover: &mut Turnover,
    replacements: usize,
) -> Result<VertexPool<u64, u32>, String> {
    let to_text = |error: PoolError| error.to_string();
    let mut backend = NullBackend(Access::Staged);
    let mut pool = VertexPool::new(config).map_err(to_text)?;
    let elements = vec![0; MAX_QUADS as usize];
    let mut insert = |pool: &mut VertexPool<u64, u32>, shape: &Shape| {
        pool.insert(&elements[..shape.quads as usize], &shape.parts, 0, &mut backend)
    };
    let mut handles = Vec::new();
    for shape in &turnover.live {
        handles.push(insert(&mut pool, shape).map_err(to_text)?);
    }
    turnover.make_plan(replacements);
    for (at, shape) in &turnover.plan {
        let handle = &mut handles[*at as usize];
        pool.remove(*handle).map_err(to_text)?;
        *handle = insert(&mut pool, shape).map_err(to_text)?;
    }
    let mut random = Random::new(turnover.quads());
    loop {
        match insert(&mut pool, &Shape::random(&mut random)) {
            Ok(_) => {}
            Err(PoolError::Full { .. }) => return Ok(pool),
            Err(error) => return Err(to_text(error)),
        }
    }
}
