use alloc::vec::Vec;

use bytemuck::Pod;

use crate::{
    allocation::Location,
    backend::{ALIGNMENT_BYTES, Backend},
    config::PoolConfig,
    defragmenter::{Defragmenter, MoveBudget, Moved},
    draw_table::DrawTable,
    error::PoolError,
    frames::Frames,
    mesh::{Mesh, MeshHandle, MeshKey},
    meshes::Meshes,
    parts::MAX_PARTS,
    storage::Storage,
};

mod commands;
mod inspect;
#[cfg(test)]
mod tests;
mod writer;

pub use writer::MeshWriter;

/// Stores meshes of elements `V` with per-draw data `D` in a few large buffers.
///
/// ```text
///  insert ─► allocate ─► write ─► slot ─► per-draw data       the old mesh is drawn
///  replace ─► allocate ─► write ─► the mesh points there ─┐   until here
///  remove ────────────────────────────────────────────────┴─► the old allocation is retired
///                  completed frames ─► retired allocations are free, empty buffers are released
/// ```
/// Report submitted and completed frames with [`frame_submitted`](Self::frame_submitted) and
/// [`frames_completed`](Self::frames_completed). Neither call waits.
///
/// # Cost
/// Insert, replace and remove each cost one allocation (see `RangeSpace`, `BucketRing`,
/// `SizeClasses`) and at most one copy to the backend. The pool stores `D` and about 70 bytes per
/// mesh, but no elements. Heap memory is allocated only while the number of live meshes exceeds its
/// earlier maximum.
#[derive(Debug)]
pub struct VertexPool<V, D> {
    pub(crate) meshes: Meshes,
    storage: Storage,
    pub(crate) table: DrawTable<D>,
    pub(crate) frames: Frames,
    defragmenter: Defragmenter,
    /// Buffer in which writers collect elements.
    scratch: Vec<V>,
}

/// Maximum of [`PoolConfig::max_slots`], far below [`NO_OWNER`](crate::allocation::NO_OWNER).
const MAX_SLOTS: u32 = i32::MAX as u32;

impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// Creates an empty pool without buffers.
    ///
    /// # Errors
    /// - `TooLarge` if a base vertex would exceed 31 bits, or if there are too many slots.
    /// - `TooManyIndices` if the index count of a command would exceed 32 bits.
    /// - `Unaligned` if the size of `V` or `D` is not a multiple of [`ALIGNMENT_BYTES`].
    pub fn new(config: PoolConfig) -> Result<Self, PoolError> {
        let sizes = [size_of::<V>(), size_of::<D>()];
        if let Some(size_bytes) = sizes.into_iter().find(|it| !it.is_multiple_of(ALIGNMENT_BYTES)) {
            return Err(PoolError::Unaligned { size_bytes });
        }
        let max_indices = u32::MAX / config.indices_per_element.max(1);
        let elements = config.pattern_elements.min(config.max_buffer_elements);
        if elements > max_indices {
            return Err(PoolError::TooManyIndices { elements, limit: max_indices });
        }
        let limit = i32::MAX as u32 / config.vertices_per_element.max(1);
        if config.max_buffer_elements > limit {
            return Err(PoolError::TooLarge { capacity: config.max_buffer_elements, limit });
        }
        if config.max_slots > MAX_SLOTS {
            return Err(PoolError::TooLarge { capacity: config.max_slots, limit: MAX_SLOTS });
        }
        let config = PoolConfig { pattern_elements: config.pattern_elements.max(1), ..config };
        Ok(Self {
            meshes: Meshes::new(),
            storage: Storage::new(config, size_of::<V>()),
            table: DrawTable::new(),
            frames: Frames::default(),
            defragmenter: Defragmenter::default(),
            scratch: Vec::new(),
        })
    }

    /// Adds empty buffers until the total capacity is at least `elements`, so that later inserts
    /// create no buffer. After [`PoolConfig::spare_frames`] frames without content, a buffer is
    /// released.
    ///
    /// # Errors
    /// `Full` if the limit of buffers is reached or the device is out of memory, or `Backend`.
    pub fn reserve(&mut self, elements: u64, backend: &mut impl Backend) -> Result<(), PoolError> {
        match self.storage.reserve(elements, self.frames.current(), backend)? {
            0 => Ok(()),
            missing => Err(self.full(missing)),
        }
    }

    /// Inserts a mesh: `elements`, divided into parts of `part_counts` elements, and its per-draw
    /// data. A mesh without elements is valid and draws nothing.
    ///
    /// # Errors
    /// `Full`, `MeshTooLarge`, `SlotsFull`, `PartsMismatch` or `Backend`. Meshes and allocations
    /// are then unchanged, but the table of per-draw data may have grown.
    #[inline]
    pub fn insert(
        &mut self,
        elements: &[V],
        part_counts: &[u32],
        data: D,
        backend: &mut impl Backend,
    ) -> Result<MeshHandle, PoolError> {
        let key = self.reserve_slot(data, backend)?;
        if let Err(error) = self.fill_slot(key, elements, part_counts, backend) {
            return Err(self.meshes.cancel(key, error));
        }
        let handle = self.meshes.handle(key);
        self.set_slot(handle, data, backend);
        Ok(handle)
    }

    /// Replaces the mesh of `handle`, which stays valid. The new mesh is allocated before the old
    /// one is freed, so the old mesh survives an error. With staged writes, a mesh of equal size
    /// reuses the allocation.
    ///
    /// # Errors
    /// `Stale`, `Full`, `MeshTooLarge`, `PartsMismatch` or `Backend`. The old mesh is then
    /// unchanged.
    pub fn replace(
        &mut self,
        handle: MeshHandle,
        elements: &[V],
        part_counts: &[u32],
        data: D,
        backend: &mut impl Backend,
    ) -> Result<(), PoolError> {
        let old = self.meshes.get(handle).ok_or(PoolError::Stale)?;
        let (old_len, location) = (old.len(), old.location());
        let mut mesh = Mesh::empty(self.frames.current());
        self.check_parts(elements, part_counts, mesh.ranges.set_counts(part_counts))?;
        if mesh.len() == old_len && self.storage.may_overwrite(location, old_len) {
            mesh.set_location(location);
            self.write(location, elements, backend)?;
            if let Some(slot) = self.meshes.get_mut(handle.mesh) {
                *slot = mesh;
            }
            self.set_slot(handle, data, backend);
            return Ok(());
        }
        if mesh.len() > 0 {
            mesh.set_location(self.allocate(mesh.len(), backend)?);
            self.write_or_free(mesh.location(), elements, backend)?;
        }
        self.replace_mesh(handle, mesh, data, backend);
        Ok(())
    }

    /// Starts a new mesh of at most `max_elements` elements.
    ///
    /// # Errors
    /// `Full`, `MeshTooLarge` or `Backend` if `max_elements` elements do not fit.
    pub fn writer<'a>(
        &'a mut self,
        max_elements: u32,
        backend: &'a mut impl Backend,
    ) -> Result<MeshWriter<'a, V, D>, PoolError> {
        MeshWriter::new(self, None, max_elements, backend)
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
        self.meshes.get(handle).ok_or(PoolError::Stale)?;
        MeshWriter::new(self, Some(handle), max_elements, backend)
    }

    /// Changes only the per-draw data of a mesh.
    ///
    /// # Errors
    /// `Stale` if the mesh was removed or belongs to another pool.
    pub fn set_data(
        &mut self,
        handle: MeshHandle,
        data: D,
        backend: &mut impl Backend,
    ) -> Result<(), PoolError> {
        self.meshes.get(handle).ok_or(PoolError::Stale)?;
        self.set_slot(handle, data, backend);
        Ok(())
    }

    /// Removes a mesh. Draw lists drop it automatically.
    ///
    /// # Errors
    /// `Stale` if the mesh was already removed or belongs to another pool.
    #[inline]
    pub fn remove(&mut self, handle: MeshHandle) -> Result<(), PoolError> {
        let mesh = self.meshes.get(handle).ok_or(PoolError::Stale)?;
        let (location, len) = (mesh.location(), mesh.len());
        self.meshes.remove(handle.mesh);
        self.storage.retire(location, len, &self.frames);
        Ok(())
    }

    /// Removes all meshes; every handle becomes stale. The buffers are released after
    /// [`PoolConfig::spare_frames`] frames without content, once no frame in flight reads them.
    pub fn clear(&mut self) {
        for (_, mesh) in self.meshes.iter() {
            self.storage.retire(mesh.location(), mesh.len(), &self.frames);
        }
        self.meshes.clear();
    }

    /// Moves some meshes, so that buffers can be released and large meshes fit. Call it once per
    /// frame, before commands are built. The picture does not change.
    ///
    /// ```text
    ///  [##·#··#·] [#·##··##] [·#··#···]     meshes of the emptiest buffer move to the others
    ///  [########] [######·#] [···#····]     until these are full; they are packed if necessary
    ///  [########] [#######·] [#·······]     the last is packed; an empty buffer is released
    /// ```
    /// The GPU copies in queue order. The old allocation is retired until no frame in flight reads
    /// it, so a move is as safe as a replacement.
    ///
    /// Ranges: all buffers but one become at least 95 % full. In the remaining buffer, at least 95
    /// % of the free elements form one gap. Buckets and size classes: meshes only leave the
    /// emptiest buffer.
    ///
    /// # Cost
    /// The budget, and at most 4,096 steps per call. Planning for the last buffer occasionally
    /// costs O(its ranges).
    pub fn defragment(&mut self, budget: &MoveBudget, backend: &mut impl Backend) -> Moved {
        let Self { defragmenter, storage, meshes, frames, .. } = self;
        let mut call = defragmenter.begin(budget, frames);
        while let Some(planned) = defragmenter.next_move(&mut call, storage, meshes, frames) {
            let parts = (&mut *storage, &mut *meshes, &mut *frames);
            if !defragmenter.carry_out(planned, &mut call, parts, backend) {
                break;
            }
        }
        call.moved
    }

    /// Reports that the frame being built was submitted. All writes, and all commands returned
    /// since the last call, belong to it.
    ///
    /// `frame` is the device's number of that frame. Numbers must increase from call to call, by
    /// any step: frames of other pools on the device need not be reported. A number that is not
    /// higher than the last is ignored.
    pub fn frame_submitted(&mut self, frame: u64) {
        self.frames.submit(frame);
    }

    /// Reports that the GPU has completed the device's frames up to `frame`. Frees the retired
    /// allocations that only they could read, and releases buffers that have been empty for
    /// [`PoolConfig::spare_frames`] frames. Poll the fences and call this before building a frame;
    /// it never waits.
    pub fn frames_completed(&mut self, frame: u64, backend: &mut impl Backend) {
        self.frames.complete(frame);
        self.storage.buffers.release(&self.frames, backend);
    }

    /// Allocates and writes the mesh of a new slot. Leaves no allocation after an error.
    #[inline]
    fn fill_slot(
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
    fn check_parts(
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
    fn wrong_parts(&self, elements: usize, part_counts: &[u32]) -> PoolError {
        let counted: u64 = part_counts.iter().map(|&count| u64::from(count)).sum();
        let parts = part_counts.len();
        if parts > MAX_PARTS || counted != elements as u64 {
            return PoolError::PartsMismatch { elements, counted, parts };
        }
        PoolError::MeshTooLarge { elements: counted, limit: self.storage.max_allocation() }
    }

    /// Allocates `size` elements in one or several allocations. `size` must be at least 1.
    #[inline(always)]
    fn allocate(&mut self, size: u32, backend: &mut impl Backend) -> Result<Location, PoolError> {
        match self.storage.allocate(size) {
            Some(location) => Ok(location),
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
        let location = self.storage.allocate_or_grow(size, self.frames.current(), backend)?;
        location.ok_or_else(|| self.full(size))
    }

    /// Returns the error for `size` elements that do not fit.
    #[cold]
    fn full(&mut self, size: u32) -> PoolError {
        let stats = self.storage.buffers.stats();
        PoolError::Full {
            requested: size.into(),
            largest_free: stats.largest_free.into(),
            total_free: stats.free,
            waiting: stats.waiting,
            device_refused: self.storage.buffers.is_out_of_device_memory(),
            least_recently_drawn: self.meshes.find_oldest(self.frames.current()),
        }
    }

    /// Writes a mesh's elements to its new allocations. Frees them after an error.
    #[inline]
    fn write_or_free(
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
    fn write(
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
    fn free(&mut self, location: Location, len: u32) {
        self.storage.free(location, len, self.frames.current());
    }

    /// Reserves a slot for a mesh with this data. The slot contains an empty mesh at first.
    #[inline]
    fn reserve_slot(&mut self, data: D, backend: &mut impl Backend) -> Result<MeshKey, PoolError> {
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

    /// Replaces the mesh of `handle` by `mesh`, which is already written, and retires the old one.
    fn replace_mesh(
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

    /// Changes and writes the per-draw data of a mesh.
    #[inline]
    fn set_slot(&mut self, handle: MeshHandle, data: D, backend: &mut impl Backend) {
        let written_bytes = self.table.set(handle.slot(), data, backend);
        self.frames.note_uploaded(written_bytes);
        self.meshes.changes.note(handle.slot());
    }
}
