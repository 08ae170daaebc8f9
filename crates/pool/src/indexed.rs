//! Meshes with their own indices: polygon models, whose triangles follow no pattern.

use alloc::{collections::BTreeMap, vec::Vec};

use bytemuck::Pod;

use crate::{
    backend::Backend,
    command::DrawCommand,
    config::{Oversize, PoolConfig},
    defragmenter::{MoveBudget, Moved},
    error::PoolError,
    mesh::MeshHandle,
    stats::{MeshRange, PoolRange, PoolStats, RangeState},
    vertex_pool::VertexPool,
};

mod list;
#[cfg(test)]
mod tests;

pub use list::{IndexedList, IndexedRun};

/// Destination of the bytes of an [`IndexedPool`]: separate buffers for vertices and indices on one
/// device.
pub trait IndexedBackend {
    /// Returns the backend for vertices and for the table of per-draw data.
    fn vertices(&mut self) -> impl Backend;

    /// Returns the backend for indices. It also receives a table of per-draw data with slots of
    /// zero bytes, which it can ignore.
    fn indices(&mut self) -> impl Backend;
}

/// Stores meshes of vertices `V` with their own indices and with per-draw data `D`. Vertices and
/// indices each have a pool.
///
/// ```text
///  buffers of vertices  │ a a a a │ b b b │ free … │      first_index, index_count ──┐
///  buffers of indices   │ 0 1 2 0 2 3 │ 0 1 2 │ … │       base_vertex, slot ────────┴─► 20 bytes
/// ```
/// Indices are relative to the mesh's first vertex, so they do not change when vertices move.
/// Allocation, retirement and defragmentation work as in a [`VertexPool`]: memory that a frame in
/// flight may read is never written.
///
/// # Cost
/// Insert costs two allocations, remove two frees, and replace both. Insert and replace also copy
/// vertices and indices to the backend, and check each index. The pool stores `D` and about 140
/// bytes per mesh.
///
/// # Examples
/// ```
/// use drystone_pool::{
///     Access, Backend, IndexedBackend, IndexedList, IndexedPool, NullBackend, PoolConfig,
/// };
///
/// struct Discard;
/// impl IndexedBackend for Discard {
///     fn vertices(&mut self) -> impl Backend {
///         NullBackend(Access::Staged)
///     }
///     fn indices(&mut self) -> impl Backend {
///         NullBackend(Access::Staged)
///     }
/// }
///
/// let mut pool = IndexedPool::<[f32; 3], u32>::new(PoolConfig::default(), PoolConfig::default())?;
/// let triangle = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
/// pool.insert(&triangle, &[0, 1, 2], 7, &mut Discard)?;
/// let mesh = pool.insert(&triangle, &[0, 1, 2, 2, 1, 0], 8, &mut Discard)?;
///
/// let mut list = IndexedList::default();
/// list.insert(mesh);
/// let (runs, commands) = list.select(&pool, |_data| Some(0));
/// assert_eq!(runs.len(), 1);
/// assert_eq!((commands[0].base_vertex, commands[0].first_index), (3, 3));
/// assert_eq!((commands[0].index_count, commands[0].first_instance), (6, mesh.slot()));
/// # Ok::<(), drystone_pool::PoolError>(())
/// ```
///
/// # Limits
/// The vertices of a mesh are contiguous, and so are its indices; a mesh larger than a buffer is an
/// error. A mesh is a single part. Use separate meshes for parts that are hidden separately.
#[derive(Debug)]
pub struct IndexedPool<V, D> {
    vertices: VertexPool<V, D>,
    indices: VertexPool<u32, ()>,
    /// Mesh of indices, indexed by the slot of the mesh of vertices.
    index_meshes: Vec<Option<MeshHandle>>,
}

impl<V: Pod, D: Pod> IndexedPool<V, D> {
    /// Creates an empty pool. The settings for the index pattern and for oversize meshes are
    /// ignored: an element is one vertex or one index.
    ///
    /// # Errors
    /// - `TooLarge` if a base vertex would exceed 31 bits, or if there are too many slots.
    /// - `Unaligned` if the size of `V` or `D` is not a multiple of
    ///   [`ALIGNMENT_BYTES`](crate::ALIGNMENT_BYTES).
    pub fn new(vertices: PoolConfig, indices: PoolConfig) -> Result<Self, PoolError> {
        let plain = |config: PoolConfig| PoolConfig {
            oversize: Oversize::Refuse,
            indices_per_element: 1,
            vertices_per_element: 1,
            pattern_elements: u32::MAX,
            ..config
        };
        Ok(Self {
            vertices: VertexPool::new(plain(vertices))?,
            indices: VertexPool::new(plain(indices))?,
            index_meshes: Vec::new(),
        })
    }

