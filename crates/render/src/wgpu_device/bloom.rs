//! Bloom: the picture of emitted light, its blurring, and its addition to the canvas. See
//! `crate::bloom`.

use std::collections::HashMap;

use drystone_wgpu::CullList;
use wgpu::{BlendComponent, BlendFactor, BlendState};

use super::{
    WgpuDevice,
    adapter::Opened,
    attachments::{Attachments, Part, lowered, texture},
    encode::Contents,
    pipelines::{Attachment, Pipelines, layout, multisample, pipeline_layout},
};
use crate::{
    bloom::{SAMPLES, WIDTHS, sizes},
    error::RenderError,
    frame::{Frame, QuadStyle},
    samples::Samples,
    shadows::MapKinds,
};

/// Format of the glows. Eight bits would show steps in faint light.
const GLOW_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba16Float;

const CREATING: &str = "creating bloom";

/// Pipelines and textures of bloom. Created when the first picture needs them.
pub(super) struct Bloom {
    /// Pipelines of the picture of emitted light.
    scene: Pipelines,
    format: wgpu::TextureFormat,
    samples: Samples,
    module: wgpu::ShaderModule,
    /// Layout of a source.
    layout: wgpu::BindGroupLayout,
    halve: wgpu::RenderPipeline,
    widen: wgpu::RenderPipeline,
    /// Pipelines that add the glow, for each kind of canvas.
    add: HashMap<Attachment, wgpu::RenderPipeline>,
    /// `None` after a picture without bloom.
    textures: Option<Textures>,
    /// The frame of emitted light.
    pub(super) frame: wgpu::Buffer,
}

/// Textures for pictures of one size.
struct Textures {
    picture: [u32; 2],
    /// Depth and samples of the picture of emitted light.
    attachments: Attachments,
    emitted: Source,
    /// The glows, each half as large as the one before. The first becomes their sum.
    glows: [Source; WIDTHS],
    /// The frame's group of the current picture.
    group: wgpu::BindGroup,
}

/// A texture that is drawn to, and then read.
struct Source {
    view: wgpu::TextureView,
    group: wgpu::BindGroup,
}

/// Adds light, so that the sum is at most 1. Opacity stays.
const SCREEN: BlendState = BlendState {
    color: BlendComponent {
        src_factor: BlendFactor::OneMinusDst,
        dst_factor: BlendFactor::One,
        operation: wgpu::BlendOperation::Add,
    },
    alpha: BlendComponent {
        src_factor: BlendFactor::Zero,
        dst_factor: BlendFactor::One,
        operation: wgpu::BlendOperation::Add,
    },
};

/// Adds light to a glow.
const SUM: BlendState = BlendState {
    color: BlendComponent {
        src_factor: BlendFactor::One,
        dst_factor: BlendFactor::One,
        operation: wgpu::BlendOperation::Add,
    },
    alpha: BlendComponent::REPLACE,
};

impl Bloom {
    /// # Errors
    /// `Device` when the device is out of memory.
    pub(super) fn new(
        opened: &Opened,
        format: wgpu::TextureFormat,
        is_tiled: bool,
    ) -> Result<Self, RenderError> {
        let frame = frame_buffer(opened)?;
        let device = &opened.gpu.device;
        let samples = lowered(opened, format, SAMPLES);
        opened.fault.scope(CREATING, || {
            let scene = Pipelines::new(device, emitted_attachment(format, samples, is_tiled));
            let module = device.create_shader_module(wgpu::include_wgsl!("bloom.wgsl"));
            let layout = layout(device, "bloom", &[source_entry()]);
            let glow =
                |entry, blend| pipeline(device, (&module, entry), &layout, (GLOW_FORMAT, 1, blend));
            let (halve, widen) = (glow("halve", None), glow("widen", Some(SUM)));
            let (add, textures) = (HashMap::new(), None);
            Self { scene, format, samples, module, layout, halve, widen, add, textures, frame }
        })
    }

    /// Selects the pipelines of the picture of emitted light, for quads with textures or without. Creates
    /// them on first use.
    ///
    /// # Errors
    /// `Device` when the device is out of memory.
    pub(super) fn select(&mut self, opened: &Opened, is_tiled: bool) -> Result<(), RenderError> {
        let attachment = emitted_attachment(self.format, self.samples, is_tiled);
        Ok(self.scene.select(&opened.gpu, attachment)?)
    }

