//! The existing engine: a device, a pipeline for its vertex format, a picture.

use std::{
    error::Error,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use bytemuck::{Pod, Zeroable};
use drystone_pool::{CommandRun, DrawCommand};
use glam::{
    Mat4, Vec3,
    camera::rh::{proj::directx::perspective, view::look_at_mat4},
};

use super::{buffers::Buffers, garden::MAX_TRIANGLES};

mod pipeline;
mod target;

use target::Target;

/// The colour behind the crystals.
pub(crate) const GROUND_RGBA: [u8; 4] = [26, 26, 51, 255];

/// The engine's vertex: 16 bytes, of any layout that the pipeline can read.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Vertex {
    position: [f32; 3],
    rgba: [u8; 4],
}

/// An element of the pool.
pub(crate) type Triangle = [Vertex; 3];

impl Vertex {
    /// A triangle of one colour.
    pub(crate) fn triangle(corners: [[f32; 3]; 3], rgb: [f32; 3]) -> Triangle {
        let [red, green, blue] = rgb.map(|c| (c * 255.0) as u8);
        corners.map(|position| Self { position, rgba: [red, green, blue, 255] })
    }
}

/// A device that draws pictures of crystals.
pub(crate) struct Engine {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    name: String,
    pipeline: wgpu::RenderPipeline,
    camera_group: wgpu::BindGroup,
    /// The indices 0, 1, 2, … up to the size of the largest mesh. The command's base vertex selects
    /// the mesh's vertices.
    pattern: wgpu::Buffer,
    /// The commands of a frame.
    commands: wgpu::Buffer,
    /// Whether one call can draw many commands with their own first instances.
    is_indirect: bool,
    target: Target,
    submitted: u64,
    completed: Arc<AtomicU64>,
    /// The first error. Without this handler wgpu would panic.
    fault: Arc<OnceLock<String>>,
}

