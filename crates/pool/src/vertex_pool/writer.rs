use alloc::vec::Vec;
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
/// ```text
///  push, extend ──► block ──write_elements──► buffer     ascending order, which suits mapped memory
///  reserve, commit ───────map_elements──────► buffer     in place, if the backend maps the buffer;
///                                                        else through the block
/// ```
/// The mesh is not drawn before [`finish`](Self::finish). Dropping an unfinished writer leaves the
/// pool unchanged, so a mesh never overlaps the one that it replaces.
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
    /// Elements so far. The first `flushed` are in the buffer, and `gathered` in the block.
    len: u32,
    flushed: u32,
    gathered: usize,
    space: Space,
}

/// Space of the last call of [`MeshWriter::reserve`] that is not committed.
#[derive(Clone, Copy)]
enum Space {
    /// Number of elements at the end of the block.
    Block(usize),
    /// Number of elements in the buffer itself.
    Mapped(usize),
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
            gathered: 0,
            space: Space::Block(0),
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
        let count = elements.len();
        if count > self.remaining() as usize {
            return Err(PoolError::Overrun { elements: self.reserved });
        }
        block(&mut self.pool.scratch, self.gathered, count).copy_from_slice(elements);
        self.space = Space::Block(count);
        self.commit(count)
    }

    /// Returns space for `count` elements behind the written ones. Its content is unspecified. Fill
    /// its start, then [`commit`](Self::commit) the number of elements. The space can exceed the
    /// reservation of the writer, because only committed elements count.
    ///
    /// The space is the buffer itself if all of these hold; else it is in a block that is copied:
    /// - The backend [maps](Backend::map_elements) the buffer, which is written directly.
    /// - The allocation is in one piece, and `count` elements fit its rest.
    /// - No elements wait in the block. So do not mix this with [`push`](Self::push).
    pub fn reserve(&mut self, count: usize) -> &mut [V] {
        let is_in_place =
            self.gathered == 0 && count <= self.remaining() as usize && self.writes_early();
        let Self { pool, backend, gathered, space, flushed, .. } = self;
        let VertexPool { storage, scratch, .. } = &mut **pool;
        let location = self.location.filter(|_| is_in_place);
        match location.and_then(|it| storage.map(it, *flushed, count, &mut **backend)) {
            Some(mapped) => {
                *space = Space::Mapped(count);
                mapped
            }
            None => {
                *space = Space::Block(count);
                block(scratch, *gathered, count)
            }
        }
    }

    /// Adds the first `count` elements of the space from [`reserve`](Self::reserve) to the current
    /// part. The rest of the space is dropped.
    ///
    /// # Errors
    /// `Overrun` if the reserved space, the reservation of the writer or the parts are used up;
    /// `Backend` if the device refuses a write. Nothing is added then.
    #[inline]
    pub fn commit(&mut self, count: usize) -> Result<(), PoolError> {
        let space = core::mem::replace(&mut self.space, Space::Block(0));
        let (Space::Block(limit) | Space::Mapped(limit)) = space;
        if count > limit.min(self.remaining() as usize) || self.part >= MAX_PARTS {
            return Err(PoolError::Overrun { elements: self.reserved });
        }
        if let Space::Mapped(_) = space {
            self.flushed += count as u32;
            self.pool.frames.note_uploaded(count * size_of::<V>());
        } else {
            self.gathered += count;
            if self.gathered * size_of::<V>() >= BLOCK_BYTES && self.writes_early() {
                self.flush().inspect_err(|_| self.gathered -= count)?;
            }
        }
        self.counts[self.part] += count as u32;
        self.len += count as u32;
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
        let Some(location) = self.location.filter(|_| self.gathered > 0) else { return Ok(()) };
        let VertexPool { storage, scratch, frames, .. } = &mut *self.pool;
        let elements = &scratch[..self.gathered];
        storage.write(location, self.reserved, self.flushed, elements, &mut self.backend)?;
        frames.note_uploaded(size_of_val(elements));
        self.flushed += self.gathered as u32;
        self.gathered = 0;
        Ok(())
    }

    /// Number of the part that elements are added to; [`MAX_PARTS`] after the last.
    pub const fn part(&self) -> usize {
        self.part
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
    }
}

/// Returns `count` elements of the block behind the `gathered` ones.
#[inline]
fn block<V: Pod>(scratch: &mut Vec<V>, gathered: usize, count: usize) -> &mut [V] {
    let end = gathered + count;
    if scratch.len() < end {
        grow_block(scratch, end);
    }
    &mut scratch[gathered..end]
}

#[cold]
fn grow_block<V: Pod>(scratch: &mut Vec<V>, len: usize) {
    let full = BLOCK_BYTES.div_ceil(size_of::<V>().max(1));
    scratch.resize(len.max(full).next_power_of_two(), V::zeroed());
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
