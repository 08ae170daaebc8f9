//! Culling on the GPU: in one list, or by depth in two lists that together draw the exact picture.
//!
//! ```text
//! seen in the last frame ─► judge ─► scan ─► emit ─► draw ─► depth ─► pyramid
//! everything in view ─────► judge by the pyramid ─► scan ─► emit ─► draw the rest
//! └─► seen in this frame
//! ```
//! A mesh that was visible in the last frame is probably still visible. Such meshes are drawn
//! first, and their depth culls all others. Only meshes wholly behind that depth are left out, so
//! the picture is always complete: a bad guess costs time, never a pixel.
//!
//! Offsets of commands are computed by prefix sums, within a workgroup and across. So the same
//! scene always gives the same commands in the same order: bin by bin of distance, near ones first.

mod bounds;
mod pipelines;
mod pyramid;
mod readback;
mod region;
mod table;
mod view;

use std::iter::once;

use bytemuck::Pod;
use drystone_pool::VertexPool;

pub use self::{
    bounds::CullBounds,
    pyramid::CullDepth,
    readback::CullCounts,
    table::{CullMirror, CullTable},
    view::{CullOrder, CullView},
};

use self::{
    pipelines::CullPipelines,
    pyramid::Pyramid,
    readback::Readback,
    region::Region,
    table::{Entries, Source},
};
use crate::{
    error::GpuError,
    gpu::Gpu,
    transfers::{Transfers, WriteMode},
    vertices::expect_limit,
};

const CULLING: &str = "culling on the GPU";
const VIEW: &str = "the view for culling";

/// One of the lists of commands that a [`Culler`] makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CullList {
    /// Everything in view. The only list of a frame that is not culled by depth.
    All,
    /// The first list of a frame that is culled by depth: meshes that were visible at the end of the
    /// last frame.
    Known,
    /// The second list of a frame that is culled by depth: meshes that have come into view, tested
    /// against the depth of the first list.
    New,
}

impl CullList {
    /// Offset of the list's totals, in bytes. The first total is the number of commands.
    const fn totals_offset(self) -> u64 {
        match self {
            Self::All | Self::Known => 0,
            Self::New => Region::LIST_BYTES,
        }
    }
}

/// Culls the meshes of a [`CullTable`] for one view, and draws what is left, without the CPU.
///
/// ```text
///  culler.prepare(&table, &pool, &view)       uploads changed meshes and the view
///  culler.encode(&mut encoder, CullList::All) compute pass: commands and their number
///  buffers.draw_culled(&mut pass, &culler, CullList::All)   one indirect call a buffer
/// ```
/// To leave out hidden meshes too, call [`prepare_by_depth`](Self::prepare_by_depth), then encode and
/// draw [`CullList::Known`] in a render pass that clears the depth, and [`CullList::New`] in a pass that
/// loads it. The picture is the same.
///
/// A second view in the same frame needs a second culler.
///
/// # Cost
/// The CPU uploads 304 bytes a frame, and 76 bytes for each changed mesh; after more than 1,024 changes in
/// a buffer, the blocks of 64 meshes that contain one. 16 or more ranges of changed meshes are submitted
/// by themselves, from a staging buffer of 1 MiB or more. The GPU reads 76 bytes for each mesh in three or six dispatches for each buffer. Memory: about 110 bytes
/// for each mesh, and with depth a third of the bytes of the depth attachment.
///
/// # Examples
/// ```no_run
/// use drystone_pool::{MeshHandle, VertexPool};
/// use drystone_wgpu::{CullBounds, CullList, CullTable, CullView, Culler, GpuError, PoolBuffers};
///
/// # fn frame(
/// #     device: &wgpu::Device, queue: &wgpu::Queue, pool: &mut VertexPool<u64, [f32; 3]>,
/// #     buffers: &mut PoolBuffers, mesh: MeshHandle, clip_from_world: [[f32; 4]; 4],
/// #     pass_descriptor: &wgpu::RenderPassDescriptor<'_>,
/// # ) -> Result<(), GpuError> {
/// // Once.
/// let mut culler = Culler::new(device, queue)?;
/// let mut table = CullTable::new(&buffers.pool_config(), |_, low: &[f32; 3]| {
///     CullBounds::new(*low, low.map(|coordinate| coordinate + 8.0))
/// });
/// // For each mesh that is inserted or replaced.
/// table.set(pool, mesh);
/// // For each frame.
/// let mut encoder = device.create_command_encoder(&Default::default());
/// culler.prepare(&table, pool, &CullView::new(clip_from_world))?;
/// culler.encode(&mut encoder, CullList::All)?;
/// let mut pass = encoder.begin_render_pass(pass_descriptor);
/// buffers.draw_culled(&mut pass, &culler, CullList::All)?;
/// drop(pass);
/// queue.submit([encoder.finish()]);
/// buffers.submitted(pool);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Culler {
    gpu: Gpu,
    pipelines: CullPipelines,
    /// Contains the [`CullView`].
    view: wgpu::Buffer,
    pyramid: Pyramid,
    /// View and pyramid, bound together.
    view_group: wgpu::BindGroup,
    /// Id of the table that the records belong to.
    table: u64,
    /// GPU data of each of the table's buffers.
    regions: Vec<Region>,
    transfers: Transfers,
    readback: Readback,
    max_counted: u32,
    /// Whether the GPU reads the number of commands in this frame. If not, the maximum number of
    /// commands is issued, and unused ones draw nothing.
    is_counted: bool,
    /// Whether this frame is culled by depth.
    has_depth: bool,
}

