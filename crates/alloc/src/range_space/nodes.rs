use alloc::vec::Vec;
use core::fmt;
use core::ops::{Index, IndexMut};

use crate::Offset;

/// Index that stands for no node.
pub(super) const NONE: u32 = u32::MAX;
/// Node before the first range. It has size 0, is never allocated, and holds the gap at the start
/// of the space.
pub(super) const START: u32 = 0;

/// A live range and the gap after it. Gaps have no nodes of their own: the node before stores the
/// size. Two gaps are therefore joined without a search, and a live range costs half a cache line.
#[derive(Clone, Debug)]
#[repr(align(32))]
pub(super) struct Node<O> {
    pub(super) offset: O,
    pub(super) size: O,
    /// Free units between the end of this range and the next one.
    pub(super) gap: O,
    /// Neighbours by offset, in a ring through [`START`]. In an unused node, `next` is the next
    /// unused node.
    pub(super) prev: u32,
    pub(super) next: u32,
    /// Neighbours in the list of the gap's bin, if the gap is in a list.
    pub(super) bin_prev: u32,
    pub(super) bin_next: u32,
    /// Odd while the range is live. Handles store the odd number.
    pub(super) generation: u32,
}

const _: () = assert!(size_of::<Node<u32>>() == 32);

impl<O: Offset> Node<O> {
    fn unused() -> Self {
        let zero = O::default();
        Self {
            offset: zero,
            size: zero,
            gap: zero,
            prev: NONE,
            next: NONE,
            bin_prev: NONE,
            bin_next: NONE,
            generation: 0,
        }
    }

    #[inline]
    pub(super) fn end(&self) -> O {
        self.offset + self.size
    }
}

/// Nodes of a space, used and unused.
#[derive(Clone, Debug)]
pub(super) struct Nodes<O> {
    all: Vec<Node<O>>,
    first_unused: u32,
}

impl<O: Offset> Nodes<O> {
    pub(super) const fn new() -> Self {
        Self { all: Vec::new(), first_unused: NONE }
    }

    /// Adds the start node. The caller then sets its gap.
    pub(super) fn push_start(&mut self) {
        self.all.push(Node { prev: START, next: START, generation: 1, ..Node::unused() });
    }

    #[inline]
    pub(super) fn get(&self, at: u32) -> Option<&Node<O>> {
        self.all.get(at as usize)
    }

    /// Returns an unused node, whose generation is even. `None` if the heap is out of memory or all
    /// indices are used.
    #[inline]
    pub(super) fn take_unused(&mut self) -> Option<u32> {
        let at = self.first_unused;
        if at == NONE {
            if self.all.len() == self.all.capacity() {
                self.grow()?;
            }
            return self.push_unused();
        }
        self.first_unused = self[at].next;
        Some(at)
    }

    /// Reserves memory for this many nodes in total. Returns whether there was enough.
    pub(super) fn reserve(&mut self, count: usize) -> bool {
        let more = count.saturating_sub(self.all.len());
        self.all.try_reserve_exact(more).is_ok()
    }

    #[cold]
    fn grow(&mut self) -> Option<()> {
        self.all.try_reserve(1).ok()
    }

    #[inline]
    fn push_unused(&mut self) -> Option<u32> {
        let at = u32::try_from(self.all.len()).ok().filter(|&at| at != NONE)?;
        self.all.push(Node::unused());
        Some(at)
    }

    /// Marks a node as unused. A node whose generations are exhausted is never used again.
    #[inline]
    pub(super) fn release(&mut self, at: u32) {
        let first_unused = self.first_unused;
        let node = &mut self[at];
        node.generation = node.generation.wrapping_add(1);
        if node.generation != 0 {
            node.next = first_unused;
            self.first_unused = at;
        }
    }

