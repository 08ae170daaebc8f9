use core::cell::Cell;
use core::ptr::NonNull;

use super::plan::{ClassPlan, Plan, WORD_BITS};
use super::section::slot_at;
use crate::debug_aids::{fill_freed, fill_new};

/// Maximum number of cached slots of a class. More would make searches rarer, but the headers of
/// all classes should fit into the L1 cache.
const MAX_CACHED: usize = 48;
/// Number of slots that refill an empty stack, and that a full one returns: half of its capacity,
/// so that neither happens again soon.
const BATCH: usize = MAX_CACHED / 2;

/// Class of slots of one size, with its metadata.
///
/// ```text
///  cached     [ 31 | 30 | … | 903 | 12 |   …    cached slots, a stack
///                 ▲ lowest first        ▼ half of them, the oldest
///  leaves     00…0  00…0  0010…  …              bit = slot is free and not cached
///  summary    0 0 1 0 1 …                       bit = leaf has a free slot
///  lowest     leaf 2                            first leaf with a free slot
/// ```
/// Slots are taken from the stack and freed to it without access to the bits. An empty stack takes
/// a batch of the lowest free slots, a full one returns a batch. In the bits, a cached slot counts
/// as taken, so no slot is allocated twice. If every free is checked, the stack is not used: it only
/// passes on the slot of an allocation.
///
/// No leaf below the lowest one has a free slot, and the summary bits of these leaves are clear.
/// The bit of the lowest leaf, and of earlier lowest leaves, may still be set although the leaf is
/// full.
#[repr(C, align(64))]
pub(super) struct Class {
    /// First slot. Pointers to slots are derived from it.
    start: NonNull<u8>,
    inverse: usize,
    shift: u32,
    slots: u32,
    cached_len: Cell<u32>,
    slot_bytes: u32,
    leaves: NonNull<Cell<u64>>,
    summary: NonNull<Cell<u64>>,
    lowest_leaf: Cell<u32>,
    /// Maximum number of cached slots: `MAX_CACHED`, or 0 if every free is checked.
    max_cached: Cell<u32>,
    /// Number of slots whose bit marks them as taken: in use or cached.
    taken: Cell<u32>,
    /// Maximum of `taken`.
    peak: Cell<u32>,
    /// The stack, from index 1 on. Index 0 is never an object, so that there is always a top.
    cached: [Cell<NonNull<u8>>; MAX_CACHED + 1],
    leaf_count: u32,
    /// Number of requests that found the class full.
    fallbacks: Cell<u64>,
    /// Number of double frees that were detected when the stack was flushed.
    double_frees: Cell<u64>,
}

const _: () = assert!(size_of::<Class>() <= Plan::HEADER_BYTES);

impl Class {
    /// Creates a class with all slots free, in an area that begins at `base`.
    ///
    /// # Safety
    /// - The bytes from `base` to the end of the plan are the caller's to write.
    /// - Nothing else writes them as long as the class is used.
    pub(super) unsafe fn new(base: NonNull<u8>, plan: &ClassPlan) -> Self {
        let section = &plan.section;
        // SAFETY: the plan's offsets are in the area.
        let [start, leaves, summary] =
            [section.start, plan.bits, plan.summary].map(|offset| unsafe { base.add(offset) });
        let class = Self {
            start,
            inverse: section.inverse,
            shift: section.shift,
            slots: section.slots as u32,
            cached_len: Cell::new(0),
            slot_bytes: section.slot_bytes as u32,
            leaves: leaves.cast(),
            summary: summary.cast(),
            lowest_leaf: Cell::new(0),
            max_cached: Cell::new(MAX_CACHED as u32),
            taken: Cell::new(0),
            peak: Cell::new(0),
            cached: [const { Cell::new(NonNull::dangling()) }; MAX_CACHED + 1],
            leaf_count: plan.leaf_count() as u32,
            fallbacks: Cell::new(0),
            double_frees: Cell::new(0),
        };
        for leaf in 0..plan.leaf_count() {
            // SAFETY: the plan has space for this number of leaves, and they are ours to write.
            unsafe { class.leaves.add(leaf).write(Cell::new(0)) };
        }
        for word in 0..plan.summary_count() {
            // SAFETY: as for the leaves.
            unsafe { class.summary.add(word).write(Cell::new(0)) };
        }
        class.free_all();
        class
    }

