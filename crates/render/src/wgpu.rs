//! Drawing through wgpu: Vulkan, Metal, Direct3D 12, and OpenGL where that is all there is.
//!
//! ```text
//!  write_quads ──► queue ──► quads, per-draw data ─┐
//!  draw ──► frame, commands ──► queue ──► submit: opaque ─ sky ─ blended
//!                                          one multi-draw a batch, or a call a command
//! ```
//! Writes are staged by wgpu: they take effect in queue order, after all frames submitted
//! before and before the next, so a place may be written again as soon as it is freed.

mod adapter;
mod geometry;
mod pipelines;
mod target;

pub use adapter::Api;
pub use geometry::WgpuGeometry;
pub use target::WindowTarget;

use drystone_mesh::{Quad, quad_index_pattern};
use drystone_pool::DrawCommand;

use self::{adapter::Opened, pipelines::Pipelines, target::Target};
use crate::{Batch, Device, DrawData, Frame, Image, PATTERN_QUADS, Passes, RenderError};

/// Where draw commands begin in the buffer that they share with the [`Frame`].
const COMMANDS_OFFSET: u64 = (size_of::<Frame>() as u64).next_multiple_of(256);

/// Draw commands that a new device has room for.
const FIRST_COMMANDS: usize = 1024;

/// What a material without a colour is drawn in: magenta, as in the shader.
const UNKNOWN_COLOR: [u8; 4] = [255, 0, 255, 255];

/// A device that draws through wgpu, to a picture or to a window.
///
/// # Cost
/// A frame is one submission; a batch is one indirect call where the adapter can, else a
/// call a command.
pub struct WgpuDevice {
    opened: Opened,
    pipelines: Pipelines,
    target: Target,
    /// What changes with every frame, in one buffer, so that it goes up in one write: the
    /// [`Frame`], and from [`COMMANDS_OFFSET`] on the draw commands.
    per_frame: wgpu::Buffer,
    palette: wgpu::Buffer,
    frame_group: wgpu::BindGroup,
    pattern: wgpu::Buffer,
    /// Whether indirect commands may name the draw's slot as their first instance.
    indirect: bool,
    /// Whether the last picture reached its target.
    shown: bool,
}

impl WgpuDevice {
    /// A device without a window, drawing pictures of this size.
    ///
    /// # Errors
    /// `NoAdapter`, `NoDevice`, `EmptyPicture` or `TooLarge`.
    pub fn headless(api: Api, width: u32, height: u32) -> Result<Self, RenderError> {
        let opened = adapter::open_headless(api)?;
        check_size(&opened, width, height)?;
        let target = Target::picture(&opened.device, [width, height]);
        Self::new(opened, target)
    }

    /// A device that shows its pictures in a window.
    ///
    /// # Errors
    /// `NoAdapter` when none can show pictures there, `NoDevice`, or `Device` when the
    /// window gives no surface.
    pub fn windowed(
        api: Api,
        window: WindowTarget,
        width: u32,
        height: u32,
    ) -> Result<Self, RenderError> {
        let WindowTarget { window, display, vsync } = window;
        let (opened, surface) = adapter::open_for_window(api, display, &window)?;
        let size = [width.max(1), height.max(1)];
        check_size(&opened, size[0], size[1])?;
        let target = Target::window(&opened, surface, window, size, vsync)?;
        Self::new(opened, target)
    }

    fn new(opened: Opened, target: Target) -> Result<Self, RenderError> {
        use wgpu::BufferUsages as Usage;
        let pipelines = Pipelines::new(&opened.device, target.format);
        let per_frame = per_frame_buffer(&opened, FIRST_COMMANDS)?;
        let palette = geometry::buffer(&opened, "palette", 4, Usage::STORAGE | Usage::COPY_DST)?;
        let frame_group = frame_group(&opened, &pipelines, &per_frame, &palette);
        let indices = quad_index_pattern(PATTERN_QUADS);
        let index_bytes: &[u8] = bytemuck::cast_slice(&indices);
        let usage = Usage::INDEX | Usage::COPY_DST;
        let pattern = geometry::buffer(&opened, "index pattern", index_bytes.len() as u64, usage)?;
        opened.queue.write_buffer(&pattern, 0, index_bytes);
        opened.queue.write_buffer(&palette, 0, &UNKNOWN_COLOR);
        let features = opened.device.features();
        // On Direct3D 12 indirect commands reach the shader without base vertex and first
        // instance unless wgpu rewrites them, which costs more than it saves.
        let indirect = features.contains(wgpu::Features::INDIRECT_FIRST_INSTANCE)
            && opened.adapter.get_info().backend != wgpu::Backend::Dx12;
        opened.fault.check("making pipelines")?;
        let shown = true;
        Ok(Self {
            opened,
            pipelines,
            target,
            per_frame,
            palette,
            frame_group,
            pattern,
            indirect,
            shown,
        })
    }

