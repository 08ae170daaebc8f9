//! Small writes that one compute pass carries out.

use std::{collections::BTreeMap, iter::once};

use crate::{error::GpuError, gpu::Gpu};

/// Maximum size of a gathered write, in bytes. Larger ones are worth a copy of their own.
const MAX_WRITE_BYTES: usize = 64 << 10;
/// Maximum size of all gathered writes, in bytes.
const MAX_BYTES: usize = 4 << 20;
/// Maximum number of gathered writes. Each adds at most two ranges, because later ones can cut it in
/// two. With [`MAX_BYTES`], that keeps the number of pieces below the 65,535 workgroups of a dispatch.
const MAX_WRITES: usize = 16 << 10;
/// Maximum number of buffers with gathered writes. Meshes in buffers of their own gain nothing.
const MAX_TARGETS: usize = 8;
/// Minimum number of writes that are worth a compute pass.
const MIN_WRITES: usize = 16;
/// Maximum number of bytes that one workgroup copies.
const PIECE_BYTES: usize = 4 << 10;
/// Alignment of bound ranges in every device.
const ALIGNMENT: usize = 256;
/// Minimum size of the staging buffer, in bytes.
const MIN_STAGING_BYTES: u64 = 1 << 20;

const STAGING: &str = "the staging buffer of small writes";

/// Writes that are gathered until something must come after them.
///
/// wgpu separates two copies to the same buffer by a barrier, so that on a GPU hundreds of small
/// copies take milliseconds. Gathered writes are uploaded by one copy, and distributed by a
/// workgroup for each piece of at most [`PIECE_BYTES`].
#[derive(Debug, Default)]
pub(super) struct SmallWrites {
    targets: Vec<Target>,
    /// The gathered bytes.
    bytes: Vec<u8>,
    scatter: Scatter,
}

/// Gathered writes to one buffer.
#[derive(Debug)]
struct Target {
    buffer: wgpu::Buffer,
    /// In the order of the calls.
    writes: Vec<Write>,
}

/// Bytes for a range of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Write {
    /// First byte in the buffer.
    to: u64,
    /// First byte in the gathered bytes.
    from: usize,
    size: usize,
}

impl Write {
    const fn end(self) -> u64 {
        self.to + self.size as u64
    }

    /// The part of the write that starts at this byte of the buffer.
    const fn after(self, to: u64) -> Self {
        let skipped = (to - self.to) as usize;
        Self { to, from: self.from + skipped, size: self.size - skipped }
    }

    /// The part of the write that ends at this byte of the buffer.
    const fn before(self, end: u64) -> Self {
        Self { size: (end - self.to) as usize, ..self }
    }
}

/// Sorts writes, and cuts away what later ones overwrite.
fn without_overlaps(writes: &mut Vec<Write>) {
    let overlap = |pair: &[Write]| pair[0].end() > pair[1].to;
    if !writes.windows(2).any(overlap) {
        return;
    }
    let mut sorted = writes.clone();
    sorted.sort_unstable_by_key(|write| write.to);
    if !sorted.windows(2).any(overlap) {
        *writes = sorted;
        return;
    }
    let mut kept: BTreeMap<u64, Write> = BTreeMap::new();
    for &write in &*writes {
        let overwritten = |kept: &BTreeMap<u64, Write>| {
            let (_, &old) = kept.range(..write.end()).next_back()?;
            (old.end() > write.to).then_some(old)
        };
        while let Some(old) = overwritten(&kept) {
            kept.remove(&old.to);
            if old.to < write.to {
                kept.insert(old.to, old.before(write.to));
            }
            if old.end() > write.end() {
                kept.insert(write.end(), old.after(write.end()));
            }
        }
        kept.insert(write.to, write);
    }
    *writes = kept.into_values().collect();
}

impl SmallWrites {
    /// Whether a write of these bytes can be gathered at all: few bytes, in whole words, to a buffer
    /// that shaders can write.
    pub(super) fn takes(
        &self,
        gpu: &Gpu,
        buffer: &wgpu::Buffer,
        offset_bytes: u64,
        size: usize,
    ) -> bool {
        size <= MAX_WRITE_BYTES
            && size.is_multiple_of(4)
            && offset_bytes.is_multiple_of(4)
            && buffer.usage().contains(wgpu::BufferUsages::STORAGE)
            && offset_bytes + size as u64 <= buffer.size()
            && self.scatter.is_supported(gpu)
    }

