use alloc::vec::Vec;
use core::num::NonZeroU32;

use drystone_alloc::Handle;

use crate::error::{Error, full};

#[cfg(test)]
mod tests;

/// End of the list of free records: no record.
const END: u32 = u32::MAX;
/// Minimum capacity of a pool that is not empty, in records.
const MIN_CAPACITY: usize = 16;
/// A full pool grows by 1/8. Little memory is reserved without use, and a record is copied about
/// eight times on average.
const GROWTH_DIVISOR: usize = 8;

/// Pool of records with several owners, each freed when its last owner releases it.
///
/// ```text
///  records   [2 owners, a] [ – , next 3] [1 owner, c] [ – , end]
///  free ─────────────────────────┘  └──────────────────────┘
/// ```
/// Free records form a list inside the pool. The pool only counts owners: an additional owner calls
/// [`share`](Self::share), and each owner calls [`release`](Self::release) once. Handles are
/// generational: the handle of a freed record is an error, even if its slot is reused.
///
/// The polygon store keeps its polygons, vertices and coordinates in such pools. Source: Jacco
/// Bikker's article on polygonal data, which also suggests it for sprites, spans and objects. The
/// example `spans` draws sprites with an s-buffer in three pools.
///
/// # Cost
/// O(1). The record freed last is reused first. Eight bytes per record in addition to its value,
/// for owners and generation, and 1/8 of the memory as reserve. A record whose generations are
/// exhausted (2³² uses) is retired.
///
/// # Examples
/// Sprites that share a picture:
/// ```
/// use drystone_mesh::{CountedPool, Handle};
///
/// struct Picture { name: &'static str }
/// struct Sprite { at: [f32; 2], picture: Handle<Picture> }
///
/// let mut pictures = CountedPool::new();
/// let mut sprites = CountedPool::new();
/// let picture = pictures.insert(Picture { name: "bee" })?;
/// let first = sprites.insert(Sprite { at: [0.0, 0.0], picture })?;
/// pictures.share(picture)?;
/// let second = sprites.insert(Sprite { at: [9.0, 0.0], picture })?;
/// assert_eq!(pictures.owners(picture), 2);
///
/// for sprite in [first, second] {
///     assert_eq!(pictures.get(sprites.get(sprite).unwrap().picture).unwrap().name, "bee");
///     // A removed sprite releases its picture.
///     if let Some(sprite) = sprites.release(sprite)? {
///         pictures.release(sprite.picture)?;
///     }
/// }
/// assert!(pictures.is_empty() && pictures.get(picture).is_none());
/// # Ok::<(), drystone_mesh::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CountedPool<T> {
    records: Vec<Record<T>>,
    first_free: u32,
    len: u32,
}

/// State of a record. The number of owners is never 0, so the compiler represents a free record by
/// 0.
#[derive(Clone, Debug)]
enum Record<T> {
    Live {
        owners: NonZeroU32,
        generation: NonZeroU32,
        value: T,
    },
    /// `generation` is that of the last use.
    Free {
        generation: u32,
        next: u32,
    },
}

// With a separate tag the size would be 16 bytes.
const _: () = assert!(size_of::<Record<u32>>() == 12);

impl<T> CountedPool<T> {
    /// Size of a record in bytes: the value, its owners and its generation.
    pub const RECORD_BYTES: usize = size_of::<Record<T>>();

    /// Creates an empty pool.
    pub const fn new() -> Self {
        Self { records: Vec::new(), first_free: END, len: 0 }
    }

    /// Inserts a value with one owner.
    ///
    /// # Errors
    /// `Full` if the heap is out of memory or all 2³² − 1 indices are used.
    #[inline]
    pub fn insert(&mut self, value: T) -> Result<Handle<T>, Error> {
        let (index, generation) = self.insert_record(value)?;
        handle(index, generation).ok_or(Error::Stale)
    }

    /// Adds one owner.
    ///
    /// # Errors
    /// `Stale` if the handle is stale, `TooManyOwners` beyond 2³² − 1.
    #[inline]
    pub fn share(&mut self, handle: Handle<T>) -> Result<(), Error> {
        self.get(handle).ok_or(Error::Stale)?;
        self.share_at(handle.index())
    }