    /// Marks every slot as free.
    pub(super) fn free_all(&self) {
        let free_in = |bits: usize| match bits {
            0 => 0,
            WORD_BITS.. => u64::MAX,
            _ => (1 << bits) - 1,
        };
        let used_leaves = (self.slots as usize).div_ceil(WORD_BITS);
        for leaf in 0..self.leaf_count() {
            let slots = (self.slots as usize).saturating_sub(leaf * WORD_BITS);
            self.leaf(leaf).set(free_in(slots));
        }
        for word in 0..self.summary_count() {
            self.summary(word).set(free_in(used_leaves.saturating_sub(word * WORD_BITS)));
        }
        self.cached_len.set(0);
        self.taken.set(0);
        self.lowest_leaf.set(0);
    }

    /// Takes the slot that was freed last, or the lowest one. `None` if the class is full.
    #[inline(always)]
    pub(super) fn take(&self) -> Option<NonNull<u8>> {
        let mut len = self.cached_len.get();
        if len == 0 {
            len = self.refill()?;
        }
        self.cached_len.set(len - 1);
        let object = self.cached(len).get();
        // SAFETY: the slot was free.
        unsafe { fill_new(object, self.slot_bytes()) };
        Some(object)
    }

    /// Fills the empty stack with a batch of the lowest free slots, the lowest on top. Returns
    /// their number, or `None` if there are none.
    #[inline(never)]
    fn refill(&self) -> Option<u32> {
        // Local copies: otherwise the compiler has to reload them after each write to the stack.
        let batch = if self.max_cached.get() == 0 { 1 } else { BATCH };
        let (slot_bytes, mut space) = (self.slot_bytes(), batch);
        while space > 0 {
            let Some(leaf) = self.lowest_open_leaf() else { break };
            let mut free = self.leaf(leaf).get();
            let first = self.slot(leaf * WORD_BITS);
            while free != 0 && space > 0 {
                let bit = free.trailing_zeros() as usize;
                free &= free - 1;
                // SAFETY: the bit is that of a slot, which is in the area.
                self.cached[space].set(unsafe { first.add(bit * slot_bytes) });
                space -= 1;
            }
            self.leaf(leaf).set(free);
        }
        let count = batch - space;
        if space > 0 {
            (1..=count).for_each(|at| self.cached[at].set(self.cached[space + at].get()));
        }
        self.taken.set(self.taken.get() + count as u32);
        self.peak.set(self.peak.get().max(self.taken.get()));
        (count > 0).then_some(count as u32)
    }

    /// Returns the lowest leaf with a free slot.
    fn lowest_open_leaf(&self) -> Option<usize> {
        let lowest = self.lowest_leaf.get() as usize;
        if self.leaf(lowest).get() != 0 { Some(lowest) } else { self.next_open_leaf() }
    }

    /// Returns the next leaf with a free slot after the lowest one, which is full.
    fn next_open_leaf(&self) -> Option<usize> {
        let mut word = self.lowest_leaf.get() as usize / WORD_BITS;
        while word < self.summary_count() {
            let open = self.summary(word).get();
            let leaf = word * WORD_BITS + open.trailing_zeros() as usize;
            if open == 0 {
                word += 1;
            } else if self.leaf(leaf).get() == 0 {
                self.summary(word).set(open & (open - 1));
            } else {
                self.lowest_leaf.set(leaf as u32);
                return Some(leaf);
            }
        }
        // All leaves are full: the next search only reads the last one.
        self.lowest_leaf.set(self.leaf_count - 1);
        None
    }

    /// Returns the slot that starts at an address. If none does, returns a number not below
    /// `slots`.
    #[inline(always)]
    pub(super) fn slot_of(&self, object: NonNull<u8>) -> usize {
        let offset = object.addr().get().wrapping_sub(self.start.addr().get());
        slot_at(offset, self.inverse, self.shift)
    }

    /// Whether a number is a slot of this class.
    #[inline(always)]
    pub(super) fn has_slot(&self, slot: usize) -> bool {
        slot < self.slots as usize
    }

    /// Whether a number is a slot that is in use or cached.
    fn is_taken(&self, slot: usize) -> bool {
        let (leaf, mask) = split(slot);
        self.has_slot(slot) && self.leaf(leaf).get() & mask == 0
    }

