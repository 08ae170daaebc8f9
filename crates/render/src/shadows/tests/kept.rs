//! Maps that did not change are kept, and shadows stay at their place while the camera moves.

use super::*;

/// Number of maps drawn for a picture.
fn maps(renderer: &mut dyn Renderer, view: &View) -> u32 {
    renderer.draw(view).unwrap().shadow_maps
}

#[test]
fn a_map_is_drawn_again_only_if_it_changed() {
    for mut renderer in soft() {
        let renderer = renderer.as_mut();
        fill(renderer);
        let mut view = view([-14.0, 30.0, 52.0], 9.0);
        let all = maps(renderer, &view);
        assert_eq!(all, 4, "{}", renderer.name());
        assert_eq!(maps(renderer, &view), 0);
        // Turning, and a step within the smallest map's position.
        view.camera.yaw += 1.0;
        view.camera.position += DVec3::splat(1e-3);
        assert_eq!(maps(renderer, &view), 0);
        // A mesh beyond all boxes changes no map, one in the largest box that map.
        let block = Voxels::filled([0; 3], [2, 2, 2]);
        let far = block.insert(renderer, [1_000_000, 0, 0]);
        assert_eq!(maps(renderer, &view), 0, "{}", renderer.name());
        let distant = block.insert(renderer, [-900, 0, 900]);
        assert_eq!(maps(renderer, &view), 1, "{}", renderer.name());
        let near = block.insert(renderer, [20, 20, 20]);
        assert!(maps(renderer, &view) >= 3);
        assert_eq!(maps(renderer, &view), 0);
        for (mesh, changed) in [(far, 0..1), (distant, 1..2), (near, 3..5)] {
            renderer.remove(mesh).unwrap();
            assert!(changed.contains(&maps(renderer, &view)), "{}", renderer.name());
        }
        view.atmosphere = view.atmosphere.with_hour(9.1);
        assert_eq!(maps(renderer, &view), all);
        // The size of the picture decides that of the maps.
        renderer.resize(600, 400).unwrap();
        assert_eq!(maps(renderer, &view), all);
        // Without shadows nothing is kept.
        let open = View { shadows: false, ..view };
        assert_eq!([maps(renderer, &open), maps(renderer, &view)], [0, all]);
    }
}

/// Maps of the sky are drawn for the camera's place and the meshes around it, not for the sun.
#[test]
fn a_map_of_the_sky_is_drawn_again_only_if_it_changed() {
    for mut renderer in soft() {
        let renderer = renderer.as_mut();
        fill(renderer);
        let all = SKY_MAPS as u32;
        let mut view = View { sky_light: true, shadows: false, ..view([-14.0, 30.0, 52.0], 9.0) };
        assert_eq!(maps(renderer, &view), all, "{}", renderer.name());
        view.camera.yaw += 1.0;
        view.camera.position += DVec3::splat(0.3);
        view.atmosphere = view.atmosphere.with_hour(23.0);
        assert_eq!(maps(renderer, &view), 0);
        // The sun's maps come and go beside those of the sky.
        view.atmosphere = view.atmosphere.with_hour(9.0);
        let sunny = View { shadows: true, ..view };
        assert_eq!([&sunny, &sunny, &view].map(|it| maps(renderer, it)), [4, 0, 0]);
        renderer.resize(600, 400).unwrap();
        assert_eq!(maps(renderer, &view), 0, "their size does not depend on the picture's");
        let block = Voxels::filled([0; 3], [2, 2, 2]);
        let far = block.insert(renderer, [1_000_000, 0, 0]);
        assert_eq!(maps(renderer, &view), 0, "{}", renderer.name());
        let near = block.insert(renderer, [20, 20, 20]);
        assert_eq!([maps(renderer, &view), maps(renderer, &view)], [all, 0]);
        for (mesh, changed) in [(far, 0), (near, all)] {
            renderer.remove(mesh).unwrap();
            assert_eq!(maps(renderer, &view), changed, "{}", renderer.name());
        }
        view.camera.position.x += 300.0;
        assert_eq!(maps(renderer, &view), all);
        let open = View { sky_light: false, ..view };
        assert_eq!([maps(renderer, &open), maps(renderer, &view)], [0, all]);
    }
}

