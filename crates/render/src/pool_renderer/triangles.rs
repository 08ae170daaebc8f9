use bytemuck::{Pod, Zeroable};
use drystone_pool::{
    Backend, DrawCommand, Grouping, IndexedBackend, IndexedList, IndexedPool, IndexedRun,
    MeshHandle, PartSet, PoolConfig, PoolStats, sort_key,
};

use super::{
    MOVES,
    buffers::{PoolGeometries, PoolUpload},
};
use crate::{
    buffers::BufferKind,
    device::Device,
    draw_data::DrawData,
    error::RenderError,
    mesh_data::Layer,
    passes::Batch,
    renderer::HeldStats,
    shadows::Redrawn,
    triangle_mesh::{TriangleMesh, TrianglesId, TrianglesOwner},
    triangle_vertex::TriangleVertex,
    view::View,
    visibility::Visibility,
};

/// The pool's data of a mesh; shaders read the first half.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct ModelData {
    /// Slot data of a [`TriangleTransform`](crate::TriangleTransform).
    transform: DrawData,
    /// A box around the mesh, in voxels.
    bounds: DrawData,
}

/// The polygon models of a [`PoolRenderer`], created with the first model.
pub(super) struct Triangles<G> {
    vertices: PoolGeometries<G>,
    indices: PoolGeometries<G>,
    pool: IndexedPool<TriangleVertex, ModelData>,
    opaque: IndexedList,
    blended: IndexedList,
    /// Runs and commands of the meshes in each shadow map that is drawn.
    casters: Vec<(Vec<IndexedRun>, Vec<DrawCommand>)>,
}

/// Batches of both layers, and the number of meshes that they show.
pub(super) struct TriangleBatches<'a, G> {
    pub(super) opaque: Vec<Batch<'a, G>>,
    pub(super) blended: Vec<Batch<'a, G>>,
    /// Batches of each shadow map that is drawn.
    pub(super) casters: Vec<Vec<Batch<'a, G>>>,
    pub(super) meshes: usize,
}

impl<G> Default for TriangleBatches<'_, G> {
    fn default() -> Self {
        Self { opaque: Vec::new(), blended: Vec::new(), casters: Vec::new(), meshes: 0 }
    }
}

/// Connects the pool to the device.
struct Upload<'a, D: Device> {
    device: &'a mut D,
    vertices: &'a mut PoolGeometries<D::Geometry>,
    indices: &'a mut PoolGeometries<D::Geometry>,
}

impl<D: Device> IndexedBackend for Upload<'_, D> {
    fn vertices(&mut self) -> impl Backend {
        PoolUpload { device: &mut *self.device, buffers: &mut *self.vertices }
    }

    fn indices(&mut self) -> impl Backend {
        PoolUpload { device: &mut *self.device, buffers: &mut *self.indices }
    }
}

impl<G> Triangles<G> {
    /// Creates a pool. Its buffers have at most as many bytes as those of quads.
    pub(super) fn new(max_bytes: u64) -> Result<Self, RenderError> {
        let config = |kind: BufferKind| {
            let max_elements = u32::try_from(max_bytes / kind.entry_bytes()).unwrap_or(u32::MAX);
            let defaults = PoolConfig::default();
            let min_elements = defaults.min_buffer_elements.min(max_elements);
            defaults.with_max_buffer_elements(max_elements).with_min_buffer_elements(min_elements)
        };
        Ok(Self {
            vertices: PoolGeometries::new(BufferKind::Vertices, size_of::<ModelData>()),
            indices: PoolGeometries::new(BufferKind::Indices, 0),
            pool: IndexedPool::new(config(BufferKind::Vertices), config(BufferKind::Indices))?,
            opaque: IndexedList::new(Grouping::ByBuffer),
            blended: IndexedList::new(Grouping::InOrder),
            casters: Vec::new(),
        })
    }

    pub(super) fn insert<D: Device<Geometry = G>>(
        &mut self,
        device: &mut D,
        mesh: &TriangleMesh<'_>,
        bounds: DrawData,
    ) -> Result<TrianglesId, RenderError> {
        let data = ModelData { transform: mesh.slot_data(), bounds };
        let counts = one_part(mesh);
        let (pool, mut upload) = self.parts(device);
        let inserted = pool.insert(mesh.vertices, mesh.indices, &counts, data, &mut upload);
        let handle = inserted.map_err(|error| self.explain(error))?;
        match mesh.layer {
            Layer::Opaque => self.opaque.insert(handle),
            Layer::Blended => self.blended.insert(handle),
        }
        Ok(TrianglesId(TrianglesOwner::Pool(handle)))
    }

