//! Pictures compared with the ray caster's.

use glam::DVec3;
use proptest::prelude::*;

use super::{Mesh, Scene, landscape, ray_caster::cast};
use crate::{
    atmosphere::Atmosphere,
    camera::{Camera, Projection},
    frame::Frame,
    material_look::MaterialLook,
};

const SIZE: [u32; 2] = [96, 72];
const PIXELS: u32 = SIZE[0] * SIZE[1];
/// Rounding of a channel can go either way.
const TOLERANCE: u8 = 1;

/// A box of 60 voxels about the origin, seen from within, and boxes in it.
fn boxes_in_a_cuboid() -> Scene {
    Scene {
        palette: (0..9).map(|i| [30 + i * 25, 255 - i * 25, 80 + i * 13, 255]).collect(),
        opaque: vec![
            Mesh::inside_of_cuboid([-31; 3], 60),
            Mesh::cuboid([0; 3], [3, 0, 5], [8, 1, 20], 6),
            Mesh::cuboid([-30, -5, -20], [0, 0, 0], [2, 30, 9], 7),
            Mesh::cuboid([-8, -20, -8], [0, 0, 0], [16, 3, 16], 8),
        ],
        ..Scene::default()
    }
}

/// Every pixel must equal the ray caster's, except within a small distance of an edge. The seam,
/// which moves edges, is disabled here and has its own tests.
pub(super) fn compare(
    scene: &Scene,
    camera: &Camera,
    air: &Atmosphere,
) -> Result<(), TestCaseError> {
    let expected = cast(scene, camera, air, SIZE);
    let mut frame = Frame::new(camera, air, SIZE[0], SIZE[1]);
    frame.seam = 0.0;
    let actual = scene.draw_frame(&frame, SIZE);
    let mut uncertain = 0;
    for (i, expected) in (0u32..).zip(expected) {
        let (x, y) = (i % SIZE[0], i / SIZE[0]);
        let Some(expected) = expected else {
            uncertain += 1;
            continue;
        };
        let actual = actual.pixel(x, y);
        let apart = expected.iter().zip(actual).map(|(e, a)| e.abs_diff(a)).max();
        prop_assert!(
            apart <= Some(TOLERANCE),
            "pixel {x}, {y} should be {expected:?} and is {actual:?}: {camera:?}"
        );
    }
    prop_assert!(uncertain < PIXELS / 10, "{uncertain} pixels compare nothing: {camera:?}");
    Ok(())
}

