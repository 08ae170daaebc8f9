//! Cases `handles` and `handles-64`: tables of values with handles, of 8 and of 64 bytes.

use std::{hint::black_box, iter};

use drystone_alloc::{Handle, Slots};
use slab::Slab;
use slotmap::{DefaultKey, Key, SlotMap};

use crate::{
    Contender, Error, Failure, Figure, Options, Random, Run,
    rounds::{Round, timed},
};

/// Values in a full table: 1 MB of slots, the number of meshes of a large scene.
const VALUES: usize = 1 << 16;
const QUICK_VALUES: usize = 1 << 10;

/// Values that are removed together, and then inserted again, in the figures of churn.
const BURST: usize = 256;

/// A value that contains a number.
trait Value: Copy {
    fn of(number: u64) -> Self;
    fn number(self) -> u64;
}

impl Value for u64 {
    fn of(number: u64) -> Self {
        number
    }
    fn number(self) -> u64 {
        self
    }
}

impl Value for [u64; 8] {
    fn of(number: u64) -> Self {
        [number; 8]
    }
    fn number(self) -> u64 {
        self[7]
    }
}

/// A table of values that are found by their handles.
trait Handles<V: Value>: Default {
    const NAME: &'static str;
    type Key: Copy;
    fn insert(&mut self, value: V) -> Option<Self::Key>;
    fn remove(&mut self, key: Self::Key) -> Option<V>;
    fn get(&self, key: Self::Key) -> Option<V>;
    /// Returns the slot number of a key.
    fn slot(key: Self::Key) -> u64;
    /// Iterates over all keys and values.
    fn entries(&self) -> impl Iterator<Item = (Self::Key, V)>;
}

impl<V: Value> Handles<V> for Slots<V> {
    const NAME: &'static str = "drystone";
    type Key = Handle<V>;
    #[inline]
    fn insert(&mut self, value: V) -> Option<Handle<V>> {
        self.insert(value).ok()
    }
    #[inline]
    fn remove(&mut self, key: Handle<V>) -> Option<V> {
        self.remove(key)
    }
    #[inline]
    fn get(&self, key: Handle<V>) -> Option<V> {
        self.get(key).copied()
    }
    fn slot(key: Handle<V>) -> u64 {
        key.index().into()
    }
    #[inline]
    fn entries(&self) -> impl Iterator<Item = (Handle<V>, V)> {
        self.iter().map(|(key, value)| (key, *value))
    }
}

impl<V: Value> Handles<V> for SlotMap<DefaultKey, V> {
    const NAME: &'static str = "slotmap";
    type Key = DefaultKey;
    #[inline]
    fn insert(&mut self, value: V) -> Option<DefaultKey> {
        Some(self.insert(value))
    }
    #[inline]
    fn remove(&mut self, key: DefaultKey) -> Option<V> {
        self.remove(key)
    }
    #[inline]
    fn get(&self, key: DefaultKey) -> Option<V> {
        self.get(key).copied()
    }
    fn slot(key: DefaultKey) -> u64 {
        // Slots of this crate count from 1.
        (key.data().as_ffi() & 0xFFFF_FFFF) - 1
    }
    #[inline]
    fn entries(&self) -> impl Iterator<Item = (DefaultKey, V)> {
        self.iter().map(|(key, value)| (key, *value))
    }
}

impl<V: Value> Handles<V> for Slab<V> {
    const NAME: &'static str = "slab";
    type Key = usize;
    #[inline]
    fn insert(&mut self, value: V) -> Option<usize> {
        Some(self.insert(value))
    }
    #[inline]
    fn remove(&mut self, key: usize) -> Option<V> {
        self.try_remove(key)
    }
    #[inline]
    fn get(&self, key: usize) -> Option<V> {
        self.get(key).copied()
    }
    fn slot(key: usize) -> u64 {
        key as u64
    }
    #[inline]
    fn entries(&self) -> impl Iterator<Item = (usize, V)> {
        self.iter().map(|(key, value)| (key, *value))
    }
}

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Error> {
    run_case::<u64>(run, "handles")?;
    run_case::<[u64; 8]>(run, "handles-64")
}

