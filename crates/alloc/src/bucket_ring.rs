use alloc::vec::Vec;
use core::{fmt, ops::Range};

use crate::Error;

#[cfg(test)]
mod tests;

/// End of the queue: no bucket.
const END: u32 = u32::MAX;

/// Handle of a live bucket of a [`BucketRing`]: index and generation. After the bucket is freed,
/// the handle is stale.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BucketHandle {
    index: u32,
    generation: u32,
}

impl BucketHandle {
    /// Index of the bucket, counted from 0 by address.
    #[inline]
    pub const fn index(self) -> u32 {
        self.index
    }

    /// Returns the handle as an integer, for storage in untyped data.
    #[inline]
    pub const fn to_bits(self) -> u64 {
        (self.generation as u64) << u32::BITS | self.index as u64
    }

    /// Returns the handle of an integer from [`to_bits`](Self::to_bits), or `None` if no handle has
    /// this integer. Generations of handles are odd. Use the handle only with the ring that
    /// returned it.
    #[inline]
    pub const fn from_bits(bits: u64) -> Option<Self> {
        let (index, generation) = (bits as u32, (bits >> u32::BITS) as u32);
        if generation % 2 == 1 { Some(Self { index, generation }) } else { None }
    }
}

impl fmt::Debug for BucketHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BucketHandle({}v{})", self.index, self.generation)
    }
}

/// Allocates buckets of equal size. The bucket that was freed longest ago is reused first.
///
/// ```text
///  free:  first ─► 4 (frame 7) ─► 0 (frame 7) ─► 2 (frame 9) ◄─ last
///  never used buckets are allocated first
/// ```
/// A bucket stores the time when it was freed, in frames or another unit of the caller. The caller
/// of `allocate` passes the last frame that the GPU has completed. A bucket that a later frame may
/// still read is not returned. The queue is sorted by time, so the check reads only the first
/// bucket.
///
/// Source: Nicholas McDonald's article "High Performance Voxel Engine: Vertex Pooling", which queues
/// its free buckets. It relies on enough of them; the check of the frame is an addition.
///
/// # Cost
/// `allocate` and `free` are O(1). Metadata: 16 bytes per bucket that was ever used.
///
/// # Examples
/// ```
/// use drystone_alloc::BucketRing;
///
/// let mut ring = BucketRing::new(1, 4096);
/// let bucket = ring.allocate(0)?;
/// assert_eq!(ring.range(bucket), Some(0..4096));
/// ring.free(bucket, 7)?; // Frame 7 may still draw it,
/// assert!(ring.allocate(6).is_err()); // and only frame 6 is done.
/// assert!(ring.allocate(7).is_ok());
/// # Ok::<(), drystone_alloc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BucketRing {
    bucket_size: u64,
    capacity: u32,
    live: u32,
    /// Buckets used at least once, by index. All others were never allocated.
    buckets: Vec<Bucket>,
    first_free: u32,
    last_free: u32,
    /// Time of the last free. Times in the queue never decrease.
    last_time: u64,
    worn_out: u32,
}

#[derive(Clone, Debug)]
struct Bucket {
    freed_at: u64,
    next: u32,
    /// Odd while the bucket is live.
    generation: u32,
}

impl BucketRing {
    /// Creates a ring of `bucket_count` free buckets of `bucket_size` units each.
    pub const fn new(bucket_count: u32, bucket_size: u32) -> Self {
        Self {
            bucket_size: bucket_size as u64,
            capacity: bucket_count,
            live: 0,
            buckets: Vec::new(),
            first_free: END,
            last_free: END,
            last_time: 0,
            worn_out: 0,
        }
    }

    /// Allocates a bucket that was never used. If there is none, takes the bucket freed longest
    /// ago, provided that this was at time `completed` or before. `u64::MAX` accepts any time.
    ///
    /// # Errors
    /// `Full`, counted in buckets, if no bucket is free or the first free one was freed after
    /// `completed`. `total_free` counts the free buckets in both cases;
    /// [`next_time`](Self::next_time) is the time to wait for.
    #[inline]
    pub fn allocate(&mut self, completed: u64) -> Result<BucketHandle, Error> {
        if self.buckets.len() < self.capacity as usize {
            return self.take_unused().ok_or_else(|| self.full());
        }
        let index = self.first_free;
        match self.buckets.get_mut(index as usize) {
            Some(bucket) if bucket.freed_at <= completed => {
                bucket.generation += 1;
                let generation = bucket.generation;
                self.first_free = bucket.next;
                self.live += 1;
                Ok(BucketHandle { index, generation })
            }
            _ => Err(self.full()),
        }
    }

