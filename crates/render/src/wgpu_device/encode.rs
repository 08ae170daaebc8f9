//! Upload and encoding of one frame.

use drystone_wgpu::{CullList, parts::CallSource};

use super::{
    WgpuDevice, WgpuGeometry,
    attachments::Part,
    cull::{self, PictureCuller},
    pipelines::{Attachment, Pipelines, QuadPipelines, WIRED_STORAGE_BUFFERS},
    wired::WiredDraws,
};
use crate::{
    buffers::BufferKind,
    cull::Culled,
    device::Output,
    error::RenderError,
    frame::{Frame, QuadStyle},
    passes::{Batch, Passes, ShadowPass},
};

/// Contents of one frame.
#[derive(Clone)]
pub(super) struct Contents<'a> {
    pub(super) passes: &'a Passes<'a, WgpuGeometry>,
    /// Style of quads.
    pub(super) style: QuadStyle,
    /// Group with the frame.
    pub(super) group: wgpu::BindGroup,
    /// Whether the sky is drawn.
    pub(super) has_sky: bool,
    /// Buffer and offset in bytes of the commands of all batches, one after another; `None` if each
    /// command is a call.
    pub(super) commands: Option<(wgpu::Buffer, u64)>,
    /// Whether such a call has the GPU read its number of commands. If one call of a frame does,
    /// all must. Mesa's software driver (22.3) also uses the number that it has read for one call
    /// for the calls after it, and skips their commands.
    pub(super) counted: bool,
}

/// Offsets of the next indirect call's data in the buffer of the commands.
pub(super) struct Cursor {
    commands_bytes: u64,
    count_bytes: u64,
    /// Number of the next draw with lines.
    wired_draw: u32,
}

impl Cursor {
    /// Creates the cursor before the first batch.
    pub(super) fn new(contents: &Contents<'_>) -> Self {
        let commands_bytes =
            contents.commands.as_ref().map_or(0, |(_, offset_bytes)| *offset_bytes);
        let all = contents.passes.batches().map(|batch| size_of_val(batch.commands) as u64);
        let count_bytes = commands_bytes + all.sum::<u64>();
        Self { commands_bytes, count_bytes, wired_draw: 0 }
    }

    /// Moves behind a batch.
    pub(super) fn skip(&mut self, batch: &Batch<'_, WgpuGeometry>) {
        self.commands_bytes += size_of_val(batch.commands) as u64;
        self.count_bytes += size_of::<u32>() as u64;
    }
}

impl WgpuDevice {
    /// Submits all writes and copies so far, and then these commands.
    fn submit(&mut self, commands: Option<wgpu::CommandBuffer>) {
        let (transfers, written) = self.transfers.take(&self.opened.gpu);
        self.note(written.map_err(RenderError::from));
        self.opened.gpu.queue.submit(transfers.into_iter().chain(commands));
    }

    /// Stores the error of a write or a copy. The next check for faults must fail, because a frame
    /// would show wrong quads.
    pub(super) fn note(&self, result: Result<(), RenderError>) {
        if let Err(error) = result {
            let is_lost = matches!(error, RenderError::Lost { .. });
            self.opened.fault.note(error.to_string(), is_lost);
        }
    }

