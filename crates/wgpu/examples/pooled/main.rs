//! Draws crystals with the pool: all meshes are in a few buffers, and one call draws a buffer.
//!
//! ```text
//! cargo run --release -p drystone-wgpu --example pooled -- crystals.png
//! ```
//! The example `plain` is the same program without the pool.

#[path = "../support/mod.rs"]
mod support;

use drystone_pool::{DrawList, MeshHandle, PoolConfig, VertexPool};
use drystone_wgpu::{PoolBuffers, VertexInput};
use support::{COLOR_FORMAT, DEPTH_FORMAT, Instance, Result, Screen, Shape, Vertex};

pub(crate) struct Program {
    pub(crate) screen: Screen,
    pipeline: wgpu::RenderPipeline,
    camera: wgpu::BindGroup,
    buffers: PoolBuffers,
    pool: VertexPool<Vertex, Instance>,
    list: DrawList,
    meshes: Vec<MeshHandle>,
}

impl Program {
    pub(crate) fn open(count: u32) -> Result<Self> {
        let screen = Screen::open()?;
        let pipeline = pipeline(&screen.device);
        let camera = screen.camera(&pipeline);
        // An element is a vertex.
        let config = PoolConfig::default().with_indices_per_element(1).with_vertices_per_element(1);
        let (device, queue, input) = (&screen.device, &screen.queue, VertexInput::default());
        let buffers = PoolBuffers::new::<Vertex, Instance>(device, queue, config, input)?;
        let (pool, list) = (VertexPool::new(buffers.pool_config())?, DrawList::new());
        let meshes = Vec::new();
        let mut program = Self { screen, pipeline, camera, buffers, pool, list, meshes };
        for number in 0..count {
            program.insert(&Shape::new(number, count, 0))?;
        }
        Ok(program)
    }

    fn insert(&mut self, shape: &Shape) -> Result<()> {
        let Shape { vertices, instance } = shape;
        let parts = [vertices.len() as u32];
        let mesh = self.pool.insert(vertices, &parts, *instance, &mut self.buffers)?;
        self.list.insert(mesh)?;
        self.meshes.push(mesh);
        Ok(())
    }

    fn replace(&mut self, number: u32, shape: &Shape) -> Result<()> {
        let Shape { vertices, instance } = shape;
        let (mesh, parts) = (self.meshes[number as usize], [vertices.len() as u32]);
        self.pool.replace(mesh, vertices, &parts, *instance, &mut self.buffers)?;
        Ok(())
    }

    /// Replaces some meshes.
    pub(crate) fn update(&mut self, frame: u32) -> Result<()> {
        let count = self.meshes.len() as u32;
        for number in support::changed(frame, count) {
            self.replace(number, &Shape::new(number, count, frame))?;
        }
        Ok(())
    }

    pub(crate) fn draw(&mut self) -> Result<()> {
        let mut encoder = self.screen.device.create_command_encoder(&Default::default());
        let mut pass = self.screen.begin_pass(&mut encoder);
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.camera, &[]);
        self.buffers.draw(&mut pass, self.list.runs(&self.pool))?;
        drop(pass);
        self.screen.queue.submit([encoder.finish()]);
        self.buffers.submitted(&mut self.pool);
        Ok(())
    }
}

fn pipeline(device: &wgpu::Device) -> wgpu::RenderPipeline {
    let module = device.create_shader_module(wgpu::include_wgsl!("../support/shader.wgsl"));
    let vertex = wgpu::VertexBufferLayout {
        array_stride: size_of::<Vertex>() as u64,
        step_mode: wgpu::VertexStepMode::Vertex,
        attributes: &wgpu::vertex_attr_array![0 => Float32x3, 1 => Unorm8x4],
    };
    let instance = wgpu::VertexBufferLayout {
        array_stride: size_of::<Instance>() as u64,
        step_mode: wgpu::VertexStepMode::Instance,
        attributes: &wgpu::vertex_attr_array![2 => Float32x3, 3 => Float32],
    };
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: None,
        layout: None,
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some("vertex"),
            compilation_options: Default::default(),
            buffers: &[Some(vertex), Some(instance)],
        },
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
            targets: &[Some(COLOR_FORMAT.into())],
        }),
        multiview_mask: None,
        cache: None,
    })
}

fn main() -> Result<()> {
    let mut program = Program::open(1000)?;
    for frame in 1..=20 {
        program.update(frame)?;
        program.draw()?;
    }
    program.screen.save(&support::path())
}
