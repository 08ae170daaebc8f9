//! Layouts and pipelines, one set for one colour format.

use wgpu::ShaderStages;

pub(super) const DEPTH_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// What is made once and bound every frame.
pub(super) struct Pipelines {
    pub(super) frame_layout: wgpu::BindGroupLayout,
    pub(super) geometry_layout: wgpu::BindGroupLayout,
    pub(super) opaque: wgpu::RenderPipeline,
    pub(super) cubes: wgpu::RenderPipeline,
    pub(super) sky: wgpu::RenderPipeline,
    pub(super) blended: wgpu::RenderPipeline,
}

/// How one pipeline differs from the others.
struct Stage {
    label: &'static str,
    vertex: &'static str,
    fragment: &'static str,
    depth_write: bool,
    blend: Option<wgpu::BlendState>,
    cull: Option<wgpu::Face>,
}

impl Pipelines {
    pub(super) fn new(device: &wgpu::Device, format: wgpu::TextureFormat) -> Self {
        let shader = device.create_shader_module(wgpu::include_wgsl!("shader.wgsl"));
        let both = ShaderStages::VERTEX_FRAGMENT;
        let frame_layout = layout(device, "frame", &[uniform(0, both), storage(1)]);
        let geometry_layout = layout(device, "geometry", &[storage(0), storage(1)]);
        let quad_layout = pipeline_layout(device, &[Some(&frame_layout), Some(&geometry_layout)]);
        // The sky is drawn over an empty scene too, where no geometry is bound.
        let sky_layout = pipeline_layout(device, &[Some(&frame_layout)]);
        let stage = |layout, stage| pipeline(device, &shader, layout, format, &stage);
        let solid = |label, vertex| {
            let fragment = "surface_fragment";
            let cull = Some(wgpu::Face::Back);
            let solid = Stage { label, vertex, fragment, depth_write: true, blend: None, cull };
            stage(&quad_layout, solid)
        };
        let opaque = solid("opaque", "opaque_vertex");
        let cubes = solid("cubes", "cube_vertex");
        let sky = stage(
            &sky_layout,
            Stage {
                label: "sky",
                vertex: "sky_vertex",
                fragment: "sky_fragment",
                depth_write: false,
                blend: None,
                cull: None,
            },
        );
        let blended = stage(
            &quad_layout,
            Stage {
                label: "blended",
                vertex: "blended_vertex",
                fragment: "surface_fragment",
                depth_write: false,
                blend: Some(wgpu::BlendState::ALPHA_BLENDING),
                cull: Some(wgpu::Face::Back),
            },
        );
        Self { frame_layout, geometry_layout, opaque, cubes, sky, blended }
    }
}

fn pipeline(
    device: &wgpu::Device,
    shader: &wgpu::ShaderModule,
    layout: &wgpu::PipelineLayout,
    format: wgpu::TextureFormat,
    stage: &Stage,
) -> wgpu::RenderPipeline {
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(stage.label),
        layout: Some(layout),
        vertex: wgpu::VertexState {
            module: shader,
            entry_point: Some(stage.vertex),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            buffers: &[],
        },
        primitive: wgpu::PrimitiveState { cull_mode: stage.cull, ..Default::default() },
        depth_stencil: Some(wgpu::DepthStencilState {
            format: DEPTH_FORMAT,
            depth_write_enabled: Some(stage.depth_write),
            // Depth is reversed: nearer is greater.
            depth_compare: Some(wgpu::CompareFunction::GreaterEqual),
            stencil: wgpu::StencilState::default(),
            bias: wgpu::DepthBiasState::default(),
        }),
        multisample: wgpu::MultisampleState::default(),
        fragment: Some(wgpu::FragmentState {
            module: shader,
            entry_point: Some(stage.fragment),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            targets: &[Some(wgpu::ColorTargetState {
                format,
                blend: stage.blend,
                write_mask: wgpu::ColorWrites::ALL,
            })],
        }),
        multiview_mask: None,
        cache: None,
    })
}

fn pipeline_layout(
    device: &wgpu::Device,
    groups: &[Option<&wgpu::BindGroupLayout>],
) -> wgpu::PipelineLayout {
    device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: groups,
        immediate_size: 0,
    })
}

fn layout(
    device: &wgpu::Device,
    label: &str,
    entries: &[wgpu::BindGroupLayoutEntry],
) -> wgpu::BindGroupLayout {
    let label = Some(label);
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries })
}

fn uniform(binding: u32, visibility: ShaderStages) -> wgpu::BindGroupLayoutEntry {
    entry(binding, visibility, wgpu::BufferBindingType::Uniform)
}

fn storage(binding: u32) -> wgpu::BindGroupLayoutEntry {
    let read = wgpu::BufferBindingType::Storage { read_only: true };
    entry(binding, ShaderStages::VERTEX, read)
}

fn entry(
    binding: u32,
    visibility: ShaderStages,
    ty: wgpu::BufferBindingType,
) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    }
}
