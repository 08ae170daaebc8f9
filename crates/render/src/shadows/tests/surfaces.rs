//! Surfaces of single scenes: no shadow where the sun shines, and a shadow where it does not.

use super::*;

/// Directions towards the sun, from nearly level to straight up.
fn suns() -> Vec<Vec3> {
    let mut suns = vec![Vec3::Y];
    for height in [0.02, 0.1, 0.3, 0.6, 0.95] {
        for turn in [0.0f32, 0.4, 0.785, 1.57, 2.9, 4.0] {
            let wide = f32::sqrt(1.0 - height * height);
            suns.push(Vec3::new(turn.cos() * wide, height, turn.sin() * wide));
        }
    }
    suns
}

/// Planes that nothing shades are lit in every pixel, for every height of the sun, from near and
/// from far. Models and quads, one to four samples.
#[test]
fn a_lit_plane_has_no_dark_pixel() {
    let mut all: Vec<_> = soft();
    all.extend(on_gpus("a_lit_plane_has_no_dark_pixel"));
    for mut renderer in all {
        floor(renderer.as_mut());
        for from in [[20.0, 3.0, 24.0], [-60.0, 90.0, 200.0], [20.0, 700.0, 21.0]] {
            for sun in suns() {
                let mut with = view(from, 12.0);
                with.atmosphere.sun_direction = sun;
                let lit = picture(renderer.as_mut(), &View { shadows: false, ..with });
                let seen = lit.difference(&picture(renderer.as_mut(), &with), 1).unwrap();
                assert_eq!(
                    seen.pixels,
                    0,
                    "{} on {}, sun {sun}, from {from:?}",
                    renderer.name(),
                    renderer.output().describe()
                );
            }
        }
    }
}

/// Inserts a ball of few flat triangles with the normals of a round one.
fn insert_ball(renderer: &mut dyn Renderer) {
    const RINGS: u16 = 6;
    const TURNS: u16 = 9;
    let vertices: Vec<_> = (0..=RINGS)
        .flat_map(|ring| (0..TURNS).map(move |turn| (ring, turn)))
        .map(|(ring, turn)| {
            let down = f32::from(ring) / f32::from(RINGS) * std::f32::consts::PI;
            let around = f32::from(turn) / f32::from(TURNS) * std::f32::consts::TAU;
            let normal =
                Vec3::new(down.sin() * around.cos(), down.cos(), down.sin() * around.sin());
            TriangleVertex::new((normal * 9.0).into(), normal.into(), [230, 230, 230, 255])
        })
        .collect();
    let corner = |ring: u16, turn: u16| u32::from(ring * TURNS + turn % TURNS);
    let indices: Vec<u32> = (0..RINGS)
        .flat_map(|ring| (0..TURNS).map(move |turn| (ring, turn)))
        .flat_map(|(ring, turn)| {
            let [a, b] = [corner(ring, turn), corner(ring, turn + 1)];
            let [c, d] = [corner(ring + 1, turn), corner(ring + 1, turn + 1)];
            [a, b, c, c, b, d]
        })
        .collect();
    let mesh = TriangleMesh {
        vertices: &vertices,
        indices: &indices,
        transform: TriangleTransform { origin: [20, 16, 20], scale: 1.0 },
        layer: Layer::Opaque,
        is_textured: false,
    };
    renderer.insert_triangles(&mesh).unwrap();
}

/// Nothing shades a ball. Its interpolated normals point to the sun where its triangles are nearly
/// parallel to the light, which must not draw stripes on them. GPUs find a triangle's plane by the
/// differences to the next pixel, which are inexact where it is seen edge-on.
#[test]
fn a_ball_casts_no_shadow_on_itself() {
    let mut all: Vec<_> = soft();
    all.extend(on_gpus("a_ball_casts_no_shadow_on_itself"));
    for mut renderer in all.into_iter().filter(|it| it.name() != "instanced") {
        insert_ball(renderer.as_mut());
        for from in [[20.0, 18.0, 52.0], [-6.0, 34.0, 6.0]] {
            for sun in suns() {
                let mut with = view(from, 12.0);
                with.camera.turn_to(DVec3::new(20.0, 16.0, 20.0));
                with.atmosphere.sun_direction = sun;
                let lit = picture(renderer.as_mut(), &View { shadows: false, ..with });
                let seen = lit.difference(&picture(renderer.as_mut(), &with), 1).unwrap();
                let (name, device) = (renderer.name(), renderer.output().describe());
                let most = if device.starts_with("soft") { 0 } else { 3 };
                let what = format!("{name} on {device}, sun {sun}, from {from:?}");
                assert!(seen.pixels <= most, "{what}: {} pixels", seen.pixels);
            }
        }
    }
}