    /// Layout of the frame's group, after [`select`](Self::select).
    pub(super) const fn frame_layout(&self) -> &wgpu::BindGroupLayout {
        &self.scene.frame_layout
    }

    /// Replaces the frame, so that pictures that are encoded but not submitted keep theirs.
    pub(super) fn renew_frame(&mut self, opened: &Opened) -> Result<(), RenderError> {
        self.frame = frame_buffer(opened)?;
        Ok(())
    }

    pub(super) fn free_textures(&mut self) {
        self.textures = None;
    }

    /// Prepares a picture: its frame of emitted light with the group of that, its size, and whether it
    /// has textures.
    ///
    /// # Errors
    /// `Device` when the device is out of memory, `Lost`.
    pub(super) fn prepare(
        &mut self,
        opened: &Opened,
        (frame, group): (&Frame, wgpu::BindGroup),
        (size, has_textures): ([u32; 2], bool),
    ) -> Result<(), RenderError> {
        if has_textures {
            self.scene.prepare_textured(&opened.gpu.device);
        }
        let bytes = std::iter::once(bytemuck::bytes_of(frame));
        opened.gpu.write("the frame of emitted light", &self.frame, 0, bytes)?;
        let Self { textures, layout, format, samples, .. } = self;
        match textures {
            Some(textures) if textures.picture == size => textures.group = group,
            textures => {
                *textures = None;
                let create = || Textures::new(opened, (size, *format, *samples), layout, group);
                *textures = Some(opened.fault.scope(CREATING, create)?);
            }
        }
        Ok(())
    }

    /// Encodes what a part of the scene emits, if the picture has bloom. The culled list of the device
    /// must be the current one.
    ///
    /// # Errors
    /// `Device` if the list was not prepared.
    pub(super) fn encode_emitted(
        &self,
        device: &WgpuDevice,
        encoder: &mut wgpu::CommandEncoder,
        (contents, part): (&Contents<'_>, Part),
    ) -> Result<(), RenderError> {
        let Some((mut pass, pipelines)) = self.begin(encoder, part) else {
            return Ok(());
        };
        pass.set_index_buffer(device.pattern.slice(..), wgpu::IndexFormat::Uint32);
        let list = if part.is_last() { CullList::New } else { CullList::Known };
        if let (Some(culled), Some(culler)) = (contents.passes.culled, &device.culler) {
            culler.draw(&mut pass, culled, list)?;
        }
        if part.is_last() {
            let contents = Contents { style: QuadStyle::Plain, has_sky: false, ..contents.clone() };
            device.encode_batches(&mut pass, &contents, pipelines);
        }
        Ok(())
    }

    /// Begins a pass over the picture of emitted light, with the state for opaque meshes. Returns it with
    /// its pipelines; `None` if the picture has no bloom.
    fn begin<'a>(
        &self,
        encoder: &'a mut wgpu::CommandEncoder,
        part: Part,
    ) -> Option<(wgpu::RenderPass<'a>, &Pipelines)> {
        let Textures { attachments, emitted, group, .. } = self.textures.as_ref()?;
        let colors = attachments.colors.as_ref();
        let (mut color, mut depth) =
            (part.color_operations(attachments.resolved_store), part.depth_operations());
        if matches!(part, Part::Second) {
            (color.load, depth.load) = (wgpu::LoadOp::Load, wgpu::LoadOp::Load);
        }
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("emitted light"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: colors.unwrap_or(&emitted.view),
                depth_slice: None,
                resolve_target: colors.filter(|_| part.is_last()).map(|_| &emitted.view),
                ops: color,
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &attachments.depth,
                depth_ops: Some(depth),
                stencil_ops: None,
            }),
            ..Default::default()
        });
        pass.set_bind_group(0, group, &[]);
        pass.set_pipeline(&self.scene.of_quads(QuadStyle::Plain).opaque);
        Some((pass, &self.scene))
    }

    /// Encodes the glow of the emitted light over the canvas, if the picture has bloom.
    pub(super) fn encode_glow(
        &mut self,
        (opened, attachment): (&Opened, Attachment),
        encoder: &mut wgpu::CommandEncoder,
        canvas: &wgpu::TextureView,
    ) {
        let Self { module, layout, halve, widen, add, textures, .. } = self;
        let Some(Textures { emitted, glows, .. }) = textures else { return };
        let device = &opened.gpu.device;
        let add = add.entry(attachment).or_insert_with(|| {
            let Attachment { format, samples, .. } = attachment;
            pipeline(device, (module, "add"), layout, (format, samples, Some(SCREEN)))
        });
        let (keep, clear) = (wgpu::LoadOp::Load, wgpu::LoadOp::Clear(wgpu::Color::BLACK));
        let mut source = &*emitted;
        for glow in &*glows {
            blur(encoder, halve, source, (&glow.view, clear));
            source = glow;
        }
        for glow in glows[..WIDTHS - 1].iter().rev() {
            blur(encoder, widen, source, (&glow.view, keep));
            source = glow;
        }
        blur(encoder, add, source, (canvas, keep));
    }
}

