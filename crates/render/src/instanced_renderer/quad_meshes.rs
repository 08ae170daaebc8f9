use drystone_mesh::Quad;
use drystone_pool::{DrawList, DrawView, MeshHandle, PoolConfig, PoolStats, VertexPool};

use crate::{
    buffers::PATTERN_QUADS,
    device::Device,
    draw_data::DrawData,
    error::RenderError,
    mesh_data::{Layer, MeshData},
    passes::Batch,
    pool_renderer::{PoolGeometries, PoolUpload, SortedMeshes, Unsorted, visible_parts},
    shadows::Redrawn,
    view::View,
    visibility::Visibility,
};

/// Meshes of the instanced renderer that are not drawn as cubes: translucent ones, because blending
/// needs a sorted order, which slots of cubes do not have, and those of fine quads. They are stored in
/// a pool of quads and drawn mesh by mesh: translucent ones farthest first, others nearest first.
pub(super) struct QuadMeshes<G> {
    buffers: PoolGeometries<G>,
    pool: VertexPool<Quad, DrawData>,
    sorted: SortedMeshes,
    /// Meshes that are drawn into shadow maps, one view for each map.
    casters: Vec<DrawView>,
    layer: Layer,
}

/// Batches of a picture.
pub(super) struct QuadBatches<'a, G> {
    /// Meshes in view, in order.
    pub(super) scene: Vec<Batch<'a, G>>,
    /// Meshes in each shadow map that is drawn.
    pub(super) casters: Vec<Vec<Batch<'a, G>>>,
}

impl<G> QuadMeshes<G> {
    pub(super) fn new(max_quads: u32, layer: Layer) -> Result<Self, RenderError> {
        let config = PoolConfig::default()
            .with_max_buffer_elements(max_quads.min(PoolConfig::default().max_buffer_elements))
            .with_pattern_elements(PATTERN_QUADS);
        let (pool, buffers) = (VertexPool::new(config)?, PoolGeometries::default());
        let (sorted, casters) = (SortedMeshes::new(DrawList::new()), Vec::new());
        Ok(Self { buffers, pool, sorted, casters, layer })
    }

    pub(super) fn insert<D: Device<Geometry = G>>(
        &mut self,
        device: &mut D,
        mesh: &MeshData<'_>,
    ) -> Result<MeshHandle, RenderError> {
        mesh.check_draw_data()?;
        let mut upload = PoolUpload { device, buffers: &mut self.buffers };
        let inserted = self.sorted.insert(&mut self.pool, mesh, &mut upload);
        let handle = inserted.map_err(|error| self.buffers.explain(error))?;
        self.sorted.list.insert(handle)?;
        Ok(handle)
    }

    pub(super) fn replace<D: Device<Geometry = G>>(
        &mut self,
        device: &mut D,
        (handle, mesh): (MeshHandle, &MeshData<'_>),
    ) -> Result<(), RenderError> {
        mesh.check_draw_data()?;
        let mut upload = PoolUpload { device, buffers: &mut self.buffers };
        let new = (handle, &MeshData { layer: self.layer, ..*mesh });
        let replaced = self.sorted.replace(&mut self.pool, new, &mut upload);
        replaced.map(drop).map_err(|error| self.buffers.explain(error))
    }

    pub(super) fn remove(&mut self, handle: MeshHandle) -> Result<(), RenderError> {
        self.pool.remove(handle).map_err(|_| RenderError::StaleMesh)?;
        self.sorted.removed(handle);
        Ok(())
    }

    /// Reports completed frames to the pool. Must be called before a frame.
    pub(super) fn release<D: Device<Geometry = G>>(&mut self, device: &mut D) {
        let completed = device.progress().completed;
        let mut upload = PoolUpload { device, buffers: &mut self.buffers };
        self.pool.frames_completed(completed, &mut upload);
    }

    /// Reports a submitted frame to the pool. Must be called after a frame.
    pub(super) fn submitted(&mut self, frame: u64) {
        self.pool.frame_submitted(frame);
    }

    /// Returns the data of a mesh; `None` if it is stale.
    pub(super) fn data(&self, handle: MeshHandle) -> Option<DrawData> {
        self.pool.data(handle).copied()
    }

    /// Batches of the meshes that `view` sees, in order, and of those in the maps that are drawn.
    ///
    /// # Errors
    /// `Lost`, or `Device` when the device refuses the quads of a mesh in a new order.
    pub(super) fn batches<D: Device<Geometry = G>>(
        &mut self,
        device: &mut D,
        (view, visibility): (&View, &Visibility),
        redrawn: &[Redrawn],
    ) -> Result<QuadBatches<'_, G>, RenderError> {
        let Self { buffers, pool, sorted, casters, layer } = self;
        sorted.sort(
            pool,
            &mut PoolUpload { device, buffers },
            (view, visibility),
            Unsorted::All,
        )?;
        let buffers = buffers.flush(device);
        sorted.mask(pool, view, visibility);
        casters.resize_with(redrawn.len(), DrawView::default);
        let casters = casters.iter_mut().zip(redrawn).map(|(caster, map)| {
            let parts = |data: &DrawData| visible_parts(data, map.view(), &map.visibility);
            caster.mask(&sorted.list, pool, |mesh| parts(mesh));
            buffers.batches(caster.runs(&sorted.list, pool))
        });
        let casters = casters.collect();
        let list = &mut sorted.list;
        match layer {
            Layer::Blended => list.sort(pool, |data| visibility.blend_key(data)),
            Layer::Opaque => list.sort(pool, |data| !visibility.blend_key(data)),
        }
        Ok(QuadBatches { scene: buffers.batches(list.runs(pool)), casters })
    }

    /// Number of meshes in the last batches.
    pub(super) const fn visible(&self) -> usize {
        self.sorted.list.visible()
    }

    pub(super) fn command_count(&self) -> u64 {
        self.pool.command_count()
    }

    pub(super) fn stats(&self) -> PoolStats {
        self.pool.stats()
    }
}
