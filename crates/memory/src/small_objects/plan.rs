use super::section::{ClassTable, Section};
use super::{SlotClass, SmallObjectsConfig};
use crate::Error;

const MAX_CLASSES: usize = SmallObjectsConfig::MAX_CLASSES;
/// Bits in a word of the metadata.
pub(crate) const WORD_BITS: usize = u64::BITS as usize;
const WORD_BYTES: usize = size_of::<u64>();
/// Sections start on cache lines, so that small slots rarely cross two lines.
const LINE_BYTES: usize = 64;
/// Largest size of a page on the supported systems.
#[cfg(feature = "pages")]
pub(crate) const PAGE_BYTES: usize = 64 << 10;
/// Maximum number of slots of a class: the metadata stores 32-bit indices.
const MAX_SLOTS: usize = u32::MAX as usize;
/// Fraction bits of a scale.
const SCALE_BITS: u32 = 40;

/// Layout of an area of small objects: pure arithmetic, shared by both allocators.
///
/// ```text
///  base                                                                  base + end
///  | header 0 … header n | bits 0 | summary 0 | … | section 0 | section 1 | … |
/// ```
/// All offsets count from the base, which is aligned to [`align`](Self::align). There is one header
/// more than classes, for the class without slots. The bits of a class are at least one word, one
/// bit per slot. Its summary has one bit for each of these words, and at least one word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    classes: [ClassPlan; MAX_CLASSES + 1],
    class_count: usize,
    end: usize,
    align: usize,
}

/// Offsets of the parts of one class.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClassPlan {
    /// Slots of the class.
    pub(crate) section: Section,
    /// Offset of the words with a bit for each slot.
    pub(crate) bits: usize,
    /// Offset of the words with a bit for each word of `bits`.
    pub(crate) summary: usize,
}

impl ClassPlan {
    /// Number of words with a bit for each slot; at least one.
    pub(crate) const fn leaf_count(&self) -> usize {
        at_least_one(self.section.slots.div_ceil(WORD_BITS))
    }

    /// Number of words with a bit for each leaf.
    pub(crate) const fn summary_count(&self) -> usize {
        self.leaf_count().div_ceil(WORD_BITS)
    }
}

impl Plan {
    /// Size reserved for the header of a class, a multiple of a cache line. The allocators define
    /// its content.
    pub(crate) const HEADER_BYTES: usize = 8 * LINE_BYTES;

    /// Creates the plan with exactly the slots of the config.
    pub(crate) fn exact(config: &SmallObjectsConfig<'_>) -> Result<Self, Error> {
        Self::scaled(&Classes::new(config)?, 1 << SCALE_BITS).ok_or(Error::InvalidSize)
    }

    /// Creates the plan with sections of about `section_bytes`, which start with a page and have at
    /// least the slots of the config. Every word of the summary has bits of slots only. `None` if the
    /// sum exceeds the address space.
    #[cfg(feature = "pages")]
    pub(crate) fn with_sections(
        config: &SmallObjectsConfig<'_>,
        section_bytes: usize,
    ) -> Result<Option<Self>, Error> {
        let mut classes = Classes::new(config)?;
        for class in &mut classes.list[..classes.count] {
            let groups = section_bytes / class.slot_bytes / (WORD_BITS * WORD_BITS);
            let required = class.slots.div_ceil(WORD_BITS * WORD_BITS);
            let slots = groups.max(required).max(1).checked_mul(WORD_BITS * WORD_BITS);
            let Some(slots) = slots else { return Ok(None) };
            class.slots = slots;
        }
        Ok(Self::aligned(&classes, 1 << SCALE_BITS, PAGE_BYTES))
    }

