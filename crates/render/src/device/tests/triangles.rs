//! The contract of [`Device`] for triangles.

use super::*;
use crate::{
    passes::Batch,
    triangle_vertex::{TriangleTransform, TriangleVertex},
};

on_every_device!(triangles_have_two_sides, both_sides_of_triangles_are_lit);
on_every_device!(triangles_and_quads_hide_each_other, triangles_and_quads_share_one_depth);
on_every_device!(vertices_and_indices_move, copies_of_vertices_and_indices_are_drawn);
on_every_device!(batches_of_two_kinds_are_not_drawn, batches_of_two_kinds_are_left_out);
on_every_device!(blended_triangles_lie_over, blended_triangles_are_laid_over_quads);

const RED: [u8; 4] = [230, 10, 10, 255];
const GREEN: [u8; 4] = [10, 230, 10, 255];

/// A triangle around the middle of the picture, at this depth, that faces the camera.
pub(super) fn in_front_of_the_camera(z: f32, color: [u8; 4]) -> [TriangleVertex; 3] {
    let corner = |x, y| TriangleVertex::new([x, y, z], [0.0, 0.0, 1.0], color);
    [corner(-20.0, -20.0), corner(28.0, -20.0), corner(4.0, 40.0)]
}

/// Vertices, indices, and the transform of triangles.
pub(super) struct Model<G> {
    vertices: G,
    indices: G,
}

impl<G> Model<G> {
    fn new<D: Device<Geometry = G>>(
        device: &mut D,
        vertices: &[TriangleVertex],
        indices: &[u32],
        transform: TriangleTransform,
    ) -> Self {
        Self::with_data(device, vertices, indices, transform.into())
    }

    pub(super) fn with_data<D: Device<Geometry = G>>(
        device: &mut D,
        vertices: &[TriangleVertex],
        indices: &[u32],
        data: DrawData,
    ) -> Self {
        let mut of_vertices =
            device.create(BufferKind::Vertices, vertices.len() as u32, DrawSlots::New(1)).unwrap();
        let mut of_indices =
            device.create(BufferKind::Indices, indices.len() as u32, DrawSlots::New(0)).unwrap();
        device.write(&mut of_vertices, 0, BufferData::Vertices(vertices));
        device.write(&mut of_indices, 0, BufferData::Indices(indices));
        device.write(&mut of_vertices, 0, BufferData::DrawData(&[data]));
        Self { vertices: of_vertices, indices: of_indices }
    }

    pub(super) fn batch<'a>(&'a self, commands: &'a [DrawCommand]) -> Batch<'a, G> {
        Batch::indexed(&self.vertices, &self.indices, commands)
    }
}

fn command(indices: std::ops::Range<u32>, base_vertex: i32) -> DrawCommand {
    DrawCommand {
        index_count: indices.end - indices.start,
        instance_count: 1,
        first_index: indices.start,
        base_vertex,
        first_instance: 0,
    }
}

