//! Draws crystals naively: each mesh has buffers of its own and a draw call.
//!
//! ```text
//! cargo run --release -p drystone-wgpu --example plain -- crystals.png
//! ```
//! The example `pooled` is the same program with the pool.

#[path = "../support/mod.rs"]
mod support;

use support::{COLOR_FORMAT, DEPTH_FORMAT, Instance, Result, Screen, Shape, Vertex};

/// Buffers of one mesh.
struct Mesh {
    vertices: wgpu::Buffer,
    instance: wgpu::Buffer,
    vertex_count: u32,
}

pub(crate) struct Program {
    pub(crate) screen: Screen,
    pipeline: wgpu::RenderPipeline,
    camera: wgpu::BindGroup,
    meshes: Vec<Mesh>,
}

impl Program {
    pub(crate) fn open(count: u32) -> Result<Self> {
        let screen = Screen::open()?;
        let pipeline = pipeline(&screen.device);
        let camera = screen.camera(&pipeline);
        let mut program = Self { screen, pipeline, camera, meshes: Vec::new() };
        for number in 0..count {
            program.insert(&Shape::new(number, count, 0))?;
        }
        Ok(program)
    }

    fn insert(&mut self, shape: &Shape) -> Result<()> {
        let mesh = self.mesh(shape);
        self.meshes.push(mesh);
        Ok(())
    }

    fn replace(&mut self, number: u32, shape: &Shape) -> Result<()> {
        self.meshes[number as usize] = self.mesh(shape);
        Ok(())
    }

    fn mesh(&self, shape: &Shape) -> Mesh {
        let buffer = |bytes| self.screen.buffer(wgpu::BufferUsages::VERTEX, bytes);
        Mesh {
            vertices: buffer(bytemuck::cast_slice(&shape.vertices)),
            instance: buffer(bytemuck::bytes_of(&shape.instance)),
            vertex_count: shape.vertices.len() as u32,
        }
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
        for mesh in &self.meshes {
            pass.set_vertex_buffer(0, mesh.vertices.slice(..));
            pass.set_vertex_buffer(1, mesh.instance.slice(..));
            pass.draw(0..mesh.vertex_count, 0..1);
        }
        drop(pass);
        self.screen.queue.submit([encoder.finish()]);
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
