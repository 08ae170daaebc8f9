//! The lights that meshes outside of a picture can block, against the maps that the picture reads.

use super::*;

/// Views near the ground, from afar, and in a parallel projection.
fn views() -> [View; 3] {
    let near = Camera::look_at(DVec3::new(40.0, 30.0, 20.0), DVec3::new(90.0, 10.0, 60.0));
    let afar = Camera { depth_range: [900.0, 1_400.0], ..near };
    let projection = Projection::Orthographic { height_voxels: 300.0 };
    let flat = Camera { projection, depth_range: [1.0, 800.0], ..near };
    [near, afar, flat].map(View::new)
}

#[test]
fn blocked_lights_cover_all_maps_of_a_picture() {
    for view in views() {
        for (size, shadows, sky_light) in
            [([1280, 720], true, true), ([200, 120], true, true), ([640, 480], false, true)]
        {
            let view = View { shadows, sky_light, ..view };
            let lights = BlockedLight::of_view(&view, size);
            let plan = ShadowCache::default().plan(&view, size, 0).unwrap();
            assert_eq!(lights.len(), usize::from(shadows) + SKY_MAPS);
            let ShadowFrame { center, cascades, sky, .. } = plan.frame;
            let away = f64::from(Vec3::from(center).length());
            let covers = |light: &BlockedLight, radius: f32, texel: f32| {
                let (radius, texel) = (f64::from(radius), f64::from(texel));
                assert!(light.radius_voxels > (away + radius) * (1.0 - 1e-5), "{light:?}");
                assert!(light.radius_voxels < (away + radius) * 1.01, "{light:?}");
                assert!(light.margin_voxels > 6.0 * texel, "{light:?}");
            };
            if shadows {
                let last = &cascades[plan.frame.cascade_count as usize - 1];
                covers(&lights[0], last.radius, last.texel);
                let forward = Vec3::from(plan.frame.forward).as_dvec3();
                assert!((lights[0].toward + forward).length() < 1e-6);
            }
            for light in &lights[usize::from(shadows)..] {
                covers(light, sky.fade_start + sky.fade_rate.recip(), sky.texel);
                assert!(light.toward.y > 0.49, "{light:?}");
            }
        }
    }
}

#[test]
fn without_shadows_and_by_night_nothing_is_blocked() {
    let [view, ..] = views();
    assert_eq!(BlockedLight::of_view(&view, SIZE), []);
    let night = View { shadows: true, atmosphere: view.atmosphere.with_hour(0.0), ..view };
    assert_eq!(BlockedLight::of_view(&night, SIZE), []);
    let lights = BlockedLight::of_view(&View { sky_light: true, ..night }, SIZE);
    assert_eq!(lights.len(), SKY_MAPS);
}
