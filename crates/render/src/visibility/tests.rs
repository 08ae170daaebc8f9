use drystone_mesh::Quad;
use glam::DVec3;
use proptest::prelude::*;

use super::*;

fn mesh(origin: [i32; 3]) -> DrawData {
    DrawData { origin, level: 0, extent: 32, sort_rank: 0 }
}

#[test]
fn face_directions_are_dropped_only_when_wholly_behind() {
    let camera = Camera { position: DVec3::new(40.0, 16.0, -0.5), ..Camera::default() };
    let visibility = Visibility::new(&camera, 1.0);
    let seen = visibility.visible_faces(&mesh([0; 3]));
    // East of the box: its +X faces show, its −X faces cannot.
    assert!(seen.contains(Face::PosX) && !seen.contains(Face::NegX));
    // Within the box's height: both show.
    assert!(seen.contains(Face::PosY) && seen.contains(Face::NegY));
    // Half a voxel outside its north side: +Z faces lie beyond 0, ahead of the camera.
    assert!(seen.contains(Face::NegZ) && !seen.contains(Face::PosZ));
    // Half a voxel inside: a +Z face of a fine quad can lie behind the camera.
    let camera = Camera { position: DVec3::new(40.0, 16.0, 0.5), ..Camera::default() };
    let seen = Visibility::new(&camera, 1.0).visible_faces(&mesh([0; 3]));
    assert!(seen.contains(Face::NegZ) && seen.contains(Face::PosZ));
}

/// Whether any face with this direction points towards `position`, for a mesh of `side` voxels
/// a side. Tests all planes that its faces can lie in, one by one: those of fine quads too.
fn is_seen(mesh: &DrawData, side: u32, position: DVec3, face: Face) -> bool {
    let axis = face.axis();
    let planes = (0..side * Quad::FINE_CELLS).map(|cell| {
        let plane = f64::from((cell + u32::from(face.is_positive())) << mesh.level);
        f64::from(mesh.origin[axis]) + plane / f64::from(Quad::FINE_CELLS)
    });
    let mut towards = planes.map(|plane| match face.is_positive() {
        true => position[axis] > plane,
        false => position[axis] < plane,
    });
    towards.any(|is_towards| is_towards)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    /// All levels. Directions that are behind the camera by at least a voxel are left out.
    #[test]
    fn no_visible_face_direction_is_left_out(
        origin in prop::array::uniform3(-70_000..70_000i32),
        (level, side) in (0..6u32, prop_oneof![Just(1u32), Just(32), Just(64), 1..64u32]),
        within in prop::array::uniform3(-1.5..2.5f64),
        is_whole in any::<bool>(),
    ) {
        let origin = origin.map(|c| c >> level << level);
        let mesh = DrawData { origin, level, extent: side << level, sort_rank: 0 };
        let low = DVec3::from_array(origin.map(f64::from));
        let extent = f64::from(mesh.extent);
        let position = low + DVec3::from_array(within) * extent;
        let position = if is_whole { position.floor() } else { position };
        let visibility = Visibility::new(&Camera { position, ..Camera::default() }, 1.0);
        let visible_faces = visibility.visible_faces(&mesh);
        for face in Face::ALL {
            let (axis, voxel) = (face.axis(), f64::from(1 << level));
            if is_seen(&mesh, side, position, face) {
                prop_assert!(visible_faces.contains(face), "{face:?}");
            } else if position[axis] < low[axis] - voxel
                || position[axis] > low[axis] + extent + voxel
            {
                prop_assert!(!visible_faces.contains(face), "{face:?}");
            }
        }
    }
}

#[test]
fn blend_keys_of_extreme_boxes_do_not_overflow() {
    let visibility = Visibility::new(&Camera::default(), 1.0);
    for extent in [0, 1, i32::MAX as u32, 1 << 31, u32::MAX] {
        for origin in [i32::MIN, -1, 0, i32::MAX] {
            visibility.blend_key(&DrawData { origin: [origin; 3], level: 0, extent, sort_rank: 0 });
        }
    }
}