    pub(super) fn replace<D: Device<Geometry = G>>(
        &mut self,
        device: &mut D,
        (handle, mesh): (MeshHandle, &TriangleMesh<'_>),
        bounds: DrawData,
    ) -> Result<(), RenderError> {
        let data = ModelData { transform: mesh.slot_data(), bounds };
        let counts = one_part(mesh);
        let (pool, mut upload) = self.parts(device);
        let replaced =
            pool.replace(handle, mesh.vertices, mesh.indices, &counts, data, &mut upload);
        replaced.map_err(|error| self.explain(error))
    }

    /// The box around a mesh; `None` if it is stale.
    pub(super) fn bounds(&self, handle: MeshHandle) -> Option<DrawData> {
        self.pool.data(handle).map(|data| data.bounds)
    }

    pub(super) fn remove(&mut self, handle: MeshHandle) -> Result<(), RenderError> {
        self.pool.remove(handle).map_err(|_| RenderError::StaleMesh)
    }

    /// The pool, and its connection to `device`.
    fn parts<'a, D: Device<Geometry = G>>(
        &'a mut self,
        device: &'a mut D,
    ) -> (&'a mut IndexedPool<TriangleVertex, ModelData>, Upload<'a, D>) {
        let Self { vertices, indices, pool, .. } = self;
        (pool, Upload { device, vertices, indices })
    }

    fn explain(&mut self, error: drystone_pool::PoolError) -> RenderError {
        match self.vertices.explain(error) {
            RenderError::Pool(error) => self.indices.explain(error),
            explained => explained,
        }
    }

    /// Reports completed frames to the pool.
    pub(super) fn release<D: Device<Geometry = G>>(&mut self, device: &mut D, completed: u64) {
        let (pool, mut upload) = self.parts(device);
        pool.frames_completed(completed, &mut upload);
    }

    /// Defragments the pool within the budget of a frame.
    pub(super) fn defragment<D: Device<Geometry = G>>(&mut self, device: &mut D) {
        let (pool, mut upload) = self.parts(device);
        pool.defragment(&MOVES, &mut upload);
    }

    pub(super) fn submitted(&mut self, frame: u64) {
        self.pool.frame_submitted(frame);
    }

    /// Batches of the meshes that `view` sees: opaque ones near first, blended ones far first.
    pub(super) fn batches<D: Device<Geometry = G>>(
        &mut self,
        device: &mut D,
        (view, visibility): (&View, &Visibility),
        redrawn: &[Redrawn],
    ) -> TriangleBatches<'_, G> {
        let Self { vertices, indices, pool, opaque, blended, casters } = self;
        let (vertices, indices) = (vertices.flush(device), indices.flush(device));
        let parts = |it: &ModelData| match !view.cull_frustum || visibility.in_view(&it.bounds) {
            true => PartSet::ALL,
            false => PartSet::EMPTY,
        };
        let near_first = |it: &ModelData| match view.sort_opaque {
            true => sort_key(visibility.distance(&it.bounds), 0),
            false => 0,
        };
        casters.clear();
        casters.extend(redrawn.iter().map(|map| {
            let parts = |it: &ModelData| match map.visibility.in_view(&it.bounds) {
                true => PartSet::ALL,
                false => PartSet::EMPTY,
            };
            let (runs, commands) = opaque.select(pool, |it| (parts(it), 0));
            (runs.to_vec(), commands.to_vec())
        }));
        let (runs, commands) = opaque.select(pool, |it| (parts(it), near_first(it)));
        let batch = |run: &IndexedRun| (vertices.get(run.vertices), indices.get(run.indices));
        let batches = |runs: &[IndexedRun], commands| -> Vec<Batch<'_, G>> {
            let of_run = |run: &IndexedRun| {
                let (Some(geometry), Some(indices)) = batch(run) else { return None };
                let commands: &[_] = commands;
                let commands = &commands[run.commands.clone()];
                Some(Batch::indexed(geometry, indices, commands).trusted())
            };
            runs.iter().filter_map(of_run).collect()
        };
        let opaque_batches = batches(runs, commands);
        let far_first = |it: &ModelData| visibility.blend_key(&it.bounds);
        let (runs, commands) = blended.select(pool, |it| (parts(it), far_first(it)));
        let blended_batches = batches(runs, commands);
        // A mesh is one part and not split, so it is one command.
        let all = opaque_batches.iter().chain(&blended_batches);
        let meshes = all.map(|batch| batch.commands.len()).sum();
        let casters = casters.iter().map(|(runs, commands)| batches(runs, &commands[..])).collect();
        TriangleBatches { opaque: opaque_batches, blended: blended_batches, casters, meshes }
    }

    /// Adds meshes, commands and memory to `held`.
    pub(super) fn add_to(&self, held: &mut HeldStats) {
        let stats = self.pool.stats();
        let sum = |bytes: fn(&PoolStats) -> u64| stats.iter().map(bytes).sum::<u64>();
        held.meshes += self.pool.len();
        held.commands += u64::from(self.pool.len());
        held.used_bytes += sum(|it| it.used_bytes);
        held.reserved_bytes += sum(|it| it.capacity_bytes);
    }
}

/// The part counts of a mesh, which has one part. Saturates, so that too many indices are an error
/// of the pool.
fn one_part(mesh: &TriangleMesh<'_>) -> [u32; 1] {
    [u32::try_from(mesh.indices.len()).unwrap_or(u32::MAX)]
}

/// The pool of triangles and the handle in it that an id refers to.
pub(super) fn own<G>(
    triangles: &mut Option<Box<Triangles<G>>>,
    id: TrianglesId,
) -> Result<(&mut Triangles<G>, MeshHandle), RenderError> {
    match (triangles, id) {
        (Some(triangles), TrianglesId(TrianglesOwner::Pool(handle))) => Ok((triangles, handle)),
        _ => Err(RenderError::StaleMesh),
    }
}
