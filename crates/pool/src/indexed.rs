//! Meshes with their own indices: polygon models, whose triangles follow no pattern.

use alloc::{collections::BTreeMap, vec::Vec};

use bytemuck::Pod;

use crate::{
    backend::Backend,
    command::DrawCommand,
    config::{Oversize, Placement, PoolConfig},
    defragmenter::{MoveBudget, Moved},
    draw_list::MeshRef,
    error::PoolError,
    mesh::MeshHandle,
    parts::{PartSet, RunTable},
    stats::{PoolRange, PoolStats, RangeState},
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
///     Access, Backend, IndexedBackend, IndexedList, IndexedPool, NullBackend, PartSet, PoolConfig,
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
/// pool.insert(&triangle, &[0, 1, 2], &[3], 7, &mut Discard)?;
/// // Two parts: the front of the triangle and its back.
/// let mesh = pool.insert(&triangle, &[0, 1, 2, 2, 1, 0], &[3, 3], 8, &mut Discard)?;
///
/// let mut list = IndexedList::default();
/// list.insert(mesh);
/// let (runs, commands) = list.select(&pool, |_mesh| (PartSet::EMPTY.with(1), 0));
/// assert_eq!(runs.len(), 1);
/// assert_eq!((commands[0].base_vertex, commands[0].first_index), (3, 6));
/// assert_eq!((commands[0].index_count, commands[0].first_instance), (3, mesh.slot()));
/// # Ok::<(), drystone_pool::PoolError>(())
/// ```
///
/// # Limits
/// The vertices of a mesh are contiguous, because a primitive reads all its vertices from one buffer;
/// more vertices than fit a buffer are an error. Indices can be [split](Oversize::Split).
#[derive(Debug)]
pub struct IndexedPool<V, D> {
    vertices: VertexPool<V, D>,
    indices: VertexPool<u32, ()>,
    /// Mesh of indices, indexed by the slot of the mesh of vertices.
    index_meshes: Vec<Option<MeshHandle>>,
}

impl<V: Pod, D: Pod> IndexedPool<V, D> {
    /// Creates an empty pool. An element is one vertex or one index, so the settings for the index
    /// pattern are ignored. For vertices, so is [`PoolConfig::oversize`].
    ///
    /// If `indices` are split, a piece is a multiple of [`PoolConfig::indices_per_element`], so that
    /// no primitive is cut. The default, 6, suits triangles, lines and points.
    ///
    /// # Errors
    /// - `TooLarge` if a base vertex would exceed 31 bits, or if there are too many slots.
    /// - `Unaligned` if the size of `V` or `D` is not a multiple of
    ///   [`ALIGNMENT_BYTES`](crate::ALIGNMENT_BYTES).
    pub fn new(vertices: PoolConfig, indices: PoolConfig) -> Result<Self, PoolError> {
        let plain = |config: PoolConfig| PoolConfig {
            indices_per_element: 1,
            vertices_per_element: 1,
            pattern_elements: u32::MAX,
            ..config
        };
        let vertices = PoolConfig { oversize: Oversize::Refuse, ..vertices };
        Ok(Self {
            vertices: VertexPool::new(plain(vertices))?,
            indices: VertexPool::new(plain(in_primitives(indices)))?,
            index_meshes: Vec::new(),
        })
    }

    /// Inserts a mesh: its vertices, its indices relative to the first vertex, divided into parts of
    /// `part_counts` indices, and its per-draw data.
    ///
    /// # Errors
    /// `NoSuchVertex` if an index exceeds the vertices; `PartsMismatch`; `Full`, `MeshTooLarge`, `SlotsFull` or
    /// `Backend` from either pool. The meshes are then unchanged.
    pub fn insert(
        &mut self,
        vertices: &[V],
        indices: &[u32],
        part_counts: &[u32],
        data: D,
        backend: &mut impl IndexedBackend,
    ) -> Result<MeshHandle, PoolError> {
        expect_within(vertices.len(), indices)?;
        let index_mesh = self.insert_indices(indices, part_counts, backend)?;
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

    /// Replaces the mesh of `handle`, which stays valid. The new indices are allocated before the old ones
    /// are freed; vertices as in [`VertexPool::replace`].
    ///
    /// # Errors
    /// `Stale`; `NoSuchVertex` if an index exceeds the vertices; `PartsMismatch`; `Full`,
    /// `MeshTooLarge` or `Backend` from either pool. The old mesh is then unchanged.
    pub fn replace(
        &mut self,
        handle: MeshHandle,
        vertices: &[V],
        indices: &[u32],
        part_counts: &[u32],
        data: D,
        backend: &mut impl IndexedBackend,
    ) -> Result<(), PoolError> {
        let old = self.index_mesh(handle).ok_or(PoolError::Stale)?;
        expect_within(vertices.len(), indices)?;
        let new = self.insert_indices(indices, part_counts, backend)?;
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
        part_counts: &[u32],
        backend: &mut impl IndexedBackend,
    ) -> Result<MeshHandle, PoolError> {
        let inserted = self.indices.insert(indices, part_counts, (), &mut backend.indices());
        inserted.map_err(|mut error| {
            if let PoolError::Full { least_recently_drawn, .. } = &mut error {
                let meshes = &mut least_recently_drawn.0;
                *meshes = meshes.map(|mesh| self.owner_of(mesh?));
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

    /// Passes the commands of a mesh's `parts`, each with the buffers of vertices and of indices
    /// that it reads, to `emit`. Marks the mesh as drawn in the frame being built.
    fn emit_commands(
        &self,
        handle: MeshHandle,
        parts: PartSet,
        table: &mut RunTable,
        mut emit: impl FnMut([u32; 2], DrawCommand),
    ) {
        let Some(vertices) = self.vertices.ranges_of(handle).next() else { return };
        let Some(index_mesh) = self.index_mesh(handle) else { return };
        self.vertices.note_drawn(handle);
        self.indices.emit_commands(index_mesh, parts, table, |buffer, of_indices| {
            let command = DrawCommand {
                // Elements of the pool of indices are indices, so both values are positions there.
                first_index: of_indices.base_vertex as u32,
                // The limit of a pool's buffers guarantees that this fits.
                base_vertex: vertices.first as i32,
                first_instance: handle.slot(),
                ..of_indices
            };
            emit([vertices.buffer, buffer], command);
        });
    }

    /// Returns a mesh as selections see it; none if the handle is stale.
    fn mesh(&self, handle: MeshHandle) -> Option<MeshRef<'_, D>> {
        self.vertices.data(handle)?;
        MeshRef::new(&self.vertices, handle.mesh)
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

/// Rounds the sizes of split pieces of indices down to whole primitives.
fn in_primitives(config: PoolConfig) -> PoolConfig {
    if config.oversize == Oversize::Refuse {
        return config;
    }
    let unit = config.indices_per_element.max(1);
    let whole = |count: u32| count - count % unit;
    let placement = match config.placement {
        Placement::Buckets { elements } => Placement::Buckets { elements: whole(elements) },
        other => other,
    };
    let max_buffer_elements = whole(config.max_buffer_elements);
    PoolConfig { placement, max_buffer_elements, ..config }
}

fn expect_within(vertices: usize, indices: &[u32]) -> Result<(), PoolError> {
    match indices.iter().max() {
        Some(&index) if index as usize >= vertices => {
            Err(PoolError::NoSuchVertex { index, vertices })
        }
        _ => Ok(()),
    }
}
