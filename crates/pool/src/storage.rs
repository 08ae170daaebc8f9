//! Memory of a pool's meshes: allocations in buffers, and chains of them for split meshes.

use bytemuck::Pod;

use crate::{
    allocation::{Location, Pieces, Span},
    backend::{Access, Backend, BackendError},
    config::{Oversize, PoolConfig},
    error::PoolError,
    frames::Frames,
    stats::{PoolRange, RangeState},
};

mod buffers;
mod space;

pub(crate) use buffers::{Buffer, Buffers, FreedAllocation};
pub(crate) use space::Space;

/// Buffers of a pool, and the allocations of its meshes in them. Stores no element itself.
#[derive(Debug)]
pub(crate) struct Storage {
    pub(crate) buffers: Buffers,
    pub(crate) pieces: Pieces,
    /// Maximum elements of one allocation.
    max_allocation: u32,
}

impl Storage {
    pub(crate) fn new(config: PoolConfig, element_bytes: usize) -> Self {
        let max_allocation = config.max_allocation();
        let buffers = Buffers::new(config, element_bytes as u64);
        Self { buffers, pieces: Pieces::new(max_allocation), max_allocation }
    }

    /// Changes the configuration while there is no mesh.
    pub(crate) fn set_config(&mut self, config: PoolConfig) {
        self.max_allocation = config.max_allocation();
        self.pieces = Pieces::new(self.max_allocation);
        self.buffers.set_config(config);
    }

    /// Allocates `size` elements, at least one, in an existing buffer with meshes.
    #[inline(always)]
    pub(crate) fn allocate(&mut self, size: u32) -> Option<Location> {
        if size > self.max_allocation {
            return None;
        }
        self.buffers.allocate(size).map(Location::of_span)
    }

    /// Allocates `size` elements in one or several allocations, and in new buffers if necessary.
    /// Returns `None` if they do not fit.
    ///
    /// # Errors
    /// `MeshTooLarge`, or `Backend` for errors other than lack of memory.
    #[cold]
    pub(crate) fn allocate_or_grow(
        &mut self,
        size: u32,
        frame: u64,
        backend: &mut impl Backend,
    ) -> Result<Option<Location>, PoolError> {
        let limit = self.max_allocation;
        if size > limit && (self.buffers.config.oversize == Oversize::Refuse || limit == 0) {
            return Err(PoolError::MeshTooLarge { elements: size.into(), limit });
        }
        let mut location = None::<Location>;
        for start in (0..size).step_by(limit as usize) {
            let part = (size - start).min(limit);
            let span = match self.buffers.allocate_or_grow(part, frame, backend) {
                Ok(Some(span)) => span,
                failed => {
                    location.into_iter().for_each(|location| self.free(location, start, frame));
                    return Ok(failed.map(|_| None)?);
                }
            };
            match &mut location {
                Some(location) => self.pieces.append(location, span),
                None => location = Some(Location::of_span(span)),
            }
        }
        Ok(location)
    }

    /// Adds empty buffers until the total capacity is at least `elements`. Returns the elements
    /// that are missing because no further buffer is possible.
    pub(crate) fn reserve(
        &mut self,
        elements: u64,
        frame: u64,
        backend: &mut impl Backend,
    ) -> Result<u32, BackendError> {
        loop {
            let missing = elements.saturating_sub(self.buffers.capacity());
            let size = missing.min(self.buffers.config.max_buffer_elements.into()) as u32;
            if missing == 0 || !self.buffers.add(size, frame, backend)? {
                return Ok(size);
            }
        }
    }

    /// Writes elements of a mesh with `len` elements, starting at its element `start`. If the mesh
    /// is split and one write fails, others may be done already.
    #[inline]
    pub(crate) fn write<V: Pod>(
        &self,
        location: Location,
        len: u32,
        start: u32,
        elements: &[V],
        backend: &mut impl Backend,
    ) -> Result<(), BackendError> {
        if location.is_split() {
            return self.write_pieces(location, len, start, elements, backend);
        }
        write_span(location.span, start, elements, backend)
    }

    #[cold]
    fn write_pieces<V: Pod>(
        &self,
        location: Location,
        len: u32,
        start: u32,
        elements: &[V],
        backend: &mut impl Backend,
    ) -> Result<(), BackendError> {
        let end = start + elements.len() as u32;
        for (span, held) in self.pieces.spans(location, len) {
            let (from, to) = (start.max(held.start), end.min(held.end));
            if from < to {
                let of_span = &elements[(from - start) as usize..(to - start) as usize];
                write_span(span, from - held.start, of_span, backend)?;
            }
        }
        Ok(())
    }

