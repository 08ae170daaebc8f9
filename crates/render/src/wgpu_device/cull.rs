//! Culling on the GPU, with two lists that together draw the exact picture.
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

mod pipelines;
mod pyramid;
mod readback;
mod region;

use self::{pipelines::CullPipelines, pyramid::Pyramid, readback::Readback, region::Region};
use super::{WgpuGeometry, adapter::Opened};
use crate::{
    cull::{CullCounts, CullFrame, CullTable, Culled},
    error::RenderError,
    passes::{Batch, Passes},
};

/// One of a frame's two lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    /// Meshes that were visible at the end of the last frame.
    Known,
    /// Meshes that have come into view.
    New,
}

impl List {
    /// Offset of the list's totals, in bytes. The first total is the number of commands.
    const fn totals_offset(self) -> u64 {
        match self {
            Self::Known => 0,
            Self::New => Region::LIST_BYTES,
        }
    }
}

/// Maximum number of commands of one call whose count is read by the GPU. Every driver with
/// multi-draw allows it. wgpu does not report the driver's own limit and does not check it.
const MAX_COUNTED: u32 = 65_535;

/// Resources for culling on the GPU, created when the first frame needs them.
pub(super) struct Culler {
    pipelines: CullPipelines,
    /// Contains the [`CullFrame`].
    frame: wgpu::Buffer,
    pyramid: Pyramid,
    /// Frame and pyramid, bound together.
    view_group: wgpu::BindGroup,
    /// Id of the table that the records belong to.
    table: u64,
    /// GPU data of each of the table's buffers.
    regions: Vec<Region>,
    readback: Readback,
    /// Maximum number of commands of a call whose count is read by the GPU; 0 if the GPU reads no
    /// counts.
    pub(super) max_counted: u32,
    /// Whether the GPU reads the number of commands in this frame. If not, the maximum number of
    /// commands is issued, and unused ones draw nothing.
    is_counted: bool,
}

/// Reason why a device cannot cull; `None` if it can.
pub(super) fn missing(opened: &Opened, indirect: bool) -> Option<&'static str> {
    let limits = opened.gpu.device.limits();
    if limits.max_compute_workgroups_per_dimension == 0 {
        Some("the adapter has no compute shaders")
    } else if !indirect {
        Some("indirect commands cannot contain a draw's slot")
    } else if limits.max_storage_buffers_per_shader_stage < pipelines::STORAGE_BUFFERS
        || limits.max_compute_invocations_per_workgroup < pipelines::WIDEST_WORKGROUP
    {
        Some("the adapter's compute shaders have too few buffers or lanes")
    } else {
        None
    }
}

impl Culler {
    /// Creates the resources for culling by the depth buffer `depth` of `size` pixels.
    pub(super) fn new(
        opened: &Opened,
        size: [u32; 2],
        depth: &wgpu::TextureView,
    ) -> Result<Self, RenderError> {
        use wgpu::BufferUsages as Usage;
        let pipelines = CullPipelines::new(&opened.gpu.device);
        let frame_bytes = size_of::<CullFrame>() as u64;
        let usage = Usage::UNIFORM | Usage::COPY_DST;
        let frame = opened.buffer("frame for culling", frame_bytes, usage)?;
        let pyramid = Pyramid::new(opened, &pipelines, size, depth)?;
        let view_group = view_group(opened, &pipelines, &frame, &pyramid);
        let counts = wgpu::Features::MULTI_DRAW_INDIRECT_COUNT;
        let max_counted =
            if opened.gpu.device.features().contains(counts) { MAX_COUNTED } else { 0 };
        Ok(Self {
            pipelines,
            frame,
            pyramid,
            view_group,
            table: 0,
            regions: Vec::new(),
            readback: Readback::default(),
            max_counted,
            is_counted: false,
        })
    }

    /// Whether the GPU reads the number of commands.
    pub(super) const fn is_counted(&self) -> bool {
        self.is_counted
    }

