use drystone_mesh::{Face, Quad};
use glam::DVec3;

use super::{super::vertex::VertexStage, *};
use crate::{Camera, DrawData, Projection, View};

/// For quads at any position and level: lines along their edges, with the stated width in the
/// picture, and no lines between.
#[test]
fn lines_lie_along_edges_with_a_constant_width_in_the_picture() {
    for (level, face) in [0, 1, 5].into_iter().flat_map(|l| Face::ALL.map(|face| (l, face))) {
        let units = 1 << level;
        let data = DrawData {
            origin: [-3 * units, 70 * units, 0],
            level,
            extent: 64 << level,
            sort_rank: 0,
        };
        let quad = Quad::new([60, 1, 33], [9, 64], face, 1);
        let corner = |n| {
            let at: [f64; 3] = std::array::from_fn(|i| {
                f64::from(data.origin[i] + quad.corner(n)[i] as i32 * units)
            });
            DVec3::from(at)
        };
        // Inner positions by parts of width and height.
        let at = |u: f64, v: f64| {
            let (along, up) = if face.is_positive() { (1, 2) } else { (2, 1) };
            corner(0) + (corner(along) - corner(0)) * u + (corner(up) - corner(0)) * v
        };
        let normal = DVec3::from(face.normal().map(f64::from));
        let from = at(0.3, 0.6) + (normal * 40.0 + DVec3::new(7.0, 9.0, 5.0)) * f64::from(units);
        let view = View { wire: true, ..View::new(Camera::look_at(from, at(0.4, 0.5))) };
        let frame = view.frame(4_000, 3_000);
        let kind = VertexStage::new(&frame, true).pixel_kind(quad, &data);
        let wire = Wire::new(&frame).unwrap();
        let line = |u: f64, v: f64| wire.line(kind, (at(u, v) - from).as_vec3a());
        assert_eq!(line(0.5, 0.5), 0.0, "{level} {face:?}");
        let picture = |u: f64, v: f64| {
            let clip =
                view.camera.clip_from_relative(4.0 / 3.0) * (at(u, v) - from).as_vec3().extend(1.0);
            (clip.truncate() / clip.w).truncate() * glam::Vec2::new(2_000.0, 1_500.0)
        };
        for step in 1..9 {
            let along = f64::from(step) / 9.0;
            assert_eq!(line(along, 0.0), DARKEST, "{level} {face:?} {along}");
            assert_eq!(line(1.0, along), DARKEST, "{level} {face:?} {along}");
            // The end of the line, at that distance from the edge in the picture.
            let mut end = 0.0;
            while line(end, along) > 0.0 {
                end += 1e-5;
            }
            let edge = (picture(0.0, along + 1e-3) - picture(0.0, along)).normalize();
            let wide = (picture(end, along) - picture(0.0, along)).perp_dot(edge).abs();
            assert!((wide - Frame::WIRE_PIXELS).abs() < 0.15, "{level} {face:?}: {wide}");
        }
    }
}

/// For triangles at any position: lines along their edges, with the stated width.
#[test]
fn lines_of_triangles_have_a_constant_width() {
    let corners = [[9.0, 30.0, -4.0], [21.0, 33.0, 5.0], [12.0, 47.0, 1.0]].map(DVec3::from_array);
    let at = |[a, b, c]: [f64; 3]| corners[0] * a + corners[1] * b + corners[2] * c;
    for (way, is_parallel) in [(0.0, false), (1.0, false), (2.6, false), (0.4, true)] {
        let from = at([0.4, 0.3, 0.3]) + DVec3::new(f64::sin(way), 0.3, f64::cos(way)) * 40.0;
        let mut camera = Camera::look_at(from, at([0.3, 0.4, 0.3]));
        if is_parallel {
            camera.projection = Projection::Orthographic { height_voxels: 40.0 };
        }
        let view = View { wire: true, ..View::new(camera) };
        let wire = Wire::new(&view.frame(4_000, 3_000)).unwrap();
        let relative = corners.map(|corner| (corner - from).as_vec3a());
        let heights = wire.heights(relative, corners.map(DVec3::as_vec3a));
        let line = |shares: [f64; 3]| {
            let edges = Vec3A::from(shares.map(|share| share as f32)) * heights;
            let (nearest, least) = (edges.min_element(), heights.min_element());
            wire.triangle_line(Edges { nearest, least }, (at(shares) - from).as_vec3a())
        };
        let picture = |shares| {
            let clip = view.camera.clip_from_relative(4.0 / 3.0)
                * (at(shares) - from).as_vec3().extend(1.0);
            (clip.truncate() / clip.w).truncate() * glam::Vec2::new(2_000.0, 1_500.0)
        };
        assert_eq!(line([0.3, 0.3, 0.4]), 0.0, "{way}");
        for (edge, step) in (0..3).flat_map(|edge| (2..8).map(move |step| (edge, step))) {
            let within = |depth: f64, along: f64| {
                let mut shares = [depth; 3];
                shares[(edge + 1) % 3] = (1.0 - depth) * along;
                shares[(edge + 2) % 3] = (1.0 - depth) * (1.0 - along);
                shares
            };
            let along = f64::from(step) / 9.0;
            assert_eq!(line(within(0.0, along)), DARKEST, "{way} {edge}");
            let mut end = 0.0;
            while line(within(end, along)) > 0.0 {
                end += 1e-5;
            }
            let on_edge = picture(within(0.0, along));
            let direction = (picture(within(0.0, along + 1e-2)) - on_edge).normalize();
            let wide = (picture(within(end, along)) - on_edge).perp_dot(direction).abs();
            assert!((wide - Frame::WIRE_PIXELS).abs() < 0.15, "{way} {edge}: {wide}");
        }
    }
}

#[test]
fn there_are_no_lines_unless_requested() {
    assert!(Wire::new(&View::new(Camera::default()).frame(8, 8)).is_none());
}