    /// Frees an object that starts at a slot of this class. Returns `false` if a double free is
    /// detected: the object was the last to be freed; in debug builds, it is free; or the stack was
    /// full, and a double free was found while flushing it.
    #[inline(always)]
    pub(super) fn free(&self, object: NonNull<u8>) -> bool {
        if cfg!(debug_assertions) && !self.is_live(object) {
            return false;
        }
        // SAFETY: the object has a slot of this size, and nothing uses it any more.
        unsafe { fill_freed(object, self.slot_bytes()) };
        let len = self.cached_len.get();
        if self.cached(len).get() == object {
            return false;
        }
        if len == self.max_cached.get() {
            return self.free_to_full_stack(object);
        }
        self.push(len, object);
        true
    }

    /// Returns the object at a height of the stack.
    #[inline(always)]
    fn cached(&self, height: u32) -> &Cell<NonNull<u8>> {
        debug_assert!(height as usize <= MAX_CACHED);
        // SAFETY: no height is above `MAX_CACHED`.
        unsafe { self.cached.get_unchecked(height as usize) }
    }

    /// Pushes an object on the stack, which has height `len` and is not full.
    #[inline(always)]
    pub(super) fn push(&self, len: u32, object: NonNull<u8>) {
        self.cached(len + 1).set(object);
        self.cached_len.set(len + 1);
    }

    /// Frees an object if the stack is full, or if every free is checked.
    #[inline(never)]
    pub(super) fn free_to_full_stack(&self, object: NonNull<u8>) -> bool {
        if self.max_cached.get() == 0 {
            let slot = self.slot_of(object);
            let is_live = self.is_taken(slot);
            if is_live {
                self.free_in(slot / WORD_BITS, split(slot).1);
                self.taken.set(self.taken.get() - 1);
            }
            return is_live;
        }
        let is_valid = self.flush(BATCH);
        self.push(self.cached_len.get(), object);
        is_valid
    }

    /// Checks every free from now on: slots are not cached, so the bits tell which ones are in use.
    pub(super) fn check_frees(&self) {
        self.flush_all();
        self.max_cached.set(0);
    }

    /// Returns the oldest `count` slots of the stack to the bits. Returns `false` if one of them is
    /// already free.
    fn flush(&self, count: usize) -> bool {
        let left = self.cached_len.get() as usize - count;
        // Local copies: otherwise the compiler has to reload them after each write to the bits.
        let (start, inverse, shift) = (self.start.addr().get(), self.inverse, self.shift);
        // Slots of one leaf often follow each other: their bits are combined into one write.
        let (mut at, mut gathered, mut double_frees) = (self.lowest_leaf.get() as usize, 0, 0);
        for object in &self.cached[1..=count] {
            let offset = object.get().addr().get() - start;
            let (leaf, mask) = split(slot_at(offset, inverse, shift));
            if leaf != at {
                double_frees += self.free_in(at, gathered);
                (at, gathered) = (leaf, 0);
            }
            double_frees += u32::from(gathered & mask != 0);
            gathered |= mask;
        }
        double_frees += self.free_in(at, gathered);
        let bottom = self.cached[1..].as_ptr();
        // SAFETY: both are on the stack.
        unsafe { bottom.add(count).copy_to(bottom.cast_mut(), left) };
        self.cached_len.set(left as u32);
        self.taken.set(self.taken.get() - (count as u32 - double_frees));
        self.double_frees.set(self.double_frees.get() + u64::from(double_frees));
        double_frees == 0
    }

    /// Marks slots of a leaf as free. Returns the number of slots that already were.
    #[inline]
    fn free_in(&self, leaf: usize, slots: u64) -> u32 {
        let free = self.leaf(leaf).get();
        self.leaf(leaf).set(free | slots);
        if free == 0 {
            let (word, mask) = split(leaf);
            self.summary(word).set(self.summary(word).get() | mask);
        }
        self.lowest_leaf.set(self.lowest_leaf.get().min(leaf as u32));
        (free & slots).count_ones()
    }

    /// Returns all cached slots to the bits. Returns `false` if a double free is detected.
    pub(super) fn flush_all(&self) -> bool {
        self.flush(self.cached_len.get() as usize)
    }

