use core::fmt;
use core::marker::PhantomData;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicU32, Ordering};

use self::chain::{Chain, Link};
use crate::debug_aids::{fill_freed, fill_new};
use crate::{Error, MemorySource, Region};

mod chain;
#[cfg(test)]
mod tests;

/// Size of a slab, the unit of requests to a source.
const SLAB_BYTES: usize = 1 << 14;

/// Pool of short arrays of plain values, with one free list for each length. The default lengths
/// are 3 to 20, for the vertices of polygons. Each longer array is a separate allocation of the
/// source.
///
/// ```text
///  length 3  ──► [·  ]──► [·  ]──► [·  ]        a free array begins with the address of
///         4  ──►                                the next of its length
///         5  ──► [·    ]──► [·    ]
///         …
///        20  ──► [·                   ]
///  slab [ 3 | 5     | 3 | 4   | 3 | ··········] fresh
/// ```
/// [`insert`](Self::insert) returns a [`List`], the only handle to its array. It cannot be copied,
/// so a double [`remove`](Self::remove) cannot happen. It borrows nothing and can be stored in any
/// struct; each use checks its owner. If a `List` is dropped without `remove`, its array stays
/// allocated until the next [`reset`](Self::reset).
///
/// Source: Jacco Bikker's article on polygonal data, "Managing The Vertex Pointer Arrays".
///
/// # Cost
/// O(1), a few nanoseconds per array plus a copy of its values. No overhead, but an array is at
/// least as large as an address. Memory is not moved from one length to another.
///
/// # Limits
/// Values are `Copy`: no destructors run. An array shorter than the shortest length takes an array
/// of that length. An empty array takes no memory.
///
/// # Examples
/// ```
/// use drystone_memory::{Heap, SizeLists};
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
/// # Ok::<(), drystone_memory::Error>(())
/// ```
pub struct SizeLists<'m, T, const LENGTHS: usize = 18> {
    /// First free array of each length.
    free: [Link; LENGTHS],
    shortest: usize,
    chain: Chain<'m>,
    /// Number that all valid lists of this allocator store.
    owner: u32,
    used_count: usize,
    values: PhantomData<T>,
}

impl<'m, T: Copy> SizeLists<'m, T> {
    /// Default of the shortest length that has a free list.
    pub const SHORTEST: usize = 3;

    /// Creates free lists for the lengths 3 to 20, with memory from `source`.
    pub fn new(source: &'m dyn MemorySource) -> Self {
        Self::with_shortest(Self::SHORTEST, source)
    }
}

impl<'m, T: Copy, const LENGTHS: usize> SizeLists<'m, T, LENGTHS> {
    /// Creates free lists for `LENGTHS` lengths from `shortest` on, with memory from `source`.
    pub fn with_shortest(shortest: usize, source: &'m dyn MemorySource) -> Self {
        Self::in_chain(shortest, Chain::in_slabs(source))
    }

    /// Creates free lists for `LENGTHS` lengths from `shortest` on, in a region. Longer arrays
    /// cannot be allocated.
    pub fn in_region(shortest: usize, region: Region<'m>) -> Self {
        Self::in_chain(shortest, Chain::in_region(region))
    }

    fn in_chain(shortest: usize, chain: Chain<'m>) -> Self {
        let (free, owner) = ([ptr::null_mut(); LENGTHS], next_owner());
        Self { free, shortest, chain, owner, used_count: 0, values: PhantomData }
    }

    /// Allocates a copy of `values`.
    ///
    /// # Errors
    /// `Full` if the memory is exhausted, `InvalidSize` for more than 2³² − 1 values.
    #[inline]
    pub fn insert(&mut self, values: &[T]) -> Result<List<T>, Error> {
        let start = self.allocate(values.len())?;
        // SAFETY: the array is new, and has space for this number of values.
        unsafe { start.copy_from_nonoverlapping(NonNull::from(values).cast(), values.len()) }
        Ok(List { start, len: values.len() as u32, owner: self.owner })
    }

    /// Allocates an array of `len` values, where `make` returns the value of each index.
    ///
    /// # Errors
    /// `Full` if the memory is exhausted, `InvalidSize` for more than 2³² − 1 values. `make` is not
    /// called then.
    #[inline]
    pub fn insert_with(
        &mut self,
        len: usize,
        mut make: impl FnMut(usize) -> T,
    ) -> Result<List<T>, Error> {
        let start = self.allocate(len)?;
        let list = List { start, len: len as u32, owner: self.owner };
        for index in 0..len {
            // SAFETY: the array is new, and has space for `len` values. If `make` panics, it stays
            // allocated until the next reset.
            unsafe { start.add(index).write(make(index)) }
        }
        Ok(list)
    }

    /// Frees an array.
    ///
    /// # Errors
    /// `NotAllocated` if the list belongs to another allocator, or was made before a
    /// [`reset`](Self::reset). Nothing changes then.
    #[inline]
    pub fn remove(&mut self, list: List<T>) -> Result<(), Error> {
        if list.owner != self.owner {
            return Err(Error::NotAllocated);
        }
        let len = list.len as usize;
        self.used_count -= 1;
        self.chain.count_free(len * size_of::<T>());
        // SAFETY: the list was the only handle to this array of ours.
        unsafe { fill_freed(list.start.cast(), len * size_of::<T>()) };
        match self.list_index(len) {
            _ if len == 0 => {}
            // SAFETY: the list was the only handle to this array of ours, which has at least the
            // size of the link.
            Some(index) => unsafe {
                list.start.cast::<Link>().write_unaligned(self.free[index]);
                self.free[index] = list.start.as_ptr().cast();
            },
            // SAFETY: the list was the only handle; longer arrays belong to the chain.
            None => unsafe { self.chain.free_long::<T>(list.start, len) },
        }
        Ok(())
    }