fn camera() -> impl Strategy<Value = Camera> {
    let turn = (-3.2..3.2f32, -1.57..1.57f32);
    let projection = prop_oneof![
        (0.3..2.0f32).prop_map(|fov_y| Projection::Perspective { fov_y }),
        (2.0..90.0f32).prop_map(|height_voxels| Projection::Orthographic { height_voxels }),
    ];
    let position = prop::array::uniform3(-29.0..29.0f64);
    (position, turn, projection, 0.05..3.0f32).prop_map(
        |(position, (yaw, pitch), projection, near)| Camera {
            position: DVec3::from_array(position),
            yaw,
            pitch,
            projection,
            depth_range: [near, 300.0],
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Cameras anywhere in the large box, including inside the small boxes, whose near sides are
    /// then clipped.
    #[test]
    fn a_cuboid_seen_from_within(camera in camera()) {
        // No haze: on a wall seen nearly edge-on, 1/256 of a pixel covers many voxels of it.
        compare(&boxes_in_a_cuboid(), &camera, &Atmosphere::default())?;
    }

    #[test]
    fn a_box_seen_from_outside(yaw in -3.2..3.2f64, height in -1.0..1.0f64, far in 1.0..40.0f64) {
        let box_ = Mesh::cuboid([-9, -2, -4], [0; 3], [18, 4, 8], 0);
        let palette = vec![[200, 100, 50, 255]];
        let scene = Scene { palette, opaque: vec![box_], ..Scene::default() };
        let position = DVec3::new(yaw.sin(), height, yaw.cos()) * (10.0 + far);
        compare(&scene, &Camera::look_at(position, DVec3::ZERO), &Atmosphere::default())?;
    }
}

#[test]
fn a_landscape_with_a_lake_in_haze() {
    let scene = landscape(28);
    let air = Atmosphere::default().with_haze(10.0, 60.0, 0.9);
    let position = DVec3::new(-14.2, 19.1, 28.7);
    let orthographic = Projection::Orthographic { height_voxels: 30.0 };
    let (low, high) = (DVec3::new(-16.0, 0.0, -16.0), DVec3::new(12.0, 18.0, 12.0));
    for camera in [
        Camera::look_at(position, DVec3::new(3.0, 6.0, 2.0)),
        Camera::look_at(DVec3::new(4.1, 16.0, 4.3), DVec3::new(-9.0, 9.0, -14.0)),
        Camera::fit(low, high, orthographic, 4.0 / 3.0),
    ] {
        compare(&scene, &camera, &air).unwrap();
    }
}

/// Ambient occlusion of all levels, on faces of one voxel and on strips, opaque and translucent.
#[test]
fn a_landscape_with_ambient_occlusion() {
    let mut scene = landscape(28);
    scene.darken();
    scene.for_each_mesh(|mesh| mesh.data.origin = [-3, -70_001, 16]);
    let mut strips = Mesh::cuboid([0, -70_001, 12], [0; 3], [20, 1, 3], 0);
    strips.quads.iter_mut().for_each(|quad| *quad = quad.with_ambient_occlusion(0b11_10_01_00));
    scene.opaque.push(strips);
    let air =
        Atmosphere { ambient_occlusion: 0.3, ..Atmosphere::default().with_haze(10.0, 60.0, 0.9) };
    let position = DVec3::new(-1.2, -69_981.9, 60.7);
    let orthographic = Projection::Orthographic { height_voxels: 30.0 };
    let (low, high) = (DVec3::new(-3.0, -7e4, 16.0), DVec3::new(25.0, -69_983.0, 44.0));
    for camera in [
        Camera::look_at(position, DVec3::new(16.0, -69_995.0, 34.0)),
        Camera::look_at(DVec3::new(17.1, -69_985.0, 36.3), DVec3::new(4.0, -69_992.0, 18.0)),
        Camera::fit(low, high, orthographic, 4.0 / 3.0),
    ] {
        compare(&scene, &camera, &air).unwrap();
    }
}

/// Materials with a colour for each face direction and with emission, by day and by night.
#[test]
fn a_landscape_of_materials_with_face_colours_that_emit_light() {
    let mut scene = landscape(28);
    scene.darken();
    let faces = |alpha| std::array::from_fn(|i| [250 - i as u8 * 40, 60 + i as u8 * 30, 90, alpha]);
    scene.looks = vec![
        MaterialLook::new([90, 150, 70, 255]).with_faces(faces(255)),
        MaterialLook::new([230, 120, 40, 255]).with_emission(255),
        MaterialLook::new([40, 90, 190, 130]).with_faces(faces(130)).with_emission(100),
    ];
    let camera = Camera::look_at(DVec3::new(-14.2, 19.1, 28.7), DVec3::new(3.0, 6.0, 2.0));
    for hour in [0.0, 14.0] {
        let air = Atmosphere { ambient_occlusion: 0.3, ..Atmosphere::default().with_hour(hour) };
        compare(&scene, &camera, &air.with_haze(10.0, 60.0, 0.9)).unwrap();
    }
}

/// The camera is nearer to the floor than the near plane. The part of the floor below the camera
/// must be missing, as well as the part beyond the far plane; everything else must be drawn.
#[test]
fn a_slab_across_the_near_and_the_far_plane() {
    let slab = Mesh::cuboid([-32, -2, -32], [0; 3], [64, 2, 64], 0);
    let palette = vec![[250, 250, 250, 255]];
    let scene = Scene { palette, opaque: vec![slab], ..Scene::default() };
    for (yaw, pitch) in [(0.0, 0.0), (0.7, -0.4), (2.0, -1.2), (-1.0, 0.2)] {
        for depth_range in [[0.05, 500.0], [0.3, 500.0], [2.0, 500.0], [0.1, 17.3]] {
            let camera = Camera {
                position: DVec3::new(0.3, 0.2, -0.4),
                yaw,
                pitch,
                depth_range,
                ..Camera::default()
            };
            let air = Atmosphere::default().with_haze(0.5, 30.0, 0.9);
            compare(&scene, &camera, &air).unwrap();
        }
    }
}

/// Far from the world's origin, where `f32` cannot represent single voxels.
#[test]
fn scenes_far_from_the_origin_look_the_same() {
    let far = [20_000_003, -500, -16_000_001];
    let camera = Camera::look_at(DVec3::new(9.3, 22.1, 30.0), DVec3::new(3.0, 6.0, 2.0));
    let mut scene = landscape(40);
    let here = scene.draw(&camera, &Atmosphere::default(), SIZE);
    for mesh in scene.opaque.iter_mut().chain(&mut scene.blended) {
        (0..3).for_each(|i| mesh.data.origin[i] += far[i]);
    }
    let offset = DVec3::from_array(far.map(f64::from));
    let moved = Camera { position: camera.position + offset, ..camera };
    let there = scene.draw(&moved, &Atmosphere::default(), SIZE);
    assert_eq!(here.difference(&there, 0).unwrap().pixels, 0);
}
