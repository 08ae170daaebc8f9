use core::ops::Range;

use crate::{Error, Offset};

mod alignments;
mod bins;
mod blocks;
mod check;
mod defrag;
mod handle;
mod neighbours;
mod nodes;
mod resize;
mod stats;
#[cfg(test)]
mod tests;

use alignments::{Alignments, padding};
use bins::Bins;
pub(crate) use bins::bin_of;
pub use blocks::{Block, Blocks};
pub use defrag::{DefragBudget, Move, MoveOrder};
pub use handle::RangeHandle;
use nodes::{Nodes, START};
pub use stats::RangeStats;

/// How many gaps of the bin that a size falls into are tried before a larger bin is
/// taken, whose gaps all fit. Each may cost a cache miss; each that fits leaves no
/// remainder worth a place in a list.
const CANDIDATES: usize = 4;

/// Hands out ranges of any size at any alignment from a space of `capacity` units.
///
/// ```text
///  space   [ live 1 ]······[ live 2 ][ live 3 ]···············
///  nodes   start ⇄ 1 (gap 6) ⇄ 2 (gap 0) ⇄ 3 (gap 15) ⇄ start
///  bins    …, 6: ─► 1, …, 15: ─► 3, …          each gap in the list of its size's bin
/// ```
/// A live range knows the gap after it; gaps have nothing of their own. So a range is
/// joined with the gaps beside it by adding three numbers, a space has as many nodes as
/// ranges, and an operation touches few cache lines, which is all that it costs: freeing
/// takes the range's node, its two neighbours and the heads of the lists; allocating the
/// node before the gap, one beside it and the new one.
///
/// # Cost
/// `allocate` and `free` are O(1), whatever the number of ranges: two bit scans find a bin
/// whose gaps all fit, at most four gaps of the request's own bin are tried before. Only
/// where that finds nothing, the rest of that bin is looked through before giving up.
/// 32 bytes a live range (64 in `u64`), grown by a sixteenth at a time, and 4 KiB a space.
///
/// # Examples
/// ```
/// use drystone_alloc::RangeSpace;
///
/// let mut space = RangeSpace::new(1000);
/// let first = space.allocate(300)?;
/// let second = space.allocate_aligned(200, 256)?;
/// assert_eq!(space.range(first), Some(0..300));
/// assert_eq!(space.range(second), Some(512..712));
/// space.free(first)?;
/// assert!(space.free(first).is_err() && space.range(first).is_none());
/// assert_eq!(space.stats().largest_free, 512);
/// # Ok::<(), drystone_alloc::Error>(())
/// ```
///
/// # Limits
/// 2³² − 2 live ranges. A handle is good for the space that gave it: another may take it
/// for one of its own.
#[derive(Clone, Debug)]
pub struct RangeSpace<O: Offset = u32> {
    capacity: O,
    used: O,
    live_blocks: u32,
    nodes: Nodes<O>,
    alignments: Alignments<O>,
    bins: Bins,
}

impl RangeSpace<u32> {
    /// A space of `capacity` units, all free, with 32-bit offsets.
    pub fn new(capacity: u32) -> Self {
        Self::with_capacity(capacity)
    }
}

impl<O: Offset> RangeSpace<O> {
    /// A space of `capacity` units, all free.
    ///
    /// # Examples
    /// ```
    /// use drystone_alloc::RangeSpace;
    ///
    /// let mut space = RangeSpace::<u64>::with_capacity(u64::MAX);
    /// let all = space.allocate(u64::MAX)?;
    /// assert_eq!(space.range(all), Some(0..u64::MAX));
    /// # Ok::<(), drystone_alloc::Error>(())
    /// ```
    pub fn with_capacity(capacity: O) -> Self {
        let mut space = Self {
            capacity,
            used: O::default(),
            live_blocks: 0,
            nodes: Nodes::new(),
            alignments: Alignments::new(),
            bins: Bins::new::<O>(),
        };
        space.nodes.push_start();
        space.set_gap(START, capacity);
        space
    }

    /// Hands out `size` units in a row.
    ///
    /// # Errors
    /// `InvalidSize` for zero. `Full` with numbers when no gap is large enough, or when
    /// memory for the table ran out.
    #[inline]
    pub fn allocate(&mut self, size: O) -> Result<RangeHandle, Error> {
        self.allocate_at(size).map(|(range, _)| range)
    }

