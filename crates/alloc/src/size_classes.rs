use alloc::vec::Vec;
use core::ops::Range;

use crate::{Error, Handle, Offset, RangeSpace, RangeStats, Slots};

mod choose;
mod slab;
#[cfg(test)]
mod tests;

use choose::choose_sizes;
use slab::{Class, Slabs};

/// How a [`SizeClasses`] is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeClassConfig {
    /// Bucket sizes, at most. More waste less inside buckets and more in buckets that
    /// stand empty. 16 unless told.
    pub classes: usize,
    /// A size that would leave more than this part of its bucket unused gets a range of
    /// its own instead, in percent. 25 unless told.
    pub max_waste_percent: u8,
}

impl Default for SizeClassConfig {
    fn default() -> Self {
        Self { classes: 16, max_waste_percent: 25 }
    }
}

/// A place handed out by a [`SizeClasses`]; opaque, and named by its [`ClassHandle`].
#[derive(Clone, Debug)]
pub struct ClassAllocation<O: Offset> {
    kind: slab::ClassSlot,
    asked: O,
}

/// Names one live place of a [`SizeClasses`].
pub type ClassHandle<O = u32> = Handle<ClassAllocation<O>>;

/// Hands out places from buckets of several sizes, chosen from a histogram of real sizes,
/// and from a [`RangeSpace`] where no bucket fits well.
///
/// ```text
///  histogram ─► bucket sizes 64 · 120 · 300 …          least waste in so many sizes
///  size 100  ─► 120: slab of 64 buckets, a bit each    (16.7 % of the bucket unused)
///  size 305  ─► next bucket 420 would waste 27 %       ─► a range of 305
/// ```
/// Buckets of one size leave no gaps that are too small: what is freed fits the next of
/// its class exactly. A slab whose buckets are all free goes back to the range space.
///
/// # Cost
/// O(log classes) to find the class, then a bit scan; 24 bytes a place and 32 a slab.
///
/// # Examples
/// ```
/// use drystone_alloc::{SizeClassConfig, SizeClasses};
///
/// let histogram = [(100, 50), (110, 30), (400, 20)];
/// let mut space = SizeClasses::new(1 << 20, &histogram, &SizeClassConfig::default());
/// assert_eq!(space.class_sizes().collect::<Vec<_>>(), [100, 110, 400]);
/// let place = space.allocate(105)?;
/// let range = space.range(place).unwrap();
/// assert_eq!(range.end - range.start, 105);
/// assert_eq!(space.stats().internal_waste, 5);
/// # Ok::<(), drystone_alloc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SizeClasses<O: Offset = u32> {
    ranges: RangeSpace<O>,
    /// By rising bucket size.
    classes: Vec<Class<O>>,
    slabs: Slabs<O>,
    places: Slots<ClassAllocation<O>>,
    max_waste_percent: u64,
    expected_waste: f64,
    /// Units handed out in buckets and ranges, and those of them that were asked for.
    used: O,
    asked: O,
}

impl SizeClasses<u32> {
    /// [`with_capacity`](Self::with_capacity) for 32-bit offsets.
    pub fn new(capacity: u32, histogram: &[(u32, u64)], config: &SizeClassConfig) -> Self {
        Self::with_capacity(capacity, histogram, config)
    }
}

impl<O: Offset> SizeClasses<O> {
    /// A space of `capacity` units with bucket sizes chosen for `histogram`: sizes, each
    /// with how often it occurs, in any order.
    ///
    /// # Cost
    /// O(classes · sizes²), where sizes that differ by less than a thirty-second count as
    /// one.
    pub fn with_capacity(capacity: O, histogram: &[(O, u64)], config: &SizeClassConfig) -> Self {
        let (sizes, expected_waste) = choose_sizes(histogram, config.classes);
        Self {
            ranges: RangeSpace::with_capacity(capacity),
            classes: sizes.into_iter().map(|size| Class::new(size, capacity)).collect(),
            slabs: Slabs::new(),
            places: Slots::new(),
            max_waste_percent: config.max_waste_percent.min(100).into(),
            expected_waste,
            used: O::default(),
            asked: O::default(),
        }
    }

