use crate::error::Error;

mod by_length;
mod index_runs;
mod range_runs;

pub use by_length::ByLength;
pub use index_runs::IndexRuns;
pub use range_runs::RangeRuns;

/// Where the vertices of polygons are listed: runs of numbers, most of them 3 to 20 long.
///
/// | | a run lies | finds a place by | bytes besides the numbers |
/// |---|---|---|---|
/// | [`IndexRuns`] | in one buffer; longer than 20, on the heap | one list of free runs a length | 8 |
/// | [`ByLength`] | in slabs; longer than 20, on the heap | one list of free runs a length | 16 |
/// | [`RangeRuns`] | in one buffer, whatever its length | a space of ranges | 48 |
///
/// `ByLength` is what Jacco Bikker's article on polygonal data proposes, with
/// [`SizeLists`](drystone_alloc::memory::SizeLists); `RangeRuns` joins neighbours that are
/// free, so that memory moves from one length to another, and asks about half as much time
/// again to make and free a polygon. The first two cost the same time; `IndexRuns` is the
/// default because it is the smallest.
pub trait VertexLists: Default {
    /// The one handle to a run.
    type List;

    /// A copy of `vertices`.
    ///
    /// # Errors
    /// `Full` when memory ran out.
    fn insert(&mut self, vertices: &[u32]) -> Result<Self::List, Error>;

    /// The numbers of a run.
    fn get<'l>(&'l self, list: &'l Self::List) -> &'l [u32];

    /// Takes a run back.
    fn remove(&mut self, list: Self::List);

    /// Takes every run back and keeps the memory.
    fn reset(&mut self);

    /// Memory for runs of `count` numbers together, beyond those in use; it may do nothing,
    /// and then runs find memory when they come.
    ///
    /// # Errors
    /// `Full` without memory.
    fn reserve(&mut self, count: usize) -> Result<(), Error> {
        let _ = count;
        Ok(())
    }

    /// Bytes of memory that were asked for.
    fn reserved_bytes(&self) -> usize;
}

/// Runs that come and go are what they were made of, in each kind of lists.
#[cfg(test)]
mod tests {
    extern crate std;

    use std::collections::VecDeque;
    use std::vec::Vec;

    use super::*;

    /// Lengths of all kinds: none, short, the longest that have a list, longer.
    fn vertices(n: u32) -> Vec<u32> {
        let length = [0, 3, 4, 5, 20, 21, 400, 7][n as usize % 8];
        (0..length).map(|at| n * 1000 + at).collect()
    }

    fn comes_and_goes<L: VertexLists>() {
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
    fn runs_by_length_come_and_go() {
        comes_and_goes::<ByLength>();
    }

    #[test]
    fn runs_of_indices_come_and_go() {
        comes_and_goes::<IndexRuns>();
    }

    #[test]
    fn runs_in_ranges_come_and_go() {
        comes_and_goes::<RangeRuns>();
    }
}