    /// Decides whether the GPU reads the numbers of commands, for all calls of a frame: those of
    /// the table's buffers and those of `batches`.
    fn decide_counting<'a>(
        &mut self,
        table: &CullTable,
        mut batches: impl Iterator<Item = &'a Batch<'a, WgpuGeometry>>,
    ) {
        let limit = u64::from(self.max_counted);
        self.is_counted = limit > 0
            && (0..table.buffers()).all(|buffer| table.max_commands(buffer) <= limit)
            && batches.all(|batch| batch.commands.len() as u64 <= limit);
    }

    /// Uploads the changes since the last frame: meshes, view, picture.
    pub(super) fn prepare(
        &mut self,
        opened: &Opened,
        (culled, passes): (&Culled<'_, WgpuGeometry>, &Passes<'_, WgpuGeometry>),
        size: [u32; 2],
        depth: &wgpu::TextureView,
    ) -> Result<(), RenderError> {
        self.decide_counting(culled.table, passes.batches());
        if !self.pyramid.is_of(depth) {
            self.pyramid = Pyramid::new(opened, &self.pipelines, size, depth)?;
            self.view_group = view_group(opened, &self.pipelines, &self.frame, &self.pyramid);
        }
        let table = culled.table;
        if self.table != table.id() {
            self.table = table.id();
            self.regions.clear();
        }
        self.regions.truncate(table.buffers());
        for buffer in 0..table.buffers() {
            if self.regions.get(buffer).is_none_or(|region| !region.fits(table, buffer)) {
                let region = Region::new(opened, &self.pipelines, table, buffer)?;
                match self.regions.get_mut(buffer) {
                    Some(old) => *old = region,
                    None => self.regions.push(region),
                }
            }
            let region = &mut self.regions[buffer];
            region.upload(&opened.gpu.queue, table, buffer, !self.is_counted);
        }
        opened.gpu.queue.write_buffer(&self.frame, 0, bytemuck::bytes_of(&culled.frame));
        Ok(())
    }

    /// Encodes the compute pass that builds a list of commands. [`List::New`] is culled by the
    /// depth of the meshes in [`List::Known`].
    pub(super) fn encode(&self, encoder: &mut wgpu::CommandEncoder, list: List) {
        if list == List::Known {
            for region in &self.regions {
                encoder.clear_buffer(&region.totals, 0, None);
            }
        }
        let mut pass = encoder.begin_compute_pass(&Default::default());
        if list == List::New {
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
    }

    /// Draws a computed list with one call for each buffer.
    pub(super) fn draw(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        culled: &Culled<'_, WgpuGeometry>,
        list: List,
    ) {
        for (region, geometry) in self.regions.iter().zip(culled.geometries) {
            let Some(geometry) = geometry else { continue };
            let max_commands = region.max_commands();
            if max_commands == 0 {
                continue;
            }
            pass.set_bind_group(1, &geometry.bind_group, &[]);
            if self.is_counted {
                let (totals, offset_bytes) = (&region.totals, list.totals_offset());
                let commands = &region.commands;
                pass.multi_draw_indexed_indirect_count(
                    commands,
                    0,
                    totals,
                    offset_bytes,
                    max_commands,
                );
            } else {
                pass.multi_draw_indexed_indirect(&region.commands, 0, max_commands);
            }
        }
    }

    /// Encodes a copy of this frame's totals to memory that the CPU can read, unless too many
    /// frames are in flight.
    pub(super) fn encode_readback(
        &mut self,
        opened: &Opened,
        encoder: &mut wgpu::CommandEncoder,
        frame: u64,
    ) -> Result<(), RenderError> {
        self.readback.encode(opened, encoder, &self.regions, frame)
    }

    /// Must be called when the frame is submitted.
    pub(super) fn submitted(&mut self) {
        self.readback.request();
    }

    /// Counts of the last frame whose totals have arrived. They arrive while the device is polled.
    pub(super) fn counts(&mut self) -> Option<CullCounts> {
        self.readback.collect()
    }
}

/// Checks that every record stays within its geometry, which the GPU does not check.
pub(super) fn check(culled: &Culled<'_, WgpuGeometry>) -> Result<(), RenderError> {
    let geometry = |buffer: usize| culled.geometries.get(buffer).copied().flatten();
    let reaches_outside = |buffer: usize| {
        let [quads, slots] = geometry(buffer)
            .map_or([0; 2], |geometry| [geometry.capacity, geometry.slot_capacity()]);
        culled.table.records(buffer).iter().position(|record| {
            let end = u64::from(record.first_quad) + u64::from(record.ends[5]);
            end > u64::from(quads) || record.slot >= slots || !record.ends.is_sorted()
        })
    };
    for buffer in 0..culled.table.buffers() {
        if let Some(index) = reaches_outside(buffer) {
            let record = culled.table.records(buffer)[index];
            return Err(RenderError::Device {
                during: "checking meshes to cull",
                reason: format!("a mesh reaches outside buffer {buffer}: {record:?}"),
            });
        }
    }
    Ok(())
}

fn view_group(
    opened: &Opened,
    pipelines: &CullPipelines,
    frame: &wgpu::Buffer,
    pyramid: &Pyramid,
) -> wgpu::BindGroup {
    let buffers = [frame, &pyramid.levels, &pyramid.texels];
    pipelines::bind_buffers(&opened.gpu.device, &pipelines.view_layout, &buffers)
}

#[cfg(test)]
mod tests;