    /// Marks all nodes as unused. Stale handles stay stale.
    pub(super) fn reset(&mut self) {
        self.first_unused = NONE;
        for at in (1..self.all.len() as u32).rev() {
            // A node with exhausted generations has generation 0 and stays out of the list.
            let generation = self[at].generation;
            if generation % 2 == 1 {
                self.release(at);
            } else if generation != 0 {
                self[at].next = self.first_unused;
                self.first_unused = at;
            }
        }
        (self[START].prev, self[START].next) = (START, START);
    }

    /// Returns the heap memory in use, in bytes.
    pub(super) fn size_bytes(&self) -> usize {
        self.all.capacity() * size_of::<Node<O>>()
    }

    /// Number of nodes, used and unused.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }
}

impl<O> Index<u32> for Nodes<O> {
    type Output = Node<O>;

    #[inline]
    fn index(&self, at: u32) -> &Node<O> {
        &self.all[at as usize]
    }
}

impl<O> IndexMut<u32> for Nodes<O> {
    #[inline]
    fn index_mut(&mut self, at: u32) -> &mut Node<O> {
        &mut self.all[at as usize]
    }
}

/// Handle of a live range of a [`RangeSpace`](super::RangeSpace): index and generation. After the
/// range is freed, the handle is stale, even if a new range has the same index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RangeHandle {
    pub(super) index: u32,
    pub(super) generation: u32,
}

impl RangeHandle {
    /// Index of the range. At most the largest number of ranges that were ever live at once.
    /// Indices are reused, so an index alone does not identify a range.
    #[inline]
    pub const fn index(self) -> u32 {
        self.index
    }

    /// Returns the handle as an integer, for storage in untyped data.
    #[inline]
    pub const fn to_bits(self) -> u64 {
        (self.generation as u64) << u32::BITS | self.index as u64
    }

    /// Returns the handle of an integer from [`to_bits`](Self::to_bits), or `None` if no handle has
    /// this integer. Generations of handles are odd, and indices are above 0. Use the handle only
    /// with the space that returned it.
    #[inline]
    pub const fn from_bits(bits: u64) -> Option<Self> {
        let (index, generation) = (bits as u32, (bits >> u32::BITS) as u32);
        if index != START && generation % 2 == 1 { Some(Self { index, generation }) } else { None }
    }
}

impl fmt::Debug for RangeHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RangeHandle({}v{})", self.index, self.generation)
    }
}

/// Alignments of live ranges, indexed by node. Ranges beyond the end of the list have none, so a
/// space without aligned ranges stores nothing.
#[derive(Clone, Debug)]
pub(super) struct Alignments<O>(Vec<O>);

impl<O: Offset> Alignments<O> {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Returns the alignment of a range, or 0 if it has none.
    #[inline]
    pub(super) fn get(&self, at: u32) -> O {
        self.0.get(at as usize).copied().unwrap_or_default()
    }

    /// Removes the alignment of a range.
    #[inline]
    pub(super) fn clear(&mut self, at: u32) {
        if let Some(align) = self.0.get_mut(at as usize) {
            *align = O::default();
        }
    }

    /// Sets the alignment of a range. Returns `None` if the heap is out of memory.
    pub(super) fn set(&mut self, at: u32, align: O) -> Option<()> {
        let len = at as usize + 1;
        if self.0.len() < len && align.into() > 1 {
            self.0.try_reserve(len - self.0.len()).ok()?;
            self.0.resize(len, O::default());
        }
        if let Some(entry) = self.0.get_mut(at as usize) {
            *entry = align;
        }
        Some(())
    }

    /// Returns the heap memory in use, in bytes.
    pub(super) fn size_bytes(&self) -> usize {
        self.0.capacity() * size_of::<O>()
    }
}

/// Returns the number of units from `offset` to the next multiple of `align`. An `align` of 0 means
/// no alignment. `None` if the multiple is not representable.
pub(super) fn padding<O: Offset>(offset: O, align: O) -> Option<O> {
    let align = align.into().max(1);
    match offset.into() % align {
        0 => Some(O::default()),
        over => O::try_from(align - over).ok(),
    }
}
