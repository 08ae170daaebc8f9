//! Attachments of a device's pictures, with one or several samples a pixel.

use super::{
    adapter::Opened,
    pipelines::{DEPTH_FORMAT, depth_state},
};
use crate::samples::Samples;

/// Attachments besides the picture: depth, and the colours of samples.
pub(super) struct Attachments {
    pub(super) samples: Samples,
    /// Colours with several samples a pixel, from which the picture is resolved. `None`: the picture
    /// is drawn to directly.
    pub(super) colors: Option<wgpu::TextureView>,
    /// Store operation for colours that were resolved.
    pub(super) resolved_store: wgpu::StoreOp,
    pub(super) depth: wgpu::TextureView,
    /// Created when the first frame with several samples a pixel is culled.
    farthest: Option<FarthestDepth>,
}

/// Depth with one sample a pixel: the farthest depth of its samples.
struct FarthestDepth {
    view: wgpu::TextureView,
    pipeline: wgpu::RenderPipeline,
    group: wgpu::BindGroup,
}

/// Part of the scene that a pass draws, which determines its load and store operations.
#[derive(Clone, Copy)]
pub(super) enum Part {
    /// All draws.
    Whole,
    /// The first half, whose depth is needed afterwards.
    First,
    /// The second half.
    Second,
}

impl Attachments {
    pub(super) fn new(
        device: &wgpu::Device,
        size: [u32; 2],
        format: wgpu::TextureFormat,
        samples: Samples,
    ) -> Self {
        let colors = (samples != Samples::One).then(|| {
            let usage = wgpu::TextureUsages::RENDER_ATTACHMENT;
            texture(device, ("samples", samples), size, format, usage)
                .create_view(&wgpu::TextureViewDescriptor::default())
        });
        let depth = depth_view(device, size, samples);
        // wgpu's OpenGL backend (30.0) answers a discard by drawing to the picture with implicit
        // samples, which needs a depth of the same kind.
        let resolved_store =
            if is_opengl(device) { wgpu::StoreOp::Store } else { wgpu::StoreOp::Discard };
        Self { samples, colors, resolved_store, depth, farthest: None }
    }

    /// The depth that culling reads.
    pub(super) fn depth_for_culling(&self) -> &wgpu::TextureView {
        self.farthest.as_ref().map_or(&self.depth, |farthest| &farthest.view)
    }

    /// Creates the depth that culling reads, if it does not exist.
    pub(super) fn prepare_culling(&mut self, device: &wgpu::Device, size: [u32; 2]) {
        if self.samples != Samples::One && self.farthest.is_none() {
            self.farthest = Some(FarthestDepth::new(device, size, &self.depth));
        }
    }

    /// Encodes the computation of the depth that culling reads, from the current depth.
    pub(super) fn encode_depth_for_culling(&self, encoder: &mut wgpu::CommandEncoder) {
        let Some(FarthestDepth { view, pipeline, group }) = &self.farthest else { return };
        let load = wgpu::LoadOp::Clear(0.0);
        let depth_ops = Some(wgpu::Operations { load, store: wgpu::StoreOp::Store });
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("farthest depth"),
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view,
                depth_ops,
                stencil_ops: None,
            }),
            ..Default::default()
        });
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, group, &[]);
        pass.draw(0..3, 0..1);
    }
}

impl Part {
    pub(super) const fn is_last(self) -> bool {
        !matches!(self, Self::First)
    }

    /// Operations for colours. The last part of a frame stores them by `last_store`.
    pub(super) fn color_operations(
        self,
        last_store: wgpu::StoreOp,
    ) -> wgpu::Operations<wgpu::Color> {
        let load = wgpu::LoadOp::Clear(wgpu::Color::BLACK);
        let store = if self.is_last() { last_store } else { wgpu::StoreOp::Store };
        wgpu::Operations { load, store }
    }

    pub(super) const fn depth_operations(self) -> wgpu::Operations<f32> {
        // Depth is reversed: 0 is the farthest.
        let load = wgpu::LoadOp::Clear(0.0);
        let store = match self {
            Self::First => wgpu::StoreOp::Store,
            _ => wgpu::StoreOp::Discard,
        };
        wgpu::Operations { load, store }
    }
}

