use core::alloc::{GlobalAlloc, Layout};
use core::ptr::NonNull;
#[cfg(feature = "pages")]
use core::slice;
use core::sync::atomic::{AtomicU64, Ordering};

use super::class::{Class, NO_CLASS, size_bytes};
use crate::small_objects::plan::{ClassPlan, Plan};
use crate::small_objects::section::ClassTable;
use crate::{Error, SmallObjectsConfig};

/// Maximum number of classes, plus one without slots for requests that no class serves.
pub(super) const MAX_CLASSES: usize = SmallObjectsConfig::MAX_CLASSES + 1;
/// Alignment that the system guarantees by default. With a stricter one, its zeroed memory would be
/// written to and become resident.
const MEMORY_ALIGN: usize = 16;
/// Maximum size of a section: caches of threads store offsets in 32 bits.
const MAX_SECTION_BYTES: usize = u32::MAX as usize;

/// Area of small objects with its metadata. Created once and never released, so that all threads
/// may keep pointers to it.
#[repr(C)]
pub(super) struct Area {
    table: ClassTable,
    /// Start of the sections, and number of bytes to the end of the last one.
    start: NonNull<u8>,
    size_bytes: usize,
    /// Number of requests that no class serves.
    too_large: AtomicU64,
    classes: [Class; MAX_CLASSES],
}

// SAFETY: the pointers refer to memory that is never released. Its metadata is atomic, and a slot
// is accessed only by the thread that owns it.
unsafe impl Sync for Area {}
// SAFETY: nothing in it is thread-specific.
unsafe impl Send for Area {}

impl Area {
    /// Creates an area with the slots of the config, in memory of `system`.
    ///
    /// # Errors
    /// `InvalidSize` if the config is invalid or a class is larger than 4 GiB, `Full` if there is
    /// no memory.
    pub(super) fn new(
        system: &impl GlobalAlloc,
        config: &SmallObjectsConfig<'_>,
    ) -> Result<NonNull<Self>, Error> {
        let plan = Plan::exact(config)?;
        let is_too_large = |class: &ClassPlan| size_bytes(&class.section) > MAX_SECTION_BYTES;
        if plan.classes().iter().any(is_too_large) {
            return Err(Error::InvalidSize);
        }
        let layout = Layout::from_size_align(plan.region_bytes(), MEMORY_ALIGN);
        let layout = layout.map_err(|_| Error::InvalidSize)?;
        let header = Layout::new::<Self>();
        // SAFETY: the size of an area is not zero.
        let area =
            NonNull::new(unsafe { system.alloc(header) }).ok_or(Error::full(header.size()))?;
        // SAFETY: a plan has at least headers, so its size is not zero.
        let Some(memory) = NonNull::new(unsafe { system.alloc_zeroed(layout) }) else {
            // SAFETY: it was allocated above, and nothing else refers to it.
            unsafe { system.dealloc(area.as_ptr(), header) };
            return Err(Error::full(layout.size()));
        };
        let area = area.cast::<Self>();
        // SAFETY: the memory is zeroed, large enough for the plan at any start address, and never
        // freed; the header is ours to write.
        unsafe { area.write(Self::in_memory(memory, &plan)) };
        Ok(area)
    }

    /// Creates an area whose classes have address space for `max_class_bytes` of slots, and at least
    /// for those of the config. If the system does not have four times as much, less, so that most is
    /// left to the rest of the program; at last, the area is that of [`new`](Self::new).
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    #[cfg(feature = "pages")]
    pub(super) fn growing(
        system: &impl GlobalAlloc,
        config: &SmallObjectsConfig<'_>,
        max_class_bytes: usize,
    ) -> Result<NonNull<Self>, Error> {
        let mut section_bytes = max_class_bytes.min(MAX_SECTION_BYTES);
        while section_bytes > 0 {
            if let Some(plan) = Plan::with_sections(config, section_bytes)? {
                if plan.classes().iter().any(|class| size_bytes(&class.section) > MAX_SECTION_BYTES)
                {
                    break;
                }
                if let Some(area) = Self::in_pages(&plan) {
                    return Ok(area);
                }
            }
            section_bytes /= 2;
        }
        Self::new(system, config)
    }

