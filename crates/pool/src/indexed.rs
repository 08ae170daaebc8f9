//! Meshes that bring their own indices: polygon models, whose triangles follow no pattern.

use alloc::{collections::BTreeMap, vec::Vec};

use bytemuck::Pod;

use crate::{
    Backend, Config, DrawCommand, MeshHandle, MoveBudget, Moved, Oversize, PoolError, PoolRange,
    PoolStats, RangeState, VertexPool,
};

mod list;
#[cfg(test)]
mod tests;

pub use list::{IndexedList, IndexedRun};

/// Where the bytes of an [`IndexedPool`] go: vertices and indices each to buffers of their
/// own, of one device.
pub trait IndexedBackend {
    /// The way to the buffers of vertices, and to the table of per-draw data.
    fn vertices(&mut self) -> impl Backend;

    /// The way to the buffers of indices. It is told of a table too, whose slots have no
    /// bytes, and may forget that.
    fn indices(&mut self) -> impl Backend;
}

/// Places meshes of vertices `V` and of their own indices, with per-draw data `D`: a pool
/// for each of the two kinds of elements.
///
/// ```text
///  buffers of vertices  │ a a a a │ b b b │ free … │      first_index, index_count ──┐
///  buffers of indices   │ 0 1 2 0 2 3 │ 0 1 2 │ … │       base_vertex, slot ────────┴─► 20 bytes
/// ```
/// Indices count from the mesh's own first vertex, so that they stay as they are wherever
/// the vertices lie. Places are handed out, retired, defragmented and given back as in a
/// [`VertexPool`], under the same rule: what a frame in flight may read is never written.
///
/// # Cost
/// Insert, replace and remove are two allocations and two copies to the backend, and one
/// look at every index. The pool keeps `D` and some 140 bytes a mesh.
///
/// # Examples
/// ```
/// use drystone_pool::{
///     Access, Backend, Config, IndexedBackend, IndexedList, IndexedPool, NullBackend,
/// };
///
/// struct Forgetful;
/// impl IndexedBackend for Forgetful {
///     fn vertices(&mut self) -> impl Backend {
///         NullBackend(Access::Staged)
///     }
///     fn indices(&mut self) -> impl Backend {
///         NullBackend(Access::Staged)
///     }
/// }
///
/// let mut pool = IndexedPool::<[f32; 3], u32>::new(Config::default(), Config::default())?;
/// let triangle = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
/// pool.insert(&triangle, &[0, 1, 2], 7, &mut Forgetful)?;
/// let mesh = pool.insert(&triangle, &[0, 1, 2, 2, 1, 0], 8, &mut Forgetful)?;
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
/// A mesh lies in one piece of each kind: larger ones than a buffer are refused. It is one
/// part; what is shown and hidden by itself is a mesh of its own.
#[derive(Debug)]
pub struct IndexedPool<V, D> {
    vertices: VertexPool<V, D>,
    indices: VertexPool<u32, ()>,
    /// By slot, the mesh of indices that goes with one of vertices.
    index_meshes: Vec<Option<MeshHandle>>,
}

/// Where a mesh of an [`IndexedPool`] lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexedRange {
    /// The buffer of vertices, the first of them there, and how many.
    pub vertices: ElementRange,
    /// The same of indices.
    pub indices: ElementRange,
}

/// Elements that lie side by side in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementRange {
    /// The buffer's number.
    pub buffer: u32,
    /// The first element there.
    pub first: u32,
    /// How many.
    pub count: u32,
}