    /// Gathers a write that [`takes`](Self::takes) allows. Returns whether there was room for it beside
    /// the gathered ones.
    pub(super) fn add(&mut self, buffer: &wgpu::Buffer, offset_bytes: u64, bytes: &[u8]) -> bool {
        if bytes.is_empty() {
            return true;
        }
        let at = self.targets.iter().position(|target| target.buffer == *buffer);
        if self.bytes.len() + bytes.len() > MAX_BYTES
            || self.count() >= MAX_WRITES
            || (at.is_none() && self.targets.len() == MAX_TARGETS)
        {
            return false;
        }
        let at = at.unwrap_or_else(|| {
            self.targets.push(Target { buffer: buffer.clone(), writes: Vec::new() });
            self.targets.len() - 1
        });
        let (from, size) = (self.bytes.len(), bytes.len());
        self.bytes.extend_from_slice(bytes);
        self.targets[at].writes.push(Write { to: offset_bytes, from, size });
        true
    }

    fn count(&self) -> usize {
        self.targets.iter().map(|target| target.writes.len()).sum()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Whether the gathered writes are worth a compute pass.
    pub(super) fn are_many(&self) -> bool {
        self.count() >= MIN_WRITES
    }

    /// Makes each gathered write by itself, before all commands that were not submitted yet.
    ///
    /// # Errors
    /// The first error of [`Gpu::write`]. The other ranges are written.
    pub(super) fn write_each(&mut self, gpu: &Gpu) -> Result<(), GpuError> {
        let mut result = Ok(());
        for target in self.targets.drain(..) {
            for Write { to, from, size } in target.writes {
                let bytes = &self.bytes[from..from + size];
                let written = gpu.write("a buffer", &target.buffer, to, once(bytes));
                result = result.and(written);
            }
        }
        self.bytes.clear();
        result
    }

    /// Encodes the gathered writes as a compute pass, in order with other commands of `encoder`.
    ///
    /// # Errors
    /// The errors of [`Gpu::buffer`] and [`Gpu::write`]; nothing is encoded then, and the writes stay
    /// gathered.
    pub(super) fn encode(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
    ) -> Result<(), GpuError> {
        let mut tables = Vec::new();
        let mut starts = Vec::with_capacity(self.targets.len());
        for target in &mut self.targets {
            without_overlaps(&mut target.writes);
            let start = tables.len();
            tables.extend(target.writes.iter().flat_map(|&Write { to, from, size }| {
                (0..size).step_by(PIECE_BYTES).map(move |done| {
                    let words = (size - done).min(PIECE_BYTES) / 4;
                    [(to as usize + done) / 4, (from + done) / 4, words, 0].map(|n| n as u32)
                })
            }));
            starts.push((start, tables.len() - start));
            tables.resize(tables.len().next_multiple_of(ALIGNMENT / size_of::<[u32; 4]>()), [0; 4]);
        }
        let words_len = self.bytes.len().next_multiple_of(ALIGNMENT);
        let padding = [0; ALIGNMENT];
        let parts = [
            &self.bytes[..],
            &padding[..words_len - self.bytes.len()],
            bytemuck::cast_slice(&tables),
        ];
        let size_bytes = (words_len + size_of_val(&tables[..])) as u64;
        let (staging, first_bytes) = self.scatter.stage(gpu, size_bytes)?;
        gpu.write(STAGING, &staging, first_bytes, parts.into_iter())?;
        let groups = self.targets.iter().zip(&starts).map(|(target, &(start, count))| {
            let table = size_of::<[u32; 4]>();
            let from = first_bytes + (words_len + start * table) as u64;
            let range = |offset, size: usize| wgpu::BufferBinding {
                buffer: &staging,
                offset,
                size: wgpu::BufferSize::new(size as u64),
            };
            let buffers = [range(first_bytes, words_len), range(from, count * table)];
            Ok((self.scatter.bind(gpu, buffers, &target.buffer)?, count))
        });
        let groups = groups.collect::<Result<Vec<_>, GpuError>>()?;
        self.scatter.dispatch(encoder, &groups);
        self.targets.clear();
        self.bytes.clear();
        Ok(())
    }

    /// Allows the staging buffer to be used again: all commands that read it were submitted.
    pub(super) const fn submitted(&mut self) {
        self.scatter.used_bytes = 0;
    }
}

/// The shader that distributes writes, and the buffer that it reads.
#[derive(Debug, Default)]
struct Scatter {
    pipeline: Option<wgpu::ComputePipeline>,
    staging: Option<wgpu::Buffer>,
    /// Number of bytes at the start of the staging buffer that commands will read.
    used_bytes: u64,
}

impl Scatter {
    fn is_supported(&self, gpu: &Gpu) -> bool {
        self.pipeline.is_some() || {
            let limits = gpu.device.limits();
            limits.max_compute_workgroups_per_dimension >= 65_535
                && limits.max_compute_invocations_per_workgroup >= 64
                && limits.max_storage_buffers_per_shader_stage >= 3
                && limits.min_storage_buffer_offset_alignment <= ALIGNMENT as u32
        }
    }

