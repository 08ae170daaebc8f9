use bytemuck::Pod;
use drystone_pool::{Backend, DrawCommand, IndexedBackend, IndexedPool, IndexedRun, PoolConfig};

use crate::{
    elements::ElementBuffers,
    error::GpuError,
    frame_counter::FrameNumbers,
    gpu::Gpu,
    pool_buffers::FrameDraws,
    transfers::WriteMode,
    vertices::{VertexBuffers, VertexInput, fit},
};

/// The buffers of an [`IndexedPool`] on the caller's device: its [`IndexedBackend`], and the calls
/// that draw meshes with their own indices in the caller's render passes.
///
/// Cycle and costs of a frame are those of [`PoolBuffers`](crate::PoolBuffers). A run of commands
/// reads one buffer of vertices and one of indices.
///
/// # Examples
/// ```no_run
/// use drystone_pool::{IndexedList, IndexedPool, PartSet, PoolConfig};
/// use drystone_wgpu::{IndexedBuffers, VertexInput};
///
/// # fn draw(
/// #     device: &wgpu::Device, queue: &wgpu::Queue, pass: &mut wgpu::RenderPass<'_>,
/// # ) -> Result<(), Box<dyn std::error::Error>> {
/// let configs = [PoolConfig::default(), PoolConfig::default()];
/// let input = VertexInput::default();
/// let mut buffers = IndexedBuffers::new::<[f32; 3], [f32; 4]>(device, queue, configs, input)?;
/// let [vertices, indices] = buffers.pool_configs();
/// let mut pool = IndexedPool::<[f32; 3], [f32; 4]>::new(vertices, indices)?;
/// let corners = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
/// let mesh = pool.insert(&corners, &[0, 1, 2], &[3], [1.0; 4], &mut buffers)?;
/// let mut list = IndexedList::default();
/// list.insert(mesh);
/// buffers.draw(pass, list.select(&pool, |_| (PartSet::ALL, 0)))?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct IndexedBuffers {
    vertices: VertexBuffers,
    indices: ElementBuffers,
    configs: [PoolConfig; 2],
    draws: FrameDraws,
}

impl IndexedBuffers {
    /// Creates the buffers of a pool of vertices `V` with per-draw data `D`. `configs` are those of
    /// the vertices and of the indices. Limits beyond those of the device are lowered; create the
    /// pool with [`pool_configs`](Self::pool_configs).
    ///
    /// # Errors
    /// `Limit` if the device cannot bind a single vertex, `OutOfMemory`, `Lost` or `Refused`.
    pub fn new<V: Pod, D: Pod>(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        [vertices, indices]: [PoolConfig; 2],
        input: VertexInput,
    ) -> Result<Self, GpuError> {
        let (gpu, limits) = (Gpu::new(device, queue), device.limits());
        let sizes = [size_of::<V>(), size_of::<D>()];
        let configs = [
            fit(vertices, &limits, sizes, input)?,
            fit(indices, &limits, [size_of::<u32>(), 0], VertexInput::default())?,
        ];
        let vertices = VertexBuffers::new::<D>(&gpu, input)?;
        let indices = ElementBuffers::new(&gpu, "indices", wgpu::BufferUsages::INDEX);
        Ok(Self { vertices, indices, configs, draws: FrameDraws::new(&gpu) })
    }

    /// Configurations of vertices and of indices of a pool for these buffers, within the device's
    /// limits.
    pub fn pool_configs(&self) -> [PoolConfig; 2] {
        self.configs.clone()
    }

    /// Layout of the bind group with vertices (binding 0) and per-draw data (binding 1), for the
    /// caller's pipeline; `None` with [`VertexInput::Attributes`].
    pub const fn layout(&self) -> Option<&wgpu::BindGroupLayout> {
        self.vertices.layout()
    }

    /// Draws the commands that [`IndexedList::select`](drystone_pool::IndexedList::select) returned,
    /// with the pipeline and bind groups of the pass. Returns the number of draw calls.
    ///
    /// # Errors
    /// `NoSuchBuffer` for commands of another pool, `OutOfMemory`, `Lost` or `Refused`; also the error of
    /// a write that was not carried out since the last draw. Nothing, or only the first runs, are
    /// encoded then.
    pub fn draw(
        &mut self,
        pass: &mut wgpu::RenderPass<'_>,
        (runs, commands): (&[IndexedRun], &[DrawCommand]),
    ) -> Result<usize, GpuError> {
        let Self { vertices, indices, draws, .. } = self;
        vertices.begin()?;
        indices.flush()?;
        let calls = draws.upload(&indices.gpu, commands)?;
        let mut count = 0;
        for run in runs {
            vertices.bind(pass, run.vertices)?;
            let buffer = indices.get(run.indices)?;
            pass.set_index_buffer(buffer.slice(..), wgpu::IndexFormat::Uint32);
            count += calls.draw(pass, commands, run.commands.clone());
        }
        Ok(count)
    }

    /// Sets when writes of at most 64 KiB to pulled vertices and their per-draw data are carried out.
    /// With [`WriteMode::Gathered`], the next draw returns their errors instead of the pool.
    pub const fn set_write_mode(&mut self, mode: WriteMode) {
        self.vertices.elements.transfers.set_mode(mode);
    }

    /// Reports that a frame was submitted, and frees what completed frames have read. Call it after
    /// each submission that contains draws of this pool.
    pub fn submitted<V: Pod, D: Pod>(&mut self, pool: &mut IndexedPool<V, D>) {
        self.vertices.flush();
        // Writes to indices are not gathered, because shaders do not write index buffers.
        let _ = self.indices.flush();
        let FrameNumbers { submitted, completed } = self.draws.next_frame(&self.indices.gpu);
        pool.frame_submitted(submitted);
        pool.frames_completed(completed, self);
    }

    /// Numbers of the last submitted frame and of the last completed one.
    pub fn frames(&self) -> FrameNumbers {
        self.draws.frames()
    }

    /// Returns and clears the last error of the device during an operation of the pool.
    pub fn take_error(&mut self) -> Option<GpuError> {
        self.vertices.elements.failure.take().or_else(|| self.indices.failure.take())
    }
}

impl IndexedBackend for IndexedBuffers {
    fn vertices(&mut self) -> impl Backend {
        &mut self.vertices
    }

    fn indices(&mut self) -> impl Backend {
        &mut self.indices
    }
}