    /// Uploads what this frame needs: its uniforms, and for indirect calls the commands of
    /// all batches, one after another.
    fn upload(
        &mut self,
        frame: &Frame,
        passes: &Passes<'_, WgpuGeometry>,
        indirect: bool,
    ) -> Result<(), RenderError> {
        let count = match indirect {
            true => passes.batches().map(|batch| batch.commands.len()).sum(),
            false => 0_usize,
        };
        let size_bytes = COMMANDS_OFFSET + (count * size_of::<DrawCommand>()) as u64;
        if size_bytes > self.per_frame.size() {
            self.per_frame = per_frame_buffer(&self.opened, count + count / 2)?;
            self.frame_group =
                frame_group(&self.opened, &self.pipelines, &self.per_frame, &self.palette);
        }
        let Some(size) = wgpu::BufferSize::new(size_bytes) else { return Ok(()) };
        let queue = &self.opened.queue;
        let Some(mut view) = queue.write_buffer_with(&self.per_frame, 0, size) else {
            self.opened.fault.check("uploading a frame")?;
            let reason = "there was no memory to stage it in".into();
            return Err(RenderError::Device { during: "uploading a frame", reason });
        };
        view.slice(..size_of::<Frame>()).copy_from_slice(bytemuck::bytes_of(frame));
        let mut start = COMMANDS_OFFSET as usize;
        for batch in passes.batches().filter(|_| indirect) {
            let bytes: &[u8] = bytemuck::cast_slice(batch.commands);
            view.slice(start..start + bytes.len()).copy_from_slice(bytes);
            start += bytes.len();
        }
        Ok(())
    }

    fn encode(
        &self,
        canvas: &wgpu::TextureView,
        passes: &Passes<'_, WgpuGeometry>,
        indirect: bool,
    ) -> wgpu::CommandBuffer {
        let mut encoder = self.opened.device.create_command_encoder(&Default::default());
        {
            let mut pass = begin_pass(&mut encoder, canvas, self.target.depth());
            pass.set_bind_group(0, &self.frame_group, &[]);
            pass.set_index_buffer(self.pattern.slice(..), wgpu::IndexFormat::Uint32);
            let mut offset_bytes = COMMANDS_OFFSET;
            pass.set_pipeline(&self.pipelines.opaque);
            self.encode_batches(&mut pass, passes.opaque, indirect, &mut offset_bytes);
            pass.set_pipeline(&self.pipelines.sky);
            pass.draw(0..3, 0..1);
            if !passes.blended.is_empty() {
                pass.set_pipeline(&self.pipelines.blended);
                self.encode_batches(&mut pass, passes.blended, indirect, &mut offset_bytes);
            }
        }
        encoder.finish()
    }

    fn encode_batches(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        batches: &[Batch<'_, WgpuGeometry>],
        indirect: bool,
        offset_bytes: &mut u64,
    ) {
        for batch in batches.iter().filter(|batch| !batch.commands.is_empty()) {
            pass.set_bind_group(1, &batch.geometry.bind_group, &[]);
            if indirect {
                let count = batch.commands.len() as u32;
                pass.multi_draw_indexed_indirect(&self.per_frame, *offset_bytes, count);
                *offset_bytes += size_of_val(batch.commands) as u64;
                continue;
            }
            for command in batch.commands {
                let end = command.first_index + command.index_count;
                let slot = command.first_instance;
                let instances = slot..slot + command.instance_count;
                pass.draw_indexed(command.first_index..end, command.base_vertex, instances);
            }
        }
    }
}

impl Device for WgpuDevice {
    type Geometry = WgpuGeometry;

    fn describe(&self) -> String {
        let info = self.opened.adapter.get_info();
        let calls = if self.indirect { "" } else { ", a call a command" };
        format!("wgpu: {} ({}{calls})", info.name, info.backend)
    }

    fn max_quads(&self) -> u32 {
        let limits = self.opened.device.limits();
        let bytes = limits.max_buffer_size.min(limits.max_storage_buffer_binding_size);
        u32::try_from(bytes / size_of::<Quad>() as u64).unwrap_or(u32::MAX)
    }

    fn set_palette(&mut self, colors: &[[u8; 4]]) -> Result<(), RenderError> {
        use wgpu::BufferUsages as Usage;
        // A buffer has at least one entry: that of an empty palette is the colour of
        // numbers without one.
        let colors = if colors.is_empty() { &[UNKNOWN_COLOR] } else { colors };
        let bytes: &[u8] = bytemuck::cast_slice(colors);
        let usage = Usage::STORAGE | Usage::COPY_DST;
        self.palette = geometry::buffer(&self.opened, "palette", bytes.len() as u64, usage)?;
        self.opened.queue.write_buffer(&self.palette, 0, bytes);
        self.frame_group =
            frame_group(&self.opened, &self.pipelines, &self.per_frame, &self.palette);
        Ok(())
    }