    /// Creates the plan with the most slots that fit in a region, in the proportions of the config.
    pub(crate) fn fitting(
        config: &SmallObjectsConfig<'_>,
        region_bytes: usize,
    ) -> Result<Self, Error> {
        let classes = Classes::new(config)?;
        // A scale just above 1 may also fit, in the padding for alignment.
        let exact = Self::scaled(&classes, 1 << SCALE_BITS);
        if let Some(plan) = exact.filter(|plan| plan.region_bytes() == region_bytes) {
            return Ok(plan);
        }
        let fits = |scale| {
            Self::scaled(&classes, scale).filter(|plan| plan.region_bytes() <= region_bytes)
        };
        // Scale 0 has no slots; a plan of twice the bytes never fits.
        let bare = Self::scaled(&classes, 0).ok_or(Error::InvalidSize)?;
        let mut best = fits(0).ok_or_else(|| too_small(bare.region_bytes(), region_bytes))?;
        let slot_bytes = classes.slot_bytes().max(1);
        let (mut low, mut high) = (0, (region_bytes as u128 / slot_bytes + 2) << SCALE_BITS);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            match fits(middle) {
                Some(plan) => (best, low) = (plan, middle),
                None => high = middle,
            }
        }
        Ok(best)
    }

    /// Creates a plan with scaled numbers of slots. `None` if it exceeds the address space.
    fn scaled(classes: &Classes, scale: u128) -> Option<Self> {
        Self::aligned(classes, scale, LINE_BYTES)
    }

    /// Creates a plan with scaled numbers of slots, and sections with at least this alignment.
    fn aligned(classes: &Classes, scale: u128, section_align: usize) -> Option<Self> {
        let class_count = classes.count;
        let mut plan = Self {
            classes: [ClassPlan::default(); MAX_CLASSES + 1],
            class_count,
            end: 0,
            align: 0,
        };
        plan.end = Self::HEADER_BYTES * (class_count + 1);
        plan.align = LINE_BYTES;
        for (class, requested) in plan.classes.iter_mut().zip(&classes.list[..class_count]) {
            let slots = (requested.slots as u128 * scale) >> SCALE_BITS;
            let slots = slots.min(MAX_SLOTS as u128) as usize;
            class.section = Section::new(0, requested.slot_bytes, slots);
        }
        // The class without slots.
        plan.classes[class_count].section = Section::new(0, SmallObjectsConfig::GRANULE_BYTES, 0);
        for class in &mut plan.classes[..=class_count] {
            class.bits = plan.end;
            class.summary = class.bits + class.leaf_count() * WORD_BYTES;
            plan.end = class.summary + class.summary_count() * WORD_BYTES;
        }
        for class in &mut plan.classes[..=class_count] {
            let section = &mut class.section;
            let align = section.align().max(section_align);
            section.start = plan.end.checked_next_multiple_of(align)?;
            let size_bytes = section.slot_bytes.checked_mul(section.slots)?;
            plan.end = section.start.checked_add(size_bytes)?;
            plan.align = plan.align.max(align);
        }
        (plan.region_bytes() <= isize::MAX as usize).then_some(plan)
    }

    /// Returns the classes sorted by slot size, and the one without slots.
    pub(crate) fn classes(&self) -> &[ClassPlan] {
        &self.classes[..=self.class_count]
    }

    /// Number of words of all summaries.
    #[cfg(feature = "pages")]
    pub(crate) fn summary_count(&self) -> usize {
        self.classes().iter().map(ClassPlan::summary_count).sum()
    }

    /// Returns the table of the classes that serve each layout.
    pub(crate) fn table(&self) -> ClassTable {
        let mut sections = [Section::default(); MAX_CLASSES];
        for (section, class) in sections.iter_mut().zip(&self.classes[..self.class_count]) {
            *section = class.section;
        }
        ClassTable::new(&sections[..self.class_count])
    }

    /// Returns the alignment of the base.
    pub(crate) fn align(&self) -> usize {
        self.align
    }

    /// Returns the size that suffices at any start address of the region.
    pub(crate) fn region_bytes(&self) -> usize {
        self.end.saturating_add(self.align - 1)
    }
}

impl SmallObjectsConfig<'_> {
    /// Returns the size of a region, at any address, in which each class has exactly the requested
    /// number of slots.
    ///
    /// # Errors
    /// `InvalidSize` if a slot's size is zero or too large, if there are too many classes, or if
    /// the sum exceeds the address space.
    pub fn region_bytes(&self) -> Result<usize, Error> {
        Plan::exact(self).map(|plan| plan.region_bytes())
    }
}

/// Validated classes of a config: sizes are multiples of the granule, in ascending order.
struct Classes {
    list: [SlotClass; MAX_CLASSES],
    count: usize,
}

impl Classes {
    fn new(config: &SmallObjectsConfig<'_>) -> Result<Self, Error> {
        let mut classes = Self { list: [SlotClass::new(0, 0); MAX_CLASSES], count: 0 };
        for class in config.classes {
            if class.slot_bytes == 0 || class.slot_bytes > SmallObjectsConfig::MAX_SLOT_BYTES {
                return Err(Error::InvalidSize);
            }
            classes.insert(class).ok_or(Error::InvalidSize)?;
        }
        Ok(classes)
    }

    /// Adds a class. `None` if there are too many.
    fn insert(&mut self, class: &SlotClass) -> Option<()> {
        let slot_bytes = class.slot_bytes.next_multiple_of(SmallObjectsConfig::GRANULE_BYTES);
        let slots = class.slots.min(MAX_SLOTS);
        let sorted = &mut self.list[..self.count];
        match sorted.binary_search_by_key(&slot_bytes, |class| class.slot_bytes) {
            Ok(same) => sorted[same].slots = (sorted[same].slots + slots).min(MAX_SLOTS),
            Err(at) => {
                self.list.get_mut(self.count)?;
                self.list.copy_within(at..self.count, at + 1);
                self.list[at] = SlotClass::new(slot_bytes, slots);
                self.count += 1;
            }
        }
        Some(())
    }

    /// Size of all slots, in bytes.
    fn slot_bytes(&self) -> u128 {
        let bytes = |class: &SlotClass| class.slot_bytes as u128 * class.slots as u128;
        self.list[..self.count].iter().map(bytes).sum()
    }
}

const fn at_least_one(count: usize) -> usize {
    if count == 0 { 1 } else { count }
}

#[cold]
fn too_small(requested: usize, region_bytes: usize) -> Error {
    let region_bytes = region_bytes as u64;
    Error::Full {
        requested: requested as u64,
        largest_free: region_bytes,
        total_free: region_bytes,
    }
}