impl FarthestDepth {
    fn new(device: &wgpu::Device, size: [u32; 2], depths: &wgpu::TextureView) -> Self {
        let label = Some("farthest depth");
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label,
            entries: &[wgpu::BindGroupLayoutEntry {
                binding: 0,
                visibility: wgpu::ShaderStages::FRAGMENT,
                ty: wgpu::BindingType::Texture {
                    sample_type: wgpu::TextureSampleType::Depth,
                    view_dimension: wgpu::TextureViewDimension::D2,
                    multisampled: true,
                },
                count: None,
            }],
        });
        let resource = wgpu::BindingResource::TextureView(depths);
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label,
            layout: &layout,
            entries: &[wgpu::BindGroupEntry { binding: 0, resource }],
        });
        let view = depth_view(device, size, Samples::One);
        Self { view, pipeline: farthest_depth_pipeline(device, &layout), group }
    }
}

fn farthest_depth_pipeline(
    device: &wgpu::Device,
    layout: &wgpu::BindGroupLayout,
) -> wgpu::RenderPipeline {
    let label = Some("farthest depth");
    let module = device.create_shader_module(wgpu::include_wgsl!("farthest_depth.wgsl"));
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label,
        bind_group_layouts: &[Some(layout)],
        immediate_size: 0,
    });
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label,
        layout: Some(&layout),
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some("whole_picture"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            buffers: &[],
        },
        primitive: wgpu::PrimitiveState::default(),
        depth_stencil: Some(depth_state(wgpu::CompareFunction::Always, true)),
        multisample: wgpu::MultisampleState::default(),
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: Some("farthest_depth"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            targets: &[],
        }),
        multiview_mask: None,
        cache: None,
    })
}

fn is_opengl(device: &wgpu::Device) -> bool {
    device.adapter_info().backend == wgpu::Backend::Gl
}

fn depth_view(device: &wgpu::Device, size: [u32; 2], samples: Samples) -> wgpu::TextureView {
    // Shaders read the depth when the GPU culls. wgpu's OpenGL backend (30.0) creates no textures
    // with several samples for shaders, and does not cull.
    let is_read = samples == Samples::One || !is_opengl(device);
    let read = wgpu::TextureUsages::TEXTURE_BINDING;
    let usage = if is_read { read } else { wgpu::TextureUsages::empty() };
    let usage = wgpu::TextureUsages::RENDER_ATTACHMENT | usage;
    texture(device, ("depth", samples), size, DEPTH_FORMAT, usage)
        .create_view(&wgpu::TextureViewDescriptor::default())
}

/// Returns the largest number of samples that is not above `samples` and that the device offers for
/// pictures of this format.
pub(super) fn lowered(opened: &Opened, format: wgpu::TextureFormat, samples: Samples) -> Samples {
    let device = &opened.gpu.device;
    // Without this feature every device offers 1 and 4.
    let specific = wgpu::Features::TEXTURE_ADAPTER_SPECIFIC_FORMAT_FEATURES;
    let is_specific = device.features().contains(specific);
    let flags = |format: wgpu::TextureFormat| match &opened.origin {
        Some((_, adapter)) => adapter.get_texture_format_features(format).flags,
        None => format.guaranteed_format_features(device.features()).flags,
    };
    let (colors, depth) = (flags(format), flags(DEPTH_FORMAT));
    let resolves = colors.contains(wgpu::TextureFormatFeatureFlags::MULTISAMPLE_RESOLVE);
    samples.lowered(|count| {
        let is_offered = [colors, depth].iter().all(|it| it.sample_count_supported(count));
        resolves && is_offered && (is_specific || count <= 4)
    })
}

pub(super) fn texture(
    device: &wgpu::Device,
    (label, samples): (&str, Samples),
    [width, height]: [u32; 2],
    format: wgpu::TextureFormat,
    usage: wgpu::TextureUsages,
) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: samples.count(),
        dimension: wgpu::TextureDimension::D2,
        format,
        usage,
        view_formats: &[],
    })
}
