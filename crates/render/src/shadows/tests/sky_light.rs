//! Sky light: open surfaces are unchanged, covered ones are dark, and what lies between is
//! smooth.

use super::{rays::hit, *};
use crate::MaterialLook;

/// A view with sky light and without sun.
fn dim(from: [f64; 3], target: [f64; 3]) -> View {
    let mut view = View::new(Camera::look_at(from.into(), target.into()));
    view.atmosphere.sun = Vec3::ZERO;
    View { sky_light: true, ..view }
}

/// The picture of a view, and that without sky light.
fn both(renderer: &mut dyn Renderer, view: &View) -> [Image; 2] {
    [true, false].map(|sky_light| picture(renderer, &View { sky_light, ..*view }))
}

/// A shell of voxels of the size `size`, one voxel thick, on the ground at height 1.
fn room(low: [i32; 3], size: [i32; 3]) -> Voxels {
    let mut room = Voxels::filled(low, size);
    let inner = Voxels::filled(low.map(|c| c + 1), size.map(|c| c - 2));
    inner.0.iter().for_each(|voxel| assert!(room.0.remove(voxel)));
    room
}

/// Stairs and towers that nothing covers.
fn hills() -> Voxels {
    let (mut random, mut hills) = (Random::new(4), Voxels::default());
    for [x, z] in (0..40).flat_map(|x| (0..40).map(move |z| [x, z])) {
        let stairs = (20 - (x - 20i32).abs().max((z - 20i32).abs())).max(1);
        let towers = if random.below(12) == 0 { 4 } else { 0 };
        hills.0.extend(Voxels::filled([x, 0, z], [1, stairs + towers, 1]).0);
    }
    hills
}

#[test]
fn open_ground_and_hills_are_unchanged() {
    let mut all = soft();
    all.extend(on_gpus("open_ground_and_hills_are_unchanged"));
    for mut renderer in all {
        hills().insert(renderer.as_mut(), [0; 3]);
        floor(renderer.as_mut());
        for from in [[-9.0, 12.0, 31.0], [20.0, 46.0, 21.0], [300.0, 180.0, -200.0]] {
            let view = dim(from, [20.0, 6.0, 20.0]);
            let [seen, plain] = both(renderer.as_mut(), &view);
            let name = format!("{} on {}", renderer.name(), renderer.output().describe());
            assert!(seen == plain, "{name}, from {from:?}: {:?}", plain.difference(&seen, 0));
        }
    }
}

/// Slopes of models, from level to upright, are unchanged in each pixel.
#[test]
fn slopes_of_models_are_unchanged() {
    let mut all = soft();
    all.extend(on_gpus("slopes_of_models_are_unchanged"));
    all.retain(|renderer| !renderer.has_cubes());
    for mut renderer in all {
        for (x, rise) in (0..8).map(|step| (8.0 * step as f32, 1.5 * step as f32)) {
            let normal = [-rise, 4.0, 0.7 * rise];
            let corner = |dx: f32, dz: f32| {
                let y = 30.0 + (rise * dx - 0.7 * rise * dz) / 4.0;
                TriangleVertex::new([x + dx, y, dz], normal, [190, 180, 170, 255])
            };
            let vertices = [corner(0.0, 0.0), corner(0.0, 9.0), corner(5.0, 9.0), corner(5.0, 0.0)];
            let mesh = TriangleMesh {
                vertices: &vertices,
                indices: &[0, 1, 2, 0, 2, 3],
                transform: TriangleTransform { origin: [0; 3], scale: 1.0 },
                layer: Layer::Opaque,
                is_textured: false,
            };
            renderer.insert_triangles(&mesh).unwrap();
        }
        let view = dim([10.0, 70.0, 40.0], [30.0, 30.0, 4.0]);
        let [seen, plain] = both(renderer.as_mut(), &view);
        let name = format!("{} on {}", renderer.name(), renderer.output().describe());
        assert!(seen == plain, "{name}: {:?}", plain.difference(&seen, 0));
    }
}

