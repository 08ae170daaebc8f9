use bytemuck::Pod;

use super::VertexPool;
use crate::{RangeState, space::Space};

impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// Checks all invariants of the structure, for tests.
    ///
    /// # Errors
    /// Description of the first violated invariant.
    pub fn check(&self) -> Result<(), &'static str> {
        self.meshes.check()?;
        let mut end = (0, 0);
        for range in self.ranges() {
            if range.buffer != end.0 {
                end = (range.buffer, 0);
            }
            if range.elements.start != end.1 {
                return Err("two ranges overlap");
            }
            end.1 = range.elements.end;
            let buffer = self.buffers.get(range.buffer as u16).ok_or("a range is in no buffer")?;
            if range.elements.end > buffer.elements {
                return Err("a range exceeds its buffer");
            }
        }
        self.check_counts()?;
        self.check_owners()
    }

    fn check_counts(&self) -> Result<(), &'static str> {
        let taken = self.used_ranges();
        for (number, buffer) in self.buffers.iter() {
            buffer.space.check()?;
            let (mut used, mut waiting) = (0, 0);
            for range in taken.iter().filter(|range| range.buffer == u32::from(number)) {
                let count = range.elements.end - range.elements.start;
                let is_live = matches!(range.state, RangeState::Live(_));
                *(if is_live { &mut used } else { &mut waiting }) += count;
            }
            if (used, waiting) != (buffer.used, buffer.waiting) {
                return Err("the sums over the ranges of a buffer are wrong");
            }
            if let Space::Ranges(space) = &buffer.space
                && space.used() != used + waiting
            {
                return Err("an allocated range has no owner");
            }
        }
        Ok(())
    }

    /// Checks that each allocation has its owner, and that there are no other owners.
    fn check_owners(&self) -> Result<(), &'static str> {
        let mut owned = 0;
        for (handle, mesh) in &self.meshes {
            for (span, _, owner) in self.pieces.spans(handle.index(), mesh.location(), mesh.len()) {
                let buffer = self.buffers.get(span.buffer).ok_or("a mesh is in no buffer")?;
                if buffer.owner(span.allocation) != owner {
                    return Err("an allocation has another owner than its mesh");
                }
                owned += 1;
            }
        }
        let owners = self.buffers.iter().flat_map(|(_, buffer)| &buffer.owners);
        match owners.filter(|&&owner| owner != crate::buffers::NO_OWNER).count() == owned {
            true => Ok(()),
            false => Err("the owner of an allocation is not one of its meshes"),
        }
    }
}
