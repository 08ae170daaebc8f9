use drystone_mesh::FaceSet;
use glam::DVec3;
use proptest::prelude::*;

use super::*;
use crate::{
    atmosphere::Atmosphere,
    camera::{Camera, Projection},
    draw_data::DrawData,
    frame::Frame,
    view::View,
    visibility::Visibility,
};

const SIZE: [u32; 2] = [53, 37];

fn cull_frame(view: &View) -> (CullFrame, Visibility) {
    let aspect = SIZE[0] as f32 / SIZE[1] as f32;
    let visibility = Visibility::new(&view.camera, aspect);
    let frame = Frame::new(&view.camera, &Atmosphere::default(), SIZE[0], SIZE[1]);
    (CullFrame::new(view, &visibility, &frame), visibility)
}

/// A coordinate near zero, or near either end of the world.
fn coordinate() -> impl Strategy<Value = i32> {
    prop_oneof![8 => -300..300_i32, 1 => i32::MIN..i32::MIN + 99, 1 => i32::MAX - 99..i32::MAX]
}

fn camera() -> impl Strategy<Value = Camera> {
    let position = prop::array::uniform3((coordinate(), 0.0..1.0_f64));
    (position, -3.2..3.2_f32, -1.6..1.6_f32, any::<bool>()).prop_map(
        |(position, yaw, pitch, parallel)| {
            let projection = if parallel {
                Projection::Orthographic { height_voxels: 90.0 }
            } else {
                Projection::Perspective { fov_y: 0.9 }
            };
            let position = DVec3::from_array(position.map(|(voxel, rest)| f64::from(voxel) + rest));
            Camera { position, yaw, pitch, projection, depth_range: [0.5, 700.0] }
        },
    )
}