    /// Hands out `size` units in a row, and says where they start.
    ///
    /// # Errors
    /// As [`allocate`](Self::allocate).
    #[inline(always)]
    pub fn allocate_at(&mut self, size: O) -> Result<(RangeHandle, O), Error> {
        if size == O::default() {
            return Err(Error::InvalidSize);
        }
        let place = self.find(size).and_then(|before| Some((before, self.nodes.take_unused()?)));
        match place {
            Some((before, at)) => {
                let offset = self.nodes[before].end();
                Ok((self.hand_out(at, before, O::default(), size), offset))
            }
            None => Err(self.full(size)),
        }
    }

    /// Hands out `size` units in a row that start at a multiple of `align`, wherever
    /// defragmentation moves them.
    ///
    /// # Cost
    /// As [`allocate`](Self::allocate); but before giving up, every gap that is large
    /// enough is looked at. From the first aligned range on, 4 bytes a live range (8 in
    /// `u64`) more.
    ///
    /// # Errors
    /// `InvalidSize` when either is zero. `Full` with numbers when no gap holds it.
    pub fn allocate_aligned(&mut self, size: O, align: O) -> Result<RangeHandle, Error> {
        if size == O::default() || align == O::default() {
            return Err(Error::InvalidSize);
        }
        let found = self.find_aligned(size, align);
        let place = found.and_then(|(before, pad)| Some((before, pad, self.nodes.take_unused()?)));
        match place {
            Some((before, pad, at)) => self.hand_out_aligned(at, before, pad, (size, align)),
            None => Err(self.full(size)),
        }
    }

    /// Takes a range back and joins it with the gaps beside it.
    ///
    /// # Errors
    /// `Stale` when it was given back before.
    #[inline]
    pub fn free(&mut self, handle: RangeHandle) -> Result<(), Error> {
        self.live_node(handle)?;
        let size = self.detach(handle.index);
        self.nodes.give_back(handle.index);
        self.used -= size;
        self.live_blocks -= 1;
        Ok(())
    }

    /// Where the range lies, or `None` when the handle is stale.
    #[inline]
    pub fn range(&self, handle: RangeHandle) -> Option<Range<O>> {
        let node = self.live_node(handle).ok()?;
        Some(node.offset..node.end())
    }

    /// The number that the range's offset is a multiple of: 1, or what was asked for. `None`
    /// when the handle is stale.
    ///
    /// # Examples
    /// ```
    /// use drystone_alloc::RangeSpace;
    ///
    /// let mut space = RangeSpace::new(1000);
    /// let range = space.allocate_aligned(10, 256)?;
    /// assert_eq!(space.alignment(range), Some(256));
    /// # Ok::<(), drystone_alloc::Error>(())
    /// ```
    pub fn alignment(&self, handle: RangeHandle) -> Option<u64> {
        self.live_node(handle).ok()?;
        Some(self.alignments.get(handle.index).into().max(1))
    }

    /// Takes every range back and keeps the memory. All handles are stale then.
    pub fn reset(&mut self) {
        self.bins.reset();
        self.nodes.reset();
        (self.used, self.live_blocks) = (O::default(), 0);
        self.set_gap(START, self.capacity);
    }

    /// The node of a live range.
    #[inline]
    fn live_node(&self, handle: RangeHandle) -> Result<&nodes::Node<O>, Error> {
        match self.nodes.get(handle.index) {
            // Handles hold odd numbers, and the node of a range that is gone an even one.
            Some(node) if node.generation == handle.generation => Ok(node),
            _ => Err(Error::Stale),
        }
    }

    /// The node before a gap of at least `size` units.
    #[inline]
    fn find(&self, size: O) -> Option<u32> {
        let bin = bin_of(size.into());
        let mut at = self.bins.head(bin);
        for _ in 0..CANDIDATES {
            match self.nodes.get(at) {
                Some(node) if node.gap >= size => return Some(at),
                Some(node) => at = node.bin_next,
                None => break,
            }
        }
        match self.bins.first_from(bin + 1) {
            Some(bin) => Some(self.bins.head(bin)),
            None => self.find_in_list(at, |node| node.gap >= size),
        }
    }