    /// Draws one picture, with culled meshes before all others. Returns whether it is shown.
    pub(super) fn draw_frame(
        &mut self,
        frame: &Frame,
        passes: &Passes<'_, WgpuGeometry>,
    ) -> Result<bool, RenderError> {
        // The maps are not those of a picture that is not drawn.
        self.per_frame.shadows.iter_mut().for_each(|maps| maps.token = 0);
        passes.batches().filter(|batch| batch.needs_check()).try_for_each(check)?;
        self.opened.fault.check("drawing")?;
        let canvas = self.target.canvas(&self.opened)?;
        let Some(canvas) = canvas else {
            // Writes for this frame are not retained until the window is visible again.
            self.submit(None);
            return self.opened.fault.check("drawing").map(|()| false);
        };
        let (indirect, culled) = (passes.indirect && self.indirect, passes.culled);
        if let Some(culled) = culled {
            self.prepare_culling(culled, passes)?;
        }
        let counted = indirect
            && culled.is_some()
            && self.culler.as_ref().is_some_and(PictureCuller::is_counted);
        let style = frame.quad_style();
        let is_renewed = self.begin_frame()?;
        let maps = passes.shadows.map(ShadowPass::kinds).unwrap_or_default();
        let is_tiled = self.per_frame.is_tiled();
        let attachment = Attachment { maps, is_tiled, ..self.target.attachment() };
        self.pipelines.select(&self.opened.gpu, attachment)?;
        let layout = &self.pipelines.frame_layout;
        let group = self.per_frame.prepare((&self.opened, layout), passes, is_renewed)?;
        self.pipelines.prepare(&self.opened.gpu.device, style);
        if style == QuadStyle::Wired {
            self.prepare_lines(passes)?;
        } else if self.per_frame.has_textures() {
            self.pipelines.prepare_textured(&self.opened.gpu.device);
        }
        self.per_frame.write(&self.opened, frame)?;
        let commands = if indirect { Some(self.upload(passes, counted)?) } else { None };
        let bloom = (passes.bloom, is_renewed);
        self.per_frame.prepare_bloom((&self.opened, &self.target), &frame.emitted(), bloom)?;
        let has_sky = self.target.has_sky();
        let contents = Contents { passes, style, group, has_sky, commands, counted };
        match self.target.take_encoder() {
            Some(mut encoder) => {
                let encoded = self.encode(&mut encoder, &canvas.color, &contents);
                if encoded.is_ok() {
                    self.progress.count_encoded(&encoder);
                    self.per_frame.lend(&encoder);
                }
                self.target.return_encoder(encoder);
                encoded?;
                self.submit(None);
            }
            None => {
                let device = &self.opened.gpu.device;
                let mut encoder = device.create_command_encoder(&Default::default());
                self.encode(&mut encoder, &canvas.color, &contents)?;
                self.submit(Some(encoder.finish()));
                self.progress.count(&self.opened.gpu.queue);
            }
        }
        if let (Some(maps), Some(drawn)) = (&mut self.per_frame.shadows, passes.shadows) {
            maps.token = drawn.token;
        }
        if let Some(surface) = canvas.surface {
            self.opened.gpu.queue.present(surface);
        }
        self.opened.fault.check("drawing").map(|()| true)
    }

    /// Replaces what the frame would overwrite of a lent picture that is not submitted yet. Returns
    /// whether there was one.
    fn begin_frame(&mut self) -> Result<bool, RenderError> {
        let is_lent = self.target.lent.is_some();
        let is_renewed = self.per_frame.begin(&self.opened, is_lent)?;
        if is_renewed {
            self.wired = None;
            if let Some(overlay) = &mut self.overlay {
                overlay.renew_scale(&self.opened)?;
            }
        }
        Ok(is_renewed)
    }

    /// Uploads the commands of all batches. Counted calls also need the numbers of commands. Returns
    /// buffer and offset.
    fn upload(
        &mut self,
        passes: &Passes<'_, WgpuGeometry>,
        counted: bool,
    ) -> Result<(wgpu::Buffer, u64), RenderError> {
        let counts = passes.batches().filter(|_| counted).map(|batch| batch.commands.len() as u32);
        let counts: Vec<u32> = counts.collect();
        let commands = passes.batches().map(|batch| bytemuck::cast_slice(batch.commands));
        let parts = commands.chain(std::iter::once(bytemuck::cast_slice(&counts)));
        let uploads = &mut self.per_frame.commands;
        uploads.restart();
        let (buffer, offset_bytes) = uploads.push(&self.opened.gpu, parts)?;
        Ok((buffer.clone(), offset_bytes))
    }

    /// Prepares the draws of triangles with lines, if there are any.
    fn prepare_lines(&mut self, passes: &Passes<'_, WgpuGeometry>) -> Result<(), RenderError> {
        let batches =
            passes.scene_batches().filter(|batch| batch.indices.is_some() && can_draw(batch));
        if batches.clone().next().is_none() {
            return Ok(());
        }
        let allowed = self.opened.gpu.device.limits().max_storage_buffers_per_shader_stage;
        if allowed < WIRED_STORAGE_BUFFERS {
            let reason = format!(
                "the shader needs {WIRED_STORAGE_BUFFERS} storage buffers, but this device allows {allowed}"
            );
            return Err(RenderError::Device { during: "drawing lines of triangles", reason });
        }
        let has_textures = self.per_frame.has_textures();
        let device = &self.opened.gpu.device;
        let pipelines = self.pipelines.prepare_wired_triangles(device, has_textures);
        WiredDraws::prepare(&mut self.wired, &self.opened, pipelines, batches)
    }

