use alloc::vec::Vec;
use core::{fmt, marker::PhantomData};

/// Names one value in a [`Slots`]: index and generation. Once the value is removed the
/// handle is stale for good, whoever gets the slot next.
pub struct Handle<T> {
    index: u32,
    generation: u32,
    value: PhantomData<fn() -> T>,
}

impl<T> Handle<T> {
    /// The slot's number, below [`Slots::slot_count`]. Slots are reused: the number alone
    /// names whatever lives there now.
    #[inline]
    pub const fn index(self) -> u32 {
        self.index
    }

    /// The same handle for a table of another type: to keep a handle where the type of
    /// its values cannot be named. Give it back only to the table that it came from.
    #[inline]
    pub const fn cast<U>(self) -> Handle<U> {
        Handle { index: self.index, generation: self.generation, value: PhantomData }
    }
}

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Handle<T> {}

impl<T> PartialEq for Handle<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.index, self.generation) == (other.index, other.generation)
    }
}

impl<T> Eq for Handle<T> {}

impl<T> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handle({}v{})", self.index, self.generation)
    }
}

/// A table of values with stable slot numbers and generational handles.
///
/// # Cost
/// Everything is O(1); the last slot freed is the first reused. A slot whose generation
/// has run out (2³² reuses) is retired.
#[derive(Clone, Debug)]
pub struct Slots<T> {
    slots: Vec<Slot<T>>,
    first_free: u32,
    len: u32,
}

#[derive(Clone, Debug)]
struct Slot<T> {
    generation: u32,
    state: State<T>,
}

#[derive(Clone, Debug)]
enum State<T> {
    Live(T),
    Free { next: u32 },
}

const END: u32 = u32::MAX;

impl<T> Slots<T> {
    /// An empty table.
    pub const fn new() -> Self {
        Self { slots: Vec::new(), first_free: END, len: 0 }
    }

    /// Puts `value` into a free slot, or returns it when all 2³² − 1 are taken.
    ///
    /// # Errors
    /// The value comes back when no slot is left.
    pub fn insert(&mut self, value: T) -> Result<Handle<T>, T> {
        let index = if self.first_free == END {
            if self.slots.len() >= END as usize {
                return Err(value);
            }
            self.slots.push(Slot { generation: 0, state: State::Free { next: END } });
            (self.slots.len() - 1) as u32
        } else {
            self.first_free
        };
        let slot = &mut self.slots[index as usize];
        if let State::Free { next } = slot.state {
            self.first_free = next;
        }
        slot.state = State::Live(value);
        self.len += 1;
        Ok(Handle { index, generation: slot.generation, value: PhantomData })
    }

    /// Takes the value out; `None` when the handle is stale.
    pub fn remove(&mut self, handle: Handle<T>) -> Option<T> {
        let slot = self.slots.get_mut(handle.index as usize)?;
        if slot.generation != handle.generation || matches!(slot.state, State::Free { .. }) {
            return None;
        }
        let retired = slot.generation == u32::MAX;
        slot.generation = slot.generation.wrapping_add(1);
        let next = if retired { END } else { self.first_free };
        let state = core::mem::replace(&mut slot.state, State::Free { next });
        if !retired {
            self.first_free = handle.index;
        } else {
            // Generation 0 must not come back to life.
            slot.generation = u32::MAX;
        }
        self.len -= 1;
        match state {
            State::Live(value) => Some(value),
            State::Free { .. } => None,
        }
    }

    /// The value, or `None` when the handle is stale.
    #[inline]
    pub fn get(&self, handle: Handle<T>) -> Option<&T> {
        match self.slots.get(handle.index as usize) {
            Some(Slot { generation, state: State::Live(value) })
                if *generation == handle.generation =>
            {
                Some(value)
            }
            _ => None,
        }
    }

    /// The value, or `None` when the handle is stale.
    #[inline]
    pub fn get_mut(&mut self, handle: Handle<T>) -> Option<&mut T> {
        match self.slots.get_mut(handle.index as usize) {
            Some(Slot { generation, state: State::Live(value) })
                if *generation == handle.generation =>
            {
                Some(value)
            }
            _ => None,
        }
    }

    /// Every live value with its handle, by slot number.
    pub fn iter(&self) -> impl Iterator<Item = (Handle<T>, &T)> {
        self.slots.iter().enumerate().filter_map(|(index, slot)| match &slot.state {
            State::Live(value) => Some((
                Handle { index: index as u32, generation: slot.generation, value: PhantomData },
                value,
            )),
            State::Free { .. } => None,
        })
    }

    /// How many values are live.
    pub const fn len(&self) -> u32 {
        self.len
    }

    /// Whether no value is live.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// One past the highest slot number ever used.
    pub fn slot_count(&self) -> u32 {
        self.slots.len() as u32
    }
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_handles_find_nothing() {
        let mut slots = Slots::new();
        let a = slots.insert('a').unwrap();
        assert_eq!(slots.remove(a), Some('a'));
        let b = slots.insert('b').unwrap();
        assert_eq!(a.index(), b.index());
        assert_eq!(slots.remove(a), None);
        assert_eq!((slots.get(a), slots.get(b)), (None, Some(&'b')));
        assert_eq!(slots.iter().count(), 1);
    }

    #[test]
    fn worn_out_slots_are_retired() {
        let mut slots = Slots::new();
        let first = slots.insert(1).unwrap();
        slots.slots[0].generation = u32::MAX;
        let last = Handle { generation: u32::MAX, ..first };
        assert_eq!(slots.remove(last), Some(1));
        let next = slots.insert(2).unwrap();
        assert_eq!(next.index(), 1);
        assert_eq!((slots.get(first), slots.get(last)), (None, None));
    }
}
