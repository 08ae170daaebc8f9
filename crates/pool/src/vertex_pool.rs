use alloc::vec::Vec;

use bytemuck::Pod;

use crate::{
    backend::Backend,
    config::PoolConfig,
    defragmenter::{Defragmenter, MoveBudget, Moved},
    draw_table::DrawTable,
    error::PoolError,
    frames::Frames,
    mesh::{Mesh, MeshHandle},
    meshes::Meshes,
    stats::{MeshRange, PoolRange, PoolStats, RangeState},
    storage::Storage,
};

mod commands;
mod inspect;
#[cfg(test)]
mod tests;
mod writer;
mod writing;

#[cfg(feature = "rayon")]
pub(crate) use commands::CommandSource;
pub use writer::MeshWriter;

/// Stores meshes of elements `V` with per-draw data `D` in a few large buffers.
///
/// ```text
///  insert ─► allocate ─► write ─► slot ─► per-draw data       the old mesh is drawn
///  replace ─► allocate ─► write ─► the mesh points there ─┐   until here
///  remove ────────────────────────────────────────────────┴─► the old allocation is retired
///  in a full pool, a mesh that no frame reads ─► free ─► allocate ─► write, or restore
///                  completed frames ─► retired allocations are free, empty buffers are released
/// ```
/// Report submitted and completed frames with [`frame_submitted`](Self::frame_submitted) and
/// [`frames_completed`](Self::frames_completed). Neither call waits.
///
/// # Cost
/// Insert, replace and remove each cost one allocation (see `RangeSpace`, `BucketRing`,
/// `SizeClasses`), in a full pool some more, and at most one copy to the backend. The pool stores `D` and
/// about 70 bytes per mesh, but no elements. Heap memory is allocated only while the number of live
/// meshes exceeds its earlier maximum.
#[derive(Debug)]
pub struct VertexPool<V, D> {
    pub(crate) meshes: Meshes,
    storage: Storage,
    pub(crate) table: DrawTable<D>,
    pub(crate) frames: Frames,
    defragmenter: Defragmenter,
    /// Buffer in which writers collect elements; longer than what they have collected.
    scratch: Vec<V>,
}

impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// Creates an empty pool without buffers.
    ///
    /// # Errors
    /// - `TooLarge` if a base vertex would exceed 31 bits, or if there are too many slots.
    /// - `TooManyIndices` if the index count of a command would exceed 32 bits.
    /// - `Unaligned` if the size of `V` or `D` is not a multiple of
    ///   [`ALIGNMENT_BYTES`](crate::ALIGNMENT_BYTES).
    pub fn new(config: PoolConfig) -> Result<Self, PoolError> {
        let config = config.checked([size_of::<V>(), size_of::<D>()])?;
        Ok(Self {
            meshes: Meshes::new(),
            storage: Storage::new(config, size_of::<V>()),
            table: DrawTable::new(),
            frames: Frames::default(),
            defragmenter: Defragmenter::default(),
            scratch: Vec::new(),
        })
    }

    /// Changes the configuration of an empty pool, for example to another size of bucket. Buffers
    /// that fit the new limits are divided again. Others are released when no frame in flight reads
    /// them; until then they count as buffers, and their elements as waiting.
    ///
    /// # Errors
    /// `NotEmpty` if the pool contains meshes; the errors of [`new`](Self::new). Nothing has changed
    /// then.
    ///
    /// # Examples
    /// ```
    /// use drystone_pool::{Access, NullBackend, Placement, PoolConfig, VertexPool};
    ///
    /// let mut backend = NullBackend(Access::Staged);
    /// let mut pool = VertexPool::<u64, u32>::new(PoolConfig::fixed(1000, 10))?;
    /// pool.insert(&[1, 2, 3], &[3], 7, &mut backend)?;
    /// pool.clear();
    /// let placement = Placement::Buckets { elements: 250 };
    /// pool.set_config(pool.config().clone().with_placement(placement))?;
    /// pool.insert(&[4, 5], &[2], 8, &mut backend)?;
    /// assert_eq!((pool.stats().buffers, pool.stats().wasted), (1, 248));
    /// # Ok::<(), drystone_pool::PoolError>(())
    /// ```
    pub fn set_config(&mut self, config: PoolConfig) -> Result<(), PoolError> {
        let config = config.checked([size_of::<V>(), size_of::<D>()])?;
        if !self.is_empty() {
            return Err(PoolError::NotEmpty { meshes: self.len() });
        }
        self.storage.set_config(config);
        self.defragmenter = Defragmenter::default();
        Ok(())
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

    /// Replaces the mesh of `handle`, which stays valid. The old mesh survives an error.
    ///
    /// A new mesh of equal size overwrites the old one, and one that fits nowhere else can overlap it, so
    /// that a full pool can replace its meshes: if writes are staged, or if no frame is in flight and no
    /// commands were returned for the next one. Neither mesh may be split, and to overlap they need the
    /// placement [`Ranges`](crate::Placement::Ranges). Otherwise the new mesh is allocated before the old
    /// one is freed.
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
        if mesh.len() == old_len && self.storage.may_overwrite(location, old_len, &self.frames) {
            mesh.set_location(location);
            self.write(location, elements, backend)?;
            self.set_mesh(handle, mesh, data, backend);
            return Ok(());
        }
        if mesh.len() > 0 {
            let location = match self.storage.allocate(mesh.len()) {
                Some(location) => location,
                None if self.write_over(handle, &mut mesh, elements, backend)? => {
                    self.set_mesh(handle, mesh, data, backend);
                    return Ok(());
                }
                None => self.allocate_or_grow(mesh.len(), backend)?,
            };
            mesh.set_location(location);
            self.write_or_free(location, elements, backend)?;
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
}

/// Inspection.
impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// Returns the configuration of the pool.
    pub const fn config(&self) -> &PoolConfig {
        self.storage.config()
    }

    /// Number of the pool, unique in the process. The second integer of
    /// [`MeshHandle::to_bits`].
    #[inline]
    pub const fn id(&self) -> u32 {
        self.meshes.pool()
    }

    /// Number of meshes in the pool.
    #[inline]
    pub const fn len(&self) -> u32 {
        self.meshes.len()
    }

    /// Returns whether the pool contains no mesh.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.meshes.len() == 0
    }

    /// Returns the per-draw data of a mesh, or `None` if the handle is stale.
    #[inline]
    pub fn data(&self, handle: MeshHandle) -> Option<&D> {
        self.meshes.get(handle)?;
        self.table.all().get(handle.slot() as usize)
    }

    /// Iterates over all meshes with their per-draw data, in slot order.
    pub fn iter(&self) -> impl Iterator<Item = (MeshHandle, &D)> {
        let data = self.table.all();
        self.meshes.iter().filter_map(|(mesh, _)| Some((mesh, data.get(mesh.slot() as usize)?)))
    }

    /// Returns statistics of the pool.
    ///
    /// # Cost
    /// O(meshes), reading one word each, and O(buffers); with ranges, one `RangeSpace::stats` per
    /// buffer.
    pub fn stats(&self) -> PoolStats {
        let parts = self.meshes.iter().map(|(_, mesh)| u64::from(mesh.ranges.part_count()));
        PoolStats {
            meshes: self.meshes.len(),
            parts: parts.sum(),
            last_frame: self.frames.last_traffic(),
            ..self.storage.buffers.stats()
        }
    }

    /// Returns a counter that increases with every change that can invalidate built commands.
    #[inline]
    pub const fn revision(&self) -> u64 {
        self.meshes.changes.revision()
    }

    /// Returns all ranges of all buffers, sorted by buffer and offset, without holes. What is not
    /// used of a buffer that [`set_config`](Self::set_config) has replaced counts as waiting.
    ///
    /// # Cost
    /// O(meshes · log meshes), and memory for the result.
    pub fn ranges(&self) -> Vec<PoolRange> {
        let mut taken = self.used_ranges();
        taken.sort_by_key(|range| (range.buffer, range.elements.start));
        let mut all = Vec::with_capacity(taken.len() * 2);
        let mut taken = taken.into_iter().peekable();
        for buffer in self.storage.buffers.iter() {
            let number = u32::from(buffer.number);
            let state = if buffer.is_outdated { RangeState::Waiting } else { RangeState::Free };
            let unused = |elements| PoolRange { buffer: number, elements, state };
            let mut end = 0;
            while let Some(range) = taken.next_if(|range| range.buffer == number) {
                if range.elements.start > end {
                    all.push(unused(end..range.elements.start));
                }
                end = range.elements.end;
                all.push(range);
            }
            if buffer.elements > end {
                all.push(unused(end..buffer.elements));
            }
        }
        all
    }

    /// Iterates over the ranges of a mesh in order: one range, or several for a split mesh. A mesh
    /// without elements and a removed mesh have no range.
    ///
    /// The ranges are valid until the mesh is replaced or [moved](Self::moved).
    ///
    /// # Cost
    /// About ten nanoseconds per range.
    pub fn ranges_of(&self, handle: MeshHandle) -> impl Iterator<Item = MeshRange> + '_ {
        self.meshes.get(handle).into_iter().flat_map(move |mesh| {
            self.spans(mesh).map(|(span, held)| MeshRange {
                buffer: span.buffer.into(),
                first: span.first,
                part_counts: mesh.ranges.counts_within(&held),
            })
        })
    }

    /// Returns the meshes moved by the last call of [`defragment`](Self::defragment), unsorted. A
    /// split mesh can occur several times, and a mesh that was removed later is stale.
    pub fn moved(&self) -> &[MeshHandle] {
        self.defragmenter.moved()
    }

    /// Number of commands for drawing each part of each mesh separately: without masks, and without
    /// merging adjacent parts. This is the maximum number of commands for the pool.
    ///
    /// # Cost
    /// O(meshes).
    pub fn command_count(&self) -> u64 {
        let pattern = self.config().pattern_elements;
        let of_range = |range: MeshRange| {
            let of_part = |count: u32| u64::from(count.div_ceil(pattern));
            range.part_counts.map(of_part).iter().sum::<u64>()
        };
        self.iter().flat_map(|(handle, _)| self.ranges_of(handle)).map(of_range).sum()
    }
}