    /// Uploads the data for culling.
    ///
    /// # Errors
    /// `NoCulling` when the device is out of memory or refuses it; the memory of culling is freed
    /// then. `Device` for invalid records. `Lost`.
    fn prepare_culling(
        &mut self,
        culled: &Culled<'_, WgpuGeometry>,
        passes: &Passes<'_, WgpuGeometry>,
    ) -> Result<(), RenderError> {
        self.info.culling.map_err(RenderError::cannot_cull)?;
        if cfg!(debug_assertions) {
            cull::check(culled)?;
        }
        let Self { opened, target, culler, per_frame, .. } = self;
        let prepared = opened.fault.scope("preparing to cull", || {
            target.prepare_culling(&opened.gpu.device);
            let culler = match culler {
                Some(culler) => culler,
                none => none.insert(PictureCuller::new(opened)?),
            };
            culler.prepare((culled, passes), target.depth_for_culling(), per_frame.was_lent())
        });
        prepared.and_then(|done| done).map_err(|error| match error {
            RenderError::Lost { .. } => error,
            error => {
                self.culler = None;
                RenderError::NoCulling { backend: self.describe(), reason: error.to_string() }
            }
        })
    }

    fn encode(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        canvas: &wgpu::TextureView,
        contents: &Contents<'_>,
    ) -> Result<(), RenderError> {
        let emitted = |device: &Self, encoder: &mut _, part| match &device.per_frame.bloom {
            Some(bloom) => bloom.encode_emitted(device, encoder, (contents, part)),
            None => Ok(()),
        };
        if let Some(maps) = &self.per_frame.shadows {
            maps.encode(encoder, self, contents);
        }
        match (contents.passes.culled, &self.culler) {
            (Some(culled), Some(culler)) => {
                culler.encode(encoder, CullList::Known)?;
                let mut pass = self.begin_pass(encoder, canvas, contents, Part::First);
                culler.draw(&mut pass, culled, CullList::Known)?;
                drop(pass);
                emitted(self, encoder, Part::First)?;
                self.target.encode_depth_for_culling(encoder);
                culler.encode(encoder, CullList::New)?;
                let mut pass = self.begin_pass(encoder, canvas, contents, Part::Second);
                culler.draw(&mut pass, culled, CullList::New)?;
                self.encode_batches(&mut pass, contents, &self.pipelines);
                drop(pass);
                emitted(self, encoder, Part::Second)?;
            }
            _ => {
                let mut pass = self.begin_pass(encoder, canvas, contents, Part::Whole);
                self.encode_batches(&mut pass, contents, &self.pipelines);
                drop(pass);
                emitted(self, encoder, Part::Whole)?;
            }
        }
        if let Some(bloom) = &mut self.per_frame.bloom {
            let attachment = self.target.canvas_attachment();
            bloom.encode_glow((&self.opened, attachment), encoder, canvas);
        }
        if let Some(overlay) = &mut self.overlay {
            let attachment = self.target.canvas_attachment();
            overlay.encode((&self.opened, attachment), encoder, (canvas, self.target.size()));
        }
        if let (Some(_), Some(culler)) = (contents.passes.culled, &mut self.culler) {
            let frame = self.progress.submitted() + 1;
            culler.encode_counts(encoder, frame)?;
        }
        Ok(())
    }

