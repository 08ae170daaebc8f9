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

mod check;
mod commands;
mod mesh_places;
mod oldest;
mod place;
#[cfg(test)]
mod tests;

pub use mesh_places::MeshRange;

/// Gives each pool its number.
static POOLS: AtomicU32 = AtomicU32::new(0);

/// Places meshes of elements `V` with per-draw data `D` in a few buffers.
///
/// ```text
///  insert ─► place ─► write ─► slot ─► per-draw data          the old mesh is drawn
///  replace ─► new place ─► write ─► the mesh points there ─┐   until here
///  remove ─────────────────────────────────────────────────┴─► the old place is retired
///                       completed frames ─► retired places are free, empty buffers go
/// ```
/// Tell it which frames were submitted and which are done
/// ([`frame_submitted`](Self::frame_submitted), [`frames_completed`](Self::frames_completed));
/// neither waits for anything.
///
/// # Cost
/// Insert, replace and remove are one allocation each (see `RangeSpace`, `BucketRing`,
/// `SizeClasses`) and one copy to the backend. The pool keeps `D` and some 70 bytes a mesh,
/// never the elements. Once as many meshes live as ever will, nothing asks for heap memory.
#[derive(Debug)]
pub struct VertexPool<V, D> {
    id: u32,
    pub(crate) config: Config,
    /// The most elements that one place can have.
    largest_place: u32,
    pub(crate) meshes: Slots<Mesh>,
    pub(crate) pieces: Pieces,
    pub(crate) buffers: Buffers,
    /// Per-draw data by slot.
    data: Vec<D>,
    /// Slots that the backend's table has room for.
    table_slots: u32,
    pub(crate) frames: Frames,
    pub(crate) traffic: Traffic,
    /// Every change that may invalidate built commands.
    pub(crate) changes: RecentChanges,
    /// Counts the changes after which a handle is stale that was not before.
    removals: u64,
    pub(crate) defragmenter: Defragmenter,
    oldest: oldest::Oldest,
    /// What writers gather elements in.
    pub(crate) scratch: Vec<V>,
    elements: PhantomData<fn(V)>,
}

impl<V: Pod, D: Pod> VertexPool<V, D> {
    /// An empty pool, without a buffer as yet.
    ///
    /// # Errors
    /// `TooLarge` when a base vertex would not fit 31 bits, or slots their number;
    /// `TooManyIndices` when a command's indices would not fit 32 bits; `Unaligned` when the
    /// size of `V` or `D` is not a multiple of [`ALIGNMENT_BYTES`].
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
            largest_place: config.largest_place(),
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

    /// How the pool was made.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// Places a mesh: `elements` cut into parts of `part_counts` elements each, and its
    /// per-draw data. A mesh of no elements is a mesh that draws nothing.
    ///
    /// # Errors
    /// `Full`, `MeshTooLarge`, `SlotsFull`, `PartsMismatch` or `Backend`; the pool's meshes
    /// and places are then as they were, though its table of per-draw data may be longer.
    #[inline]
    pub fn insert(
        &mut self,
        elements: &[V],
        part_counts: &[u32],
        data: D,
        backend: &mut impl Backend,
    ) -> Result<MeshHandle, PoolError> {
        let key = self.take_slot(data, backend)?;
        if let Err(error) = self.fill_slot(key, elements, part_counts, backend) {
            return Err(self.refused(key, error));
        }
        let handle = self.handle(key);
        self.set_slot(handle, data, backend);
        Ok(handle)
    }

    /// Puts another mesh in the place of `handle`, which stays valid. The new mesh is
    /// placed before the old one is given up, so that nothing is lost when it does not
    /// fit; only where writes are staged, one of the same size takes the same place.
    ///
    /// # Errors
    /// `Stale`, `Full`, `MeshTooLarge`, `PartsMismatch` or `Backend`; the old mesh then
    /// stays.
    pub fn replace(
        &mut self,
        handle: MeshHandle,
        elements: &[V],
        part_counts: &[u32],
        data: D,
        backend: &mut impl Backend,
    ) -> Result<(), PoolError> {
        let old = self.mesh(handle).ok_or(PoolError::Stale)?;
        let (old_len, placed) = (old.len(), old.placed());
        let mut mesh = self.new_mesh(elements.len(), part_counts)?;
        if mesh.len() == old_len && self.may_overwrite(handle) {
            mesh.set_placed(placed);
            self.write(placed, elements, backend)?;
            if let Some(slot) = self.meshes.get_mut(handle.mesh) {
                *slot = mesh;
            }
            self.set_slot(handle, data, backend);
            return Ok(());
        }
        if mesh.len() > 0 {
            mesh.set_placed(self.find_place(mesh.len(), backend)?);
            self.write_new(mesh.placed(), elements, backend)?;
        }
        self.put_in_place_of(handle, mesh, data, backend);
        Ok(())
    }

    /// Changes a mesh's per-draw data and nothing else.
    ///
    /// # Errors
    /// `Stale`.
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

    /// Removes a mesh; draw lists drop it by themselves.
    ///
    /// # Errors
    /// `Stale` when it was removed before.
    #[inline]
    pub fn remove(&mut self, handle: MeshHandle) -> Result<(), PoolError> {
        if handle.pool != self.id {
            return Err(PoolError::Stale);
        }
        let mesh = self.meshes.get(handle.mesh).ok_or(PoolError::Stale)?;
        let (placed, len) = (mesh.placed(), mesh.len());
        self.meshes.remove(handle.mesh);
        self.retire(placed, len);
        self.removals += 1;
        self.changes.note(handle.slot());
        Ok(())
    }

    /// Removes every mesh. All handles are stale then; buffers are given back once no
    /// frame reads them and nothing has been inserted for a while.
    pub fn clear(&mut self) {
        let keys: Vec<MeshKey> = self.meshes.iter().map(|(key, _)| key).collect();
        for key in keys {
            if let Some(mesh) = self.meshes.remove(key) {
                self.retire(mesh.placed(), mesh.len());
            }
        }
        self.removals += 1;
        self.changes.note_every_slot();
    }

    /// The mesh's per-draw data, or `None` when the handle is stale.
    #[inline]
    pub fn data(&self, handle: MeshHandle) -> Option<&D> {
        self.mesh(handle)?;
        self.data.get(handle.slot() as usize)
    }

    /// Every mesh with its per-draw data, by slot.
    pub fn iter(&self) -> impl Iterator<Item = (MeshHandle, &D)> {
        self.meshes.iter().filter_map(|(mesh, _)| {
            Some((self.handle(mesh), self.data.get(mesh.index() as usize)?))
        })
    }

    /// Meshes in the pool.
    #[inline]
    pub const fn len(&self) -> u32 {
        self.meshes.len()
    }

    /// Whether the pool has no mesh.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.meshes.is_empty()
    }

    /// Rises with every change that may invalidate commands made before.
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
