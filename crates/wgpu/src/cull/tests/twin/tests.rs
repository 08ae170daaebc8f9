use drystone_mesh::FaceSet;
use drystone_pool::PoolConfig;
use glam::{EulerRot, Quat, camera::rh::proj::directx};
use proptest::prelude::*;

use super::{
    super::super::{CullBounds, CullOrder, Entries},
    *,
};

const SIZE: [u32; 2] = [53, 37];

/// Camera of a test, with reversed depth.
#[derive(Clone, Copy, Debug)]
struct Camera {
    position: [f64; 3],
    yaw: f32,
    pitch: f32,
    is_parallel: bool,
    height: f32,
    depth_range: [f32; 2],
}

impl Camera {
    const ORIGIN: Self = Self {
        position: [0.0; 3],
        yaw: 0.0,
        pitch: 0.0,
        is_parallel: false,
        height: 90.0,
        depth_range: [0.5, 700.0],
    };

    fn matrix(&self) -> Mat4 {
        let aspect = SIZE[0] as f32 / SIZE[1] as f32;
        let [near, far] = self.depth_range;
        let top = self.height / 2.0;
        let projection = match self.is_parallel {
            false => directx::perspective(0.9, aspect, far, near),
            true => directx::orthographic(-top * aspect, top * aspect, -top, top, far, near),
        };
        let turn = Quat::from_euler(EulerRot::YXZ, self.yaw, self.pitch, 0.0);
        projection * Mat4::from_quat(turn.inverse())
    }

    fn view(&self) -> CullView {
        let voxel = self.position.map(f64::floor);
        let fraction = [0, 1, 2].map(|axis| (self.position[axis] - voxel[axis]) as f32);
        CullView::relative(self.matrix().to_cols_array_2d(), voxel.map(|c| c as i32), fraction)
    }
}

fn pattern() -> Pattern {
    Entries::new(&PoolConfig::default().with_pattern_elements(3)).pattern()
}

/// A coordinate near zero, or near either end of the world.
fn coordinate() -> impl Strategy<Value = i32> {
    prop_oneof![8 => -300..300_i32, 1 => i32::MIN..i32::MIN + 99, 1 => i32::MAX - 99..i32::MAX]
}

fn camera() -> impl Strategy<Value = Camera> {
    let position = prop::array::uniform3((coordinate(), 0.0..1.0_f64));
    (position, -3.2..3.2_f32, -1.6..1.6_f32, any::<bool>()).prop_map(
        |(position, yaw, pitch, is_parallel)| {
            let position = position.map(|(voxel, rest)| f64::from(voxel) + rest);
            Camera { position, yaw, pitch, is_parallel, ..Camera::ORIGIN }
        },
    )
}

