use drystone_alloc::{BucketHandle, BucketRing, Handle, RangeHandle, RangeSpace, SizeClasses};

use crate::Placement;

/// A place in one buffer's [`Space`]: the handle of whichever allocator hands it out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place(u64);

impl Place {
    /// A number below the most places that the space ever had at once, plus one.
    #[inline]
    pub(crate) const fn index(self) -> usize {
        self.0 as u32 as usize
    }

    /// What a mesh of no elements has.
    #[inline]
    pub(crate) const fn of_nothing() -> Self {
        Self(0)
    }

    #[inline]
    pub(crate) const fn of_range(range: RangeHandle) -> Self {
        Self(range.to_bits())
    }

    #[inline]
    pub(crate) const fn range(self) -> Option<RangeHandle> {
        RangeHandle::from_bits(self.0)
    }
}

/// Who hands out places in one buffer.
#[derive(Debug)]
pub(crate) enum Space {
    Ranges(RangeSpace),
    Classes(SizeClasses),
    Buckets(BucketRing),
}

/// What is free in a space, in elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Room {
    pub(crate) largest: u32,
    pub(crate) total: u32,
    /// Handed out, but in no mesh and in no place that waits: what buckets leave over.
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

    /// A place of at least `size` elements, and where it starts.
    #[inline]
    pub(crate) fn allocate(&mut self, size: u32) -> Option<(Place, u32)> {
        match self {
            Self::Ranges(space) => {
                let (range, first) = space.allocate_at(size).ok()?;
                Some((Place::of_range(range), first))
            }
            Self::Classes(space) => {
                let place = space.allocate(size).ok()?;
                Some((Place(place.to_bits()), space.range(place)?.start))
            }
            Self::Buckets(ring) => {
                if u64::from(size) > ring.bucket_size() {
                    return None;
                }
                // Frames in flight are the retire queue's affair: what comes back here is free.
                let bucket = ring.allocate(u64::MAX).ok()?;
                Some((Place(bucket.to_bits()), ring.range(bucket)?.start as u32))
            }
        }
    }

    #[inline]
    pub(crate) fn free(&mut self, place: Place) {
        let freed = match self {
            Self::Ranges(space) => place.range().map(|range| space.free(range)),
            Self::Classes(space) => Handle::from_bits(place.0).map(|handle| space.free(handle)),
            Self::Buckets(ring) => {
                BucketHandle::from_bits(place.0).map(|bucket| ring.free(bucket, 0))
            }
        };
        debug_assert!(
            freed == Some(Ok(())),
            "a place is freed once, by the space that handed it out"
        );
    }

    /// Gives back what a place has beyond its first `size` elements, where places can be
    /// cut.
    pub(crate) fn shrink(&mut self, place: Place, size: u32) {
        if let (Self::Ranges(space), Some(range)) = (self, place.range()) {
            let shrunk = space.reallocate(range, size);
            debug_assert!(shrunk.is_ok(), "a place can always become smaller");
        }
    }

    /// Elements in free places.
    #[inline]
    pub(crate) fn free_total(&self) -> u32 {
        match self {
            Self::Ranges(space) => space.capacity() - space.used(),
            Self::Classes(space) => space.stats().free,
            Self::Buckets(ring) => (ring.capacity() - ring.len()) * ring.bucket_size() as u32,
        }
    }

    /// What is free; `taken` elements are in meshes or wait.
    pub(crate) fn room(&self, taken: u32) -> Room {
        match self {
            Self::Ranges(space) => {
                let stats = space.stats();
                Room { largest: stats.largest_free, total: stats.free, wasted: 0 }
            }
            Self::Classes(space) => {
                let stats = space.stats();
                Room { largest: stats.largest_free, total: stats.free, wasted: stats.used - taken }
            }
            Self::Buckets(ring) => {
                let bucket = ring.bucket_size() as u32;
                let total = self.free_total();
                Room { largest: bucket.min(total), total, wasted: ring.len() * bucket - taken }
            }
        }
    }

    pub(crate) fn check(&self) -> Result<(), &'static str> {
        match self {
            Self::Ranges(space) => space.check(),
            Self::Classes(space) => space.check(),
            Self::Buckets(ring) => ring.check(),
        }
    }
}
