use super::plan::Plan;
use crate::Error;

/// The slots of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotClass {
    /// Size of a slot in bytes, 1 to [`SmallObjectsConfig::MAX_SLOT_BYTES`]; rounded up to a
    /// multiple of [`SmallObjectsConfig::GRANULE_BYTES`].
    pub slot_bytes: usize,
    /// How many slots. The proportion between the classes counts: a region larger than
    /// [`region_bytes`](SmallObjectsConfig::region_bytes) holds more of each, a smaller one
    /// fewer.
    pub slots: usize,
}

impl SlotClass {
    /// So many slots of that size.
    pub const fn new(slot_bytes: usize, slots: usize) -> Self {
        Self { slot_bytes, slots }
    }
}

/// Which sizes a [`SmallObjects`](super::SmallObjects) has slots for, and how many.
///
/// # Examples
/// ```
/// use drystone_alloc::memory::{SlotClass, SmallObjectsConfig};
///
/// let classes = [SlotClass::new(24, 1000), SlotClass::new(40, 5000)];
/// let config = SmallObjectsConfig { classes: &classes };
/// // The slots, two bits each at most, and half a kilobyte of metadata a class.
/// assert!((224_000..227_000).contains(&config.region_bytes()?));
/// # Ok::<(), drystone_alloc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallObjectsConfig<'c> {
    /// The classes in any order, at most [`MAX_CLASSES`](Self::MAX_CLASSES); of two with the
    /// same size the slots add up. The default is that of a game that parses its levels
    /// from XML: 8 to 128 bytes in seven steps, most slots at 48 bytes, 2 MB in all.
    pub classes: &'c [SlotClass],
}

impl SmallObjectsConfig<'_> {
    /// Most classes there can be: as many headers as a first-level cache holds beside the
    /// program's own data.
    pub const MAX_CLASSES: usize = 32;
    /// Sizes of slots are multiples of this many bytes, and every slot is aligned to it.
    pub const GRANULE_BYTES: usize = 8;
    /// The largest slot. What is larger is not small: a heap's own bytes do not matter there.
    pub const MAX_SLOT_BYTES: usize = 1024;

    /// Bytes of a region, wherever it starts, in which each class has just the slots asked
    /// for.
    ///
    /// # Errors
    /// `InvalidSize` if a slot's size is zero or too large, if there are too many classes,
    /// or if the sum is larger than any memory.
    pub fn region_bytes(&self) -> Result<usize, Error> {
        Plan::exact(self).map(|plan| plan.region_bytes())
    }
}

const DEFAULT_CLASSES: [SlotClass; 7] = [
    SlotClass::new(8, 8192),
    SlotClass::new(16, 16_384),
    SlotClass::new(32, 12_800),
    SlotClass::new(48, 12_800),
    SlotClass::new(64, 4096),
    SlotClass::new(96, 2048),
    SlotClass::new(128, 2048),
];

impl Default for SmallObjectsConfig<'static> {
    fn default() -> Self {
        Self { classes: &DEFAULT_CLASSES }
    }
}
