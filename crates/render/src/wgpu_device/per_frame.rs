//! Data that every pass of a frame reads: uniforms, the palette, and draw commands.

use drystone_wgpu::parts::CommandUpload;

use super::{adapter::Opened, pipelines::Pipelines};
use crate::{error::RenderError, frame::Frame};

/// Colour of materials without a colour: magenta, as in the shader.
const UNKNOWN_COLOR: [u8; 4] = [255, 0, 255, 255];

/// The data of a frame, bound together.
pub(super) struct PerFrame {
    /// The [`Frame`], which changes with every frame.
    frame: wgpu::Buffer,
    palette: wgpu::Buffer,
    pub(super) group: wgpu::BindGroup,
    pub(super) commands: CommandUpload,
}

impl PerFrame {
    pub(super) fn new(opened: &Opened, pipelines: &Pipelines) -> Result<Self, RenderError> {
        let frame = frame_buffer(opened)?;
        let palette = palette(opened, &[])?;
        let group = group(opened, pipelines, &frame, &palette);
        Ok(Self { frame, palette, group, commands: CommandUpload::default() })
    }

    pub(super) fn set_palette(
        &mut self,
        (opened, pipelines): (&Opened, &Pipelines),
        colors: &[[u8; 4]],
    ) -> Result<(), RenderError> {
        self.palette = palette(opened, colors)?;
        self.group = group(opened, pipelines, &self.frame, &self.palette);
        Ok(())
    }

    /// Replaces the buffers, so that frames that are encoded but not submitted keep theirs.
    pub(super) fn renew(
        &mut self,
        (opened, pipelines): (&Opened, &Pipelines),
    ) -> Result<(), RenderError> {
        self.frame = frame_buffer(opened)?;
        self.group = group(opened, pipelines, &self.frame, &self.palette);
        self.commands = CommandUpload::default();
        Ok(())
    }

    /// Uploads the uniforms, in queue order.
    pub(super) fn write(&self, opened: &Opened, frame: &Frame) -> Result<(), RenderError> {
        let bytes = std::iter::once(bytemuck::bytes_of(frame));
        Ok(opened.gpu.write("the frame", &self.frame, 0, bytes)?)
    }
}

fn frame_buffer(opened: &Opened) -> Result<wgpu::Buffer, RenderError> {
    let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
    opened.buffer("frame", size_of::<Frame>() as u64, usage)
}

/// A buffer has at least one entry. For an empty palette it is the colour of materials without one.
fn palette(opened: &Opened, colors: &[[u8; 4]]) -> Result<wgpu::Buffer, RenderError> {
    let colors = if colors.is_empty() { &[UNKNOWN_COLOR] } else { colors };
    let usage = wgpu::BufferUsages::STORAGE;
    Ok(opened.gpu.filled_buffer("palette", bytemuck::cast_slice(colors), usage)?)
}

fn group(
    opened: &Opened,
    pipelines: &Pipelines,
    frame: &wgpu::Buffer,
    palette: &wgpu::Buffer,
) -> wgpu::BindGroup {
    opened.gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("frame"),
        layout: &pipelines.frame_layout,
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: frame.as_entire_binding() },
            wgpu::BindGroupEntry { binding: 1, resource: palette.as_entire_binding() },
        ],
    })
}
