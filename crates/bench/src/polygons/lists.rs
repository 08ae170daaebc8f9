//! Vertex lists for comparison with the default ones of `PolygonStore`. The tests of `drystone-mesh`
//! include this file.

use drystone_alloc::{Error as AllocError, RangeHandle, RangeSpace};
use drystone_memory::{Heap, List, SizeLists};
use drystone_mesh::{Error, VertexLists};

/// Vertex lists in the slabs of [`SizeLists`], with a free list for each length from 3 to 20, as in
/// Jacco Bikker's article on polygonal data. As fast as the default, and 8 bytes a polygon larger.
#[derive(Debug)]
pub(crate) struct ByLength {
    lists: SizeLists<'static, u32>,
}

impl Default for ByLength {
    fn default() -> Self {
        Self { lists: SizeLists::new(&Heap) }
    }
}

impl VertexLists for ByLength {
    type List = List<u32>;

    #[inline]
    fn insert(&mut self, vertices: &[u32]) -> Result<List<u32>, Error> {
        self.lists.insert(vertices).map_err(|_| full(size_of_val(vertices)))
    }

    #[inline]
    fn get<'l>(&'l self, list: &'l List<u32>) -> &'l [u32] {
        self.lists.get(list).unwrap_or_default()
    }

    #[inline]
    fn remove(&mut self, list: List<u32>) {
        // The only error is a list of another allocator, which cannot occur here.
        let _ = self.lists.remove(list);
    }

    fn reset(&mut self) {
        self.lists.reset();
    }

    fn reserved_bytes(&self) -> usize {
        self.lists.reserved_bytes()
    }
}

/// The buffer grows by 1/8.
const GROWTH_DIVISOR: usize = 8;
/// Minimum capacity of a buffer that is not empty, in indices.
const MIN_CAPACITY: usize = 1024;

/// Vertex lists in one buffer, with ranges from a [`RangeSpace`], which joins free neighbours, so that
/// memory moves between lengths. Inserting and removing a polygon takes about 50 % more time.
#[derive(Debug)]
pub(crate) struct RangeRuns {
    space: RangeSpace,
    numbers: Vec<u32>,
}

/// Run: its range and its offset, which never changes.
#[derive(Debug)]
pub(crate) struct RangeRun {
    /// `None` for an empty run.
    range: Option<RangeHandle>,
    start: u32,
    len: u32,
}

impl RangeRuns {
    /// Grows the buffer by at least `len` indices.
    #[cold]
    fn grow(&mut self, len: usize) -> Result<(), Error> {
        let more = (self.numbers.len() / GROWTH_DIVISOR).max(MIN_CAPACITY).max(len);
        let units = u32::try_from(more).map_err(|_| full(more))?;
        self.numbers.try_reserve_exact(more).map_err(|_| full(more * size_of::<u32>()))?;
        self.space.grow(units)?;
        self.numbers.resize(self.numbers.len() + more, 0);
        Ok(())
    }
}

impl Default for RangeRuns {
    fn default() -> Self {
        Self { space: RangeSpace::new(0), numbers: Vec::new() }
    }
}

impl VertexLists for RangeRuns {
    type List = RangeRun;

    #[inline]
    fn insert(&mut self, vertices: &[u32]) -> Result<RangeRun, Error> {
        let len = u32::try_from(vertices.len()).map_err(|_| full(vertices.len()))?;
        if len == 0 {
            return Ok(RangeRun { range: None, start: 0, len });
        }
        let (range, start) = match self.space.allocate_with_offset(len) {
            Err(AllocError::Full { .. }) => {
                self.grow(vertices.len())?;
                self.space.allocate_with_offset(len)?
            }
            found => found?,
        };
        let run = RangeRun { range: Some(range), start, len };
        if let Some(target) = self.numbers.get_mut(start as usize..) {
            target.iter_mut().zip(vertices).for_each(|(number, &vertex)| *number = vertex);
        }
        Ok(run)
    }

    #[inline]
    fn get<'l>(&'l self, list: &'l RangeRun) -> &'l [u32] {
        let start = list.start as usize;
        self.numbers.get(start..start + list.len as usize).unwrap_or_default()
    }

    #[inline]
    fn remove(&mut self, list: RangeRun) {
        // A list is removed only once, so its range is not stale, which is the only error.
        let _ = list.range.map(|range| self.space.free(range));
    }

    fn reset(&mut self) {
        self.space.reset();
    }

    /// The indices, and 32 bytes per range.
    fn reserved_bytes(&self) -> usize {
        self.numbers.capacity() * size_of::<u32>() + self.space.stats().live_blocks as usize * 32
    }
}

/// Returns the error for `bytes` bytes that could not be allocated.
#[cold]
fn full(bytes: usize) -> Error {
    Error::Full(AllocError::Full { requested: bytes as u64, largest_free: 0, total_free: 0 })
}