    /// Removes one owner. The last one frees the record and gets the value.
    ///
    /// # Errors
    /// `Stale` if the handle is stale.
    #[inline]
    pub fn release(&mut self, handle: Handle<T>) -> Result<Option<T>, Error> {
        self.get(handle).ok_or(Error::Stale)?;
        Ok(self.release_at(handle.index()))
    }

    /// Returns the value, or `None` if the handle is stale.
    #[inline]
    pub fn get(&self, handle: Handle<T>) -> Option<&T> {
        self.counted(handle).map(|(_, value)| value)
    }

    /// Returns a mutable reference to the value, or `None` if the handle is stale. A change affects
    /// all owners.
    #[inline]
    pub fn get_mut(&mut self, handle: Handle<T>) -> Option<&mut T> {
        match self.records.get_mut(handle.index() as usize) {
            Some(Record::Live { generation, value, .. })
                if generation.get() == generation_of(handle) =>
            {
                Some(value)
            }
            _ => None,
        }
    }

    /// Reserves memory for `count` records beyond those in use, so that the pool need not grow for
    /// them.
    ///
    /// # Errors
    /// `Full` if the heap is out of memory or all 2³² − 1 indices are used.
    pub fn reserve(&mut self, count: usize) -> Result<(), Error> {
        let free = self.records.len() - self.len as usize;
        let more = count.saturating_sub(free);
        let bytes = more.saturating_mul(Self::RECORD_BYTES);
        if more > END as usize - self.records.len() {
            return Err(full(bytes));
        }
        self.records.try_reserve_exact(more).map_err(|_| full(bytes))
    }

    /// Number of owners of a record; 0 if the handle is stale.
    pub fn owners(&self, handle: Handle<T>) -> u32 {
        self.counted(handle).map_or(0, |(owners, _)| owners)
    }

    /// Number of records in use.
    pub const fn len(&self) -> u32 {
        self.len
    }

    /// Whether no record is in use.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Reserved memory in bytes, for records in use and free.
    pub const fn reserved_bytes(&self) -> usize {
        self.records.capacity() * Self::RECORD_BYTES
    }

    /// Iterates over all records in use with their handles, sorted by index.
    pub fn iter(&self) -> impl Iterator<Item = (Handle<T>, &T)> {
        self.records.iter().zip(0..).filter_map(|(record, index)| match record {
            Record::Live { generation, value, .. } => Some((handle(index, *generation)?, value)),
            Record::Free { .. } => None,
        })
    }

    /// Frees all records, regardless of their owners, and keeps the memory. All handles become
    /// stale.
    pub fn reset(&mut self) {
        for index in 0..self.records.len() as u32 {
            self.free_at(index);
        }
    }

    /// Verifies all invariants, for tests.
    ///
    /// # Errors
    /// The invariant that is violated.
    pub fn validate(&self) -> Result<(), &'static str> {
        let is_live = |record: &&Record<T>| matches!(record, Record::Live { .. });
        let live = self.records.iter().filter(is_live).count();
        if live != self.len as usize {
            return Err("the number of records is wrong");
        }
        let (mut listed, mut at) = (0, self.first_free);
        while let Some(Record::Free { next, .. }) = self.records.get(at as usize) {
            listed += 1;
            at = *next;
            if listed > self.records.len() {
                return Err("the list of free records has a cycle");
            }
        }
        let is_retired =
            |record: &&Record<T>| matches!(record, Record::Free { generation: u32::MAX, .. });
        let retired = self.records.iter().filter(is_retired).count();
        match at == END && live + listed + retired == self.records.len() {
            true => Ok(()),
            false => Err("a free record is not in the list of free records"),
        }
    }
}

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

impl<T> Default for CountedPool<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[inline]
fn handle<T>(index: u32, generation: NonZeroU32) -> Option<Handle<T>> {
    Handle::from_bits(u64::from(generation.get()) << u32::BITS | u64::from(index))
}

#[inline]
fn generation_of<T>(handle: Handle<T>) -> u32 {
    (handle.to_bits() >> u32::BITS) as u32
}