fn record() -> impl Strategy<Value = CullRecord> {
    let counts = prop::array::uniform8(prop_oneof![Just(0), 1..9_u32]);
    (prop::array::uniform3(coordinate()), any::<bool>(), counts).prop_map(
        |(origin, has_faces, counts)| {
            let bounds = match has_faces {
                true => CullBounds::of_voxels(origin, [16; 3]),
                false => CullBounds::new([0.0; 3], [16.0; 3]).with_origin(origin),
            };
            CullRecord::new(7, bounds, 1000, counts)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    /// A box with a point in view is visible, for boxes of any sides and views of any matrix.
    #[test]
    fn boxes_with_a_point_in_view_are_visible(
        camera in camera(),
        offset in prop::array::uniform3(-400.0..400.0_f32),
        size in prop::array::uniform3(0.0..200.0_f32),
        point in prop::array::uniform3(0.0..1.0_f32),
    ) {
        let view = camera.view();
        let bounds = CullBounds::new(offset, [0, 1, 2].map(|axis| offset[axis] + size[axis]))
            .with_origin(view.camera_voxel);
        let relative = [0, 1, 2]
            .map(|axis| offset[axis] - view.camera_fraction[axis] + size[axis] * point[axis]);
        let clip = camera.matrix() * Vec3::from_array(relative).extend(1.0);
        let is_in = clip.x.abs() < clip.w && clip.y.abs() < clip.w && clip.z > 0.0 && clip.z < clip.w;
        prop_assert!(!is_in || !view.visible_parts(&bounds).is_empty());
    }

    /// Of boxes around points beyond a side of the picture, those with a distance are not visible.
    #[test]
    fn boxes_beyond_a_side_are_not_visible(
        camera in camera(),
        side in 0..4_usize,
        depth in 50.0..300.0_f32,
        size in prop::array::uniform3(0.1..4.0_f32),
    ) {
        let view = camera.view();
        // A point at twice the half width or height of the picture.
        let inverse = camera.matrix().inverse();
        let forward = inverse.project_point3(Vec3::new(0.0, 0.0, 0.0)).normalize();
        let clip = camera.matrix() * (forward * depth).extend(1.0);
        let [x, y] = [[2.0, 0.0], [-2.0, 0.0], [0.0, 2.0], [0.0, -2.0]][side];
        let middle = inverse.project_point3(Vec3::new(x, y, clip.z / clip.w));
        let size = Vec3::from_array(size);
        let fraction = Vec3::from_array(view.camera_fraction);
        let [low, high] = [middle + fraction - size * 0.5, middle + fraction + size * 0.5];
        let bounds = CullBounds::new(low.into(), high.into()).with_origin(view.camera_voxel);
        prop_assert!(view.visible_parts(&bounds).is_empty(), "{middle}");
        prop_assert!(!view.without_frustum().visible_parts(&bounds).is_empty());
    }

    /// Face directions are dropped only if every face of that direction points away.
    #[test]
    fn dropped_face_directions_point_away(
        camera in camera(),
        origin in prop::array::uniform3(-40..40_i32),
        size in prop::array::uniform3(1..60_u32),
    ) {
        let origin = [0, 1, 2].map(|axis| origin[axis].saturating_add(camera.position[axis] as i32));
        let view = camera.view().without_frustum().with_masked_faces();
        let shown = view.visible_parts(&CullBounds::of_voxels(origin, size));
        for face in drystone_mesh::Face::ALL {
            let axis = face.axis();
            let low = f64::from(origin[axis]);
            let planes = (0..=size[axis]).map(|n| low + f64::from(n));
            let eye = camera.position[axis];
            let towards = match face.is_positive() {
                true => planes.skip(1).any(|plane| eye > plane),
                false => planes.take(size[axis] as usize).any(|plane| eye < plane),
            };
            prop_assert!(shown.contains(face.index()) || !towards, "{face:?}");
            // At most one voxel too many.
            let far = if face.is_positive() { eye < low } else { eye > low + f64::from(size[axis]) };
            prop_assert!(!far || !shown.contains(face.index()), "{face:?}");
        }
    }

    /// Runs are cut and merged like in a simple per-part implementation.
    #[test]
    fn commands_draw_each_visible_part_once(record in record(), parts in 0..64_u32) {
        let mut drawn: Vec<u32> = Vec::new();
        for command in commands(&record, parts, pattern()) {
            let first = command.base_vertex as u32 / 4 - 1000;
            drawn.extend(first..first + command.index_count / 6);
        }
        let elements = |part: usize| {
            let start = if part == 0 { 0 } else { record.ends[part - 1] };
            start..record.ends[part]
        };
        let expected: Vec<u32> =
            (0..6).filter(|part| parts >> part & 1 != 0).flat_map(elements).collect();
        prop_assert_eq!(drawn, expected);
        prop_assert!(
            commands(&record, parts, pattern()).len() as u32 <= record.max_commands(pattern())
        );
    }
}

/// A view from a world matrix and the camera's position is the view of a matrix relative to it.
#[test]
fn with_camera_moves_the_origin_of_the_matrix() {
    let camera = Camera { position: [-3.25, 40.5, 7.75], yaw: 0.4, pitch: -0.3, ..Camera::ORIGIN };
    let eye = Vec3::from_array(camera.position.map(|c| c as f32));
    let world = camera.matrix() * Mat4::from_translation(-eye);
    let moved = CullView::new(world.to_cols_array_2d()).with_camera(camera.position);
    let expected = camera.view().with_masked_faces();
    assert_eq!((moved.camera_voxel, moved.flags), (expected.camera_voxel, expected.flags));
    assert_eq!(moved.camera_fraction, expected.camera_fraction);
    let [moved, expected] =
        [moved, expected].map(|view| Mat4::from_cols_array_2d(&view.clip_from_relative));
    assert!(moved.abs_diff_eq(expected, 1e-4), "{moved} {expected}");
}

#[test]
fn parallel_views_show_the_same_faces_of_all_meshes() {
    let faces = FaceSet::from_bits(0b101_010);
    let view = CullView::new(Mat4::IDENTITY.to_cols_array_2d()).without_frustum();
    for bounds in [[-90; 3], [0; 3], [70; 3]].map(|at| CullBounds::of_voxels(at, [4; 3])) {
        let shown = view.with_parallel_faces(faces).visible_parts(&bounds);
        assert_eq!(shown.bits(), faces.bits());
        let shown = view.with_camera([0.0; 3]).with_parallel_faces(FaceSet::EMPTY);
        assert!(shown.visible_parts(&bounds).is_empty());
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
fn shows(frame: &CullView, depth: &[f32], record: &CullRecord) -> bool {
    const STEPS: u32 = 12;
    let low = relative(frame, record);
    let m = Mat4::from_cols_array_2d(&frame.clip_from_relative);
    let extent = record.size[0];
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
    for (round, is_parallel) in (0..40).flat_map(|round| [(round, false), (round, true)]) {
        let turn = round as f32 * 0.4;
        let position = [3.3, -7.7, 400.0 + f64::from(round)];
        let yaw = 0.3 * turn.sin();
        let depth_range = [1.0, 900.0];
        let camera = Camera { position, yaw, is_parallel, height: 300.0, depth_range, pitch: 0.0 };
        let frame = camera.view().with_seam(0.01);
        // In perspective almost all depths lie between 0 and 0.05; with parallel rays, evenly.
        let scale = if is_parallel { 20.0 } else { 0.3 };
        let depth: Vec<f32> = depths(round).iter().map(|depth| depth * scale).collect();
        let pyramid = Pyramid::new([width, height], &depth);
        for n in 0..400_i32 {
            let origin = [n % 20 * 19 - 190, n / 20 * 13 - 130, n * 7 % 390];
            let record = CullRecord::new(0, CullBounds::of_voxels(origin, [16; 3]), 0, [1; 8]);
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
    let frame = Camera { depth_range: [0.1, 4096.0], ..Camera::ORIGIN }.view();
    let wall = vec![0.999; (SIZE[0] * SIZE[1]) as usize];
    let pyramid = Pyramid::new(SIZE.map(|side| side as usize), &wall);
    let at = |origin| CullRecord::new(0, CullBounds::of_voxels(origin, [8; 3]), 0, [1; 8]);
    assert!(!is_hidden(&frame, &pyramid, &at([-4, -4, -4])));
    assert!(!is_hidden(&frame, &pyramid, &at([-4, -4, 10])));
    assert!(is_hidden(&frame, &pyramid, &at([-4, -4, -60])));
    // Outside the picture: nothing could hide it.
    assert!(!is_hidden(&frame, &pyramid, &at([500, -4, -60])));
}

#[test]
fn near_meshes_come_first() {
    let camera = Camera { depth_range: [0.1, 1024.0], ..Camera::ORIGIN };
    let at = |distance: i32| {
        let bounds = CullBounds::of_voxels([-8, -8, -8 - distance], [16; 3]);
        CullRecord::new(0, bounds, 0, [1; 8])
    };
    let by_distance = CullOrder::ByDistance { farthest: 1024.0 };
    for (is_parallel, order) in [(false, by_distance), (true, CullOrder::ByReversedDepth)] {
        let view = Camera { is_parallel, ..camera }.view();
        let sorted = view.with_order(order);
        let bins: Vec<u32> = (0..100).map(|n| bin(&sorted, &at(n * 10))).collect();
        assert!(bins.is_sorted() && bins[0] == 0 && bins[99] == CullView::BINS - 1, "{bins:?}");
        assert!(bins.windows(2).filter(|pair| pair[0] < pair[1]).count() >= 8, "{bins:?}");
        assert_eq!(bin(&view, &at(500)), 0);
    }
}