/// In a room with walls and a roof of one voxel, no pixel has sky light, also at the foot of
/// the walls.
#[test]
fn a_closed_room_is_dark_everywhere() {
    let mut all = soft();
    all.extend(on_gpus("a_closed_room_is_dark_everywhere"));
    for mut renderer in all {
        room([20, 1, 20], [12, 6, 9]).insert(renderer.as_mut(), [0; 3]);
        for target in [[30.0, 2.0, 21.0], [31.0, 6.0, 28.5], [21.0, 2.0, 28.0], [26.0, 2.0, 24.1]] {
            let view = dim([26.3, 4.2, 24.7], target);
            let [seen, plain] = both(renderer.as_mut(), &view);
            for at in 0..SIZE[0] * SIZE[1] {
                let [dark, open] = [&seen, &plain].map(|it| it.pixel(at % SIZE[0], at / SIZE[0]));
                for (dark, open) in dark.into_iter().zip(open).take(3) {
                    let expected = f32::from(open) * SkyCover::FLOOR;
                    assert!(
                        (f32::from(dark) - expected).abs() <= 1.0,
                        "{} on {}: {dark} of {open} at {at}",
                        renderer.name(),
                        renderer.output().describe()
                    );
                }
            }
        }
    }
}

/// From a doorway inwards, light falls off smoothly: never more than a part in a step, and to the
/// floor.
#[test]
fn light_falls_off_smoothly_behind_a_doorway() {
    for mut renderer in soft() {
        renderer.resize(1280, 720).unwrap();
        floor(renderer.as_mut());
        let mut house = room([20, 0, 20], [16, 7, 9]);
        Voxels::filled([20, 1, 23], [1, 4, 3]).0.iter().for_each(|it| assert!(house.0.remove(it)));
        house.insert(renderer.as_mut(), [0; 3]);
        let view = dim([34.5, 5.5, 24.5], [21.0, 1.0, 24.5]);
        let [seen, plain] = both(renderer.as_mut(), &view);
        let light = |x: f64| {
            let [seen, plain] = [&seen, &plain].map(|it| at(it, &view, [x, 1.0, 24.5])[0]);
            f32::from(seen) / f32::from(plain)
        };
        let lights: Vec<f32> = (0..100).map(|step| light(20.1 + f64::from(step) * 0.1)).collect();
        assert!(lights[0] > 0.8, "{lights:?}");
        let last = lights[99];
        assert!((last - SkyCover::FLOOR).abs() < 0.02, "{lights:?}");
        for pair in lights.windows(2) {
            // A tenth of a voxel farther inside.
            assert!(pair[1] < pair[0] + 0.02 && pair[1] > pair[0] - 0.1, "{lights:?}");
        }
        // Light reaches some voxels, not one.
        assert!(lights[25] > 1.4 * SkyCover::FLOOR, "{lights:?}");
        // It does not come through the walls.
        let beside = at(&seen, &view, [26.0, 1.0, 27.9])[0];
        let open = at(&plain, &view, [26.0, 1.0, 27.9])[0];
        assert!(f32::from(beside) < f32::from(open) * 0.4, "{beside} of {open}");
    }
}