/// The middle of the picture of these batches, drawn with and without indirect calls.
fn middle<D: Device>(
    device: &mut D,
    opaque: &[Batch<'_, D::Geometry>],
    blended: &[Batch<'_, D::Geometry>],
) -> [u8; 3] {
    let frame = Frame::new(&camera(), &Atmosphere::default(), 16, 16);
    let [one, other] = [true, false].map(|indirect| {
        device.draw(&frame, &Passes { opaque, blended, indirect, ..Passes::default() }).unwrap();
        let [red, green, blue, _] = device.read_image().unwrap().pixel(8, 8);
        [red, green, blue]
    });
    assert_eq!(one, other);
    one
}

/// Whether a colour is the material's in the light on a normal.
fn is_lit(seen: [u8; 3], color: [u8; 4], normal: glam::Vec3) -> bool {
    let light = Atmosphere::default().light(normal);
    let near = |axis: usize| {
        let lit = (f32::from(color[axis]) / 255.0 * light[axis]).min(1.0) * 255.0;
        (lit - f32::from(seen[axis])).abs() <= 2.0
    };
    (0..3).all(near)
}

fn both_sides_of_triangles_are_lit<D: Device>(mut device: D) {
    // With a normal to the side: seen from either side its light is that of that side.
    let side = glam::Vec3::new(0.8, 0.0, 0.6);
    let corners = in_front_of_the_camera(0.0, RED)
        .map(|corner| TriangleVertex::new(corner.position, side.to_array(), corner.color));
    for (indices, normal) in [([0, 1, 2], side), ([0, 2, 1], -side), ([2, 1, 0], -side)] {
        let model = Model::new(&mut device, &corners, &indices, TriangleTransform::default());
        let seen = middle(&mut device, &[model.batch(&[command(0..3, 0)])], &[]);
        assert!(is_lit(seen, RED, normal), "{indices:?}: {seen:?}");
    }
}

fn triangles_and_quads_share_one_depth<D: Device>(mut device: D) {
    device.set_palette(&[GREEN]).unwrap();
    let mut wall_geometry = device.create(BufferKind::Quads, 1, DrawSlots::New(1)).unwrap();
    device.write(&mut wall_geometry, 0, BufferData::Quads(&[wall(0)]));
    device.write(&mut wall_geometry, 0, BufferData::DrawData(&[HERE]));
    let quad = [DrawCommand { index_count: 6, instance_count: 1, ..Default::default() }];
    // The wall's face is at depth 1. Twice as large and moved, the model covers the same position.
    let scaled = TriangleTransform { origin: [0, 0, -3], scale: 2.0 };
    for (z, transform, color) in [
        (0.5, TriangleTransform::default(), GREEN),
        (1.5, TriangleTransform::default(), RED),
        (1.75, scaled, GREEN),
        (2.25, scaled, RED),
    ] {
        let corners = in_front_of_the_camera(z, RED);
        let model = Model::new(&mut device, &corners, &[0, 1, 2], transform);
        let triangle = [command(0..3, 0)];
        let quads = Batch::new(&wall_geometry, &quad);
        let seen = middle(&mut device, &[quads, model.batch(&triangle)], &[]);
        assert!(is_lit(seen, color, glam::Vec3::Z), "{z}: {seen:?}");
        let quads = Batch::new(&wall_geometry, &quad);
        assert_eq!(middle(&mut device, &[model.batch(&triangle), quads], &[]), seen);
    }
}

fn copies_of_vertices_and_indices_are_drawn<D: Device>(mut device: D) {
    let (red, green) = (in_front_of_the_camera(0.0, RED), in_front_of_the_camera(0.5, GREEN));
    let six = [red, green].concat();
    let mut model =
        Model::new(&mut device, &six, &[0, 1, 2, 9, 9, 9], TriangleTransform::default());
    let mut more =
        device.create(BufferKind::Vertices, 12, DrawSlots::SharedWith(&model.vertices)).unwrap();
    // The green one is copied to the other buffer, and its indices within their own.
    device.copy(Some(&model.vertices), &mut more, CopyRange { from: 3, to: 7, count: 3 });
    device.copy(None, &mut model.indices, CopyRange { from: 0, to: 3, count: 3 });
    device.write(&mut model.indices, 0, BufferData::Indices(&[8, 8, 8]));
    let (first, moved) = ([command(3..6, 0)], [command(3..6, 7)]);
    let before = middle(&mut device, &[model.batch(&first)], &[]);
    assert!(is_lit(before, RED, glam::Vec3::Z), "{before:?}");
    let batch = Batch::indexed(&more, &model.indices, &moved);
    let seen = middle(&mut device, &[batch], &[]);
    assert!(is_lit(seen, GREEN, glam::Vec3::Z), "{seen:?}");
}

/// The picture of these batches.
fn picture<D: Device>(
    device: &mut D,
    opaque: &[Batch<'_, D::Geometry>],
    blended: &[Batch<'_, D::Geometry>],
    indirect: bool,
) -> Image {
    let frame = Frame::new(&camera(), &Atmosphere::default(), 16, 16);
    device.draw(&frame, &Passes { opaque, blended, indirect, ..Passes::default() }).unwrap();
    device.read_image().unwrap()
}

fn batches_of_two_kinds_are_left_out<D: Device>(mut device: D) {
    device.set_palette(&[GREEN]).unwrap();
    let mut quads = device.create(BufferKind::Quads, 1, DrawSlots::New(1)).unwrap();
    device.write(&mut quads, 0, BufferData::Quads(&[wall(0)]));
    device.write(&mut quads, 0, BufferData::DrawData(&[HERE]));
    let corners = in_front_of_the_camera(1.5, RED);
    let model = Model::new(&mut device, &corners, &[0, 1, 2], TriangleTransform::default());
    let (three, six) = ([command(0..3, 0)], [command(0..6, 0)]);
    for indirect in [true, false] {
        let none = picture(&mut device, &[], &[], indirect);
        let [of_quads, of_triangles] = [Batch::new(&quads, &six), model.batch(&three)]
            .map(|batch| picture(&mut device, &[batch], &[], indirect));
        assert!(none != of_quads && none != of_triangles && of_quads != of_triangles);
        for number in 0..5 {
            let wrong = || match number {
                0 => Batch::new(&model.vertices, &six),
                1 => Batch::indexed(&model.vertices, &model.vertices, &three),
                2 => Batch::indexed(&model.indices, &model.indices, &three),
                3 => Batch::new(&model.indices, &six),
                _ => Batch::indexed(&quads, &model.indices, &three),
            };
            let seen = picture(&mut device, &[wrong()], &[wrong()], indirect);
            assert!(seen == none, "{number} {indirect}");
            // Batches behind it are drawn with their own commands.
            let seen = picture(&mut device, &[wrong(), model.batch(&three)], &[], indirect);
            assert!(seen == of_triangles, "{number} {indirect}");
            let opaque = [Batch::new(&quads, &six), wrong()];
            assert!(picture(&mut device, &opaque, &[], indirect) == of_quads, "{number}");
        }
    }
}

fn blended_triangles_are_laid_over_quads<D: Device>(mut device: D) {
    let glass = [10, 10, 230, 128];
    let behind = Model::new(
        &mut device,
        &in_front_of_the_camera(0.0, RED),
        &[0, 1, 2],
        TriangleTransform::default(),
    );
    let corners = in_front_of_the_camera(1.0, glass);
    // Drawn twice: the second is blended over the first.
    let indices = [0, 1, 2, 0, 1, 2];
    let panes = Model::new(&mut device, &corners, &indices, TriangleTransform::default());
    let (one, both) = ([command(0..3, 0)], [command(0..6, 0)]);
    let [none, single, double] = [&[][..], &one, &both]
        .map(|commands| middle(&mut device, &[behind.batch(&one)], &[panes.batch(commands)]));
    assert!(is_lit(none, RED, glam::Vec3::Z), "{none:?}");
    assert!(none[0] > single[0] + 40 && single[0] > double[0] + 20, "{none:?} {single:?}");
    assert!(none[2] + 40 < single[2] && single[2] + 20 < double[2], "{single:?} {double:?}");
}
