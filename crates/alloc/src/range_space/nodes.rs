use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

use crate::Offset;

/// No node.
pub(super) const NONE: u32 = u32::MAX;
/// The node before the first range: it has no size, is never handed out, and stands for
/// the gap at the start of the space.
pub(super) const START: u32 = 0;
/// A table that is full grows by this part of itself: more would be memory that no range
/// pays for, less would copy more often.
const GROWTH_DIVISOR: usize = 16;

/// A live range and the gap after it. Gaps have no nodes of their own: the one before
/// knows them, so that joining two gaps never looks for anything, and a live range costs
/// half a cache line in all.
#[derive(Clone, Debug)]
#[repr(align(32))]
pub(super) struct Node<O> {
    pub(super) offset: O,
    pub(super) size: O,
    /// Free units between the end of this range and the next one.
    pub(super) gap: O,
    /// Neighbours by address, in a ring through [`START`]. An unused node's `next` is the
    /// next unused one.
    pub(super) prev: u32,
    pub(super) next: u32,
    /// Neighbours in the list of the gap's bin, if it is in one.
    pub(super) bin_prev: u32,
    pub(super) bin_next: u32,
    /// Odd while the range is live; a handle holds the odd number.
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

/// The nodes of a space, used and unused.
#[derive(Clone, Debug)]
pub(super) struct Nodes<O> {
    all: Vec<Node<O>>,
    first_unused: u32,
}

impl<O: Offset> Nodes<O> {
    pub(super) const fn new() -> Self {
        Self { all: Vec::new(), first_unused: NONE }
    }

    /// The first node of all; its gap is still to be set.
    pub(super) fn push_start(&mut self) {
        self.all.push(Node { prev: START, next: START, generation: 1, ..Node::unused() });
    }

    #[inline]
    pub(super) fn get(&self, at: u32) -> Option<&Node<O>> {
        self.all.get(at as usize)
    }

    /// A node to be filled in; its generation is even. `None` when memory or numbers ran
    /// out.
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

    /// Ends a range's life. A node whose generations have run out is never used again.
    #[inline]
    pub(super) fn give_back(&mut self, at: u32) {
        let first_unused = self.first_unused;
        let node = &mut self[at];
        node.generation = node.generation.wrapping_add(1);
        if node.generation != 0 {
            node.next = first_unused;
            self.first_unused = at;
        }
    }

    /// Ends the life of every range; stale handles stay stale.
    pub(super) fn reset(&mut self) {
        self.first_unused = NONE;
        for at in (1..self.all.len() as u32).rev() {
            // A node that wore out has generation 0 and stays out.
            let generation = self[at].generation;
            if generation % 2 == 1 {
                self.give_back(at);
            } else if generation != 0 {
                self[at].next = self.first_unused;
                self.first_unused = at;
            }
        }
        (self[START].prev, self[START].next) = (START, START);
    }

    /// Bytes of heap memory held.
    pub(super) fn size_bytes(&self) -> usize {
        self.all.capacity() * size_of::<Node<O>>()
    }

    /// How many nodes there are, used and unused.
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
