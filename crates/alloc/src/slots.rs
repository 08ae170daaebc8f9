use alloc::vec::Vec;

use crate::bit_tree::WORD_BITS;

mod handle;
mod iter;
#[cfg(test)]
mod tests;

pub use handle::Handle;
pub use iter::{SlotIter, SlotIterMut};

/// No slot: the end of the list of free ones.
const END: u32 = u32::MAX;

/// A table of values with stable slot numbers and generational handles.
///
/// ```text
///  slots   [a 0][free][c 2][free]…      value or link, beside the generation
///  used     1    0     1    0           a bit a slot: what iteration goes by
/// ```
/// # Cost
/// Everything is O(1); the last slot freed is the first reused. Iteration looks at one bit
/// for each slot and at the slots in use only. Besides the value, a slot costs 8 bytes (4
/// where the value's type has room for a tag) and one bit. A slot whose generation has run
/// out (2³² reuses) is retired.
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
#[derive(Clone, Debug)]
pub struct Slots<T> {
    slots: Vec<Slot<T>>,
    /// The bit of a slot is set while it has a value.
    used: Vec<u64>,
    first_free: u32,
    len: u32,
}

#[derive(Clone, Debug)]
enum Slot<T> {
    Live { generation: u32, value: T },
    Free { generation: u32, next: u32 },
}

/// The tag lies beside the generation: a slot is no larger than a value and 8 bytes.
const _: () = assert!(size_of::<Slot<u64>>() == 16);

impl<T> Slots<T> {
    /// An empty table.
    pub const fn new() -> Self {
        Self { slots: Vec::new(), used: Vec::new(), first_free: END, len: 0 }
    }

    /// Puts `value` into a free slot.
    ///
    /// # Errors
    /// The value comes back when all 2³² − 1 slots are taken or memory ran out.
    #[inline]
    pub fn insert(&mut self, value: T) -> Result<Handle<T>, T> {
        let index = self.first_free;
        let Some(slot) = self.slots.get_mut(index as usize) else {
            return self.insert_new(value);
        };
        let Slot::Free { generation, next } = *slot else { return Err(value) };
        *slot = Slot::Live { generation, value };
        self.first_free = next;
        self.used[index as usize / WORD_BITS] |= 1 << (index as usize % WORD_BITS);
        self.len += 1;
        Ok(Handle::new(index, generation))
    }

    /// Takes the value out; `None` when the handle is stale.
    #[inline]
    pub fn remove(&mut self, handle: Handle<T>) -> Option<T> {
        let index = handle.index() as usize;
        let slot = self.slots.get_mut(index)?;
        match slot {
            Slot::Live { generation, .. } if *generation == handle.generation() => {}
            _ => return None,
        }
        let generation = handle.generation().wrapping_add(1);
        let free = Slot::Free { generation, next: self.first_free };
        let Slot::Live { value, .. } = core::mem::replace(slot, free) else { return None };
        if generation != 0 {
            self.first_free = handle.index();
        }
        self.used[index / WORD_BITS] &= !(1 << (index % WORD_BITS));
        self.len -= 1;
        Some(value)
    }

    /// The value, or `None` when the handle is stale.
    #[inline]
    pub fn get(&self, handle: Handle<T>) -> Option<&T> {
        match self.slots.get(handle.index() as usize) {
            Some(Slot::Live { generation, value }) if *generation == handle.generation() => {
                Some(value)
            }
            _ => None,
        }
    }

    /// The value, or `None` when the handle is stale.
    #[inline]
    pub fn get_mut(&mut self, handle: Handle<T>) -> Option<&mut T> {
        match self.slots.get_mut(handle.index() as usize) {
            Some(Slot::Live { generation, value }) if *generation == handle.generation() => {
                Some(value)
            }
            _ => None,
        }
    }

    /// Whether the handle's value is still there.
    #[inline]
    pub fn contains(&self, handle: Handle<T>) -> bool {
        self.get(handle).is_some()
    }

    /// Every live value with its handle, by slot number.
    pub fn iter(&self) -> SlotIter<'_, T> {
        SlotIter::new(&self.slots, &self.used, self.len)
    }

    /// Every live value with its handle, by slot number, to be changed.
    pub fn iter_mut(&mut self) -> SlotIterMut<'_, T> {
        SlotIterMut::new(&mut self.slots, &self.used, self.len)
    }

    /// How many values are live.
    #[inline]
    pub const fn len(&self) -> u32 {
        self.len
    }

    /// Whether no value is live.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// One past the highest slot number ever used.
    #[inline]
    pub fn slot_count(&self) -> u32 {
        self.slots.len() as u32
    }

    /// Removes every value and keeps the memory. All handles are stale then.
    pub fn reset(&mut self) {
        for index in 0..self.slots.len() {
            if let Slot::Live { generation, .. } = self.slots[index] {
                self.remove(Handle::new(index as u32, generation));
            }
        }
    }

    /// Walks the whole table and says what is wrong with it, for tests.
    ///
    /// # Errors
    /// The invariant that does not hold.
    pub fn check(&self) -> Result<(), &'static str> {
        let bit = |index: usize| self.used[index / WORD_BITS] >> (index % WORD_BITS) & 1 == 1;
        let is_live = |index: usize| matches!(self.slots[index], Slot::Live { .. });
        if !(0..self.slots.len()).all(|index| bit(index) == is_live(index)) {
            return Err("a bit does not say whether its slot is used");
        }
        let bits: u32 = self.used.iter().map(|word| word.count_ones()).sum();
        if bits != self.len {
            return Err("the number of values is wrong");
        }
        let (mut free, mut at) = (0, self.first_free);
        while let Some(Slot::Free { next, .. }) = self.slots.get(at as usize) {
            free += 1;
            at = *next;
        }
        let worn_out = |slot: &&Slot<T>| matches!(slot, Slot::Free { generation: 0, .. });
        let retired = self.slots.iter().filter(worn_out).count();
        match at == END && free + retired + self.len as usize == self.slots.len() {
            true => Ok(()),
            false => Err("a free slot is not in the list of free ones"),
        }
    }

    #[cold]
    fn insert_new(&mut self, value: T) -> Result<Handle<T>, T> {
        let index = self.slots.len();
        if index >= END as usize || self.slots.try_reserve(1).is_err() {
            return Err(value);
        }
        if index.is_multiple_of(WORD_BITS) {
            if self.used.try_reserve(1).is_err() {
                return Err(value);
            }
            self.used.push(0);
        }
        self.slots.push(Slot::Live { generation: 0, value });
        self.used[index / WORD_BITS] |= 1 << (index % WORD_BITS);
        self.len += 1;
        Ok(Handle::new(index as u32, 0))
    }
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a, T> IntoIterator for &'a Slots<T> {
    type Item = (Handle<T>, &'a T);
    type IntoIter = SlotIter<'a, T>;

    fn into_iter(self) -> SlotIter<'a, T> {
        self.iter()
    }
}