/// Pixels of a city: a point with nothing above it is unchanged; one from which rays to all
/// directions are blocked, also from around it, has the least light.
#[test]
fn pixels_are_open_or_dark_as_rays_to_the_sky_tell() {
    let [width, height] = [640, 360];
    let (mut open_count, mut dark_count) = (0, 0);
    for seed in 1..4 {
        let mut city = Voxels::city(seed);
        city.0.extend(Voxels::filled([6, 8, 6], [24, 2, 24]).0);
        let [mut renderer, ..] = <[_; 3]>::try_from(soft()).ok().unwrap();
        renderer.resize(width, height).unwrap();
        city.insert(renderer.as_mut(), [0; 3]);
        let view = dim([3.0, 5.0, 3.0], [20.0, 2.0, 21.0]);
        let [seen, plain] = both(renderer.as_mut(), &view);
        let [right, up, forward] = view.camera.basis().map(Vec3::as_dvec3);
        let half = view.camera.half_extents(width as f32 / height as f32).map(f64::from);
        let directions = sky::directions().map(Vec3::as_dvec3);
        for (x, y) in
            (0..width).step_by(19).flat_map(|x| (0..height).step_by(19).map(move |y| (x, y)))
        {
            let surface = |by: f64| {
                let [x, y] = [x, y].map(|it| f64::from(it) + 0.5 + by);
                let across = 2.0 * x / f64::from(width) - 1.0;
                let upwards = 1.0 - 2.0 * y / f64::from(height);
                let ray = forward + right * (across * half[0]) + up * (upwards * half[1]);
                let (distance, normal) = hit(&city, view.camera.position, ray)?;
                Some((view.camera.position + ray * distance, normal))
            };
            let Some((point, normal)) = surface(0.0) else { continue };
            // Not at a silhouette, where rasterisers round.
            let is_inside = [-0.5, 0.5].iter().all(|&by| {
                surface(by)
                    .is_some_and(|it| it.1 == normal && (it.0 - point).dot(normal).abs() < 1e-6)
            });
            if !is_inside {
                continue;
            }
            let is_solid = |at: DVec3| city.0.contains(&at.floor().to_array().map(|c| c as i32));
            let is_hidden = |at: DVec3, to: DVec3| is_solid(at) || hit(&city, at, to).is_some();
            let [dark, open] = [&seen, &plain].map(|it| f32::from(it.pixel(x, y)[0]));
            let lifted = point + normal * 0.01;
            let corners = [[-0.05, 0.0], [0.05, 0.0], [0.0, -0.05], [0.0, 0.05]];
            let above = corners.map(|[x, z]| is_hidden(lifted + DVec3::new(x, 0.0, z), DVec3::Y));
            if above == [false; 4] {
                assert_eq!(dark, open, "{x}, {y} at {point}");
                open_count += 1;
            }
            let around =
                (0..343).map(|it| [it % 7, it / 7 % 7, it / 49].map(|c| f64::from(c) * 0.5 - 1.5));
            let mut around = around.map(|by| lifted + DVec3::from(by));
            if around.all(|at| directions.iter().all(|&to| is_hidden(at, to))) {
                assert!(
                    (dark - open * SkyCover::FLOOR).abs() <= 1.0,
                    "{x}, {y} at {point}: {dark} of {open}"
                );
                dark_count += 1;
            }
        }
    }
    println!("{open_count} open, {dark_count} dark");
    assert!(open_count > 60 && dark_count > 60, "{open_count} open, {dark_count} dark");
}

/// Emitted light does not come from the sky.
#[test]
fn emission_is_unchanged_in_a_dark_room() {
    let mut all = soft();
    all.extend(on_gpus("emission_is_unchanged_in_a_dark_room"));
    for mut renderer in all {
        let looks = [0, 255]
            .map(|emission| MaterialLook { emission, ..MaterialLook::from([190, 180, 170, 255]) });
        renderer.set_materials(&looks).unwrap();
        room([20, 1, 20], [12, 6, 9]).insert(renderer.as_mut(), [0; 3]);
        let lamp = (1, Layer::Opaque);
        Voxels::filled([30, 2, 24], [1, 2, 1]).insert_in(renderer.as_mut(), ([0; 3], 0), lamp);
        let view = dim([23.0, 4.0, 24.7], [30.0, 3.0, 24.5]);
        let [seen, plain] = both(renderer.as_mut(), &view);
        let of_lamp = [&seen, &plain].map(|it| at(it, &view, [30.0, 3.0, 24.5]));
        assert_eq!(of_lamp, [[190, 180, 170, 255]; 2], "{}", renderer.output().describe());
        assert_ne!(at(&seen, &view, [31.0, 4.5, 26.5]), at(&plain, &view, [31.0, 4.5, 26.5]));
    }
}

/// Covers have no effect where the maps end.
#[test]
fn the_effect_of_covers_fades_at_the_end_of_the_maps() {
    let [mut renderer, ..] = <[_; 3]>::try_from(soft()).ok().unwrap();
    room([20, 1, 20], [12, 6, 9]).insert(renderer.as_mut(), [0; 3]);
    Voxels::filled([0; 3], [30, 1, 30]).insert(renderer.as_mut(), [0, -9, 0]);
    // Up to the underside of a plate, which a far camera sees through a narrow angle.
    let light = |renderer: &mut dyn Renderer, distance: f64| {
        let mut view = dim([15.0, -9.0 - distance, 15.0], [15.0, -9.0, 15.1]);
        view.camera.projection = Projection::Perspective { fov_y: 0.02 };
        let [seen, plain] = both(renderer, &view);
        let [seen, plain] =
            [&seen, &plain].map(|it| f32::from(at(it, &view, [15.0, -9.0, 15.0])[0]));
        seen / plain
    };
    let lights = [60.0, 165.0, 190.0, 205.0, 230.0].map(|it| light(renderer.as_mut(), it));
    assert!((lights[0] - SkyCover::FLOOR).abs() < 0.02, "{lights:?}");
    assert!(lights.is_sorted() && lights[2] > lights[0] && lights[3] > lights[2], "{lights:?}");
    assert_eq!(lights[4], 1.0, "{lights:?}");
}