impl Engine {
    /// Opens the first adapter.
    pub(crate) fn open(width: u32, height: u32) -> Result<Self, Box<dyn Error>> {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        // wgpu would check each command in its own compute pass. The commands contain only ranges
        // that the pool has allocated.
        descriptor.flags = wgpu::InstanceFlags::empty();
        let instance = wgpu::Instance::new(descriptor);
        let adapter =
            pollster::block_on(instance.request_adapter(&Default::default())).map_err(|error| {
                format!("no graphics adapter ({error}); Mesa's lavapipe is a software adapter")
            })?;
        let first_instance = wgpu::Features::INDIRECT_FIRST_INSTANCE;
        let (device, queue) =
            pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
                required_features: adapter.features() & first_instance,
                required_limits: adapter.limits(),
                ..Default::default()
            }))?;
        let fault: Arc<OnceLock<String>> = Arc::default();
        let noted = Arc::clone(&fault);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            // Later errors follow from the first.
            let _ = noted.set(error.to_string());
        }));
        let pattern: Vec<u32> = (0..3 * MAX_TRIANGLES).collect();
        let pattern = filled(&device, &queue, wgpu::BufferUsages::INDEX, &pattern);
        let camera = clip_from_world(width as f32 / height as f32).to_cols_array();
        let camera = filled(&device, &queue, wgpu::BufferUsages::UNIFORM, &camera);
        let (pipeline, camera_group) = pipeline::make(&device, &camera);
        Ok(Self {
            name: format!("{} ({})", adapter.get_info().name, adapter.get_info().backend),
            pipeline,
            camera_group,
            pattern,
            commands: commands_buffer(&device, 1024),
            is_indirect: device.features().contains(first_instance),
            target: Target::new(&device, width, height),
            device,
            queue,
            submitted: 0,
            completed: Arc::default(),
            fault,
        })
    }

    /// The adapter's name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The last frame that was submitted.
    pub(crate) const fn submitted(&self) -> u64 {
        self.submitted
    }

    /// The last frame that is known to be complete. Never waits.
    pub(crate) fn completed(&self) -> Result<u64, Box<dyn Error>> {
        self.device.poll(wgpu::PollType::Poll)?;
        Ok(self.completed.load(Ordering::Relaxed))
    }

    /// Waits until a frame is complete.
    pub(crate) fn wait_for(&self, frame: u64) -> Result<(), Box<dyn Error>> {
        if self.completed()? < frame {
            self.device.poll(wgpu::PollType::wait_indefinitely())?;
        }
        Ok(())
    }

    /// Draws one frame: one call for each buffer that the commands read.
    pub(crate) fn draw(
        &mut self,
        buffers: &Buffers,
        runs: &[CommandRun],
        commands: &[DrawCommand],
    ) -> Result<(), Box<dyn Error>> {
        let bytes: &[u8] = bytemuck::cast_slice(commands);
        if bytes.len() as u64 > self.commands.size() {
            self.commands = commands_buffer(&self.device, commands.len() * 2);
        }
        self.queue.write_buffer(&self.commands, 0, bytes);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let mut pass = self.target.begin_pass(&mut encoder);
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.camera_group, &[]);
        pass.set_index_buffer(self.pattern.slice(..), wgpu::IndexFormat::Uint32);
        for run in runs {
            let buffer = buffers.elements(run.buffer).zip(buffers.table());
            let (elements, table) = buffer.ok_or("the commands are of another pool")?;
            pass.set_vertex_buffer(0, elements.slice(..));
            pass.set_vertex_buffer(1, table.slice(..));
            self.encode_run(&mut pass, run, commands);
        }
        drop(pass);
        self.queue.submit([encoder.finish()]);
        // The callback stores the number of this frame when the GPU has completed it.
        self.submitted += 1;
        let (frame, completed) = (self.submitted, Arc::clone(&self.completed));
        self.queue.on_submitted_work_done(move || {
            completed.fetch_max(frame, Ordering::Relaxed);
        });
        self.check()
    }

    fn encode_run(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        run: &CommandRun,
        commands: &[DrawCommand],
    ) {
        if self.is_indirect {
            let offset_bytes = run.commands.start * size_of::<DrawCommand>();
            let count = run.commands.len() as u32;
            pass.multi_draw_indexed_indirect(&self.commands, offset_bytes as u64, count);
            return;
        }
        // Without multi-draw, draw the same commands one by one.
        for command in &commands[run.commands.clone()] {
            let indices = command.first_index..command.first_index + command.index_count;
            let slot = command.first_instance;
            pass.draw_indexed(indices, command.base_vertex, slot..slot + command.instance_count);
        }
    }

    /// Width, height and pixels of the last frame.
    pub(crate) fn read_picture(&self) -> Result<(u32, u32, Vec<u8>), Box<dyn Error>> {
        let picture = self.target.read(&self.device, &self.queue)?;
        self.check()?;
        Ok(picture)
    }

    fn check(&self) -> Result<(), Box<dyn Error>> {
        self.fault.get().map_or(Ok(()), |fault| Err(fault.clone().into()))
    }
}

fn clip_from_world(aspect: f32) -> Mat4 {
    let view = look_at_mat4(Vec3::new(7.0, 8.5, 11.0), Vec3::new(0.0, -0.8, 0.9), Vec3::Y);
    perspective(0.9, aspect, 0.5, 60.0) * view
}

fn commands_buffer(device: &wgpu::Device, commands: usize) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("commands"),
        size: (commands * size_of::<DrawCommand>()) as u64,
        usage: wgpu::BufferUsages::INDIRECT | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    })
}

/// Creates a buffer with constant contents.
fn filled<T: Pod>(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    usage: wgpu::BufferUsages,
    values: &[T],
) -> wgpu::Buffer {
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: size_of_val(values) as u64,
        usage: usage | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    queue.write_buffer(&buffer, 0, bytemuck::cast_slice(values));
    buffer
}
