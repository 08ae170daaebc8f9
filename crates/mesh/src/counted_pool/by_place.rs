use core::num::NonZeroU32;

use drystone_alloc::Handle;

use super::{CountedPool, END, GROWTH, LEAST_RECORDS, Record, generation_of, handle};
use crate::error::{Error, full};

/// Records by place, for those whose owners keep 32 bits: a place that has an owner is not
/// handed out again, so that the generation need not be asked.
impl<T> CountedPool<T> {
    /// [`insert`](Self::insert) that gives the place.
    #[inline(always)]
    pub(crate) fn insert_at(&mut self, value: T) -> Result<u32, Error> {
        self.put(value).map(|(index, _)| index)
    }

    /// [`insert`](Self::insert) that gives place and generation.
    #[inline(always)]
    pub(super) fn put(&mut self, value: T) -> Result<(u32, NonZeroU32), Error> {
        let index = self.first_free;
        // Records that are listed are free and have a generation left.
        if let Some(record) = self.records.get_mut(index as usize)
            && let Record::Free { generation, next } = *record
            && let Some(generation) = NonZeroU32::new(generation.wrapping_add(1))
        {
            self.first_free = next;
            *record = Record::Live { owners: NonZeroU32::MIN, generation, value };
            self.len += 1;
            return Ok((index, generation));
        }
        self.put_new(value)
    }

    /// Puts a value behind all records.
    fn put_new(&mut self, value: T) -> Result<(u32, NonZeroU32), Error> {
        let index = self.records.len();
        if index == self.records.capacity() {
            self.grow()?;
        }
        let generation = NonZeroU32::MIN;
        self.records.push(Record::Live { owners: NonZeroU32::MIN, generation, value });
        self.len += 1;
        Ok((index as u32, generation))
    }

    /// Memory for one record: the next insertion finds it.
    #[inline]
    pub(crate) fn reserve_one(&mut self) -> Result<(), Error> {
        match self.first_free == END && self.records.len() == self.records.capacity() {
            true => self.grow(),
            false => Ok(()),
        }
    }

    #[cold]
    fn grow(&mut self) -> Result<(), Error> {
        let most = END as usize - self.records.len();
        let more = (self.records.len() / GROWTH).max(LEAST_RECORDS).min(most);
        let bytes = more * Self::RECORD_BYTES;
        if more == 0 {
            return Err(full(Self::RECORD_BYTES));
        }
        self.records.try_reserve_exact(more).map_err(|_| full(bytes))
    }

    /// Counts one owner more of a record in use.
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

    /// Counts one owner less; the last one frees the record and gets the value.
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

    /// Frees a record in use, whatever its owners.
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

    /// The value at a place.
    #[inline]
    pub(crate) fn at(&self, index: u32) -> Option<&T> {
        match self.records.get(index as usize) {
            Some(Record::Live { value, .. }) => Some(value),
            _ => None,
        }
    }

    /// The value at a place, to be changed.
    #[inline]
    pub(crate) fn at_mut(&mut self, index: u32) -> Option<&mut T> {
        match self.records.get_mut(index as usize) {
            Some(Record::Live { value, .. }) => Some(value),
            _ => None,
        }
    }

    /// Owners and value of a handle, or `None` when it is stale.
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

    /// Owners and value at a place, to be changed.
    #[inline]
    pub(crate) fn counted_at_mut(&mut self, index: u32) -> Option<(&mut NonZeroU32, &mut T)> {
        match self.records.get_mut(index as usize) {
            Some(Record::Live { owners, value, .. }) => Some((owners, value)),
            _ => None,
        }
    }

    /// The handle of what lies at a place.
    #[inline]
    pub(crate) fn handle_at(&self, index: u32) -> Option<Handle<T>> {
        match self.records.get(index as usize) {
            Some(Record::Live { generation, .. }) => handle(index, *generation),
            _ => None,
        }
    }

    /// Owners of what lies at a place.
    pub(crate) fn owners_at(&self, index: u32) -> u32 {
        match self.records.get(index as usize) {
            Some(Record::Live { owners, .. }) => owners.get(),
            _ => 0,
        }
    }

    /// Records that there is memory for.
    pub(crate) const fn capacity(&self) -> usize {
        self.records.capacity()
    }

    /// One past the last place that was ever used.
    pub(crate) fn end(&self) -> u32 {
        self.records.len() as u32
    }
}
