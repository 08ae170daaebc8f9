use alloc::vec::Vec;

use crate::counted_pool::CountedPool;
use crate::error::{Error, full};

/// Storage of the vertex lists of polygons: runs of indices, most of them 3 to 20 long.
///
/// [`IndexRuns`] is the default. The table `polygons` of `drystone-bench` compares it with lists by
/// length in slabs and with ranges of a [`RangeSpace`](drystone_alloc::RangeSpace).
pub trait VertexLists: Default {
    /// The only handle to a run.
    type List;

    /// Allocates a copy of `vertices`.
    ///
    /// # Errors
    /// `Full` if the heap is out of memory.
    fn insert(&mut self, vertices: &[u32]) -> Result<Self::List, Error>;

    /// Returns the indices of a run.
    fn get<'l>(&'l self, list: &'l Self::List) -> &'l [u32];

    /// Frees a run.
    fn remove(&mut self, list: Self::List);

    /// Frees all runs and keeps the memory.
    fn reset(&mut self);

    /// Reserves memory for runs of `count` indices in total, in addition to those in use. An
    /// implementation may do nothing and allocate later.
    ///
    /// # Errors
    /// `Full` if the heap is out of memory.
    fn reserve(&mut self, count: usize) -> Result<(), Error> {
        let _ = count;
        Ok(())
    }

    /// Reserved memory, in bytes.
    fn reserved_bytes(&self) -> usize;
}

pub(super) type Polygons<L> = CountedPool<PolygonRecord<<L as VertexLists>::List>>;

/// Polygon: the indices of its vertices.
#[derive(Debug)]
pub(super) struct PolygonRecord<List> {
    pub(super) list: List,
}

/// Shortest and longest run with a free list.
const SHORTEST: usize = 3;
const LONGEST: usize = 20;
/// End of a free list: no run.
const END: u32 = u32::MAX;
/// The buffer grows by 1/8.
const GROWTH_DIVISOR: usize = 8;
/// Minimum capacity of a buffer that is not empty, in indices.
const MIN_CAPACITY: usize = 1024;

/// Storage of vertex lists in one buffer, with a free list for each length.
///
/// ```text
///  length 3 ──► 7 ──► 0               a free run begins with the offset of the next
///         4 ──► 3
///  buffer [– · ·|4 free|0 · ·|5 4 9|8 6 5 7 …
///         0     3      7
/// ```
/// Handles are offsets, and the buffer can be uploaded without conversion. Runs longer than 20 are on
/// the heap.
#[derive(Debug)]
pub struct IndexRuns {
    numbers: Vec<u32>,
    /// First free run of each length.
    free: [u32; LONGEST - SHORTEST + 1],
    /// Runs longer than `LONGEST`.
    long: CountedPool<Vec<u32>>,
}

/// Run: its offset in the buffer, or its index among the long ones.
#[derive(Debug)]
pub struct IndexRun {
    start: u32,
    len: u32,
}

impl IndexRuns {
    /// Appends a run to the buffer.
    #[inline]
    fn push(&mut self, vertices: &[u32]) -> Result<u32, Error> {
        let start = self.numbers.len();
        // A free run stores an offset, so every run has at least the shortest length.
        let len = vertices.len().max(SHORTEST);
        if self.numbers.capacity() - start < len {
            self.grow()?;
        }
        self.numbers.extend_from_slice(vertices);
        self.numbers.resize(start + len, 0);
        Ok(start as u32)
    }

    #[cold]
    fn grow(&mut self) -> Result<(), Error> {
        let more = (self.numbers.len() / GROWTH_DIVISOR).max(MIN_CAPACITY);
        if self.numbers.len() + more >= END as usize {
            return Err(full(more));
        }
        self.numbers.try_reserve_exact(more).map_err(|_| full(more * size_of::<u32>()))
    }

    #[cold]
    fn insert_long(&mut self, vertices: &[u32]) -> Result<IndexRun, Error> {
        let len = u32::try_from(vertices.len()).map_err(|_| full(vertices.len()))?;
        let mut numbers = Vec::new();
        numbers.try_reserve_exact(vertices.len()).map_err(|_| full(vertices.len()))?;
        numbers.extend_from_slice(vertices);
        Ok(IndexRun { start: self.long.insert_at(numbers)?, len })
    }
}

/// Copies indices to a run of the same length. The most frequent, short lengths need no call.
#[inline]
fn copy(run: &mut [u32], vertices: &[u32]) {
    match (run, vertices) {
        ([a, b, c], [x, y, z]) => (*a, *b, *c) = (*x, *y, *z),
        ([a, b, c, d], [x, y, z, w]) => (*a, *b, *c, *d) = (*x, *y, *z, *w),
        (run, vertices) => run.copy_from_slice(vertices),
    }
}

/// Returns the free list for a length; `None` for longer runs.
#[inline]
fn free_list(len: usize) -> Option<usize> {
    (len <= LONGEST).then_some(len.saturating_sub(SHORTEST))
}

impl Default for IndexRuns {
    fn default() -> Self {
        let free = [END; LONGEST - SHORTEST + 1];
        Self { numbers: Vec::new(), free, long: CountedPool::new() }
    }
}

impl VertexLists for IndexRuns {
    type List = IndexRun;

    #[inline]
    fn insert(&mut self, vertices: &[u32]) -> Result<IndexRun, Error> {
        let Some(list) = free_list(vertices.len()) else { return self.insert_long(vertices) };
        let len = vertices.len() as u32;
        let start = self.free[list];
        // No run has the offset `END`: the list is empty then.
        let next = self.numbers.get(start as usize).copied();
        let rest = self.numbers.get_mut(start as usize..);
        match rest.and_then(|rest| rest.get_mut(..vertices.len())) {
            Some(run) => {
                self.free[list] = next.unwrap_or(END);
                copy(run, vertices);
                Ok(IndexRun { start, len })
            }
            None => Ok(IndexRun { start: self.push(vertices)?, len }),
        }
    }

    #[inline]
    fn get<'l>(&'l self, list: &'l IndexRun) -> &'l [u32] {
        let (start, len) = (list.start as usize, list.len as usize);
        match len <= LONGEST {
            true => self.numbers.get(start..start + len).unwrap_or_default(),
            false => self.long.at(list.start).map(Vec::as_slice).unwrap_or_default(),
        }
    }

    #[inline]
    fn remove(&mut self, list: IndexRun) {
        match free_list(list.len as usize) {
            Some(free) => {
                if let Some(first) = self.numbers.get_mut(list.start as usize) {
                    *first = self.free[free];
                    self.free[free] = list.start;
                }
            }
            None => drop(self.long.release_at(list.start)),
        }
    }

    fn reset(&mut self) {
        self.free.fill(END);
        self.numbers.clear();
        self.long.reset();
    }

    fn reserve(&mut self, count: usize) -> Result<(), Error> {
        if self.numbers.len().saturating_add(count) >= END as usize {
            return Err(full(count.saturating_mul(size_of::<u32>())));
        }
        let no_memory = |_| full(count * size_of::<u32>());
        self.numbers.try_reserve_exact(count).map_err(no_memory)
    }

    fn reserved_bytes(&self) -> usize {
        let long = self.long.iter().map(|(_, run)| run.capacity()).sum::<usize>();
        (self.numbers.capacity() + long) * size_of::<u32>() + self.long.reserved_bytes()
    }
}
