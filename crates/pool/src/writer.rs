use core::fmt;

use bytemuck::Pod;

use crate::{
    Backend, MAX_PARTS, MeshHandle, Placement, PoolError, VertexPool,
    mesh::{Location, Mesh, NONE},
};

/// Size of the blocks in which elements are passed to the backend. Large enough that the call is
/// cheap compared to the copy, and small enough for the cache.
const BLOCK_BYTES: usize = 1 << 16;

/// Writes a mesh incrementally. Reserves the maximum size, takes elements part by part, and frees
/// the unused rest.
///
/// Elements are collected in a small block and then copied in ascending order, which suits mapped
/// memory. The mesh is not drawn before [`finish`](Self::finish). Dropping an unfinished writer
/// leaves the pool unchanged.
///
/// With size classes an allocation cannot shrink, so the whole mesh is collected first and
/// allocated at its final size. A bucket always remains a whole bucket.
///
/// # Examples
/// ```
/// use drystone_pool::{Access, Config, SimulatedGpu, VertexPool};
///
/// let mut gpu = SimulatedGpu::new(Access::Direct, 2);
/// let mut pool = VertexPool::<u64, u32>::new(Config::default())?;
/// let mut writer = pool.writer(1000, &mut gpu)?;
/// writer.extend(&[1, 2, 3])?;
/// writer.end_part()?;
/// writer.push(4)?;
/// let mesh = writer.finish(7)?;
/// assert_eq!((pool.data(mesh), pool.stats().used), (Some(&7), 4));
/// # Ok::<(), drystone_pool::PoolError>(())
/// ```
pub struct MeshWriter<'a, V: Pod, D: Pod> {
    pool: &'a mut VertexPool<V, D>,
    backend: &'a mut dyn Backend,
    replaces: Option<MeshHandle>,
    /// Reserved allocation; none once it belongs to the mesh.
    location: Option<Location>,
    reserved: u32,
    counts: [u32; MAX_PARTS],
    part: usize,
    /// Elements so far, and the number of them that the backend has.
    len: u32,
    flushed: u32,
}

impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// Starts a new mesh of at most `max_elements` elements.
    ///
    /// # Errors
    /// `Full`, `MeshTooLarge` or `Backend` if `max_elements` elements do not fit.
    pub fn writer<'a>(
        &'a mut self,
        max_elements: u32,
        backend: &'a mut impl Backend,
    ) -> Result<MeshWriter<'a, V, D>, PoolError> {
        self.start_writer(None, max_elements, backend)
    }

    /// Starts a mesh that replaces the mesh of `handle`. The old mesh is drawn until the new one is
    /// finished.
    ///
    /// # Errors
    /// `Stale`; or `Full`, `MeshTooLarge` or `Backend` if `max_elements` elements do not fit.
    pub fn replacing_writer<'a>(
        &'a mut self,
        handle: MeshHandle,
        max_elements: u32,
        backend: &'a mut impl Backend,
    ) -> Result<MeshWriter<'a, V, D>, PoolError> {
        self.mesh(handle).ok_or(PoolError::Stale)?;
        self.start_writer(Some(handle), max_elements, backend)
    }

    fn start_writer<'a>(
        &'a mut self,
        replaces: Option<MeshHandle>,
        reserved: u32,
        backend: &'a mut impl Backend,
    ) -> Result<MeshWriter<'a, V, D>, PoolError> {
        let location = match reserved {
            0 => None,
            _ => Some(self.allocate(reserved, backend)?),
        };
        self.scratch.clear();
        Ok(MeshWriter {
            pool: self,
            backend,
            replaces,
            location,
            reserved,
            counts: [0; MAX_PARTS],
            part: 0,
            len: 0,
            flushed: 0,
        })
    }

    /// Shrinks allocations to `len` elements, at least one, if their policy permits.
    fn cut(&mut self, location: Location, len: u32) -> Location {
        let (mut span, mut start, mut next) = (location.span, 0, location.more);
        let mut last = NONE;
        while let Some(piece) = self.pieces.get(next).filter(|piece| piece.start < len) {
            (last, span, start, next) = (next, piece.span, piece.start, piece.next);
        }
        self.free_pieces(next);
        if let Some(piece) = self.pieces.get_mut(last) {
            piece.next = NONE;
        }
        if let Some(buffer) = self.buffers.get_mut(span.buffer) {
            buffer.shrink(span.allocation, len - start);
        }
        if last == NONE { Location { more: NONE, ..location } } else { location }
    }
}

