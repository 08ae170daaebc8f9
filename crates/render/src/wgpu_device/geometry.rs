//! A buffer of quads and its table of per-draw data.

use drystone_wgpu::parts::{CopyBytes, Transfers};

use super::{adapter::Opened, pipelines::Pipelines};
use crate::{
    buffers::{BufferData, BufferKind, CopyRange, DrawSlots},
    draw_data::DrawData,
    error::RenderError,
};

/// Entries and per-draw data on the GPU, with the bind group that binds both.
pub struct WgpuGeometry {
    entries: wgpu::Buffer,
    draws: wgpu::Buffer,
    pub(super) bind_group: wgpu::BindGroup,
    /// Number of entries.
    pub(super) capacity: u32,
    pub(super) kind: BufferKind,
}

impl WgpuGeometry {
    pub(super) fn new(
        (opened, pipelines): (&Opened, &Pipelines),
        kind: BufferKind,
        count: u32,
        slots: DrawSlots<'_, Self>,
    ) -> Result<Self, RenderError> {
        use wgpu::BufferUsages as Usage;
        let draws = match slots {
            DrawSlots::New(slots) => draw_table(opened, slots)?,
            DrawSlots::SharedWith(other) => other.draws.clone(),
        };
        // Empty buffers cannot be bound.
        let capacity = count.max(1);
        let size_bytes = u64::from(capacity) * kind.entry_bytes();
        let usage = Usage::STORAGE | Usage::COPY_DST | Usage::COPY_SRC;
        let usage = if kind == BufferKind::Indices { usage | Usage::INDEX } else { usage };
        let entries = opened.buffer("quads", size_bytes, usage)?;
        let bind_group = bind_group(opened, pipelines, &entries, &draws);
        Ok(Self { entries, draws, bind_group, capacity, kind })
    }

    pub(super) fn set_draws(
        &mut self,
        (opened, pipelines): (&Opened, &Pipelines),
        draws: &wgpu::Buffer,
    ) {
        self.draws = draws.clone();
        self.bind_group = bind_group(opened, pipelines, &self.entries, &self.draws);
    }

    pub(super) fn slot_capacity(&self) -> u32 {
        (self.draws.size() / DrawData::SHADER_BYTES as u64) as u32
    }

    /// Records a copy of entries of `from`, or within this geometry.
    ///
    /// # Errors
    /// `Device` when there is no memory for a copy within the geometry, and the error of an earlier
    /// write.
    pub(super) fn copy(
        &self,
        from: Option<&Self>,
        copy_range: CopyRange,
        (transfers, opened): (&mut Transfers, &Opened),
    ) -> Result<(), RenderError> {
        let from_len = from.map_or(self.capacity, |from| from.capacity);
        let Some(CopyRange { from: first, to, count }) = copy_range.cut(from_len, self.capacity)
        else {
            return Ok(());
        };
        let bytes_of = |entries: u32| u64::from(entries) * self.kind.entry_bytes();
        let [from_bytes, to_bytes, size_bytes] = [first, to, count].map(bytes_of);
        let copy_bytes = CopyBytes { from_bytes, to_bytes, size_bytes };
        match from {
            None => transfers.copy_within(&opened.gpu, &self.entries, copy_bytes)?,
            Some(from) if from.kind != self.kind => {}
            Some(from) => transfers.copy(&opened.gpu, &from.entries, &self.entries, copy_bytes)?,
        }
        Ok(())
    }

    /// Writes the entries that exist, from entry `first` on, after all copies recorded before.
    ///
    /// # Errors
    /// `Lost`, `OutOfMemory` or `Device`.
    pub(super) fn write_entries(
        &self,
        (transfers, opened): (&mut Transfers, &Opened),
        first: u32,
        data: BufferData<'_>,
    ) -> Result<(), RenderError> {
        if data.kind() != Some(self.kind) {
            return Ok(());
        }
        let entry_bytes = self.kind.entry_bytes();
        let free_bytes = u64::from(self.capacity.saturating_sub(first)) * entry_bytes;
        let bytes = data.bytes();
        let count = bytes.len().min(usize::try_from(free_bytes).unwrap_or(usize::MAX));
        let place = ("the geometry", u64::from(first) * entry_bytes);
        Ok(transfers.write(&opened.gpu, &self.entries, place, &bytes[..count])?)
    }

    /// The buffer as an index buffer.
    pub(super) fn index_slice(&self) -> wgpu::BufferSlice<'_> {
        self.entries.slice(..)
    }

    /// Writes the data of slots from `first` on.
    ///
    /// # Errors
    /// `Lost`, `OutOfMemory` or `Device`.
    pub(super) fn write_draw_data(
        &self,
        (transfers, opened): (&mut Transfers, &Opened),
        first: u32,
        data: &[DrawData],
    ) -> Result<(), RenderError> {
        let bytes = DrawData::shader_bytes(data, first, self.slot_capacity());
        let place = ("the per-draw data", u64::from(first) * DrawData::SHADER_BYTES as u64);
        Ok(transfers.write(&opened.gpu, &self.draws, place, &bytes)?)
    }
}

/// Creates a table of per-draw data.
pub(super) fn draw_table(opened: &Opened, slots: u32) -> Result<wgpu::Buffer, RenderError> {
    let size_bytes = u64::from(slots.max(1)) * DrawData::SHADER_BYTES as u64;
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
    opened.buffer("per-draw data", size_bytes, usage)
}

fn bind_group(
    opened: &Opened,
    pipelines: &Pipelines,
    entries: &wgpu::Buffer,
    draws: &wgpu::Buffer,
) -> wgpu::BindGroup {
    opened.gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("geometry"),
        layout: &pipelines.geometry_layout,
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: entries.as_entire_binding() },
            wgpu::BindGroupEntry { binding: 1, resource: draws.as_entire_binding() },
        ],
    })
}