    /// The first node of a list, from `at` on, that will do.
    #[cold]
    fn find_in_list(&self, mut at: u32, will_do: impl Fn(&nodes::Node<O>) -> bool) -> Option<u32> {
        while let Some(node) = self.nodes.get(at) {
            if will_do(node) {
                return Some(at);
            }
            at = node.bin_next;
        }
        None
    }

    /// The node before a gap that holds `size` units at a multiple of `align`, and the
    /// units in front of that.
    fn find_aligned(&self, size: O, align: O) -> Option<(u32, O)> {
        let holds = |node: &nodes::Node<O>| {
            let pad = padding(node.end(), align)?;
            (node.gap >= size && node.gap - size >= pad).then_some(pad)
        };
        let bin = bin_of(size.into());
        let mut at = self.bins.head(bin);
        for _ in 0..CANDIDATES {
            let Some(node) = self.nodes.get(at) else { break };
            if let Some(pad) = holds(node) {
                return Some((at, pad));
            }
            at = node.bin_next;
        }
        let with_padding = size.into().saturating_add(align.into() - 1);
        let sure = self.bins.first_from(bin_of(with_padding) + 1).map(|bin| self.bins.head(bin));
        let at = sure.or_else(|| {
            let mut bins = (bin..).map_while(|bin| self.bins.first_from(bin));
            bins.find_map(|bin| {
                self.find_in_list(self.bins.head(bin), |node| holds(node).is_some())
            })
        })?;
        Some((at, holds(&self.nodes[at])?))
    }

    #[inline]
    fn hand_out(&mut self, at: u32, before: u32, pad: O, size: O) -> RangeHandle {
        let node = &mut self.nodes[at];
        node.size = size;
        node.generation += 1;
        let generation = node.generation;
        self.alignments.clear(at);
        self.attach(at, before, pad);
        self.used += size;
        self.live_blocks += 1;
        RangeHandle { index: at, generation }
    }

    /// Hands out a range that keeps its alignment.
    fn hand_out_aligned(
        &mut self,
        at: u32,
        before: u32,
        pad: O,
        (size, align): (O, O),
    ) -> Result<RangeHandle, Error> {
        let handle = self.hand_out(at, before, pad, size);
        if self.alignments.set(at, align).is_none() {
            self.free(handle)?;
            return Err(self.full(size));
        }
        Ok(handle)
    }

    /// Puts a range, whose size is set, into the gap after `before`, `pad` units in.
    #[inline]
    fn attach(&mut self, at: u32, before: u32, pad: O) {
        self.bins.remove(&mut self.nodes, before);
        let size = self.nodes[at].size;
        let node = &mut self.nodes[before];
        let offset = node.end() + pad;
        let gap = node.gap - pad - size;
        let next = core::mem::replace(&mut node.next, at);
        node.gap = O::default();
        self.nodes[next].prev = at;
        let node = &mut self.nodes[at];
        (node.offset, node.prev, node.next) = (offset, before, next);
        self.set_gap(at, gap);
        if pad > O::default() {
            self.set_gap(before, pad);
        }
    }

    /// Takes a range out of the space, so that the gap before it is a gap up to the next
    /// range. Returns its size.
    #[inline]
    fn detach(&mut self, at: u32) -> O {
        let node = &self.nodes[at];
        let (before, next, size, gap) = (node.prev, node.next, node.size, node.gap);
        if gap > O::default() {
            self.bins.remove(&mut self.nodes, at);
        }
        let before_gap = self.nodes[before].gap;
        if before_gap > O::default() {
            self.bins.remove(&mut self.nodes, before);
        }
        self.nodes[next].prev = before;
        self.nodes[before].next = next;
        self.set_gap(before, before_gap + size + gap);
        size
    }

    /// Sets the gap after a node, which is in no list, and lists it.
    #[inline]
    fn set_gap(&mut self, at: u32, gap: O) {
        self.nodes[at].gap = gap;
        if gap > O::default() {
            self.bins.insert(&mut self.nodes, at);
        }
    }

    /// Changes the gap after a node, wherever it is listed.
    fn change_gap(&mut self, at: u32, gap: O) {
        if self.nodes[at].gap > O::default() {
            self.bins.remove(&mut self.nodes, at);
        }
        self.set_gap(at, gap);
    }

    #[cold]
    fn full(&self, requested: O) -> Error {
        self.stats().full(requested.into())
    }
}
