use core::cell::Cell;
use core::ptr::NonNull;

use super::plan::{ClassPlan, Plan, WORD_BITS};
use super::section::slot_at;

/// Slots that a class keeps at hand. More make searches rarer, and the headers of all classes
/// larger than the first-level cache likes.
const MAX_CACHED: usize = 48;
/// Slots that an empty stack is filled with, and that a full one gives back: half of what it
/// holds, so that neither happens again soon.
const BATCH: usize = MAX_CACHED / 2;
/// What freed slots are filled with in debug builds.
const POISON: u8 = 0xDD;

/// One class of slots, with its metadata.
///
/// ```text
///  cached     [ 31 | 30 | … | 903 | 12 |   …    slots at hand, a stack
///                 ▲ lowest first        ▼ half of them, those longest here
///  leaves     00…0  00…0  0010…  …              bit = slot is free and not at hand
///  summary    0 0 1 0 1 …                       bit = leaf has one
///  lowest     leaf 2                            the first with one
/// ```
/// Slots come from the stack and go back to it, and the bits are not touched. An empty stack
/// takes a batch of the lowest free slots, a full one gives a batch back. To the bits a slot
/// at hand is taken, so nothing is handed out twice.
///
/// No leaf below the lowest has a free slot, and their bits in the summary are clear. The
/// bit of the lowest leaf, and of any that was the lowest before, may still be set although
/// the leaf has run full.
#[repr(C, align(64))]
pub(super) struct Class {
    /// The first slot. Pointers to slots are made from this one.
    start: NonNull<u8>,
    inverse: usize,
    shift: u32,
    slots: u32,
    cached_len: Cell<u32>,
    slot_bytes: u32,
    leaves: NonNull<Cell<u64>>,
    summary: NonNull<Cell<u64>>,
    lowest_leaf: Cell<u32>,
    leaf_count: u32,
    /// Slots whose bit says that they are taken: in use or at hand.
    taken: Cell<u32>,
    /// The most that were ever taken.
    peak: Cell<u32>,
    /// The stack, from 1 on: at 0 is what is no object, so that there is always a top.
    cached: [Cell<NonNull<u8>>; MAX_CACHED + 1],
    /// Allocations that the fallback served.
    fallbacks: Cell<u64>,
    /// Objects that were found to be freed twice when the stack was emptied.
    double_frees: Cell<u64>,
}

const _: () = assert!(size_of::<Class>() <= Plan::HEADER_BYTES);

