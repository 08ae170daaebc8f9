//! Sky, depth, blending and palette, compared with results computed by hand.

use drystone_mesh::{Face, Quad};
use glam::{DVec3, Vec3};

use super::{Mesh, Scene};
use crate::{atmosphere::Atmosphere, camera::Camera, image::Image};

const SIZE: [u32; 2] = [33, 33];

/// Light that does not change colours, and a sky without a sun.
fn plain_air() -> Atmosphere {
    Atmosphere {
        sun: Vec3::ZERO,
        ambient: Vec3::splat(1.0 / 0.74),
        zenith: Vec3::ZERO,
        horizon: Vec3::ZERO,
        ground: Vec3::ZERO,
        ..Atmosphere::default()
    }
}

/// A camera at z = 20 with the view along −Z.
fn camera() -> Camera {
    Camera { position: DVec3::new(8.0, 8.0, 20.0), ..Camera::default() }
}

/// A pane that fills the view, facing the camera, `z` voxels up.
fn pane(z: u32, material: u16) -> Quad {
    Quad::new([0, 0, z], [16, 16], Face::PosZ, material)
}

fn middle(image: &Image) -> [u8; 4] {
    image.pixel(SIZE[0] / 2, SIZE[1] / 2)
}

fn scene(palette: &[[u8; 4]], opaque: &[Quad], blended: &[Quad]) -> Scene {
    let mesh = |quads: &[Quad]| vec![Mesh::at([0; 3], quads.to_vec())];
    let (opaque, blended) = (mesh(opaque), mesh(blended));
    Scene { palette: palette.to_vec(), opaque, blended, ..Scene::default() }
}

const RED: [u8; 4] = [255, 0, 0, 255];
const GREEN: [u8; 4] = [0, 255, 0, 255];

#[test]
fn the_nearer_hides_the_farther_in_any_order() {
    for quads in [[pane(4, 0), pane(9, 1)], [pane(9, 1), pane(4, 0)]] {
        let image = scene(&[RED, GREEN], &quads, &[]).draw(&camera(), &plain_air(), SIZE);
        assert_eq!(middle(&image), GREEN);
    }
    // Of equally near ones the last is visible.
    let same = [pane(4, 0), pane(4, 1)];
    let image = scene(&[RED, GREEN], &same, &[]).draw(&camera(), &plain_air(), SIZE);
    assert_eq!(middle(&image), GREEN);
}

#[test]
fn panes_outside_the_depth_range_are_not_drawn() {
    // The pane's face is at z = 10, ten voxels in front of the camera.
    for (range, is_seen) in
        [([1.0, 11.0], true), ([1.0, 9.0], false), ([9.0, 99.0], true), ([11.0, 99.0], false)]
    {
        let camera = Camera { depth_range: range, ..camera() };
        let image = scene(&[RED], &[pane(9, 0)], &[]).draw(&camera, &plain_air(), SIZE);
        let expected = if is_seen { RED } else { [0, 0, 0, 255] };
        assert_eq!(middle(&image), expected, "{range:?}");
    }
}

#[test]
fn backs_are_not_drawn() {
    let back = Quad::new([0, 0, 4], [16, 16], Face::NegZ, 0);
    let image = scene(&[RED], &[back], &[back]).draw(&camera(), &plain_air(), SIZE);
    assert_eq!(image, Image::new(SIZE[0], SIZE[1], [0, 0, 0, 255]));
}

#[test]
fn blended_panes_are_drawn_in_order_and_hidden_by_nearer_ones() {
    let palette = [RED, [0, 255, 0, 128], [0, 0, 255, 64]];
    let solid = [pane(4, 0)];
    let draw = |blended: &[Quad]| {
        middle(&scene(&palette, &solid, blended).draw(&camera(), &plain_air(), SIZE))
    };
    // Green: 128/255 of it, 127/255 of red. Then blue: 64/255 of it, 191/255 of the rest.
    assert_eq!(draw(&[pane(6, 1)]), [127, 128, 0, 255]);
    assert_eq!(draw(&[pane(6, 1), pane(8, 2)]), [95, 96, 64, 255]);
    // In reverse order with the same depths: the order matters, not the depth.
    assert_eq!(draw(&[pane(8, 2), pane(6, 1)]), [95, 128, 32, 255]);
    assert_eq!(draw(&[pane(2, 1)]), RED, "behind the solid pane");
    assert_eq!(draw(&[pane(4, 1)]), [127, 128, 0, 255], "at the solid pane");
}

