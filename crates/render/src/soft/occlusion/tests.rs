use drystone_mesh::{Face, Quad};

use super::{super::vertex::VertexStage, *};
use crate::{Atmosphere, Camera, DrawData, Frame};

/// At level 0, with the camera's voxel at the world's origin.
fn seen(quad: Quad, origin: [i32; 3], position: [f32; 3]) -> Option<f32> {
    let word = pixel_kind(bytemuck::cast(quad), || origin);
    darkness(PixelKind { word, ..PixelKind::default() }, IVec3::ZERO, || position.into(), || 0.0)
}

#[test]
fn corners_have_the_ambient_occlusion_of_the_quad_from_both_sides_of_edges() {
    for face in Face::ALL {
        for (origin, low) in [([0; 3], [4, 5, 6]), ([-33, 64, 7], [0, 63, 31])] {
            let quad = Quad::new(low, [1, 1], face, 9).with_ambient_occlusion(0b11_10_01_00);
            for corner in 0..4 {
                for hair in [-1e-3, 0.0, 1e-3] {
                    let at = |i: usize| (origin[i] + quad.corner(corner)[i] as i32) as f32;
                    let position = [0, 1, 2].map(|i| at(i) + hair);
                    let got = seen(quad, origin, position).unwrap();
                    assert!((got - corner as f32).abs() < 1e-2, "{face:?} {corner} {got}");
                }
            }
        }
    }
}

/// For any camera position within the LOD voxels, and any distance from them.
#[test]
fn corners_of_lod_voxels_have_their_ambient_occlusion() {
    let camera = Camera::default();
    for (level, face) in (0..=DrawData::MAX_LEVEL).flat_map(|l| Face::ALL.map(|f| (l, f))) {
        let scale = 1 << level;
        let quad = Quad::new([4, 1, 6], [1, 1], face, 9).with_ambient_occlusion(0b11_10_01_00);
        for viewpoint in [[0; 3], [-1, 5, 77], [scale - 1, -scale - 1, 3 * scale / 2]] {
            let mut frame = Frame::new(&camera, &Atmosphere::default(), 8, 8);
            frame.camera_voxel = [viewpoint[0], viewpoint[1], viewpoint[2]];
            let stage = VertexStage::new(&frame, false);
            let origin = [-scale, 2 * scale, 0];
            let position = DrawData { origin, level, extent: 8 << level, sort_rank: 0 };
            let kind = stage.pixel_kind(quad, &position);
            for corner in 0..4 {
                let units = |i: usize| origin[i] + quad.corner(corner)[i] as i32 * scale;
                let at = || Vec3A::from([0, 1, 2].map(|i| (units(i) - viewpoint[i]) as f32));
                let got = darkness(kind, IVec3::from(viewpoint), at, || 0.0).unwrap();
                assert!(
                    (got - corner as f32).abs() < 1e-2,
                    "{level} {face:?} {viewpoint:?}: {got}"
                );
            }
        }
    }
}

#[test]
fn the_middle_is_the_mean_of_the_corners() {
    for (corners, mean) in [(0b11, 0.75), (0b11_00_00_11, 1.5), (0b00_11_11_00, 1.5)] {
        let quad = Quad::new([3, 3, 3], [1, 1], Face::PosZ, 0).with_ambient_occlusion(corners);
        assert_eq!(seen(quad, [0; 3], [3.5, 3.5, 4.0]), Some(mean));
    }
}

#[test]
fn long_edges_have_the_ambient_occlusion_of_their_low_end() {
    // Dark at the high end of the height.
    let strip = Quad::new([3, 3, 3], [9, 1], Face::PosZ, 0).with_ambient_occlusion(0b11_11_00_00);
    for along in [3.0, 3.9, 4.0, 7.3, 12.0] {
        assert_eq!(seen(strip, [0; 3], [along, 3.25, 4.0]), Some(0.75), "{along}");
    }
    let uneven = Quad::new([3, 3, 3], [9, 9], Face::PosZ, 0).with_ambient_occlusion(0b11_11_11_01);
    assert_eq!(seen(uneven, [0; 3], [7.7, 9.1, 4.0]), Some(1.0));
}

/// Every position in a far voxel has the mean of the corners.
#[test]
fn faded_voxels_have_the_mean_of_their_corners() {
    let quad = Quad::new([3, 3, 3], [1, 1], Face::PosZ, 0).with_ambient_occlusion(0b11_00_01_00);
    let word = pixel_kind(bytemuck::cast(quad), || [0; 3]);
    let kind = PixelKind { word, ..PixelKind::default() };
    let at = |x, fade| darkness(kind, IVec3::ZERO, || Vec3A::new(x, 3.25, 4.0), || fade).unwrap();
    assert!(at(3.25, 0.0) != at(3.75, 0.0));
    assert_eq!([at(3.25, 1.0), at(3.75, 1.0)], [1.0; 2]);
    assert!((at(3.25, 0.0)..at(3.25, 1.0)).contains(&at(3.25, 0.5)));
}

#[test]
fn quads_without_ambient_occlusion_keep_their_direction_and_material() {
    // The position of a fine quad is where other quads have their occlusion and steps.
    for (word, bits) in
        [(0, 0), (!(CORNERS | FINE), FACE_AND_MATERIAL), (u32::MAX, FACE_AND_MATERIAL)]
    {
        assert_eq!(pixel_kind([u32::MAX, word], || unreachable!()), bits);
        let kind = PixelKind { word: bits, ..PixelKind::default() };
        assert_eq!(darkness(kind, IVec3::ZERO, || unreachable!(), || unreachable!()), None);
    }
}
