//! Data that every pass of a frame reads: uniforms, the materials, and draw commands.

use std::sync::Arc;

use drystone_wgpu::parts::CommandUpload;

use super::{adapter::Opened, pipelines::Pipelines};
use crate::{
    error::RenderError,
    frame::Frame,
    material_look::{MaterialEntry, MaterialLook},
};

/// The data of a frame, bound together.
pub(super) struct PerFrame {
    /// The [`Frame`], which changes with every frame.
    frame: wgpu::Buffer,
    materials: wgpu::Buffer,
    pub(super) group: wgpu::BindGroup,
    pub(super) commands: CommandUpload,
    /// Whether the last picture was a lent one, which the caller submits later.
    is_lent: bool,
    /// Cloned by each lent picture until it is complete, or dropped with its encoder.
    lent: Arc<()>,
}

impl PerFrame {
    pub(super) fn new(opened: &Opened, pipelines: &Pipelines) -> Result<Self, RenderError> {
        let frame = frame_buffer(opened)?;
        let materials = material_buffer(opened, &[])?;
        let group = group(opened, pipelines, &frame, &materials);
        let commands = CommandUpload::default();
        Ok(Self { frame, materials, group, commands, is_lent: false, lent: Arc::default() })
    }

    pub(super) fn set_materials(
        &mut self,
        (opened, pipelines): (&Opened, &Pipelines),
        materials: &[MaterialLook],
    ) -> Result<(), RenderError> {
        self.materials = material_buffer(opened, materials)?;
        self.group = group(opened, pipelines, &self.frame, &self.materials);
        Ok(())
    }

    /// Begins a picture. Replaces the buffers after a lent picture, which keeps its own. Returns
    /// whether they were replaced.
    pub(super) fn begin(
        &mut self,
        (opened, pipelines): (&Opened, &Pipelines),
        is_lent: bool,
    ) -> Result<bool, RenderError> {
        let was_lent = self.is_lent;
        if was_lent {
            self.frame = frame_buffer(opened)?;
            self.group = group(opened, pipelines, &self.frame, &self.materials);
            self.commands = CommandUpload::default();
        }
        self.is_lent = is_lent;
        Ok(was_lent)
    }

    /// Whether the last picture was a lent one. What it reads must not change.
    pub(super) const fn was_lent(&self) -> bool {
        self.is_lent
    }

    /// Registers a lent picture as incomplete until the GPU has executed this encoder's commands.
    pub(super) fn lend(&self, encoder: &wgpu::CommandEncoder) {
        let lent = Arc::clone(&self.lent);
        encoder.on_submitted_work_done(move || drop(lent));
    }

    /// Whether a lent picture is incomplete.
    pub(super) fn is_read_by_lent(&self) -> bool {
        Arc::strong_count(&self.lent) > 1
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

fn material_buffer(
    opened: &Opened,
    materials: &[MaterialLook],
) -> Result<wgpu::Buffer, RenderError> {
    let table = MaterialEntry::table(materials);
    let usage = wgpu::BufferUsages::STORAGE;
    Ok(opened.gpu.filled_buffer("materials", bytemuck::cast_slice(&table), usage)?)
}

fn group(
    opened: &Opened,
    pipelines: &Pipelines,
    frame: &wgpu::Buffer,
    materials: &wgpu::Buffer,
) -> wgpu::BindGroup {
    opened.gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("frame"),
        layout: &pipelines.frame_layout,
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: frame.as_entire_binding() },
            wgpu::BindGroupEntry { binding: 1, resource: materials.as_entire_binding() },
        ],
    })
}
