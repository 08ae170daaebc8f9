//! `list-remove-…`: removes random meshes from short and long draw lists. The article states that a
//! removal takes the same time in both.

use std::time::Instant;

use drystone_pool::{Access, DrawList, MeshHandle, NullBackend, PoolConfig, PoolError, VertexPool};

use crate::{
    Contender, Error, Figure, Random, Run,
    rounds::{Round, elapsed_ns},
};

/// Cases with the number of meshes in the list.
const CASES: [(&str, usize); 2] = [("list-remove-1000", 1_000), ("list-remove-100000", 100_000)];
/// Removals per round.
const REMOVALS: usize = 500_000;
const QUICK_REMOVALS: usize = 5_000;
/// Meshes that are removed before they are inserted again, which is not timed.
const BATCH: usize = 100;
const SEED: u64 = 9;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    let batches = run.options.size(REMOVALS, QUICK_REMOVALS) / BATCH;
    for (case, len) in CASES {
        let mut state = None;
        let contender = Contender::new("drystone", move || match &mut state {
            Some(list) => List::round(list, batches),
            None => state.insert(List::new(len)?).round(batches),
        });
        run.case(case, || Ok(vec![contender]))?;
    }
    Ok(())
}

/// A draw list of all meshes of a pool.
struct List {
    pool: VertexPool<u64, u32>,
    list: DrawList,
    meshes: Vec<MeshHandle>,
    random: Random,
}

impl List {
    fn new(len: usize) -> Result<Self, PoolError> {
        let mut pool = VertexPool::new(PoolConfig::fixed(len as u32, len as u32))?;
        let (mut list, mut meshes) = (DrawList::new(), Vec::with_capacity(len));
        for _ in 0..len {
            let mesh = pool.insert(&[0], &[1], 0, &mut NullBackend(Access::Staged))?;
            list.insert(mesh)?;
            meshes.push(mesh);
        }
        Ok(Self { pool, list, meshes, random: Random::new(SEED) })
    }

    fn round(&mut self, batches: usize) -> Round {
        let Self { pool, list, meshes, random } = self;
        let (mut ns, mut removed) = (0.0, 0);
        for _ in 0..batches {
            for at in 0..BATCH {
                let other = at + random.below(meshes.len() - at);
                meshes.swap(at, other);
            }
            let batch = &meshes[..BATCH];
            let start = Instant::now();
            for &mesh in batch {
                list.remove(mesh);
            }
            ns += elapsed_ns(start);
            removed += meshes.len() - list.len();
            batch.iter().try_for_each(|&mesh| list.insert(mesh))?;
        }
        match (removed == batches * BATCH, list.commands(pool).len() == meshes.len()) {
            (true, true) => Ok(vec![Figure::new("time", "ns/removal", ns / removed as f64)]),
            _ => Err(format!("{removed} removals left {} meshes", list.len()).into()),
        }
    }
}
