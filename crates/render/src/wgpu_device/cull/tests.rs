use drystone_mesh::{Face, Quad};
use drystone_pool::DrawCommand;
use drystone_testing::Random;
use glam::DVec3;

use super::{super::WgpuDevice, *};
use crate::{
    atmosphere::Atmosphere,
    buffers::{BufferData, BufferKind, DrawSlots, PATTERN_QUADS},
    camera::{Camera, Projection},
    cull::tests::twin::{self, Pyramid as TwinPyramid},
    cull::{CullRecord, CullTable},
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
mod lists;
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

/// Meshes in two buffers, stored on a device and in a table.
pub(super) struct Meshes {
    pub(super) table: CullTable,
    geometries: [WgpuGeometry; 2],
    /// Contents of each slot: its buffer and record.
    pub(super) slots: Vec<Option<(u32, CullRecord)>>,
}

impl Meshes {
    /// Number of quads that each slot can hold in both buffers.
    const QUADS_PER_SLOT: u32 = 16;

    pub(super) fn new(device: &mut WgpuDevice, slots: u32) -> Self {
        let one = device
            .create(BufferKind::Quads, slots * Self::QUADS_PER_SLOT, DrawSlots::New(slots))
            .unwrap();
        let two = device
            .create(BufferKind::Quads, slots * Self::QUADS_PER_SLOT, DrawSlots::SharedWith(&one))
            .unwrap();
        device.set_palette(&[[250, 90, 60, 255], [60, 160, 90, 255], [70, 90, 220, 255]]).unwrap();
        let table = CullTable::new();
        Self { table, geometries: [one, two], slots: vec![None; slots as usize] }
    }

    /// Writes a mesh of these quads, sorted by face direction, into a slot.
    pub(super) fn set(
        &mut self,
        device: &mut WgpuDevice,
        slot: u32,
        draw_data: DrawData,
        quads: &[Quad],
        counts: [u32; 6],
    ) {
        self.remove(slot);
        let buffer = slot % 2;
        let first = slot * Self::QUADS_PER_SLOT;
        device.write(&mut self.geometries[buffer as usize], first, BufferData::Quads(quads));
        device.write(&mut self.geometries[0], slot, BufferData::DrawData(&[draw_data]));
        let record = CullRecord::new(slot, draw_data, first, counts);
        self.table.insert(buffer, record);
        self.slots[slot as usize] = Some((buffer, record));
    }

    pub(super) fn remove(&mut self, slot: u32) {
        self.table.remove(slot);
        self.slots[slot as usize] = None;
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

    fn frame(device: &WgpuDevice, view: &View) -> (Frame, CullFrame) {
        let [width, height] = device.info().size;
        let frame = Frame::new(&view.camera, &Atmosphere::default(), width, height);
        let visibility = Visibility::new(&view.camera, width as f32 / height as f32);
        let cull_frame = CullFrame::new(view, &visibility, &frame);
        (frame, cull_frame)
    }

    /// Draws with culling on the device.
    pub(super) fn draw_culled(&self, device: &mut WgpuDevice, view: &View) -> CullFrame {
        let (frame, cull_frame) = Self::frame(device, view);
        let geometries = self.geometries.each_ref().map(Some);
        let culled = Culled { table: &self.table, geometries: &geometries, frame: cull_frame };
        device.draw(&frame, &Passes { culled: Some(&culled), ..Passes::default() }).unwrap();
        cull_frame
    }

    /// Draws everything, visible or not, and reads the picture.
    pub(super) fn draw_all(&self, device: &mut WgpuDevice, view: &View) -> Image {
        let (frame, _) = Self::frame(device, view);
        let commands: [Vec<DrawCommand>; 2] = [0, 1].map(|buffer| {
            let held = self.slots.iter().flatten().filter(|(of, _)| *of == buffer);
            held.flat_map(|(_, record)| twin::commands(record, 63)).collect()
        });
        let batches = [0, 1].map(|n| Batch::new(&self.geometries[n], &commands[n]));
        device.draw(&frame, &Passes { opaque: &batches, ..Passes::default() }).unwrap();
        device.read_image().unwrap()
    }
}

/// Contents of a buffer of the device.
pub(super) fn read_words(device: &WgpuDevice, from: &wgpu::Buffer, count: u64) -> Vec<u32> {
    let opened = &device.opened;
    let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
    let buffer = opened.buffer("test", count.max(1) * 4, usage).unwrap();
    let mut encoder = opened.gpu.device.create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(from, 0, &buffer, 0, count * 4);
    opened.gpu.queue.submit([encoder.finish()]);
    buffer.map_async(wgpu::MapMode::Read, .., |mapped| mapped.unwrap());
    opened.gpu.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    let view = buffer.get_mapped_range(..count * 4).unwrap();
    bytemuck::pod_collect_to_vec(&view[..])
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

/// The shaders are valid WGSL, and use only features of every WebGPU device.
#[test]
fn shaders_are_valid() {
    use wgpu::naga;

    for source in [pipelines::CULL, pipelines::PYRAMID] {
        let module = match naga::front::wgsl::parse_str(source) {
            Ok(module) => module,
            Err(error) => panic!("{}", error.emit_to_string(source)),
        };
        let capabilities = naga::valid::Capabilities::empty();
        let flags = naga::valid::ValidationFlags::all();
        if let Err(error) = naga::valid::Validator::new(flags, capabilities).validate(&module) {
            panic!("{}", error.emit_to_string(source));
        }
    }
}

/// Constants that exist in both languages are equal.
#[test]
fn shaders_and_program_agree_on_numbers() {
    let source = pipelines::CULL;
    for line in [
        format!("const PATTERN_QUADS: u32 = {PATTERN_QUADS}u;"),
        format!("const BINS: u32 = {}u;", CullFrame::BINS),
        format!("const MASK_BACK_FACES: i32 = {};", CullFrame::MASK_BACK_FACES),
        format!("const CULL_FRUSTUM: i32 = {};", CullFrame::CULL_FRUSTUM),
        format!("const PARALLEL: i32 = {};", CullFrame::PARALLEL),
        format!("const PARALLEL_SHIFT: u32 = {}u;", CullFrame::PARALLEL_SHIFT),
        format!("const SCAN_LANES: u32 = {}u;", pipelines::WIDEST_WORKGROUP),
        "const LANES: u32 = 64u;".into(),
    ] {
        assert!(source.contains(&line), "{line}");
    }
}

#[test]
fn pyramids_have_the_twins_levels() {
    for size in [[1, 1], [2, 1], [1, 9], [317, 240], [1280, 720], [65_535, 3]] {
        let [width, height] = size.map(|side| side as usize);
        let twin = TwinPyramid::new([width, height], &vec![0.5; width * height]);
        let levels = pyramid::levels(size);
        assert_eq!(levels.len(), twin.levels.len(), "{size:?}");
        let mut first = 0;
        for (level, twin) in levels.iter().zip(&twin.levels) {
            assert_eq!(level.first_texel, first);
            assert_eq!(level.size, twin.size().map(|side| side as u32));
            first += level.size[0] * level.size[1];
        }
    }
}