/// The shadow of a single voxel begins at its foot: there is no gap of a tenth of a voxel.
#[test]
fn the_shadow_of_a_voxel_touches_it() {
    for mut renderer in soft() {
        renderer.resize(1280, 720).unwrap();
        floor(renderer.as_mut());
        Voxels::filled([20, 1, 20], [1, 1, 1]).insert(renderer.as_mut(), [0; 3]);
        let mut view = view([20.5, 9.0, 20.6], 12.0);
        view.camera.turn_to(DVec3::new(20.5, 1.0, 20.5));
        for sun in [Vec3::new(1.0, 1.0, 0.0), Vec3::new(1.0, 0.35, 0.0), Vec3::new(1.0, 2.5, 0.0)] {
            view.atmosphere.sun_direction = sun;
            let picture = picture(renderer.as_mut(), &view);
            // The floor is at height 1. The sun is in the east, the shadow lies in the west.
            let length = f64::from(sun.x / sun.y);
            let lit = at(&picture, &view, [22.5, 1.0, 20.5])[0];
            for part in [0.1, 0.3, 0.5, 0.8] {
                let x = if part == 0.1 { 19.9 } else { 20.0 - length * part };
                let dark = at(&picture, &view, [x, 1.0, 20.5])[0];
                assert!(dark + 30 < lit, "{}: {x} is {dark}, {lit} without", renderer.name());
            }
            for x in [20.0 - length - 0.2, 21.2] {
                let seen = at(&picture, &view, [x, 1.0, 20.5])[0];
                assert_eq!(seen, lit, "{}, sun {sun}: {x}", renderer.name());
            }
            for z in [19.8, 21.2] {
                let beside = at(&picture, &view, [20.0 - length / 2.0, 1.0, z])[0];
                assert_eq!(beside, lit, "{}, sun {sun}: beside", renderer.name());
            }
        }
    }
}

#[test]
fn translucent_meshes_cast_no_shadows() {
    for mut renderer in soft() {
        floor(renderer.as_mut());
        let glass = (2, Layer::Blended);
        Voxels::filled([0; 3], [6, 1, 6]).insert_in(renderer.as_mut(), ([10, 14, 10], 0), glass);
        let with = view([-14.0, 30.0, 52.0], 9.0);
        let lit = picture(renderer.as_mut(), &View { shadows: false, ..with });
        assert!(picture(renderer.as_mut(), &with) == lit, "{}", renderer.name());
        // An opaque roof does.
        Voxels::filled([0; 3], [6, 1, 6]).insert(renderer.as_mut(), [30, 14, 10]);
        let lit = picture(renderer.as_mut(), &View { shadows: false, ..with });
        assert!(picture(renderer.as_mut(), &with) != lit, "{}", renderer.name());
    }
}

#[test]
fn the_night_has_no_shadows_and_draws_no_maps() {
    let mut below = view([-14.0, 30.0, 52.0], 12.0);
    below.atmosphere.sun_direction = Vec3::new(1.0, -0.1, 0.0);
    let mut dark = view([-14.0, 30.0, 52.0], 12.0);
    dark.atmosphere.sun = Vec3::ZERO;
    let nights = [21.0, 0.0, 4.0].map(|hour| view([-14.0, 30.0, 52.0], hour));
    for mut renderer in soft() {
        fill(renderer.as_mut());
        for view in nights.iter().chain([&below, &dark]) {
            let drawn = renderer.draw(view).unwrap();
            assert_eq!(drawn.shadow_maps, 0);
            let seen = renderer.read_image().unwrap();
            assert!(seen == picture(renderer.as_mut(), &View { shadows: false, ..*view }));
        }
    }
}

/// Shadows fade at the end of the last cascade: far ones are weaker, and the last are gone.
#[test]
fn shadows_fade_where_the_last_cascade_ends() {
    let [mut renderer, ..] = <[_; 3]>::try_from(soft()).ok().unwrap();
    let darkness = |renderer: &mut dyn Renderer, distance: f64| {
        let mut with = view([0.0, 0.0, 0.0], 12.0);
        with.atmosphere.sun_direction = Vec3::Y;
        // A column of level 5 with a roof, seen from the side along the floor.
        with.camera.position = DVec3::new(32.0 * 8.0, 700.0, -distance);
        with.camera.turn_to(DVec3::new(32.0 * 8.0, 0.0, 32.0 * 8.0));
        with.camera.projection = Projection::Perspective { fov_y: 0.5 };
        let lit = picture(renderer, &View { shadows: false, ..with });
        let dark = picture(renderer, &with);
        let point = [32.0 * 8.0, 32.0, 32.0 * 8.0];
        i32::from(at(&lit, &with, point)[0]) - i32::from(at(&dark, &with, point)[0])
    };
    Voxels::filled([0; 3], [16, 1, 16]).insert_in(
        renderer.as_mut(),
        ([0; 3], 5),
        (0, Layer::Opaque),
    );
    // A roof two voxels above, which covers half of the floor and hides none of the point.
    Voxels::filled([0; 3], [16, 1, 14]).insert_in(
        renderer.as_mut(),
        ([0, 3200, 64], 5),
        (0, Layer::Opaque),
    );
    let seen = [900.0, 1500.0, 1600.0, 2200.0].map(|it| darkness(renderer.as_mut(), it));
    assert!(seen[0] > 40 && seen[0] >= seen[1] && seen[1] > seen[2] && seen[2] > 0, "{seen:?}");
    assert_eq!(seen[3], 0, "{seen:?}");
}
