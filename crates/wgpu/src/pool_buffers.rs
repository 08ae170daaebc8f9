use std::iter::once;

use bytemuck::Pod;
use drystone_mesh::quad_index_pattern;
use drystone_pool::{
    Access, Backend, BackendError, CommandRun, DrawCommand, PoolConfig, VertexPool,
};

use crate::{
    cull::{CullList, Culler},
    draws::{CallSource, CommandUpload},
    error::GpuError,
    frame_counter::{FrameCounter, FrameNumbers},
    gpu::Gpu,
    transfers::WriteMode,
    vertices::{VertexBuffers, VertexInput, fit},
};

/// The buffers of a [`VertexPool`] on the caller's device: its [`Backend`], and the calls that draw
/// it in the caller's render passes.
///
/// ```text
///  pool.insert(…, &mut buffers)  ──► vertex buffers, per-draw data      (before the first draw)
///  buffers.draw(&mut pass, list.runs(&pool))  ──► commands ──► one indirect call a run
///  queue.submit(…)
///  buffers.submitted(&mut pool)  ──► frame numbers: what may be reused
/// ```
/// The pool must not change between the first [`draw`](Self::draw) of a frame and
/// [`submitted`](Self::submitted): its writes take effect before the submission, and would change
/// ranges that the encoded commands read.
///
/// # Cost
/// A draw uploads 20 bytes a command and encodes one call for each run of commands. Without indirect
/// first instance, on Direct3D 12 and in browsers, it encodes one call for each command. A write is a
/// `Queue::write_buffer`, unless [writes are gathered](Self::set_write_mode). Moves are gathered in one
/// encoder, and submitted before the next write or draw.
///
/// # Examples
/// The crate's documentation has a complete program.
#[derive(Debug)]
pub struct PoolBuffers {
    vertices: VertexBuffers,
    pattern: wgpu::Buffer,
    config: PoolConfig,
    draws: FrameDraws,
}

impl PoolBuffers {
    /// Creates the buffers of a pool of elements `V` with per-draw data `D`, and uploads its index
    /// pattern. Limits of `config` beyond those of the device are lowered; create the pool with
    /// [`pool_config`](Self::pool_config).
    ///
    /// # Errors
    /// `Limit` if the device cannot bind a single element, `NoPattern`, `OutOfMemory`, `Lost` or
    /// `Refused`.
    pub fn new<V: Pod, D: Pod>(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        config: PoolConfig,
        input: VertexInput,
    ) -> Result<Self, GpuError> {
        let gpu = Gpu::new(device, queue);
        let config = fit(config, &device.limits(), [size_of::<V>(), size_of::<D>()], input)?;
        let vertices = VertexBuffers::new::<D>(&gpu, input)?;
        let pattern = index_pattern(&gpu, &config)?;
        Ok(Self { vertices, pattern, config, draws: FrameDraws::new(&gpu) })
    }

    /// Configuration of a pool for these buffers, within the device's limits.
    pub fn pool_config(&self) -> PoolConfig {
        self.config.clone()
    }

    /// Layout of the bind group with elements (binding 0) and per-draw data (binding 1), for the
    /// caller's pipeline; `None` with [`VertexInput::Attributes`].
    pub const fn layout(&self) -> Option<&wgpu::BindGroupLayout> {
        self.vertices.layout()
    }

    /// Draws the commands of a list or view with the pipeline and bind groups of the pass:
    /// `buffers.draw(&mut pass, view.runs(&list, &pool))`. Sets index buffer and vertex buffers, or
    /// the bind group. Returns the number of draw calls.
    ///
    /// # Errors
    /// `NoSuchBuffer` for commands of another pool, `OutOfMemory`, `Lost` or `Refused`; also the error of
    /// a write that was not carried out since the last draw. Nothing, or only the first runs, are
    /// encoded then.
    pub fn draw(
        &mut self,
        pass: &mut wgpu::RenderPass<'_>,
        (runs, commands): (&[CommandRun], &[DrawCommand]),
    ) -> Result<usize, GpuError> {
        let Self { vertices, pattern, draws, .. } = self;
        vertices.begin()?;
        pass.set_index_buffer(pattern.slice(..), wgpu::IndexFormat::Uint32);
        let calls = draws.upload(&vertices.elements.gpu, commands)?;
        let mut count = 0;
        for run in runs {
            vertices.bind(pass, run.buffer)?;
            count += calls.draw(pass, commands, run.commands.clone());
        }
        Ok(count)
    }

    /// Draws a list of a [`Culler`] of this pool's meshes with the pipeline and bind groups of the
    /// pass. Sets index buffer and vertex buffers, or the bind group. Returns the number of draw
    /// calls: one for each buffer with meshes.
    ///
    /// # Errors
    /// `NoSuchBuffer` for a table of another pool, or with meshes that were removed from the pool;
    /// `OutOfMemory`, `Lost` or `Refused`; also the error of a write that was not carried out since
    /// the last draw. Nothing, or only the first calls, are encoded then.
    pub fn draw_culled(
        &mut self,
        pass: &mut wgpu::RenderPass<'_>,
        culler: &Culler,
        list: CullList,
    ) -> Result<usize, GpuError> {
        let Self { vertices, pattern, .. } = self;
        vertices.begin()?;
        pass.set_index_buffer(pattern.slice(..), wgpu::IndexFormat::Uint32);
        culler.draw(pass, list, |pass, buffer| vertices.bind(pass, buffer).map(|()| true))
    }

