//! Data that changes with every frame: its uniforms and its draw commands, in one buffer.

use drystone_pool::DrawCommand;

use super::{adapter::Opened, geometry, pipelines::Pipelines};
use crate::{Frame, RenderError};

/// Offset of the draw commands in the buffer that they share with the [`Frame`].
pub(super) const COMMANDS_OFFSET: u64 = (size_of::<Frame>() as u64).next_multiple_of(256);

/// Binds the data that every pass of a frame reads.
pub(super) fn frame_group(
    opened: &Opened,
    pipelines: &Pipelines,
    per_frame: &wgpu::Buffer,
    palette: &wgpu::Buffer,
) -> wgpu::BindGroup {
    let frame = wgpu::BufferBinding {
        buffer: per_frame,
        offset: 0,
        size: wgpu::BufferSize::new(size_of::<Frame>() as u64),
    };
    opened.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("frame"),
        layout: &pipelines.frame_layout,
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::Buffer(frame) },
            wgpu::BindGroupEntry { binding: 1, resource: palette.as_entire_binding() },
        ],
    })
}

/// Creates a buffer for a frame's uniforms and `count` draw commands.
pub(super) fn per_frame_buffer(opened: &Opened, count: usize) -> Result<wgpu::Buffer, RenderError> {
    use wgpu::BufferUsages as Usage;
    let size_bytes = COMMANDS_OFFSET + (count * size_of::<DrawCommand>()) as u64;
    let usage = Usage::UNIFORM | Usage::INDIRECT | Usage::COPY_DST;
    geometry::buffer(opened, "frame and draw commands", size_bytes, usage)
}
