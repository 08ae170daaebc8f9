use glam::DVec3;

use super::*;
use crate::{Atmosphere, Camera};

#[test]
fn corners_are_those_of_the_quad() {
    let camera = Camera::look_at(DVec3::new(-7.3, 40.1, 12.9), DVec3::new(1e3, -5.0, 70.0));
    let frame = Frame::new(&camera, &Atmosphere::default(), 640, 480);
    let stage = VertexStage::new(&frame, false);
    for (level, face) in (0..=9).flat_map(|level| Face::ALL.map(|face| (level, face))) {
        let data = DrawData { origin: [32, -64, 96], level, extent: 64 << level, sort_rank: 0 };
        let scale = f64::from(1 << level);
        let quad = Quad::new([5, 17, 63], [64, 3], face, 1);
        let corners = stage.corners(quad, stage.transform(&data));
        for (corner, seen) in (0..4).zip(corners) {
            let world: DVec3 = std::array::from_fn(|i| {
                f64::from(data.origin[i]) + f64::from(quad.corner(corner)[i]) * scale
            })
            .into();
            let clip = camera.clip_from_relative(4.0 / 3.0)
                * (world - camera.position).as_vec3().extend(1.0);
            let limit = 1e-3 + 1e-6 * clip.length();
            assert!((clip - seen).length() < limit, "{level} {face:?} {corner}: {clip} {seen}");
        }
    }
}

/// Quads that are twice as large at each level coincide, to the bit, with larger quads of small
/// voxels.
#[test]
fn corners_of_lod_voxels_coincide_with_those_of_small_voxels() {
    let camera_position = DVec3::new(-70_007.3, 40.1, 9e5 + 0.9);
    let camera = Camera::look_at(camera_position, camera_position + DVec3::new(9.0, -5.0, 7.0));
    let frame = Frame::new(&camera, &Atmosphere::default(), 640, 480);
    for (closes_seam, level) in [false, true].into_iter().zip(0..6).cycle().take(12) {
        let stage = VertexStage::new(&frame, closes_seam);
        let origin = [-70_017, 3, 900_001];
        let large = stage.transform(&DrawData { origin, level, extent: 2 << level, sort_rank: 0 });
        for face in Face::ALL {
            let side = 1 << level;
            let mut low = [side; 3];
            // The face lies on the far side of the last of the small voxels.
            low[face.axis()] += if face.is_positive() { side - 1 } else { 0 };
            let one = Quad::new([1; 3], [1, 1], face, 0);
            let same = Quad::new(low, [side; 2], face, 0);
            let small =
                stage.transform(&DrawData { origin, level: 0, extent: 2 << level, sort_rank: 0 });
            assert_eq!(stage.corners(one, large), stage.corners(same, small), "{face:?}");
        }
    }
}

#[test]
fn seam_moves_corners_outwards_by_its_part_of_a_pixel() {
    let camera = Camera::look_at(DVec3::new(3.0, 3.0, 30.0), DVec3::new(3.0, 3.0, 0.0));
    let frame = Frame::new(&camera, &Atmosphere::default(), 100, 100);
    let quad = Quad::new([2, 2, 0], [2, 2], Face::PosZ, 0);
    let pixels = [false, true].map(|closes_seam| {
        let stage = VertexStage::new(&frame, closes_seam);
        let corners = stage.corners(quad, stage.transform(&DrawData::default()));
        corners.map(|c| (c.truncate() / c.w).truncate() * 50.0)
    });
    for (moved, unmoved) in pixels[1].iter().zip(pixels[0]) {
        let by = moved - unmoved;
        assert!((by.abs() - Frame::SEAM_PIXELS).abs().max_element() < 1e-4, "{by}");
        assert!(by.x * unmoved.x > 0.0 && by.y * unmoved.y > 0.0, "outwards: {by}");
    }
}

/// At a low angle too, each edge moves by its part of a pixel, measured across the edge.
#[test]
fn seam_moves_edges_alike_at_low_angles() {
    let quad = Quad::new([2, 0, 2], [9, 5], Face::PosY, 0);
    for (height, yaw) in [(9.0, 0.3f64), (2.0, 0.7), (1.6, 1.2), (1.5, 0.2)] {
        let camera_position =
            DVec3::new(4.5, 0.0, 6.5) + DVec3::new(yaw.sin(), 0.0, yaw.cos()) * 20.0;
        let camera = Camera::look_at(camera_position.with_y(height), DVec3::new(4.5, 1.0, 6.5));
        let frame = Frame::new(&camera, &Atmosphere::default(), 400, 400);
        let [before, after] = [false, true].map(|closes_seam| {
            let stage = VertexStage::new(&frame, closes_seam);
            let corners = stage.corners(quad, stage.transform(&DrawData::default()));
            corners.map(|c| (c.truncate() / c.w).truncate().as_dvec2() * 200.0)
        });
        for [from, to, aside] in [[0, 1, 2], [1, 3, 0], [3, 2, 1], [2, 0, 3]] {
            let across = (before[to] - before[from]).perp().normalize();
            let outwards = across * -(before[aside] - before[from]).dot(across).signum();
            for corner in [from, to] {
                let by = (after[corner] - before[corner]).dot(outwards);
                let part = by / f64::from(Frame::SEAM_PIXELS);
                assert!((0.95..1.1).contains(&part), "{height} {yaw} {from}-{to}: {part}");
            }
        }
    }
}

#[test]
fn origins_far_apart_wrap_as_on_a_gpu() {
    let mut frame = Frame::new(&Camera::default(), &Atmosphere::default(), 8, 8);
    frame.camera_voxel = [i32::MIN, 5, i32::MAX];
    let stage = VertexStage::new(&frame, true);
    let data = DrawData { origin: [i32::MAX, 7, i32::MAX - 3], ..DrawData::default() };
    assert_eq!(stage.origin(data.origin), Vec3A::new(-1.0, 2.0, -3.0));
}
