use drystone_alloc::{AddressSpace, BucketHandle, BucketRing, Error, IndexPolicy};

/// Strategy that selects the slot of a new cube.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
pub enum SlotPolicy {
    /// The lowest free slot: keeps the range of drawn slots short.
    #[default]
    Lowest,
    /// A slot near the last one: cubes inserted together are close together in the buffer.
    LastLeaf,
    /// The slot that was freed longest ago: each slot stays free as long as possible. Every slot
    /// that was ever used is drawn forever.
    Oldest,
}

impl SlotPolicy {
    /// All policies.
    pub const ALL: [Self; 3] = [Self::Lowest, Self::LastLeaf, Self::Oldest];

    /// Name of the renderer with this policy, as in options and settings.
    pub const fn renderer_name(self) -> &'static str {
        match self {
            Self::Lowest => "instanced",
            Self::LastLeaf => "instanced-last-leaf",
            Self::Oldest => "instanced-oldest",
        }
    }
}

/// Allocator of single slots.
#[derive(Debug)]
pub(super) enum SlotAllocator {
    Space(AddressSpace),
    Ring(BucketRing),
}

impl SlotAllocator {
    pub(super) const fn new(policy: SlotPolicy) -> Self {
        match policy {
            SlotPolicy::Lowest => Self::Space(AddressSpace::new(IndexPolicy::Lowest)),
            SlotPolicy::LastLeaf => Self::Space(AddressSpace::new(IndexPolicy::LastLeaf)),
            SlotPolicy::Oldest => Self::Ring(BucketRing::new(0, 1)),
        }
    }

    #[inline]
    pub(super) fn allocate(&mut self) -> Result<u32, Error> {
        match self {
            Self::Space(space) => space.allocate(),
            Self::Ring(ring) => {
                // Writes are staged, so a slot can be written as soon as it is freed.
                let slot = ring.allocate(u64::MAX).or_else(|_| {
                    // Never used slots come first, so grow only when no slot is free.
                    ring.grow(1)?;
                    ring.allocate(u64::MAX)
                })?;
                Ok(slot.index())
            }
        }
    }

    /// Frees a slot. `generation` is the slot's generation after the removal.
    #[inline]
    pub(super) fn free(&mut self, slot: u32, generation: u32) -> Result<(), Error> {
        match self {
            Self::Space(space) => space.free(slot),
            Self::Ring(ring) => {
                let bits = u64::from(generation) << u32::BITS | u64::from(slot);
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

    /// One past the highest slot in use, or an upper bound: a ring counts all slots that were ever
    /// used, which are `used`.
    pub(super) const fn high_water(&self, used: u32) -> u32 {
        match self {
            Self::Space(space) => space.high_water(),
            Self::Ring(_) => used,
        }
    }

    pub(super) fn validate(&self) -> Result<(), &'static str> {
        match self {
            Self::Space(space) => space.validate(),
            Self::Ring(ring) => ring.validate(),
        }
    }
}
