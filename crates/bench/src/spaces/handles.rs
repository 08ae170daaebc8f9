//! Case `handles`: tables of values with handles.

use std::{hint::black_box, iter};

use drystone_alloc::{Handle, Slots};
use slab::Slab;
use slotmap::{DefaultKey, Key, SlotMap};

use crate::{
    Contender, Error, Figure, Options, Random, Run,
    rounds::{Round, timed},
};

/// Values in a full table: 1 MB of slots, the number of meshes of a large scene.
const VALUES: usize = 1 << 16;
const QUICK_VALUES: usize = 1 << 10;

/// A table of values that are found by their handles.
trait Handles: Default {
    const NAME: &'static str;
    type Key: Copy;
    fn insert(&mut self, value: u64) -> Option<Self::Key>;
    fn remove(&mut self, key: Self::Key) -> Option<u64>;
    fn get(&self, key: Self::Key) -> Option<u64>;
    /// Returns the slot number of a key.
    fn slot(key: Self::Key) -> u64;
    /// Iterates over all keys and values.
    fn entries(&self) -> impl Iterator<Item = (Self::Key, u64)>;
}

impl Handles for Slots<u64> {
    const NAME: &'static str = "drystone";
    type Key = Handle<u64>;
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
    #[inline]
    fn entries(&self) -> impl Iterator<Item = (Handle<u64>, u64)> {
        self.iter().map(|(key, value)| (key, *value))
    }
}

impl Handles for SlotMap<DefaultKey, u64> {
    const NAME: &'static str = "slotmap";
    type Key = DefaultKey;
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
        (key.data().as_ffi() & 0xFFFF_FFFF) - 1
    }
    #[inline]
    fn entries(&self) -> impl Iterator<Item = (DefaultKey, u64)> {
        self.iter().map(|(key, value)| (key, *value))
    }
}

impl Handles for Slab<u64> {
    const NAME: &'static str = "slab";
    type Key = usize;
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
    #[inline]
    fn entries(&self) -> impl Iterator<Item = (usize, u64)> {
        self.iter().map(|(key, value)| (key, *value))
    }
}

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    let options = run.options;
    run.case("handles", || {
        Ok(vec![
            contender::<Slots<u64>>(options),
            contender::<SlotMap<DefaultKey, u64>>(options),
            contender::<Slab<u64>>(options),
        ])
    })
}

fn contender<H: Handles + 'static>(options: &Options) -> Contender<'static> {
    let count = options.size(VALUES, QUICK_VALUES);
    let mut random = Random::new(7);
    Contender::new(H::NAME, move || round::<H>(count, &mut random))
}

fn round<H: Handles>(count: usize, random: &mut Random) -> Round {
    let mut table = H::default();
    let mut keys = Vec::with_capacity(count);
    let mut fill = |table: &mut H, keys: &mut Vec<H::Key>| {
        keys.clear();
        let insert = || keys.extend((0..count as u64).filter_map(|value| table.insert(value)));
        let ((), ns) = timed(insert);
        random.shuffle(keys);
        ns
    };
    // Into an empty table that grows, and into a table that was emptied.
    let grown_ns = fill(&mut table, &mut keys);
    let ((), remove_ns) = timed(|| {
        for &key in &keys {
            black_box(table.remove(key));
        }
    });
    let insert_ns = (grown_ns + fill(&mut table, &mut keys)) / 2.0;
    let (found, get_ns) = timed(|| keys.iter().filter_map(|&key| table.get(key)).sum::<u64>());
    let all = count as u64 * (count as u64 - 1) / 2;
    if found != all {
        return Err(format!("the sum of the found values is {found}, not {all}").into());
    }
    let stay = keys.split_off(count / 2);
    if !keys.iter().all(|&key| table.remove(key).is_some()) {
        return Err("a value is missing before its removal".into());
    }
    let xor = |(key, value)| value ^ H::slot(key);
    let (sum, iterate_ns) = timed(|| black_box(table.entries().map(xor).sum::<u64>()));
    let staying = stay.iter().map(|&key| Some((key, table.get(key)?)));
    let expected: Option<u64> = staying.map(|entry| entry.map(xor)).sum();
    if expected != Some(sum) {
        return Err(format!("the sum of the remaining values is {sum}, not {expected:?}").into());
    }
    let figures = [("insert", insert_ns), ("remove", remove_ns), ("get", get_ns)];
    let per_value = figures.map(|(metric, ns)| (metric, ns / count as f64));
    let iterate = ("iterate", iterate_ns / stay.len().max(1) as f64);
    let all = per_value.into_iter().chain(iter::once(iterate));
    Ok(all.map(|(metric, ns)| Figure::new(metric, "ns/op", ns)).collect())
}
