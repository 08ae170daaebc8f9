use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

use crate::Offset;

/// Index that stands for no node.
pub(super) const NONE: u32 = u32::MAX;
/// Node before the first range. It has size 0, is never allocated, and holds the gap at the start
/// of the space.
pub(super) const START: u32 = 0;
/// A full table grows by this fraction of its length. Larger steps reserve memory that no range
/// uses; smaller steps copy more often.
const GROWTH_DIVISOR: usize = 16;

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
            return self.push_unused();
        }
        self.first_unused = self[at].next;
        Some(at)
    }

    #[cold]
    fn push_unused(&mut self) -> Option<u32> {
        let at = u32::try_from(self.all.len()).ok().filter(|&at| at != NONE)?;
        if self.all.len() == self.all.capacity() {
            let more = (self.all.len() / GROWTH_DIVISOR).max(4);
            self.all.try_reserve_exact(more).ok()?;
        }
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
