use drystone_voxel::{ChunkPos, Material, MaterialTable, VoxelPos};
use std::sync::Arc;

use drystone_world::LodData;

use super::*;
use crate::scene::{MemoryBudget, ModelTriangles};
use crate::{LodLimits, ViewSide};

fn seen(options: &ViewOptions) -> (View, f32) {
    let mut world = World::new("two distant voxels", MaterialTable::new());
    world.set(VoxelPos::new(0, 0, 0), Material(1));
    world.set(VoxelPos::new(299, 39, 299), Material(1));
    let data = LodData::new(Box::new(world), 0);
    let limits = LodLimits::from(MemoryBudget::default()).full_detail();
    let content = Content::Voxels(Arc::new(data), limits);
    (Framed::new(&content).view(options), options.size.aspect())
}

/// Counts the world's corners, 0 to 8, that lie in the picture.
fn corners_in(options: &ViewOptions) -> usize {
    let (view, aspect) = seen(options);
    let matrix = view.camera.clip_from_relative(aspect);
    let corners = (0..8).map(|bits: u32| {
        let side = |bit: u32| f64::from(bits >> bit & 1);
        DVec3::new(side(0) * 300.0, side(1) * 40.0, side(2) * 300.0)
    });
    let inside = |corner: DVec3| {
        let clip = matrix * (corner - view.camera.position).as_vec3().extend(1.0);
        let ndc = clip / clip.w;
        ndc.x.abs() <= 1.0 && ndc.y.abs() <= 1.0 && (0.0..=1.0).contains(&ndc.z)
    };
    corners.filter(|&corner| inside(corner)).count()
}

/// A camera that is described by options and read again is at the same place.
#[test]
fn options_describe_the_camera() {
    let bounds = drystone_formats::ModelBounds { min: [1e-3; 3], max: [4e-3, 2e-3, 9e-3] };
    let model =
        ModelTriangles { transform: ModelTransform::of(&bounds), ..ModelTriangles::default() };
    let mut world = World::new("two voxels", MaterialTable::new());
    world.set(VoxelPos::new(-5, 0, 0), Material(1));
    world.set(VoxelPos::new(299, 39, 299), Material(1));
    let data = Arc::new(LodData::new(Box::new(world), 0));
    let limits = LodLimits::from(MemoryBudget::default()).full_detail();
    for content in [Content::Model(model), Content::Voxels(data, limits)] {
        let framed = Framed::new(&content);
        for orthographic in [false, true] {
            let options =
                ViewOptions { orthographic, ..ViewOptions::new(Size { width: 640, height: 480 }) };
            let mut camera = framed.view(&options).camera;
            camera.position += DVec3::new(1.5, -2.25, 7.0);
            camera.yaw += 0.4;
            let written = framed.camera_options(&camera, 20.0);
            let words = written.to_string();
            let of = |name: &str| {
                let mut words = words.split(' ').skip_while(|word| *word != name);
                let point = words.nth(1)?.split(',').map(|c| c.parse().unwrap());
                Some(DVec3::from_slice(&point.collect::<Vec<f64>>()))
            };
            assert_eq!(words.contains("--orthographic"), orthographic);
            let (eye, target) = (of("--eye"), of("--look"));
            let again = framed.view(&ViewOptions { eye, target, ..options }).camera;
            assert!((again.yaw - camera.yaw).abs() < 1e-4, "{words}");
            assert!((again.pitch - camera.pitch).abs() < 1e-4, "{words}");
            let off = camera.position - again.position;
            match (camera.projection, again.projection) {
                (
                    Projection::Orthographic { height_voxels: a },
                    Projection::Orthographic { height_voxels: b },
                ) => {
                    assert!((a - b).abs() < 1e-3, "{words}");
                    let aside = off - camera.basis()[2].as_dvec3() * off.length();
                    let aside = aside
                        .length()
                        .min((off + camera.basis()[2].as_dvec3() * off.length()).length());
                    assert!(aside < 0.01, "{words}: {aside}");
                }
                _ => assert!(off.length() < 0.01, "{words}: {off}"),
            }
        }
    }
}

