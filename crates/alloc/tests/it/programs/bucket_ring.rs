use std::collections::VecDeque;

use drystone_alloc::{BucketHandle, BucketRing, Error};
use drystone_testing::Bytes;

#[derive(Debug)]
enum Op {
    /// Advances the time. The second number is the time that is not completed yet.
    Allocate {
        elapsed: u8,
        in_flight: u8,
    },
    AllocateAny,
    Free(usize),
    /// Frees a bucket at a past time.
    FreeLate(usize),
    UseStale(usize),
    Grow(u32),
    Reset,
}

impl Op {
    fn read(bytes: &mut Bytes<'_>) -> Self {
        match bytes.byte() {
            0..=99 => Self::Allocate { elapsed: bytes.byte() % 4, in_flight: bytes.byte() % 8 },
            100..=129 => Self::AllocateAny,
            130..=204 => Self::Free(bytes.below(usize::MAX)),
            205..=214 => Self::FreeLate(bytes.below(usize::MAX)),
            215..=234 => Self::UseStale(bytes.below(usize::MAX)),
            235..=249 => Self::Grow(bytes.size_u32()),
            _ => Self::Reset,
        }
    }
}

/// Rings up to this many buckets are filled; larger ones only grow.
const SMALL: u32 = 100;
const BUCKET_SIZE: u32 = 7;

/// The reference model: never used buckets, by index, and a queue of the others with times.
struct Shadow {
    unused: VecDeque<u32>,
    freed: VecDeque<(u32, u64)>,
    live: Vec<(BucketHandle, u32)>,
    stale: Vec<BucketHandle>,
    capacity: u32,
    now: u64,
    last_time: u64,
}

impl Shadow {
    fn next_time(&self) -> Option<u64> {
        let freed = self.freed.front().map(|(_, time)| *time);
        self.unused.front().map(|_| 0).or(freed)
    }

    fn take(&mut self) -> Option<u32> {
        self.unused.pop_front().or_else(|| Some(self.freed.pop_front()?.0))
    }
}

pub(crate) fn run(program: &[u8]) {
    let mut bytes = Bytes::new(program);
    let capacity = bytes.below(6) as u32;
    let mut ring = BucketRing::new(capacity, BUCKET_SIZE);
    let mut shadow = Shadow {
        unused: (0..capacity).collect(),
        freed: VecDeque::new(),
        live: Vec::new(),
        stale: Vec::new(),
        capacity,
        now: 1,
        last_time: 0,
    };
    while !bytes.is_empty() {
        let op = Op::read(&mut bytes);
        step(&mut ring, &mut shadow, &op);
        ring.validate().unwrap_or_else(|wrong| panic!("{op:?}: {wrong}"));
        assert_eq!((ring.len() as usize, ring.capacity()), (shadow.live.len(), shadow.capacity));
        assert_eq!(ring.next_time(), shadow.next_time());
    }
}

fn step(ring: &mut BucketRing, shadow: &mut Shadow, op: &Op) {
    match *op {
        Op::Allocate { elapsed, in_flight } => {
            shadow.now += u64::from(elapsed);
            allocate(ring, shadow, shadow.now.saturating_sub(in_flight.into()));
        }
        Op::AllocateAny => allocate(ring, shadow, u64::MAX),
        Op::Free(nth) if !shadow.live.is_empty() => free(ring, shadow, nth, shadow.now),
        Op::FreeLate(nth) if !shadow.live.is_empty() => free(ring, shadow, nth, 0),
        Op::UseStale(nth) if !shadow.stale.is_empty() => {
            let handle = shadow.stale[nth % shadow.stale.len()];
            assert_eq!(ring.free(handle, shadow.now), Err(Error::Stale));
            assert_eq!(ring.range(handle), None);
        }
        Op::Grow(more) => grow(ring, shadow, more),
        Op::Reset => {
            ring.reset();
            let used = 0..shadow.capacity - shadow.unused.len() as u32;
            shadow.freed = used.map(|index| (index, 0)).collect();
            shadow.stale.extend(shadow.live.drain(..).map(|(handle, _)| handle));
            shadow.last_time = 0;
        }
        _ => {}
    }
}

fn allocate(ring: &mut BucketRing, shadow: &mut Shadow, completed: u64) {
    let result = ring.allocate(completed);
    let total_free = (shadow.unused.len() + shadow.freed.len()) as u64;
    if shadow.next_time().is_none_or(|time| time > completed) {
        assert_eq!(result, Err(Error::Full { requested: 1, largest_free: 0, total_free }));
        return;
    }
    let (handle, index) = (result.unwrap(), shadow.take().unwrap());
    assert_eq!(handle.index(), index);
    let start = u64::from(index * BUCKET_SIZE);
    assert_eq!(ring.range(handle), Some(start..start + u64::from(BUCKET_SIZE)));
    assert!(!shadow.stale.contains(&handle), "{handle:?} came back");
    shadow.live.push((handle, index));
}

fn free(ring: &mut BucketRing, shadow: &mut Shadow, nth: usize, now: u64) {
    let (handle, index) = shadow.live.swap_remove(nth % shadow.live.len());
    assert_eq!(ring.free(handle, now), Ok(()));
    shadow.stale.push(handle);
    shadow.last_time = shadow.last_time.max(now);
    shadow.freed.push_back((index, shadow.last_time));
}

fn grow(ring: &mut BucketRing, shadow: &mut Shadow, more: u32) {
    if more.checked_add(shadow.capacity).is_none() {
        assert_eq!(ring.grow(more), Err(Error::InvalidSize));
    } else if more + shadow.capacity <= SMALL {
        assert_eq!(ring.grow(more), Ok(()));
        shadow.unused.extend(shadow.capacity..shadow.capacity + more);
        shadow.capacity += more;
    }
}
