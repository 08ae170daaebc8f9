use alloc::vec::Vec;
use core::{
    num::NonZeroU32,
    ops::{Index, IndexMut},
};

mod handle;
mod iter;
#[cfg(test)]
mod tests;

pub use handle::Handle;
pub use iter::{SlotDrain, SlotIter, SlotIterMut};

/// End of the list of free slots: no slot.
const END: u32 = u32::MAX;
/// Minimum capacity of a table that is not empty, in slots.
const MIN_CAPACITY: usize = 4;

/// A table of values with stable slot numbers and generational handles.
///
/// ```text
///  slots   [0v1 a] [0, 3] [2v4 c] [0, –] …    handle and value, or 0 and the next free slot
///  bits      1       0       1      0          computed for 64 slots at a time by iterators
/// ```
/// # Cost
/// All operations are O(1). The last slot freed is reused first. A slot costs 8 bytes in addition
/// to the value, and at least 16 bytes. An iterator first computes the bits of 64 slots in a loop
/// without branches, then visits the set bits. If used and free slots are mixed, this is many times
/// faster than a test of each slot. A slot whose generations are exhausted (2³² uses) is retired.
///
/// # Examples
/// ```
/// use drystone_alloc::Slots;
///
/// let mut slots = Slots::new();
/// let a = slots.insert("a").unwrap();
/// assert_eq!(slots.remove(a), Some("a"));
/// let b = slots.insert("b").unwrap();
/// assert_eq!(a.index(), b.index());
/// assert_eq!((slots.get(a), slots.get(b)), (None, Some(&"b")));
/// ```
#[doc(alias("slotmap", "slab", "generational arena"))]
#[derive(Clone, Debug)]
pub struct Slots<T> {
    slots: Vec<Slot<T>>,
    first_free: u32,
    len: u32,
}

/// State of a slot. A live slot stores its own handle, which is never 0. The compiler represents a
/// free slot by 0 in this field, so one comparison with a handle checks both liveness and
/// generation.
#[derive(Clone, Debug)]
enum Slot<T> {
    Live {
        handle: Handle<T>,
        value: T,
    },
    /// `generation` is that of the last use.
    Free {
        generation: u32,
        next: u32,
    },
}

// With a separate tag the size would be 24 bytes.
const _: () = assert!(size_of::<Slot<u64>>() == 16);

impl<T> Slots<T> {
    /// Creates an empty table.
    pub const fn new() -> Self {
        Self { slots: Vec::new(), first_free: END, len: 0 }
    }

    /// Inserts `value` into a free slot.
    ///
    /// # Errors
    /// Returns the value if all 2³² − 1 slots are taken or the heap is out of memory.
    #[inline]
    pub fn insert(&mut self, value: T) -> Result<Handle<T>, T> {
        let index = self.first_free;
        let Some(slot) = self.slots.get_mut(index as usize) else {
            return self.insert_new(value);
        };
        let Slot::Free { generation, next } = *slot else { return Err(value) };
        self.first_free = next;
        let Some(generation) = NonZeroU32::new(generation.wrapping_add(1)) else {
            return self.insert_after_exhausted(value);
        };
        let handle = Handle::new(index, generation);
        *slot = Slot::Live { handle, value };
        self.len += 1;
        Ok(handle)
    }

    /// Inserts the value that `make` returns for its handle. `None` if all 2³² − 1 slots are taken
    /// or the heap is out of memory; `make` is not called then.
    ///
    /// # Examples
    /// ```
    /// use drystone_alloc::Slots;
    ///
    /// let mut slots = Slots::new();
    /// let handle = slots.insert_with(|handle| handle.index()).unwrap();
    /// assert_eq!(slots[handle], 0);
    /// ```
    pub fn insert_with(&mut self, make: impl FnOnce(Handle<T>) -> T) -> Option<Handle<T>> {
        let handle = self.reserve_handle()?;
        // The slot that was reserved is the next one.
        self.insert(make(handle)).ok()
    }

    /// Removes and returns a value. `None` if the handle is stale.
    #[inline]
    pub fn remove(&mut self, handle: Handle<T>) -> Option<T> {
        let slot = self.slots.get_mut(handle.index() as usize)?;
        match slot {
            Slot::Live { handle: own, .. } if *own == handle => {}
            _ => return None,
        }
        let free = Slot::Free { generation: handle.generation(), next: self.first_free };
        let Slot::Live { value, .. } = core::mem::replace(slot, free) else { return None };
        self.first_free = handle.index();
        self.len -= 1;
        Some(value)
    }

    /// Removes all values and keeps the memory. All handles become stale.
    #[doc(alias = "clear")]
    pub fn reset(&mut self) {
        drop(self.drain());
    }

