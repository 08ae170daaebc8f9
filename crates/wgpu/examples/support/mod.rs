//! Shared parts of both programs: a device, a picture, and shapes to draw. Nothing here is about how
//! meshes are stored or drawn.

use std::{error::Error, path::Path};

use bytemuck::{Pod, Zeroable};
use glam::{
    Mat4, Vec3,
    camera::rh::{proj::directx::perspective, view::look_at_mat4},
};

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;

pub(crate) const COLOR_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;
pub(crate) const DEPTH_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;
/// Width and height of the picture. A row is a multiple of 256 bytes, as copies require.
const SIZE: [u32; 2] = [512, 288];
/// Number of meshes that change in a frame.
const CHANGED: u32 = 8;

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Vertex {
    pub(crate) position: [f32; 3],
    pub(crate) rgba: [u8; 4],
}

/// Data of each mesh: where it stands.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Instance {
    pub(crate) origin: [f32; 3],
    pub(crate) scale: f32,
}

/// A crystal: triangles with vertices of their own.
pub(crate) struct Shape {
    pub(crate) vertices: Vec<Vertex>,
    pub(crate) instance: Instance,
}

impl Shape {
    /// The shape of mesh `number` of `count` since `frame`.
    pub(crate) fn new(number: u32, count: u32, frame: u32) -> Self {
        let random = scramble(number, frame);
        let (edges, height) = (3 + random % 5, 1.0 + (random >> 8 & 15) as f32 / 8.0);
        let corner = |edge: u32, y: f32, light: f32| {
            let angle = edge as f32 / edges as f32 * std::f32::consts::TAU;
            let rgb = [16, 20, 24].map(|shift| {
                let base = 0.35 + (random >> shift & 15) as f32 / 25.0;
                (base * light * 255.0) as u8
            });
            let rgba = [rgb[0], rgb[1], rgb[2], 255];
            Vertex { position: [angle.cos(), y, angle.sin()], rgba }
        };
        let side = |edge: u32| {
            let light = 0.55 + 0.45 * edge as f32 / edges as f32;
            let mut tip = corner(edge, height, light);
            [tip.position[0], tip.position[2]] = [0.0; 2];
            [corner(edge, 0.0, light), tip, corner(edge + 1, 0.0, light)]
        };
        let row = (count as f32).sqrt().ceil() as u32;
        let at = |n: u32| (n as f32 + 0.5) / row as f32 * 20.0 - 10.0;
        let origin = [at(number % row), 0.0, at(number / row)];
        let instance = Instance { origin, scale: 8.0 / row as f32 };
        Self { vertices: (0..edges).flat_map(side).collect(), instance }
    }
}

/// Numbers of the meshes that change in a frame.
pub(crate) fn changed(frame: u32, count: u32) -> impl Iterator<Item = u32> {
    (0..CHANGED.min(count)).map(move |n| (frame * CHANGED + n) % count)
}

/// A device with a picture to draw to.
pub(crate) struct Screen {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    color: wgpu::Texture,
    views: [wgpu::TextureView; 2],
}

impl Screen {
    pub(crate) fn open() -> Result<Self> {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        // wgpu would check each indirect command in a compute pass. The pool allocates all ranges.
        descriptor.flags = wgpu::InstanceFlags::empty();
        let instance = wgpu::Instance::new(descriptor);
        let adapter = pollster::block_on(instance.request_adapter(&Default::default()))?;
        let first_instance = wgpu::Features::INDIRECT_FIRST_INSTANCE;
        let (device, queue) =
            pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
                required_features: adapter.features() & first_instance,
                required_limits: adapter.limits(),
                ..Default::default()
            }))?;
        let texture = |format, usage| {
            let [width, height] = SIZE;
            device.create_texture(&wgpu::TextureDescriptor {
                label: None,
                size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT | usage,
                view_formats: &[],
            })
        };
        let color = texture(COLOR_FORMAT, wgpu::TextureUsages::COPY_SRC);
        let depth = texture(DEPTH_FORMAT, wgpu::TextureUsages::empty());
        let views = [&color, &depth].map(|texture| texture.create_view(&Default::default()));
        Ok(Self { device, queue, color, views })
    }

    /// A camera above the meshes, in a bind group for group 0 of a pipeline.
    pub(crate) fn camera(&self, pipeline: &wgpu::RenderPipeline) -> wgpu::BindGroup {
        let [width, height] = SIZE.map(|side| side as f32);
        let view = look_at_mat4(Vec3::new(0.0, 13.0, 13.0), Vec3::ZERO, Vec3::Y);
        let clip_from_world: Mat4 = perspective(1.0, width / height, 0.1, 100.0) * view;
        let matrix = clip_from_world.to_cols_array();
        let usage = wgpu::BufferUsages::UNIFORM;
        let buffer = self.buffer(usage, bytemuck::bytes_of(&matrix));
        self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() }],
        })
    }

    /// A buffer with these bytes.
    pub(crate) fn buffer(&self, usage: wgpu::BufferUsages, bytes: &[u8]) -> wgpu::Buffer {
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: bytes.len() as u64,
            usage: usage | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.queue.write_buffer(&buffer, 0, bytes);
        buffer
    }

    pub(crate) fn begin_pass<'a>(
        &self,
        encoder: &'a mut wgpu::CommandEncoder,
    ) -> wgpu::RenderPass<'a> {
        let color = wgpu::Operations {
            load: wgpu::LoadOp::Clear(wgpu::Color { r: 0.1, g: 0.1, b: 0.2, a: 1.0 }),
            store: wgpu::StoreOp::Store,
        };
        let depth =
            wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Discard };
        encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: None,
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &self.views[0],
                depth_slice: None,
                resolve_target: None,
                ops: color,
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.views[1],
                depth_ops: Some(depth),
                stencil_ops: None,
            }),
            ..Default::default()
        })
    }

    /// Waits until all submitted frames are complete.
    pub(crate) fn wait(&self) -> Result<()> {
        self.device.poll(wgpu::PollType::wait_indefinitely())?;
        Ok(())
    }

    /// The pixels, row by row.
    pub(crate) fn read(&self) -> Result<Vec<u8>> {
        let [width, height] = SIZE;
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: u64::from(width * height * 4),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let layout = wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(width * 4),
            rows_per_image: None,
        };
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_texture_to_buffer(
            self.color.as_image_copy(),
            wgpu::TexelCopyBufferInfo { buffer: &buffer, layout },
            self.color.size(),
        );
        self.queue.submit([encoder.finish()]);
        buffer.slice(..).map_async(wgpu::MapMode::Read, |_| {});
        self.wait()?;
        Ok(buffer.get_mapped_range(..)?.to_vec())
    }

    pub(crate) fn save(&self, path: &Path) -> Result<()> {
        let [width, height] = SIZE;
        let mut encoder = png::Encoder::new(std::fs::File::create(path)?, width, height);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.write_header()?.write_image_data(&self.read()?)?;
        Ok(())
    }
}

/// Runs a program of `meshes` meshes for some frames: `NAME [FILE.png]`.
pub(crate) fn path() -> std::path::PathBuf {
    std::env::args_os().nth(1).map_or_else(|| "crystals.png".into(), Into::into)
}

/// A pseudo-random number.
const fn scramble(a: u32, b: u32) -> u32 {
    let mut x = a.wrapping_mul(0x9e37_79b9) ^ b.wrapping_mul(0x85eb_ca6b);
    x = (x ^ x >> 15).wrapping_mul(0x2c1b_3c6d);
    x = (x ^ x >> 12).wrapping_mul(0x297a_2d39);
    x ^ x >> 15
}
