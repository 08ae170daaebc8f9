//! Triangles compared with quads, which draw the same surfaces differently; and invalid triangles.

use drystone_pool::DrawCommand;
use drystone_testing::Random;
use glam::{DVec3, Vec3};
use proptest::prelude::*;

use super::{
    Scene, SoftDevice,
    hostile::{command, frame},
    landscape,
};
use crate::{
    atmosphere::Atmosphere,
    buffers::{BufferData, BufferKind, DrawSlots},
    camera::Camera,
    device::{Device, Output},
    frame::Frame,
    image::Image,
    passes::{Batch, Passes},
    triangle_vertex::{TriangleTransform, TriangleVertex},
};

const SIZE: [u32; 2] = [240, 180];

/// The quads of a layer that face the camera, as two triangles each, in model units of half a
/// voxel.
fn triangles(scene: &Scene, blended: bool, position: DVec3) -> (Vec<TriangleVertex>, Vec<u32>) {
    let (mut vertices, mut indices) = (Vec::new(), Vec::new());
    for mesh in if blended { &scene.blended } else { &scene.opaque } {
        for quad in &mesh.quads {
            let normal = Vec3::from(quad.face().unwrap().normal().map(|c| c as f32));
            let corner = |number| {
                let local = Vec3::from(quad.corner(number).map(|c| c as f32));
                Vec3::from(mesh.data.origin.map(|c| c as f32)) + local
            };
            if (position - corner(0).as_dvec3()).dot(normal.as_dvec3()) <= 0.0 {
                continue;
            }
            let first = vertices.len() as u32;
            let color = scene.palette[usize::from(quad.material())];
            vertices.extend((0..4).map(|number| {
                TriangleVertex::new((corner(number) * 2.0).to_array(), normal.to_array(), color)
            }));
            indices.extend([0, 1, 2, 2, 1, 3].map(|corner| first + corner));
        }
    }
    (vertices, indices)
}

fn draw(frame: &Frame, layers: [(Vec<TriangleVertex>, Vec<u32>); 2]) -> Image {
    let mut device = SoftDevice::new(SIZE[0], SIZE[1]).unwrap();
    let transform = TriangleTransform { origin: [0; 3], scale: 0.5 };
    let layers = layers.map(|(vertices, indices)| {
        let mut of_vertices =
            device.create(BufferKind::Vertices, vertices.len() as u32, DrawSlots::New(1)).unwrap();
        let mut of_indices =
            device.create(BufferKind::Indices, indices.len() as u32, DrawSlots::New(0)).unwrap();
        device.write(&mut of_vertices, 0, BufferData::Vertices(&vertices));
        device.write(&mut of_indices, 0, BufferData::Indices(&indices));
        device.write(&mut of_vertices, 0, BufferData::DrawData(&[transform.into()]));
        let index_count = indices.len() as u32;
        (
            of_vertices,
            of_indices,
            [DrawCommand { index_count, instance_count: 1, ..Default::default() }],
        )
    });
    let [opaque, blended] = layers
        .each_ref()
        .map(|(geometry, indices, commands)| [Batch::indexed(geometry, indices, commands)]);
    device
        .draw(frame, &Passes { opaque: &opaque, blended: &blended, ..Passes::default() })
        .unwrap();
    device.read_image().unwrap()
}

/// Quads without a seam and their triangles cover equal pixels, in equal light and haze.
#[test]
fn triangles_of_quads_look_like_the_quads() {
    let scene = landscape(40);
    let air = Atmosphere::default().with_haze(10.0, 90.0, 0.7);
    for (position, target) in [
        (DVec3::new(-30.3, 30.1, 34.7), DVec3::new(3.0, 2.0, 2.0)),
        (DVec3::new(2.2, 14.9, -1.3), DVec3::new(20.0, 6.0, 17.0)),
        (DVec3::new(40.0, 70.5, -9.0), DVec3::new(0.0, 2.0, 0.0)),
    ] {
        let mut frame = Frame::new(&Camera::look_at(position, target), &air, SIZE[0], SIZE[1]);
        frame.seam = 0.0;
        let quads = scene.draw_frame(&frame, SIZE);
        let drawn = draw(&frame, [false, true].map(|blended| triangles(&scene, blended, position)));
        let seen = quads.difference(&drawn, 1).unwrap();
        assert_eq!(seen.pixels, 0, "{position}: {seen:?}");
        let sky = draw(&frame, Default::default());
        assert!(sky.difference(&drawn, 8).unwrap().pixels > 5000, "{position}");
    }
}

