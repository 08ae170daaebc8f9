//! Haze that hides the edge of a vast land.

use std::time::Duration;

use drystone_render::{Atmosphere, Camera, Projection};
use glam::DVec3;

/// Fraction of the haze distance at which the haze begins.
pub(crate) const HAZE_BEGINS: f32 = 0.4;
/// Width from which a land is vast, in voxels: haze hides its edge.
const VAST_WIDTH: f64 = 4096.0;
/// Minimum haze distance, as a fraction of a vast land's width.
const MIN_HAZE_PART: f64 = 0.25;

/// Returns the atmosphere with haze that hides the edge of a vast land ahead of a camera inside the
/// box `min` to `max`. For smaller worlds and from outside, it is unchanged.
pub(crate) fn edge_haze(
    atmosphere: Atmosphere,
    camera: &Camera,
    (min, max): (DVec3, DVec3),
) -> Atmosphere {
    /// Directions in which the edge is searched, as angles from straight ahead.
    const AHEAD: [f64; 3] = [-0.6, 0.0, 0.6];
    let width = (max - min).x.min((max - min).z);
    let [x, _, z] = [0, 1, 2].map(|axis| (min[axis]..max[axis]).contains(&camera.position[axis]));
    let is_parallel = matches!(camera.projection, Projection::Orthographic { .. });
    if width < VAST_WIDTH || !x || !z || is_parallel {
        return atmosphere;
    }
    let edge = AHEAD.map(|turn| {
        let (sin, cos) = (f64::from(camera.yaw) + turn).sin_cos();
        let direction = [-sin, -cos];
        let to_edge = [0, 2].map(|axis| {
            let direction = direction[axis / 2];
            let end = if direction > 0.0 { max[axis] } else { min[axis] };
            if direction == 0.0 { f64::INFINITY } else { (end - camera.position[axis]) / direction }
        });
        to_edge[0].min(to_edge[1])
    });
    let nearest = edge.into_iter().fold(f64::INFINITY, f64::min);
    let end = nearest.max(width * MIN_HAZE_PART) as f32;
    atmosphere.with_haze(end * HAZE_BEGINS, end, 1.0)
}

/// Returns the atmosphere with its haze moved towards that of `goal`, smoothly in time. It arrives
/// within some seconds.
pub(crate) fn haze_towards(
    atmosphere: Atmosphere,
    goal: &Atmosphere,
    time: Duration,
) -> Atmosphere {
    /// Time constant of the approach, in seconds.
    const PACE: f32 = 0.6;
    /// Distance at which the goal is reached: a fraction of the goal, and in voxels.
    const NEAR: [f32; 2] = [0.005, 0.001];
    let haze = |air: &Atmosphere| [air.haze_start, air.haze_end, air.haze_density];
    let (now, goal) = (haze(&atmosphere), haze(goal));
    let step = 1.0 - (-time.as_secs_f32() / PACE).exp();
    let next: [f32; 3] = std::array::from_fn(|i| now[i] + (goal[i] - now[i]) * step);
    let is_near = (0..3).all(|i| (next[i] - goal[i]).abs() <= NEAR[1].max(goal[i].abs() * NEAR[0]));
    let [start, end, density] = if is_near { goal } else { next };
    atmosphere.with_haze(start, end, density)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn haze_arrives_without_a_jump_however_long_frames_are() {
        let goal = Atmosphere::default().with_haze(400.0, 1_000.0, 1.0);
        for far in [goal.with_haze(3_000.0, 9_000.0, 0.75), goal.with_haze(0.0, 0.0, 0.0)] {
            let after = |seconds: f32, frames: u16| {
                let time = Duration::from_secs_f32(seconds / f32::from(frames));
                (0..frames).fold(far, |air, _| haze_towards(air, &goal, time))
            };
            assert_eq!(haze_towards(far, &goal, Duration::ZERO), far);
            let (few, many) = (after(0.5, 5), after(0.5, 500));
            assert!((few.haze_end - many.haze_end).abs() < 1.0, "{few:?} {many:?}");
            let part = (many.haze_end - goal.haze_end) / (far.haze_end - goal.haze_end);
            assert!((0.3..0.6).contains(&part), "{part}");
            assert_eq!(after(6.0, 360), goal);
        }
    }

    /// Inside a vast land, everything at its edge is hidden by haze.
    #[test]
    fn the_end_of_a_vast_land_is_hidden() {
        let air = Atmosphere::default();
        let corners = (DVec3::ZERO, DVec3::new(16_000.0, 512.0, 12_000.0));
        for (at, to) in [([8e3, 6e3], [9e3, 6e3]), ([2e3, 3e3], [8e3, 9e3]), ([1e4, 4e3], [0.0; 2])]
        {
            let [eye, look] = [at, to].map(|[x, z]| DVec3::new(x, 300.0, z));
            let hazy = edge_haze(air, &Camera::look_at(eye, look), corners);
            assert_eq!(hazy.haze_density, 1.0);
            // Points at the edge are at least as far as the haze distance.
            let direction = (look - eye).normalize();
            let steps = (1..).map(|step| eye + direction * f64::from(step));
            let edge = steps.take_while(|at| at.min(corners.1) == *at && at.min_element() >= 0.0);
            assert!(f64::from(hazy.haze_end) <= edge.count() as f64 + 2.0, "{eye}");
            assert!(hazy.haze_end >= 3_000.0 && hazy.haze_start < hazy.haze_end);
        }
        let outside = Camera::look_at(DVec3::new(-1.0, 300.0, 5.0), DVec3::new(9e3, 0.0, 9e3));
        assert_eq!(edge_haze(air, &outside, corners), air);
        let small = (DVec3::ZERO, DVec3::splat(2_048.0));
        let within = Camera::look_at(DVec3::splat(1_000.0), DVec3::new(9e3, 0.0, 9e3));
        assert_eq!(edge_haze(air, &within, small), air);
    }
}
