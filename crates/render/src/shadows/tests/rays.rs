//! A simple twin: rays through voxels towards the sun, in double precision.

use super::*;

/// Distance from an edge of a shadow within which a pixel may be anything between lit and dark, in
/// voxels: the four texels around a pixel, and its move along the normal.
const UNCERTAIN: f64 = 0.15;
/// Radius of the smallest cascade, whose texels are fine enough.
const NEAR: f64 = 31.0;

/// Returns the distance at which a ray enters the voxels first, and the normal of that face.
pub(super) fn hit(voxels: &Voxels, start: DVec3, direction: DVec3) -> Option<(f64, DVec3)> {
    let mut nearest: Option<(f64, DVec3)> = None;
    for voxel in &voxels.0 {
        let low = DVec3::from_array(voxel.map(f64::from));
        let (a, b) = ((low - start) / direction, (low + 1.0 - start) / direction);
        let (enter, leave) = (a.min(b), a.max(b));
        let first = enter.max_element();
        if first > 0.0 && first < leave.min_element() && nearest.is_none_or(|it| first < it.0) {
            let axis = [DVec3::X, DVec3::Y, DVec3::Z][enter.max_position()];
            nearest = Some((first, axis * -direction.dot(axis).signum()));
        }
    }
    nearest
}

/// Pixels of a city, away from edges of shadows, are lit or dark as rays towards the sun tell.
#[test]
fn pixels_are_lit_as_by_rays_towards_the_sun() {
    let [width, height] = [1280, 720];
    for (seed, hour) in [(1, 9.0), (2, 12.0), (3, 16.0)] {
        let city = Voxels::city(seed);
        let [mut renderer, ..] = <[_; 3]>::try_from(soft()).ok().unwrap();
        renderer.resize(width, height).unwrap();
        city.insert(renderer.as_mut(), [0; 3]);
        let view = view([14.0, 15.0, 30.0], hour);
        let seen = picture(renderer.as_mut(), &view);
        let air = view.atmosphere;
        let sun = air.sun_direction.as_dvec3().normalize();
        let [right, up, forward] = view.camera.basis().map(Vec3::as_dvec3);
        let half = view.camera.half_extents(width as f32 / height as f32).map(f64::from);
        let (mut dark_count, mut lit_count) = (0, 0);
        for (x, y) in
            (0..width).step_by(29).flat_map(|x| (0..height).step_by(29).map(move |y| (x, y)))
        {
            // The surface that a position in pixels shows: a point on it and its normal.
            let surface = |x: f64, y: f64| {
                let [width, height] = [width, height].map(f64::from);
                let [across, upwards] = [2.0 * x / width - 1.0, 1.0 - 2.0 * y / height];
                let ray = forward + right * (across * half[0]) + up * (upwards * half[1]);
                let (distance, normal) = hit(&city, view.camera.position, ray)?;
                Some((view.camera.position + ray * distance, normal))
            };
            let [x_center, y_center] = [x, y].map(|it| f64::from(it) + 0.5);
            let Some((point, normal)) = surface(x_center, y_center) else { continue };
            if normal.dot(sun) <= 0.0 || point.distance(view.camera.position) > NEAR {
                continue;
            }
            // Not at a silhouette, where rasterisers round.
            let is_inside = [-0.5, 0.5].iter().all(|by| {
                let beside = surface(x_center + by, y_center + by);
                beside.is_some_and(|it| it.1 == normal && (it.0 - point).dot(normal).abs() < 1e-6)
            });
            if !is_inside {
                continue;
            }
            // The same answer from all points around, none of them in a voxel.
            let side = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| axis - normal * axis.dot(normal));
            let around = (0..27).map(|it| [it % 3 - 1, it / 3 % 3 - 1, it / 9 - 1].map(f64::from));
            let around = around
                .map(|[x, y, z]| (side[0] * x + side[1] * y + side[2] * z) * UNCERTAIN)
                .flat_map(|by| [1e-6, UNCERTAIN].map(|lift| point + by + normal * lift));
            let is_solid = |at: DVec3| city.0.contains(&at.floor().to_array().map(|c| c as i32));
            let answers: Vec<Option<bool>> =
                around.map(|at| (!is_solid(at)).then(|| hit(&city, at, sun).is_none())).collect();
            let Some(is_lit) = answers[0] else { continue };
            if answers.iter().any(|answer| *answer != Some(is_lit)) {
                continue;
            }
            let full = air.light(normal.as_vec3());
            let ambient = Atmosphere { sun: Vec3::ZERO, ..air }.light(normal.as_vec3());
            let light = if is_lit { full } else { ambient };
            let color = Vec3::from_array([0, 1, 2].map(|i| f32::from(PALETTE[0][i])));
            let expected = (color * light).min(Vec3::splat(255.0));
            let drawn = Vec3::from_array([0, 1, 2].map(|i| f32::from(seen.pixel(x, y)[i])));
            assert!(
                (expected - drawn).abs().max_element() < 2.0,
                "{x}, {y} at {point}, lit {is_lit}: {drawn}, not {expected}"
            );
            *if is_lit { &mut lit_count } else { &mut dark_count } += 1;
        }
        println!("{lit_count} lit, {dark_count} dark");
        assert!(lit_count > 300 && dark_count > 30, "{lit_count} lit, {dark_count} dark");
    }
}