    /// Begins a pass over the picture, with the state for opaque meshes.
    fn begin_pass<'a>(
        &self,
        encoder: &'a mut wgpu::CommandEncoder,
        canvas: &wgpu::TextureView,
        contents: &Contents<'_>,
        part: Part,
    ) -> wgpu::RenderPass<'a> {
        let colors = self.target.colors();
        let own = (part.color_operations(self.target.resolved_store()), part.depth_operations());
        let (mut color, mut depth) = self.target.lent_operations().unwrap_or(own);
        if matches!(part, Part::Second) {
            (color.load, depth.load) = (wgpu::LoadOp::Load, wgpu::LoadOp::Load);
        }
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("scene"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: colors.unwrap_or(canvas),
                depth_slice: None,
                resolve_target: colors.filter(|_| part.is_last()).map(|_| canvas),
                ops: color,
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: self.target.depth(),
                depth_ops: Some(depth),
                stencil_ops: None,
            }),
            ..Default::default()
        });
        pass.set_bind_group(0, &contents.group, &[]);
        pass.set_index_buffer(self.pattern.slice(..), wgpu::IndexFormat::Uint32);
        pass.set_pipeline(&self.pipelines.of_quads(contents.style).opaque);
        pass
    }

    /// Encodes opaque batches, sky, blended batches.
    pub(super) fn encode_batches(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        contents: &Contents<'_>,
        pipelines: &Pipelines,
    ) {
        let passes = contents.passes;
        let mut cursor = Cursor::new(contents);
        let Pipelines { sky, .. } = pipelines;
        let (is_wired, has_textures) =
            (contents.style == QuadStyle::Wired, self.per_frame.has_textures());
        let [triangles, blended_triangles] = pipelines.of_triangles(is_wired, has_textures);
        let QuadPipelines { opaque, blended, cubes } = pipelines.of_quads(contents.style);
        let solid = [
            (BufferKind::Quads, opaque),
            (BufferKind::Cubes, cubes),
            (BufferKind::Vertices, triangles),
        ];
        self.encode_layer(pass, (&solid, passes.opaque), contents, &mut cursor);
        if contents.has_sky {
            pass.set_pipeline(sky);
            pass.draw(0..3, 0..1);
        }
        if !passes.blended.is_empty() {
            let blended = [(BufferKind::Quads, blended), (BufferKind::Vertices, blended_triangles)];
            self.encode_layer(pass, (&blended, passes.blended), contents, &mut cursor);
        }
    }

    pub(super) fn encode_layer(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        (pipelines, batches): (&[(BufferKind, &wgpu::RenderPipeline)], &[Batch<'_, WgpuGeometry>]),
        contents: &Contents<'_>,
        cursor: &mut Cursor,
    ) {
        let mut last = None;
        for batch in batches {
            let Cursor { commands_bytes, count_bytes, .. } = *cursor;
            cursor.skip(batch);
            let kind = batch.geometry.kind;
            let pipeline = pipelines.iter().find(|(of, _)| *of == kind);
            let pipeline = pipeline.filter(|_| can_draw(batch));
            let Some((_, pipeline)) = pipeline else { continue };
            let is_other = last.replace(kind) != Some(kind);
            if is_other {
                pass.set_pipeline(pipeline);
            }
            if is_other || batch.indices.is_some() {
                let indices =
                    batch.indices.map_or(self.pattern.slice(..), WgpuGeometry::index_slice);
                pass.set_index_buffer(indices, wgpu::IndexFormat::Uint32);
            }
            pass.set_bind_group(1, &batch.geometry.bind_group, &[]);
            let wired = self.wired.as_ref().filter(|_| contents.style == QuadStyle::Wired);
            if let (Some(wired), Some(indices)) = (wired, batch.indices) {
                cursor.wired_draw = wired.draw(pass, batch, indices, cursor.wired_draw);
                continue;
            }
            let source = match &contents.commands {
                Some((buffer, _)) if contents.counted => CallSource::Counted {
                    commands: (buffer, commands_bytes),
                    count: (buffer, count_bytes),
                },
                Some((buffer, _)) => CallSource::Indirect(buffer, commands_bytes),
                None => CallSource::Single,
            };
            source.draw(pass, batch.commands);
        }
    }
}

/// Whether the entries of a batch can be drawn with its indices, or without.
fn is_drawn(batch: &Batch<'_, WgpuGeometry>) -> bool {
    batch.geometry.kind.is_drawn_by(batch.indices.map(|indices| indices.kind))
}

/// Whether a batch has anything to draw.
fn can_draw(batch: &Batch<'_, WgpuGeometry>) -> bool {
    is_drawn(batch) && !batch.commands.is_empty()
}

/// Checks the ranges of a batch, which drivers do not check.
fn check(batch: &Batch<'_, WgpuGeometry>) -> Result<(), RenderError> {
    let geometry = batch.geometry;
    if !is_drawn(batch) {
        return Ok(());
    }
    if let Some(indices) = batch.indices {
        let (vertices, indices) = (geometry.capacity, indices.capacity);
        return batch.check_indexed(vertices, indices, geometry.slot_capacity());
    }
    let quads = geometry.kind.pattern_quads(geometry.capacity);
    batch.check(quads, geometry.slot_capacity())
}
