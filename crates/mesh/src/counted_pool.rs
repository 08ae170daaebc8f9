use alloc::vec::Vec;
use core::num::NonZeroU32;

use drystone_alloc::Handle;

use crate::error::{Error, full};

mod by_place;
#[cfg(test)]
mod tests;

/// No record: the end of the list of free ones.
const END: u32 = u32::MAX;
/// Records that a pool has memory for as soon as it has any.
const LEAST_RECORDS: usize = 16;
/// A pool grows by one part in so many: little is reserved in vain, and a record is copied
/// some eight times on average.
const GROWTH: usize = 8;

/// Records that several owners share, and that are freed when the last of them lets go.
///
/// ```text
///  records   [2 owners, a] [ – , next 3] [1 owner, c] [ – , end]
///  free ─────────────────────────┘  └──────────────────────┘
/// ```
/// The list of free records lies inside of them. An owner is a number and no more: who
/// shares a record says so with [`share`](Self::share), and later says
/// [`release`](Self::release) once. Handles are generational: that of a record that is gone
/// is an error, whoever has the place next.
///
/// It is what the polygon store keeps its polygons, vertices and coordinates in. From Jacco
/// Bikker's article on polygonal data, which foresees it for sprites, spans and objects.
///
/// # Cost
/// O(1); the record freed last is the first reused. Eight bytes a record besides its value,
/// for owners and generation, and an eighth more of all while growing. A record whose
/// generations have run out (2³² uses) is retired.
///
/// # Examples
/// Sprites that share their picture:
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
///     // A sprite that goes lets go of its picture.
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

/// Owners are never 0, which is how the compiler tells a free record.
#[derive(Clone, Debug)]
enum Record<T> {
    Live {
        owners: NonZeroU32,
        generation: NonZeroU32,
        value: T,
    },
    /// The generation is that of the last use.
    Free {
        generation: u32,
        next: u32,
    },
}

// With a tag of its own it would be 16.
const _: () = assert!(size_of::<Record<u32>>() == 12);

impl<T> CountedPool<T> {
    /// Bytes of a record: the value, its owners and its generation.
    pub const RECORD_BYTES: usize = size_of::<Record<T>>();

    /// A pool without records.
    pub const fn new() -> Self {
        Self { records: Vec::new(), first_free: END, len: 0 }
    }

    /// Puts a value into a free record, for one owner.
    ///
    /// # Errors
    /// `Full` when memory or the 2³² − 1 numbers of records ran out.
    #[inline]
    pub fn insert(&mut self, value: T) -> Result<Handle<T>, Error> {
        let (index, generation) = self.put(value)?;
        handle(index, generation).ok_or(Error::Stale)
    }

    /// Counts one owner more.
    ///
    /// # Errors
    /// `Stale`; `TooManyOwners` beyond 2³² − 1.
    #[inline]
    pub fn share(&mut self, handle: Handle<T>) -> Result<(), Error> {
        match self.records.get_mut(handle.index() as usize) {
            Some(Record::Live { generation, owners, .. })
                if generation.get() == generation_of(handle) =>
            {
                *owners = owners.checked_add(1).ok_or(Error::TooManyOwners)?;
                Ok(())
            }
            _ => Err(Error::Stale),
        }
    }

    /// Counts one owner less. The last one frees the record and gets the value.
    ///
    /// # Errors
    /// `Stale`.
    #[inline]
    pub fn release(&mut self, handle: Handle<T>) -> Result<Option<T>, Error> {
        match self.get(handle) {
            Some(_) => Ok(self.release_at(handle.index())),
            None => Err(Error::Stale),
        }
    }

    /// The value, or `None` when the handle is stale.
    #[inline]
    pub fn get(&self, handle: Handle<T>) -> Option<&T> {
        match self.records.get(handle.index() as usize) {
            Some(Record::Live { generation, value, .. })
                if generation.get() == generation_of(handle) =>
            {
                Some(value)
            }
            _ => None,
        }
    }

    /// The value, to be changed for all of its owners, or `None` when the handle is stale.
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

    /// Memory for `count` records beyond those in use, for whoever knows how many come: the
    /// pool need not grow then.
    ///
    /// # Errors
    /// `Full` when memory or the 2³² − 1 numbers of records ran out.
    pub fn reserve(&mut self, count: usize) -> Result<(), Error> {
        let free = self.records.len() - self.len as usize;
        let more = count.saturating_sub(free);
        let bytes = more.saturating_mul(Self::RECORD_BYTES);
        if more > END as usize - self.records.len() {
            return Err(full(bytes));
        }
        self.records.try_reserve_exact(more).map_err(|_| full(bytes))
    }

    /// How many owners the record has; none when the handle is stale.
    pub fn owners(&self, handle: Handle<T>) -> u32 {
        match self.get(handle) {
            Some(_) => self.owners_at(handle.index()),
            None => 0,
        }
    }

    /// How many records are in use.
    pub const fn len(&self) -> u32 {
        self.len
    }

    /// Whether no record is in use.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of memory that the pool has, for records used and free.
    pub const fn reserved_bytes(&self) -> usize {
        self.records.capacity() * Self::RECORD_BYTES
    }

    /// Every record in use with its handle, by place.
    pub fn iter(&self) -> impl Iterator<Item = (Handle<T>, &T)> {
        self.records.iter().zip(0..).filter_map(|(record, index)| match record {
            Record::Live { generation, value, .. } => Some((handle(index, *generation)?, value)),
            Record::Free { .. } => None,
        })
    }

    /// Frees every record, whatever its owners, and keeps the memory. All handles are stale
    /// then.
    pub fn reset(&mut self) {
        for index in 0..self.records.len() as u32 {
            self.free_at(index);
        }
    }

    /// Walks the whole pool and says what is wrong with it, for tests.
    ///
    /// # Errors
    /// The invariant that does not hold.
    pub fn check(&self) -> Result<(), &'static str> {
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
                return Err("the list of free records has no end");
            }
        }
        let is_retired =
            |record: &&Record<T>| matches!(record, Record::Free { generation: u32::MAX, .. });
        let retired = self.records.iter().filter(is_retired).count();
        match at == END && live + listed + retired == self.records.len() {
            true => Ok(()),
            false => Err("a free record is not in the list of free ones"),
        }
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
