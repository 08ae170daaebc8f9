use core::ops::Range;

use super::{
    RangeHandle, RangeSpace,
    nodes::{Nodes, START},
};
use crate::Offset;

/// A live range or a gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block<O = u32> {
    /// Offsets of the block.
    pub range: Range<O>,
    /// Handle of the live range; `None` for a gap.
    pub handle: Option<RangeHandle>,
}

/// Iterator over all live ranges and gaps of a [`RangeSpace`], sorted by offset, without holes.
#[derive(Clone, Debug)]
pub struct Blocks<'a, O> {
    nodes: &'a Nodes<O>,
    /// Node whose own block (if any) and gap come next; `None` at the end.
    at: Option<u32>,
    gap_is_next: bool,
}

impl<O: Offset> RangeSpace<O> {
    /// Iterates over all live ranges and gaps, sorted by offset, for example to draw a map.
    ///
    /// # Examples
    /// ```
    /// use drystone_alloc::RangeSpace;
    ///
    /// let mut space = RangeSpace::new(9);
    /// let range = space.allocate(4)?;
    /// let blocks: Vec<_> = space.blocks().map(|block| (block.range, block.handle)).collect();
    /// assert_eq!(blocks, [(0..4, Some(range)), (4..9, None)]);
    /// # Ok::<(), drystone_alloc::Error>(())
    /// ```
    pub const fn blocks(&self) -> Blocks<'_, O> {
        Blocks { nodes: &self.nodes, at: Some(START), gap_is_next: true }
    }
}

impl<O: Offset> Iterator for Blocks<'_, O> {
    type Item = Block<O>;

    fn next(&mut self) -> Option<Block<O>> {
        loop {
            let at = self.at?;
            let node = &self.nodes[at];
            if !self.gap_is_next {
                self.gap_is_next = true;
                let handle = RangeHandle { index: at, generation: node.generation };
                return Some(Block { range: node.offset..node.end(), handle: Some(handle) });
            }
            self.gap_is_next = false;
            self.at = (node.next != START).then_some(node.next);
            if node.gap > O::default() {
                return Some(Block { range: node.end()..node.end() + node.gap, handle: None });
            }
        }
    }
}
