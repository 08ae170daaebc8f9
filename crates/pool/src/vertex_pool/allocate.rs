use bytemuck::Pod;

use super::VertexPool;
use crate::{
    Access, Backend, BackendError, MAX_PARTS, MeshHandle, Oversize, PoolError,
    buffers::{Request, Span},
    mesh::{Location, Mesh, MeshKey, NONE, Piece},
};

/// Allocation and release of meshes.
impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// Creates a mesh with these part counts, without an allocation.
    #[inline]
    pub(super) fn new_mesh(&self, elements: usize, part_counts: &[u32]) -> Result<Mesh, PoolError> {
        let mut mesh = Mesh::empty(self.frames.current());
        let counted = mesh.ranges.set_counts(part_counts);
        if !is_whole(elements, part_counts, counted) {
            return Err(self.wrong_parts(elements, part_counts));
        }
        Ok(mesh)
    }

    /// Allocates and writes the mesh of a new slot. Leaves no allocation after an error.
    #[inline]
    pub(super) fn fill_slot(
        &mut self,
        key: MeshKey,
        elements: &[V],
        part_counts: &[u32],
        backend: &mut impl Backend,
    ) -> Result<(), PoolError> {
        let mesh = self.meshes.get_mut(key).ok_or(PoolError::Stale)?;
        let counted = mesh.ranges.set_counts(part_counts);
        if !is_whole(elements.len(), part_counts, counted) {
            return Err(self.wrong_parts(elements.len(), part_counts));
        }
        if elements.is_empty() {
            return Ok(());
        }
        let size = elements.len() as u32;
        let location = self.allocate(size, backend)?;
        self.write_or_free(location, elements, backend)?;
        if let Some(mesh) = self.meshes.get_mut(key) {
            mesh.set_location(location);
        }
        self.occupy(key.index(), location, size);
        Ok(())
    }

    /// Returns the error for invalid parts.
    #[cold]
    fn wrong_parts(&self, elements: usize, part_counts: &[u32]) -> PoolError {
        let counted: u64 = part_counts.iter().map(|&count| u64::from(count)).sum();
        let parts = part_counts.len();
        if parts > MAX_PARTS || counted != elements as u64 {
            return PoolError::PartsMismatch { elements, counted, parts };
        }
        PoolError::MeshTooLarge { elements: counted, limit: self.max_allocation }
    }

    /// Adds empty buffers until the total capacity is at least `elements`, so that later inserts
    /// create no buffer. After [`Config::spare_frames`](crate::Config::spare_frames) frames without
    /// content, a buffer is released.
    ///
    /// # Errors
    /// `Full` if the limit of buffers is reached or the device is out of memory, or `Backend`.
    pub fn reserve(&mut self, elements: u64, backend: &mut impl Backend) -> Result<(), PoolError> {
        loop {
            let capacity: u64 = self.buffers.iter().map(|(_, it)| u64::from(it.elements)).sum();
            let missing = elements.saturating_sub(capacity);
            if missing == 0 {
                return Ok(());
            }
            let size = missing.min(self.config.max_buffer_elements.into()) as u32;
            let element_bytes = size_of::<V>() as u64;
            let frame = self.frames.current();
            let request = Request { size, element_bytes, config: &self.config, frame };
            if !self.buffers.add(&request, &mut *backend)? {
                return Err(self.full(size));
            }
        }
    }

    /// Allocates `size` elements, at least one, in one or several allocations.
    #[inline(always)]
    pub(crate) fn allocate(
        &mut self,
        size: u32,
        backend: &mut impl Backend,
    ) -> Result<Location, PoolError> {
        let found = if size <= self.max_allocation { self.buffers.allocate(size) } else { None };
        match found {
            Some(span) => Ok(Location { span, more: NONE }),
            None => self.allocate_or_grow(size, backend),
        }
    }

    /// Allocates if no existing buffer has enough contiguous space.
    #[cold]
    fn allocate_or_grow(
        &mut self,
        size: u32,
        backend: &mut impl Backend,
    ) -> Result<Location, PoolError> {
        if size > self.max_allocation {
            return self.allocate_split(size, backend);
        }
        let span = self.allocate_span(size, backend)?.ok_or_else(|| self.full(size))?;
        Ok(Location { span, more: NONE })
    }

    fn allocate_span(
        &mut self,
        size: u32,
        backend: &mut impl Backend,
    ) -> Result<Option<Span>, PoolError> {
        let request = Request {
            size,
            element_bytes: size_of::<V>() as u64,
            config: &self.config,
            frame: self.frames.current(),
        };
        Ok(self.buffers.allocate_or_grow(&request, backend)?)
    }

    /// Allocates for a mesh that exceeds the largest allocation.
    #[cold]
    fn allocate_split(
        &mut self,
        size: u32,
        backend: &mut impl Backend,
    ) -> Result<Location, PoolError> {
        let limit = self.max_allocation;
        if self.config.oversize == Oversize::Refuse || limit == 0 {
            return Err(PoolError::MeshTooLarge { elements: size.into(), limit });
        }
        let (mut location, mut last) = (None::<Location>, NONE);
        for start in (0..size).step_by(limit as usize) {
            let span = match self.allocate_span((size - start).min(limit), backend) {
                Ok(Some(span)) => span,
                failed => {
                    if let Some(location) = location {
                        self.free(location, size);
                    }
                    return Err(failed.err().unwrap_or_else(|| self.full(size)));
                }
            };
            let Some(first) = &mut location else {
                location = Some(Location { span, more: NONE });
                continue;
            };
            let piece = self.pieces.insert(Piece { span, start, next: NONE, mesh: NONE });
            match self.pieces.get_mut(last) {
                Some(last) => last.next = piece,
                None => first.more = piece,
            }
            last = piece;
        }
        location.ok_or_else(|| self.full(size))
    }

    /// Frees the allocations of a mesh that was never drawn.
    pub(crate) fn free(&mut self, location: Location, len: u32) {
        if len > 0 {
            self.buffers.free(location.span, self.frames.current());
            self.free_pieces(location.more);
        }
    }

    pub(crate) fn free_pieces(&mut self, first: u32) {
        let mut more = first;
        while let Some(piece) = self.pieces.get(more) {
            self.buffers.free(piece.span, self.frames.current());
            more = self.pieces.remove(more);
        }
    }

    /// Writes a mesh's elements to its new allocations. Frees them after an error.
    #[inline]
    pub(super) fn write_or_free(
        &mut self,
        location: Location,
        elements: &[V],
        backend: &mut impl Backend,
    ) -> Result<(), PoolError> {
        let written = self.write(location, elements, backend);
        written.inspect_err(|_| self.free(location, elements.len() as u32))
    }

    /// Writes a mesh's elements to its allocations. If one write fails, others may be done already.
    #[inline]
    pub(super) fn write(
        &mut self,
        location: Location,
        elements: &[V],
        backend: &mut impl Backend,
    ) -> Result<(), PoolError> {
        if elements.is_empty() {
            return Ok(());
        }
        if location.is_split() {
            return self.write_pieces(location, elements, backend);
        }
        self.write_span(location.span, 0, elements, backend)
    }

    #[cold]
    fn write_pieces(
        &mut self,
        location: Location,
        elements: &[V],
        backend: &mut impl Backend,
    ) -> Result<(), PoolError> {
        for (span, range, _) in self.pieces.spans(0, location, elements.len() as u32) {
            let elements = &elements[range.start as usize..range.end as usize];
            write_elements(span, 0, elements, backend)?;
        }
        self.traffic.note_uploaded(size_of_val(elements));
        Ok(())
    }

    /// Writes elements to an allocation, starting `skipped` elements after its begin.
    #[inline]
    pub(crate) fn write_span(
        &mut self,
        span: Span,
        skipped: u32,
        elements: &[V],
        backend: &mut impl Backend,
    ) -> Result<(), PoolError> {
        write_elements(span, skipped, elements, backend)?;
        self.traffic.note_uploaded(size_of_val(elements));
        Ok(())
    }

    /// Assigns a slot to a mesh that is already allocated and written.
    pub(crate) fn insert_written(
        &mut self,
        mesh: Mesh,
        data: D,
        backend: &mut impl Backend,
    ) -> Result<MeshHandle, PoolError> {
        let (location, len) = (mesh.location(), mesh.len());
        let key = self.reserve_slot(data, backend).inspect_err(|_| self.free(location, len))?;
        if let Some(slot) = self.meshes.get_mut(key) {
            *slot = mesh;
        }
        self.occupy(key.index(), location, len);
        let handle = self.handle(key);
        self.set_slot(handle, data, backend);
        Ok(handle)
    }

    /// Reserves a slot for a mesh with this data. The slot contains an empty mesh at first.
    #[inline]
    pub(super) fn reserve_slot(
        &mut self,
        data: D,
        backend: &mut impl Backend,
    ) -> Result<MeshKey, PoolError> {
        let capacity = self.config.max_slots;
        if self.meshes.len() >= capacity {
            return Err(PoolError::SlotsFull { capacity });
        }
        let nothing = Mesh::empty(self.frames.current());
        let key = self.meshes.insert(nothing).map_err(|_| PoolError::SlotsFull { capacity })?;
        if key.index() as usize >= self.data.len() {
            self.grow_data(key.index(), data);
        }
        if key.index() >= self.table_slots
            && let Err(error) = self.grow_table(key.index(), backend)
        {
            self.meshes.remove(key);
            return Err(error);
        }
        Ok(key)
    }

    #[cold]
    fn grow_data(&mut self, slot: u32, data: D) {
        self.data.resize(slot as usize + 1, data);
    }

    /// Grows the backend's table, and writes all per-draw data again.
    #[cold]
    fn grow_table(&mut self, slot: u32, backend: &mut impl Backend) -> Result<(), PoolError> {
        let doubled = self.table_slots.saturating_mul(2).max(self.config.first_slots);
        // Slots with exhausted generations are unused, so indices can exceed the maximum of meshes.
        let slots = doubled.min(self.config.max_slots).max(slot + 1);
        backend.resize_draw_data(slots)?;
        self.table_slots = slots;
        backend.write_draw_data(0, bytemuck::cast_slice(&self.data));
        self.traffic.note_uploaded(size_of_val(self.data.as_slice()));
        Ok(())
    }

    /// Replaces the mesh of `handle` by `mesh`, which is already written, and retires the old one.
    pub(crate) fn replace_mesh(
        &mut self,
        handle: MeshHandle,
        mesh: Mesh,
        data: D,
        backend: &mut impl Backend,
    ) {
        let (location, len) = (mesh.location(), mesh.len());
        let Some(slot) = self.meshes.get_mut(handle.mesh) else {
            self.free(location, len);
            return;
        };
        let old = core::mem::replace(slot, mesh);
        self.retire(old.location(), old.len());
        self.occupy(handle.slot(), location, len);
        self.set_slot(handle, data, backend);
    }

    /// Records the owner of each allocation.
    #[inline]
    fn occupy(&mut self, slot: u32, location: Location, len: u32) {
        if location.is_split() {
            self.occupy_pieces(slot, location, len);
        } else if let Some(buffer) = self.buffers.get_mut(location.span.buffer).filter(|_| len > 0)
        {
            buffer.used += len;
            buffer.set_owner(location.span.allocation, slot);
        }
    }

    #[cold]
    fn occupy_pieces(&mut self, slot: u32, location: Location, len: u32) {
        for (span, range, owner) in self.pieces.spans(slot, location, len) {
            if let Some(buffer) = self.buffers.get_mut(span.buffer) {
                buffer.used += range.end - range.start;
                buffer.set_owner(span.allocation, owner);
            }
        }
        let mut more = location.more;
        while let Some(piece) = self.pieces.get_mut(more) {
            (piece.mesh, more) = (slot, piece.next);
        }
    }

    /// Retires the allocations of a mesh, which frames in flight may still read.
    #[inline]
    pub(super) fn retire(&mut self, location: Location, len: u32) {
        if len == 0 {
            return;
        }
        if location.is_split() {
            self.retire_pieces(location, len);
            return;
        }
        self.buffers.retire(location.span, len, &self.frames);
    }

    #[cold]
    fn retire_pieces(&mut self, location: Location, len: u32) {
        for (span, range, _) in self.pieces.spans(0, location, len) {
            self.buffers.retire(span, range.end - range.start, &self.frames);
        }
        let mut more = location.more;
        while more != NONE {
            more = self.pieces.remove(more);
        }
    }

    /// Returns whether new elements can overwrite the mesh's allocation. This needs staged writes,
    /// where each frame reads the data written before its submission. It also needs a mesh in one
    /// piece, so that a single write succeeds or changes nothing.
    pub(super) fn may_overwrite(&self, handle: MeshHandle) -> bool {
        self.mesh(handle).filter(|mesh| !mesh.is_split()).is_some_and(|mesh| {
            let buffer = self.buffers.get(mesh.span().buffer).filter(|_| mesh.len() > 0);
            buffer.is_none_or(|buffer| buffer.access == Access::Staged)
        })
    }

    #[inline]
    pub(super) fn set_slot(&mut self, handle: MeshHandle, data: D, backend: &mut impl Backend) {
        if let Some(entry) = self.data.get_mut(handle.slot() as usize) {
            *entry = data;
        }
        backend.write_draw_data(handle.slot(), bytemuck::bytes_of(&data));
        self.traffic.note_uploaded(size_of::<D>());
        self.changes.note(handle.slot());
    }
}

/// Returns whether the parts are valid and add up to the elements.
#[inline]
fn is_whole(elements: usize, part_counts: &[u32], counted: u64) -> bool {
    part_counts.len() <= MAX_PARTS && counted == elements as u64 && counted <= u32::MAX.into()
}

#[inline]
fn write_elements<V: Pod>(
    span: Span,
    skipped: u32,
    elements: &[V],
    backend: &mut impl Backend,
) -> Result<(), BackendError> {
    let offset_bytes = (u64::from(span.first) + u64::from(skipped)) * size_of::<V>() as u64;
    backend.write_elements(span.buffer.into(), offset_bytes, bytemuck::cast_slice(elements))
}
