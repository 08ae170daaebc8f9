//! Several samples a pixel: every device draws the picture of the rasteriser.

use drystone_testing::Random;

use super::{overlay::panes, triangles::in_front_of_the_camera, *};
use crate::{
    image::Image,
    triangle_vertex::{TriangleTransform, TriangleVertex},
};

on_every_device!(samples_are_alike, samples_are_drawn_as_by_the_rasteriser);
on_every_device!(the_number_of_samples_changes, the_number_of_samples_can_change);

const SIZE: [u32; 2] = [160, 120];
const COLORS: [[u8; 4]; 3] = [[200, 60, 40, 255], [60, 160, 90, 255], [80, 120, 230, 110]];
/// Largest difference of a channel: one for rounding of a colour, one for that of the mean.
const TOLERANCE: u8 = 2;
/// Share of pixels that may differ more: where rasterisers decide differently whether an edge covers
/// a sample.
const SILHOUETTE: f64 = 0.02;

/// Number of opaque quads, and of translucent ones.
const QUADS: u32 = 45;

/// Quads of all directions with ambient occlusion, each in a plane of its own.
fn quads() -> Vec<Quad> {
    let mut random = Random::new(7);
    let quad = |number: u32| {
        let (axis, plane) = (number as usize % 3, number / 3);
        let mut position = [(); 3].map(|()| random.below(48));
        position[axis] = 2 * plane;
        let size = [(); 2].map(|()| 1 + random.below(12));
        let face = Face::ALL[axis + 3 * random.below(2_usize)];
        let material = if plane % 2 == 0 { random.below(2_u16) } else { 2 };
        Quad::new(position, size, face, material).with_ambient_occlusion(random.below(256) as u8)
    };
    let mut quads: Vec<Quad> = (0..2 * QUADS).map(quad).collect();
    quads.sort_by_key(|quad| quad.material() == 2);
    quads
}

/// Draws quads, a triangle of a model, translucent quads and an overlay.
fn picture<D: Device>(device: &mut D, wire_pixels: f32) -> Image {
    let [width, height] = SIZE;
    device.resize(width, height).unwrap();
    device.set_palette(&COLORS).unwrap();
    let list = quads();
    let mut quads = device.create(BufferKind::Quads, list.len() as u32, DrawSlots::New(1)).unwrap();
    device.write(&mut quads, 0, BufferData::Quads(&list));
    device.write(&mut quads, 0, BufferData::DrawData(&[DrawData { origin: [-20; 3], ..HERE }]));
    let mut vertices = device.create(BufferKind::Vertices, 3, DrawSlots::New(1)).unwrap();
    let mut indices = device.create(BufferKind::Indices, 3, DrawSlots::New(0)).unwrap();
    let corners: [TriangleVertex; 3] = in_front_of_the_camera(-3.0, [230, 200, 10, 255]);
    device.write(&mut vertices, 0, BufferData::Vertices(&corners));
    device.write(&mut indices, 0, BufferData::Indices(&[0, 1, 2]));
    let transform = TriangleTransform { origin: [0; 3], scale: 0.8 };
    device.write(&mut vertices, 0, BufferData::DrawData(&[transform.into()]));

    let half =
        |first: u32| DrawCommand { index_count: QUADS * INDICES_PER_QUAD, ..command(first, 0) };
    let triangle = [DrawCommand { index_count: 3, ..command(0, 0) }];
    let [opaque, blended] = [[half(0)], [half(QUADS)]];
    let opaque = [Batch::new(&quads, &opaque), Batch::indexed(&vertices, &indices, &triangle)];
    let blended = [Batch::new(&quads, &blended)];
    let camera = Camera::look_at(DVec3::new(41.3, 37.1, 58.0), DVec3::new(8.0, 8.0, 4.0));
    let air = Atmosphere { ambient_occlusion: 0.3, ..Atmosphere::default() };
    let mut frame = Frame::new(&camera, &air.with_haze(40.0, 120.0, 0.8), width, height);
    frame.wire_pixels = wire_pixels;
    device
        .draw(&frame, &Passes { opaque: &opaque, blended: &blended, ..Passes::default() })
        .unwrap();
    device.read_image().unwrap()
}

fn samples_are_drawn_as_by_the_rasteriser<D: Device>(mut device: D) {
    for samples in Samples::ALL {
        device.set_samples(samples).unwrap();
        let drawn = device.info().samples;
        assert!(drawn == samples || drawn == Samples::Four, "{}", device.describe());
        let mut soft = SoftDevice::new(16, 16).unwrap();
        soft.set_samples(drawn).unwrap();
        for wire_pixels in [0.0, Frame::WIRE_PIXELS] {
            device.set_overlay(&panes()).unwrap();
            soft.set_overlay(&panes()).unwrap();
            let (want, got) = (picture(&mut soft, wire_pixels), picture(&mut device, wire_pixels));
            let seen = want.difference(&got, TOLERANCE).unwrap();
            let what = format!("{}, {samples} samples: {seen:?}", device.describe());
            println!("{what}");
            assert!(f64::from(seen.pixels) <= SILHOUETTE * f64::from(SIZE[0] * SIZE[1]), "{what}");
            assert!(seen.away_from_edges <= 4, "{what}");
        }
    }
}

fn the_number_of_samples_can_change<D: Device>(mut device: D) {
    let stepped = picture(&mut device, 0.0);
    device.set_samples(Samples::Four).unwrap();
    let smooth = picture(&mut device, 0.0);
    device.set_samples(Samples::One).unwrap();
    assert!(picture(&mut device, 0.0) == stepped, "{}", device.describe());
    // The number stays when the size changes.
    device.set_samples(Samples::Four).unwrap();
    device.resize(17, 5).unwrap();
    assert_eq!(device.info().samples, Samples::Four);
    assert!(picture(&mut device, 0.0) == smooth, "{}", device.describe());
    assert!(stepped != smooth, "{}", device.describe());
}
