use core::fmt;

use bytemuck::Pod;

use crate::{
    Backend, MAX_PARTS, MeshHandle, Placement, PoolError, VertexPool,
    mesh::{Mesh, NONE, Placed},
};

/// Elements are handed to the backend in blocks of so many bytes: large enough that a call
/// costs little beside its copy, small enough to stay in the cache.
const BLOCK_BYTES: usize = 1 << 16;

/// Fills a mesh in place: reserves the worst case, takes elements part by part, and gives
/// back what is left over.
///
/// Elements pass through a block of warm memory and from there go to their place in one
/// direction, as mapped memory wants it. Nothing shows until [`finish`](Self::finish); a
/// writer that is dropped leaves the pool as it was. Where places cannot be cut (size
/// classes) the whole mesh is gathered first and placed when its size is known; a bucket
/// stays one.
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
    /// The reservation; none once it has become a mesh.
    placed: Option<Placed>,
    reserved: u32,
    counts: [u32; MAX_PARTS],
    part: usize,
    /// Elements so far, and those of them that the backend has.
    len: u32,
    flushed: u32,
}

impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// A writer of a new mesh of at most `max_elements` elements.
    ///
    /// # Errors
    /// `Full`, `MeshTooLarge` or `Backend` when there is no room for so many.
    pub fn writer<'a>(
        &'a mut self,
        max_elements: u32,
        backend: &'a mut impl Backend,
    ) -> Result<MeshWriter<'a, V, D>, PoolError> {
        self.start_writer(None, max_elements, backend)
    }

    /// A writer of a mesh that takes the place of `handle`, whose old mesh is drawn until
    /// the new one is finished.
    ///
    /// # Errors
    /// `Stale`, or as [`writer`](Self::writer).
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
        let placed = match reserved {
            0 => None,
            _ => Some(self.find_place(reserved, backend)?),
        };
        self.scratch.clear();
        Ok(MeshWriter {
            pool: self,
            backend,
            replaces,
            placed,
            reserved,
            counts: [0; MAX_PARTS],
            part: 0,
            len: 0,
            flushed: 0,
        })
    }

    /// Cuts places down to `len` elements, more than none, as far as they can be cut.
    fn cut(&mut self, placed: Placed, len: u32) -> Placed {
        let (mut span, mut start, mut next) = (placed.span, 0, placed.more);
        let mut last = NONE;
        while let Some(piece) = self.pieces.get(next).filter(|piece| piece.start < len) {
            (last, span, start, next) = (next, piece.span, piece.start, piece.next);
        }
        self.give_up_pieces(next);
        if let Some(piece) = self.pieces.get_mut(last) {
            piece.next = NONE;
        }
        if let Some(buffer) = self.buffers.get_mut(span.buffer) {
            buffer.shrink(span.place, len - start);
        }
        if last == NONE { Placed { more: NONE, ..placed } } else { placed }
    }
}

impl<V: Pod, D: Pod> MeshWriter<'_, V, D> {
    /// Elements that may still be written.
    pub const fn room(&self) -> u32 {
        self.reserved - self.len
    }

    /// Adds an element to the current part.
    ///
    /// # Errors
    /// `Overrun` when the reservation or the parts are used up, `Backend` when the device
    /// refuses a write; nothing is added then.
    #[inline]
    pub fn push(&mut self, element: V) -> Result<(), PoolError> {
        self.extend(&[element])
    }

    /// Adds elements to the current part.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    #[inline]
    pub fn extend(&mut self, elements: &[V]) -> Result<(), PoolError> {
        if elements.len() > self.room() as usize || self.part >= MAX_PARTS {
            return Err(PoolError::Overrun { elements: self.reserved });
        }
        let gathered = self.pool.scratch.len();
        self.pool.scratch.extend_from_slice(elements);
        if size_of_val(self.pool.scratch.as_slice()) >= BLOCK_BYTES && self.writes_in_place() {
            self.flush().inspect_err(|_| self.pool.scratch.truncate(gathered))?;
        }
        self.counts[self.part] += elements.len() as u32;
        self.len += elements.len() as u32;
        Ok(())
    }

    /// Ends the current part; what follows belongs to the next.
    ///
    /// # Errors
    /// `Overrun` when there are no more parts.
    pub fn end_part(&mut self) -> Result<(), PoolError> {
        if self.part >= MAX_PARTS {
            return Err(PoolError::Overrun { elements: self.reserved });
        }
        self.part += 1;
        Ok(())
    }

    /// Gives back what was not written, and takes the mesh in: from now on it is drawn, or
    /// drawn instead of the one that it replaces.
    ///
    /// # Errors
    /// `SlotsFull` or `Backend`; the pool is then as it was.
    pub fn finish(mut self, data: D) -> Result<MeshHandle, PoolError> {
        if let Some(placed) = self.placed.take() {
            self.placed = if self.len == 0 {
                self.pool.give_up(placed, self.reserved);
                None
            } else if self.writes_in_place() {
                Some(self.pool.cut(placed, self.len))
            } else {
                Some(self.place_anew(placed)?)
            };
        }
        // From here on the reservation is as long as the mesh.
        self.reserved = self.len;
        self.flush()?;
        let mut mesh = Mesh::of_nothing(self.pool.frames.current());
        mesh.ranges.set_counts(&self.counts);
        if let Some(placed) = self.placed.take() {
            mesh.set_placed(placed);
        }
        match self.replaces {
            Some(handle) => {
                self.pool.put_in_place_of(handle, mesh, data, &mut self.backend);
                Ok(handle)
            }
            None => self.pool.take_in(mesh, data, &mut self.backend),
        }
    }

    /// Whether elements may be written before the mesh's size is known.
    fn writes_in_place(&self) -> bool {
        !matches!(self.pool.config.placement, Placement::SizeClasses { .. })
    }

    /// Changes a reservation that cannot be cut for a place of the right size; should there
    /// be none, for one like itself, since nobody took that in between.
    fn place_anew(&mut self, placed: Placed) -> Result<Placed, PoolError> {
        self.pool.give_up(placed, self.reserved);
        let exact = self.pool.find_place(self.len, &mut self.backend);
        exact.or_else(|_| self.pool.find_place(self.reserved, &mut self.backend))
    }

    /// Hands the gathered elements to the backend. Where that fails, they stay gathered.
    fn flush(&mut self) -> Result<(), PoolError> {
        let Some(placed) = self.placed else { return Ok(()) };
        let gathered = core::mem::take(&mut self.pool.scratch);
        let written = self.write(placed, &gathered);
        self.pool.scratch = gathered;
        written?;
        self.flushed += self.pool.scratch.len() as u32;
        self.pool.scratch.clear();
        Ok(())
    }

    /// Writes the elements that follow those that the backend has.
    fn write(&mut self, placed: Placed, gathered: &[V]) -> Result<(), PoolError> {
        let (start, end) = (self.flushed, self.flushed + gathered.len() as u32);
        let (mut span, mut held, mut more) = (placed.span, 0, placed.more);
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
        if let Some(placed) = self.placed.take() {
            self.pool.give_up(placed, self.reserved);
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