    /// Sets when writes of at most 64 KiB to pulled vertices and their per-draw data are carried out.
    /// With [`WriteMode::Gathered`], the next draw returns their errors instead of the pool.
    pub const fn set_write_mode(&mut self, mode: WriteMode) {
        self.vertices.elements.transfers.set_mode(mode);
    }

    /// Reports that a frame was submitted, and frees what completed frames have read. Call it after
    /// each submission that contains draws of this pool.
    pub fn submitted<V: Pod, D: Pod>(&mut self, pool: &mut VertexPool<V, D>) {
        self.vertices.flush();
        let FrameNumbers { submitted, completed } =
            self.draws.next_frame(&self.vertices.elements.gpu);
        pool.frame_submitted(submitted);
        pool.frames_completed(completed, self);
    }

    /// Numbers of the last submitted frame and of the last completed one. wgpu notices completed
    /// frames while work is submitted or the device is polled.
    pub fn frames(&self) -> FrameNumbers {
        self.draws.frames()
    }

    /// Returns and clears the last error of the device during an operation of the pool. The pool
    /// itself only reports whether the device was lost or out of memory.
    pub const fn take_error(&mut self) -> Option<GpuError> {
        self.vertices.elements.failure.take()
    }
}

impl Backend for PoolBuffers {
    fn access(&self) -> Access {
        self.vertices.access()
    }

    fn create_buffer(&mut self, buffer: u32, size_bytes: u64) -> Result<(), BackendError> {
        self.vertices.create_buffer(buffer, size_bytes)
    }

    fn destroy_buffer(&mut self, buffer: u32) {
        self.vertices.destroy_buffer(buffer);
    }

    fn write_elements(
        &mut self,
        buffer: u32,
        offset_bytes: u64,
        bytes: &[u8],
    ) -> Result<(), BackendError> {
        self.vertices.write_elements(buffer, offset_bytes, bytes)
    }

    fn copy_elements(
        &mut self,
        from: (u32, u64),
        to: (u32, u64),
        size_bytes: u64,
    ) -> Result<(), BackendError> {
        self.vertices.copy_elements(from, to, size_bytes)
    }

    fn resize_draw_data(&mut self, slots: u32) -> Result<(), BackendError> {
        self.vertices.resize_draw_data(slots)
    }

    fn write_draw_data(&mut self, slot: u32, bytes: &[u8]) {
        self.vertices.write_draw_data(slot, bytes);
    }
}

/// Commands and numbers of a pool's frames.
#[derive(Debug)]
pub(crate) struct FrameDraws {
    commands: CommandUpload,
    counter: FrameCounter,
    is_indirect: bool,
}

/// Uploaded commands, or none if each is a call.
pub(crate) struct Calls<'a>(Option<(&'a wgpu::Buffer, u64)>);

impl FrameDraws {
    pub(crate) fn new(gpu: &Gpu) -> Self {
        let is_indirect = gpu.draws_indirectly();
        Self { commands: CommandUpload::default(), counter: FrameCounter::default(), is_indirect }
    }

    /// Uploads commands if the device reads them.
    pub(crate) fn upload(
        &mut self,
        gpu: &Gpu,
        commands: &[DrawCommand],
    ) -> Result<Calls<'_>, GpuError> {
        if !self.is_indirect || commands.is_empty() {
            return Ok(Calls(None));
        }
        Ok(Calls(Some(self.commands.push(gpu, once(bytemuck::cast_slice(commands)))?)))
    }

    /// Counts a submitted frame. Returns its number and that of the last completed one.
    pub(crate) fn next_frame(&mut self, gpu: &Gpu) -> FrameNumbers {
        self.commands.restart();
        self.counter.count(&gpu.queue);
        self.frames()
    }

    pub(crate) fn frames(&self) -> FrameNumbers {
        let (submitted, completed) = (self.counter.submitted(), self.counter.completed());
        FrameNumbers { submitted, completed }
    }
}

impl Calls<'_> {
    /// Draws a range of the uploaded commands. Returns the number of calls.
    pub(crate) fn draw(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        commands: &[DrawCommand],
        range: std::ops::Range<usize>,
    ) -> usize {
        let source = match self.0 {
            Some((buffer, offset_bytes)) => {
                let start_bytes = (range.start * size_of::<DrawCommand>()) as u64;
                CallSource::Indirect(buffer, offset_bytes + start_bytes)
            }
            None => CallSource::Single,
        };
        source.draw(pass, &commands[range])
    }
}

/// Uploads the index pattern that all elements of a pool share.
fn index_pattern(gpu: &Gpu, config: &PoolConfig) -> Result<wgpu::Buffer, GpuError> {
    let elements = config.pattern_elements.min(config.max_buffer_elements).max(1);
    let indices: Vec<u32> = match (config.indices_per_element, config.vertices_per_element) {
        (6, 4) => return quad_pattern(gpu, elements),
        (indices, vertices) if indices == vertices && indices > 0 => {
            (0..elements.saturating_mul(indices)).collect()
        }
        (indices, vertices) => return Err(GpuError::NoPattern { indices, vertices }),
    };
    pattern_buffer(gpu, &indices)
}

/// Uploads the index pattern of this number of quads.
///
/// # Errors
/// The errors of [`Gpu::buffer`].
pub fn quad_pattern(gpu: &Gpu, quads: u32) -> Result<wgpu::Buffer, GpuError> {
    pattern_buffer(gpu, &quad_index_pattern(quads))
}

fn pattern_buffer(gpu: &Gpu, indices: &[u32]) -> Result<wgpu::Buffer, GpuError> {
    gpu.filled_buffer("the index pattern", bytemuck::cast_slice(indices), wgpu::BufferUsages::INDEX)
}
