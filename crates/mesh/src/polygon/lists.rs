use crate::error::Error;

mod by_length;
mod index_runs;
mod range_runs;

pub use by_length::ByLength;
pub use index_runs::IndexRuns;
pub use range_runs::RangeRuns;

/// Storage of the vertex lists of polygons: runs of indices, most of them 3 to 20 long.
///
/// | Type | Memory of a run | Allocation | Overhead in bytes |
/// |---|---|---|---|
/// | [`IndexRuns`] | in one buffer; longer than 20, on the heap | one free list per length | 8 |
/// | [`ByLength`] | in slabs; longer than 20, on the heap | one free list per length | 16 |
/// | [`RangeRuns`] | in one buffer, for all lengths | a [`RangeSpace`](drystone_alloc::RangeSpace) | 48 |
///
/// `ByLength` is the proposal of Jacco Bikker's article on polygonal data, with
/// [`SizeLists`](drystone_alloc::memory::SizeLists). `RangeRuns` joins free neighbours, so memory
/// moves between lengths. Inserting and removing a polygon then takes about 50 % more time. The
/// first two have equal speed; `IndexRuns` is the default because it is the smallest.
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

/// Inserts and removes runs in each kind of storage and compares their content.
#[cfg(test)]
mod tests {
    extern crate std;

    use std::collections::VecDeque;
    use std::vec::Vec;

    use super::*;

    /// Lists of all kinds of lengths: empty, short, the longest with a free list, longer.
    fn vertices(n: u32) -> Vec<u32> {
        let length = [0, 3, 4, 5, 20, 21, 400, 7][n as usize % 8];
        (0..length).map(|at| n * 1000 + at).collect()
    }

    fn inserted_runs_keep_their_content<L: VertexLists>() {
        let mut lists = L::default();
        let mut live = VecDeque::new();
        for n in 0..4000 {
            live.push_back((n, lists.insert(&vertices(n)).unwrap()));
            if n % 3 == 0 || n > 3000 {
                live.rotate_left(n as usize % 7 % live.len());
                let (n, list) = live.pop_front().unwrap();
                assert_eq!(lists.get(&list), vertices(n));
                lists.remove(list);
            }
        }
        live.iter().for_each(|(n, list)| assert_eq!(lists.get(list), vertices(*n)));
        let reserved = lists.reserved_bytes();
        assert!(reserved > 0);
        lists.reset();
        let list = lists.insert(&vertices(3)).unwrap();
        assert_eq!(
            (lists.get(&list), lists.reserved_bytes() <= reserved),
            (&vertices(3)[..], true)
        );
    }

    #[test]
    fn runs_by_length_keep_their_content() {
        inserted_runs_keep_their_content::<ByLength>();
    }

    #[test]
    fn runs_of_indices_keep_their_content() {
        inserted_runs_keep_their_content::<IndexRuns>();
    }

    #[test]
    fn runs_in_ranges_keep_their_content() {
        inserted_runs_keep_their_content::<RangeRuns>();
    }
}
