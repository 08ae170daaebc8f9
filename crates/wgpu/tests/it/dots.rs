use std::collections::BTreeMap;

use bytemuck::{Pod, Zeroable};
use drystone_pool::PoolConfig;
use drystone_testing::Random;
use drystone_wgpu::VertexInput;

use super::screen::{SIDE, Screen};

/// A vertex: the column of a pixel, and its colour. The mesh's data is the row.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Dot {
    pub(crate) x: u32,
    pub(crate) rgba: u32,
}

const SHADER: &str = "
struct Dot { x: u32, rgba: u32 }
@group(0) @binding(0) var<storage, read> dots: array<Dot>;
@group(0) @binding(1) var<storage, read> rows: array<u32>;

struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) @interpolate(flat) color: vec4<f32>,
}

fn corner(x: u32, y: u32, rgba: u32) -> Corner {
    let at = (vec2<f32>(f32(x), f32(y)) + 0.5) / 32.0 - 1.0;
    return Corner(vec4<f32>(at.x, -at.y, 0.0, 1.0), unpack4x8unorm(rgba));
}

@vertex
fn pulled(@builtin(vertex_index) vertex: u32, @builtin(instance_index) slot: u32) -> Corner {
    return corner(dots[vertex].x, rows[slot], dots[vertex].rgba);
}

@vertex
fn attributes(@location(0) dot: vec2<u32>, @location(1) row: u32) -> Corner {
    return corner(dot.x, row, dot.y);
}

@fragment
fn fragment(in: Corner) -> @location(0) vec4<f32> {
    return in.color;
}
";

/// A pipeline that draws one pixel for each vertex.
pub(crate) fn pipeline(
    screen: &Screen,
    input: VertexInput,
    layout: Option<&wgpu::BindGroupLayout>,
) -> wgpu::RenderPipeline {
    let device = &screen.device;
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(SHADER.into()),
    });
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &layout.map(Some).into_iter().collect::<Vec<_>>(),
        immediate_size: 0,
    });
    let buffer = |array_stride, step_mode, attributes| {
        Some(wgpu::VertexBufferLayout { array_stride, step_mode, attributes })
    };
    let dot = wgpu::vertex_attr_array![0 => Uint32x2];
    let row = wgpu::vertex_attr_array![1 => Uint32];
    let attributes = [
        buffer(8, wgpu::VertexStepMode::Vertex, &dot[..]),
        buffer(4, wgpu::VertexStepMode::Instance, &row[..]),
    ];
    let (entry, buffers) = match input {
        VertexInput::Pulled { .. } => ("pulled", &[][..]),
        VertexInput::Attributes { .. } => ("attributes", &attributes[..]),
    };
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: None,
        layout: Some(&layout),
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some(entry),
            compilation_options: Default::default(),
            buffers,
        },
        primitive: wgpu::PrimitiveState {
            topology: wgpu::PrimitiveTopology::PointList,
            ..Default::default()
        },
        depth_stencil: None,
        multisample: wgpu::MultisampleState::default(),
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: Some("fragment"),
            compilation_options: Default::default(),
            targets: &[Some(wgpu::TextureFormat::Rgba8Unorm.into())],
        }),
        multiview_mask: None,
        cache: None,
    })
}

/// A pool of small buffers, so that it grows and shrinks often. An element is a point.
pub(crate) fn small_pool() -> PoolConfig {
    PoolConfig::default()
        .with_min_buffer_elements(64)
        .with_max_buffer_elements(256)
        .with_first_slots(2)
        .with_spare_frames(2)
        .with_indices_per_element(1)
        .with_vertices_per_element(1)
}

/// The visible dots of each row: the twin of a pool.
#[derive(Default)]
pub(crate) struct Rows(BTreeMap<u32, Vec<Dot>>);

impl Rows {
    pub(crate) fn set(&mut self, row: u32, dots: Vec<Dot>) {
        self.0.insert(row, dots);
    }

    pub(crate) fn remove(&mut self, row: u32) {
        self.0.remove(&row);
    }

    pub(crate) fn picture(&self) -> Vec<u32> {
        let mut pixels = vec![0; (SIDE * SIDE) as usize];
        for (row, dots) in &self.0 {
            for dot in dots {
                pixels[(row * SIDE + dot.x) as usize] = dot.rgba;
            }
        }
        pixels
    }
}

/// Dots of random number and colours.
pub(crate) fn random_dots(random: &mut Random) -> Vec<Dot> {
    let count = random.below(SIDE + 1);
    (0..count).map(|x| Dot { x, rgba: random.bits() as u32 }).collect()
}