#[test]
fn the_sky_stands_behind_blended_panes() {
    let air = Atmosphere {
        horizon: Vec3::new(1.0, 1.0, 0.0),
        zenith: Vec3::new(1.0, 1.0, 0.0),
        ground: Vec3::new(1.0, 1.0, 0.0),
        ..plain_air()
    };
    let image = scene(&[[0, 0, 255, 51]], &[], &[pane(4, 0)]).draw(&camera(), &air, SIZE);
    assert_eq!(middle(&image), [204, 204, 51, 255]);
}

#[test]
fn a_material_without_a_colour_is_magenta() {
    for palette in [&[RED, GREEN][..], &[]] {
        let image = scene(palette, &[pane(4, 2)], &[]).draw(&camera(), &plain_air(), SIZE);
        assert_eq!(middle(&image), [255, 0, 255, 255]);
    }
}

#[test]
fn each_face_direction_has_its_own_light() {
    let air = Atmosphere::default();
    for face in Face::ALL {
        let normal = Vec3::from_array(face.normal().map(|c| c as f32));
        let solid = Mesh::cuboid([-4; 3], [0; 3], [8; 3], 0);
        let scene = Scene { palette: vec![[255; 4]], opaque: vec![solid], ..Scene::default() };
        let camera = Camera::look_at(normal.as_dvec3() * 20.0, DVec3::ZERO);
        let light = (air.light(normal).min(Vec3::ONE) * 255.0).round();
        let [r, g, b, _] = middle(&scene.draw(&camera, &air, SIZE)).map(f32::from);
        assert!((Vec3::new(r, g, b) - light).abs().max_element() <= 1.0, "{face:?}");
    }
}

#[test]
fn haze_hides_far_panes_by_its_density() {
    let air = Atmosphere {
        zenith: Vec3::Z,
        horizon: Vec3::Z,
        ground: Vec3::Z,
        ..plain_air().with_haze(2.0, 8.0, 0.8)
    };
    // At 10 voxels the pane is beyond the haze's end; at 5 voxels it is in the middle.
    for (distance, red) in [(10.0, 51), (5.0, 153), (1.5, 255)] {
        let camera = Camera { position: DVec3::new(8.0, 8.0, 10.0 + distance), ..camera() };
        let [r, g, b, _] = middle(&scene(&[RED], &[pane(9, 0)], &[]).draw(&camera, &air, SIZE));
        assert!(r.abs_diff(red) <= 1 && g == 0 && b.abs_diff(255 - red) <= 1, "{r} {g} {b}");
    }
}

/// At any hour, the disc of sun or moon is at least as bright as the sky around it.
#[test]
fn a_low_suns_disc_is_not_darker_than_the_sky() {
    for hour in [6.3, 12.0, 17.0, 17.5, 17.8, 19.5, 0.0, 4.0] {
        let air = Atmosphere::default().with_hour(hour);
        let camera = Camera::look_at(DVec3::ZERO, air.sun_direction.as_dvec3());
        let image = Scene::default().draw(&camera, &air, SIZE);
        let brightness = |[r, g, b, _]: [u8; 4]| r.max(g).max(b);
        let beside = brightness(image.pixel(SIZE[0] / 2 + 3, SIZE[1] / 2));
        assert!(brightness(middle(&image)) >= beside, "{hour}: {:?}", middle(&image));
    }
}

#[test]
fn the_sky_has_a_zenith_a_horizon_a_ground_and_a_sun() {
    let air = Atmosphere { sun_direction: Vec3::new(1.0, 0.2, 0.0), ..Atmosphere::default() };
    let quarter = std::f32::consts::FRAC_PI_2;
    // Away from the sun, so that it does not light the sky there: at yaw 90° the view is along −X.
    let look = |yaw, pitch| Camera { yaw, pitch, ..Camera::default() };
    let sunny = Camera::look_at(DVec3::ZERO, air.sun_direction.as_dvec3());
    for (camera, color) in [
        (look(quarter, quarter), air.zenith),
        (look(quarter, 0.0), air.horizon),
        (look(quarter, -quarter), air.ground),
        (sunny, air.sun),
    ] {
        let image = Scene::default().draw(&camera, &air, SIZE);
        let [r, g, b, a] = middle(&image);
        let expected = color * 255.0;
        let apart = (Vec3::new(r.into(), g.into(), b.into()) - expected).abs().max_element();
        assert!(apart <= 1.0 && a == 255, "{camera:?}: {:?} {expected}", middle(&image));
    }
    // The disc is 2.5° across: 33 pixels for 60° make 1.4 pixels.
    let image = Scene::default().draw(&sunny, &air, SIZE);
    assert_ne!(image.pixel(SIZE[0] / 2 + 3, SIZE[1] / 2), middle(&image));
}