    fn create_geometry(&mut self, quads: u32, slots: u32) -> Result<WgpuGeometry, RenderError> {
        WgpuGeometry::new(&self.opened, &self.pipelines, quads, slots)
    }

    fn write_quads(&mut self, geometry: &mut WgpuGeometry, first: u32, quads: &[Quad]) {
        geometry.write_quads(&self.opened.queue, first, quads);
    }

    fn write_draw_data(&mut self, geometry: &mut WgpuGeometry, slot: u32, data: &DrawData) {
        geometry.write_draw_data(&self.opened.queue, slot, data);
    }

    fn resize(&mut self, width: u32, height: u32) -> Result<(), RenderError> {
        check_size(&self.opened, width, height)?;
        if self.target.size() != [width, height] {
            self.target.resize(&self.opened.device, [width, height]);
        }
        self.opened.fault.check("resizing the picture")
    }

    fn size(&self) -> [u32; 2] {
        self.target.size()
    }

    fn draw(
        &mut self,
        frame: &Frame,
        passes: &Passes<'_, WgpuGeometry>,
    ) -> Result<(), RenderError> {
        if cfg!(debug_assertions) {
            for batch in passes.batches() {
                let geometry = batch.geometry;
                batch.check(geometry.quad_capacity, geometry.slot_capacity)?;
            }
        }
        self.opened.fault.check("drawing")?;
        let canvas = self.target.canvas(&self.opened)?;
        self.shown = canvas.is_some();
        let Some(canvas) = canvas else { return self.opened.fault.check("drawing") };
        let indirect = passes.indirect && self.indirect;
        self.upload(frame, passes, indirect)?;
        let commands = self.encode(&canvas.color, passes, indirect);
        self.opened.queue.submit([commands]);
        if let Some(surface) = canvas.surface {
            self.opened.queue.present(surface);
        }
        self.opened.fault.check("drawing")
    }

    fn shown(&self) -> bool {
        self.shown
    }

    fn finish(&mut self) -> Result<(), RenderError> {
        adapter::poll(&self.opened, wgpu::PollType::wait_indefinitely())?;
        self.opened.fault.check("drawing")
    }

    fn read_image(&mut self) -> Result<Image, RenderError> {
        self.target.read(&self.opened)
    }
}

fn begin_pass<'a>(
    encoder: &'a mut wgpu::CommandEncoder,
    color: &wgpu::TextureView,
    depth: &wgpu::TextureView,
) -> wgpu::RenderPass<'a> {
    let clear_color = wgpu::Operations {
        load: wgpu::LoadOp::Clear(wgpu::Color::BLACK),
        store: wgpu::StoreOp::Store,
    };
    let clear_depth =
        wgpu::Operations { load: wgpu::LoadOp::Clear(0.0), store: wgpu::StoreOp::Discard };
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some("scene"),
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view: color,
            depth_slice: None,
            resolve_target: None,
            ops: clear_color,
        })],
        depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
            view: depth,
            depth_ops: Some(clear_depth),
            stencil_ops: None,
        }),
        ..Default::default()
    })
}

fn frame_group(
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

/// A buffer for a frame's uniforms and `count` draw commands.
fn per_frame_buffer(opened: &Opened, count: usize) -> Result<wgpu::Buffer, RenderError> {
    use wgpu::BufferUsages as Usage;
    let size_bytes = COMMANDS_OFFSET + (count * size_of::<DrawCommand>()) as u64;
    let usage = Usage::UNIFORM | Usage::INDIRECT | Usage::COPY_DST;
    geometry::buffer(opened, "frame and draw commands", size_bytes, usage)
}

fn check_size(opened: &Opened, width: u32, height: u32) -> Result<(), RenderError> {
    if width == 0 || height == 0 {
        return Err(RenderError::EmptyPicture { width, height });
    }
    let limit = opened.device.limits().max_texture_dimension_2d.into();
    let requested = width.max(height).into();
    if requested > limit {
        return Err(RenderError::TooLarge { what: "a picture's side", requested, limit });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Atmosphere, Camera};

    /// A device that is gone gives errors, one after another, and no panic.
    #[test]
    fn a_lost_device_is_an_error() {
        let mut device = match WgpuDevice::headless(Api::Any, 16, 16) {
            Ok(device) => device,
            Err(error) => {
                println!("skipped: a_lost_device_is_an_error: {error}");
                return;
            }
        };
        let frame = Frame::new(&Camera::default(), &Atmosphere::default(), 16, 16);
        let passes = Passes { opaque: &[], blended: &[], indirect: true };
        device.draw(&frame, &passes).unwrap();
        device.finish().unwrap();
        device.opened.device.destroy();
        for _ in 0..3 {
            let drawn = device.draw(&frame, &passes).and_then(|()| device.finish());
            assert!(matches!(drawn, Err(RenderError::Device { .. })), "{drawn:?}");
        }
        assert!(device.read_image().is_err());
    }
}
