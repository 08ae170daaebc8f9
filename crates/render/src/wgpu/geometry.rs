//! A buffer of quads and its table of per-draw data.

use super::{
    adapter::Opened,
    copies::{Copies, CopyRange},
    pipelines::Pipelines,
};
use crate::{
    DrawData, RenderError,
    device::{Entries, copied_quads},
    fault::one_line,
};

/// Quads and per-draw data on the GPU, with the bind group that binds both.
pub struct WgpuGeometry {
    quads: wgpu::Buffer,
    draws: wgpu::Buffer,
    pub(super) bind_group: wgpu::BindGroup,
    pub(super) quad_capacity: u32,
    pub(super) entries: Entries,
}

impl WgpuGeometry {
    pub(super) fn new(
        opened: &Opened,
        pipelines: &Pipelines,
        (entries, count): (Entries, u32),
        slots: u32,
    ) -> Result<Self, RenderError> {
        let draws = draw_table(opened, slots)?;
        Self::with_draws(opened, pipelines, (entries, count), draws)
    }

    /// Creates a geometry with an existing table.
    pub(super) fn sharing(
        opened: &Opened,
        pipelines: &Pipelines,
        other: &Self,
        quads: u32,
    ) -> Result<Self, RenderError> {
        Self::with_draws(opened, pipelines, (other.entries, quads), other.draws.clone())
    }

    fn with_draws(
        opened: &Opened,
        pipelines: &Pipelines,
        (entries, quads): (Entries, u32),
        draws: wgpu::Buffer,
    ) -> Result<Self, RenderError> {
        use wgpu::BufferUsages as Usage;
        // Empty buffers cannot be bound.
        let quad_capacity = quads.max(1);
        let size_bytes = u64::from(quad_capacity) * entries.bytes();
        let usage = Usage::STORAGE | Usage::COPY_DST | Usage::COPY_SRC;
        let usage = if entries == Entries::Indices { usage | Usage::INDEX } else { usage };
        let quads = buffer(opened, "quads", size_bytes, usage)?;
        let bind_group = bind_group(opened, pipelines, &quads, &draws);
        Ok(Self { quads, draws, bind_group, quad_capacity, entries })
    }

    pub(super) fn set_draws(
        &mut self,
        opened: &Opened,
        pipelines: &Pipelines,
        draws: &wgpu::Buffer,
    ) {
        self.draws = draws.clone();
        self.bind_group = bind_group(opened, pipelines, &self.quads, &self.draws);
    }

    pub(super) fn slot_capacity(&self) -> u32 {
        (self.draws.size() / DrawData::SHADER_BYTES as u64) as u32
    }

    /// Records a copy of quads of `from` into this geometry.
    pub(super) fn copy_from(
        &self,
        to_first: u32,
        (from, from_first): (&Self, u32),
        count: u32,
        (copies, opened): (&mut Copies, &Opened),
    ) {
        let ends = [(from.quad_capacity, from_first), (self.quad_capacity, to_first)];
        if self.entries != from.entries {
            return;
        }
        if let Some(copy_range) = copy_range(ends, count, self.entries) {
            copies.copy(opened, &from.quads, &self.quads, copy_range);
        }
    }

    /// Records a copy of quads within this geometry.
    pub(super) fn copy_within(
        &self,
        from_first: u32,
        to_first: u32,
        count: u32,
        (copies, opened): (&mut Copies, &Opened),
    ) -> Result<(), RenderError> {
        let ends = [(self.quad_capacity, from_first), (self.quad_capacity, to_first)];
        match copy_range(ends, count, self.entries) {
            Some(copy_range) => copies.copy_within(opened, &self.quads, copy_range),
            None => Ok(()),
        }
    }

    /// Writes the bytes of entries, starting at entry `first`.
    pub(super) fn write(&self, queue: &wgpu::Queue, first: u32, bytes: &[u8]) {
        let entry_bytes = self.entries.bytes();
        let free_bytes = u64::from(self.quad_capacity.saturating_sub(first)) * entry_bytes;
        let count = bytes.len().min(usize::try_from(free_bytes).unwrap_or(usize::MAX));
        if count > 0 {
            queue.write_buffer(&self.quads, u64::from(first) * entry_bytes, &bytes[..count]);
        }
    }

    /// The buffer as an index buffer.
    pub(super) fn index_slice(&self) -> wgpu::BufferSlice<'_> {
        self.quads.slice(..)
    }

    /// Writes the data of slots from `first` on.
    pub(super) fn write_draw_data(&self, queue: &wgpu::Queue, first: u32, data: &[DrawData]) {
        let bytes = DrawData::shader_bytes(data, first, self.slot_capacity());
        if !bytes.is_empty() {
            let offset_bytes = u64::from(first) * DrawData::SHADER_BYTES as u64;
            queue.write_buffer(&self.draws, offset_bytes, &bytes);
        }
    }
}

/// Creates a table of per-draw data.
pub(super) fn draw_table(opened: &Opened, slots: u32) -> Result<wgpu::Buffer, RenderError> {
    let size_bytes = u64::from(slots.max(1)) * DrawData::SHADER_BYTES as u64;
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
    buffer(opened, "per-draw data", size_bytes, usage)
}

fn bind_group(
    opened: &Opened,
    pipelines: &Pipelines,
    quads: &wgpu::Buffer,
    draws: &wgpu::Buffer,
) -> wgpu::BindGroup {
    opened.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("geometry"),
        layout: &pipelines.geometry_layout,
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: quads.as_entire_binding() },
            wgpu::BindGroupEntry { binding: 1, resource: draws.as_entire_binding() },
        ],
    })
}

/// Byte ranges of a copy of `count` entries. `from` and `to` contain the size of the geometry and
/// the first entry. `None` if no entry is within both.
fn copy_range([from, to]: [(u32, u32); 2], count: u32, entries: Entries) -> Option<CopyRange> {
    let count = copied_quads(from, to, count);
    let bytes_of = |count: u32| u64::from(count) * entries.bytes();
    let [from_bytes, to_bytes] = [from, to].map(|(_, first)| bytes_of(first));
    let size_bytes = bytes_of(count);
    (count > 0).then_some(CopyRange { from_bytes, to_bytes, size_bytes })
}

/// Creates a buffer.
///
/// # Errors
/// `TooLarge`, `OutOfMemory` or `Lost`.
pub(super) fn buffer(
    opened: &Opened,
    label: &'static str,
    size: u64,
    usage: wgpu::BufferUsages,
) -> Result<wgpu::Buffer, RenderError> {
    let limits = opened.device.limits();
    let bound = if usage.contains(wgpu::BufferUsages::STORAGE) {
        limits.max_buffer_size.min(limits.max_storage_buffer_binding_size)
    } else {
        limits.max_buffer_size
    };
    if size > bound {
        return Err(RenderError::TooLarge { what: label, requested: size, limit: bound });
    }
    opened.fault.check_lost("creating a buffer")?;
    let create = || {
        opened.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size,
            usage,
            mapped_at_creation: false,
        })
    };
    if cfg!(target_arch = "wasm32") {
        // A browser reports out of memory later: the next frame fails then.
        return Ok(create());
    }
    let scope = opened.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
    let buffer = create();
    match pollster::block_on(scope.pop()) {
        Some(error) => {
            let reason = one_line(&format!("{error} ({size} bytes of {label})"));
            Err(RenderError::OutOfMemory { requested_bytes: size, reason })
        }
        // The loss may have been recorded just now.
        None => opened.fault.check_lost("creating a buffer").map(|()| buffer),
    }
}
