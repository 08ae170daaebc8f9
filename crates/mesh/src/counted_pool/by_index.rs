use core::num::NonZeroU32;

use drystone_alloc::Handle;

use super::{CountedPool, END, GROWTH_DIVISOR, MIN_CAPACITY, Record, generation_of, handle};
use crate::error::{Error, full};

/// Access by index, for owners that store 32 bits. The index of a record with an owner is not
/// reused, so the generation need not be checked.
impl<T> CountedPool<T> {
    /// Inserts a value with one owner, and returns its index.
    #[inline(always)]
    pub(crate) fn insert_at(&mut self, value: T) -> Result<u32, Error> {
        self.insert_record(value).map(|(index, _)| index)
    }

    /// Inserts a value with one owner, and returns index and generation.
    #[inline(always)]
    pub(super) fn insert_record(&mut self, value: T) -> Result<(u32, NonZeroU32), Error> {
        let index = self.first_free;
        // Records in the list are free and have a generation left.
        if let Some(record) = self.records.get_mut(index as usize)
            && let Record::Free { generation, next } = *record
            && let Some(generation) = NonZeroU32::new(generation.wrapping_add(1))
        {
            self.first_free = next;
            *record = Record::Live { owners: NonZeroU32::MIN, generation, value };
            self.len += 1;
            return Ok((index, generation));
        }
        self.push_record(value)
    }

    /// Appends a record.
    fn push_record(&mut self, value: T) -> Result<(u32, NonZeroU32), Error> {
        let index = self.records.len();
        if index == self.records.capacity() {
            self.grow()?;
        }
        let generation = NonZeroU32::MIN;
        self.records.push(Record::Live { owners: NonZeroU32::MIN, generation, value });
        self.len += 1;
        Ok((index as u32, generation))
    }

    /// Reserves memory for one record, so that the next insertion succeeds.
    #[inline]
    pub(crate) fn reserve_one(&mut self) -> Result<(), Error> {
        match self.first_free == END && self.records.len() == self.records.capacity() {
            true => self.grow(),
            false => Ok(()),
        }
    }

    #[cold]
    fn grow(&mut self) -> Result<(), Error> {
        let max = END as usize - self.records.len();
        let more = (self.records.len() / GROWTH_DIVISOR).max(MIN_CAPACITY).min(max);
        let bytes = more * Self::RECORD_BYTES;
        if more == 0 {
            return Err(full(Self::RECORD_BYTES));
        }
        self.records.try_reserve_exact(more).map_err(|_| full(bytes))
    }

    /// Adds one owner of a record in use.
    #[inline]
    pub(crate) fn share_at(&mut self, index: u32) -> Result<(), Error> {
        match self.records.get_mut(index as usize) {
            Some(Record::Live { owners, .. }) => {
                *owners = owners.checked_add(1).ok_or(Error::TooManyOwners)?;
                Ok(())
            }
            _ => Err(Error::Stale),
        }
    }

    /// Removes one owner. The last one frees the record and gets the value.
    #[inline]
    pub(crate) fn release_at(&mut self, index: u32) -> Option<T> {
        match self.records.get_mut(index as usize)? {
            Record::Live { owners, .. } => match NonZeroU32::new(owners.get() - 1) {
                Some(fewer) => {
                    *owners = fewer;
                    None
                }
                None => self.free_at(index),
            },
            Record::Free { .. } => None,
        }
    }

    /// Frees a record in use, regardless of its owners.
    #[inline]
    pub(crate) fn free_at(&mut self, index: u32) -> Option<T> {
        let record = self.records.get_mut(index as usize)?;
        let Record::Live { generation, .. } = record else { return None };
        let generation = generation.get();
        let free = Record::Free { generation, next: self.first_free };
        let Record::Live { value, .. } = core::mem::replace(record, free) else { return None };
        if generation < u32::MAX {
            self.first_free = index;
        }
        self.len -= 1;
        Some(value)
    }

    /// Returns the value at an index.
    #[inline]
    pub(crate) fn at(&self, index: u32) -> Option<&T> {
        match self.records.get(index as usize) {
            Some(Record::Live { value, .. }) => Some(value),
            _ => None,
        }
    }

    /// Returns a mutable reference to the value at an index.
    #[inline]
    pub(crate) fn at_mut(&mut self, index: u32) -> Option<&mut T> {
        match self.records.get_mut(index as usize) {
            Some(Record::Live { value, .. }) => Some(value),
            _ => None,
        }
    }

    /// Returns owners and value of a handle, or `None` if it is stale.
    #[inline]
    pub(crate) fn counted(&self, handle: Handle<T>) -> Option<(u32, &T)> {
        match self.records.get(handle.index() as usize) {
            Some(Record::Live { owners, generation, value })
                if generation.get() == generation_of(handle) =>
            {
                Some((owners.get(), value))
            }
            _ => None,
        }
    }

    /// Returns mutable references to owners and value at an index.
    #[inline]
    pub(crate) fn counted_at_mut(&mut self, index: u32) -> Option<(&mut NonZeroU32, &mut T)> {
        match self.records.get_mut(index as usize) {
            Some(Record::Live { owners, value, .. }) => Some((owners, value)),
            _ => None,
        }
    }

    /// Returns the handle of the record at an index.
    #[inline]
    pub(crate) fn handle_at(&self, index: u32) -> Option<Handle<T>> {
        match self.records.get(index as usize) {
            Some(Record::Live { generation, .. }) => handle(index, *generation),
            _ => None,
        }
    }

    /// Number of owners of the record at an index.
    pub(crate) fn owners_at(&self, index: u32) -> u32 {
        match self.records.get(index as usize) {
            Some(Record::Live { owners, .. }) => owners.get(),
            _ => 0,
        }
    }

    /// Capacity, in records.
    pub(crate) const fn capacity(&self) -> usize {
        self.records.capacity()
    }

    /// One past the highest index that was ever used.
    pub(crate) fn end(&self) -> u32 {
        self.records.len() as u32
    }
}