    /// Returns the values, or `None` if the list belongs to another allocator or was made before a
    /// [`reset`](Self::reset).
    #[inline]
    pub fn get<'l>(&'l self, list: &'l List<T>) -> Option<&'l [T]> {
        let values = NonNull::slice_from_raw_parts(list.start, list.len as usize);
        if list.owner != self.owner {
            return None;
        }
        // SAFETY: the array is ours, its values were written when it was made, and changing or
        // removing it requires the list.
        Some(unsafe { values.as_ref() })
    }

    /// Returns the values mutably, or `None` if the list belongs to another allocator or was made
    /// before a [`reset`](Self::reset).
    #[inline]
    pub fn get_mut<'l>(&'l self, list: &'l mut List<T>) -> Option<&'l mut [T]> {
        let mut values = NonNull::slice_from_raw_parts(list.start, list.len as usize);
        if list.owner != self.owner {
            return None;
        }
        // SAFETY: the array is ours and its values were written, and the list, which is borrowed
        // mutably, is the only access to the array.
        Some(unsafe { values.as_mut() })
    }

    /// Frees all arrays at once and keeps the memory, except that of longer arrays. All existing
    /// lists become invalid.
    pub fn reset(&mut self) {
        self.free = [ptr::null_mut(); LENGTHS];
        self.chain.reset();
        self.owner = next_owner();
        self.used_count = 0;
    }

    /// Number of arrays.
    pub const fn len(&self) -> usize {
        self.used_count
    }

    /// Whether there are no arrays.
    pub const fn is_empty(&self) -> bool {
        self.used_count == 0
    }

    /// Size of the memory from the source, including longer arrays, in bytes.
    pub const fn reserved_bytes(&self) -> usize {
        self.chain.reserved_bytes()
    }

    /// Returns the index of the free list for a length, or `None` for longer arrays.
    #[inline]
    fn list_index(&self, len: usize) -> Option<usize> {
        let index = len.saturating_sub(self.shortest);
        (index < LENGTHS).then_some(index)
    }

    /// Allocates memory for `len` values, which are not written yet.
    #[inline]
    fn allocate(&mut self, len: usize) -> Result<NonNull<T>, Error> {
        if len > u32::MAX as usize {
            return Err(Error::InvalidSize);
        }
        if self.owner == 0 {
            return Err(Error::full(0));
        }
        let start = match self.list_index(len) {
            _ if len == 0 => NonNull::dangling(),
            Some(index) => match NonNull::new(self.free[index]) {
                Some(free) => {
                    // SAFETY: the list contains free arrays of ours, which begin with a link.
                    self.free[index] = unsafe { free.cast::<Link>().read_unaligned() };
                    free.cast()
                }
                None => self.allocate_fresh(index)?,
            },
            None => self.chain.allocate_long(len)?,
        };
        self.used_count += 1;
        self.chain.count_allocation(len * size_of::<T>());
        // SAFETY: the array is new, and has space for this number of values.
        unsafe { fill_new(start.cast(), len * size_of::<T>()) };
        Ok(start)
    }

    /// Allocates an array of a length whose free list is empty.
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
            None => Err(Error::full(bytes)),
        }
    }

    /// Divides the rest of a slab into arrays of the greatest lengths that fit.
    fn list_rest(&mut self) {
        for index in (0..LENGTHS).rev() {
            let Ok(bytes) = self.array_bytes(index) else { continue };
            while let Some(start) = self.chain.cut(bytes, align_of::<T>()) {
                // SAFETY: it is an array of ours that is not allocated.
                unsafe { start.cast::<Link>().write_unaligned(self.free[index]) }
                self.free[index] = start.as_ptr();
            }
        }
    }

    /// Returns the size of the arrays of a free list, in bytes.
    fn array_bytes(&self, index: usize) -> Result<usize, Error> {
        let bytes = self.shortest.checked_add(index).and_then(|n| n.checked_mul(size_of::<T>()));
        let min = size_of::<Link>().next_multiple_of(align_of::<T>());
        match bytes {
            Some(bytes) if bytes <= isize::MAX as usize => Ok(bytes.max(min)),
            _ => Err(Error::InvalidSize),
        }
    }
}

// SAFETY: the arrays are owned, and nothing here is thread-specific.
unsafe impl<T: Send, const LENGTHS: usize> Send for SizeLists<'_, T, LENGTHS> {}
// SAFETY: with a shared reference, values can only be read or, with a list, written.
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

/// The only handle to an array in [`SizeLists`].
#[must_use = "the array stays until it is removed"]
pub struct List<T> {
    start: NonNull<T>,
    len: u32,
    /// Number of the allocator that it belongs to.
    owner: u32,
}

impl<T> List<T> {
    /// Number of values of the array.
    #[inline]
    pub const fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether the array is empty.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

// SAFETY: a list owns its values.
unsafe impl<T: Send> Send for List<T> {}
// SAFETY: a shared list gives access to shared values only.
unsafe impl<T: Sync> Sync for List<T> {}

impl<T> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "List({} values of {})", self.len, self.owner)
    }
}

/// Returns a number that was never returned before, or 0 if all numbers are used.
fn next_owner() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    next_number(&NEXT)
}

fn next_number(next: &AtomicU32) -> u32 {
    let after = |number: u32| if number == 0 { None } else { Some(number.wrapping_add(1)) };
    next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, after).unwrap_or(0)
}
