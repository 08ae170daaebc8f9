use alloc::vec::Vec;
use core::ops::Range;

use crate::{Error, Handle, Offset, RangeSpace, RangeStats, Slots};

mod choose;
mod slab;
#[cfg(test)]
mod tests;

use choose::choose_sizes;
use slab::{Class, Slabs};

/// Configuration of a [`SizeClasses`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize), serde(default))]
#[non_exhaustive]
pub struct SizeClassConfig {
    /// Maximum number of bucket sizes. More sizes waste less inside buckets and more in empty
    /// buckets. Default: 16.
    pub classes: usize,
    /// Maximum unused part of a bucket, in percent. A size that would leave more of its bucket
    /// unused gets a range of its own. Default: 25.
    pub max_waste_percent: u8,
}

impl Default for SizeClassConfig {
    fn default() -> Self {
        Self { classes: 16, max_waste_percent: 25 }
    }
}

impl SizeClassConfig {
    /// Replaces [`classes`](Self::classes).
    #[must_use]
    pub const fn with_classes(mut self, classes: usize) -> Self {
        self.classes = classes;
        self
    }

    /// Replaces [`max_waste_percent`](Self::max_waste_percent).
    #[must_use]
    pub const fn with_max_waste_percent(mut self, max_waste_percent: u8) -> Self {
        self.max_waste_percent = max_waste_percent;
        self
    }
}

/// Allocation of a [`SizeClasses`]. Opaque: only its [`ClassHandle`] is public.
#[derive(Clone, Debug)]
pub struct ClassAllocation<O: Offset> {
    kind: slab::ClassSlot,
    requested: O,
}

/// Handle of a live allocation of a [`SizeClasses`].
pub type ClassHandle<O = u32> = Handle<ClassAllocation<O>>;

/// Allocates from buckets of several sizes, which are chosen from a histogram of expected sizes. If
/// no bucket fits well, allocates from a [`RangeSpace`].
///
/// ```text
///  histogram ─► bucket sizes 64 · 120 · 300 …          least waste for this number of sizes
///  size 100  ─► 120: slab of 64 buckets, 1 bit each     (16.7 % of the bucket unused)
///  size 305  ─► next bucket 420 would waste 27 %       ─► a range of 305
/// ```
/// Buckets of one size leave no unusable gaps: a freed bucket fits the next allocation of its class
/// exactly. A slab whose buckets are all free returns to the range space.
///
/// # Cost
/// O(log classes) to find the class, then a bit scan. Metadata: 24 bytes per allocation and 32 per
/// slab.
///
/// # Examples
/// ```
/// use drystone_alloc::{SizeClassConfig, SizeClasses};
///
/// let histogram = [(100, 50), (110, 30), (400, 20)];
/// let mut space = SizeClasses::new(1 << 20, &histogram, &SizeClassConfig::default());
/// assert_eq!(space.class_sizes().collect::<Vec<_>>(), [100, 110, 400]);
/// let handle = space.allocate(105)?;
/// let range = space.range(handle).unwrap();
/// assert_eq!(range.end - range.start, 105);
/// assert_eq!(space.stats().internal_waste, 5);
/// # Ok::<(), drystone_alloc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SizeClasses<O: Offset = u32> {
    ranges: RangeSpace<O>,
    /// Sorted by bucket size.
    classes: Vec<Class<O>>,
    slabs: Slabs<O>,
    allocations: Slots<ClassAllocation<O>>,
    max_waste_percent: u64,
    expected_waste: f64,
    /// Units allocated in buckets and ranges, and the requested part of them.
    used: O,
    requested: O,
}

impl SizeClasses<u32> {
    /// Creates a space with 32-bit offsets, like [`with_size`](Self::with_size).
    pub fn new(capacity: u32, histogram: &[(u32, u64)], config: &SizeClassConfig) -> Self {
        Self::with_size(capacity, histogram, config)
    }
}

impl<O: Offset> SizeClasses<O> {
    /// Creates a space of `capacity` units, with bucket sizes chosen for `histogram`. Each entry is
    /// a size and its count; entries may be in any order.
    ///
    /// # Cost
    /// O(classes · sizes²). Sizes that differ by less than 1/32 count as one.
    pub fn with_size(capacity: O, histogram: &[(O, u64)], config: &SizeClassConfig) -> Self {
        let (sizes, expected_waste) = choose_sizes(histogram, config.classes);
        Self {
            ranges: RangeSpace::with_size(capacity),
            classes: sizes.into_iter().map(|size| Class::new(size, capacity)).collect(),
            slabs: Slabs::new(),
            allocations: Slots::new(),
            max_waste_percent: config.max_waste_percent.min(100).into(),
            expected_waste,
            used: O::default(),
            requested: O::default(),
        }
    }

