use core::fmt;

use bytemuck::Pod;

use super::VertexPool;
use crate::{
    allocation::Location,
    backend::Backend,
    config::Placement,
    error::PoolError,
    mesh::{Mesh, MeshHandle},
    parts::MAX_PARTS,
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
/// use drystone_pool::{Access, PoolConfig, SimulatedGpu, VertexPool};
///
/// let mut gpu = SimulatedGpu::new(Access::Direct, 2);
/// let mut pool = VertexPool::<u64, u32>::new(PoolConfig::default())?;
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

impl<'a, V: Pod, D: Pod> MeshWriter<'a, V, D> {
    pub(super) fn new(
        pool: &'a mut VertexPool<V, D>,
        replaces: Option<MeshHandle>,
        reserved: u32,
        backend: &'a mut impl Backend,
    ) -> Result<Self, PoolError> {
        let location = match reserved {
            0 => None,
            _ => Some(pool.allocate(reserved, backend)?),
        };
        pool.scratch.clear();
        let counts = [0; MAX_PARTS];
        Ok(Self {
            pool,
            backend,
            replaces,
            location,
            reserved,
            counts,
            part: 0,
            len: 0,
            flushed: 0,
        })
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
                let frame = self.pool.frames.current();
                Some(self.pool.storage.shrink(location, self.len, frame))
            } else {
                Some(self.reallocate(location)?)
            };
        }
        // The reservation now has the size of the mesh.
        self.reserved = self.len;
        self.flush()?;
        let handle = match self.replaces {
            Some(handle) => handle,
            None => {
                let key = self.pool.reserve_slot(data, &mut self.backend)?;
                self.pool.meshes.handle(key)
            }
        };
        let mut mesh = Mesh::empty(self.pool.frames.current());
        mesh.ranges.set_counts(&self.counts);
        if let Some(location) = self.location.take() {
            mesh.set_location(location);
        }
        self.pool.replace_mesh(handle, mesh, data, &mut self.backend);
        Ok(handle)
    }

    /// Returns whether elements can be written before the size of the mesh is final.
    fn writes_early(&self) -> bool {
        !matches!(self.pool.config().placement, Placement::SizeClasses { .. })
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
        let VertexPool { storage, scratch, frames, .. } = &mut *self.pool;
        storage.write(location, self.reserved, self.flushed, scratch, &mut self.backend)?;
        frames.note_uploaded(size_of_val(scratch.as_slice()));
        self.flushed += scratch.len() as u32;
        scratch.clear();
        Ok(())
    }

    /// Number of elements that can still be written.
    pub const fn remaining(&self) -> u32 {
        self.reserved - self.len
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
