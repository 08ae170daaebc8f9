use super::class::Class;

/// Statistics of a class of a [`SmallObjects`](super::SmallObjects).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClassStats {
    /// Size of a slot, in bytes.
    pub slot_bytes: usize,
    /// Number of slots, free and used.
    pub slots: usize,
    /// Number of slots in use.
    pub live: usize,
    /// Largest number of slots that were in use or cached at once: the size that the class needs.
    /// At most 24 more than were in use.
    pub peak: usize,
    /// Number of requests that found the class full.
    pub fallbacks: u64,
}

impl ClassStats {
    pub(super) fn of(class: &Class) -> Self {
        Self {
            slot_bytes: class.slot_bytes(),
            slots: class.slots(),
            live: class.live(),
            peak: class.peak(),
            fallbacks: class.fallbacks(),
        }
    }

    /// Size of the slots in use, in bytes.
    pub fn live_bytes(&self) -> usize {
        self.live * self.slot_bytes
    }

    /// Size of all slots, in bytes.
    pub fn capacity_bytes(&self) -> usize {
        self.slots * self.slot_bytes
    }
}

/// Statistics of all classes of a [`SmallObjects`](super::SmallObjects) together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SmallObjectsStats {
    /// Size of the region in bytes, including metadata and the unused rest.
    pub region_bytes: usize,
    /// Size of all slots, in bytes.
    pub capacity_bytes: usize,
    /// Number of objects in slots.
    pub live: usize,
    /// Size of the slots in use, in bytes.
    pub live_bytes: usize,
    /// Number of requests that found their class full.
    pub fallbacks: u64,
    /// Number of requests that were too large or too strictly aligned for all classes.
    pub too_large: u64,
    /// Number of live objects in the fallback.
    pub fallback_live: usize,
    /// Number of double frees that were detected later, not by the free itself.
    pub double_frees: u64,
}

impl SmallObjectsStats {
    pub(super) fn add(&mut self, class: &ClassStats) {
        self.capacity_bytes += class.capacity_bytes();
        self.live += class.live;
        self.live_bytes += class.live_bytes();
        self.fallbacks += class.fallbacks;
    }
}