    /// Returns the memory of `count` elements from element `start` of a mesh, if the backend maps
    /// it and the mesh is in one piece.
    pub(crate) fn map<'b, V: Pod>(
        &self,
        location: Location,
        start: u32,
        count: usize,
        backend: &'b mut dyn Backend,
    ) -> Option<&'b mut [V]> {
        let buffer = self.buffers.get(location.span.buffer)?;
        if location.is_split() || buffer.access == Access::Staged {
            return None;
        }
        let bytes = [u64::from(location.span.first) + u64::from(start), count as u64]
            .map(|elements| elements * size_of::<V>() as u64);
        let mapped = backend.map_elements(buffer.number.into(), bytes[0], bytes[1])?;
        bytemuck::try_cast_slice_mut(mapped).ok().filter(|mapped| mapped.len() == count)
    }

    /// Records the slot that owns the allocations of a mesh.
    #[inline]
    pub(crate) fn occupy(&mut self, slot: u32, location: Location, len: u32) {
        if location.is_split() {
            self.occupy_pieces(slot, location, len);
        } else if let Some(buffer) = self.buffers.get_mut(location.span.buffer).filter(|_| len > 0)
        {
            buffer.occupy(location.span.allocation, len, slot);
        }
    }

    #[cold]
    fn occupy_pieces(&mut self, slot: u32, location: Location, len: u32) {
        for (span, held) in self.pieces.spans(location, len) {
            if let Some(buffer) = self.buffers.get_mut(span.buffer) {
                buffer.occupy(span.allocation, held.end - held.start, slot);
            }
        }
    }

    /// Frees the elements of a mesh after its first `len`, at least one, if the policy permits. The
    /// mesh was never drawn.
    pub(crate) fn shrink(&mut self, mut location: Location, len: u32, frame: u64) -> Location {
        let free = |span| self.buffers.free(span, frame);
        let (span, count) = self.pieces.cut(&mut location, len, free);
        if let Some(buffer) = self.buffers.get_mut(span.buffer) {
            buffer.shrink(span.allocation, count);
        }
        location
    }

    /// Frees the allocations of a mesh that was never drawn.
    pub(crate) fn free(&mut self, location: Location, len: u32, frame: u64) {
        if len > 0 {
            self.buffers.free(location.span, frame);
            self.pieces.remove(location.more, |span| self.buffers.free(span, frame));
        }
    }

    /// Retires the allocations of a mesh, which frames in flight may still read.
    #[inline]
    pub(crate) fn retire(&mut self, location: Location, len: u32, frames: &Frames) {
        if len == 0 {
            return;
        }
        if location.is_split() {
            self.retire_pieces(location, len, frames);
            return;
        }
        self.buffers.retire(location.span, len, frames);
    }

    #[cold]
    fn retire_pieces(&mut self, location: Location, len: u32, frames: &Frames) {
        for (span, held) in self.pieces.spans(location, len) {
            self.buffers.retire(span, held.end - held.start, frames);
        }
        self.pieces.remove(location.more, |_| {});
    }

    /// Frees the elements of a slot's mesh before those of a mesh of `size` elements that replaces it are
    /// allocated. Returns `None`, and changes nothing, if a frame may read them, if they could not be
    /// [restored](Buffers::restore), or if one of the meshes needs several allocations or none.
    pub(crate) fn free_unread(
        &mut self,
        slot: u32,
        (location, len): (Location, u32),
        size: u32,
        frames: &Frames,
    ) -> Option<FreedAllocation> {
        let is_one = |len: u32| (1..=self.max_allocation).contains(&len);
        if !is_one(len) || !is_one(size) || location.is_split() {
            return None;
        }
        self.buffers.free_unread((slot, location.span), len, frames)
    }

    /// Allocates `size` elements of one allocation, at least one, in an existing buffer.
    pub(crate) fn allocate_without_growing(&mut self, size: u32) -> Option<Location> {
        self.buffers.allocate_without_growing(size).map(Location::of_span)
    }

    pub(crate) const fn config(&self) -> &PoolConfig {
        &self.buffers.config
    }

    /// Maximum elements of one allocation.
    pub(crate) const fn max_allocation(&self) -> u32 {
        self.max_allocation
    }

    /// Returns whether as many new elements can overwrite a mesh: no frame may read it, and it must be in
    /// one piece, so that a single write succeeds or changes nothing.
    pub(crate) fn may_overwrite(&self, location: Location, len: u32, frames: &Frames) -> bool {
        let buffer = self.buffers.get(location.span.buffer).filter(|_| len > 0);
        !location.is_split() && buffer.is_none_or(|buffer| !buffer.is_read(frames))
    }

    /// Checks the allocators and counts of all buffers. `taken` contains all ranges in use.
    pub(crate) fn validate(&self, taken: &[PoolRange]) -> Result<(), &'static str> {
        for buffer in self.buffers.iter() {
            buffer.space.validate()?;
            let (mut used, mut waiting) = (0, 0);
            for range in taken.iter().filter(|range| range.buffer == u32::from(buffer.number)) {
                let is_live = matches!(range.state, RangeState::Live(_));
                *(if is_live { &mut used } else { &mut waiting }) += range.elements.len() as u32;
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
}

#[inline]
fn write_span<V: Pod>(
    span: Span,
    skipped: u32,
    elements: &[V],
    backend: &mut impl Backend,
) -> Result<(), BackendError> {
    let offset_bytes = (u64::from(span.first) + u64::from(skipped)) * size_of::<V>() as u64;
    backend.write_elements(span.buffer.into(), offset_bytes, bytemuck::cast_slice(elements))
}
