use core::ops::Range;

use super::bins::{Bins, bin_of};
use super::nodes::{Alignments, Node, Nodes, RangeHandle, START, padding};
use crate::{Error, Offset};

/// Number of gaps tried in the bin of the requested size. After that, a gap of a larger bin is
/// taken, where every gap fits. Each try may cost a cache miss; each fit in this bin avoids a small
/// remainder.
const MAX_GAP_TRIES: usize = 4;

/// Allocates ranges of any size and any alignment from a space of `capacity` units.
///
/// ```text
///  space   [ live 1 ]······[ live 2 ][ live 3 ]···············
///  nodes   start ⇄ 1 (gap 6) ⇄ 2 (gap 0) ⇄ 3 (gap 15) ⇄ start
///  bins    …, 6: ─► 1, …, 15: ─► 3, …          each gap in the list of its size's bin
/// ```
/// A live range stores the size of the gap after it; gaps have no nodes. A freed range is therefore
/// joined with its two gaps by adding three numbers, and a space has one node per range. An
/// operation touches few cache lines, and these are its whole cost. Freeing touches the node of the
/// range, its two neighbours and the heads of the lists. Allocating touches the node before the
/// gap, the next one and the new one.
///
/// # Cost
/// `allocate` and `free` are O(1), independent of the number of ranges. At most four gaps of the
/// request's own bin are tried, then two bit scans find a bin whose gaps all fit. If there is no
/// such bin, the rest of the own bin is searched. Metadata: 32 bytes per live range (64 for `u64`), and
/// 4 KiB per space. The table of ranges doubles when it is full, so up to half of it is reserved and
/// not used.
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
/// At most 2³² − 2 live ranges. A handle is valid only for the space that returned it: another
/// space may take it for one of its own.
#[doc(alias("suballocator", "free list"))]
#[derive(Clone, Debug)]
pub struct RangeSpace<O: Offset = u32> {
    pub(super) capacity: O,
    pub(super) used: O,
    pub(super) live_blocks: u32,
    pub(super) nodes: Nodes<O>,
    pub(super) alignments: Alignments<O>,
    pub(super) bins: Bins,
}

impl RangeSpace<u32> {
    /// Creates a space of `capacity` free units with 32-bit offsets.
    pub fn new(capacity: u32) -> Self {
        Self::with_size(capacity)
    }
}