impl Class {
    /// A class with all slots free, in an area that begins at `base`.
    ///
    /// # Safety
    /// - The bytes from `base` to the end of the plan are the caller's to write.
    /// - They are written by nobody else as long as the class is used.
    pub(super) unsafe fn new(base: NonNull<u8>, plan: &ClassPlan) -> Self {
        let section = &plan.section;
        // SAFETY: the plan's offsets lie in the area.
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
            leaf_count: plan.leaf_count() as u32,
            taken: Cell::new(0),
            peak: Cell::new(0),
            cached: [const { Cell::new(NonNull::dangling()) }; MAX_CACHED + 1],
            fallbacks: Cell::new(0),
            double_frees: Cell::new(0),
        };
        for leaf in 0..plan.leaf_count() {
            // SAFETY: the plan has room for so many leaves, and they are ours to write.
            unsafe { class.leaves.add(leaf).write(Cell::new(0)) };
        }
        for word in 0..plan.summary_count() {
            // SAFETY: as for the leaves.
            unsafe { class.summary.add(word).write(Cell::new(0)) };
        }
        class.free_all();
        class
    }

    /// Makes every slot free.
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

    /// Takes the slot that was freed last, or the lowest. `None` when none is free.
    #[inline(always)]
    pub(super) fn take(&self) -> Option<NonNull<u8>> {
        let mut len = self.cached_len.get();
        if len == 0 {
            len = self.refill()?;
        }
        self.cached_len.set(len - 1);
        Some(self.cached(len).get())
    }

    /// Fills the empty stack with a batch of the lowest free slots, the very lowest on top.
    /// How many there were, if any.
    #[inline(never)]
    fn refill(&self) -> Option<u32> {
        // Copies: for all the compiler knows, writing to the stack could change them.
        let (slot_bytes, mut room) = (self.slot_bytes(), BATCH);
        while room > 0 {
            let Some(leaf) = self.lowest_open_leaf() else { break };
            let mut free = self.leaf(leaf).get();
            let first = self.slot(leaf * WORD_BITS);
            while free != 0 && room > 0 {
                let bit = free.trailing_zeros() as usize;
                free &= free - 1;
                // SAFETY: the bit is that of a slot, which lies in the area.
                self.cached[room].set(unsafe { first.add(bit * slot_bytes) });
                room -= 1;
            }
            self.leaf(leaf).set(free);
        }
        let count = BATCH - room;
        if room > 0 {
            (1..=count).for_each(|at| self.cached[at].set(self.cached[room + at].get()));
        }
        self.taken.set(self.taken.get() + count as u32);
        self.peak.set(self.peak.get().max(self.taken.get()));
        (count > 0).then_some(count as u32)
    }

    /// The lowest leaf with a free slot.
    fn lowest_open_leaf(&self) -> Option<usize> {
        let lowest = self.lowest_leaf.get() as usize;
        if self.leaf(lowest).get() != 0 { Some(lowest) } else { self.next_open_leaf() }
    }

    /// Moves on from the lowest leaf, which has no free slot.
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
        // All are full: the next search needs to look at the end only.
        self.lowest_leaf.set(self.leaf_count - 1);
        None
    }

    /// The slot that starts there; a number that is not below `slots` if none does.
    #[inline(always)]
    pub(super) fn slot_of(&self, object: NonNull<u8>) -> usize {
        let offset = object.addr().get().wrapping_sub(self.start.addr().get());
        slot_at(offset, self.inverse, self.shift)
    }

    /// Whether this number is one of a slot.
    #[inline(always)]
    pub(super) fn has_slot(&self, slot: usize) -> bool {
        slot < self.slots as usize
    }

    /// Whether this number is one of a slot that is in use, or at hand.
    fn is_taken(&self, slot: usize) -> bool {
        let (leaf, mask) = split(slot);
        self.has_slot(slot) && self.leaf(leaf).get() & mask == 0
    }

    /// Takes back an object that starts at a slot of this class. `false` if that is seen to
    /// be wrong: it was the last to be freed; or it is free, in debug builds; or the stack was
    /// full, and some of it had been freed twice.
    #[inline(always)]
    pub(super) fn give(&self, object: NonNull<u8>) -> bool {
        if cfg!(debug_assertions) {
            if !self.is_live(object) {
                return false;
            }
            // SAFETY: the object has a slot of so many bytes, and is nobody's any more.
            unsafe { object.write_bytes(POISON, self.slot_bytes()) };
        }
        let len = self.cached_len.get();
        if self.cached(len).get() == object {
            return false;
        }
        if len as usize == MAX_CACHED {
            return self.give_beyond(object);
        }
        self.push(len, object);
        true
    }

    /// The object at a height of the stack.
    #[inline(always)]
    fn cached(&self, height: u32) -> &Cell<NonNull<u8>> {
        debug_assert!(height as usize <= MAX_CACHED);
        // SAFETY: no height is above the most.
        unsafe { self.cached.get_unchecked(height as usize) }
    }

    /// Puts an object on a stack of that height, which has room.
    #[inline(always)]
    pub(super) fn push(&self, len: u32, object: NonNull<u8>) {
        self.cached(len + 1).set(object);
        self.cached_len.set(len + 1);
    }

    /// Takes back an object when the stack is full.
    #[inline(never)]
    fn give_beyond(&self, object: NonNull<u8>) -> bool {
        let is_right = self.flush(BATCH);
        self.push(self.cached_len.get(), object);
        is_right
    }

    /// Gives back the `count` slots that are longest on the stack. `false` if one of them is
    /// free already.
    fn flush(&self, count: usize) -> bool {
        let left = self.cached_len.get() as usize - count;
        // Copies: for all the compiler knows, writing to the bits could change them.
        let (start, inverse, shift) = (self.start.addr().get(), self.inverse, self.shift);
        // Slots of one leaf often come together: their bits are gathered before they are set.
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

    /// Makes slots of a leaf free, and counts those that were so already.
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

    /// Gives back all slots at hand. `false` if one of them was freed twice.
    pub(super) fn flush_all(&self) -> bool {
        self.flush(self.cached_len.get() as usize)
    }

    /// Whether an object may be live. Release builds take a slot at hand for one in use.
    #[inline]
    pub(super) fn is_live(&self, object: NonNull<u8>) -> bool {
        let is_free = cfg!(debug_assertions) && self.is_cached(object);
        self.is_taken(self.slot_of(object)) && !is_free
    }

    /// The objects of the stack.
    fn at_hand(&self) -> &[Cell<NonNull<u8>>] {
        &self.cached[1..=self.cached_len.get() as usize]
    }

    /// Whether an object's slot is at hand.
    fn is_cached(&self, object: NonNull<u8>) -> bool {
        self.at_hand().iter().any(|it| it.get() == object)
    }

    #[inline(always)]
    fn slot(&self, slot: usize) -> NonNull<u8> {
        debug_assert!(self.has_slot(slot));
        // SAFETY: the slot is one of the section, which lies in the area.
        unsafe { self.start.add(slot * self.slot_bytes as usize) }
    }

    #[inline(always)]
    fn leaf(&self, leaf: usize) -> &Cell<u64> {
        debug_assert!(leaf < self.leaf_count());
        // SAFETY: leaves are asked for by number, or by one of their slots, of which there
        // are no more than the plan has leaves for; `new` made them all, and they live as
        // long as the class.
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

/// What others ask of a class; nothing of it is in a hurry.
impl Class {
    pub(super) fn slot_bytes(&self) -> usize {
        self.slot_bytes as usize
    }

    pub(super) fn slots(&self) -> usize {
        self.slots as usize
    }

    /// Slots in use. Fewer than those at hand are taken only after double frees.
    pub(super) fn live(&self) -> usize {
        self.taken.get().saturating_sub(self.cached_len.get()) as usize
    }

    #[cfg(test)]
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

    /// Whether an address lies in a slot, at its start or inside.
    pub(super) fn spans(&self, address: usize) -> bool {
        let offset = address.wrapping_sub(self.start.addr().get());
        offset < self.slots() * self.slot_bytes()
    }

    /// Compares the metadata with each other.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub(super) fn check(&self) -> Result<(), &'static str> {
        let mut free = 0;
        for slot in 0..self.leaf_count() * WORD_BITS {
            let (leaf, mask) = split(slot);
            if self.leaf(leaf).get() & mask == 0 {
                continue;
            }
            free += 1;
            if slot >= self.slots() {
                return Err("a slot is free that does not exist");
            } else if self.summary(leaf / WORD_BITS).get() & split(leaf).1 == 0 {
                return Err("a leaf with a free slot is not in the summary");
            } else if leaf < self.lowest_leaf.get() as usize {
                return Err("a free slot lies below the lowest leaf");
            }
        }
        if free + self.taken.get() as usize != self.slots() {
            return Err("the number of slots taken is wrong");
        }
        let cached = self.at_hand();
        for (at, object) in cached.iter().enumerate() {
            if !self.is_taken(self.slot_of(object.get())) {
                return Err("a slot at hand is free");
            } else if cached[..at].contains(object) {
                return Err("a slot is at hand twice");
            }
        }
        if self.taken.get() > self.peak.get() {
            Err("more is taken than at the peak")
        } else {
            Ok(())
        }
    }
}

/// The word of a bit, and the bit alone.
#[inline(always)]
const fn split(bit: usize) -> (usize, u64) {
    (bit / WORD_BITS, 1 << (bit % WORD_BITS))
}
