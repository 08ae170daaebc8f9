//! Drawing of overlays: a pass after the scene's, with one call for each part.

use std::collections::HashMap;

use wgpu::{BufferUsages as Usage, util::TextureDataOrder};

use super::{
    adapter::Opened,
    pipelines::{Attachment, multisample},
};
use crate::{
    error::RenderError,
    overlay::{Overlay, OverlayCorner, OverlayPart, OverlayPatch},
};

/// Initial size of the corners' buffer, and of the indices' buffer, in bytes.
const FIRST_BYTES: u64 = 1 << 16;

pub(super) struct OverlayPainter {
    /// A pipeline for each kind of attachment that was drawn to.
    pipelines: HashMap<Attachment, wgpu::RenderPipeline>,
    /// Layouts of the scale, and of a texture with its sampler.
    layouts: [wgpu::BindGroupLayout; 2],
    sampler: wgpu::Sampler,
    scale: Scale,
    sizes: HashMap<u64, [u32; 2]>,
    textures: HashMap<u64, Texture>,
    corners: wgpu::Buffer,
    indices: wgpu::Buffer,
    parts: Vec<OverlayPart>,
}

/// Factors from pixels to clip space.
struct Scale {
    buffer: wgpu::Buffer,
    group: wgpu::BindGroup,
}

struct Texture {
    texture: wgpu::Texture,
    group: wgpu::BindGroup,
}

impl OverlayPainter {
    pub(super) fn new(opened: &Opened) -> Result<Self, RenderError> {
        let device = &opened.gpu.device;
        let layouts = bind_group_layouts(device);
        let scale = Scale::new(opened, &layouts[0])?;
        let [corners, indices] = [Usage::VERTEX, Usage::INDEX]
            .map(|usage| opened.buffer("overlay", FIRST_BYTES, usage | Usage::COPY_DST));
        let sampler = device.create_sampler(&wgpu::SamplerDescriptor {
            label: Some("overlay"),
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            ..Default::default()
        });
        Ok(Self {
            pipelines: HashMap::new(),
            layouts,
            sampler,
            scale,
            sizes: HashMap::new(),
            textures: HashMap::new(),
            corners: corners?,
            indices: indices?,
            parts: Vec::new(),
        })
    }

    /// Uploads the changes and stores the parts to draw.
    pub(super) fn set(&mut self, opened: &Opened, overlay: &Overlay) -> Result<(), RenderError> {
        overlay.check(&mut self.sizes)?;
        for patch in &overlay.patches {
            let known = self.textures.get(&patch.texture).filter(|_| patch.at.is_some());
            match known {
                Some(Texture { texture, .. }) => write(&opened.gpu.queue, texture, patch),
                None => drop(self.textures.insert(patch.texture, self.texture(opened, patch))),
            }
        }
        overlay.freed.iter().for_each(|texture| drop(self.textures.remove(texture)));
        let uploads = [
            (&mut self.corners, Usage::VERTEX, bytemuck::cast_slice(&overlay.corners)),
            (&mut self.indices, Usage::INDEX, bytemuck::cast_slice(&overlay.indices)),
        ];
        for (there, usage, bytes) in uploads {
            let bytes: &[u8] = bytes;
            let size_bytes = bytes.len() as u64;
            if size_bytes > there.size() {
                let capacity = size_bytes.next_power_of_two();
                *there = opened.buffer("overlay", capacity, usage | Usage::COPY_DST)?;
            }
            opened.gpu.queue.write_buffer(there, 0, bytes);
        }
        overlay.parts.clone_into(&mut self.parts);
        Ok(())
    }

    fn texture(&self, opened: &Opened, patch: &OverlayPatch) -> Texture {
        use wgpu::util::DeviceExt;
        let descriptor = wgpu::TextureDescriptor {
            label: Some("overlay"),
            size: extent(patch),
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba8Unorm,
            usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        };
        let (device, order) = (&opened.gpu.device, TextureDataOrder::LayerMajor);
        let texture =
            device.create_texture_with_data(&opened.gpu.queue, &descriptor, order, &patch.rgba);
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("overlay"),
            layout: &self.layouts[1],
            entries: &[
                wgpu::BindGroupEntry {
                    binding: 0,
                    resource: wgpu::BindingResource::TextureView(&view),
                },
                wgpu::BindGroupEntry {
                    binding: 1,
                    resource: wgpu::BindingResource::Sampler(&self.sampler),
                },
            ],
        });
        Texture { texture, group }
    }

    /// Replaces the scale, so that pictures that are encoded but not submitted keep theirs.
    pub(super) fn renew_scale(&mut self, opened: &Opened) -> Result<(), RenderError> {
        self.scale = Scale::new(opened, &self.layouts[0])?;
        Ok(())
    }

    /// Encodes a pass over a picture of this size.
    pub(super) fn encode(
        &mut self,
        (opened, attachment): (&Opened, Attachment),
        encoder: &mut wgpu::CommandEncoder,
        (canvas, size): (&wgpu::TextureView, [u32; 2]),
    ) {
        if self.parts.is_empty() {
            return;
        }
        let [x, y] = size.map(|side| 2.0 / side.max(1) as f32);
        let Self { pipelines, layouts, .. } = self;
        let pipeline = pipelines
            .entry(attachment)
            .or_insert_with(|| pipeline(&opened.gpu.device, layouts, attachment));
        opened.gpu.queue.write_buffer(&self.scale.buffer, 0, bytemuck::bytes_of(&[x, y, 0.0, 0.0]));
        let load = wgpu::Operations { load: wgpu::LoadOp::Load, store: wgpu::StoreOp::Store };
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("overlay"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: canvas,
                depth_slice: None,
                resolve_target: None,
                ops: load,
            })],
            ..Default::default()
        });
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, &self.scale.group, &[]);
        pass.set_vertex_buffer(0, self.corners.slice(..));
        pass.set_index_buffer(self.indices.slice(..), wgpu::IndexFormat::Uint32);
        for part in &self.parts {
            let Some(Texture { group, .. }) = self.textures.get(&part.texture) else { continue };
            let Some([left, top, right, bottom]) = part.clip_within(size) else { continue };
            pass.set_bind_group(1, group, &[]);
            pass.set_scissor_rect(left, top, right - left, bottom - top);
            pass.draw_indexed(part.indices.clone(), 0, 0..1);
        }
    }
}