#[test]
fn parts_of_one_box_blend_in_the_order_of_their_ranks() {
    let visibility = Visibility::new(&Camera::default(), 1.0);
    let keys =
        [2, 1, 0].map(|sort_rank| visibility.blend_key(&DrawData { sort_rank, ..mesh([5; 3]) }));
    assert!(keys.is_sorted() && keys[0] < keys[1] && keys[1] < keys[2]);
    // The rank changes nothing else.
    let near = visibility.blend_key(&DrawData { sort_rank: 7, ..mesh([5, 5, -60]) });
    let far = visibility.blend_key(&mesh([5, 5, -200]));
    assert!(far < near);
}

#[test]
fn orthographic_facings_follow_the_view() {
    let camera = Camera {
        projection: Projection::Orthographic { height_voxels: 10.0 },
        yaw: 0.3,
        pitch: -0.5,
        ..Camera::default()
    };
    let seen = Visibility::new(&camera, 1.0).visible_faces(&mesh([5; 3]));
    // The view is towards north-west and down: faces to the south, east and up show.
    let expected = [Face::PosX, Face::PosY, Face::PosZ];
    assert_eq!(seen, FaceSet::from_iter(expected));
}

#[test]
fn boxes_are_culled_only_when_no_corner_region_shows() {
    let camera = Camera { depth_range: [1.0, 100.0], ..Camera::default() };
    let visibility = Visibility::new(&camera, 1.0);
    // The view is north, along −Z.
    assert!(visibility.in_view(&mesh([-16, -16, -50])));
    assert!(!visibility.in_view(&mesh([-16, -16, 2])));
    assert!(!visibility.in_view(&mesh([-16, -16, -140])));
    assert!(!visibility.in_view(&mesh([200, -16, -50])));
    // The camera is inside.
    assert!(visibility.in_view(&mesh([-16, -16, -16])));
}

#[test]
fn blend_order_is_total_and_farthest_first() {
    let camera = Camera { position: DVec3::new(16.0, 16.0, 16.0), ..Camera::default() };
    let visibility = Visibility::new(&camera, 1.0);
    let key = |origin| visibility.blend_key(&mesh(origin));
    assert!(key([0, 0, 96]) < key([0, 0, 64]));
    // Equally far, but the keys differ.
    assert_ne!(key([0, 0, 64]), key([0, 0, -64]));
    assert_ne!(key([64, 0, 0]), key([0, 64, 0]));
}

/// Chunks of a step pyramid seen from far above: depths differ by a voxel, ahead of the camera,
/// at its depth and behind it. The grid positions sort the other way round.
#[test]
fn orthographic_blend_order_resolves_one_voxel_of_depth() {
    let camera = Camera {
        position: DVec3::new(0.0, 16.0, 0.0),
        pitch: -std::f32::consts::FRAC_PI_2,
        projection: Projection::Orthographic { height_voxels: 100.0 },
        ..Camera::default()
    };
    let visibility = Visibility::new(&camera, 1.0);
    let key = |height: i32| visibility.blend_key(&mesh([height * -320, height, 0]));
    for height in (-100..100).chain([-100_000, 100_000]) {
        assert!(key(height) < key(height + 1), "{height} is drawn before what is above it");
    }
}

#[test]
fn mapping_to_positive_numbers_preserves_order() {
    let sizes = [1e-30, 0.5, 1.0, 1.000_001, 2.0, 4096.0, 4097.0, 1.6e7, 7.5e9];
    let below = sizes.iter().rev().map(|size| -size);
    let all: Vec<f32> = below.chain([0.0]).chain(sizes).collect();
    for pair in all.windows(2) {
        let [low, high] = [pair[0], pair[1]].map(positive_in_order);
        assert!(0.0 < low && low < high && high.is_finite(), "{pair:?}");
    }
}
