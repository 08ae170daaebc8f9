use alloc::vec::Vec;

use crate::counted_pool::CountedPool;
use crate::error::{Error, full};

/// Storage of the vertex lists of polygons: runs of indices, most of them 3 to 6 long.
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

    /// Returns the statistics. All numbers are 0 if an implementation counts nothing.
    fn stats(&self) -> ListStats {
        ListStats::default()
    }
}

/// Statistics of [`VertexLists`]. They tell whether long lists are too frequent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListStats {
    /// Length of the longest lists that are reused by length, in indices. All others are long.
    pub max_len: u32,
    /// Number of long lists in use. Each is a separate allocation of the heap.
    pub long: u32,
    /// Number of lists inserted since the creation.
    pub inserted: u64,
    /// Number of long lists inserted since the creation.
    pub inserted_long: u64,
    /// Recommended `max_len` for the lists inserted since the creation. It is `max_len` itself if
    /// at most 1 % of them were long. Otherwise it is the smallest power of two that leaves at most
    /// 1 % long.
    pub recommended_max_len: u32,
}

pub(super) type Polygons<L> = CountedPool<PolygonRecord<<L as VertexLists>::List>>;

/// Polygon: the indices of its vertices.
#[derive(Debug)]
pub(super) struct PolygonRecord<List> {
    pub(super) list: List,
}

/// Shortest run with a free list: a triangle.
const SHORTEST: usize = 3;
/// Default of the longest run with a free list.
const DEFAULT_MAX_LEN: u32 = 20;
/// A larger limit is recommended if more than one of this number of lists is long. The heap takes
/// some 45 ns more for a long list, so one of a hundred costs 0.5 ns a list.
const LISTS_PER_LONG_ONE: u64 = 100;
/// End of a free list: no run.
const END: u32 = u32::MAX;
/// The buffer grows by 1/8.
const GROWTH_DIVISOR: usize = 8;
/// Minimum capacity of a buffer that is not empty, in indices.
const MIN_CAPACITY: usize = 1024;

/// Options of [`IndexRuns`].
///
/// # Examples
/// ```
/// use drystone_mesh::{Corner, IndexRunOptions, IndexRuns, PolygonStore};
///
/// // A tower of discs with 48 corners, in a store for at most 20.
/// let mut store = PolygonStore::<()>::new();
/// let corner = |n: u32, z: f32| {
///     let (y, x) = (n as f32 / 48.0 * std::f32::consts::TAU).sin_cos();
///     Corner::New { position: [x, y, z], uv: [x, y], data: () }
/// };
/// let disc = |z: u32| (0..48).map(|n| corner(n, z as f32)).collect::<Vec<_>>();
/// for z in 0..9 {
///     store.insert(&disc(z))?;
/// }
/// let stats = store.list_stats();
/// assert_eq!((stats.max_len, stats.long, stats.recommended_max_len), (20, 9, 64));
///
/// // The next run of the program uses the recommended limit.
/// let options = IndexRunOptions::default().with_max_len(stats.recommended_max_len);
/// let mut store = PolygonStore::<()>::with_lists(IndexRuns::with_options(options));
/// for z in 0..9 {
///     store.insert(&disc(z))?;
/// }
/// assert_eq!(store.list_stats().long, 0);
/// # Ok::<(), drystone_mesh::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexRunOptions {
    /// Length of the longest runs in the buffer, in indices. Longer ones are on the heap. A run in
    /// the buffer is only reused for the same length, so a large limit may leave memory unused.
    /// Default: 20.
    pub max_len: u32,
}

impl Default for IndexRunOptions {
    /// Returns the limit of Jacco Bikker's article: no polygon of a portal engine is more complex.
    fn default() -> Self {
        Self { max_len: DEFAULT_MAX_LEN }
    }
}

impl IndexRunOptions {
    /// Replaces [`max_len`](Self::max_len).
    #[must_use]
    pub const fn with_max_len(mut self, max_len: u32) -> Self {
        self.max_len = max_len;
        self
    }
}

/// Storage of vertex lists in one buffer, with a free list for each length.
///
/// ```text
///  length 3 ──► 7 ──► 0               a free run begins with the offset of the next
///         4 ──► 3
///  buffer [– · ·|4 free|0 · ·|5 4 9|8 6 5 7 …
///         0     3      7
/// ```
/// Handles are offsets, and the buffer can be uploaded without conversion. Runs longer than
/// [`IndexRunOptions::max_len`], by default 20, are on the heap. Source: Jacco Bikker's article on
/// polygonal data, "Managing The Vertex Pointer Arrays", which extends the range if longer lists
/// are frequent. [`ListStats`] tells when that is.
#[derive(Debug)]
pub struct IndexRuns {
    numbers: Vec<u32>,
    /// First free run of each length, up to the longest run in the buffer so far.
    free: Vec<u32>,
    /// Runs longer than `max_len`.
    long: CountedPool<Vec<u32>>,
    max_len: u32,
    /// Number of runs inserted since the creation.
    inserted: u64,
    /// Number of long runs inserted since the creation, by the logarithm of their length, rounded
    /// up.
    long_by_log: [u64; LOGARITHMS],
}

/// Number of logarithms of lengths: 0 to 32.
const LOGARITHMS: usize = u32::BITS as usize + 1;

