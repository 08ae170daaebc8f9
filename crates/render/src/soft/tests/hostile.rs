//! Invalid sizes, commands and bytes, and any number of threads.

use drystone_mesh::Quad;
use drystone_pool::DrawCommand;
use glam::DVec3;
use proptest::prelude::*;

use super::{SoftDevice, landscape};
use crate::{
    atmosphere::Atmosphere,
    buffers::{BufferData, BufferKind, DrawSlots},
    camera::Camera,
    device::{Device, Output},
    draw_data::DrawData,
    error::RenderError,
    frame::Frame,
    image::Image,
    passes::{Batch, Passes},
};

#[test]
fn impossible_sizes_are_errors() {
    for (width, height) in [(0, 5), (5, 0), (0, 0)] {
        assert!(matches!(
            SoftDevice::new(width, height),
            Err(RenderError::EmptyPicture { width: w, height: h }) if (w, h) == (width, height)
        ));
    }
    for (width, height) in [(16385, 1), (1, u32::MAX)] {
        assert!(matches!(
            SoftDevice::new(width, height),
            Err(RenderError::TooLarge { limit: 16384, .. })
        ));
    }
    let mut device = SoftDevice::new(16384, 1).unwrap();
    assert!(device.resize(0, 1).is_err());
    assert_eq!(device.info().size, [16384, 1], "a refused size changes nothing");
    device.resize(3, 2).unwrap();
    assert_eq!(device.read_image().unwrap(), Image::new(3, 2, [0; 4]));
    let limit = device.info().max_quads;
    assert!(device.create(BufferKind::Quads, limit + 1, DrawSlots::New(1)).is_err());
    assert!(device.create(BufferKind::Quads, 1, DrawSlots::New(u32::MAX)).is_err());
}

#[test]
fn the_longest_pictures_are_drawn() {
    let scene = landscape(24);
    let camera = Camera::look_at(DVec3::new(-3.0, 30.0, 14.0), DVec3::new(-4.0, 5.0, -4.0));
    for size in [[16384, 3], [3, 16384], [1, 1]] {
        let image = scene.draw(&camera, &Atmosphere::default(), size);
        assert!(image.rgba().chunks_exact(4).all(|pixel| pixel[3] == 255));
    }
}

#[cfg(feature = "rayon")]
#[test]
fn the_number_of_threads_does_not_change_the_picture() {
    let mut scene = landscape(56);
    // Enough for several batches: the same landscape many times, one above the other.
    let meshes = scene.opaque.clone();
    for level in 1..10 {
        scene.opaque.extend(meshes.iter().cloned().map(|mut mesh| {
            mesh.data.origin[1] -= 5 * level;
            mesh
        }));
    }
    let camera = Camera::look_at(DVec3::new(-30.0, 30.0, 34.0), DVec3::new(3.0, 2.0, 2.0));
    let air = Atmosphere::default().with_haze(10.0, 90.0, 0.7);
    let [one, four] = [1, 4].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let described = SoftDevice::new(1, 1).unwrap().describe();
            assert!(described.contains(&format!("{threads} thread")), "{described}");
            scene.draw(&camera, &air, [200, 150])
        })
    });
    assert!(one == four);
}

pub(super) fn command() -> impl Strategy<Value = DrawCommand> {
    let number = || prop_oneof![0..200u32, any::<u32>()];
    (number(), number(), number(), number(), number()).prop_map(|(a, b, c, d, e)| DrawCommand {
        index_count: a,
        instance_count: b,
        first_index: c,
        base_vertex: d as i32,
        first_instance: e,
    })
}

/// Any bits, but mostly numbers of ordinary size.
pub(super) fn frame() -> impl Strategy<Value = Frame> {
    let word = prop_oneof![3 => (-9.0..9.0f32).prop_map(f32::to_bits), 1 => any::<u32>()];
    let ordinary = Frame::new(&Camera::default(), &Atmosphere::default(), 40, 40);
    let bytes = size_of::<Frame>();
    let wild = prop::collection::vec(word, bytes / 4)
        .prop_map(|words| bytemuck::pod_read_unaligned(bytemuck::cast_slice(&words)));
    prop_oneof![Just(ordinary), wild]
}

proptest! {
    #[test]
    fn no_command_quad_or_frame_panics(
        commands in prop::collection::vec(command(), 1..8),
        words in prop::collection::vec(any::<[u32; 2]>(), 0..64),
        transforms in prop::collection::vec((
            prop::array::uniform3(prop_oneof![-50..50i32, any::<i32>()]),
            prop_oneof![0..4u32, any::<u32>()],
        ), 1..6),
        frame in frame(),
        material_count in 0..300usize,
    ) {
        let quads: &[Quad] = bytemuck::cast_slice(&words);
        let mut device = SoftDevice::new(40, 40).unwrap();
        device.set_palette(&vec![[7, 8, 9, 100]; material_count]).unwrap();
        let mut geometry = device.create(BufferKind::Quads, 40, DrawSlots::New(4)).unwrap();
        device.write(&mut geometry, 3, BufferData::Quads(quads));
        for (slot, &(origin, level)) in transforms.iter().enumerate() {
            device.write(&mut geometry, slot as u32, BufferData::DrawData(&[DrawData { origin, level, extent: 64, sort_rank: 0 }]));
        }
        let batches = [Batch::new(&geometry, &commands)];
        let pictures = [false, true].map(|indirect| {
            let passes = Passes { opaque: &batches, blended: &batches, indirect, ..Passes::default() };
            device.draw(&frame, &passes).unwrap();
            device.read_image().unwrap()
        });
        prop_assert!(pictures[0] == pictures[1]);
    }
}