/// Properties of the attachments of emitted light.
fn emitted_attachment(format: wgpu::TextureFormat, samples: Samples, is_tiled: bool) -> Attachment {
    Attachment { format, samples: samples.count(), maps: MapKinds::default(), is_tiled }
}

/// Creates a buffer for the frame of emitted light.
fn frame_buffer(opened: &Opened) -> Result<wgpu::Buffer, RenderError> {
    let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
    opened.buffer("frame of emitted light", size_of::<Frame>() as u64, usage)
}

impl Textures {
    fn new(
        opened: &Opened,
        (picture, format, samples): ([u32; 2], wgpu::TextureFormat, Samples),
        layout: &wgpu::BindGroupLayout,
        group: wgpu::BindGroup,
    ) -> Self {
        let device = &opened.gpu.device;
        let [emitted, glows @ ..] = sizes(picture);
        Self {
            picture,
            attachments: Attachments::new(device, emitted, format, samples),
            emitted: Source::new(device, emitted, format, layout),
            glows: glows.map(|size| Source::new(device, size, GLOW_FORMAT, layout)),
            group,
        }
    }
}

impl Source {
    fn new(
        device: &wgpu::Device,
        size: [u32; 2],
        format: wgpu::TextureFormat,
        layout: &wgpu::BindGroupLayout,
    ) -> Self {
        let usage = wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING;
        let view = texture(device, ("bloom", Samples::One), size, format, usage)
            .create_view(&wgpu::TextureViewDescriptor::default());
        let resource = wgpu::BindingResource::TextureView(&view);
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("bloom"),
            layout,
            entries: &[wgpu::BindGroupEntry { binding: 0, resource }],
        });
        Self { view, group }
    }
}

/// A texture that shaders read without a sampler.
fn source_entry() -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding: 0,
        visibility: wgpu::ShaderStages::FRAGMENT,
        ty: wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Float { filterable: false },
            view_dimension: wgpu::TextureViewDimension::D2,
            multisampled: false,
        },
        count: None,
    }
}

/// Encodes one step: reads `source`, draws to all of a target.
fn blur(
    encoder: &mut wgpu::CommandEncoder,
    pipeline: &wgpu::RenderPipeline,
    source: &Source,
    (view, load): (&wgpu::TextureView, wgpu::LoadOp<wgpu::Color>),
) {
    let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some("bloom"),
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations { load, store: wgpu::StoreOp::Store },
        })],
        ..Default::default()
    });
    pass.set_pipeline(pipeline);
    pass.set_bind_group(0, &source.group, &[]);
    pass.draw(0..3, 0..1);
}

fn pipeline(
    device: &wgpu::Device,
    (module, entry): (&wgpu::ShaderModule, &str),
    layout: &wgpu::BindGroupLayout,
    (format, samples, blend): (wgpu::TextureFormat, u32, Option<BlendState>),
) -> wgpu::RenderPipeline {
    let compilation_options = wgpu::PipelineCompilationOptions::default();
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(entry),
        layout: Some(&pipeline_layout(device, &[Some(layout)])),
        vertex: wgpu::VertexState {
            module,
            entry_point: Some("whole_picture"),
            compilation_options: compilation_options.clone(),
            buffers: &[],
        },
        primitive: wgpu::PrimitiveState::default(),
        depth_stencil: None,
        multisample: multisample(samples),
        fragment: Some(wgpu::FragmentState {
            module,
            entry_point: Some(entry),
            compilation_options,
            targets: &[Some(wgpu::ColorTargetState {
                format,
                blend,
                write_mask: wgpu::ColorWrites::ALL,
            })],
        }),
        multiview_mask: None,
        cache: None,
    })
}