    /// Whether an object may be live. In release builds, a cached slot counts as live. If every free
    /// is checked, no slot is cached.
    #[inline]
    pub(super) fn is_live(&self, object: NonNull<u8>) -> bool {
        let is_cached = || self.cached_slots().iter().any(|it| it.get() == object);
        let is_free = cfg!(debug_assertions) && is_cached();
        self.is_taken(self.slot_of(object)) && !is_free
    }

    /// Returns the objects on the stack.
    fn cached_slots(&self) -> &[Cell<NonNull<u8>>] {
        &self.cached[1..=self.cached_len.get() as usize]
    }

    #[inline(always)]
    fn slot(&self, slot: usize) -> NonNull<u8> {
        debug_assert!(self.has_slot(slot));
        // SAFETY: the slot is one of the section, which is in the area.
        unsafe { self.start.add(slot * self.slot_bytes as usize) }
    }

    #[inline(always)]
    fn leaf(&self, leaf: usize) -> &Cell<u64> {
        debug_assert!(leaf < self.leaf_count());
        // SAFETY: a leaf is accessed by its index or by one of its slots, and the plan has leaves
        // for all slots; `new` wrote them all, and they live as long as the class.
        unsafe { self.leaves.add(leaf).as_ref() }
    }

    #[inline(always)]
    fn summary(&self, word: usize) -> &Cell<u64> {
        debug_assert!(word < self.summary_count());
        // SAFETY: as in `leaf`; there is a word for every 64 leaves.
        unsafe { self.summary.add(word).as_ref() }
    }

    fn leaf_count(&self) -> usize {
        self.leaf_count as usize
    }

    fn summary_count(&self) -> usize {
        self.leaf_count().div_ceil(WORD_BITS)
    }
}

/// Statistics and checks, not performance-critical.
impl Class {
    pub(super) fn slot_bytes(&self) -> usize {
        self.slot_bytes as usize
    }

    pub(super) fn slots(&self) -> usize {
        self.slots as usize
    }

    /// Number of slots in use. Saturates, because `taken` may be below `cached_len` after double
    /// frees.
    pub(super) fn live(&self) -> usize {
        self.taken.get().saturating_sub(self.cached_len.get()) as usize
    }

    #[cfg(all(test, feature = "alloc"))]
    pub(super) fn cached_len(&self) -> u32 {
        self.cached_len.get()
    }

    pub(super) fn double_frees(&self) -> u64 {
        self.double_frees.get()
    }

    pub(super) fn peak(&self) -> usize {
        self.peak.get() as usize
    }

    pub(super) fn fallbacks(&self) -> u64 {
        self.fallbacks.get()
    }

    pub(super) fn count_fallback(&self) {
        self.fallbacks.set(self.fallbacks.get() + 1);
    }

    /// Whether an address is in a slot, at its start or inside.
    pub(super) fn spans(&self, address: usize) -> bool {
        let offset = address.wrapping_sub(self.start.addr().get());
        offset < self.slots() * self.slot_bytes()
    }

    /// Verifies all invariants.
    ///
    /// # Errors
    /// The invariant that is violated.
    pub(super) fn validate(&self) -> Result<(), &'static str> {
        let mut free = 0;
        for slot in 0..self.leaf_count() * WORD_BITS {
            let (leaf, mask) = split(slot);
            if self.leaf(leaf).get() & mask == 0 {
                continue;
            }
            free += 1;
            if slot >= self.slots() {
                return Err("a free slot does not exist");
            } else if self.summary(leaf / WORD_BITS).get() & split(leaf).1 == 0 {
                return Err("a leaf with a free slot is not in the summary");
            } else if leaf < self.lowest_leaf.get() as usize {
                return Err("a free slot is below the lowest leaf");
            }
        }
        if free + self.taken.get() as usize != self.slots() {
            return Err("the number of taken slots is wrong");
        }
        let cached = self.cached_slots();
        for (at, object) in cached.iter().enumerate() {
            if !self.is_taken(self.slot_of(object.get())) {
                return Err("a cached slot is free");
            } else if cached[..at].contains(object) {
                return Err("a slot is cached twice");
            }
        }
        if self.taken.get() > self.peak.get() {
            Err("more slots are in use than at the peak")
        } else {
            Ok(())
        }
    }
}

/// Returns the word of a bit, and the bit's mask.
#[inline(always)]
const fn split(bit: usize) -> (usize, u64) {
    (bit / WORD_BITS, 1 << (bit % WORD_BITS))
}