    /// Inserts a mesh: its vertices, its indices relative to the first vertex, and its per-draw
    /// data.
    ///
    /// # Errors
    /// `NoSuchVertex` if an index exceeds the vertices; `Full`, `MeshTooLarge`, `SlotsFull` or
    /// `Backend` from either pool. The meshes are then unchanged.
    pub fn insert(
        &mut self,
        vertices: &[V],
        indices: &[u32],
        data: D,
        backend: &mut impl IndexedBackend,
    ) -> Result<MeshHandle, PoolError> {
        expect_within(vertices.len(), indices)?;
        let index_mesh = self.insert_indices(indices, backend)?;
        let location =
            self.vertices.insert(vertices, &count(vertices), data, &mut backend.vertices());
        let handle = location.inspect_err(|_| self.drop_indices(index_mesh))?;
        let slot = handle.slot() as usize;
        if self.index_meshes.len() <= slot {
            self.index_meshes.resize(slot + 1, None);
        }
        self.index_meshes[slot] = Some(index_mesh);
        Ok(handle)
    }

    /// Replaces the mesh of `handle`, which stays valid. The new vertices and indices are allocated
    /// before the old ones are freed.
    ///
    /// # Errors
    /// `Stale`; `NoSuchVertex` if an index exceeds the vertices; `Full`, `MeshTooLarge` or
    /// `Backend` from either pool. The old mesh is then unchanged.
    pub fn replace(
        &mut self,
        handle: MeshHandle,
        vertices: &[V],
        indices: &[u32],
        data: D,
        backend: &mut impl IndexedBackend,
    ) -> Result<(), PoolError> {
        let old = self.index_mesh(handle).ok_or(PoolError::Stale)?;
        expect_within(vertices.len(), indices)?;
        let new = self.insert_indices(indices, backend)?;
        let parts = count(vertices);
        let location =
            self.vertices.replace(handle, vertices, &parts, data, &mut backend.vertices());
        location.inspect_err(|_| self.drop_indices(new))?;
        self.drop_indices(old);
        self.index_meshes[handle.slot() as usize] = Some(new);
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
        backend: &mut impl IndexedBackend,
    ) -> Result<(), PoolError> {
        self.vertices.set_data(handle, data, &mut backend.vertices())
    }

    /// Removes a mesh. Lists drop it automatically.
    ///
    /// # Errors
    /// `Stale` if the mesh was already removed or belongs to another pool.
    pub fn remove(&mut self, handle: MeshHandle) -> Result<(), PoolError> {
        self.vertices.remove(handle)?;
        let index_mesh = self.index_meshes.get_mut(handle.slot() as usize).and_then(Option::take);
        index_mesh.into_iter().for_each(|mesh| self.drop_indices(mesh));
        Ok(())
    }

    /// Reports that frame `frame` was submitted; see [`VertexPool::frame_submitted`].
    pub fn frame_submitted(&mut self, frame: u64) {
        self.vertices.frame_submitted(frame);
        self.indices.frame_submitted(frame);
    }

    /// Reports that the GPU has completed all frames up to `frame`; see
    /// [`VertexPool::frames_completed`].
    pub fn frames_completed(&mut self, frame: u64, backend: &mut impl IndexedBackend) {
        self.vertices.frames_completed(frame, &mut backend.vertices());
        self.indices.frames_completed(frame, &mut backend.indices());
    }

    /// Moves meshes together, within `budget` for each of vertices and indices; see
    /// [`VertexPool::defragment`]. Lists must [`select`](IndexedList::select) again before the next
    /// frame.
    pub fn defragment(
        &mut self,
        budget: &MoveBudget,
        backend: &mut impl IndexedBackend,
    ) -> [Moved; 2] {
        let vertices = self.vertices.defragment(budget, &mut backend.vertices());
        [vertices, self.indices.defragment(budget, &mut backend.indices())]
    }

    /// Returns the per-draw data of a mesh, or `None` if the handle is stale.
    pub fn data(&self, handle: MeshHandle) -> Option<&D> {
        self.vertices.data(handle)
    }

