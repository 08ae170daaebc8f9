//! The pipeline: two vertex buffers in, a colour out.

use super::{Vertex, target::DEPTH_FORMAT, target::FORMAT};
use crate::garden::CrystalData;

/// The pipeline, and the group that binds its camera.
pub(crate) fn make(
    device: &wgpu::Device,
    camera: &wgpu::Buffer,
) -> (wgpu::RenderPipeline, wgpu::BindGroup) {
    let module = device.create_shader_module(wgpu::include_wgsl!("../shader.wgsl"));
    let by_vertex = wgpu::vertex_attr_array![0 => Float32x3, 1 => Unorm8x4];
    let by_instance = wgpu::vertex_attr_array![2 => Float32x3, 3 => Float32];
    let buffers = [
        buffer(size_of::<Vertex>(), wgpu::VertexStepMode::Vertex, &by_vertex),
        buffer(size_of::<CrystalData>(), wgpu::VertexStepMode::Instance, &by_instance),
    ];
    let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some("crystals"),
        layout: None,
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some("vertex"),
            compilation_options: Default::default(),
            buffers: &buffers,
        },
        // Crystals seen from outside hide their backs by depth.
        primitive: wgpu::PrimitiveState::default(),
        depth_stencil: Some(wgpu::DepthStencilState {
            format: DEPTH_FORMAT,
            depth_write_enabled: Some(true),
            depth_compare: Some(wgpu::CompareFunction::Less),
            stencil: wgpu::StencilState::default(),
            bias: wgpu::DepthBiasState::default(),
        }),
        multisample: wgpu::MultisampleState::default(),
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: Some("fragment"),
            compilation_options: Default::default(),
            targets: &[Some(FORMAT.into())],
        }),
        multiview_mask: None,
        cache: None,
    });
    let camera_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("camera"),
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: camera.as_entire_binding() }],
    });
    (pipeline, camera_group)
}

fn buffer(
    stride_bytes: usize,
    step_mode: wgpu::VertexStepMode,
    attributes: &[wgpu::VertexAttribute],
) -> Option<wgpu::VertexBufferLayout<'_>> {
    let array_stride = stride_bytes as u64;
    Some(wgpu::VertexBufferLayout { array_stride, step_mode, attributes })
}
