use drystone_testing::Random;

use super::super::*;

/// Writes a depth attachment.
const DEPTH_SHADER: &str = "
@group(0) @binding(0) var<storage, read> depths: array<f32>;
@group(0) @binding(1) var<storage, read> width: array<u32>;

@vertex
fn vertex(@builtin(vertex_index) n: u32) -> @builtin(position) vec4<f32> {
    return vec4<f32>(select(-1.0, 3.0, n == 1u), select(-1.0, 3.0, n == 2u), 0.0, 1.0);
}

@fragment
fn fragment(@builtin(position) at: vec4<f32>) -> @builtin(frag_depth) f32 {
    return depths[u32(at.y) * width[0] + u32(at.x)];
}
";

/// A depth attachment whose depths the CPU has chosen.
pub(super) struct Depth {
    pub(super) view: wgpu::TextureView,
    pub(super) size: [u32; 2],
    pub(super) depths: Vec<f32>,
}

impl Depth {
    pub(super) fn new(gpu: &Gpu, random: &mut Random) -> Self {
        let size = [1 + random.below(200), 1 + random.below(150)];
        let [width, height] = size;
        // Blocks of several depths, and few pixels without depth.
        let depths: Vec<f32> = (0..width * height)
            .map(|pixel| {
                let block = pixel % width / 40 * 7 + pixel / width / 40 * 5;
                let is_hole = random.below(2000) == 0;
                if is_hole { 0.0 } else { [0.0, 0.02, 0.5, 0.9][block as usize % 4] }
            })
            .collect();
        let usage = wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING;
        let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Depth32Float,
            usage,
            view_formats: &[],
        });
        let view = texture.create_view(&Default::default());
        let depth = Self { view, size, depths };
        depth.fill(gpu);
        depth
    }

    fn fill(&self, gpu: &Gpu) {
        let device = &gpu.device;
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(DEPTH_SHADER.into()),
        });
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: None,
            layout: None,
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("vertex"),
                compilation_options: Default::default(),
                buffers: &[],
            },
            primitive: Default::default(),
            depth_stencil: Some(wgpu::DepthStencilState {
                format: wgpu::TextureFormat::Depth32Float,
                depth_write_enabled: Some(true),
                depth_compare: Some(wgpu::CompareFunction::Always),
                stencil: Default::default(),
                bias: Default::default(),
            }),
            multisample: Default::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("fragment"),
                compilation_options: Default::default(),
                targets: &[],
            }),
            multiview_mask: None,
            cache: None,
        });
        let usage = wgpu::BufferUsages::STORAGE;
        let depths = gpu.filled_buffer("depths", bytemuck::cast_slice(&self.depths), usage);
        let width = gpu.filled_buffer("width", bytemuck::bytes_of(&self.size[0]), usage).unwrap();
        let layout = pipeline.get_bind_group_layout(0);
        let group = pipelines::bind_buffers(gpu, &layout, [&depths.unwrap(), &width]).unwrap();
        let mut encoder = device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.view,
                depth_ops: Some(wgpu::Operations {
                    load: wgpu::LoadOp::Clear(0.0),
                    store: wgpu::StoreOp::Store,
                }),
                stencil_ops: None,
            }),
            ..Default::default()
        });
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.draw(0..3, 0..1);
        drop(pass);
        gpu.queue.submit([encoder.finish()]);
    }
}