/// A number from −1 to 1.
fn unit(random: &mut Random) -> f64 {
    2.0 * random.unit() - 1.0
}

/// Corners near and far, most triangles partly behind the camera: `x`, `y`, `z` from a hundredth of
/// a voxel to ten thousand voxels away.
fn around_the_camera(random: &mut Random) -> [Vec3; 3] {
    [0, 1, 2].map(|_| {
        let distance = 10f64.powf(3.0 * unit(random) + 1.0);
        let toward = DVec3::new(unit(random), unit(random), unit(random));
        (toward * distance).as_vec3()
    })
}

/// The lit side of a triangle is the one that the camera is on, for any clipping.
#[test]
fn the_side_towards_the_camera_is_lit() {
    const RED: [u8; 4] = [255, 0, 0, 255];
    let air = Atmosphere::default();
    let normal = Vec3::new(0.2, 0.9, 0.3).normalize();
    // Of red surfaces alone.
    let [front, back] = [normal, -normal].map(|side| air.light(side).x.min(1.0) * 255.0);
    assert!(front > back + 40.0, "{front} {back}");
    let frame = Frame::new(&Camera::default(), &air, 48, 48);
    let mut device = SoftDevice::new(48, 48).unwrap();
    let mut vertices = device.create(BufferKind::Vertices, 3, DrawSlots::New(1)).unwrap();
    let mut indices = device.create(BufferKind::Indices, 3, DrawSlots::New(0)).unwrap();
    device.write(&mut indices, 0, BufferData::Indices(&[0, 1, 2]));
    device.write(&mut vertices, 0, BufferData::DrawData(&[TriangleTransform::default().into()]));
    let command = [DrawCommand { index_count: 3, instance_count: 1, ..Default::default() }];
    let (mut random, mut seen, mut crossing) = (Random::new(7), [0, 0], 0);
    for number in 0..6000 {
        let corners = around_the_camera(&mut random);
        let [a, b, c] = corners.map(Vec3::as_dvec3);
        let (along, from) = ((b - a).cross(c - a), a);
        if (along.dot(from) / (along.length() * from.length())).abs() < 1e-3 {
            // Seen edge-on.
            continue;
        }
        let corners = corners.map(|at| TriangleVertex::new(at.to_array(), normal.to_array(), RED));
        device.write(&mut vertices, 0, BufferData::Vertices(&corners));
        let batch = [Batch::indexed(&vertices, &indices, &command)];
        device.draw(&frame, &Passes { opaque: &batch, ..Passes::default() }).unwrap();
        let picture = device.read_image().unwrap();
        let is_back = along.dot(from) > 0.0;
        let expected = if is_back { back } else { front };
        let red = picture.rgba().chunks_exact(4).filter(|it| it[1].max(it[2]) < 30);
        let mut pixels = 0;
        for red in red.map(|it| it[0]) {
            assert!((f32::from(red) - expected).abs() < 3.0, "{number}: {red}, not {expected}");
            pixels += 1;
        }
        seen[usize::from(is_back)] += usize::from(pixels > 0);
        // The view is along −Z.
        let behind = [a, b, c].iter().filter(|corner| corner.z > 0.0).count();
        crossing += usize::from(pixels > 0 && (1..3).contains(&behind));
    }
    assert!(seen[0].min(seen[1]) > 200 && crossing > 500, "{seen:?} {crossing}");
}

