use bytemuck::Pod;

use super::VertexPool;
use crate::{
    allocation::Location,
    backend::Backend,
    error::{EvictionCandidates, PoolError},
    mesh::{Mesh, MeshHandle, MeshKey},
    parts::MAX_PARTS,
};

/// Allocation and writing of meshes.
impl<V: Pod, D: Pod> VertexPool<V, D> {
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
        self.check_parts(elements, part_counts, counted)?;
        if elements.is_empty() {
            return Ok(());
        }
        let size = elements.len() as u32;
        let location = self.allocate(size, backend)?;
        self.write_or_free(location, elements, backend)?;
        if let Some(mesh) = self.meshes.get_mut(key) {
            mesh.set_location(location);
        }
        self.storage.occupy(key.index(), location, size);
        Ok(())
    }

    /// Checks that the parts, which contain `counted` elements, are valid and add up.
    #[inline]
    pub(super) fn check_parts(
        &self,
        elements: &[V],
        part_counts: &[u32],
        counted: u64,
    ) -> Result<(), PoolError> {
        let is_whole = part_counts.len() <= MAX_PARTS && counted == elements.len() as u64;
        if is_whole && counted <= u32::MAX.into() {
            return Ok(());
        }
        Err(self.wrong_parts(elements.len(), part_counts))
    }

    /// Returns the error for invalid parts.
    #[cold]
    pub(super) fn wrong_parts(&self, elements: usize, part_counts: &[u32]) -> PoolError {
        let counted: u64 = part_counts.iter().map(|&count| u64::from(count)).sum();
        let parts = part_counts.len();
        if parts > MAX_PARTS || counted != elements as u64 {
            return PoolError::PartsMismatch { elements, counted, parts };
        }
        PoolError::MeshTooLarge { elements: counted, limit: self.storage.max_allocation() }
    }

    /// Allocates `size` elements in one or several allocations. `size` must be at least 1.
    #[inline(always)]
    pub(super) fn allocate(
        &mut self,
        size: u32,
        backend: &mut impl Backend,
    ) -> Result<Location, PoolError> {
        match self.storage.allocate(size) {
            Some(location) => Ok(location),
            None => self.allocate_or_grow(size, backend),
        }
    }

    /// Allocates if no existing buffer has enough contiguous space.
    #[cold]
    pub(super) fn allocate_or_grow(
        &mut self,
        size: u32,
        backend: &mut impl Backend,
    ) -> Result<Location, PoolError> {
        let location = self.storage.allocate_or_grow(size, self.frames.current(), backend)?;
        location.ok_or_else(|| self.full(size))
    }

    /// Returns the error for `size` elements that do not fit.
    #[cold]
    pub(super) fn full(&mut self, size: u32) -> PoolError {
        let stats = self.storage.buffers.stats();
        PoolError::Full {
            requested: size.into(),
            largest_free: stats.largest_free.into(),
            total_free: stats.free,
            waiting: stats.waiting,
            device_refused: self.storage.buffers.is_out_of_device_memory(),
            least_recently_drawn: EvictionCandidates(
                self.meshes.find_oldest(self.frames.current()),
            ),
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
        if !elements.is_empty() {
            self.storage.write(location, elements.len() as u32, 0, elements, backend)?;
            self.frames.note_uploaded(size_of_val(elements));
        }
        Ok(())
    }

    /// Frees the allocations of a mesh that was never drawn.
    pub(super) fn free(&mut self, location: Location, len: u32) {
        self.storage.free(location, len, self.frames.current());
    }

    /// Reserves a slot for a mesh with this data. The slot contains an empty mesh at first.
    #[inline]
    pub(super) fn reserve_slot(
        &mut self,
        data: D,
        backend: &mut impl Backend,
    ) -> Result<MeshKey, PoolError> {
        let capacity = self.config().max_slots;
        let key = self.meshes.reserve(capacity, self.frames.current())?;
        if !self.table.reserve(key.index(), data) {
            match self.table.grow(key.index(), self.storage.config(), backend) {
                Ok(written_bytes) => self.frames.note_uploaded(written_bytes),
                Err(error) => return Err(self.meshes.cancel(key, error.into())),
            }
        }
        Ok(key)
    }

    /// Frees the elements of the old mesh of `handle`, and then allocates and writes those of `mesh`, which
    /// may overlap them. Returns `false` if that is not possible or needs another buffer. The old mesh is
    /// then unchanged, as after an error.
    pub(super) fn write_over(
        &mut self,
        handle: MeshHandle,
        mesh: &mut Mesh,
        elements: &[V],
        backend: &mut impl Backend,
    ) -> Result<bool, PoolError> {
        let Self { meshes, storage, frames, .. } = self;
        let (slot, size) = (handle.slot(), mesh.len());
        let old = meshes.get(handle).ok_or(PoolError::Stale)?;
        let Some(freed) = storage.free_unread(slot, (old.location(), old.len()), size, frames)
        else {
            return Ok(false);
        };
        let written = match storage.allocate_without_growing(size) {
            Some(location) => {
                self.write_or_free(location, elements, backend).map(|()| Some(location))
            }
            None => Ok(None),
        };
        if let Ok(Some(location)) = written {
            mesh.set_location(location);
            self.storage.occupy(slot, location, size);
            return Ok(true);
        }
        let span = self.storage.buffers.restore(freed);
        if let Some(old) = self.meshes.get_mut(handle.mesh) {
            old.set_span(span);
        }
        written.map(|_| false)
    }

    /// Replaces the mesh of `handle` by `mesh`, which is already written, and retires the old one.
    pub(super) fn replace_mesh(
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
        self.storage.retire(old.location(), old.len(), &self.frames);
        self.storage.occupy(handle.slot(), location, len);
        self.set_slot(handle, data, backend);
    }

    /// Changes a mesh whose elements are written, and its per-draw data.
    #[inline]
    pub(super) fn set_mesh(
        &mut self,
        handle: MeshHandle,
        mesh: Mesh,
        data: D,
        backend: &mut impl Backend,
    ) {
        if let Some(slot) = self.meshes.get_mut(handle.mesh) {
            *slot = mesh;
        }
        self.set_slot(handle, data, backend);
    }

    /// Changes and writes the per-draw data of a mesh.
    #[inline]
    pub(super) fn set_slot(&mut self, handle: MeshHandle, data: D, backend: &mut impl Backend) {
        let written_bytes = self.table.set(handle.slot(), data, backend);
        self.frames.note_uploaded(written_bytes);
        self.meshes.changes.note(handle.slot());
    }
}