/// Scenes with rooms and models, by day, at night and with shadows.
#[test]
fn every_renderer_on_every_device_draws_the_same_light() {
    for samples in [Samples::One, Samples::Four] {
        let [mut expected, ..] = <[_; 3]>::try_from(soft()).ok().unwrap();
        let mut others: Vec<_> = soft().into_iter().skip(1).collect();
        others.extend(on_gpus("every_renderer_on_every_device_draws_the_same_light"));
        for renderer in others.iter_mut().chain([&mut expected]) {
            renderer.output().set_samples(samples).unwrap();
            fill(renderer.as_mut());
            let mut house = room([4, 0, 22], [14, 7, 12]);
            Voxels::filled([9, 1, 33], [3, 4, 1])
                .0
                .iter()
                .for_each(|it| assert!(house.0.remove(it)));
            house.insert(renderer.as_mut(), [0; 3]);
        }
        let mut darker = 0;
        for (hour, shadows, wire, occlusion) in
            [(10.0, true, false, 0.16), (13.0, false, true, 0.16), (23.0, true, false, 0.0)]
        {
            let wire = wire && samples == Samples::One;
            let mut view = View { wire, shadows, sky_light: true, ..view([11.0, 6.0, 52.0], hour) };
            view.atmosphere.ambient_occlusion = occlusion;
            let [want, plain] = both(expected.as_mut(), &view);
            darker += want.difference(&plain, TOLERANCE).unwrap().pixels;
            for renderer in &mut others {
                let name = format!("{} on {}", renderer.name(), renderer.output().describe());
                let seen = want.difference(&picture(renderer.as_mut(), &view), TOLERANCE).unwrap();
                println!("{name}, {samples} samples, {hour} h: {seen:?}");
                let allowed = EDGES * f64::from(SIZE[0] * SIZE[1]);
                assert!(f64::from(seen.pixels) <= allowed, "{name}: {seen:?}");
                assert!(seen.away_from_edges <= 8, "{name}: {seen:?}");
            }
        }
        assert!(darker > 3000, "{darker} pixels are darker");
    }
}

/// Models under a roof, and the ground under models.
#[test]
fn models_have_light_of_the_sky_on_every_device() {
    let view = View { sky_light: true, ..view([-14.0, 12.0, 32.0], 10.0) };
    let [mut expected, ..] = <[_; 3]>::try_from(soft()).ok().unwrap();
    let mut others = on_gpus("models_have_light_of_the_sky_on_every_device");
    others.extend(soft().into_iter().skip(1));
    others.retain(|renderer| !renderer.has_cubes());
    for renderer in others.iter_mut().chain([&mut expected]) {
        Voxels::city(1).insert(renderer.as_mut(), [0; 3]);
        insert_tent(renderer.as_mut());
        Voxels::filled([10, 16, 10], [18, 1, 9]).insert(renderer.as_mut(), [0; 3]);
    }
    let [want, plain] = both(expected.as_mut(), &view);
    // The tent is red.
    let is_darker_tent = |at: &u32| {
        let [seen, plain] = [&want, &plain].map(|it| it.pixel(at % SIZE[0], at / SIZE[0]));
        plain[0] / 2 > plain[2] && seen[0] + 10 < plain[0]
    };
    let darker = (0..SIZE[0] * SIZE[1]).filter(is_darker_tent).count();
    assert!(darker > 40, "{darker} pixels of the tent are darker");
    for mut renderer in others {
        let name = format!("{} on {}", renderer.name(), renderer.output().describe());
        let seen = want.difference(&picture(renderer.as_mut(), &view), TOLERANCE).unwrap();
        println!("{name}: {seen:?}");
        assert!(f64::from(seen.pixels) <= EDGES * f64::from(SIZE[0] * SIZE[1]), "{name}: {seen:?}");
        assert!(seen.away_from_edges <= 8, "{name}: {seen:?}");
    }
}
