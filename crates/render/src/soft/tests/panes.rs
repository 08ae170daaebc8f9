//! Translucent voxels that hide each other within one mesh: every renderer's picture, compared with
//! the ray caster's, which blends the unit faces of each pixel by their distance.

use drystone_mesh::Quad;
use drystone_testing::Random;
use glam::DVec3;

use super::{Mesh, Scene, ray_caster::cast};
use crate::{
    atmosphere::Atmosphere,
    camera::{Camera, Projection},
    draw_data::DrawData,
    image::Image,
    instanced_renderer::{InstancedRenderer, SlotPolicy},
    mesh_data::{Layer, MeshData},
    naive_renderer::NaiveRenderer,
    pool_renderer::PoolRenderer,
    quad_order::tests::{Quads, Voxels},
    renderer::Renderer,
    soft::SoftDevice,
    view::View,
};

const SIZE: [u32; 2] = [64, 48];
const SIDE: u32 = 8;
/// Glass, water and amber: several opacities and colours. The first is air.
const PALETTE: [[u8; 4]; 5] =
    [[0; 4], [220, 40, 40, 90], [40, 90, 230, 150], [240, 190, 40, 200], [60, 220, 90, 60]];
const ORIGIN: [i32; 3] = [-3, 70_001, 5];

fn device() -> SoftDevice {
    SoftDevice::new(SIZE[0], SIZE[1]).unwrap()
}

/// All renderers, each with the mesh.
fn renderers((quads, counts): &Quads, level: u32) -> Vec<Box<dyn Renderer>> {
    let draw_data = DrawData { origin: ORIGIN, level, extent: SIDE << level, sort_rank: 0 };
    let mesh = MeshData { quads, counts: *counts, draw_data, layer: Layer::Blended };
    let renderers: [Box<dyn Renderer>; 3] = [
        Box::new(PoolRenderer::new(device(), 4096, 4).unwrap()),
        Box::new(NaiveRenderer::new(device())),
        Box::new(InstancedRenderer::new(device(), SlotPolicy::Lowest).unwrap()),
    ];
    let insert = |mut renderer: Box<dyn Renderer>| {
        renderer.set_palette(&PALETTE).unwrap();
        renderer.insert(&mesh).unwrap();
        renderer
    };
    renderers.into_iter().map(insert).collect()
}

fn unit_faces(voxels: &Voxels, level: u32) -> Scene {
    let data = DrawData { origin: ORIGIN, level, extent: SIDE << level, sort_rank: 0 };
    let quads: Vec<Quad> = voxels.mesh(false).0;
    Scene { palette: PALETTE.to_vec(), blended: vec![Mesh { data, quads }], ..Scene::default() }
}

/// Cameras outside and inside the mesh, and parallel views.
fn cameras(level: u32, random: &mut Random) -> Vec<Camera> {
    let side = f64::from(SIDE << level);
    let origin = DVec3::from_array(ORIGIN.map(f64::from));
    let mut point = |scale: f64| {
        let part = DVec3::from_array([0; 3].map(|_: i32| random.unit() - 0.5));
        origin + side / 2.0 + part * scale * side
    };
    let mut cameras: Vec<Camera> =
        (0..6).map(|_| Camera::look_at(point(4.0), point(0.2))).collect();
    cameras.extend((0..4).map(|_| Camera::look_at(point(0.9), point(0.9))));
    let projection = Projection::Orthographic { height_voxels: side as f32 * 1.6 };
    cameras.extend((0..4).map(|_| {
        let [at, target] = [point(4.0), point(0.1)];
        // Far enough for the whole mesh to be in front of the camera.
        let at = target + (at - target).normalize() * 3.0 * side;
        Camera { projection, ..Camera::look_at(at, target) }
    }));
    cameras
}