impl Culler {
    /// Maximum number of commands of one call whose count is read by the GPU. Every driver with
    /// multi-draw allows it. wgpu does not report the driver's own limit and does not check it.
    pub const MAX_COUNTED: u32 = 65_535;

    /// Creates a culler on a device that [can cull](Self::check).
    ///
    /// # Errors
    /// The errors of [`check`](Self::check); `OutOfMemory`, `Lost` or `Refused`.
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Result<Self, GpuError> {
        Self::check(device)?;
        let gpu = Gpu::new(device, queue);
        let pipelines =
            gpu.scope(("the pipelines of culling", 0), || CullPipelines::new(device))?;
        let view = view_buffer(&gpu)?;
        let pyramid = Pyramid::empty(&gpu)?;
        let view_group = pipelines.bind_view(&gpu, [&view, &pyramid.levels, &pyramid.texels])?;
        let is_software = device.adapter_info().device_type == wgpu::DeviceType::Cpu;
        let mut culler = Self {
            gpu,
            pipelines,
            view,
            pyramid,
            view_group,
            table: 0,
            regions: Vec::new(),
            transfers: Transfers::new(WriteMode::Gathered),
            readback: Readback::default(),
            max_counted: 0,
            is_counted: false,
            has_depth: false,
        };
        culler.set_max_counted(if is_software { 0 } else { Self::MAX_COUNTED });
        Ok(culler)
    }

    /// Checks whether a device can cull.
    ///
    /// # Errors
    /// `Limit` if a limit of compute shaders is too low; `Unsupported` if indirect commands cannot
    /// contain a draw's slot: without `INDIRECT_FIRST_INSTANCE`, on Direct3D 12 and in browsers.
    pub fn check(device: &wgpu::Device) -> Result<(), GpuError> {
        let limits = device.limits();
        for (limit, needed, allowed) in [
            (
                "max_compute_workgroups_per_dimension",
                1,
                limits.max_compute_workgroups_per_dimension,
            ),
            (
                "max_storage_buffers_per_shader_stage",
                pipelines::STORAGE_BUFFERS,
                limits.max_storage_buffers_per_shader_stage,
            ),
            (
                "max_compute_invocations_per_workgroup",
                pipelines::WIDEST_WORKGROUP,
                limits.max_compute_invocations_per_workgroup,
            ),
            (
                "max_compute_workgroup_size_x",
                pipelines::WIDEST_WORKGROUP,
                limits.max_compute_workgroup_size_x,
            ),
        ] {
            expect_limit(limit, CULLING, needed.into(), allowed.into())?;
        }
        if Gpu::draws_indirectly_on(device) {
            return Ok(());
        }
        let reason = "indirect commands cannot contain a draw's slot";
        Err(GpuError::Unsupported { what: CULLING, reason })
    }

