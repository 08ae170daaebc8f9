//! Pools: objects of one size that are inserted and removed in any order.

use std::alloc::Layout;
use std::collections::VecDeque;
use std::time::Instant;

use allocator_api2::alloc::Allocator;
use allocator_api2::boxed::Box as BoxIn;
use drystone_memory::{BlockPool, Heap, Pool, PoolBox};
use slab::Slab;
use slotmap::{DefaultKey, SlotMap};

use crate::{Contender, Error, Figure, Random, Run, rounds::Round};

/// Number of live objects: 6.4 MB, more than the L2 cache.
const LIVE: usize = 100_000;
const QUICK_LIVE: usize = 2_000;
/// Number of objects in a burst: all are removed, then as many inserted.
const BURST: usize = 256;
/// Number of replacements of every object in a measured round. The first pass is not measured, because
/// it depends on the source of the memory more than on the pool.
const PASSES: usize = 16;

/// An object the size of a cache line.
#[derive(Clone, Copy)]
struct Object([u64; 8]);

const _: () = assert!(size_of::<Object>() == 64);

/// A store of objects, which are identified by keys.
trait Objects<K> {
    fn insert(&mut self, object: Object) -> Option<K>;
    /// Removes a live object and returns its first word.
    fn remove(&mut self, key: K) -> u64;
}

impl<'p> Objects<PoolBox<'p, Object>> for &'p Pool<'_, Object> {
    #[inline]
    fn insert(&mut self, object: Object) -> Option<PoolBox<'p, Object>> {
        Pool::insert(self, object).ok()
    }
    #[inline]
    fn remove(&mut self, key: PoolBox<'p, Object>) -> u64 {
        key.0[0]
    }
}

/// Stores objects in boxes of an allocator.
struct Boxes<A>(A);

impl<A: Allocator + Copy> Objects<BoxIn<Object, A>> for Boxes<A> {
    #[inline]
    fn insert(&mut self, object: Object) -> Option<BoxIn<Object, A>> {
        BoxIn::try_new_in(object, self.0).ok()
    }
    #[inline]
    fn remove(&mut self, key: BoxIn<Object, A>) -> u64 {
        key.0[0]
    }
}

/// Stores objects in boxes of the program's allocator.
struct StdBoxes;

impl Objects<Box<Object>> for StdBoxes {
    #[inline]
    fn insert(&mut self, object: Object) -> Option<Box<Object>> {
        Some(Box::new(object))
    }
    #[inline]
    fn remove(&mut self, key: Box<Object>) -> u64 {
        key.0[0]
    }
}

impl Objects<usize> for Slab<Object> {
    #[inline]
    fn insert(&mut self, object: Object) -> Option<usize> {
        Some(self.insert(object))
    }
    #[inline]
    fn remove(&mut self, key: usize) -> u64 {
        self.try_remove(key).map_or(0, |object| object.0[0])
    }
}

impl Objects<DefaultKey> for SlotMap<DefaultKey, Object> {
    #[inline]
    fn insert(&mut self, object: Object) -> Option<DefaultKey> {
        Some(self.insert(object))
    }
    #[inline]
    fn remove(&mut self, key: DefaultKey) -> u64 {
        self.remove(key).map_or(0, |object| object.0[0])
    }
}

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    let live = run.options.size(LIVE, QUICK_LIVE);
    let mut order: Vec<usize> = (0..live).collect();
    Random::new(11).shuffle(&mut order);
    let order = &order;
    run.case("pool", || {
        Ok(vec![
            Contender::new("drystone", || round(&Pool::new(&Heap), order)),
            Contender::new("drystone-blocks", || {
                let pool = BlockPool::in_slabs(Layout::new::<Object>(), &Heap);
                round(Boxes(&pool), order)
            }),
            Contender::new("slab", || round(Slab::new(), order)),
            Contender::new("slotmap", || round(SlotMap::new(), order)),
            Contender::new("box", || round(StdBoxes, order)),
            #[cfg(feature = "peers")]
            Contender::new("mimalloc", || {
                let mimalloc = super::small::allocator::InProgram(mimalloc::MiMalloc);
                round(Boxes(&mimalloc), order)
            }),
        ])
    })
}

/// Fills the store, shuffles the order, and then replaces the oldest objects in bursts.
fn round<K>(mut objects: impl Objects<K>, order: &[usize]) -> Round {
    let object = |number: usize| Object([number as u64; 8]);
    let full = "an object does not fit";
    let mut made = Vec::with_capacity(order.len());
    for number in 0..order.len() {
        made.push(Some(objects.insert(object(number)).ok_or(full)?));
    }
    let mut keys: VecDeque<K> = order.iter().filter_map(|&number| made[number].take()).collect();
    drop(made);
    let burst_count = (order.len() * PASSES).div_ceil(BURST);
    let warm_count = order.len().div_ceil(BURST);
    let (mut sum, mut number) = (0, order.len());
    let mut start = Instant::now();
    for burst in 0..warm_count + burst_count {
        if burst == warm_count {
            start = Instant::now();
        }
        sum += keys.drain(..BURST).map(|key| objects.remove(key)).sum::<u64>();
        for _ in 0..BURST {
            keys.push_back(objects.insert(object(number)).ok_or(full)?);
            number += 1;
        }
    }
    let time = Figure::time_since(start, burst_count * BURST);
    sum += keys.into_iter().map(|key| objects.remove(key)).sum::<u64>();
    let expected = (0..number as u64).sum::<u64>();
    match sum == expected {
        true => Ok(vec![time]),
        false => Err(format!("the sum of the objects is {sum}, not {expected}").into()),
    }
}