fn record() -> impl Strategy<Value = CullRecord> {
    let extent = prop_oneof![Just(0), Just(1), Just(2), Just(16), Just(32), Just(u32::MAX)];
    let counts = prop::array::uniform6(prop_oneof![Just(0), 1..5_u32]);
    let level = prop_oneof![0..6_u32, any::<u32>()];
    (prop::array::uniform3(coordinate()), level, extent, counts).prop_map(
        |(origin, level, extent, counts)| {
            CullRecord::new(7, DrawData { origin, level, extent, sort_rank: 0 }, 1000, counts)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    /// The device masks like the CPU, to the bit.
    #[test]
    fn masks_as_visibility_does(
        camera in camera(),
        record in record(),
        mask_back_faces in any::<bool>(),
        cull_frustum in any::<bool>(),
    ) {
        let view = View { mask_back_faces, cull_frustum, ..View::new(camera) };
        let (frame, visibility) = cull_frame(&view);
        let CullRecord { origin, level, extent, .. } = record;
        let mesh = DrawData { origin, level, extent, sort_rank: 0 };
        let is_culled = cull_frustum && !visibility.in_view(&mesh);
        let visible_faces = match (is_culled, mask_back_faces) {
            (true, _) => FaceSet::EMPTY,
            (false, true) => visibility.visible_faces(&mesh),
            (false, false) => FaceSet::ALL,
        };
        let expected = u32::from(visible_faces.bits()) & filled(&record);
        prop_assert_eq!(visible_parts(&frame, &record), expected);
    }

    /// Runs are cut and merged like in a simple per-face implementation.
    #[test]
    fn commands_draw_each_visible_face_direction_once(record in record(), parts in 0..64_u32) {
        let mut drawn: Vec<u32> = Vec::new();
        for command in commands(&record, parts) {
            let first = command.base_vertex as u32 / 4 - 1000;
            drawn.extend(first..first + command.index_count / 6);
        }
        let quads = |part: usize| {
            let start = if part == 0 { 0 } else { record.ends[part - 1] };
            start..record.ends[part]
        };
        let expected: Vec<u32> =
            (0..6).filter(|part| parts >> part & 1 != 0).flat_map(quads).collect();
        prop_assert_eq!(drawn, expected);
        prop_assert!(commands(&record, parts).len() as u64 <= record.max_commands());
    }
}

/// A depth picture with structure: bands of several depths with holes.
fn depths(seed: u32) -> Vec<f32> {
    let [width, height] = SIZE;
    (0..width * height)
        .map(|pixel| {
            let [x, y] = [pixel % width, pixel / width];
            let is_hole = (x ^ y ^ seed).wrapping_mul(0x9E37_79B9) >> 24 == 0;
            if is_hole { 0.0 } else { (1 + (x / 16 + seed) % 4) as f32 * 0.01 }
        })
        .collect()
}

/// For every rectangle: if the pyramid reports it as covered, every pixel is covered; and it
/// reports a good part of the covered ones.
#[test]
fn pyramids_are_conservative_and_useful() {
    let [width, height] = SIZE.map(|side| side as usize);
    let depth = depths(5);
    let pyramid = Pyramid::new([width, height], &depth);
    let (mut covered, mut known) = (0, 0);
    for low in (0..width * height).step_by(7) {
        for high in (low..width * height).step_by(3) {
            let ([x0, y0], [x1, y1]) = ([low % width, low / width], [high % width, high / width]);
            if x1 < x0 {
                continue;
            }
            let pixels = (y0..=y1).flat_map(|y| (x0..=x1).map(move |x| y * width + x));
            let is_covered = pixels.map(|pixel| depth[pixel]).all(|depth| depth > 0.005);
            let says = pyramid.covers([x0, y0], [x1, y1], 0.005);
            assert!(is_covered || !says, "{x0},{y0} to {x1},{y1}");
            covered += u32::from(is_covered);
            known += u32::from(says);
        }
    }
    assert!(known * 4 > covered && covered > 100, "{known} of {covered}");
}

/// Samples points of the box's surface, moved as for seams, and tests whether any is nearer than
/// the depth picture.
fn shows(frame: &CullFrame, depth: &[f32], record: &CullRecord) -> bool {
    const STEPS: u32 = 12;
    let low = relative(frame, record);
    let m = Mat4::from_cols_array_2d(&frame.clip_from_relative);
    let extent = record.extent as f32;
    let sides = [0, 1, 2].into_iter().flat_map(|axis| [(axis, 0.0), (axis, 1.0)]);
    sides.into_iter().any(|(axis, side)| {
        (0..=STEPS * (STEPS + 2)).any(|n| {
            let [u, v] = [n % (STEPS + 1), n / (STEPS + 1)].map(|n| n as f32 / STEPS as f32);
            let mut unit = [u, v, side];
            unit.rotate_right((axis + 1) % 3);
            let point = low + Vec3::from_array(unit) * extent;
            let clip = m * point.extend(1.0);
            let outward = (Vec3::from_array(unit) * 2.0 - 1.0) * frame.seam * clip.w;
            let moved = m * (point + outward).extend(1.0);
            let ndc = moved.xyz() / moved.w;
            let pixel = [ndc.x, -ndc.y].map(|c| c * 0.5 + 0.5);
            let [x, y] = [pixel[0] * SIZE[0] as f32, pixel[1] * SIZE[1] as f32];
            let is_in = x >= 0.0 && y >= 0.0 && x < SIZE[0] as f32 && y < SIZE[1] as f32;
            moved.w > 0.0 && is_in && depth[y as usize * SIZE[0] as usize + x as usize] <= ndc.z
        })
    })
}

/// Boxes reported as hidden are not visible; and a good part of the invisible boxes is reported.
#[test]
fn hidden_boxes_do_not_show() {
    let [width, height] = SIZE.map(|side| side as usize);
    let (mut unseen, mut hidden) = (0, 0);
    for (round, parallel) in (0..40).flat_map(|round| [(round, false), (round, true)]) {
        let projection = match parallel {
            true => Projection::Orthographic { height_voxels: 300.0 },
            false => Projection::Perspective { fov_y: 0.9 },
        };
        let turn = round as f32 * 0.4;
        let position = DVec3::new(3.3, -7.7, 400.0 + f64::from(round));
        let camera = Camera { position, yaw: 0.3 * turn.sin(), projection, ..Camera::default() };
        let camera = Camera { depth_range: [1.0, 900.0], ..camera };
        let (frame, _) = cull_frame(&View::new(camera));
        // In perspective almost all depths lie between 0 and 0.05; with parallel rays, evenly.
        let scale = if parallel { 20.0 } else { 0.3 };
        let depth: Vec<f32> = depths(round).iter().map(|depth| depth * scale).collect();
        let pyramid = Pyramid::new([width, height], &depth);
        for n in 0..400_i32 {
            let origin = [n % 20 * 19 - 190, n / 20 * 13 - 130, n * 7 % 390];
            let record = CullRecord::new(
                0,
                DrawData { origin, level: 0, extent: 16, sort_rank: 0 },
                0,
                [1; 6],
            );
            let is_unseen = !shows(&frame, &depth, &record);
            let is_hidden = is_hidden(&frame, &pyramid, &record);
            assert!(is_unseen || !is_hidden, "{round} {origin:?}");
            unseen += u32::from(is_unseen);
            hidden += u32::from(is_hidden);
        }
    }
    assert!(hidden > 500 && hidden * 8 > unseen, "{hidden} of {unseen}");
}

/// Boxes that reach behind the camera, or are nearer than the near plane, are never hidden.
#[test]
fn boxes_around_the_camera_are_not_hidden() {
    let (frame, _) = cull_frame(&View::new(Camera::default()));
    let wall = vec![0.999; (SIZE[0] * SIZE[1]) as usize];
    let pyramid = Pyramid::new(SIZE.map(|side| side as usize), &wall);
    let at = |origin| {
        CullRecord::new(0, DrawData { origin, level: 0, extent: 8, sort_rank: 0 }, 0, [1; 6])
    };
    assert!(!is_hidden(&frame, &pyramid, &at([-4, -4, -4])));
    assert!(!is_hidden(&frame, &pyramid, &at([-4, -4, 10])));
    assert!(is_hidden(&frame, &pyramid, &at([-4, -4, -60])));
    // Outside the picture: nothing could hide it.
    assert!(!is_hidden(&frame, &pyramid, &at([500, -4, -60])));
}

#[test]
fn near_meshes_come_first() {
    let camera = Camera { depth_range: [0.1, 1024.0], ..Camera::default() };
    let at = |distance: i32| {
        CullRecord::new(
            0,
            DrawData { origin: [-8, -8, -8 - distance], level: 0, extent: 16, sort_rank: 0 },
            0,
            [1; 6],
        )
    };
    let parallel =
        Camera { projection: Projection::Orthographic { height_voxels: 99.0 }, ..camera };
    for camera in [camera, parallel] {
        let (frame, _) = cull_frame(&View::new(camera));
        let bins: Vec<u32> = (0..100).map(|n| bin(&frame, &at(n * 10))).collect();
        assert!(bins.is_sorted() && bins[0] == 0 && bins[99] == CullFrame::BINS - 1, "{bins:?}");
        assert!(bins.windows(2).filter(|pair| pair[0] < pair[1]).count() >= 8, "{bins:?}");
        let (unordered, _) = cull_frame(&View { sort_opaque: false, ..View::new(camera) });
        assert_eq!(bin(&unordered, &at(500)), 0);
    }
}
