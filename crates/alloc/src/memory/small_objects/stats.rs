use super::class::Class;

/// Numbers of one class of a [`SmallObjects`](super::SmallObjects).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassStats {
    /// Size of a slot.
    pub slot_bytes: usize,
    /// Slots, free or not.
    pub slots: usize,
    /// Slots in use.
    pub live: usize,
    /// Most slots that were in use or at hand at the same time: what the class needs, up to
    /// 24 more than were in use.
    pub peak: usize,
    /// Allocations for which the class was full.
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

    /// Bytes of the slots in use.
    pub fn live_bytes(&self) -> usize {
        self.live * self.slot_bytes
    }

    /// Bytes of all slots.
    pub fn capacity_bytes(&self) -> usize {
        self.slots * self.slot_bytes
    }
}

/// Numbers of all classes of a [`SmallObjects`](super::SmallObjects) together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SmallObjectsStats {
    /// Size of the region: slots, metadata and what is left over.
    pub region_bytes: usize,
    /// Bytes of all slots.
    pub capacity_bytes: usize,
    /// Objects in slots.
    pub live: usize,
    /// Bytes of the slots in use.
    pub live_bytes: usize,
    /// Allocations for which their class was full.
    pub fallbacks: u64,
    /// Allocations that were too large or too strictly aligned for any class.
    pub too_large: u64,
    /// Objects that the fallback holds.
    pub fallback_live: usize,
    /// Frees of objects that had been freed before, as far as they were not refused at once.
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