impl Scale {
    fn new(opened: &Opened, layout: &wgpu::BindGroupLayout) -> Result<Self, RenderError> {
        let usage = Usage::UNIFORM | Usage::COPY_DST;
        let buffer = opened.buffer("scale of overlays", 16, usage)?;
        let group = opened.gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("scale of overlays"),
            layout,
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() }],
        });
        Ok(Self { buffer, group })
    }
}

fn extent(patch: &OverlayPatch) -> wgpu::Extent3d {
    let [width, height] = patch.size;
    wgpu::Extent3d { width, height, depth_or_array_layers: 1 }
}

/// Copies a patch into its texture.
fn write(queue: &wgpu::Queue, texture: &wgpu::Texture, patch: &OverlayPatch) {
    let [x, y] = patch.at.unwrap_or_default();
    let mut target = texture.as_image_copy();
    target.origin = wgpu::Origin3d { x, y, z: 0 };
    let layout = wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some(patch.size[0] * 4),
        rows_per_image: None,
    };
    queue.write_texture(target, &patch.rgba, layout, extent(patch));
}

fn bind_group_layouts(device: &wgpu::Device) -> [wgpu::BindGroupLayout; 2] {
    let entry = |binding, visibility, ty| wgpu::BindGroupLayoutEntry {
        binding,
        visibility,
        ty,
        count: None,
    };
    let scale = wgpu::BindingType::Buffer {
        ty: wgpu::BufferBindingType::Uniform,
        has_dynamic_offset: false,
        min_binding_size: None,
    };
    let image = wgpu::BindingType::Texture {
        sample_type: wgpu::TextureSampleType::Float { filterable: true },
        view_dimension: wgpu::TextureViewDimension::D2,
        multisampled: false,
    };
    let sampler = wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering);
    let groups: [&[wgpu::BindGroupLayoutEntry]; 2] = [
        &[entry(0, wgpu::ShaderStages::VERTEX, scale)],
        &[
            entry(0, wgpu::ShaderStages::FRAGMENT, image),
            entry(1, wgpu::ShaderStages::FRAGMENT, sampler),
        ],
    ];
    groups.map(|entries| {
        device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("overlay"),
            entries,
        })
    })
}

fn pipeline(
    device: &wgpu::Device,
    layouts: &[wgpu::BindGroupLayout; 2],
    Attachment { format, samples, .. }: Attachment,
) -> wgpu::RenderPipeline {
    let shader = device.create_shader_module(wgpu::include_wgsl!("overlay.wgsl"));
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some("overlay"),
        bind_group_layouts: &layouts.each_ref().map(Some),
        immediate_size: 0,
    });
    let attributes = wgpu::vertex_attr_array![0 => Float32x2, 1 => Float32x2, 2 => Unorm8x4];
    let corners = wgpu::VertexBufferLayout {
        array_stride: size_of::<OverlayCorner>() as u64,
        step_mode: wgpu::VertexStepMode::Vertex,
        attributes: &attributes,
    };
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some("overlay"),
        layout: Some(&layout),
        vertex: wgpu::VertexState {
            module: &shader,
            entry_point: Some("overlay_vertex"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            buffers: &[Some(corners)],
        },
        primitive: wgpu::PrimitiveState::default(),
        depth_stencil: None,
        multisample: multisample(samples),
        fragment: Some(wgpu::FragmentState {
            module: &shader,
            entry_point: Some("overlay_fragment"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            targets: &[Some(wgpu::ColorTargetState {
                format,
                blend: Some(wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING),
                write_mask: wgpu::ColorWrites::ALL,
            })],
        }),
        multiview_mask: None,
        cache: None,
    })
}
