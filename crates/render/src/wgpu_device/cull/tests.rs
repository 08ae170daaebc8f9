use drystone_mesh::{Face, INDICES_PER_QUAD, Quad, VERTICES_PER_QUAD};
use drystone_pool::{DrawCommand, MeshHandle, NullBackend, Placement, PoolConfig, VertexPool};
use drystone_testing::Random;
use drystone_wgpu::{CullTable, CullView};
use glam::DVec3;

use super::{super::WgpuDevice, *};
use crate::{
    atmosphere::Atmosphere,
    buffers::{BufferData, BufferKind, DrawSlots},
    camera::{Camera, Projection},
    cull::{cull_table, cull_view},
    device::{Device, Output},
    draw_data::DrawData,
    frame::Frame,
    image::Image,
    passes::{Batch, Passes},
    view::View,
    visibility::Visibility,
    wgpu_device::Api,
};

mod fallback;
mod pictures;

/// The device, or `None` if no device can cull, which is printed and counted.
pub(super) fn open(test: &str, width: u32, height: u32) -> Option<WgpuDevice> {
    let opened = WgpuDevice::headless(Api::Vulkan, width, height);
    let culls = opened.map(|device| (device.info().culling, device));
    match culls {
        Ok((Ok(()), device)) => Some(device),
        Ok((Err(reason), device)) => {
            println!("skipped: {test}: {} does not cull: {reason}", device.describe());
            None
        }
        Err(error) => {
            println!("skipped: {test}: {error}");
            None
        }
    }
}

/// Meshes in several buffers, stored on a device and in a table.
pub(super) struct Meshes {
    pub(super) table: CullTable<DrawData>,
    pool: VertexPool<Quad, DrawData>,
    geometries: [WgpuGeometry; Self::BUFFERS],
    /// The mesh of each number.
    pub(super) meshes: Vec<Option<MeshHandle>>,
}

impl Meshes {
    const BUFFERS: usize = 4;
    /// Number of quads of a mesh that each buffer reserves.
    const QUADS_PER_MESH: u32 = 4;

    pub(super) fn new(device: &mut WgpuDevice, count: u32) -> Self {
        let quads = (count * Self::QUADS_PER_MESH).max(16);
        let mut create =
            |slots: DrawSlots<'_, _>| device.create(BufferKind::Quads, quads, slots).unwrap();
        let first = create(DrawSlots::New(count));
        let [b, c, d] = [(); 3].map(|()| create(DrawSlots::SharedWith(&first)));
        device.set_palette(&[[250, 90, 60, 255], [60, 160, 90, 255], [70, 90, 220, 255]]).unwrap();
        let config = PoolConfig::default()
            .with_min_buffer_elements(quads)
            .with_max_buffer_elements(quads)
            .with_max_buffers(Self::BUFFERS as u16)
            .with_placement(Placement::Ranges);
        let pool = VertexPool::new(config).unwrap();
        let table = cull_table(pool.config());
        let geometries = [first, b, c, d];
        Self { table, pool, geometries, meshes: vec![None; count as usize] }
    }

    /// Replaces the mesh of a number by one of these quads, sorted by face direction.
    pub(super) fn set(
        &mut self,
        device: &mut WgpuDevice,
        number: u32,
        draw_data: DrawData,
        quads: &[Quad],
        counts: [u32; 6],
    ) {
        self.remove(number);
        let inserted = self.pool.insert(quads, &counts, draw_data, &mut NullBackend::default());
        let mesh = inserted.unwrap();
        for range in self.pool.ranges_of(mesh) {
            let geometry = &mut self.geometries[range.buffer as usize];
            device.write(geometry, range.first, BufferData::Quads(quads));
        }
        device.write(&mut self.geometries[0], mesh.slot(), BufferData::DrawData(&[draw_data]));
        self.table.set(&self.pool, mesh);
        self.meshes[number as usize] = Some(mesh);
    }

    pub(super) fn remove(&mut self, number: u32) {
        if let Some(mesh) = self.meshes[number as usize].take() {
            self.pool.remove(mesh).unwrap();
            self.table.remove(mesh);
        }
    }

    /// A mesh that fits a box of 15 voxels: one in three is a cube of that size, the others have up
    /// to two small quads for each face direction.
    ///
    /// At even positions, faces to the top, south or east lie on odd planes.
    pub(super) fn set_random(
        &mut self,
        device: &mut WgpuDevice,
        slot: u32,
        origin: [i32; 3],
        random: &mut Random,
    ) {
        let mut quads = Vec::new();
        let is_cube = random.below(3) == 0;
        let counts = Face::ALL.map(|face| {
            let material = random.below(3) as u16;
            if is_cube {
                let mut corner = [0; 3];
                corner[face.axis()] = if face.is_positive() { 14 } else { 0 };
                quads.push(Quad::new(corner, [15, 15], face, material));
                return 1;
            }
            let count = random.below(3);
            for _ in 0..count {
                let corner = [0; 3].map(|_| 2 * random.below(6));
                let size = [0; 2].map(|_| 1 + random.below(4));
                quads.push(Quad::new(corner, size, face, material));
            }
            count
        });
        self.set(
            device,
            slot,
            DrawData { origin, level: 0, extent: 15, sort_rank: 0 },
            &quads,
            counts,
        );
    }

