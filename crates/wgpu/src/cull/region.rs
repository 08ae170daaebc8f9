//! GPU data for the meshes of one buffer: records in, commands out.

use std::iter::once;

use drystone_pool::DrawCommand;

use super::{
    bounds::CullRecord,
    pipelines::{self, CullPipelines},
    table::{Entries, Source},
    view::CullView,
};
use crate::{error::GpuError, gpu::Gpu, transfers::Transfers};

const INFO: &str = "the numbers of meshes to cull";
const RECORDS: &str = "the meshes to cull";

/// Number of records that one workgroup processes.
const LANES: u64 = 64;

/// The records of one buffer on the GPU, and the results of culling them.
#[derive(Debug)]
pub(super) struct Region {
    info: wgpu::Buffer,
    records: wgpu::Buffer,
    /// Numbers of commands, meshes and elements of each list.
    pub(super) totals: wgpu::Buffer,
    pub(super) commands: wgpu::Buffer,
    pub(super) group: wgpu::BindGroup,
    record_capacity: u64,
    command_capacity: u64,
    uploaded: Option<Info>,
    /// Revision of the buffer's records at the last upload.
    revision: u64,
}

/// Uniform data of a region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Info {
    records: u32,
    workgroups: u32,
    commands: u32,
    pattern_elements: u32,
    indices_per_element: u32,
    vertices_per_element: u32,
}

const _: () = assert!(size_of::<Info>() == 24);

impl Region {
    /// Size of one list's totals in bytes: commands, meshes, elements, and four unused bytes.
    pub(super) const LIST_BYTES: u64 = 16;
    /// Size of both lists' totals in bytes.
    pub(super) const TOTALS_BYTES: u64 = 2 * Self::LIST_BYTES;

    /// Creates a region with capacity for a buffer's records and half as many more, within the
    /// device's limits.
    ///
    /// # Errors
    /// `Limit` when the records themselves exceed the limits, `OutOfMemory`, `Lost` or `Refused`.
    pub(super) fn new(
        gpu: &Gpu,
        pipelines: &CullPipelines,
        entries: &Entries,
        buffer: usize,
    ) -> Result<Self, GpuError> {
        use wgpu::BufferUsages as Usage;
        let [records, commands] = needed(entries, buffer);
        let limits = gpu.device.limits();
        let limit = u64::from(limits.max_compute_workgroups_per_dimension) * LANES;
        if records > limit {
            return Err(GpuError::Limit {
                limit: "max_compute_workgroups_per_dimension",
                what: "culling the meshes of one buffer",
                needed: records.div_ceil(LANES),
                allowed: limit / LANES,
            });
        }
        let binding_bytes = limits.max_buffer_size.min(limits.max_storage_buffer_binding_size);
        let max_records = limit.min(binding_bytes / size_of::<CullRecord>() as u64);
        let record_capacity = capacity(records, max_records).next_multiple_of(LANES);
        let command_capacity = capacity(commands, binding_bytes / size_of::<DrawCommand>() as u64);
        let storage = |label, size_bytes: u64, also: Usage| {
            gpu.buffer(label, size_bytes, Usage::STORAGE | also)
        };
        let info_usage = Usage::UNIFORM | Usage::COPY_DST;
        let info_bytes = size_of::<Info>() as u64;
        let info = gpu.buffer(INFO, info_bytes, info_usage)?;
        let records_bytes = record_capacity * size_of::<CullRecord>() as u64;
        let records = storage(RECORDS, records_bytes, Usage::COPY_DST)?;
        let none = Usage::empty();
        let seen = storage("the meshes seen", record_capacity * 4, none)?;
        let verdicts = storage("the verdicts on meshes", record_capacity * 4, none)?;
        let counter_count = record_capacity / LANES * u64::from(CullView::BINS);
        let counters = storage("the counts of commands", counter_count * 4, none)?;
        let totals_usage = Usage::INDIRECT | Usage::COPY_SRC | Usage::COPY_DST;
        let totals = storage("the totals of commands", Self::TOTALS_BYTES, totals_usage)?;
        let commands_bytes = command_capacity * size_of::<DrawCommand>() as u64;
        let commands_usage = Usage::INDIRECT | Usage::COPY_SRC;
        let commands = storage("the commands made on the GPU", commands_bytes, commands_usage)?;
        let buffers = [&info, &records, &seen, &verdicts, &counters, &totals, &commands];
        let group = pipelines::bind_buffers(gpu, &pipelines.region_layout, buffers)?;
        Ok(Self {
            info,
            records,
            totals,
            commands,
            group,
            record_capacity,
            command_capacity,
            uploaded: None,
            revision: 0,
        })
    }

    /// Whether a buffer's records and commands fit the region without wasting most of its capacity.
    pub(super) fn fits(&self, entries: &Entries, buffer: usize) -> bool {
        /// A capacity up to which the region is not shrunk.
        const SMALL: u64 = 1024;
        let fits = |needed: u64, capacity: u64| {
            needed <= capacity && (capacity <= SMALL || needed >= capacity / 4)
        };
        let [records, commands] = needed(entries, buffer);
        fits(records, self.record_capacity) && fits(commands, self.command_capacity)
    }

    /// Adds the records that have changed to `transfers`.
    ///
    /// # Errors
    /// The errors of [`Transfers::write`]. After one, or after an error of flushing `transfers`, records
    /// can be missing: create the region again.
    pub(super) fn upload(
        &mut self,
        gpu: &Gpu,
        transfers: &mut Transfers,
        source: &Source<'_>,
        buffer: usize,
    ) -> Result<(), GpuError> {
        let entries = source.entries;
        let [records, commands] = needed(entries, buffer);
        let pattern = entries.pattern();
        let info = Info {
            records: records as u32,
            workgroups: records.div_ceil(LANES) as u32,
            commands: commands as u32,
            pattern_elements: pattern.elements,
            indices_per_element: pattern.indices_per_element,
            vertices_per_element: pattern.vertices_per_element,
        };
        if self.uploaded != Some(info) {
            gpu.write(INFO, &self.info, 0, once(bytemuck::bytes_of(&info)))?;
            self.uploaded = Some(info);
        }
        source.write_changes(buffer, self.revision, |first, changed| {
            let offset_bytes = size_of::<CullRecord>() as u64 * first as u64;
            let bytes = bytemuck::cast_slice(changed);
            transfers.write(gpu, &self.records, (RECORDS, offset_bytes), bytes)
        })?;
        self.revision = entries.revision(buffer);
        Ok(())
    }

    /// Number of workgroups that process its meshes.
    pub(super) fn workgroups(&self) -> u32 {
        self.uploaded.map_or(0, |info| info.workgroups)
    }

    /// Maximum number of commands for its meshes.
    pub(super) fn max_commands(&self) -> u32 {
        self.uploaded.map_or(0, |info| info.commands)
    }
}

/// Capacity for `needed` entries and half as many more. At most `max_entries`, unless more are
/// needed.
fn capacity(needed: u64, max_entries: u64) -> u64 {
    (needed + needed / 2).max(LANES).min(max_entries / LANES * LANES).max(needed)
}

/// Maximum numbers of records and commands for a buffer of a table.
fn needed(entries: &Entries, buffer: usize) -> [u64; 2] {
    [entries.records(buffer) as u64, entries.max_commands(buffer)]
}