    /// Sets the maximum number of commands of a call whose count is read by the GPU. Calls of more
    /// commands issue all of them, and unused ones draw nothing. 0 if the device was created without
    /// `MULTI_DRAW_INDIRECT_COUNT`.
    ///
    /// Default: 0 on software drivers, else [`MAX_COUNTED`](Self::MAX_COUNTED). Mesa's lavapipe (22.3)
    /// also uses the count of one call for the indirect calls after it, and skips their commands.
    pub fn set_max_counted(&mut self, max_counted: u32) {
        let features = self.gpu.device.features();
        let can_count = features.contains(wgpu::Features::MULTI_DRAW_INDIRECT_COUNT);
        self.max_counted = if can_count { max_counted } else { 0 };
    }

    /// Uploads the meshes that have changed and the view of the next frame, in queue order. `pool` is the
    /// pool of the table's meshes. The table must have been updated with every change of the pool.
    ///
    /// # Errors
    /// `OtherPool`; `Limit` for more meshes in one buffer than the device culls, `OutOfMemory`, `Lost` or
    /// `Refused`. Draw on the CPU then, with [`CullView::visible_parts`] as mask.
    pub fn prepare<V: Pod, D: Pod>(
        &mut self,
        table: &CullTable<D>,
        pool: &VertexPool<V, D>,
        view: &CullView,
    ) -> Result<(), GpuError> {
        self.has_depth = false;
        table.read(pool, |source| self.prepare_source(source, view, None))
    }

    /// Uploads the next frame like [`prepare`](Self::prepare), to be culled by this depth attachment.
    ///
    /// # Errors
    /// The errors of [`prepare`](Self::prepare); `Unsupported` if shaders cannot read the depth;
    /// `Limit` for a picture that is too large.
    pub fn prepare_by_depth<V: Pod, D: Pod>(
        &mut self,
        table: &CullTable<D>,
        pool: &VertexPool<V, D>,
        view: &CullView,
        depth: CullDepth<'_>,
    ) -> Result<(), GpuError> {
        self.has_depth = false;
        table.read(pool, |source| self.prepare_source(source, view, Some(depth)))
    }

    fn prepare_source(
        &mut self,
        source: &Source<'_>,
        view: &CullView,
        depth: Option<CullDepth<'_>>,
    ) -> Result<(), GpuError> {
        if let Some(depth) = depth {
            depth.check()?;
            if self.pyramid.size() != depth.size {
                self.pyramid = Pyramid::new(&self.gpu, depth.size)?;
                self.bind_view()?;
            }
            self.pyramid.set_depth(&self.gpu, &self.pipelines, depth.view)?;
        }
        self.upload(source, view)?;
        self.has_depth = depth.is_some();
        Ok(())
    }

    fn upload(&mut self, source: &Source<'_>, view: &CullView) -> Result<(), GpuError> {
        let entries = source.entries;
        let limit = u64::from(self.max_counted);
        self.is_counted =
            limit > 0 && (0..entries.buffers()).all(|buffer| entries.max_commands(buffer) <= limit);
        if self.table != entries.id() {
            self.table = entries.id();
            self.regions.clear();
        }
        let created = self.create_regions(entries);
        if let Err(error) = self.upload_records(source) {
            // Records can be missing in any of them.
            self.regions.clear();
            return Err(error);
        }
        created?;
        let view = CullView { clear_rest: (!self.is_counted).into(), ..*view };
        self.gpu.write(VIEW, &self.view, 0, once(bytemuck::bytes_of(&view)))
    }

    /// Creates the regions that are missing or have the wrong size. After an error, that region and those
    /// of later buffers are missing.
    fn create_regions(&mut self, entries: &Entries) -> Result<(), GpuError> {
        let mut old = std::mem::take(&mut self.regions).into_iter();
        for buffer in 0..entries.buffers() {
            let region = match old.next() {
                Some(region) if region.fits(entries, buffer) => region,
                _ => Region::new(&self.gpu, &self.pipelines, entries, buffer)?,
            };
            self.regions.push(region);
        }
        Ok(())
    }

    fn upload_records(&mut self, source: &Source<'_>) -> Result<(), GpuError> {
        let mut regions = self.regions.iter_mut().enumerate();
        let uploaded = regions.try_for_each(|(buffer, region)| {
            region.upload(&self.gpu, &mut self.transfers, source, buffer)
        });
        // Also after an error, so that no write waits for a later frame.
        let flushed = self.transfers.flush(&self.gpu);
        uploaded.and(flushed)
    }