/// Run: its offset in the buffer, or its index among the long ones.
#[derive(Debug)]
pub struct IndexRun {
    start: u32,
    len: u32,
}

impl IndexRuns {
    /// Creates an empty storage.
    pub const fn with_options(options: IndexRunOptions) -> Self {
        Self {
            numbers: Vec::new(),
            free: Vec::new(),
            long: CountedPool::new(),
            max_len: options.max_len,
            inserted: 0,
            long_by_log: [0; LOGARITHMS],
        }
    }

    /// Returns the free list for a length; `None` for longer runs.
    #[inline]
    fn free_list(&self, len: usize) -> Option<usize> {
        (len <= self.max_len as usize).then_some(len.saturating_sub(SHORTEST))
    }

    /// Adds empty free lists up to `list`.
    #[cold]
    fn add_free_lists(&mut self, list: usize) -> Result<(), Error> {
        let more = list + 1 - self.free.len();
        self.free.try_reserve(more).map_err(|_| full(more * size_of::<u32>()))?;
        self.free.resize(list + 1, END);
        Ok(())
    }

    /// Returns the smallest limit that makes long runs rare.
    fn recommended_max_len(&self, inserted_long: u64) -> u32 {
        let allowed = self.inserted / LISTS_PER_LONG_ONE;
        let mut left = inserted_long;
        if left <= allowed {
            return self.max_len;
        }
        for (log, count) in self.long_by_log.iter().enumerate() {
            left -= count;
            if left <= allowed {
                return 1u32.checked_shl(log as u32).unwrap_or(u32::MAX);
            }
        }
        u32::MAX
    }

    /// Appends a run to the buffer.
    #[inline]
    fn push(&mut self, vertices: &[u32]) -> Result<u32, Error> {
        let start = self.numbers.len();
        // A free run stores an offset, so every run has at least the shortest length.
        let len = vertices.len().max(SHORTEST);
        if self.numbers.capacity() - start < len {
            self.grow(len)?;
        }
        self.numbers.extend_from_slice(vertices);
        self.numbers.resize(start + len, 0);
        Ok(start as u32)
    }

    #[cold]
    fn grow(&mut self, len: usize) -> Result<(), Error> {
        let more = (self.numbers.len() / GROWTH_DIVISOR).max(MIN_CAPACITY).max(len);
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
        let start = self.long.insert_at(numbers)?;
        self.inserted += 1;
        self.long_by_log[vertices.len().next_power_of_two().ilog2() as usize] += 1;
        Ok(IndexRun { start, len })
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

impl Default for IndexRuns {
    fn default() -> Self {
        Self::with_options(IndexRunOptions::default())
    }
}

impl VertexLists for IndexRuns {
    type List = IndexRun;

    #[inline]
    fn insert(&mut self, vertices: &[u32]) -> Result<IndexRun, Error> {
        let Some(list) = self.free_list(vertices.len()) else { return self.insert_long(vertices) };
        let len = vertices.len() as u32;
        if list >= self.free.len() {
            self.add_free_lists(list)?;
        }
        let start = self.free[list];
        // No run has the offset `END`: the list is empty then.
        let next = self.numbers.get(start as usize).copied();
        let rest = self.numbers.get_mut(start as usize..);
        match rest.and_then(|rest| rest.get_mut(..vertices.len())) {
            Some(run) => {
                self.free[list] = next.unwrap_or(END);
                copy(run, vertices);
                self.inserted += 1;
                Ok(IndexRun { start, len })
            }
            None => {
                let start = self.push(vertices)?;
                self.inserted += 1;
                Ok(IndexRun { start, len })
            }
        }
    }

    #[inline]
    fn get<'l>(&'l self, list: &'l IndexRun) -> &'l [u32] {
        let (start, len) = (list.start as usize, list.len as usize);
        match len <= self.max_len as usize {
            true => self.numbers.get(start..start + len).unwrap_or_default(),
            false => self.long.at(list.start).map(Vec::as_slice).unwrap_or_default(),
        }
    }

    #[inline]
    fn remove(&mut self, list: IndexRun) {
        match self.free_list(list.len as usize) {
            Some(free) => {
                let (run, first) =
                    (self.numbers.get_mut(list.start as usize), self.free.get_mut(free));
                if let (Some(run), Some(first)) = (run, first) {
                    *run = *first;
                    *first = list.start;
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
        let list = self.free_list(self.max_len.min(DEFAULT_MAX_LEN) as usize).unwrap_or_default();
        if list >= self.free.len() {
            self.add_free_lists(list)?;
        }
        let no_memory = |_| full(count * size_of::<u32>());
        self.numbers.try_reserve_exact(count).map_err(no_memory)
    }

    fn reserved_bytes(&self) -> usize {
        let long = self.long.iter().map(|(_, run)| run.capacity()).sum::<usize>();
        let numbers = self.numbers.capacity() + self.free.capacity() + long;
        numbers * size_of::<u32>() + self.long.reserved_bytes()
    }

    fn stats(&self) -> ListStats {
        let inserted_long = self.long_by_log.iter().sum();
        ListStats {
            max_len: self.max_len,
            long: self.long.len(),
            inserted: self.inserted,
            inserted_long,
            recommended_max_len: self.recommended_max_len(inserted_long),
        }
    }
}
