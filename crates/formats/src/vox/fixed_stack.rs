use drystone_memory::Error;

/// A stack in a slice of fixed length.
pub(super) struct FixedStack<'s, T> {
    slots: &'s mut [T],
    len: usize,
}

impl<'s, T: Copy> FixedStack<'s, T> {
    /// Creates an empty stack with the capacity of `slots`.
    pub(super) fn new(slots: &'s mut [T]) -> Self {
        Self { slots, len: 0 }
    }

    pub(super) fn push(&mut self, value: T) -> Result<(), Error> {
        let full = Error::Full { requested: 1, largest_free: 0, total_free: 0 };
        *self.slots.get_mut(self.len).ok_or(full)? = value;
        self.len += 1;
        Ok(())
    }

    pub(super) fn pop(&mut self) -> Option<T> {
        self.len = self.len.checked_sub(1)?;
        Some(self.slots[self.len])
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }
}