    /// Hands out `size` units in a row.
    ///
    /// # Errors
    /// `InvalidSize` for zero, `Full` with the range space's numbers when neither a bucket
    /// nor a range is left, or memory for the tables ran out.
    pub fn allocate(&mut self, size: O) -> Result<ClassHandle<O>, Error> {
        if size == O::default() {
            return Err(Error::InvalidSize);
        }
        let bucket = self.class_of(size).and_then(|class| {
            let bucket = self.slabs.take_bucket(class, &mut self.classes, &mut self.ranges)?;
            Some((bucket, self.classes[class].size))
        });
        let (kind, given) = match bucket {
            Some(bucket) => bucket,
            None => (slab::ClassSlot::Range(self.ranges.allocate(size)?), size),
        };
        match self.places.insert(ClassAllocation { kind, asked: size }) {
            Ok(handle) => {
                self.used += given;
                self.asked += size;
                Ok(handle)
            }
            Err(place) => {
                self.give_back(place.kind)?;
                Err(self.ranges.stats().full(size.into()))
            }
        }
    }

    /// Takes a place back.
    ///
    /// # Errors
    /// `Stale` when it was given back before.
    pub fn free(&mut self, handle: ClassHandle<O>) -> Result<(), Error> {
        let place = self.places.remove(handle).ok_or(Error::Stale)?;
        self.used -= self.given(&place);
        self.asked -= place.asked;
        self.give_back(place.kind)
    }

    /// Where the place lies, as large as it was asked for, or `None` when the handle is
    /// stale.
    pub fn range(&self, handle: ClassHandle<O>) -> Option<Range<O>> {
        let place = self.places.get(handle)?;
        let start = match place.kind {
            slab::ClassSlot::Range(range) => self.ranges.range(range)?.start,
            slab::ClassSlot::Bucket { slab, bucket } => {
                self.slabs.bucket_offset(slab, bucket, &self.classes)?
            }
        };
        Some(start..start + place.asked)
    }

    /// The figures: `used` are the units of buckets and ranges handed out, and
    /// `internal_waste` those of them that nobody asked for. `free` is the rest, buckets
    /// that stand empty included; `largest_free` and `free_blocks` are the range space's.
    pub fn stats(&self) -> RangeStats<O> {
        let ranges = self.ranges.stats();
        RangeStats {
            used: self.used,
            free: ranges.capacity - self.used,
            live_blocks: self.places.len(),
            internal_waste: self.used - self.asked,
            ..ranges
        }
    }

    /// Units in buckets that stand empty: taken from the range space, not handed out.
    pub fn idle(&self) -> O {
        self.ranges.used() - self.used
    }

    /// The part of all buckets' units that the histogram's sizes would leave unused, 0 to
    /// 1, if each got its bucket.
    pub const fn expected_waste(&self) -> f64 {
        self.expected_waste
    }

    /// The bucket sizes, rising.
    pub fn class_sizes(&self) -> impl Iterator<Item = O> {
        self.classes.iter().map(|class| class.size)
    }

    /// Walks the whole structure and says what is wrong with it, for tests.
    ///
    /// # Errors
    /// The invariant that does not hold.
    pub fn check(&self) -> Result<(), &'static str> {
        self.ranges.check()?;
        self.places.check()?;
        self.slabs.check(&self.classes)?;
        let mut sums = (0u64, 0u64);
        let mut in_buckets = 0;
        for (handle, place) in &self.places {
            if self.range(handle).is_none() {
                return Err("a live place has no range");
            }
            in_buckets += u32::from(matches!(place.kind, slab::ClassSlot::Bucket { .. }));
            sums.0 += self.given(place).into();
            sums.1 += place.asked.into();
        }
        if sums != (self.used.into(), self.asked.into()) {
            return Err("the sums over all places are wrong");
        }
        match self.slabs.used_buckets(&self.classes) == in_buckets {
            true => Ok(()),
            false => Err("a bucket is taken and nobody has it"),
        }
    }

    /// The class for a size, unless its bucket would be too large for it.
    fn class_of(&self, size: O) -> Option<usize> {
        let class = self.classes.partition_point(|class| class.size < size);
        let bucket = self.classes.get(class)?.size;
        let waste = u128::from((bucket - size).into()) * 100;
        let most = u128::from(bucket.into()) * u128::from(self.max_waste_percent);
        (waste <= most).then_some(class)
    }

    fn given(&self, place: &ClassAllocation<O>) -> O {
        match place.kind {
            slab::ClassSlot::Range(_) => place.asked,
            slab::ClassSlot::Bucket { slab, .. } => {
                self.slabs.bucket_size(slab, &self.classes).unwrap_or(place.asked)
            }
        }
    }

    fn give_back(&mut self, kind: slab::ClassSlot) -> Result<(), Error> {
        match kind {
            slab::ClassSlot::Range(range) => self.ranges.free(range),
            slab::ClassSlot::Bucket { slab, bucket } => {
                self.slabs.give_back(slab, bucket, &mut self.classes, &mut self.ranges)
            }
        }
    }
}