#[test]
fn default_views_show_all_eight_corners() {
    let wide = ViewOptions::new(Size { width: 1280, height: 720 });
    let (orthographic, tall) = (true, Size { width: 300, height: 900 });
    let eye = |x, y, z| Some(DVec3::new(x, y, z));
    assert_eq!(corners_in(&ViewOptions { orthographic, ..wide }), 8);
    assert_eq!(corners_in(&ViewOptions { orthographic, size: tall, ..wide }), 8);
    assert_eq!(corners_in(&ViewOptions { eye: eye(100_000.0, 200.0, 100_000.0), ..wide }), 8);
    let (high, target) = (eye(150.0, 90_000.0, 150.0), eye(150.0, 0.0, 150.0));
    assert_eq!(corners_in(&ViewOptions { eye: high, target, ..wide }), 8);
    assert_eq!(corners_in(&wide), 8);
    for degrees in (0..360_u16).step_by(15) {
        let side = Side::around(degrees.into());
        assert_eq!(corners_in(&ViewOptions { side, ..wide }), 8, "{degrees}");
        let parallel = ViewOptions { side, orthographic, size: tall, ..wide };
        assert_eq!(corners_in(&parallel), 8, "{degrees}");
    }
    for side in ViewSide::ALL.map(Side::named) {
        assert_eq!(corners_in(&ViewOptions { side, size: tall, ..wide }), 8, "{side:?}");
    }
    assert_eq!(seen(&ViewOptions { side: Side::around(0.0), ..wide }), seen(&wide));
}

/// A camera that was moved anywhere shows the whole scene again, without a turn, as large as the picture
/// allows.
#[test]
fn a_camera_is_fitted_from_where_it_looks() {
    let mut world = World::new("two voxels", MaterialTable::new());
    world.set(VoxelPos::new(-30, 5, 10), Material(1));
    world.set(VoxelPos::new(299, 89, 43), Material(1));
    let framed = Framed::of_world(&world);
    for size in [Size { width: 640, height: 400 }, Size { width: 200, height: 700 }] {
        for (side, orthographic) in ViewSide::ALL.into_iter().zip([false, true].repeat(3)) {
            let options =
                ViewOptions { side: Side::named(side), orthographic, ..ViewOptions::new(size) };
            let expected = framed.view(&options).camera;
            let far = DVec3::new(1000.0, -7.0, 3.0);
            let moved = Camera { position: far, ..expected };
            let fitted = framed.fitted(&moved, size.aspect());
            assert_eq!([fitted.yaw, fitted.pitch], [expected.yaw, expected.pitch], "{side:?}");
            assert!((fitted.position - expected.position).length() < 0.01, "{side:?} {size:?}");
            assert_eq!(fitted.projection, expected.projection, "{side:?}");
        }
    }
}

/// The picture of a solid block begins at its surface. Its walls are below the picture, also at
/// levels of detail.
#[test]
fn the_surface_of_a_block_is_shown_instead_of_its_walls() {
    let mut world = World::new("a block", MaterialTable::new());
    for (x, z) in (0..5).flat_map(|x| (0..5).map(move |z| (x, z))) {
        for y in -3..2 {
            let chunk = Chunk::from_fn(Chunk::SIDE, |at| {
                // From 40 to 55 voxels high.
                let is_solid = y < 1 || at.y < 8 + (at.x + at.z) / 4;
                if is_solid { Material(1) } else { Material::AIR }
            });
            world.insert(ChunkPos::new(x, y, z), chunk).unwrap();
        }
    }
    let options = ViewOptions::new(Size { width: 640, height: 400 });
    let of_world = Framed::of_world(&world);
    let data = Arc::new(LodData::new(Box::new(world), 0));
    let limits = LodLimits::from(MemoryBudget::default());
    for limits in [limits.full_detail(), limits.all_levels()] {
        let framed = Framed::new(&Content::Voxels(Arc::clone(&data), limits));
        let camera = framed.view(&options).camera;
        assert!(limits.has_levels() || camera == of_world.view(&options).camera);
        assert_eq!(framed.corners().0.y, -96.0, "nothing is clipped");
        assert!(!framed.is_object() && (40.0..60.0).contains(&framed.middle().y));
        let matrix = camera.clip_from_relative(options.size.aspect());
        let height = |point: DVec3| {
            let clip = matrix * (point - camera.position).as_vec3().extend(1.0);
            clip.y / clip.w
        };
        let corner = |y| DVec3::new(160.0, y, 160.0);
        assert!(height(corner(42.0)) > -1.0, "the nearest corner of the land");
        assert!(height(corner(0.0)) < -1.0, "its wall");
    }
}
