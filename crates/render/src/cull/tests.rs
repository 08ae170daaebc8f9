use drystone_mesh::FaceSet;
use drystone_pool::PartSet;
use glam::DVec3;
use proptest::prelude::*;

use super::*;
use crate::{atmosphere::Atmosphere, camera::Camera, pool_renderer::visible_parts};

const SIZE: [u32; 2] = [53, 37];

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

fn data() -> impl Strategy<Value = DrawData> {
    let extent = prop_oneof![Just(0), Just(1), Just(2), Just(16), Just(32), Just(u32::MAX)];
    let level = prop_oneof![0..6_u32, any::<u32>()];
    (prop::array::uniform3(coordinate()), level, extent)
        .prop_map(|(origin, level, extent)| DrawData { origin, level, extent, sort_rank: 0 })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    /// The GPU masks like the CPU, to the bit.
    #[test]
    fn masks_as_visibility_does(
        camera in camera(),
        data in data(),
        mask_back_faces in any::<bool>(),
        cull_frustum in any::<bool>(),
    ) {
        let view = View { mask_back_faces, cull_frustum, ..View::new(camera) };
        let visibility = Visibility::new(&camera, SIZE[0] as f32 / SIZE[1] as f32);
        let frame = Frame::new(&camera, &Atmosphere::default(), SIZE[0], SIZE[1]);
        let of_faces = |set: PartSet| set.bits() & FaceSet::ALL.bits();
        let masked = cull_view(&view, &visibility, &frame).visible_parts(&bounds(&data));
        let expected = visible_parts(&data, &view, &visibility);
        prop_assert_eq!(of_faces(masked), of_faces(expected));
    }
}

/// Meshes are sorted as the view selects.
#[test]
fn views_select_the_order() {
    let camera = Camera::default();
    let parallel =
        Camera { projection: Projection::Orthographic { height_voxels: 99.0 }, ..camera };
    let ordered = |camera: Camera, sort_opaque| {
        let view = View { sort_opaque, ..View::new(camera) };
        let visibility = Visibility::new(&camera, 1.0);
        let plain = View { sort_opaque: false, ..view };
        let frame = view.frame(8, 8);
        let [plain, view] = [plain, view].map(|view| cull_view(&view, &visibility, &frame));
        let farthest = camera.depth_range[1];
        [CullOrder::Unsorted, CullOrder::ByDistance { farthest }, CullOrder::ByReversedDepth]
            .map(|order| plain.with_order(order) == view)
    };
    assert_eq!(ordered(camera, true), [false, true, false]);
    assert_eq!(ordered(parallel, true), [false, false, true]);
    assert_eq!(ordered(parallel, false), [true, false, false]);
}
