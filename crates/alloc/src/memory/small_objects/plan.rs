use super::section::{ClassTable, Section};
use super::{SlotClass, SmallObjectsConfig};
use crate::Error;

const MAX_CLASSES: usize = SmallObjectsConfig::MAX_CLASSES;
/// Bits in a word of the metadata.
pub(crate) const WORD_BITS: usize = u64::BITS as usize;
const WORD_BYTES: usize = size_of::<u64>();
/// Sections start on cache lines, so that small slots seldom lie across two.
const LINE_BYTES: usize = 64;
/// The most slots of a class: their numbers are 32 bits in the metadata.
const MAX_SLOTS: usize = u32::MAX as usize;
/// Scales are multiples of one part in so many.
const SCALE_BITS: u32 = 40;

/// What lies where in an area of small objects: pure arithmetic, shared by all forms of it.
///
/// ```text
///  base                                                                  base + end
///  | header 0 … header n | bits 0 | summary 0 | … | section 0 | section 1 | … |
/// ```
/// All offsets count from the base, which is aligned to [`align`](Self::align). There is
/// one header more than classes, for the class of what no class serves, which has no slots.
/// The bits of a class are one word at least, one bit a slot; its summary has one bit for
/// each of these words, and one word at least.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    classes: [ClassPlan; MAX_CLASSES + 1],
    class_count: usize,
    end: usize,
    align: usize,
}

/// Where the parts of one class lie.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClassPlan {
    /// Where the slots lie.
    pub(crate) section: Section,
    /// Offset of the first word with a bit for each slot.
    pub(crate) bits: usize,
    /// Offset of the first word with a bit for each word of `bits`.
    pub(crate) summary: usize,
}

impl ClassPlan {
    /// Words with a bit for each slot; one at least.
    pub(crate) const fn leaf_count(&self) -> usize {
        at_least_one(self.section.slots.div_ceil(WORD_BITS))
    }

    /// Words with a bit for each leaf.
    pub(crate) const fn summary_count(&self) -> usize {
        self.leaf_count().div_ceil(WORD_BITS)
    }
}

impl Plan {
    /// Bytes set aside for the header of a class, a multiple of a cache line. What is in it
    /// is the business of who uses the plan.
    pub(crate) const HEADER_BYTES: usize = 8 * LINE_BYTES;

    /// The plan with just the slots of the config.
    pub(crate) fn exact(config: &SmallObjectsConfig<'_>) -> Result<Self, Error> {
        Self::scaled(&Classes::new(config)?, 1 << SCALE_BITS).ok_or(Error::InvalidSize)
    }

    /// The plan with as many slots as fit in a region, in the proportions of the config.
    pub(crate) fn fitting(
        config: &SmallObjectsConfig<'_>,
        region_bytes: usize,
    ) -> Result<Self, Error> {
        let classes = Classes::new(config)?;
        // A scale just above 1 may also fit, in what alignment leaves over.
        let exact = Self::scaled(&classes, 1 << SCALE_BITS);
        if let Some(plan) = exact.filter(|plan| plan.region_bytes() == region_bytes) {
            return Ok(plan);
        }
        let fits = |scale| {
            Self::scaled(&classes, scale).filter(|plan| plan.region_bytes() <= region_bytes)
        };
        // Without slots, if need be; a plan of twice the bytes never fits.
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

    /// `None` if it is larger than any memory.
    fn scaled(classes: &Classes, scale: u128) -> Option<Self> {
        let class_count = classes.count;
        let mut plan = Self {
            classes: [ClassPlan::default(); MAX_CLASSES + 1],
            class_count,
            end: 0,
            align: 0,
        };
        plan.end = Self::HEADER_BYTES * (class_count + 1);
        plan.align = LINE_BYTES;
        for (class, asked) in plan.classes.iter_mut().zip(&classes.list[..class_count]) {
            let slots = (asked.slots as u128 * scale) >> SCALE_BITS;
            let slots = slots.min(MAX_SLOTS as u128) as usize;
            class.section = Section::new(0, asked.slot_bytes, slots);
        }
        // The class of what no class serves.
        plan.classes[class_count].section = Section::new(0, SmallObjectsConfig::GRANULE_BYTES, 0);
        for class in &mut plan.classes[..=class_count] {
            class.bits = plan.end;
            class.summary = class.bits + class.leaf_count() * WORD_BYTES;
            plan.end = class.summary + class.summary_count() * WORD_BYTES;
        }
        for class in &mut plan.classes[..=class_count] {
            let section = &mut class.section;
            let align = section.align().max(LINE_BYTES);
            section.start = plan.end.checked_next_multiple_of(align)?;
            let size_bytes = section.slot_bytes.checked_mul(section.slots)?;
            plan.end = section.start.checked_add(size_bytes)?;
            plan.align = plan.align.max(align);
        }
        (plan.region_bytes() <= isize::MAX as usize).then_some(plan)
    }

    /// The classes by size of their slots, and the one without slots.
    pub(crate) fn classes(&self) -> &[ClassPlan] {
        &self.classes[..=self.class_count]
    }

    /// Which class serves which layout.
    pub(crate) fn table(&self) -> ClassTable {
        let mut sections = [Section::default(); MAX_CLASSES];
        for (section, class) in sections.iter_mut().zip(&self.classes[..self.class_count]) {
            *section = class.section;
        }
        ClassTable::new(&sections[..self.class_count])
    }

    /// What the base must be aligned to.
    pub(crate) fn align(&self) -> usize {
        self.align
    }

    /// Bytes that suffice wherever the region starts.
    pub(crate) fn region_bytes(&self) -> usize {
        self.end.saturating_add(self.align - 1)
    }
}

/// The classes of a config, checked: sizes are multiples of the granule and go up.
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

    /// `None` if there is no room for another class.
    fn insert(&mut self, class: &SlotClass) -> Option<()> {
        let slot_bytes = class.slot_bytes.next_multiple_of(SmallObjectsConfig::GRANULE_BYTES);
        let slots = class.slots.min(MAX_SLOTS);
        let sorted = &mut self.list[..self.count];
        match sorted.binary_search_by_key(&slot_bytes, |class| class.slot_bytes) {
            Ok(same) => sorted[same].slots = (sorted[same].slots + slots).min(MAX_SLOTS),
            Err(place) => {
                self.list.get_mut(self.count)?;
                self.list.copy_within(place..self.count, place + 1);
                self.list[place] = SlotClass::new(slot_bytes, slots);
                self.count += 1;
            }
        }
        Some(())
    }

    /// Bytes of all slots.
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
