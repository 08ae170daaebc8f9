use drystone_alloc::{BucketHandle, BucketRing, Handle, RangeSpace, SizeClasses};

use crate::{allocation::Allocation, config::Placement};

/// Allocator of one buffer.
#[derive(Debug)]
pub(crate) enum Space {
    Ranges(RangeSpace),
    Classes(SizeClasses),
    Buckets(BucketRing),
}

/// Free space of a buffer, in elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FreeSpace {
    pub(crate) largest: u32,
    pub(crate) total: u32,
    /// Elements in the unused rest of buckets, in neither meshes nor retired allocations.
    pub(crate) wasted: u32,
}

impl Space {
    pub(crate) fn new(placement: &Placement, elements: u32) -> Self {
        match placement {
            Placement::Ranges => Self::Ranges(RangeSpace::new(elements)),
            Placement::SizeClasses { histogram, config } => {
                Self::Classes(SizeClasses::new(elements, histogram, config))
            }
            Placement::Buckets { elements: bucket } => {
                let count = elements.checked_div(*bucket).unwrap_or(0);
                Self::Buckets(BucketRing::new(count, *bucket))
            }
        }
    }

    /// Allocates at least `size` elements. Returns the allocation and its first element.
    #[inline]
    pub(crate) fn allocate(&mut self, size: u32) -> Option<(Allocation, u32)> {
        match self {
            Self::Ranges(space) => {
                let (range, first) = space.allocate_with_offset(size).ok()?;
                Some((Allocation::of_range(range), first))
            }
            Self::Classes(space) => {
                let allocation = space.allocate(size).ok()?;
                Some((Allocation(allocation.to_bits()), space.range(allocation)?.start))
            }
            Self::Buckets(ring) => {
                if u64::from(size) > ring.bucket_size() {
                    return None;
                }
                // The queue of retired allocations handles frames in flight, so all buckets here
                // are free.
                let bucket = ring.allocate(u64::MAX).ok()?;
                Some((Allocation(bucket.to_bits()), ring.range(bucket)?.start as u32))
            }
        }
    }

    #[inline]
    pub(crate) fn free(&mut self, allocation: Allocation) {
        let freed = match self {
            Self::Ranges(space) => allocation.range().map(|range| space.free(range)),
            Self::Classes(space) => {
                Handle::from_bits(allocation.0).map(|handle| space.free(handle))
            }
            Self::Buckets(ring) => {
                BucketHandle::from_bits(allocation.0).map(|bucket| ring.free(bucket, 0))
            }
        };
        debug_assert!(
            freed == Some(Ok(())),
            "an allocation is freed once, by the space that created it"
        );
    }

    /// Frees the elements of an allocation after its first `size`, if the policy permits.
    pub(crate) fn shrink(&mut self, allocation: Allocation, size: u32) {
        if let (Self::Ranges(space), Some(range)) = (self, allocation.range()) {
            let shrunk = space.resize_in_place(range, size);
            debug_assert!(shrunk.is_ok(), "an allocation can always shrink");
        }
    }

    /// Number of free elements.
    #[inline]
    pub(crate) fn free_total(&self) -> u32 {
        match self {
            Self::Ranges(space) => space.capacity() - space.used(),
            Self::Classes(space) => space.stats().free,
            Self::Buckets(ring) => (ring.capacity() - ring.len()) * ring.bucket_size() as u32,
        }
    }

    /// Returns the free space; `taken` elements are in meshes or retired.
    pub(crate) fn free_space(&self, taken: u32) -> FreeSpace {
        match self {
            Self::Ranges(space) => {
                let stats = space.stats();
                FreeSpace { largest: stats.largest_free, total: stats.free, wasted: 0 }
            }
            Self::Classes(space) => {
                let stats = space.stats();
                FreeSpace {
                    largest: stats.largest_free,
                    total: stats.free,
                    wasted: stats.used - taken,
                }
            }
            Self::Buckets(ring) => {
                let bucket = ring.bucket_size() as u32;
                let total = self.free_total();
                FreeSpace { largest: bucket.min(total), total, wasted: ring.len() * bucket - taken }
            }
        }
    }

    pub(crate) fn validate(&self) -> Result<(), &'static str> {
        match self {
            Self::Ranges(space) => space.validate(),
            Self::Classes(space) => space.validate(),
            Self::Buckets(ring) => ring.validate(),
        }
    }
}