    /// Creates the area of a plan in pages. `None` if the system does not have four times as much
    /// address space.
    #[cfg(feature = "pages")]
    fn in_pages(plan: &Plan) -> Option<NonNull<Self>> {
        let header = Layout::new::<Self>();
        let touched = Layout::array::<AtomicU64>(plan.summary_count()).ok()?;
        let head_bytes = header.size().checked_add(touched.size())?;
        let bytes = head_bytes.checked_add(plan.region_bytes())?;
        let memory = super::pages::reserve(bytes, bytes.checked_mul(3)?)?;
        let area = memory.cast::<Self>();
        // SAFETY: the memory has zeros, first for the header, whose alignment is less than a page's and
        // whose size is a multiple of a word's, then for the touched words and the plan. It is never
        // released.
        unsafe {
            let words = memory.add(header.size()).cast::<AtomicU64>();
            let words = slice::from_raw_parts(words.as_ptr(), plan.summary_count());
            let mut it = Self::in_memory(memory.add(head_bytes), plan);
            it.set_touched(plan, words);
            area.write(it);
        }
        Some(area)
    }

    /// Divides words between the classes, one bit for each of their words of slots.
    #[cfg(feature = "pages")]
    fn set_touched(&mut self, plan: &Plan, mut words: &'static [AtomicU64]) {
        for (class, plan) in self.classes.iter_mut().zip(plan.classes()) {
            let (own, rest) = words.split_at(plan.summary_count());
            class.set_touched(own);
            words = rest;
        }
    }

    /// # Safety
    /// - `memory` has `plan.region_bytes()` zeroed bytes, which nothing else uses for the rest of
    ///   the program.
    unsafe fn in_memory(memory: NonNull<u8>, plan: &Plan) -> Self {
        let address = memory.addr().get();
        let skipped = address.next_multiple_of(plan.align()) - address;
        // SAFETY: the plan's bytes fit at any start address.
        let base = unsafe { memory.add(skipped) };
        let classes = core::array::from_fn(|index| {
            let class = plan.classes().get(index).copied().unwrap_or(NO_CLASS);
            // SAFETY: the plan's offsets are in the memory, and no two classes share words.
            unsafe { Class::new(base, &class) }
        });
        let sections = plan.classes().iter().map(|class| &class.section);
        let first = sections.clone().map(|section| section.start).min().unwrap_or(0);
        let end = sections.map(|section| section.start + size_bytes(section)).max().unwrap_or(0);
        Self {
            table: plan.table(),
            // SAFETY: the plan's offsets are in the memory.
            start: unsafe { base.add(first) },
            size_bytes: end - first,
            too_large: AtomicU64::new(0),
            classes,
        }
    }

    /// Returns the index of the class for a layout. It is at most that of the class without slots,
    /// which is below [`MAX_CLASSES`].
    #[inline(always)]
    pub(super) fn class_for(&self, layout: Layout) -> usize {
        self.table.class_for(layout)
    }

    #[inline]
    pub(super) fn class(&self, number: usize) -> &Class {
        &self.classes[number]
    }

    /// Whether a pointer points into a section.
    pub(super) fn contains(&self, pointer: *mut u8) -> bool {
        pointer.addr().wrapping_sub(self.start.addr().get()) < self.size_bytes
    }

    pub(super) fn add_too_large(&self, count: u64) {
        self.too_large.fetch_add(count, Ordering::Relaxed);
    }

    pub(super) fn too_large(&self) -> u64 {
        self.too_large.load(Ordering::Relaxed)
    }

    /// Returns the classes without the last one, which has no slots.
    pub(super) fn classes(&self) -> &[Class] {
        &self.classes[..self.table.class_count()]
    }
}
