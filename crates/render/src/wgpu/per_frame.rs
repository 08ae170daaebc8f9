//! Data that every pass of a frame reads: uniforms and draw commands in one buffer, and the palette.

use drystone_pool::DrawCommand;

use super::{adapter::Opened, pipelines::Pipelines};
use crate::{error::RenderError, frame::Frame};

/// Offset of the draw commands in the buffer that they share with the [`Frame`].
pub(super) const COMMANDS_OFFSET: u64 = (size_of::<Frame>() as u64).next_multiple_of(256);
/// Number of draw commands that fit a new buffer.
const FIRST_COMMANDS: u64 = 1024;
/// Colour of materials without a colour: magenta, as in the shader.
const UNKNOWN_COLOR: [u8; 4] = [255, 0, 255, 255];

/// The data of a frame, bound together.
pub(super) struct PerFrame {
    /// Changes with every frame, in one buffer, so that one write uploads it: the [`Frame`], and
    /// the draw commands from [`COMMANDS_OFFSET`] on.
    pub(super) buffer: wgpu::Buffer,
    palette: wgpu::Buffer,
    pub(super) group: wgpu::BindGroup,
}

impl PerFrame {
    pub(super) fn new(opened: &Opened, pipelines: &Pipelines) -> Result<Self, RenderError> {
        let buffer = buffer(opened, FIRST_COMMANDS * size_of::<DrawCommand>() as u64)?;
        let palette = palette(opened, &[])?;
        let group = group(opened, pipelines, &buffer, &palette);
        Ok(Self { buffer, palette, group })
    }

    pub(super) fn set_palette(
        &mut self,
        (opened, pipelines): (&Opened, &Pipelines),
        colors: &[[u8; 4]],
    ) -> Result<(), RenderError> {
        self.palette = palette(opened, colors)?;
        self.group = group(opened, pipelines, &self.buffer, &self.palette);
        Ok(())
    }

    /// Grows the buffer for a frame of `size_bytes`, with a reserve for more commands.
    pub(super) fn reserve(
        &mut self,
        (opened, pipelines): (&Opened, &Pipelines),
        size_bytes: u64,
    ) -> Result<(), RenderError> {
        if size_bytes > self.buffer.size() {
            let commands_bytes = (size_bytes - COMMANDS_OFFSET).next_multiple_of(4);
            self.buffer =
                buffer(opened, commands_bytes + (commands_bytes / 2).next_multiple_of(4))?;
            self.group = group(opened, pipelines, &self.buffer, &self.palette);
        }
        Ok(())
    }
}

fn buffer(opened: &Opened, commands_bytes: u64) -> Result<wgpu::Buffer, RenderError> {
    use wgpu::BufferUsages as Usage;
    let usage = Usage::UNIFORM | Usage::INDIRECT | Usage::COPY_DST;
    opened.buffer("frame and draw commands", COMMANDS_OFFSET + commands_bytes, usage)
}

/// A buffer has at least one entry. For an empty palette it is the colour of materials without one.
fn palette(opened: &Opened, colors: &[[u8; 4]]) -> Result<wgpu::Buffer, RenderError> {
    use wgpu::BufferUsages as Usage;
    let colors = if colors.is_empty() { &[UNKNOWN_COLOR] } else { colors };
    let bytes: &[u8] = bytemuck::cast_slice(colors);
    let usage = Usage::STORAGE | Usage::COPY_DST;
    let palette = opened.buffer("palette", bytes.len() as u64, usage)?;
    opened.queue.write_buffer(&palette, 0, bytes);
    Ok(palette)
}

fn group(
    opened: &Opened,
    pipelines: &Pipelines,
    buffer: &wgpu::Buffer,
    palette: &wgpu::Buffer,
) -> wgpu::BindGroup {
    let size = wgpu::BufferSize::new(size_of::<Frame>() as u64);
    let frame = wgpu::BufferBinding { buffer, offset: 0, size };
    opened.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("frame"),
        layout: &pipelines.frame_layout,
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::Buffer(frame) },
            wgpu::BindGroupEntry { binding: 1, resource: palette.as_entire_binding() },
        ],
    })
}