impl<V: Pod, D: Pod> IndexedPool<V, D> {
    /// An empty pool. Of the two configurations what is said of patterns and of oversize is
    /// not looked at: an element is a vertex, or an index.
    ///
    /// # Errors
    /// As [`VertexPool::new`].
    pub fn new(vertices: Config, indices: Config) -> Result<Self, PoolError> {
        let plain = |config: Config| Config {
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

    /// Places a mesh: its vertices, its indices, which count from the first of them, and
    /// its per-draw data.
    ///
    /// # Errors
    /// `NoSuchVertex` for an index beyond the vertices; `Full`, `MeshTooLarge`, `SlotsFull`
    /// or `Backend` of either kind. The pool's meshes are then as they were.
    pub fn insert(
        &mut self,
        vertices: &[V],
        indices: &[u32],
        data: D,
        backend: &mut impl IndexedBackend,
    ) -> Result<MeshHandle, PoolError> {
        expect_within(vertices.len(), indices)?;
        let index_mesh = self.insert_indices(indices, backend)?;
        let placed =
            self.vertices.insert(vertices, &count(vertices), data, &mut backend.vertices());
        let handle = placed.inspect_err(|_| self.drop_indices(index_mesh))?;
        let slot = handle.slot() as usize;
        if self.index_meshes.len() <= slot {
            self.index_meshes.resize(slot + 1, None);
        }
        self.index_meshes[slot] = Some(index_mesh);
        Ok(handle)
    }

    /// Puts another mesh in the place of `handle`, which stays valid. Both kinds of the new
    /// mesh are placed before anything of the old one is given up.
    ///
    /// # Errors
    /// `Stale`, or as [`insert`](Self::insert); the old mesh then stays.
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
        let placed = self.vertices.replace(handle, vertices, &parts, data, &mut backend.vertices());
        placed.inspect_err(|_| self.drop_indices(new))?;
        self.drop_indices(old);
        self.index_meshes[handle.slot() as usize] = Some(new);
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
        backend: &mut impl IndexedBackend,
    ) -> Result<(), PoolError> {
        self.vertices.set_data(handle, data, &mut backend.vertices())
    }

    /// Removes a mesh; lists drop it by themselves.
    ///
    /// # Errors
    /// `Stale` when it was removed before.
    pub fn remove(&mut self, handle: MeshHandle) -> Result<(), PoolError> {
        self.vertices.remove(handle)?;
        let index_mesh = self.index_meshes.get_mut(handle.slot() as usize).and_then(Option::take);
        index_mesh.into_iter().for_each(|mesh| self.drop_indices(mesh));
        Ok(())
    }

    /// The mesh's per-draw data, or `None` when the handle is stale.
    pub fn data(&self, handle: MeshHandle) -> Option<&D> {
        self.vertices.data(handle)
    }

    /// Where a mesh lies, until it is replaced or the pool is defragmented; `None` of a
    /// mesh without vertices or indices, and of one that is gone.
    pub fn place_of(&self, handle: MeshHandle) -> Option<IndexedRange> {
        let vertices = range_of(&self.vertices, handle)?;
        let indices = range_of(&self.indices, self.index_mesh(handle)?)?;
        Some(IndexedRange { vertices, indices })
    }

    /// Everything that lies in the buffers of vertices, and in those of indices, as
    /// [`VertexPool::places`] has it; both name meshes by the pool's own handles.
    ///
    /// # Cost
    /// O(meshes · log meshes), and memory for the answer.
    pub fn places(&self) -> [Vec<PoolRange>; 2] {
        let owners: BTreeMap<u32, MeshHandle> = self
            .vertices
            .iter()
            .filter_map(|(handle, _)| Some((self.index_mesh(handle)?.slot(), handle)))
            .collect();
        let mut indices = self.indices.places();
        for place in &mut indices {
            if let RangeState::Live(mesh) = &mut place.state
                && let Some(owner) = owners.get(&mesh.slot())
            {
                *mesh = *owner;
            }
        }
        [self.vertices.places(), indices]
    }

    /// Meshes in the pool.
    pub const fn len(&self) -> u32 {
        self.vertices.len()
    }

    /// Whether the pool has no mesh.
    pub const fn is_empty(&self) -> bool {
        self.vertices.is_empty()
    }

    /// Figures of the vertices and of the indices.
    pub fn stats(&self) -> [PoolStats; 2] {
        [self.vertices.stats(), self.indices.stats()]
    }

    /// Notes that frame `frame` was submitted; see [`VertexPool::frame_submitted`].
    pub fn frame_submitted(&mut self, frame: u64) {
        self.vertices.frame_submitted(frame);
        self.indices.frame_submitted(frame);
    }

    /// Notes that the GPU is done with all frames up to `frame`; see
    /// [`VertexPool::frames_completed`].
    pub fn frames_completed(&mut self, frame: u64, backend: &mut impl IndexedBackend) {
        self.vertices.frames_completed(frame, &mut backend.vertices());
        self.indices.frames_completed(frame, &mut backend.indices());
    }

    /// Moves meshes together, as much of each kind as `budget` allows; see
    /// [`VertexPool::defragment`]. Lists have to [`select`](IndexedList::select) again
    /// before the next frame.
    pub fn defragment(
        &mut self,
        budget: &MoveBudget,
        backend: &mut impl IndexedBackend,
    ) -> [Moved; 2] {
        let vertices = self.vertices.defragment(budget, &mut backend.vertices());
        [vertices, self.indices.defragment(budget, &mut backend.indices())]
    }

    /// The two pools, for tests to look into.
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

    /// The mesh that indices go with.
    ///
    /// # Cost
    /// O(meshes).
    #[cold]
    fn owner_of(&self, index_mesh: MeshHandle) -> Option<MeshHandle> {
        let mut handles = self.vertices.iter().map(|(handle, _)| handle);
        handles.find(|&handle| self.index_mesh(handle) == Some(index_mesh))
    }

    /// The command that draws a mesh, and the buffers that it reads; the mesh counts as
    /// drawn in the frame being built.
    fn command(&self, handle: MeshHandle) -> Option<([u32; 2], DrawCommand)> {
        let IndexedRange { vertices, indices } = self.place_of(handle)?;
        self.vertices.note_drawn(handle);
        self.index_mesh(handle).into_iter().for_each(|mesh| self.indices.note_drawn(mesh));
        let command = DrawCommand {
            index_count: indices.count,
            instance_count: 1,
            first_index: indices.first,
            // A pool's buffers are short enough for it.
            base_vertex: vertices.first as i32,
            first_instance: handle.slot(),
        };
        Some(([vertices.buffer, indices.buffer], command))
    }

    fn note_commands_taken(&self, count: usize) {
        self.vertices.note_commands_taken(count);
        self.indices.note_commands_taken(count);
    }

    fn index_mesh(&self, handle: MeshHandle) -> Option<MeshHandle> {
        self.vertices.data(handle)?;
        self.index_meshes.get(handle.slot() as usize).copied().flatten()
    }

    /// Gives up indices. They are ours alone, so they cannot be stale.
    fn drop_indices(&mut self, mesh: MeshHandle) {
        let removed = self.indices.remove(mesh);
        debug_assert!(removed.is_ok(), "{removed:?}");
    }
}

/// The one part of a mesh; more elements than can be counted are refused as such.
fn count<T>(elements: &[T]) -> [u32; 1] {
    [u32::try_from(elements.len()).unwrap_or(u32::MAX)]
}

fn range_of<V: Pod, D: Pod>(pool: &VertexPool<V, D>, mesh: MeshHandle) -> Option<ElementRange> {
    let place = pool.ranges_of(mesh).next()?;
    let [count, ..] = place.part_counts;
    Some(ElementRange { buffer: place.buffer, first: place.first, count })
}

fn expect_within(vertices: usize, indices: &[u32]) -> Result<(), PoolError> {
    match indices.iter().max() {
        Some(&index) if index as usize >= vertices => {
            Err(PoolError::NoSuchVertex { index, vertices })
        }
        _ => Ok(()),
    }
}
