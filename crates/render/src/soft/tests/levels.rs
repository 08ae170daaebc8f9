//! Meshes of LOD voxels.

use glam::DVec3;

use super::{Scene, landscape, oracle::compare};
use crate::{
    atmosphere::Atmosphere,
    camera::{Camera, Projection},
    draw_data::DrawData,
};

const SIZE: [u32; 2] = [160, 120];

/// A landscape with ambient occlusion and haze.
fn shaded_landscape() -> (Scene, Atmosphere) {
    let mut scene = landscape(28);
    scene.darken();
    let air =
        Atmosphere { ambient_occlusion: 0.3, ..Atmosphere::default().with_haze(10.0, 60.0, 0.9) };
    (scene, air)
}

/// Two landscapes with different voxel sizes, one in front of the other.
#[test]
fn landscapes_of_lod_voxels_equal_the_ray_casters() {
    for (level, back_level) in [(1, 3), (2, 0), (3, 2)] {
        let (mut scene, air) = shaded_landscape();
        let far = landscape(12);
        scene.for_each_mesh(|mesh| {
            mesh.data =
                DrawData { origin: [-24, -70_000, 16], level, extent: 64 << level, sort_rank: 0 };
        });
        for mut mesh in far.opaque {
            let origin = [-24, -70_000, -96];
            mesh.data =
                DrawData { origin, level: back_level, extent: 64 << back_level, sort_rank: 0 };
            mesh.quads
                .iter_mut()
                .for_each(|quad| *quad = quad.with_ambient_occlusion(0b10_01_11_00));
            scene.opaque.push(mesh);
        }
        let side = f64::from(28 << level);
        let low = DVec3::new(-24.0, -7e4, 16.0);
        let at = |x, y, z| low + DVec3::new(x, y, z) * side;
        let orthographic = Projection::Orthographic { height_voxels: 30.0 };
        for camera in [
            Camera::look_at(at(0.03, 0.9, 1.7), at(0.6, 0.2, 0.4)),
            Camera::look_at(at(0.5, 0.61, 0.52), at(0.1, 0.4, -1.0)),
            Camera::fit(at(0.0, 0.0, -0.5), at(1.0, 0.6, 1.0), orthographic, 4.0 / 3.0),
        ] {
            compare(&scene, &camera, &air).unwrap();
        }
    }
}

/// A scene 2^level times as large, seen from 2^level times the distance, equals that of level 0.
#[test]
fn scaled_scenes_from_scaled_distances_look_the_same() {
    let (here, air) = shaded_landscape();
    let position = DVec3::new(-11.7, 21.3, 34.9);
    let camera = Camera::look_at(position, DVec3::new(3.0, 6.0, 2.0));
    let near = here.draw(&camera, &air, SIZE);
    for level in [1, 2, 3, 4, 5, 11, DrawData::MAX_LEVEL] {
        let scale = 2f32.powi(level as i32);
        let mut there = here.clone();
        there.for_each_mesh(|mesh| {
            let origin = mesh.data.origin.map(|c| c << level);
            mesh.data = DrawData { origin, level, extent: 64 << level, sort_rank: 0 };
        });
        let depth_range = camera.depth_range.map(|depth| depth * scale);
        let camera = Camera { position: position * f64::from(scale), depth_range, ..camera };
        let [haze_start, haze_end] = [air.haze_start, air.haze_end].map(|far| far * scale);
        let far = there.draw(&camera, &Atmosphere { haze_start, haze_end, ..air }, SIZE);
        let seen = near.difference(&far, 1).unwrap();
        assert!(seen.away_from_edges == 0 && seen.pixels < 40, "level {level}: {seen:?}");
        // Ambient occlusion is visible.
        let plain = Atmosphere { ambient_occlusion: 0.0, haze_start, haze_end, ..air };
        let seen = there.draw(&camera, &plain, SIZE).difference(&far, 8).unwrap();
        assert!(seen.pixels > 2000, "level {level}: {seen:?}");
    }
}