/// Number of pixels that differ from the ray caster's, where these are certain.
fn wrong_pixels(expected: &[Option<[u8; 4]>], actual: &Image) -> usize {
    let pixels = actual.rgba().chunks_exact(4).zip(expected);
    let is_wrong = |(actual, expected): (&[u8], &Option<[u8; 4]>)| {
        let expected = expected.unwrap_or([actual[0], actual[1], actual[2], actual[3]]);
        expected.iter().zip(actual).any(|(e, a)| e.abs_diff(*a) > 2)
    };
    pixels.filter(|&pixel| is_wrong(pixel)).count()
}

fn compare(voxels: &Voxels, is_merged: bool, level: u32, random: &mut Random) {
    let scene = unit_faces(voxels, level);
    let mut renderers = renderers(&voxels.mesh(is_merged), level);
    for camera in cameras(level, random) {
        let air = Atmosphere::default();
        let expected = cast(&scene, &camera, &air, SIZE);
        let certain = expected.iter().flatten().count();
        assert!(certain * 10 > expected.len() * 8, "{certain} pixels are certain: {camera:?}");
        for renderer in &mut renderers {
            renderer.draw(&View { atmosphere: air, ..View::new(camera) }).unwrap();
            let wrong = wrong_pixels(&expected, &renderer.read_image().unwrap());
            assert_eq!(wrong, 0, "{} renderer, {camera:?}", renderer.name());
        }
    }
}

#[test]
fn random_translucent_voxels_are_blended_by_distance() {
    let mut random = Random::new(11);
    for (share, is_merged, level) in [(25, false, 0), (25, true, 0), (60, true, 2)] {
        let voxels = Voxels::random(SIDE, share, 4, &mut random);
        compare(&voxels, is_merged, level, &mut random);
    }
}

#[test]
fn panes_that_cross_each_other_are_blended_by_distance() {
    let mut random = Random::new(12);
    for count in [3, 9] {
        compare(&Voxels::panes(SIDE, count, 4, &mut random), true, 0, &mut random);
    }
}

/// A replaced mesh has the order of its new quads, also for the view of the last picture.
#[test]
fn replaced_panes_are_blended_by_distance() {
    let mut random = Random::new(13);
    let [first, second] = [20, 40].map(|share| Voxels::random(SIDE, share, 4, &mut random));
    let flat = Voxels::new(SIDE, |[_, y, _]| u16::from(y == 3));
    let draw_data = DrawData { origin: ORIGIN, level: 0, extent: SIDE, sort_rank: 0 };
    for camera in cameras(0, &mut random).into_iter().step_by(2) {
        let view = View::new(camera);
        let renderers: [Box<dyn Renderer>; 3] = [
            Box::new(PoolRenderer::new(device(), 4096, 4).unwrap()),
            Box::new(NaiveRenderer::new(device())),
            Box::new(InstancedRenderer::new(device(), SlotPolicy::Lowest).unwrap()),
        ];
        for mut renderer in renderers {
            renderer.set_palette(&PALETTE).unwrap();
            let mut id = None;
            for voxels in [&flat, &first, &second, &flat] {
                let (quads, counts) = voxels.mesh(true);
                let mesh = MeshData { quads: &quads, counts, draw_data, layer: Layer::Blended };
                match id {
                    None => id = Some(renderer.insert(&mesh).unwrap()),
                    // The layer of the new mesh is ignored.
                    Some(id) => {
                        renderer.replace(id, &MeshData { layer: Layer::Opaque, ..mesh }).unwrap();
                    }
                }
                renderer.draw(&view).unwrap();
                let expected = cast(&unit_faces(voxels, 0), &camera, &view.atmosphere, SIZE);
                let wrong = wrong_pixels(&expected, &renderer.read_image().unwrap());
                assert_eq!(wrong, 0, "{} renderer, {camera:?}", renderer.name());
            }
            renderer.remove(id.unwrap()).unwrap();
            assert_eq!(renderer.draw(&view).unwrap().quads, 0);
        }
    }
}
