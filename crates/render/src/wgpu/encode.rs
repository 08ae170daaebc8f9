//! One frame: what is uploaded for it, and what is encoded.

use drystone_pool::DrawCommand;

use super::{
    WgpuDevice, WgpuGeometry,
    cull::{Culler, List},
    per_frame::{COMMANDS_OFFSET, frame_group, per_frame_buffer},
};
use crate::{Batch, Culled, Device, Frame, Passes, RenderError};

/// What one frame shows.
struct Contents<'a> {
    passes: &'a Passes<'a, WgpuGeometry>,
    culled: Option<&'a Culled<'a, WgpuGeometry>>,
    /// Whether batches are drawn by one call each.
    indirect: bool,
}

/// What a pass finds in colour and depth, and what it leaves.
#[derive(Clone, Copy)]
enum Part {
    /// All that is drawn.
    Whole,
    /// The first half: its depth is needed.
    First,
    /// The second half.
    Second,
}

impl WgpuDevice {
    /// Draws one picture, with culled meshes before all others.
    pub(super) fn draw_frame(
        &mut self,
        frame: &Frame,
        passes: &Passes<'_, WgpuGeometry>,
        culled: Option<&Culled<'_, WgpuGeometry>>,
    ) -> Result<(), RenderError> {
        if cfg!(debug_assertions) {
            for batch in passes.batches() {
                let geometry = batch.geometry;
                batch.check(geometry.quad_capacity, geometry.slot_capacity())?;
            }
        }
        self.opened.fault.check("drawing")?;
        let canvas = self.target.canvas(&self.opened)?;
        self.shown = canvas.is_some();
        let Some(canvas) = canvas else { return self.opened.fault.check("drawing") };
        let indirect = passes.indirect && self.indirect;
        let contents = Contents { passes, culled, indirect };
        self.upload(frame, &contents)?;
        let commands = self.encode(&canvas.color, &contents)?;
        self.opened.queue.submit(self.copies.take().into_iter().chain([commands]));
        self.progress.count(&self.opened.queue);
        if let Some(culler) = self.culler.as_mut().filter(|_| culled.is_some()) {
            culler.submitted();
        }
        if let Some(surface) = canvas.surface {
            self.opened.queue.present(surface);
        }
        self.opened.fault.check("drawing")
    }

    /// Uploads what this frame needs: its uniforms, for indirect calls the commands of all
    /// batches, one after another, and what has changed of culled meshes.
    fn upload(&mut self, frame: &Frame, contents: &Contents<'_>) -> Result<(), RenderError> {
        let Contents { passes, culled, indirect } = *contents;
        if let Some(culled) = culled {
            self.prepare_culling(culled)?;
        }
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

    fn prepare_culling(&mut self, culled: &Culled<'_, WgpuGeometry>) -> Result<(), RenderError> {
        self.culls().map_err(|reason| RenderError::Device {
            during: "culling on the GPU",
            reason: reason.into(),
        })?;
        let (size, depth) = (self.target.size(), self.target.depth());
        let culler = match &mut self.culler {
            Some(culler) => culler,
            none => none.insert(Culler::new(&self.opened, size, depth)?),
        };
        culler.prepare(&self.opened, culled, size, depth)
    }

    fn encode(
        &mut self,
        canvas: &wgpu::TextureView,
        contents: &Contents<'_>,
    ) -> Result<wgpu::CommandBuffer, RenderError> {
        let mut encoder = self.opened.device.create_command_encoder(&Default::default());
        match (contents.culled, &self.culler) {
            (Some(culled), Some(culler)) => {
                culler.encode(&mut encoder, List::Known);
                let mut pass = self.begin_pass(&mut encoder, canvas, Part::First);
                culler.draw(&mut pass, culled, List::Known);
                drop(pass);
                culler.encode(&mut encoder, List::New);
                let mut pass = self.begin_pass(&mut encoder, canvas, Part::Second);
                culler.draw(&mut pass, culled, List::New);
                self.encode_batches(&mut pass, contents);
            }
            _ => {
                let mut pass = self.begin_pass(&mut encoder, canvas, Part::Whole);
                self.encode_batches(&mut pass, contents);
            }
        }
        if let (Some(_), Some(culler)) = (contents.culled, &mut self.culler) {
            let frame = self.progress.submitted() + 1;
            culler.encode_readback(&self.opened, &mut encoder, frame)?;
        }
        Ok(encoder.finish())
    }

    /// A pass over the picture that is ready to draw opaque meshes.
    fn begin_pass<'a>(
        &self,
        encoder: &'a mut wgpu::CommandEncoder,
        color: &wgpu::TextureView,
        part: Part,
    ) -> wgpu::RenderPass<'a> {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("scene"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: color,
                depth_slice: None,
                resolve_target: None,
                ops: part.color_operations(),
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: self.target.depth(),
                depth_ops: Some(part.depth_operations()),
                stencil_ops: None,
            }),
            ..Default::default()
        });
        pass.set_bind_group(0, &self.frame_group, &[]);
        pass.set_index_buffer(self.pattern.slice(..), wgpu::IndexFormat::Uint32);
        pass.set_pipeline(&self.pipelines.opaque);
        pass
    }

    /// Opaque batches, sky, blended batches.
    fn encode_batches(&self, pass: &mut wgpu::RenderPass<'_>, contents: &Contents<'_>) {
        let Contents { passes, indirect, .. } = *contents;
        let mut offset_bytes = COMMANDS_OFFSET;
        self.encode_layer(pass, passes.opaque, indirect, &mut offset_bytes);
        pass.set_pipeline(&self.pipelines.sky);
        pass.draw(0..3, 0..1);
        if !passes.blended.is_empty() {
            pass.set_pipeline(&self.pipelines.blended);
            self.encode_layer(pass, passes.blended, indirect, &mut offset_bytes);
        }
    }

    fn encode_layer(
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

impl Part {
    const fn color_operations(self) -> wgpu::Operations<wgpu::Color> {
        let load = match self {
            Self::Second => wgpu::LoadOp::Load,
            _ => wgpu::LoadOp::Clear(wgpu::Color::BLACK),
        };
        wgpu::Operations { load, store: wgpu::StoreOp::Store }
    }

    const fn depth_operations(self) -> wgpu::Operations<f32> {
        let load = match self {
            Self::Second => wgpu::LoadOp::Load,
            // Depth is reversed: nothing is nearer than the farthest.
            _ => wgpu::LoadOp::Clear(0.0),
        };
        let store = match self {
            Self::First => wgpu::StoreOp::Store,
            _ => wgpu::StoreOp::Discard,
        };
        wgpu::Operations { load, store }
    }
}