    /// Frees a bucket at time `now`. A time before that of an earlier free is replaced by the
    /// earlier free's time.
    ///
    /// # Errors
    /// `Stale` if the bucket was freed before.
    #[inline]
    pub fn free(&mut self, handle: BucketHandle, now: u64) -> Result<(), Error> {
        let bucket = self.buckets.get_mut(handle.index as usize).ok_or(Error::Stale)?;
        if bucket.generation != handle.generation {
            return Err(Error::Stale);
        }
        self.live -= 1;
        self.last_time = self.last_time.max(now);
        bucket.generation = bucket.generation.wrapping_add(1);
        if bucket.generation == 0 {
            // The generations are exhausted: in a further use, the first handle would be valid
            // again.
            self.worn_out += 1;
            return Ok(());
        }
        (bucket.freed_at, bucket.next) = (self.last_time, END);
        self.append(handle.index);
        Ok(())
    }

    /// Adds `bucket_count` buckets behind the last one.
    ///
    /// # Errors
    /// `InvalidSize` if the ring would have more than 2³² − 1 buckets.
    pub fn grow(&mut self, bucket_count: u32) -> Result<(), Error> {
        self.capacity = self.capacity.checked_add(bucket_count).ok_or(Error::InvalidSize)?;
        Ok(())
    }

    /// Frees all buckets, even if a frame in flight may still read them, and keeps the memory. All
    /// handles become stale.
    pub fn reset(&mut self) {
        (self.first_free, self.last_free, self.last_time) = (END, END, 0);
        (self.live, self.worn_out) = (0, 0);
        for index in 0..self.buckets.len() as u32 {
            let bucket = &mut self.buckets[index as usize];
            bucket.generation = match bucket.generation {
                // Exhausted before, or by this reset.
                0 | u32::MAX => 0,
                generation => generation + generation % 2,
            };
            (bucket.freed_at, bucket.next) = (0, END);
            if bucket.generation == 0 {
                self.worn_out += 1;
            } else {
                self.append(index);
            }
        }
    }

    /// Returns the offsets of a bucket, in units, or `None` if the handle is stale.
    #[inline]
    pub fn range(&self, handle: BucketHandle) -> Option<Range<u64>> {
        let bucket = self.buckets.get(handle.index as usize)?;
        let start = u64::from(handle.index) * self.bucket_size;
        (bucket.generation == handle.generation).then(|| start..start + self.bucket_size)
    }

    /// Returns the time when the next bucket was freed: `Some(0)` if it was never used, `None` if
    /// no bucket is free.
    pub fn next_time(&self) -> Option<u64> {
        if self.buckets.len() < self.capacity as usize {
            return Some(0);
        }
        self.buckets.get(self.first_free as usize).map(|bucket| bucket.freed_at)
    }

    /// Number of buckets, live and free.
    #[inline]
    pub const fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Size of a bucket, in units.
    #[inline]
    pub const fn bucket_size(&self) -> u64 {
        self.bucket_size
    }

    /// Number of live buckets.
    #[inline]
    pub const fn len(&self) -> u32 {
        self.live
    }

    /// Whether no bucket is live.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// Verifies all invariants, for tests.
    ///
    /// # Errors
    /// The invariant that is violated.
    pub fn validate(&self) -> Result<(), &'static str> {
        let (mut at, mut last, mut queued, mut time) = (self.first_free, END, 0, 0);
        while let Some(bucket) = self.buckets.get(at as usize) {
            if bucket.generation % 2 == 1 || bucket.freed_at < time {
                return Err("the queue holds a live bucket, or is not sorted by time");
            }
            (last, at, time) = (at, bucket.next, bucket.freed_at);
            queued += 1;
            if queued > self.buckets.len() {
                return Err("the queue has a cycle");
            }
        }
        let live = self.buckets.iter().filter(|bucket| bucket.generation % 2 == 1).count();
        if live != self.live as usize
            || live + queued + self.worn_out as usize != self.buckets.len()
        {
            return Err("a bucket is neither live nor in the queue");
        }
        match last == self.last_free || queued == 0 {
            true => Ok(()),
            false => Err("the queue does not end with `last_free`"),
        }
    }

    fn take_unused(&mut self) -> Option<BucketHandle> {
        self.buckets.try_reserve(1).ok()?;
        let index = self.buckets.len() as u32;
        self.buckets.push(Bucket { freed_at: 0, next: END, generation: 1 });
        self.live += 1;
        Some(BucketHandle { index, generation: 1 })
    }

    #[inline]
    fn append(&mut self, index: u32) {
        match self.buckets.get_mut(self.last_free as usize) {
            Some(last) if self.first_free != END => last.next = index,
            _ => self.first_free = index,
        }
        self.last_free = index;
    }

    #[cold]
    fn full(&self) -> Error {
        let total_free = u64::from(self.capacity - self.live - self.worn_out);
        Error::Full { requested: 1, largest_free: 0, total_free }
    }
}
