use core::fmt;
use core::marker::PhantomData;
use core::ptr::{self, NonNull};

use self::chain::{Chain, Link};
use self::owner::next_owner;
use super::{MemorySource, Region};
use crate::Error;

mod chain;
mod list;
mod owner;
#[cfg(test)]
mod tests;

pub use self::list::List;

/// Bytes that are asked of a source at a time.
const SLAB_BYTES: usize = 1 << 14;

/// Short arrays of plain values, with one list of free ones for every length: by default 3
/// to 20, as the vertices of polygons are. Longer arrays come from the source, one by one.
///
/// ```text
///  length 3  ──► [·  ]──► [·  ]──► [·  ]        a free array begins with the address of
///         4  ──►                                the next of its length
///         5  ──► [·    ]──► [·    ]
///         …
///        20  ──► [·                   ]
///  slab [ 3 | 5     | 3 | 4   | 3 | ··········] fresh
/// ```
/// [`insert`](Self::insert) gives a [`List`], the only handle to its array: it can't be
/// copied, so that a second [`remove`](Self::remove) cannot be written. It borrows nothing,
/// and can be kept in records of any kind; what it is good for is checked at each use. One
/// that is lost keeps its array until the next [`reset`](Self::reset).
///
/// From Jacco Bikker's article on polygonal data, "Managing The Vertex Pointer Arrays".
///
/// # Cost
/// O(1), some nanoseconds an array and a copy of its values. No bytes besides, but arrays
/// are at least as long as an address. Memory does not move from one length to another.
///
/// # Limits
/// Values are `Copy`: no destructors run. Shorter arrays than the shortest length take one
/// of that; empty ones take nothing.
///
/// # Examples
/// ```
/// use drystone_alloc::memory::{Heap, SizeLists};
///
/// let mut lists = SizeLists::<u32>::new(&Heap);
/// let mut quad = lists.insert(&[0, 1, 2, 3])?;
/// let triangle = lists.insert(&[2, 1, 4])?;
/// lists.get_mut(&mut quad).unwrap()[3] = 7;
/// assert_eq!(lists.get(&quad), Some(&[0, 1, 2, 7][..]));
/// lists.remove(quad)?;
/// assert_eq!(lists.len(), 1);
///
/// let others = SizeLists::<u32>::new(&Heap);
/// assert_eq!(others.get(&triangle), None);
/// # Ok::<(), drystone_alloc::Error>(())
/// ```
pub struct SizeLists<'m, T, const LENGTHS: usize = 18> {
    /// The first free array of each length.
    free: [Link; LENGTHS],
    shortest: usize,
    chain: Chain<'m>,
    /// Stands in every list that is good here.
    owner: u32,
    used_count: usize,
    values: PhantomData<T>,
}

impl<'m, T: Copy> SizeLists<'m, T> {
    /// The shortest length that has a list, unless it is chosen.
    pub const SHORTEST: usize = 3;

    /// Lists for the lengths 3 to 20, with memory from `source`.
    pub fn new(source: &'m dyn MemorySource) -> Self {
        Self::with_shortest(Self::SHORTEST, source)
    }
}

impl<'m, T: Copy, const LENGTHS: usize> SizeLists<'m, T, LENGTHS> {
    /// Lists for `LENGTHS` lengths from `shortest` on, with memory from `source`.
    pub fn with_shortest(shortest: usize, source: &'m dyn MemorySource) -> Self {
        Self::in_chain(shortest, Chain::in_slabs(source))
    }

    /// Lists for `LENGTHS` lengths from `shortest` on, in a region. Longer arrays find no
    /// place.
    pub fn in_region(shortest: usize, region: Region<'m>) -> Self {
        Self::in_chain(shortest, Chain::in_region(region))
    }

    fn in_chain(shortest: usize, chain: Chain<'m>) -> Self {
        let (free, owner) = ([ptr::null_mut(); LENGTHS], next_owner());
        Self { free, shortest, chain, owner, used_count: 0, values: PhantomData }
    }

    /// A copy of `values`.
    ///
    /// # Errors
    /// `Full` when the memory is used up, `InvalidSize` for more than 2³² − 1 values.
    #[inline]
    pub fn insert(&mut self, values: &[T]) -> Result<List<T>, Error> {
        let start = self.allocate(values.len())?;
        // SAFETY: the array is new, and has room for as many values.
        unsafe { start.copy_from_nonoverlapping(NonNull::from(values).cast(), values.len()) }
        Ok(List { start, len: values.len() as u32, owner: self.owner })
    }

    /// An array of `len` values, each made by `make` from its index.
    ///
    /// # Errors
    /// As for [`insert`](Self::insert); `make` is not called then.
    #[inline]
    pub fn insert_with(
        &mut self,
        len: usize,
        mut make: impl FnMut(usize) -> T,
    ) -> Result<List<T>, Error> {
        let start = self.allocate(len)?;
        let list = List { start, len: len as u32, owner: self.owner };
        for index in 0..len {
            // SAFETY: the array is new, and has room for `len` values. If `make` panics, it
            // is lost until the next reset.
            unsafe { start.add(index).write(make(index)) }
        }
        Ok(list)
    }