/// Triangles whose plane contains the camera. Snapping of their corners can give them pixels, which
/// must have their colour.
#[test]
fn triangles_seen_edge_on_have_their_colour() {
    const RED: [u8; 4] = [255, 0, 0, 255];
    let frame = Frame::new(&Camera::default(), &Atmosphere::default(), 49, 49);
    let mut device = SoftDevice::new(49, 49).unwrap();
    device.draw(&frame, &Passes::default()).unwrap();
    let sky = device.read_image().unwrap();
    let mut vertices = device.create(BufferKind::Vertices, 3, DrawSlots::New(1)).unwrap();
    let mut indices = device.create(BufferKind::Indices, 3, DrawSlots::New(0)).unwrap();
    device.write(&mut indices, 0, BufferData::Indices(&[0, 1, 2]));
    device.write(&mut vertices, 0, BufferData::DrawData(&[TriangleTransform::default().into()]));
    let command = [DrawCommand { index_count: 3, instance_count: 1, ..Default::default() }];
    let (mut random, mut seen) = (Random::new(3), 0);
    for number in 0..4000 {
        let slope = [0.5, 0.25, 2.0, 0.75][number % 4];
        let corners = [0; 3].map(|_| {
            let [along, away] = [0; 2].map(|_| (unit(&mut random) * 1024.0).round() as f32 / 64.0);
            let at = [along, along * slope, -1.0 - away.abs()];
            TriangleVertex::new(at, [0.0, 1.0, 0.0], RED)
        });
        device.write(&mut vertices, 0, BufferData::Vertices(&corners));
        let batch = [Batch::indexed(&vertices, &indices, &command)];
        device.draw(&frame, &Passes { opaque: &batch, ..Passes::default() }).unwrap();
        let picture = device.read_image().unwrap();
        let both = picture.rgba().chunks_exact(4).zip(sky.rgba().chunks_exact(4));
        for (pixel, _) in both.filter(|(pixel, sky)| pixel != sky) {
            assert!(pixel[0] > 60 && pixel[1].max(pixel[2]) < 30, "{number}: {pixel:?}");
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen}");
}

proptest! {
    #[test]
    fn no_command_vertex_or_index_panics(
        commands in prop::collection::vec(command(), 1..8),
        words in prop::collection::vec(
            prop_oneof![(-9.0..9.0f32).prop_map(f32::to_bits), any::<u32>()], 0..40),
        indices in prop::collection::vec(prop_oneof![9 => 0..8u32, 1 => any::<u32>()], 0..60),
        transforms in prop::collection::vec(any::<[u32; 6]>(), 1..6),
        frame in frame(),
    ) {
        let whole = &words[..words.len() / 5 * 5];
        let vertices: &[TriangleVertex] = bytemuck::cast_slice(whole);
        let mut device = SoftDevice::new(40, 40).unwrap();
        let mut of_vertices = device.create(BufferKind::Vertices, 8, DrawSlots::New(4)).unwrap();
        let mut of_indices = device.create(BufferKind::Indices, 50, DrawSlots::New(0)).unwrap();
        device.write(&mut of_vertices, 1, BufferData::Vertices(vertices));
        device.write(&mut of_indices, 2, BufferData::Indices(&indices));
        for (slot, &transform) in transforms.iter().enumerate() {
            device.write(&mut of_vertices, slot as u32, BufferData::DrawData(&[bytemuck::cast(transform)]));
        }
        let batches = [
            Batch::indexed(&of_vertices, &of_indices, &commands),
            Batch::indexed(&of_indices, &of_vertices, &commands),
            Batch::new(&of_vertices, &commands),
        ];
        let pictures = [false, true].map(|indirect| {
            let passes = Passes { opaque: &batches, blended: &batches, indirect, ..Passes::default() };
            device.draw(&frame, &passes).unwrap();
            device.read_image().unwrap()
        });
        prop_assert!(pictures[0] == pictures[1]);
    }
}
