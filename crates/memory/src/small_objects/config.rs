/// Slots of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotClass {
    /// Size of a slot in bytes, 1 to [`SmallObjectsConfig::MAX_SLOT_BYTES`]; rounded up to a
    /// multiple of [`SmallObjectsConfig::GRANULE_BYTES`].
    pub slot_bytes: usize,
    /// Number of slots. Only the proportion between the classes counts: a region larger than
    /// [`region_bytes`](SmallObjectsConfig::region_bytes) holds more slots of each class, a smaller
    /// one fewer.
    pub slots: usize,
}

impl SlotClass {
    /// Creates a class of `slots` slots of `slot_bytes` bytes.
    pub const fn new(slot_bytes: usize, slots: usize) -> Self {
        Self { slot_bytes, slots }
    }
}

/// Sizes and numbers of the slots of a [`SmallObjects`](super::SmallObjects).
///
/// # Examples
/// ```
/// use drystone_memory::{SlotClass, SmallObjectsConfig};
///
/// let classes = [SlotClass::new(24, 1000), SlotClass::new(40, 5000)];
/// let config = SmallObjectsConfig { classes: &classes };
/// // The slots, at most two bits of metadata each, and half a kilobyte per class.
/// assert!((224_000..227_000).contains(&config.region_bytes()?));
/// # Ok::<(), drystone_memory::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallObjectsConfig<'c> {
    /// The classes in any order, at most [`MAX_CLASSES`](Self::MAX_CLASSES). Slots of classes with
    /// the same size are added up.
    ///
    /// The default has the slot sizes of D. Gustafsson's *Small Object Allocator*, seven from 8 to 128
    /// bytes, and its 12,800 slots of 48 bytes, the most frequent size of the game in that article.
    /// They are the largest section, 30 % of 2 MB. The article does not state the other numbers of
    /// slots. A [`Recorder`](crate::Recorder) proposes the classes of another program, which can
    /// differ much.
    pub classes: &'c [SlotClass],
}

impl SmallObjectsConfig<'_> {
    /// Maximum number of classes. Their headers fit into the L1 cache together with the program's
    /// own data.
    pub const MAX_CLASSES: usize = 32;
    /// Granularity of slot sizes, and minimum alignment of slots, in bytes.
    pub const GRANULE_BYTES: usize = 8;
    /// Maximum size of a slot, in bytes. For larger objects, the overhead of a heap is negligible.
    pub const MAX_SLOT_BYTES: usize = 1024;
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

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn the_largest_section_of_the_default_is_that_of_48_bytes() {
        let classes = SmallObjectsConfig::default().classes;
        assert!(classes.iter().map(|class| class.slot_bytes).eq([8, 16, 32, 48, 64, 96, 128]));
        assert_eq!(classes[3], SlotClass::new(48, 12_800));
        let bytes: Vec<_> = classes.iter().map(|class| class.slot_bytes * class.slots).collect();
        assert_eq!(bytes.iter().max(), Some(&bytes[3]));
        let share = bytes[3] as f64 / bytes.iter().sum::<usize>() as f64;
        assert!((0.295..0.305).contains(&share), "{share}");
    }
}