    /// Allocates `size` contiguous units.
    ///
    /// # Errors
    /// `InvalidSize` if `size` is zero. `Full`, with the figures of the range space, if neither a
    /// bucket nor a range is free. `Full` also if the heap has no memory for the metadata.
    pub fn allocate(&mut self, size: O) -> Result<ClassHandle<O>, Error> {
        if size == O::default() {
            return Err(Error::InvalidSize);
        }
        let bucket = self.class_of(size).and_then(|class| {
            let bucket = self.slabs.take_bucket(class, &mut self.classes, &mut self.ranges)?;
            Some((bucket, self.classes[class].size))
        });
        let (kind, allocated) = match bucket {
            Some(bucket) => bucket,
            None => (slab::ClassSlot::Range(self.ranges.allocate(size)?), size),
        };
        match self.allocations.insert(ClassAllocation { kind, requested: size }) {
            Ok(handle) => {
                self.used += allocated;
                self.requested += size;
                Ok(handle)
            }
            Err(refused) => {
                self.release(refused.kind)?;
                Err(self.ranges.stats().full(size.into()))
            }
        }
    }

    /// Frees an allocation.
    ///
    /// # Errors
    /// `Stale` if it was freed before.
    pub fn free(&mut self, handle: ClassHandle<O>) -> Result<(), Error> {
        let allocation = self.allocations.remove(handle).ok_or(Error::Stale)?;
        self.used -= self.allocated_size(&allocation);
        self.requested -= allocation.requested;
        self.release(allocation.kind)
    }

    /// Returns the offsets of an allocation, with the requested size, or `None` if the handle is
    /// stale.
    pub fn range(&self, handle: ClassHandle<O>) -> Option<Range<O>> {
        let allocation = self.allocations.get(handle)?;
        let start = match allocation.kind {
            slab::ClassSlot::Range(range) => self.ranges.range(range)?.start,
            slab::ClassSlot::Bucket { slab, bucket } => {
                self.slabs.bucket_offset(slab, bucket, &self.classes)?
            }
        };
        Some(start..start + allocation.requested)
    }

    /// Returns the statistics. `used` counts the units of allocated buckets and ranges,
    /// `internal_waste` the part of them that was not requested. `free` is the rest and includes
    /// empty buckets. `largest_free` and `free_blocks` are those of the range space.
    pub fn stats(&self) -> RangeStats<O> {
        let ranges = self.ranges.stats();
        RangeStats {
            used: self.used,
            free: ranges.capacity - self.used,
            live_blocks: self.allocations.len(),
            internal_waste: self.used - self.requested,
            ..ranges
        }
    }

    /// Number of units in empty buckets, which are reserved in the range space but not allocated.
    pub fn idle(&self) -> O {
        self.ranges.used() - self.used
    }

    /// Expected unused fraction of all buckets' units, 0 to 1, if each size of the histogram is
    /// allocated in a bucket.
    pub const fn expected_waste(&self) -> f64 {
        self.expected_waste
    }

    /// Iterates over the bucket sizes in ascending order.
    pub fn class_sizes(&self) -> impl Iterator<Item = O> {
        self.classes.iter().map(|class| class.size)
    }

    /// Verifies all invariants, for tests.
    ///
    /// # Errors
    /// The invariant that is violated.
    pub fn validate(&self) -> Result<(), &'static str> {
        self.ranges.validate()?;
        self.allocations.validate()?;
        self.slabs.validate(&self.classes)?;
        let mut sums = (0u64, 0u64);
        let mut in_buckets = 0;
        for (handle, allocation) in &self.allocations {
            if self.range(handle).is_none() {
                return Err("a live allocation has no range");
            }
            in_buckets += u32::from(matches!(allocation.kind, slab::ClassSlot::Bucket { .. }));
            sums.0 += self.allocated_size(allocation).into();
            sums.1 += allocation.requested.into();
        }
        if sums != (self.used.into(), self.requested.into()) {
            return Err("the sums over all allocations are wrong");
        }
        match self.slabs.used_buckets(&self.classes) == in_buckets {
            true => Ok(()),
            false => Err("a used bucket belongs to no allocation"),
        }
    }

    /// Returns the class of a size. `None` if its bucket would be too large or there is none.
    fn class_of(&self, size: O) -> Option<usize> {
        let class = self.classes.partition_point(|class| class.size < size);
        let bucket = self.classes.get(class)?.size;
        let waste = u128::from((bucket - size).into()) * 100;
        let max_waste = u128::from(bucket.into()) * u128::from(self.max_waste_percent);
        (waste <= max_waste).then_some(class)
    }

    fn allocated_size(&self, allocation: &ClassAllocation<O>) -> O {
        match allocation.kind {
            slab::ClassSlot::Range(_) => allocation.requested,
            slab::ClassSlot::Bucket { slab, .. } => {
                self.slabs.bucket_size(slab, &self.classes).unwrap_or(allocation.requested)
            }
        }
    }

    fn release(&mut self, kind: slab::ClassSlot) -> Result<(), Error> {
        match kind {
            slab::ClassSlot::Range(range) => self.ranges.free(range),
            slab::ClassSlot::Bucket { slab, bucket } => {
                self.slabs.release(slab, bucket, &mut self.classes, &mut self.ranges)
            }
        }
    }
}