    /// Removes all values and returns them with their former handles, sorted by slot. Values that
    /// the iterator has not returned are dropped with it.
    pub fn drain(&mut self) -> SlotDrain<'_, T> {
        SlotDrain::new(self)
    }

    /// Removes the values for which `keep` returns false. Calls it once for each value, sorted by
    /// slot.
    pub fn retain(&mut self, mut keep: impl FnMut(Handle<T>, &mut T) -> bool) {
        for index in 0..self.slots.len() {
            if let Slot::Live { handle, value } = &mut self.slots[index] {
                let handle = *handle;
                if !keep(handle, value) {
                    self.remove(handle);
                }
            }
        }
    }

    /// Returns the value, or `None` if the handle is stale.
    #[inline]
    pub fn get(&self, handle: Handle<T>) -> Option<&T> {
        match self.slots.get(handle.index() as usize) {
            Some(Slot::Live { handle: own, value }) if *own == handle => Some(value),
            _ => None,
        }
    }

    /// Returns a mutable reference to the value, or `None` if the handle is stale.
    #[inline]
    pub fn get_mut(&mut self, handle: Handle<T>) -> Option<&mut T> {
        match self.slots.get_mut(handle.index() as usize) {
            Some(Slot::Live { handle: own, value }) if *own == handle => Some(value),
            _ => None,
        }
    }

    /// Returns the handle of the value in a slot, or `None` if the slot is free.
    #[inline]
    pub fn handle_at(&self, index: u32) -> Option<Handle<T>> {
        match self.slots.get(index as usize) {
            Some(Slot::Live { handle, .. }) => Some(*handle),
            _ => None,
        }
    }

    /// Whether the handle refers to a live value.
    #[inline]
    pub fn contains(&self, handle: Handle<T>) -> bool {
        self.get(handle).is_some()
    }

    /// Iterates over all live values and their handles, sorted by slot.
    pub fn iter(&self) -> SlotIter<'_, T> {
        SlotIter::new(&self.slots, self.len)
    }

    /// Iterates mutably over all live values and their handles, sorted by slot.
    pub fn iter_mut(&mut self) -> SlotIterMut<'_, T> {
        SlotIterMut::new(&mut self.slots, self.len)
    }

    /// Number of live values.
    #[inline]
    pub const fn len(&self) -> u32 {
        self.len
    }

    /// Whether no value is live.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// One past the highest slot index ever used.
    #[inline]
    pub fn slot_count(&self) -> u32 {
        self.slots.len() as u32
    }

    /// Verifies all invariants, for tests.
    ///
    /// # Errors
    /// The invariant that is violated.
    pub fn validate(&self) -> Result<(), &'static str> {
        let live = self.slots.iter().filter(|slot| matches!(slot, Slot::Live { .. })).count();
        if live != self.len as usize {
            return Err("the number of values is wrong");
        }
        let (mut listed, mut at) = (0, self.first_free);
        while let Some(Slot::Free { next, .. }) = self.slots.get(at as usize) {
            listed += 1;
            at = *next;
            if listed > self.slots.len() {
                return Err("the list of free slots has a cycle");
            }
        }
        let is_worn_out = |slot: &&Slot<T>| matches!(slot, Slot::Free { generation: u32::MAX, .. });
        let worn_out = self.slots.iter().filter(is_worn_out).count();
        let free = self.slots.len() - live;
        match at == END && listed <= free && free - listed <= worn_out {
            true => Ok(()),
            false => Err("a free slot is not in the list of free slots"),
        }
    }

    /// Returns the handle of the next value, and reserves memory for it. Removes exhausted slots
    /// from the free list.
    fn reserve_handle(&mut self) -> Option<Handle<T>> {
        while let Some(Slot::Free { generation, next }) = self.slots.get(self.first_free as usize) {
            match NonZeroU32::new(generation.wrapping_add(1)) {
                Some(generation) => return Some(Handle::new(self.first_free, generation)),
                None => self.first_free = *next,
            }
        }
        let index = self.slots.len();
        if index == self.slots.capacity() {
            self.grow()?;
        }
        Some(Handle::new(index as u32, NonZeroU32::MIN))
    }

    /// Inserts into the next free slot, because the generations of the first one are exhausted.
    /// That slot stays off the free list: in a further use, its first handle would be valid again.
    #[cold]
    fn insert_after_exhausted(&mut self, value: T) -> Result<Handle<T>, T> {
        self.insert(value)
    }

    /// Inserts a value behind all slots.
    #[inline]
    fn insert_new(&mut self, value: T) -> Result<Handle<T>, T> {
        let index = self.slots.len();
        if index == self.slots.capacity() && self.grow().is_none() {
            return Err(value);
        }
        let handle = Handle::new(index as u32, NonZeroU32::MIN);
        self.slots.push(Slot::Live { handle, value });
        self.len += 1;
        Ok(handle)
    }

    /// Reserves memory for more slots. `None` if the heap is out of memory or all indices are used.
    #[cold]
    fn grow(&mut self) -> Option<()> {
        let max = END as usize - self.slots.len();
        let more = self.slots.len().max(MIN_CAPACITY).min(max);
        if more == 0 {
            return None;
        }
        self.slots.try_reserve_exact(more).ok()?;
        Some(())
    }
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Index<Handle<T>> for Slots<T> {
    type Output = T;

    /// # Panics
    /// If the handle is stale. [`Slots::get`] returns `None` instead.
    fn index(&self, handle: Handle<T>) -> &T {
        self.get(handle).unwrap_or_else(|| stale(handle))
    }
}

impl<T> IndexMut<Handle<T>> for Slots<T> {
    /// # Panics
    /// If the handle is stale. [`Slots::get_mut`] returns `None` instead.
    fn index_mut(&mut self, handle: Handle<T>) -> &mut T {
        self.get_mut(handle).unwrap_or_else(|| stale(handle))
    }
}

#[cold]
fn stale<T>(handle: Handle<T>) -> ! {
    panic!("{handle:?} is stale: its value was removed, or it belongs to another table")
}

impl<'a, T> IntoIterator for &'a Slots<T> {
    type Item = (Handle<T>, &'a T);
    type IntoIter = SlotIter<'a, T>;

    fn into_iter(self) -> SlotIter<'a, T> {
        self.iter()
    }
}