    /// Returns all ranges of the vertex buffers and of the index buffers; see
    /// [`VertexPool::ranges`]. Both lists contain the handles of this pool.
    ///
    /// # Cost
    /// O(meshes · log meshes), and memory for the result.
    pub fn ranges(&self) -> [Vec<PoolRange>; 2] {
        let owners: BTreeMap<u32, MeshHandle> = self
            .vertices
            .iter()
            .filter_map(|(handle, _)| Some((self.index_mesh(handle)?.slot(), handle)))
            .collect();
        let mut indices = self.indices.ranges();
        for range in &mut indices {
            if let RangeState::Live(mesh) = &mut range.state
                && let Some(owner) = owners.get(&mesh.slot())
            {
                *mesh = *owner;
            }
        }
        [self.vertices.ranges(), indices]
    }

    /// Number of meshes in the pool.
    pub const fn len(&self) -> u32 {
        self.vertices.len()
    }

    /// Returns whether the pool contains no mesh.
    pub const fn is_empty(&self) -> bool {
        self.vertices.is_empty()
    }

    /// Returns the statistics of the vertices and of the indices.
    pub fn stats(&self) -> [PoolStats; 2] {
        [self.vertices.stats(), self.indices.stats()]
    }

    /// Returns the two pools, for tests.
    #[cfg(test)]
    pub(crate) fn pools(&self) -> (&VertexPool<V, D>, &VertexPool<u32, ()>) {
        (&self.vertices, &self.indices)
    }

    fn insert_indices(
        &mut self,
        indices: &[u32],
        backend: &mut impl IndexedBackend,
    ) -> Result<MeshHandle, PoolError> {
        let inserted = self.indices.insert(indices, &count(indices), (), &mut backend.indices());
        inserted.map_err(|mut error| {
            if let PoolError::Full { least_recently_drawn, .. } = &mut error {
                *least_recently_drawn = least_recently_drawn.map(|mesh| self.owner_of(mesh?));
            }
            error
        })
    }

    /// Returns the mesh that a mesh of indices belongs to.
    ///
    /// # Cost
    /// O(meshes).
    #[cold]
    fn owner_of(&self, index_mesh: MeshHandle) -> Option<MeshHandle> {
        let mut handles = self.vertices.iter().map(|(handle, _)| handle);
        handles.find(|&handle| self.index_mesh(handle) == Some(index_mesh))
    }

    /// Returns the command of a mesh and the buffers that it reads. Marks the mesh as drawn in the
    /// frame being built.
    fn command(&self, handle: MeshHandle) -> Option<([u32; 2], DrawCommand)> {
        let [vertices, indices] = self.ranges_of(handle)?;
        self.vertices.note_drawn(handle);
        self.index_mesh(handle).into_iter().for_each(|mesh| self.indices.note_drawn(mesh));
        let command = DrawCommand {
            index_count: indices.part_counts[0],
            instance_count: 1,
            first_index: indices.first,
            // The limit of a pool's buffers guarantees that this fits.
            base_vertex: vertices.first as i32,
            first_instance: handle.slot(),
        };
        Some(([vertices.buffer, indices.buffer], command))
    }

    /// Returns the ranges of a mesh's vertices and indices. Returns `None` for a mesh without
    /// vertices or indices, and for a stale handle.
    fn ranges_of(&self, handle: MeshHandle) -> Option<[MeshRange; 2]> {
        let vertices = self.vertices.ranges_of(handle).next()?;
        Some([vertices, self.indices.ranges_of(self.index_mesh(handle)?).next()?])
    }

    fn note_commands_returned(&self, count: usize) {
        self.vertices.frames.note_commands_returned(count);
        self.indices.frames.note_commands_returned(count);
    }

    fn index_mesh(&self, handle: MeshHandle) -> Option<MeshHandle> {
        self.vertices.data(handle)?;
        self.index_meshes.get(handle.slot() as usize).copied().flatten()
    }

    /// Removes a mesh of indices. Only this pool uses its handle, so it cannot be stale.
    fn drop_indices(&mut self, mesh: MeshHandle) {
        let removed = self.indices.remove(mesh);
        debug_assert!(removed.is_ok(), "{removed:?}");
    }
}

/// Returns the part counts of a mesh with one part. Saturates, so that too many elements are an
/// error later.
fn count<T>(elements: &[T]) -> [u32; 1] {
    [u32::try_from(elements.len()).unwrap_or(u32::MAX)]
}

fn expect_within(vertices: usize, indices: &[u32]) -> Result<(), PoolError> {
    match indices.iter().max() {
        Some(&index) if index as usize >= vertices => {
            Err(PoolError::NoSuchVertex { index, vertices })
        }
        _ => Ok(()),
    }
}