impl<O: Offset> RangeSpace<O> {
    /// Creates a space of `capacity` free units.
    ///
    /// # Examples
    /// ```
    /// use drystone_alloc::RangeSpace;
    ///
    /// let mut space = RangeSpace::<u64>::with_size(u64::MAX);
    /// let all = space.allocate(u64::MAX)?;
    /// assert_eq!(space.range(all), Some(0..u64::MAX));
    /// # Ok::<(), drystone_alloc::Error>(())
    /// ```
    pub fn with_size(capacity: O) -> Self {
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

    /// Allocates `size` contiguous units.
    ///
    /// # Errors
    /// `InvalidSize` if `size` is zero. `Full` if no gap is large enough, or if the heap has no
    /// memory for the metadata.
    #[inline]
    pub fn allocate(&mut self, size: O) -> Result<RangeHandle, Error> {
        self.allocate_with_offset(size).map(|(range, _)| range)
    }

    /// Allocates `size` contiguous units and returns the handle and the offset.
    ///
    /// # Errors
    /// `InvalidSize` if `size` is zero. `Full` if no gap is large enough, or if the heap has no
    /// memory for the metadata.
    #[inline(always)]
    pub fn allocate_with_offset(&mut self, size: O) -> Result<(RangeHandle, O), Error> {
        if size == O::default() {
            return Err(Error::InvalidSize);
        }
        let found = self.find(size).and_then(|before| Some((before, self.nodes.take_unused()?)));
        match found {
            Some((before, at)) => {
                let offset = self.nodes[before].end();
                Ok((self.insert_node(at, before, O::default(), size), offset))
            }
            None => Err(self.full(size)),
        }
    }

    /// Allocates `size` contiguous units at a multiple of `align`. Defragmentation preserves the
    /// alignment.
    ///
    /// # Cost
    /// O(1) like [`allocate`](Self::allocate) if an early gap fits. Before it fails, every gap of
    /// at least `size` units is tried. From the first aligned range on, the metadata has 4 more
    /// bytes per live range (8 for `u64`).
    ///
    /// # Errors
    /// `InvalidSize` if `size` or `align` is zero. `Full` if no gap holds the aligned range.
    pub fn allocate_aligned(&mut self, size: O, align: O) -> Result<RangeHandle, Error> {
        if size == O::default() || align == O::default() {
            return Err(Error::InvalidSize);
        }
        let found = self.find_aligned(size, align);
        let found = found.and_then(|(before, pad)| Some((before, pad, self.nodes.take_unused()?)));
        match found {
            Some((before, pad, at)) => self.insert_node_aligned(at, before, pad, (size, align)),
            None => Err(self.full(size)),
        }
    }

    /// Frees a range and joins it with the gaps on both sides.
    ///
    /// # Errors
    /// `Stale` if the range was freed before.
    #[inline]
    pub fn free(&mut self, handle: RangeHandle) -> Result<(), Error> {
        self.live_node(handle)?;
        let size = self.detach(handle.index);
        self.nodes.release(handle.index);
        self.used -= size;
        self.live_blocks -= 1;
        Ok(())
    }

    /// Reserves memory for the metadata of `additional` more live ranges. Until there are more, no call
    /// allocates or moves metadata, unless ranges are aligned.
    ///
    /// # Errors
    /// `Full` if the heap has not enough memory. Nothing has changed then.
    ///
    /// # Examples
    /// ```
    /// use drystone_alloc::RangeSpace;
    ///
    /// let mut space = RangeSpace::new(1 << 20);
    /// space.reserve(100)?;
    /// let size_bytes = space.size_bytes();
    /// for _ in 0..100 {
    ///     space.allocate(64)?;
    /// }
    /// assert_eq!(space.size_bytes(), size_bytes);
    /// # Ok::<(), drystone_alloc::Error>(())
    /// ```
    pub fn reserve(&mut self, additional: u32) -> Result<(), Error> {
        // One node is the start.
        let live = 1 + u64::from(self.live_blocks) + u64::from(additional);
        match usize::try_from(live) {
            Ok(live) if self.nodes.reserve(live) => Ok(()),
            _ => Err(self.stats().full(additional.into())),
        }
    }

    /// Adds `units` units at the end of the space. No range moves. Afterwards, `units` units can be
    /// allocated.
    ///
    /// # Errors
    /// `InvalidSize` if the new capacity is not representable.
    pub fn grow(&mut self, units: O) -> Result<(), Error> {
        if units > O::MAX - self.capacity {
            return Err(Error::InvalidSize);
        }
        self.capacity += units;
        let last = self.nodes[START].prev;
        self.change_gap(last, self.nodes[last].gap + units);
        Ok(())
    }

    /// Removes the free units behind the last live range and returns the new capacity.
    pub fn shrink(&mut self) -> O {
        let last = self.nodes[START].prev;
        self.capacity -= self.nodes[last].gap;
        self.change_gap(last, O::default());
        self.capacity
    }

    /// Changes the size of a range in place. To grow, the units behind it must be free.
    ///
    /// # Errors
    /// `Stale` if the handle is stale. `InvalidSize` if `size` is zero. `Full` if too few units are
    /// free behind the range: `requested` is then the number of additional units, `largest_free`
    /// the number of free units there. On an error nothing has changed.
    ///
    /// # Examples
    /// ```
    /// use drystone_alloc::RangeSpace;
    ///
    /// let mut space = RangeSpace::new(100);
    /// let range = space.allocate(10)?;
    /// space.resize_in_place(range, 100)?;
    /// assert_eq!(space.range(range), Some(0..100));
    /// # Ok::<(), drystone_alloc::Error>(())
    /// ```
    pub fn resize_in_place(&mut self, handle: RangeHandle, size: O) -> Result<(), Error> {
        let node = self.live_node(handle)?;
        if size == O::default() {
            return Err(Error::InvalidSize);
        }
        let (old, gap) = (node.size, node.gap);
        if size > old && size - old > gap {
            return Err(Error::Full {
                requested: (size - old).into(),
                largest_free: gap.into(),
                total_free: (self.capacity - self.used).into(),
            });
        }
        // Neither operation overflows: both stay within the range and its gap.
        let gap = gap + old - size;
        self.change_gap(handle.index, gap);
        self.nodes[handle.index].size = size;
        self.used -= old;
        self.used += size;
        Ok(())
    }

    /// Frees all ranges and keeps the memory of the metadata. All handles become stale.
    pub fn reset(&mut self) {
        self.bins.reset();
        self.nodes.reset();
        (self.used, self.live_blocks) = (O::default(), 0);
        self.set_gap(START, self.capacity);
    }

    /// Returns the offsets of a range, or `None` if the handle is stale.
    #[inline]
    pub fn range(&self, handle: RangeHandle) -> Option<Range<O>> {
        let node = self.live_node(handle).ok()?;
        Some(node.offset..node.end())
    }

    /// Returns the requested alignment of a range: 1 if none was requested, `None` if the handle is
    /// stale.
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

    /// Returns the node of a live range.
    #[inline]
    pub(super) fn live_node(&self, handle: RangeHandle) -> Result<&Node<O>, Error> {
        match self.nodes.get(handle.index) {
            // Handles have odd generations; the node of a freed range has an even one.
            Some(node) if node.generation == handle.generation => Ok(node),
            _ => Err(Error::Stale),
        }
    }

    /// Finds a node followed by a gap of at least `size` units.
    #[inline]
    pub(super) fn find(&self, size: O) -> Option<u32> {
        let bin = bin_of(size.into());
        let mut at = self.bins.head(bin);
        for _ in 0..MAX_GAP_TRIES {
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

    /// Returns the first node of a list, from `at` on, that satisfies the predicate.
    #[cold]
    fn find_in_list(&self, mut at: u32, fits: impl Fn(&Node<O>) -> bool) -> Option<u32> {
        while let Some(node) = self.nodes.get(at) {
            if fits(node) {
                return Some(at);
            }
            at = node.bin_next;
        }
        None
    }

    /// Finds a node followed by a gap that holds `size` units at a multiple of `align`. Returns the
    /// node and the padding in front of the aligned offset.
    pub(super) fn find_aligned(&self, size: O, align: O) -> Option<(u32, O)> {
        let holds = |node: &Node<O>| {
            let pad = padding(node.end(), align)?;
            (node.gap >= size && node.gap - size >= pad).then_some(pad)
        };
        let bin = bin_of(size.into());
        let mut at = self.bins.head(bin);
        for _ in 0..MAX_GAP_TRIES {
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
    pub(super) fn insert_node(&mut self, at: u32, before: u32, pad: O, size: O) -> RangeHandle {
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

    /// Allocates a range and stores its alignment.
    pub(super) fn insert_node_aligned(
        &mut self,
        at: u32,
        before: u32,
        pad: O,
        (size, align): (O, O),
    ) -> Result<RangeHandle, Error> {
        let handle = self.insert_node(at, before, pad, size);
        if self.alignments.set(at, align).is_none() {
            self.free(handle)?;
            return Err(self.full(size));
        }
        Ok(handle)
    }

    /// Inserts a range, whose size is set, into the gap after `before`, at `pad` units from its
    /// start.
    #[inline]
    pub(super) fn attach(&mut self, at: u32, before: u32, pad: O) {
        let size = self.nodes[at].size;
        let node = &mut self.nodes[before];
        let offset = node.end() + pad;
        let gap = node.gap - pad - size;
        let next = core::mem::replace(&mut node.next, at);
        self.nodes[next].prev = at;
        let node = &mut self.nodes[at];
        (node.offset, node.gap, node.prev, node.next) = (offset, gap, before, next);
        // What is left of a large gap usually stays in its list.
        if !self.bins.replace(&mut self.nodes, before, at) {
            self.bins.remove(&mut self.nodes, before);
            self.set_gap(at, gap);
        }
        self.set_gap(before, pad);
    }

    /// Removes a range from the space and joins the gaps on both sides. Returns its size.
    #[inline]
    pub(super) fn detach(&mut self, at: u32) -> O {
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

    /// Sets the gap after a node that is in no list, and adds it to its list.
    #[inline]
    fn set_gap(&mut self, at: u32, gap: O) {
        self.nodes[at].gap = gap;
        if gap > O::default() {
            self.bins.insert(&mut self.nodes, at);
        }
    }

    /// Changes the gap after a node, and moves the node to the list of the new gap size.
    pub(super) fn change_gap(&mut self, at: u32, gap: O) {
        if self.nodes[at].gap > O::default() {
            self.bins.remove(&mut self.nodes, at);
        }
        self.set_gap(at, gap);
    }

    #[cold]
    pub(super) fn full(&self, requested: O) -> Error {
        self.stats().full(requested.into())
    }
}