    /// Takes an array back.
    ///
    /// # Errors
    /// `NotAllocated` if it belongs to others, or was there before a [`reset`](Self::reset):
    /// nothing happens then.
    #[inline]
    pub fn remove(&mut self, list: List<T>) -> Result<(), Error> {
        if list.owner != self.owner {
            return Err(Error::NotAllocated);
        }
        let len = list.len as usize;
        self.used_count -= 1;
        match self.list_of(len) {
            _ if len == 0 => {}
            // SAFETY: the list was the only handle to this array of ours, which has at
            // least as many bytes as the link.
            Some(index) => unsafe {
                list.start.cast::<Link>().write_unaligned(self.free[index]);
                self.free[index] = list.start.as_ptr().cast();
            },
            // SAFETY: as above; longer arrays are the chain's own.
            None => unsafe { self.chain.free_long::<T>(list.start, len) },
        }
        Ok(())
    }

    /// The values, or `None` when the list belongs to others or to the time before a
    /// [`reset`](Self::reset).
    #[inline]
    pub fn get<'l>(&'l self, list: &'l List<T>) -> Option<&'l [T]> {
        let values = NonNull::slice_from_raw_parts(list.start, list.len as usize);
        if list.owner != self.owner {
            return None;
        }
        // SAFETY: the array is ours, its values were written when it was made, and who would
        // change or remove it needs the list.
        Some(unsafe { values.as_ref() })
    }

    /// The values, to be changed, or `None` as for [`get`](Self::get).
    #[inline]
    pub fn get_mut<'l>(&'l self, list: &'l mut List<T>) -> Option<&'l mut [T]> {
        let mut values = NonNull::slice_from_raw_parts(list.start, list.len as usize);
        if list.owner != self.owner {
            return None;
        }
        // SAFETY: as above, and the list, which is borrowed mutably, is the only way to the
        // array.
        Some(unsafe { values.as_mut() })
    }

    /// Takes every array back at once and keeps the memory, but for that of longer arrays.
    /// No list that was made before is good any more.
    pub fn reset(&mut self) {
        self.free = [ptr::null_mut(); LENGTHS];
        self.chain.reset();
        self.owner = next_owner();
        self.used_count = 0;
    }

    /// How many arrays there are.
    pub const fn len(&self) -> usize {
        self.used_count
    }

    /// Whether there is no array.
    pub const fn is_empty(&self) -> bool {
        self.used_count == 0
    }

    /// Bytes of memory that were asked for, longer arrays included.
    pub const fn reserved_bytes(&self) -> usize {
        self.chain.reserved_bytes()
    }

    /// The list of free arrays for a length; `None` for longer ones.
    #[inline]
    fn list_of(&self, len: usize) -> Option<usize> {
        let index = len.saturating_sub(self.shortest);
        (index < LENGTHS).then_some(index)
    }

    /// Room for `len` values, not yet written.
    #[inline]
    fn allocate(&mut self, len: usize) -> Result<NonNull<T>, Error> {
        if len > u32::MAX as usize {
            return Err(Error::InvalidSize);
        }
        if self.owner == 0 {
            return Err(full(0));
        }
        let start = match self.list_of(len) {
            _ if len == 0 => NonNull::dangling(),
            Some(index) => match NonNull::new(self.free[index]) {
                Some(free) => {
                    // SAFETY: what is listed is a free array of ours, which begins with a
                    // link.
                    self.free[index] = unsafe { free.cast::<Link>().read_unaligned() };
                    free.cast()
                }
                None => self.allocate_fresh(index)?,
            },
            None => self.chain.allocate_long(len)?,
        };
        self.used_count += 1;
        Ok(start)
    }

    /// An array of a length whose list is empty.
    #[inline(never)]
    fn allocate_fresh(&mut self, index: usize) -> Result<NonNull<T>, Error> {
        let bytes = self.array_bytes(index)?;
        if let Some(start) = self.chain.cut(bytes, align_of::<T>()) {
            return Ok(start.cast());
        }
        self.list_rest();
        self.chain.open_slab(bytes, align_of::<T>())?;
        match self.chain.cut(bytes, align_of::<T>()) {
            Some(start) => Ok(start.cast()),
            None => Err(full(bytes)),
        }
    }

    /// Cuts what is left of a slab into arrays of the greatest lengths that it has room for.
    fn list_rest(&mut self) {
        for index in (0..LENGTHS).rev() {
            let Ok(bytes) = self.array_bytes(index) else { continue };
            while let Some(start) = self.chain.cut(bytes, align_of::<T>()) {
                // SAFETY: it is an array of ours that nobody has.
                unsafe { start.cast::<Link>().write_unaligned(self.free[index]) }
                self.free[index] = start.as_ptr();
            }
        }
    }

    /// Bytes of the arrays of a list.
    fn array_bytes(&self, index: usize) -> Result<usize, Error> {
        let bytes = self.shortest.checked_add(index).and_then(|n| n.checked_mul(size_of::<T>()));
        let least = size_of::<Link>().next_multiple_of(align_of::<T>());
        match bytes {
            Some(bytes) if bytes <= isize::MAX as usize => Ok(bytes.max(least)),
            _ => Err(Error::InvalidSize),
        }
    }
}

#[cold]
fn full(requested: usize) -> Error {
    Error::Full { requested: requested as u64, largest_free: 0, total_free: 0 }
}

// SAFETY: the arrays are owned, and nothing here belongs to a thread.
unsafe impl<T: Send, const LENGTHS: usize> Send for SizeLists<'_, T, LENGTHS> {}
// SAFETY: who shares the lists can read and, with a list, write its values, and no more.
unsafe impl<T: Send + Sync, const LENGTHS: usize> Sync for SizeLists<'_, T, LENGTHS> {}

impl<T, const LENGTHS: usize> fmt::Debug for SizeLists<'_, T, LENGTHS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SizeLists")
            .field("shortest", &self.shortest)
            .field("lengths", &LENGTHS)
            .field("used_count", &self.used_count)
            .finish_non_exhaustive()
    }
}
