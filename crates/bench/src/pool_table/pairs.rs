//! `insert-remove-…`: removes a mesh and inserts another, compared with the bare allocator, which
//! does the same with ranges.

use std::time::Instant;

use drystone_alloc::{BucketRing, RangeSpace, SizeClasses};
use drystone_pool::{Access, MeshHandle, NullBackend, PoolConfig, VertexPool};

use super::{
    allocators::RangeAllocator,
    meshes::{MAX_QUADS, Turnover, histogram},
};
use crate::{Contender, Error, Figure, Options, Random, Table, rounds::elapsed_ns};

/// Number of live meshes: those of the article's largest scene, 15³ chunks.
const MESHES: usize = 3_375;
const QUICK_MESHES: usize = 3_000;
/// Pairs of a removal and an insertion per round.
const PAIRS: usize = 200_000;
const QUICK_PAIRS: usize = 5_000;
/// Pairs between two frames: the number of changed chunks in the article's dynamic scene.
const PAIRS_PER_FRAME: usize = 50;
/// Frames by which the GPU is behind.
const FRAMES_IN_FLIGHT: u64 = 2;
/// Used share of a space of ranges, and of one of size classes, which has unused bytes in each
/// bucket and slabs of every class.
const RANGES_PERCENT: u64 = 85;
const CLASSES_PERCENT: u64 = 60;
/// Buckets per used bucket.
const SPARE_BUCKETS: usize = 2;
const SEED: u64 = 7;

pub(super) fn run(table: &mut Table, options: &Options) -> Result<(), Error> {
    let turnover = Turnover::new(options.size(MESHES, QUICK_MESHES), SEED);
    let capacity_at = |percent: u64| (turnover.quads() * 100 / percent) as u32;
    let buckets = (turnover.live.len() * SPARE_BUCKETS) as u32 * MAX_QUADS;
    run_case::<BucketRing>("insert-remove-buckets", table, options, &turnover, buckets)?;
    run_case::<RangeSpace>(
        "insert-remove-ranges",
        table,
        options,
        &turnover,
        capacity_at(RANGES_PERCENT),
    )?;
    let capacity = capacity_at(CLASSES_PERCENT);
    run_case::<SizeClasses>("insert-remove-classes", table, options, &turnover, capacity)
}

fn run_case<P: RangeAllocator>(
    case: &str,
    table: &mut Table,
    options: &Options,
    turnover: &Turnover,
    capacity: u32,
) -> Result<(), Error> {
    if !options.selects(case) {
        return Ok(());
    }
    let pairs = options.size(PAIRS, QUICK_PAIRS);
    let histogram = histogram(&mut Random::new(SEED));
    let pool = |name, access| {
        let config = PoolConfig {
            placement: P::placement(&histogram),
            ..PoolConfig::fixed(capacity, turnover.live.len() as u32 + 1)
        };
        let (mut state, turnover) = (None, turnover.clone());
        Contender::new(name, move || {
            let pool = match &mut state {
                Some(pool) => pool,
                None => state.insert(Pool::new(config.clone(), access, turnover.clone())?),
            };
            let ns = pool.churn(pairs)?;
            pool.check()?;
            Ok(vec![Figure::new("time", "ns/pair", ns / pairs as f64)])
        })
    };
    let (mut state, bare_turnover, bare_histogram) = (None, turnover.clone(), histogram.clone());
    let bare = Contender::new(P::NAME, move || {
        let bare = match &mut state {
            Some(bare) => bare,
            None => {
                let allocator = P::new(capacity, &bare_histogram);
                state.insert(Bare::new(allocator, bare_turnover.clone())?)
            }
        };
        let ns = bare.churn(pairs)?;
        bare.allocator.check()?;
        Ok(vec![Figure::new("time", "ns/pair", ns / pairs as f64)])
    });
    let [staged, direct] = [("drystone", Access::Staged), ("drystone-direct", Access::Direct)];
    table.run_case(case, options, vec![pool(staged.0, staged.1), pool(direct.0, direct.1), bare])
}

