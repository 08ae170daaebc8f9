use bytemuck::Pod;

use super::VertexPool;
use crate::{RangeState, space::Space};

impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// Walks the whole structure and says what is wrong with it, for tests.
    ///
    /// # Errors
    /// The invariant that does not hold.
    pub fn check(&self) -> Result<(), &'static str> {
        self.meshes.check()?;
        let mut end = (0, 0);
        for place in self.places() {
            if place.buffer != end.0 {
                end = (place.buffer, 0);
            }
            if place.elements.start != end.1 {
                return Err("two places overlap");
            }
            end.1 = place.elements.end;
            let buffer = self.buffers.get(place.buffer as u16).ok_or("a place is in no buffer")?;
            if place.elements.end > buffer.elements {
                return Err("a place reaches beyond its buffer");
            }
        }
        self.check_counts()?;
        self.check_owners()
    }

    fn check_counts(&self) -> Result<(), &'static str> {
        let taken = self.taken_places();
        for (number, buffer) in self.buffers.iter() {
            buffer.space.check()?;
            let (mut used, mut waiting) = (0, 0);
            for place in taken.iter().filter(|place| place.buffer == u32::from(number)) {
                let count = place.elements.end - place.elements.start;
                let is_live = matches!(place.state, RangeState::Live(_));
                *(if is_live { &mut used } else { &mut waiting }) += count;
            }
            if (used, waiting) != (buffer.used, buffer.waiting) {
                return Err("a buffer's sums over its places are wrong");
            }
            if let Space::Ranges(space) = &buffer.space
                && space.used() != used + waiting
            {
                return Err("a range is handed out and nobody has it");
            }
        }
        Ok(())
    }

    /// Every place knows its owner, and no place has one that does not.
    fn check_owners(&self) -> Result<(), &'static str> {
        let mut owned = 0;
        for (handle, mesh) in &self.meshes {
            for (span, _, owner) in self.pieces.spans(handle.index(), mesh.placed(), mesh.len()) {
                let buffer = self.buffers.get(span.buffer).ok_or("a mesh is in no buffer")?;
                if buffer.owner(span.place) != owner {
                    return Err("a place does not know its owner");
                }
                owned += 1;
            }
        }
        let owners = self.buffers.iter().flat_map(|(_, buffer)| &buffer.owners);
        match owners.filter(|&&owner| owner != crate::buffers::NOBODY).count() == owned {
            true => Ok(()),
            false => Err("a place has an owner that does not have it"),
        }
    }
}
