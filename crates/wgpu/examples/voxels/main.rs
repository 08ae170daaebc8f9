//! Voxels in an array of the program, meshed and drawn with the pool. An edit replaces the meshes of
//! the chunks that it touches.
//!
//! ```text
//! cargo run --release -p drystone-wgpu --example voxels -- hills.png
//! ```
//! `level.rs` has the voxels, `shader.wgsl` the shader. Translucent voxels would be in a second
//! `DrawList`, filled from `ChunkMesh::translucent`, sorted from far to near by
//! `DrawList::mask_and_sort`, and drawn with a second pipeline that blends.

#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "the crystals of the other examples")]
mod support;

mod level;

use drystone_mesh::{FaceSet, Quad};
use drystone_pool::{DrawList, MeshHandle, PartSet, PoolConfig, VertexPool};
use drystone_voxel::{ChunkMesh, GreedyMesher};
use drystone_wgpu::{PoolBuffers, QUAD_WGSL, VertexInput};
use level::{CHUNK, CHUNKS, Level};
use support::{COLOR_FORMAT, DEPTH_FORMAT, Instance, Result, Screen};

/// Position of the camera of [`Screen::camera`].
const CAMERA: [f32; 3] = [0.0, 13.0, 13.0];
/// Length of a voxel: the level is 18 units wide.
const SCALE: f32 = 18.0 / (CHUNKS * CHUNK) as f32;

pub(crate) struct Program {
    pub(crate) screen: Screen,
    pipeline: wgpu::RenderPipeline,
    camera: wgpu::BindGroup,
    level: Level,
    mesher: GreedyMesher,
    buffers: PoolBuffers,
    pool: VertexPool<Quad, Instance>,
    list: DrawList,
    /// The mesh of each chunk, Z fastest.
    meshes: Vec<MeshHandle>,
}

impl Program {
    pub(crate) fn open() -> Result<Self> {
        let screen = Screen::open()?;
        let (device, queue) = (&screen.device, &screen.queue);
        // The default configuration is for quads.
        let (config, input) = (PoolConfig::default(), VertexInput::Pulled { group: 1 });
        let buffers = PoolBuffers::new::<Quad, Instance>(device, queue, config, input)?;
        let pipeline = pipeline(device, buffers.layout());
        let camera = screen.camera(&pipeline);
        let (pool, list) = (VertexPool::new(buffers.pool_config())?, DrawList::new());
        let (level, mesher, meshes) = (Level::new(), GreedyMesher::new(), Vec::new());
        let mut program =
            Self { screen, pipeline, camera, level, mesher, buffers, pool, list, meshes };
        for chunk in chunks() {
            program.mesh(chunk)?;
        }
        Ok(program)
    }

    /// Makes the mesh of a chunk. Inserts it, or replaces the old one.
    fn mesh(&mut self, [x, z]: [usize; 2]) -> Result<()> {
        let mut mesh = ChunkMesh::new();
        self.mesher.mesh_array(&self.level.chunk([x, z])?, &mut mesh)?;
        // A part of the mesh for each of the six face directions.
        let (quads, parts) = (mesh.opaque.quads(), mesh.opaque.counts());
        let origin = |chunk: usize| (chunk as f32 - CHUNKS as f32 / 2.0) * CHUNK as f32 * SCALE;
        let instance = Instance { origin: [origin(x), 0.0, origin(z)], scale: SCALE };
        if let Some(&old) = self.meshes.get(x * CHUNKS + z) {
            self.pool.replace(old, quads, &parts, instance, &mut self.buffers)?;
        } else {
            let new = self.pool.insert(quads, &parts, instance, &mut self.buffers)?;
            self.list.insert(new)?;
            self.meshes.push(new);
        }
        Ok(())
    }

    /// Removes a ball of voxels, and updates the chunks that contain or border it.
    pub(crate) fn dig(&mut self, middle: [usize; 3], radius: usize) -> Result<()> {
        self.level.dig(middle, radius);
        let touches = |chunk: usize, at: usize| {
            chunk * CHUNK <= at + radius + 1 && at < (chunk + 1) * CHUNK + radius + 1
        };
        for [x, z] in chunks().filter(|it| touches(it[0], middle[0]) && touches(it[1], middle[2])) {
            self.mesh([x, z])?;
        }
        Ok(())
    }

    pub(crate) fn draw(&mut self) -> Result<()> {
        // Leaves out the faces that point away from the camera.
        self.list.mask(&self.pool, |chunk| {
            let min = chunk.origin;
            let max = min.map(|at| at + CHUNK as f32 * chunk.scale);
            PartSet::from_bits(FaceSet::visible_from(CAMERA, min, max).bits())
        });
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

/// Positions of the chunks, along X and Z.
fn chunks() -> impl Iterator<Item = [usize; 2]> {
    (0..CHUNKS * CHUNKS).map(|number| [number / CHUNKS, number % CHUNKS])
}

/// A pipeline with the camera in group 0 and the pool in group 1.
fn pipeline(device: &wgpu::Device, pool: Option<&wgpu::BindGroupLayout>) -> wgpu::RenderPipeline {
    let camera = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: None,
        entries: &[wgpu::BindGroupLayoutEntry {
            binding: 0,
            visibility: wgpu::ShaderStages::VERTEX,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Uniform,
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        }],
    });
    // A layout that wgpu derives from the shader would not fit the pool's bind group.
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &[Some(&camera), pool],
        immediate_size: 0,
    });
    let source = [QUAD_WGSL, include_str!("shader.wgsl")].concat();
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(source.into()),
    });
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: None,
        layout: Some(&layout),
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some("vertex"),
            compilation_options: Default::default(),
            buffers: &[],
        },
        primitive: wgpu::PrimitiveState { cull_mode: Some(wgpu::Face::Back), ..Default::default() },
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
    let mut program = Program::open()?;
    program.draw()?;
    program.dig([60, 16, 66], 9)?;
    program.draw()?;
    program.screen.save(&support::path())
}