fn run_case<V: Value + 'static>(run: &mut Run<'_>, case: &str) -> Result<(), Error> {
    let options = run.options;
    run.case(case, || {
        Ok(vec![
            contender::<V, Slots<V>>(options),
            contender::<V, SlotMap<DefaultKey, V>>(options),
            contender::<V, Slab<V>>(options),
        ])
    })
}

fn contender<V: Value, H: Handles<V> + 'static>(options: &Options) -> Contender<'static> {
    let count = options.size(VALUES, QUICK_VALUES);
    let mut random = Random::new(7);
    Contender::new(H::NAME, move || round::<V, H>(count, &mut random))
}

fn round<V: Value, H: Handles<V>>(count: usize, random: &mut Random) -> Round {
    let mut table = H::default();
    let mut keys = Vec::with_capacity(count);
    let mut fill = |table: &mut H, keys: &mut Vec<H::Key>| {
        keys.clear();
        let insert =
            || keys.extend((0..count as u64).filter_map(|value| table.insert(V::of(value))));
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
    let numbers = || keys.iter().filter_map(|&key| table.get(key)).map(V::number);
    let (found, get_ns) = timed(|| numbers().sum::<u64>());
    let all = count as u64 * (count as u64 - 1) / 2;
    if found != all {
        return Err(format!("the sum of the found values is {found}, not {all}").into());
    }
    let mut stay = keys.split_off(count / 2);
    if !keys.iter().all(|&key| table.remove(key).is_some()) {
        return Err("a value is missing before its removal".into());
    }
    let xor = |(key, value): (H::Key, V)| value.number() ^ H::slot(key);
    let (sum, iterate_ns) = timed(|| black_box(table.entries().map(xor).sum::<u64>()));
    let staying = stay.iter().map(|&key| Some((key, table.get(key)?)));
    let expected: Option<u64> = staying.map(|entry| entry.map(xor)).sum();
    if expected != Some(sum) {
        return Err(format!("the sum of the remaining values is {sum}, not {expected:?}").into());
    }
    let churned = churn(&mut table, &mut stay)?.map(|ns| ns / stay.len().max(1) as f64);
    let figures = [("insert", insert_ns), ("remove", remove_ns), ("get", get_ns)];
    let churned = [("churn-remove", churned[0]), ("churn-insert", churned[1])];
    let per_value = figures.map(|(metric, ns)| (metric, ns / count as f64));
    let iterate = ("iterate", iterate_ns / stay.len().max(1) as f64);
    let all = per_value.into_iter().chain(churned).chain(iter::once(iterate));
    Ok(all.map(|(metric, ns)| Figure::new(metric, "ns/op", ns)).collect())
}

/// Removes every value once and inserts it again, in bursts. Returns the time of both, in nanoseconds.
fn churn<V: Value, H: Handles<V>>(table: &mut H, keys: &mut [H::Key]) -> Result<[f64; 2], Failure> {
    let (mut sums, mut removed) = ([0.0; 2], Vec::with_capacity(BURST));
    for keys in keys.chunks_mut(BURST) {
        removed.clear();
        let ((), remove_ns) =
            timed(|| removed.extend(keys.iter().filter_map(|&key| table.remove(key))));
        if removed.len() != keys.len() {
            return Err("a value is missing".into());
        }
        let (is_full, insert_ns) = timed(|| {
            let mut is_full = false;
            for (key, &value) in keys.iter_mut().zip(&removed) {
                match table.insert(value) {
                    Some(new) => *key = new,
                    None => is_full = true,
                }
            }
            is_full
        });
        if is_full {
            return Err("the table is full".into());
        }
        sums[0] += remove_ns;
        sums[1] += insert_ns;
    }
    Ok(sums)
}