    /// Reserves space in the staging buffer. Returns the buffer and the first reserved byte.
    fn stage(&mut self, gpu: &Gpu, size_bytes: u64) -> Result<(wgpu::Buffer, u64), GpuError> {
        let first_bytes = self.used_bytes;
        let needed_bytes = first_bytes + size_bytes;
        if let Some(staging) = self.staging.as_ref().filter(|it| it.size() >= needed_bytes) {
            self.used_bytes = needed_bytes.next_multiple_of(ALIGNMENT as u64);
            return Ok((staging.clone(), first_bytes));
        }
        // Commands that read the old buffer keep it alive.
        let capacity = size_bytes.next_power_of_two().max(MIN_STAGING_BYTES);
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        let staging = gpu.buffer(STAGING, capacity, usage)?;
        self.staging = Some(staging.clone());
        self.used_bytes = size_bytes.next_multiple_of(ALIGNMENT as u64);
        Ok((staging, 0))
    }

    fn bind(
        &mut self,
        gpu: &Gpu,
        [words, pieces]: [wgpu::BufferBinding<'_>; 2],
        written: &wgpu::Buffer,
    ) -> Result<wgpu::BindGroup, GpuError> {
        let pipeline = match self.pipeline.take() {
            Some(pipeline) => pipeline,
            None => gpu.scope(("the pipeline of small writes", 0), || pipeline(&gpu.device))?,
        };
        let pipeline = self.pipeline.insert(pipeline);
        gpu.scope(("the bind group of small writes", 0), || {
            let resources = [
                wgpu::BindingResource::Buffer(words),
                wgpu::BindingResource::Buffer(pieces),
                written.as_entire_binding(),
            ];
            let entries: Vec<_> = (0..)
                .zip(resources)
                .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
                .collect();
            gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("small writes"),
                layout: &pipeline.get_bind_group_layout(0),
                entries: &entries,
            })
        })
    }

    /// Encodes one workgroup for each piece of each bind group.
    fn dispatch(&self, encoder: &mut wgpu::CommandEncoder, groups: &[(wgpu::BindGroup, usize)]) {
        let Some(pipeline) = &self.pipeline else { return };
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(pipeline);
        for (group, count) in groups {
            pass.set_bind_group(0, group, &[]);
            pass.dispatch_workgroups(*count as u32, 1, 1);
        }
    }
}

fn pipeline(device: &wgpu::Device) -> wgpu::ComputePipeline {
    let module = device.create_shader_module(wgpu::include_wgsl!("scatter.wgsl"));
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("small writes"),
        layout: None,
        module: &module,
        entry_point: Some("scatter"),
        compilation_options: Default::default(),
        cache: None,
    })
}

#[cfg(test)]
mod tests {
    use drystone_testing::Random;

    use super::*;

    /// Writes whose overlaps were cut away leave the bytes that all writes leave in their order.
    #[test]
    fn writes_without_overlaps_leave_the_same_bytes() {
        const LEN: usize = 64;
        let mut random = Random::new(7);
        let mut cut = 0;
        for _ in 0..5_000 {
            let mut writes = Vec::new();
            let (mut expected, mut from) = ([0; LEN], 1);
            for _ in 0..random.below(12) {
                let longest = if random.below(4) == 0 { 40 } else { 6 };
                let size = 1 + random.below(longest) as usize;
                let to = random.below((LEN - size) as u32 + 1) as usize;
                expected[to..to + size].copy_from_slice(&numbers(from, size));
                writes.push(Write { to: to as u64, from, size });
                from += size;
            }
            let count = writes.len();
            without_overlaps(&mut writes);
            cut += usize::from(writes.len() > count);
            let mut bytes = [0; LEN];
            for &Write { to, from, size } in &writes {
                bytes[to as usize..][..size].copy_from_slice(&numbers(from, size));
            }
            assert_eq!(bytes, expected);
            assert!(writes.windows(2).all(|pair| pair[0].end() <= pair[1].to), "{writes:?}");
            assert!(writes.len() <= 2 * count);
        }
        assert!(cut > 100, "{cut}");
    }

    fn numbers(from: usize, size: usize) -> Vec<usize> {
        (from..from + size).collect()
    }
}
