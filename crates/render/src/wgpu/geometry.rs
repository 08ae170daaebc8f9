//! A buffer of quads and its table of per-draw data.

use drystone_mesh::Quad;

use super::{adapter::Opened, pipelines::Pipelines};
use crate::{DrawData, RenderError};

/// Quads and per-draw data on the GPU, with the bind group that binds both.
pub struct WgpuGeometry {
    quads: wgpu::Buffer,
    draws: wgpu::Buffer,
    pub(super) bind_group: wgpu::BindGroup,
    pub(super) quad_capacity: u32,
    pub(super) slot_capacity: u32,
}

impl WgpuGeometry {
    pub(super) fn new(
        opened: &Opened,
        pipelines: &Pipelines,
        quads: u32,
        slots: u32,
    ) -> Result<Self, RenderError> {
        // Empty buffers cannot be bound.
        let (quad_capacity, slot_capacity) = (quads.max(1), slots.max(1));
        let quads_bytes = u64::from(quad_capacity) * size_of::<Quad>() as u64;
        let draws_bytes = u64::from(slot_capacity) * size_of::<DrawData>() as u64;
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        let quads = buffer(opened, "quads", quads_bytes, usage)?;
        let draws = buffer(opened, "per-draw data", draws_bytes, usage)?;
        let bind_group = opened.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("geometry"),
            layout: &pipelines.geometry_layout,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: quads.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 1, resource: draws.as_entire_binding() },
            ],
        });
        Ok(Self { quads, draws, bind_group, quad_capacity, slot_capacity })
    }

    pub(super) fn write_quads(&self, queue: &wgpu::Queue, first: u32, quads: &[Quad]) {
        let room = self.quad_capacity.saturating_sub(first) as usize;
        let quads = &quads[..quads.len().min(room)];
        if !quads.is_empty() {
            let offset_bytes = u64::from(first) * size_of::<Quad>() as u64;
            queue.write_buffer(&self.quads, offset_bytes, bytemuck::cast_slice(quads));
        }
    }

    pub(super) fn write_draw_data(&self, queue: &wgpu::Queue, slot: u32, data: &DrawData) {
        if slot < self.slot_capacity {
            let offset_bytes = u64::from(slot) * size_of::<DrawData>() as u64;
            queue.write_buffer(&self.draws, offset_bytes, bytemuck::bytes_of(data));
        }
    }
}

/// A buffer, or an error where the device is out of memory.
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
    let scope = opened.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
    let buffer = opened.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size,
        usage,
        mapped_at_creation: false,
    });
    match pollster::block_on(scope.pop()) {
        Some(error) => Err(RenderError::Device {
            during: "making room for geometry",
            reason: format!("{error} ({size} bytes of {label})"),
        }),
        None => Ok(buffer),
    }
}
