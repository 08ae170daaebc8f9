//! Tables of values with handles.

use std::{hint::black_box, time::Instant};

use drystone_alloc::{Handle, Slots};
use slotmap::{DefaultKey, SlotMap};

use crate::{Contender, Error, Figure, Options, Random, Table, rounds::elapsed_ns};

/// Values in a full table: 1 MB of slots, the number of meshes of a large scene.
const VALUES: usize = 1 << 16;
const QUICK_VALUES: usize = 1 << 10;

/// A table of values that are found by their handles.
trait Handles {
    const NAME: &'static str;
    type Key: Copy;
    fn new() -> Self;
    fn insert(&mut self, value: u64) -> Option<Self::Key>;
    fn remove(&mut self, key: Self::Key) -> Option<u64>;
    fn get(&self, key: Self::Key) -> Option<u64>;
    /// Returns the slot number of a key.
    fn slot(key: Self::Key) -> u64;
    /// Returns the sum of all values, each xor its slot number.
    fn sum(&self) -> u64;
}

impl Handles for Slots<u64> {
    const NAME: &'static str = "drystone";
    type Key = Handle<u64>;
    fn new() -> Self {
        Self::new()
    }
    #[inline]
    fn insert(&mut self, value: u64) -> Option<Handle<u64>> {
        self.insert(value).ok()
    }
    #[inline]
    fn remove(&mut self, key: Handle<u64>) -> Option<u64> {
        self.remove(key)
    }
    #[inline]
    fn get(&self, key: Handle<u64>) -> Option<u64> {
        self.get(key).copied()
    }
    fn slot(key: Handle<u64>) -> u64 {
        key.index().into()
    }
    fn sum(&self) -> u64 {
        self.iter().map(|(handle, value)| value ^ Self::slot(handle)).sum()
    }
}

impl Handles for SlotMap<DefaultKey, u64> {
    const NAME: &'static str = "slotmap";
    type Key = DefaultKey;
    fn new() -> Self {
        Self::new()
    }
    #[inline]
    fn insert(&mut self, value: u64) -> Option<DefaultKey> {
        Some(self.insert(value))
    }
    #[inline]
    fn remove(&mut self, key: DefaultKey) -> Option<u64> {
        self.remove(key)
    }
    #[inline]
    fn get(&self, key: DefaultKey) -> Option<u64> {
        self.get(key).copied()
    }
    fn slot(key: DefaultKey) -> u64 {
        // Slots of this crate count from 1.
        (slotmap::Key::data(&key).as_ffi() & 0xFFFF_FFFF) - 1
    }
    fn sum(&self) -> u64 {
        self.iter().map(|(key, value)| value ^ Self::slot(key)).sum()
    }
}

impl Handles for slab::Slab<u64> {
    const NAME: &'static str = "slab";
    type Key = usize;
    fn new() -> Self {
        Self::new()
    }
    #[inline]
    fn insert(&mut self, value: u64) -> Option<usize> {
        Some(self.insert(value))
    }
    #[inline]
    fn remove(&mut self, key: usize) -> Option<u64> {
        self.try_remove(key)
    }
    #[inline]
    fn get(&self, key: usize) -> Option<u64> {
        self.get(key).copied()
    }
    fn slot(key: usize) -> u64 {
        key as u64
    }
    fn sum(&self) -> u64 {
        self.iter().map(|(key, value)| value ^ Self::slot(key)).sum()
    }
}

pub(super) fn run(table: &mut Table, options: &Options) -> Result<(), Error> {
    let contenders = vec![
        contender::<Slots<u64>>(options),
        contender::<SlotMap<DefaultKey, u64>>(options),
        contender::<slab::Slab<u64>>(options),
    ];
    table.run_case("handles", options, contenders)
}

fn contender<H: Handles + 'static>(options: &Options) -> Contender<'static> {
    let count = options.size(VALUES, QUICK_VALUES);
    let mut random = Random::new(7);
    Contender::new(H::NAME, move || round::<H>(count, &mut random))
}

fn round<H: Handles>(count: usize, random: &mut Random) -> Result<Vec<Figure>, String> {
    let mut table = H::new();
    let (mut insert_ns, mut remove_ns) = (0.0, 0.0);
    let mut keys = Vec::with_capacity(count);
    // Twice: into an empty table that grows, and into a table that was emptied.
    for is_last in [false, true] {
        let start = Instant::now();
        keys.extend((0..count as u64).filter_map(|value| table.insert(value)));
        insert_ns += elapsed_ns(start);
        random.shuffle(&mut keys);
        let removed = if is_last { count / 2 } else { count };
        let rest = keys.split_off(removed);
        if is_last {
            return finish(&mut table, &keys, &rest, insert_ns / 2.0, remove_ns, count);
        }
        let start = Instant::now();
        for &key in &keys {
            black_box(table.remove(key));
        }
        remove_ns = elapsed_ns(start);
        keys = rest;
    }
    Ok(Vec::new())
}

/// Finds everything in a full table, removes half, and iterates over the rest.
fn finish<H: Handles>(
    table: &mut H,
    go: &[H::Key],
    stay: &[H::Key],
    insert_ns: f64,
    remove_ns: f64,
    count: usize,
) -> Result<Vec<Figure>, String> {
    let start = Instant::now();
    let found: u64 = go.iter().chain(stay).filter_map(|&key| table.get(key)).sum();
    let get_ns = elapsed_ns(start);
    let all = count as u64 * (count as u64 - 1) / 2;
    if found != all {
        return Err(format!("the sum of the found values is {found}, not {all}"));
    }
    if !go.iter().all(|&key| table.remove(key).is_some()) {
        return Err("a value is missing before its removal".to_owned());
    }
    let start = Instant::now();
    let sum = black_box(table.sum());
    let iterate_ns = elapsed_ns(start);
    let expected: u64 = stay.iter().filter_map(|&key| Some(table.get(key)? ^ H::slot(key))).sum();
    if sum != expected || stay.iter().any(|&key| table.get(key).is_none()) {
        return Err(format!("the sum of the remaining values is {sum}, not {expected}"));
    }
    let per = |ns: f64, count: usize| ns / count as f64;
    Ok(vec![
        Figure::new("insert", "ns/op", per(insert_ns, count)),
        Figure::new("remove", "ns/op", per(remove_ns, count)),
        Figure::new("get", "ns/op", per(get_ns, count)),
        Figure::new("iterate", "ns/op", per(iterate_ns, stay.len().max(1))),
    ])
}
