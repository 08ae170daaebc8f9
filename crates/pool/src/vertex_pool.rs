use alloc::vec::Vec;
use core::{
    marker::PhantomData,
    sync::atomic::{AtomicU32, Ordering},
};

use bytemuck::Pod;
use drystone_alloc::Slots;

use crate::{
    ALIGNMENT_BYTES, Backend, Config, MeshHandle, PoolError,
    buffers::Buffers,
    changes::RecentChanges,
    defrag::Defragmenter,
    frames::Frames,
    mesh::{Mesh, MeshKey, PIECE_BIT, Pieces},
    stats::Traffic,
};

mod allocate;
mod check;
mod commands;
mod mesh_ranges;
mod oldest;
#[cfg(test)]
mod tests;

pub use mesh_ranges::MeshRange;

/// Source of pool ids: one unique number per pool.
static POOLS: AtomicU32 = AtomicU32::new(0);

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
    id: u32,
    pub(crate) config: Config,
    /// Maximum elements of one allocation.
    max_allocation: u32,
    pub(crate) meshes: Slots<Mesh>,
    pub(crate) pieces: Pieces,
    pub(crate) buffers: Buffers,
    /// Per-draw data, indexed by slot.
    data: Vec<D>,
    /// Capacity of the backend's per-draw table, in slots.
    table_slots: u32,
    pub(crate) frames: Frames,
    pub(crate) traffic: Traffic,
    /// Changes that can invalidate built commands.
    pub(crate) changes: RecentChanges,
    /// Number of removals. Each makes at least one handle stale.
    removals: u64,
    pub(crate) defragmenter: Defragmenter,
    oldest: oldest::Oldest,
    /// Buffer in which writers collect elements.
    pub(crate) scratch: Vec<V>,
    elements: PhantomData<fn(V)>,
}

impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// Creates an empty pool without buffers.
    ///
    /// # Errors
    /// - `TooLarge` if a base vertex would exceed 31 bits, or if there are too many slots.
    /// - `TooManyIndices` if the index count of a command would exceed 32 bits.
    /// - `Unaligned` if the size of `V` or `D` is not a multiple of [`ALIGNMENT_BYTES`].
    pub fn new(config: Config) -> Result<Self, PoolError> {
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
        if config.max_slots >= PIECE_BIT {
            let limit = PIECE_BIT - 1;
            return Err(PoolError::TooLarge { capacity: config.max_slots, limit });
        }
        Ok(Self {
            id: POOLS.fetch_add(1, Ordering::Relaxed),
            max_allocation: config.max_allocation(),
            config: Config { pattern_elements: config.pattern_elements.max(1), ..config },
            meshes: Slots::new(),
            pieces: Pieces::default(),
            buffers: Buffers::default(),
            data: Vec::new(),
            table_slots: 0,
            frames: Frames::default(),
            traffic: Traffic::default(),
            changes: RecentChanges::new(),
            removals: 0,
            defragmenter: Defragmenter::default(),
            oldest: oldest::Oldest::default(),
            scratch: Vec::new(),
            elements: PhantomData,
        })
    }

    /// Returns the configuration of the pool.
    pub const fn config(&self) -> &Config {
        &self.config
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
            return Err(self.release_slot(key, error));
        }
        let handle = self.handle(key);
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
        let old = self.mesh(handle).ok_or(PoolError::Stale)?;
        let (old_len, location) = (old.len(), old.location());
        let mut mesh = self.new_mesh(elements.len(), part_counts)?;
        if mesh.len() == old_len && self.may_overwrite(handle) {
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
        self.mesh(handle).ok_or(PoolError::Stale)?;
        self.set_slot(handle, data, backend);
        Ok(())
    }

    /// Removes a mesh. Draw lists drop it automatically.
    ///
    /// # Errors
    /// `Stale` if the mesh was already removed or belongs to another pool.
    #[inline]
    pub fn remove(&mut self, handle: MeshHandle) -> Result<(), PoolError> {
        if handle.pool != self.id {
            return Err(PoolError::Stale);
        }
        let mesh = self.meshes.get(handle.mesh).ok_or(PoolError::Stale)?;
        let (location, len) = (mesh.location(), mesh.len());
        self.meshes.remove(handle.mesh);
        self.retire(location, len);
        self.removals += 1;
        self.changes.note(handle.slot());
        Ok(())
    }

    /// Removes all meshes; every handle becomes stale. The buffers are released after
    /// [`Config::spare_frames`] frames without content, once no frame in flight reads them.
    pub fn clear(&mut self) {
        let keys: Vec<MeshKey> = self.meshes.iter().map(|(key, _)| key).collect();
        for key in keys {
            if let Some(mesh) = self.meshes.remove(key) {
                self.retire(mesh.location(), mesh.len());
            }
        }
        self.removals += 1;
        self.changes.note_every_slot();
    }

    /// Returns the per-draw data of a mesh, or `None` if the handle is stale.
    #[inline]
    pub fn data(&self, handle: MeshHandle) -> Option<&D> {
        self.mesh(handle)?;
        self.data.get(handle.slot() as usize)
    }

    /// Iterates over all meshes with their per-draw data, in slot order.
    pub fn iter(&self) -> impl Iterator<Item = (MeshHandle, &D)> {
        self.meshes.iter().filter_map(|(mesh, _)| {
            Some((self.handle(mesh), self.data.get(mesh.index() as usize)?))
        })
    }

    /// Number of meshes in the pool.
    #[inline]
    pub const fn len(&self) -> u32 {
        self.meshes.len()
    }

    /// Returns whether the pool contains no mesh.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.meshes.is_empty()
    }

    /// Returns a counter that increases with every change that can invalidate built commands.
    #[inline]
    pub const fn revision(&self) -> u64 {
        self.changes.revision()
    }

    #[inline]
    pub(crate) const fn handle(&self, mesh: MeshKey) -> MeshHandle {
        MeshHandle { mesh, pool: self.id }
    }

    #[inline]
    pub(crate) fn mesh(&self, handle: MeshHandle) -> Option<&Mesh> {
        if handle.pool != self.id {
            return None;
        }
        self.meshes.get(handle.mesh)
    }
}
