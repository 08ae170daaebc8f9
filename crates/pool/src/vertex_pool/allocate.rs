use bytemuck::Pod;

use super::VertexPool;
use crate::{
    Access, Backend, BackendError, MAX_PARTS, MeshHandle, Oversize, PoolError,
    buffers::{Request, Span},
    mesh::{Mesh, MeshKey, NONE, Piece, Placed},
};

/// Meshes on their way in and out of places.
impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// A mesh of parts of so many elements, without a place as yet.
    #[inline]
    pub(super) fn new_mesh(&self, elements: usize, part_counts: &[u32]) -> Result<Mesh, PoolError> {
        let mut mesh = Mesh::of_nothing(self.frames.current());
        let counted = mesh.ranges.set_counts(part_counts);
        if !is_whole(elements, part_counts, counted) {
            return Err(self.wrong_parts(elements, part_counts));
        }
        Ok(mesh)
    }

    /// Places and writes the mesh of a slot that was just taken. Where that fails, nothing
    /// has a place.
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
        let placed = self.find_place(size, backend)?;
        self.write_new(placed, elements, backend)?;
        if let Some(mesh) = self.meshes.get_mut(key) {
            mesh.set_placed(placed);
        }
        self.occupy(key.index(), placed, size);
        Ok(())
    }

    /// Why parts are refused.
    #[cold]
    fn wrong_parts(&self, elements: usize, part_counts: &[u32]) -> PoolError {
        let counted: u64 = part_counts.iter().map(|&count| u64::from(count)).sum();
        let parts = part_counts.len();
        if parts > MAX_PARTS || counted != elements as u64 {
            return PoolError::PartsMismatch { elements, counted, parts };
        }
        PoolError::MeshTooLarge { elements: counted, limit: self.largest_place }
    }

    /// Adds empty buffers until all together have `elements`, so that inserting so much
    /// makes none. Those that stay empty for a while are given back like any other.
    ///
    /// # Errors
    /// `Full` when there can be no more buffers or the device has no memory for one, or
    /// `Backend`.
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

    /// A place for `size` elements, more than none, or several.
    #[inline(always)]
    pub(crate) fn find_place(
        &mut self,
        size: u32,
        backend: &mut impl Backend,
    ) -> Result<Placed, PoolError> {
        let found = if size <= self.largest_place { self.buffers.allocate(size) } else { None };
        match found {
            Some(span) => Ok(Placed { span, more: NONE }),
            None => self.make_place(size, backend),
        }
    }

    /// A place where the buffers that there are have none, or several.
    #[cold]
    fn make_place(&mut self, size: u32, backend: &mut impl Backend) -> Result<Placed, PoolError> {
        if size > self.largest_place {
            return self.find_places(size, backend);
        }
        let span = self.find_span(size, backend)?.ok_or_else(|| self.full(size))?;
        Ok(Placed { span, more: NONE })
    }

    fn find_span(
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

    /// Places for a mesh that is larger than any.
    #[cold]
    fn find_places(&mut self, size: u32, backend: &mut impl Backend) -> Result<Placed, PoolError> {
        let limit = self.largest_place;
        if self.config.oversize == Oversize::Refuse || limit == 0 {
            return Err(PoolError::MeshTooLarge { elements: size.into(), limit });
        }
        let (mut placed, mut last) = (None::<Placed>, NONE);
        for start in (0..size).step_by(limit as usize) {
            let span = match self.find_span((size - start).min(limit), backend) {
                Ok(Some(span)) => span,
                failed => {
                    if let Some(placed) = placed {
                        self.give_up(placed, size);
                    }
                    return Err(failed.err().unwrap_or_else(|| self.full(size)));
                }
            };
            let Some(first) = &mut placed else {
                placed = Some(Placed { span, more: NONE });
                continue;
            };
            let piece = self.pieces.insert(Piece { span, start, next: NONE, mesh: NONE });
            match self.pieces.get_mut(last) {
                Some(last) => last.next = piece,
                None => first.more = piece,
            }
            last = piece;
        }
        placed.ok_or_else(|| self.full(size))
    }

    /// Gives back the places of a mesh that was never drawn.
    pub(crate) fn give_up(&mut self, placed: Placed, len: u32) {
        if len > 0 {
            self.buffers.give_back(placed.span, self.frames.current());
            self.give_up_pieces(placed.more);
        }
    }

    pub(crate) fn give_up_pieces(&mut self, first: u32) {
        let mut more = first;
        while let Some(piece) = self.pieces.get(more) {
            self.buffers.give_back(piece.span, self.frames.current());
            more = self.pieces.remove(more);
        }
    }

    /// Writes a mesh's elements to the places that were just found for it. Where that fails,
    /// the places are given back.
    #[inline]
    pub(super) fn write_new(
        &mut self,
        placed: Placed,
        elements: &[V],
        backend: &mut impl Backend,
    ) -> Result<(), PoolError> {
        let written = self.write(placed, elements, backend);
        written.inspect_err(|_| self.give_up(placed, elements.len() as u32))
    }

    /// Writes a mesh's elements to its places. Where one of several fails, the others may be
    /// written.
    #[inline]
    pub(super) fn write(
        &mut self,
        placed: Placed,
        elements: &[V],
        backend: &mut impl Backend,
    ) -> Result<(), PoolError> {
        if elements.is_empty() {
            return Ok(());
        }
        if placed.is_split() {
            return self.write_pieces(placed, elements, backend);
        }
        self.write_span(placed.span, 0, elements, backend)
    }

    #[cold]
    fn write_pieces(
        &mut self,
        placed: Placed,
        elements: &[V],
        backend: &mut impl Backend,
    ) -> Result<(), PoolError> {
        for (span, range, _) in self.pieces.spans(0, placed, elements.len() as u32) {
            let elements = &elements[range.start as usize..range.end as usize];
            write_elements(span, 0, elements, backend)?;
        }
        self.traffic.note_uploaded(size_of_val(elements));
        Ok(())
    }

    /// Writes elements to a place, `skipped` elements in.
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

    /// Gives a placed mesh a slot.
    pub(crate) fn take_in(
        &mut self,
        mesh: Mesh,
        data: D,
        backend: &mut impl Backend,
    ) -> Result<MeshHandle, PoolError> {
        let (placed, len) = (mesh.placed(), mesh.len());
        let key = self.take_slot(data, backend).inspect_err(|_| self.give_up(placed, len))?;
        if let Some(slot) = self.meshes.get_mut(key) {
            *slot = mesh;
        }
        self.occupy(key.index(), placed, len);
        let handle = self.handle(key);
        self.set_slot(handle, data, backend);
        Ok(handle)
    }

    /// A slot for a mesh that will have this data; as yet it is of nothing.
    #[inline]
    pub(super) fn take_slot(
        &mut self,
        data: D,
        backend: &mut impl Backend,
    ) -> Result<MeshKey, PoolError> {
        let capacity = self.config.max_slots;
        if self.meshes.len() >= capacity {
            return Err(PoolError::SlotsFull { capacity });
        }
        let nothing = Mesh::of_nothing(self.frames.current());
        let key = self.meshes.insert(nothing).map_err(|_| PoolError::SlotsFull { capacity })?;
        if key.index() as usize >= self.data.len() {
            self.lengthen_data(key.index(), data);
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
    fn lengthen_data(&mut self, slot: u32, data: D) {
        self.data.resize(slot as usize + 1, data);
    }

    /// Makes the backend's table larger, and fills it anew.
    #[cold]
    fn grow_table(&mut self, slot: u32, backend: &mut impl Backend) -> Result<(), PoolError> {
        let doubled = self.table_slots.saturating_mul(2).max(self.config.first_slots);
        // Slots whose generations ran out count beyond the most meshes.
        let slots = doubled.min(self.config.max_slots).max(slot + 1);
        backend.resize_draw_data(slots)?;
        self.table_slots = slots;
        backend.write_draw_data(0, bytemuck::cast_slice(&self.data));
        self.traffic.note_uploaded(size_of_val(self.data.as_slice()));
        Ok(())
    }

    /// Makes `mesh`, which is placed, what `handle` draws, and retires the mesh that was.
    pub(crate) fn put_in_place_of(
        &mut self,
        handle: MeshHandle,
        mesh: Mesh,
        data: D,
        backend: &mut impl Backend,
    ) {
        let (placed, len) = (mesh.placed(), mesh.len());
        let Some(slot) = self.meshes.get_mut(handle.mesh) else {
            self.give_up(placed, len);
            return;
        };
        let old = core::mem::replace(slot, mesh);
        self.retire(old.placed(), old.len());
        self.occupy(handle.slot(), placed, len);
        self.set_slot(handle, data, backend);
    }

    /// Notes whose the places are.
    #[inline]
    fn occupy(&mut self, slot: u32, placed: Placed, len: u32) {
        if placed.is_split() {
            self.occupy_pieces(slot, placed, len);
        } else if let Some(buffer) = self.buffers.get_mut(placed.span.buffer).filter(|_| len > 0) {
            buffer.used += len;
            buffer.set_owner(placed.span.place, slot);
        }
    }

    #[cold]
    fn occupy_pieces(&mut self, slot: u32, placed: Placed, len: u32) {
        for (span, range, owner) in self.pieces.spans(slot, placed, len) {
            if let Some(buffer) = self.buffers.get_mut(span.buffer) {
                buffer.used += range.end - range.start;
                buffer.set_owner(span.place, owner);
            }
        }
        let mut more = placed.more;
        while let Some(piece) = self.pieces.get_mut(more) {
            (piece.mesh, more) = (slot, piece.next);
        }
    }

    /// Gives back the places of a mesh that frames may still read.
    #[inline]
    pub(super) fn retire(&mut self, placed: Placed, len: u32) {
        if len == 0 {
            return;
        }
        if placed.is_split() {
            self.retire_pieces(placed, len);
            return;
        }
        self.buffers.retire(placed.span, len, &self.frames);
    }

    #[cold]
    fn retire_pieces(&mut self, placed: Placed, len: u32) {
        for (span, range, _) in self.pieces.spans(0, placed, len) {
            self.buffers.retire(span, range.end - range.start, &self.frames);
        }
        let mut more = placed.more;
        while more != NONE {
            more = self.pieces.remove(more);
        }
    }

    /// Whether new elements may take the very place of the old: where every frame reads
    /// what was written before it was submitted, and one write does, which writes all or
    /// nothing.
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

/// Whether parts that count so many elements are those of a mesh.
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
