use super::{
    RangeSpace,
    bins::bin_of,
    nodes::{NONE, START},
};
use crate::Offset;

impl<O: Offset> RangeSpace<O> {
    /// Verifies all invariants, for tests.
    ///
    /// # Errors
    /// The invariant that is violated.
    pub fn check(&self) -> Result<(), &'static str> {
        let gaps = self.check_ring()?;
        if self.check_lists()? != gaps || self.bins.len() != gaps {
            return Err("the number of gaps in the lists differs from the number of gaps");
        }
        Ok(())
    }

    /// Verifies that the ring of nodes covers the space without overlap. Returns the number of
    /// gaps.
    fn check_ring(&self) -> Result<u32, &'static str> {
        let (mut at, mut end, mut used) = (START, O::default(), O::default());
        let (mut live, mut gaps) = (0, 0);
        loop {
            let node = self.nodes.get(at).ok_or("a neighbour does not exist")?;
            if node.generation % 2 == 0 {
                return Err("a node in the ring is not live");
            }
            if node.offset != end {
                return Err("a range does not start where the gap before it ends");
            }
            if node.gap > self.capacity || node.size > self.capacity - used {
                return Err("ranges and gaps exceed the capacity");
            }
            used += node.size;
            end = node.end() + node.gap;
            gaps += u32::from(node.gap > O::default());
            if self.nodes.get(node.next).is_none_or(|next| next.prev != at) {
                return Err("the links of two neighbours do not match");
            }
            at = node.next;
            if at == START {
                break;
            }
            live += 1;
            if live as usize >= self.nodes.len() {
                return Err("the ring is longer than the number of nodes");
            }
        }
        match (end, used, live) == (self.capacity, self.used, self.live_blocks) {
            true => Ok(gaps),
            false => Err("the sums over all ranges are wrong"),
        }
    }

    /// Verifies that every list holds gaps of its bin only. Returns the number of gaps in all
    /// lists.
    fn check_lists(&self) -> Result<u32, &'static str> {
        let mut listed = 0;
        for (bin, head, has_bit) in self.bins.iter() {
            if has_bit != (head != NONE) {
                return Err("a bin's bit does not match whether its list is empty");
            }
            let (mut at, mut prev) = (head, NONE);
            while let Some(node) = self.nodes.get(at) {
                let is_gap = node.generation % 2 == 1 && node.gap > O::default();
                if !is_gap || bin_of(node.gap.into()) != bin || node.bin_prev != prev {
                    return Err("a list holds a node that is not a gap of its bin");
                }
                listed += 1;
                (prev, at) = (at, node.bin_next);
            }
        }
        Ok(listed)
    }
}
