use drystone_alloc::memory::{Heap, List, SizeLists};

use super::VertexLists;
use crate::error::Error;

/// Storage of vertex lists in the slabs of [`SizeLists`], with a free list for each length from 3
/// to 20.
#[derive(Debug)]
pub struct ByLength {
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
        Ok(self.lists.insert(vertices)?)
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