    /// A wall of 64 × 64 voxels that faces south, on an even plane, so that it never coincides with
    /// a face of another kind of mesh.
    pub(super) fn set_skirt(&mut self, device: &mut WgpuDevice, slot: u32, origin: [i32; 3]) {
        let origin = [origin[0], origin[1], origin[2] | 1];
        let wall = Quad::new([0, 0, 0], [64, 64], Face::PosZ, 1);
        let draw_data = DrawData { origin, level: 0, extent: 64, sort_rank: 0 };
        self.set(device, slot, draw_data, &[wall], [0, 0, 0, 0, 0, 1]);
    }

    fn frame(device: &WgpuDevice, view: &View) -> (Frame, CullView) {
        let [width, height] = device.info().size;
        let frame = Frame::new(&view.camera, &Atmosphere::default(), width, height);
        let visibility = Visibility::new(&view.camera, width as f32 / height as f32);
        let culled = cull_view(view, &visibility, &frame);
        (frame, culled)
    }

    /// Draws with culling on the device.
    pub(super) fn draw_culled(&self, device: &mut WgpuDevice, view: &View) {
        self.draw_with(device, view, &[]);
    }

    /// Draws the meshes with culling, and batches without.
    pub(super) fn draw_with(
        &self,
        device: &mut WgpuDevice,
        view: &View,
        opaque: &[Batch<'_, WgpuGeometry>],
    ) {
        let (frame, view) = Self::frame(device, view);
        let geometries = self.geometries.each_ref().map(Some);
        let culled = Culled { table: &self.table, pool: &self.pool, geometries: &geometries, view };
        let passes = Passes { opaque, culled: Some(&culled), ..Passes::default() };
        device.draw(&frame, &passes).unwrap();
    }

    /// Commands that draw all meshes of each buffer.
    pub(super) fn commands(&self) -> [Vec<DrawCommand>; Self::BUFFERS] {
        let mut commands = [(); Self::BUFFERS].map(|()| Vec::new());
        for mesh in self.meshes.iter().flatten() {
            for range in self.pool.ranges_of(*mesh) {
                commands[range.buffer as usize].push(DrawCommand {
                    index_count: range.part_counts.iter().sum::<u32>() * INDICES_PER_QUAD,
                    instance_count: 1,
                    first_index: 0,
                    base_vertex: (range.first * VERTICES_PER_QUAD) as i32,
                    first_instance: mesh.slot(),
                });
            }
        }
        commands
    }

    /// Draws everything, visible or not, and reads the picture.
    pub(super) fn draw_all(&self, device: &mut WgpuDevice, view: &View) -> Image {
        let (frame, _) = Self::frame(device, view);
        let commands = self.commands();
        let batches: Vec<_> = self
            .geometries
            .iter()
            .zip(&commands)
            .map(|(geometry, commands)| Batch::new(geometry, commands))
            .collect();
        device.draw(&frame, &Passes { opaque: &batches, ..Passes::default() }).unwrap();
        device.read_image().unwrap()
    }
}

/// Cameras that move, jump, rotate and change their projection.
pub(super) fn flight(random: &mut Random, step: u32) -> View {
    let far = f64::from(random.below(300));
    let position = match step % 5 {
        // A step to the side, a jump, or into the middle.
        0 | 1 => DVec3::new(f64::from(step), 30.0, 260.0),
        2 => DVec3::new(-200.0 + far, 400.0 - far, 100.0),
        3 => DVec3::new(far, 33.3, far),
        _ => DVec3::new(100.0, 50.0, -far),
    };
    let turned = if step % 7 == 3 { std::f32::consts::PI } else { 0.0 };
    let mut camera = Camera::look_at(position, DVec3::new(100.0, 20.0, 100.0));
    camera.yaw += turned;
    camera.depth_range = [0.2, 900.0];
    if step % 4 == 3 {
        camera.projection = Projection::Orthographic { height_voxels: 150.0 };
        camera.depth_range = [-300.0, 900.0];
    }
    let mut view = View::new(camera);
    (view.mask_back_faces, view.cull_frustum) = (step % 6 != 5, step % 11 != 10);
    view.sort_opaque = step % 3 != 2;
    view
}