/// A pool in its steady state.
struct Pool {
    pool: VertexPool<u64, [u32; 4]>,
    backend: NullBackend,
    handles: Vec<MeshHandle>,
    turnover: Turnover,
    elements: Vec<u64>,
    frame: u64,
}

/// Draw data of a mesh, which identifies it.
fn data_of(quads: u32) -> [u32; 4] {
    [quads, 1, 2, 3]
}

impl Pool {
    fn new(config: PoolConfig, access: Access, turnover: Turnover) -> Result<Self, String> {
        let mut pool = VertexPool::new(config).map_err(|error| error.to_string())?;
        let mut backend = NullBackend(access);
        let elements = vec![0; MAX_QUADS as usize];
        let mut handles = Vec::with_capacity(turnover.live.len());
        for shape in &turnover.live {
            let elements = &elements[..shape.quads as usize];
            let data = data_of(shape.quads);
            let handle = pool.insert(elements, &shape.parts, data, &mut backend);
            handles.push(handle.map_err(|error| error.to_string())?);
        }
        Ok(Self { pool, backend, handles, turnover, elements, frame: 0 })
    }

    /// Removes and inserts meshes. Returns the total time in nanoseconds.
    fn churn(&mut self, pairs: usize) -> Result<f64, String> {
        self.turnover.make_plan(pairs);
        let start = Instant::now();
        for frame in self.turnover.plan.chunks(PAIRS_PER_FRAME) {
            for (at, shape) in frame {
                let handle = &mut self.handles[*at as usize];
                self.pool.remove(*handle).map_err(|error| error.to_string())?;
                let elements = &self.elements[..shape.quads as usize];
                let data = data_of(shape.quads);
                let inserted = self.pool.insert(elements, &shape.parts, data, &mut self.backend);
                *handle = inserted.map_err(|error| error.to_string())?;
            }
            self.frame += 1;
            self.pool.frame_submitted(self.frame);
            let completed = self.frame.saturating_sub(FRAMES_IN_FLIGHT);
            self.pool.frames_completed(completed, &mut self.backend);
        }
        Ok(elapsed_ns(start))
    }

    /// Checks the pool, and that it contains exactly the expected meshes.
    fn check(&self) -> Result<(), String> {
        self.pool.validate()?;
        let used = self.pool.stats().used;
        if used != self.turnover.quads() || self.pool.len() as usize != self.handles.len() {
            return Err(format!("{used} quads in {} meshes", self.pool.len()));
        }
        let mut meshes = self.handles.iter().zip(&self.turnover.live);
        match meshes.all(|(&mesh, shape)| self.pool.data(mesh) == Some(&data_of(shape.quads))) {
            true => Ok(()),
            false => Err("a mesh has the data of another mesh".into()),
        }
    }
}

/// The allocator alone, in the same state.
struct Bare<P: RangeAllocator> {
    allocator: P,
    handles: Vec<P::Handle>,
    turnover: Turnover,
}

impl<P: RangeAllocator> Bare<P> {
    fn new(mut allocator: P, turnover: Turnover) -> Result<Self, String> {
        let handles: Option<Vec<_>> =
            turnover.live.iter().map(|shape| allocator.allocate(shape.quads)).collect();
        let handles = handles.ok_or("full at less than the steady state")?;
        Ok(Self { allocator, handles, turnover })
    }

    fn churn(&mut self, pairs: usize) -> Result<f64, String> {
        self.turnover.make_plan(pairs);
        let start = Instant::now();
        for (at, shape) in &self.turnover.plan {
            let handle = &mut self.handles[*at as usize];
            self.allocator.free(*handle).ok_or("an allocation is stale")?;
            *handle = self.allocator.allocate(shape.quads).ok_or("full in the steady state")?;
        }
        Ok(elapsed_ns(start))
    }
}
