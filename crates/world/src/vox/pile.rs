use drystone_alloc::Error;

/// A stack of values in memory of a fixed length.
pub(super) struct Pile<'s, T> {
    places: &'s mut [T],
    len: usize,
}

impl<'s, T: Copy> Pile<'s, T> {
    /// An empty one, for as many values as there are places.
    pub(super) fn new(places: &'s mut [T]) -> Self {
        Self { places, len: 0 }
    }

    pub(super) fn push(&mut self, value: T) -> Result<(), Error> {
        let full = Error::Full { requested: 1, largest_free: 0, total_free: 0 };
        *self.places.get_mut(self.len).ok_or(full)? = value;
        self.len += 1;
        Ok(())
    }

    pub(super) fn pop(&mut self) -> Option<T> {
        self.len = self.len.checked_sub(1)?;
        Some(self.places[self.len])
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }
}