impl<V: Pod, D: Pod> MeshWriter<'_, V, D> {
    /// Number of elements that can still be written.
    pub const fn remaining(&self) -> u32 {
        self.reserved - self.len
    }

    /// Adds an element to the current part.
    ///
    /// # Errors
    /// `Overrun` if the reservation or the parts are used up; `Backend` if the device refuses a
    /// write. Nothing is added then.
    #[inline]
    pub fn push(&mut self, element: V) -> Result<(), PoolError> {
        self.extend(&[element])
    }

    /// Adds elements to the current part.
    ///
    /// # Errors
    /// `Overrun` if the reservation or the parts are used up; `Backend` if the device refuses a
    /// write. Nothing is added then.
    #[inline]
    pub fn extend(&mut self, elements: &[V]) -> Result<(), PoolError> {
        if elements.len() > self.remaining() as usize || self.part >= MAX_PARTS {
            return Err(PoolError::Overrun { elements: self.reserved });
        }
        let gathered = self.pool.scratch.len();
        self.pool.scratch.extend_from_slice(elements);
        if size_of_val(self.pool.scratch.as_slice()) >= BLOCK_BYTES && self.writes_early() {
            self.flush().inspect_err(|_| self.pool.scratch.truncate(gathered))?;
        }
        self.counts[self.part] += elements.len() as u32;
        self.len += elements.len() as u32;
        Ok(())
    }

    /// Ends the current part. Following elements belong to the next one.
    ///
    /// # Errors
    /// `Overrun` if the maximum number of parts is reached.
    pub fn end_part(&mut self) -> Result<(), PoolError> {
        if self.part >= MAX_PARTS {
            return Err(PoolError::Overrun { elements: self.reserved });
        }
        self.part += 1;
        Ok(())
    }

    /// Finishes the mesh: frees the unused rest and inserts the mesh, or replaces the old one.
    /// Subsequent commands draw the new mesh.
    ///
    /// # Errors
    /// `SlotsFull` or `Backend`. The pool is then unchanged.
    pub fn finish(mut self, data: D) -> Result<MeshHandle, PoolError> {
        if let Some(location) = self.location.take() {
            self.location = if self.len == 0 {
                self.pool.free(location, self.reserved);
                None
            } else if self.writes_early() {
                Some(self.pool.cut(location, self.len))
            } else {
                Some(self.reallocate(location)?)
            };
        }
        // The reservation now has the size of the mesh.
        self.reserved = self.len;
        self.flush()?;
        let mut mesh = Mesh::empty(self.pool.frames.current());
        mesh.ranges.set_counts(&self.counts);
        if let Some(location) = self.location.take() {
            mesh.set_location(location);
        }
        match self.replaces {
            Some(handle) => {
                self.pool.replace_mesh(handle, mesh, data, &mut self.backend);
                Ok(handle)
            }
            None => self.pool.insert_written(mesh, data, &mut self.backend),
        }
    }

    /// Returns whether elements can be written before the size of the mesh is final.
    fn writes_early(&self) -> bool {
        !matches!(self.pool.config.placement, Placement::SizeClasses { .. })
    }

    /// Frees a reservation that cannot shrink and allocates the exact size. If that fails,
    /// allocates the reserved size again, which has just become free.
    fn reallocate(&mut self, location: Location) -> Result<Location, PoolError> {
        self.pool.free(location, self.reserved);
        let exact = self.pool.allocate(self.len, &mut self.backend);
        exact.or_else(|_| self.pool.allocate(self.reserved, &mut self.backend))
    }

    /// Passes the collected elements to the backend. After an error, they stay collected.
    fn flush(&mut self) -> Result<(), PoolError> {
        let Some(location) = self.location else { return Ok(()) };
        let gathered = core::mem::take(&mut self.pool.scratch);
        let written = self.write(location, &gathered);
        self.pool.scratch = gathered;
        written?;
        self.flushed += self.pool.scratch.len() as u32;
        self.pool.scratch.clear();
        Ok(())
    }

    /// Writes the collected elements after those already written.
    fn write(&mut self, location: Location, gathered: &[V]) -> Result<(), PoolError> {
        let (start, end) = (self.flushed, self.flushed + gathered.len() as u32);
        let (mut span, mut held, mut more) = (location.span, 0, location.more);
        loop {
            let piece = self.pool.pieces.get(more).copied();
            let held_end = piece.map_or(self.reserved, |piece| piece.start);
            let (from, to) = (start.max(held), end.min(held_end));
            if from < to {
                let elements = &gathered[(from - start) as usize..(to - start) as usize];
                self.pool.write_span(span, from - held, elements, &mut self.backend)?;
            }
            let Some(piece) = piece else { return Ok(()) };
            (span, held, more) = (piece.span, piece.start, piece.next);
        }
    }
}

impl<V: Pod, D: Pod> Drop for MeshWriter<'_, V, D> {
    fn drop(&mut self) {
        if let Some(location) = self.location.take() {
            self.pool.free(location, self.reserved);
        }
        self.pool.scratch.clear();
    }
}

impl<V: Pod, D: Pod> fmt::Debug for MeshWriter<'_, V, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reserved, counts, part, len, .. } = self;
        write!(
            f,
            "MeshWriter {{ reserved: {reserved}, len: {len}, part: {part}, counts: {counts:?} }}"
        )
    }
}

#[cfg(test)]
mod tests;