/// The pictures of a renderer that keeps maps equal those of one that draws all of them.
#[test]
fn kept_maps_show_what_new_maps_show() {
    for mut renderer in soft() {
        let renderer = renderer.as_mut();
        fill(renderer);
        let (mut random, mut meshes, mut kept) = (Random::new(5), Vec::new(), 0);
        for step in 0..24 {
            let turn = f64::from(step) * 0.3;
            let from = [20.0 + 30.0 * turn.sin(), 16.0, 20.0 + 30.0 * turn.cos()];
            let view = View { sky_light: true, ..view(from, 9.0) };
            if step % 3 == 0 {
                let origin = [(); 3].map(|()| random.below(40));
                meshes.push(Voxels::filled([0; 3], [3, 3, 3]).insert(renderer, origin));
            }
            if step % 5 == 4 {
                renderer.remove(meshes.remove(0)).unwrap();
            }
            let drawn = renderer.draw(&view).unwrap();
            kept += MapLayer::COUNT as u32 - drawn.shadow_maps;
            let seen = renderer.read_image().unwrap();
            renderer.draw(&View { shadows: false, sky_light: false, ..view }).unwrap();
            let again = picture(renderer, &view);
            // A mesh can be drawn in another order, which decides between equal depths only.
            assert!(seen == again, "{}, step {step}", renderer.name());
            // The maps that were just drawn are those of the next step.
            assert_eq!(maps(renderer, &view), 0);
        }
        assert!(kept > 20, "{}: {kept} maps were kept", renderer.name());
    }
}

/// Two renderers on one device do not read each other's maps.
#[test]
fn renderers_on_one_device_have_maps_of_their_own() {
    let device = crate::SharedDevice::new(SoftDevice::new(SIZE[0], SIZE[1]).unwrap());
    let mut pools = [0, 1].map(|_| PoolRenderer::new(device.clone(), 1000, 16).unwrap());
    for (pool, seed) in pools.iter_mut().zip(1..) {
        pool.set_palette(&PALETTE).unwrap();
        Voxels::city(seed).insert(pool, [0; 3]);
    }
    let view = view([-14.0, 30.0, 52.0], 9.0);
    let [one, other] = &mut pools;
    let first = picture(one, &view);
    assert!(picture(other, &view) != first);
    assert!(picture(one, &view) == first);
    assert_eq!(maps(one, &view), 0);
}

/// A point of the world lies at the same position within its texel for every camera.
#[test]
fn texels_stay_at_their_place_while_the_camera_moves() {
    let mut random = Random::new(3);
    for far_away in [0.0, 1.0e6, -2.0e9] {
        let at = DVec3::new(far_away, 100.0, -far_away / 3.0);
        let mut first: Option<Vec<[f64; 2]>> = None;
        for step in 0..40 {
            let position = at + DVec3::new(0.37, 0.011, -0.173) * f64::from(step);
            let camera = Camera { position, yaw: random.unit() as f32, ..Camera::default() };
            let atmosphere = Atmosphere::default().with_hour(9.5);
            let view = View { atmosphere, shadows: true, sky_light: true, ..View::new(camera) };
            let plan = ShadowCache::default().plan(&view, [1280, 720], 0).unwrap();
            let [right, up] = [plan.frame.right, plan.frame.up].map(|it| Vec3::from(it).as_dvec3());
            let point = at.floor() + DVec3::new(3.3, -2.1, 5.7);
            let relative = (point - position).as_vec3().as_dvec3();
            let texels = plan.frame.cascades.map(|cascade| {
                let [x, y, _] = cascade.offset.map(f64::from);
                let per_unit = f64::from(cascade.texels_per_unit);
                [relative.dot(right) * per_unit + x, -relative.dot(up) * per_unit + y]
            });
            let at_sky = |row: [f32; 4]| {
                let [x, y, z, w] = row.map(f64::from);
                relative.dot(DVec3::new(x, y, z)) + w
            };
            let of_sky = plan.frame.sky.maps.map(|map| [at_sky(map.column), at_sky(map.row)]);
            let texels = [&texels[..], &of_sky].concat();
            let first = first.get_or_insert_with(|| texels.clone());
            for (a, b) in first.iter().flatten().zip(texels.iter().flatten()) {
                let moved = (a - b) - (a - b).round();
                assert!(moved.abs() < 0.02, "step {step} at {far_away}: {moved} texels");
            }
        }
    }
}
