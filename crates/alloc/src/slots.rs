use alloc::vec::Vec;
use core::num::NonZeroU32;

mod handle;
mod iter;
#[cfg(test)]
mod tests;

pub use handle::Handle;
pub use iter::{SlotIter, SlotIterMut};

/// No slot: the end of the list of free ones.
const END: u32 = u32::MAX;
/// Slots that a table has memory for as soon as it has any.
const LEAST_SLOTS: usize = 4;

/// A table of values with stable slot numbers and generational handles.
///
/// ```text
///  slots   [0v1 a] [0, 3] [2v4 c] [0, –] …    handle and value, or 0 and the next free one
///  bits      1       0       1      0          of 64 slots at a time, while iterating
/// ```
/// # Cost
/// Everything is O(1); the last slot freed is the first reused. A slot costs 8 bytes
/// besides the value, and 16 at least. Iteration
/// first gathers which of 64 slots are in use, in a loop without branches, and then goes
/// from bit to bit: where used and free slots are mixed this is many times faster than
/// asking slot by slot. A slot whose generation has run out (2³² reuses) is retired.
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
    first_free: u32,
    len: u32,
}

/// A live slot holds its own handle. That is never 0, and 0 in its place is how the
/// compiler tells a free slot: one comparison with a handle answers both questions.
#[derive(Clone, Debug)]
enum Slot<T> {
    Live {
        handle: Handle<T>,
        value: T,
    },
    /// The generation is that of the last use.
    Free {
        generation: u32,
        next: u32,
    },
}

// With a tag of its own it would be 24.
const _: () = assert!(size_of::<Slot<u64>>() == 16);

impl<T> Slots<T> {
    /// An empty table.
    pub const fn new() -> Self {
        Self { slots: Vec::new(), first_free: END, len: 0 }
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
        self.first_free = next;
        let Some(generation) = NonZeroU32::new(generation.wrapping_add(1)) else {
            return self.insert_elsewhere(value);
        };
        let handle = Handle::new(index, generation);
        *slot = Slot::Live { handle, value };
        self.len += 1;
        Ok(handle)
    }

    /// Takes the value out; `None` when the handle is stale.
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

    /// The value, or `None` when the handle is stale.
    #[inline]
    pub fn get(&self, handle: Handle<T>) -> Option<&T> {
        match self.slots.get(handle.index() as usize) {
            Some(Slot::Live { handle: own, value }) if *own == handle => Some(value),
            _ => None,
        }
    }

    /// The value, or `None` when the handle is stale.
    #[inline]
    pub fn get_mut(&mut self, handle: Handle<T>) -> Option<&mut T> {
        match self.slots.get_mut(handle.index() as usize) {
            Some(Slot::Live { handle: own, value }) if *own == handle => Some(value),
            _ => None,
        }
    }

    /// The handle of the value that lives in a slot now, if one does.
    #[inline]
    pub fn handle_at(&self, index: u32) -> Option<Handle<T>> {
        match self.slots.get(index as usize) {
            Some(Slot::Live { handle, .. }) => Some(*handle),
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
        SlotIter::new(&self.slots, self.len)
    }

    /// Every live value with its handle, by slot number, to be changed.
    pub fn iter_mut(&mut self) -> SlotIterMut<'_, T> {
        SlotIterMut::new(&mut self.slots, self.len)
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
            if let Slot::Live { handle, .. } = self.slots[index] {
                self.remove(handle);
            }
        }
    }

    /// Walks the whole table and says what is wrong with it, for tests.
    ///
    /// # Errors
    /// The invariant that does not hold.
    pub fn check(&self) -> Result<(), &'static str> {
        let live = self.slots.iter().filter(|slot| matches!(slot, Slot::Live { .. })).count();
        if live != self.len as usize {
            return Err("the number of values is wrong");
        }
        let (mut listed, mut at) = (0, self.first_free);
        while let Some(Slot::Free { next, .. }) = self.slots.get(at as usize) {
            listed += 1;
            at = *next;
            if listed > self.slots.len() {
                return Err("the list of free slots has no end");
            }
        }
        let is_worn_out = |slot: &&Slot<T>| matches!(slot, Slot::Free { generation: u32::MAX, .. });
        let worn_out = self.slots.iter().filter(is_worn_out).count();
        let free = self.slots.len() - live;
        match at == END && listed <= free && free - listed <= worn_out {
            true => Ok(()),
            false => Err("a free slot is not in the list of free ones"),
        }
    }

    /// The first free slot has served as often as there are generations. It was just taken
    /// off the list and stays off: reused, it would bring its first handle back to life.
    #[cold]
    fn insert_elsewhere(&mut self, value: T) -> Result<Handle<T>, T> {
        self.insert(value)
    }

    /// Puts a value behind all slots.
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

    /// Memory for more slots. `None` when it or the numbers ran out.
    #[cold]
    fn grow(&mut self) -> Option<()> {
        let most = END as usize - self.slots.len();
        let more = self.slots.len().max(LEAST_SLOTS).min(most);
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

impl<'a, T> IntoIterator for &'a Slots<T> {
    type Item = (Handle<T>, &'a T);
    type IntoIter = SlotIter<'a, T>;

    fn into_iter(self) -> SlotIter<'a, T> {
        self.iter()
    }
}