    /// Keeps the view of frames that are encoded but not submitted: the next call of
    /// [`prepare`](Self::prepare) writes to another buffer. Meshes must not change before these frames
    /// are submitted.
    ///
    /// # Errors
    /// `OutOfMemory`, `Lost` or `Refused`.
    pub fn renew(&mut self) -> Result<(), GpuError> {
        self.view = view_buffer(&self.gpu)?;
        self.bind_view()
    }

    fn bind_view(&mut self) -> Result<(), GpuError> {
        let Self { gpu, pipelines, view, pyramid, .. } = self;
        self.view_group = pipelines.bind_view(gpu, [view, &pyramid.levels, &pyramid.texels])?;
        Ok(())
    }

    /// Encodes the compute pass that makes a list of commands. Encode [`CullList::New`] after the
    /// render pass that draws [`CullList::Known`].
    ///
    /// # Errors
    /// `Unsupported` for the lists of a frame that is culled by depth, if the frame is not.
    pub fn encode(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        list: CullList,
    ) -> Result<(), GpuError> {
        if list != CullList::All && !self.has_depth {
            let reason = "the frame was prepared without a depth attachment";
            return Err(GpuError::Unsupported { what: "culling by depth", reason });
        }
        if list != CullList::New {
            for region in &self.regions {
                encoder.clear_buffer(&region.totals, 0, None);
            }
        }
        let mut pass = encoder.begin_compute_pass(&Default::default());
        if list == CullList::New {
            self.pyramid.encode(&mut pass, &self.pipelines);
        }
        pass.set_bind_group(0, &self.view_group, &[]);
        let [judge, scan, emit] = self.pipelines.of(list);
        // Stage by stage over all regions, so that they need not wait for each other.
        for (pipeline, is_scan) in [(judge, false), (scan, true), (emit, false)] {
            pass.set_pipeline(pipeline);
            for region in self.regions.iter().filter(|region| region.workgroups() > 0) {
                pass.set_bind_group(1, &region.group, &[]);
                let workgroups = if is_scan { 1 } else { region.workgroups() };
                pass.dispatch_workgroups(workgroups, 1, 1);
            }
        }
        Ok(())
    }

    /// Draws an encoded list with the state of the pass. `bind` binds the buffer with this number; if
    /// it returns `false`, the buffer's meshes are not drawn. Returns the number of calls.
    /// [`PoolBuffers::draw_culled`](crate::PoolBuffers::draw_culled) calls it.
    ///
    /// # Errors
    /// The first error of `bind`. Only the first calls are encoded then.
    pub fn draw<E>(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        list: CullList,
        mut bind: impl FnMut(&mut wgpu::RenderPass<'_>, u32) -> Result<bool, E>,
    ) -> Result<usize, E> {
        let mut calls = 0;
        for (buffer, region) in (0..).zip(&self.regions) {
            let max_commands = region.max_commands();
            if max_commands == 0 || !bind(pass, buffer)? {
                continue;
            }
            let commands = &region.commands;
            if self.is_counted {
                let (totals, at) = (&region.totals, list.totals_offset());
                pass.multi_draw_indexed_indirect_count(commands, 0, totals, at, max_commands);
            } else {
                pass.multi_draw_indexed_indirect(commands, 0, max_commands);
            }
            calls += 1;
        }
        Ok(calls)
    }

    /// Whether the GPU reads the number of commands in this frame.
    pub const fn is_counted(&self) -> bool {
        self.is_counted
    }

    /// Encodes a copy of this frame's counts to memory that the CPU can read, unless four frames are in
    /// flight. `frame` is the caller's number of the frame.
    ///
    /// # Errors
    /// `OutOfMemory` or `Lost`.
    pub fn encode_counts(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        frame: u64,
    ) -> Result<(), GpuError> {
        self.readback.encode(&self.gpu, encoder, &self.regions, frame)
    }

    /// Counts of the last frame whose counts have arrived. They arrive while the device is polled.
    pub fn counts(&mut self) -> Option<CullCounts> {
        self.readback.collect()
    }
}

fn view_buffer(gpu: &Gpu) -> Result<wgpu::Buffer, GpuError> {
    let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
    gpu.buffer(VIEW, size_of::<CullView>() as u64, usage)
}

#[cfg(test)]
mod tests;
