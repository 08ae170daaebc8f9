use drystone_mesh::Quad;
use drystone_pool::{CommandRun, Config, DrawList, MeshHandle, PoolStats, VertexPool};

use crate::{
    Batch, Device, DrawData, MeshData, PATTERN_QUADS, PoolBuffers, PoolUpload, RenderError, View,
    Visibility, pool_renderer::visible_parts,
};

/// The translucent meshes of the instanced renderer. Blending asks for an order, which
/// places that are handed out at random do not have: they are kept as a pool of quads and
/// drawn mesh by mesh, farthest first.
pub(super) struct Beside<G> {
    buffers: PoolBuffers<G>,
    pool: VertexPool<Quad, DrawData>,
    list: DrawList,
}

impl<G> Beside<G> {
    pub(super) fn new(max_quads: u32) -> Result<Self, RenderError> {
        let config = Config {
            max_buffer_elements: max_quads.min(Config::default().max_buffer_elements),
            pattern_elements: PATTERN_QUADS,
            ..Config::default()
        };
        let (pool, buffers) = (VertexPool::new(config)?, PoolBuffers::default());
        Ok(Self { buffers, pool, list: DrawList::new() })
    }

    pub(super) fn insert<D: Device<Geometry = G>>(
        &mut self,
        device: &mut D,
        mesh: &MeshData<'_>,
    ) -> Result<MeshHandle, RenderError> {
        mesh.check_draw_data()?;
        let mut upload = PoolUpload { device, buffers: &mut self.buffers };
        let inserted = self.pool.insert(mesh.quads, &mesh.counts, mesh.draw_data, &mut upload);
        let handle = inserted.map_err(|error| self.buffers.explain(error))?;
        self.list.insert(handle)?;
        Ok(handle)
    }

    pub(super) fn replace<D: Device<Geometry = G>>(
        &mut self,
        device: &mut D,
        (handle, mesh): (MeshHandle, &MeshData<'_>),
    ) -> Result<(), RenderError> {
        mesh.check_draw_data()?;
        let mut upload = PoolUpload { device, buffers: &mut self.buffers };
        let replaced =
            self.pool.replace(handle, mesh.quads, &mesh.counts, mesh.draw_data, &mut upload);
        replaced.map_err(|error| self.buffers.explain(error))
    }

    pub(super) fn remove(&mut self, handle: MeshHandle) -> Result<(), RenderError> {
        self.pool.remove(handle).map_err(|_| RenderError::StaleMesh)
    }

    /// To be called before a frame: tells the pool which frames are done.
    pub(super) fn tidy<D: Device<Geometry = G>>(&mut self, device: &mut D) {
        let completed = device.completed();
        let mut upload = PoolUpload { device, buffers: &mut self.buffers };
        self.pool.frames_completed(completed, &mut upload);
    }

    /// To be called after a frame.
    pub(super) fn submitted(&mut self, frame: u64) {
        self.pool.frame_submitted(frame);
    }

    /// What draws the meshes that `view` sees, in order.
    pub(super) fn batches<D: Device<Geometry = G>>(
        &mut self,
        device: &mut D,
        view: &View,
        visibility: &Visibility,
    ) -> Vec<Batch<'_, G>> {
        let Self { buffers, pool, list } = self;
        let buffers = buffers.flush(device);
        list.mask(pool, |place| visible_parts(place, view, visibility));
        list.sort(pool, |place| visibility.blend_key(place));
        let (runs, commands) = list.runs(pool);
        let batch = |run: &CommandRun| {
            let geometry = buffers.get(run.buffer)?;
            Some(Batch::new(geometry, &commands[run.commands.clone()]).trusted())
        };
        runs.iter().filter_map(batch).collect()
    }

    /// How many meshes the last batches showed.
    pub(super) const fn visible(&self) -> usize {
        self.list.visible()
    }

    pub(super) fn command_count(&self) -> u64 {
        self.pool.command_count()
    }

    pub(super) fn stats(&self) -> PoolStats {
        self.pool.stats()
    }
}
