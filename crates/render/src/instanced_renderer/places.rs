use drystone_alloc::{AddressSpace, BucketHandle, BucketRing, Error, Policy};

/// Which place of the buffer a new cube takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SlotPolicy {
    /// The lowest that is free: keeps what has to be drawn short.
    #[default]
    Lowest,
    /// One near the last that was handed out: neighbours in time are neighbours in place.
    LastLeaf,
    /// The one that was freed longest ago: each place rests as long as possible, and every
    /// place that was ever used is drawn for good.
    Oldest,
}

impl SlotPolicy {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Lowest, Self::LastLeaf, Self::Oldest];

    /// The renderer's name on the command line, with this policy.
    pub const fn renderer_name(self) -> &'static str {
        match self {
            Self::Lowest => "instanced",
            Self::LastLeaf => "instanced-last-leaf",
            Self::Oldest => "instanced-oldest",
        }
    }
}

/// Places that are handed out one by one.
#[derive(Debug)]
pub(super) enum Places {
    Space(AddressSpace),
    Ring(BucketRing),
}

impl Places {
    pub(super) const fn new(policy: SlotPolicy) -> Self {
        match policy {
            SlotPolicy::Lowest => Self::Space(AddressSpace::new(Policy::Lowest)),
            SlotPolicy::LastLeaf => Self::Space(AddressSpace::new(Policy::LastLeaf)),
            SlotPolicy::Oldest => Self::Ring(BucketRing::new(0, 1)),
        }
    }

    #[inline]
    pub(super) fn allocate(&mut self) -> Result<u32, Error> {
        match self {
            Self::Space(space) => space.allocate(),
            Self::Ring(ring) => {
                // Writes are staged: a place may be written as soon as it is freed.
                let place = ring.allocate(u64::MAX).or_else(|_| {
                    // Never used ones come first: there must be none while one is free.
                    ring.grow(1)?;
                    ring.allocate(u64::MAX)
                })?;
                Ok(place.index())
            }
        }
    }

    /// Takes a place back whose user was the `generation`th to come or go there.
    #[inline]
    pub(super) fn free(&mut self, place: u32, generation: u32) -> Result<(), Error> {
        match self {
            Self::Space(space) => space.free(place),
            Self::Ring(ring) => {
                let bits = u64::from(generation) << u32::BITS | u64::from(place);
                ring.free(BucketHandle::from_bits(bits).ok_or(Error::Stale)?, 0)
            }
        }
    }

    pub(super) const fn len(&self) -> u32 {
        match self {
            Self::Space(space) => space.len(),
            Self::Ring(ring) => ring.len(),
        }
    }

    /// One past the highest place in use, as far as it is known: of a ring, of those ever
    /// used, of which there are `used`.
    pub(super) const fn high_water(&self, used: u32) -> u32 {
        match self {
            Self::Space(space) => space.high_water(),
            Self::Ring(_) => used,
        }
    }

    pub(super) fn check(&self) -> Result<(), &'static str> {
        match self {
            Self::Space(space) => space.check(),
            Self::Ring(ring) => ring.check(),
        }
    }
}
