//! Sun and sky through the day.

use std::f32::consts::PI;

use glam::Vec3;

/// Tilt of the sun's path to the south. At noon the sun stands this angle below the zenith.
const LEAN: f32 = 25.0 * PI / 180.0;
/// Height of the sun, as the sine of its angle, from which the sky is that of the day; and the
/// height below which it is that of the night.
const DAY: f32 = 0.35;
const NIGHT: f32 = -0.25;
/// Height of the sun at which the moon begins to shine.
const MOONRISE: f32 = -0.06;
/// Height of the sun from which its light has full strength.
const FULL: f32 = 0.22;

/// Colours of the sky: straight up, at the horizon, below the horizon, and ambient light.
type Sky = [Vec3; 4];

const DAY_SKY: Sky = [
    Vec3::new(0.22, 0.45, 0.80),
    Vec3::new(0.80, 0.87, 0.92),
    Vec3::new(0.64, 0.73, 0.80),
    Vec3::new(0.52, 0.60, 0.72),
];
const DUSK_SKY: Sky = [
    Vec3::new(0.17, 0.24, 0.45),
    Vec3::new(0.91, 0.60, 0.42),
    Vec3::new(0.45, 0.40, 0.42),
    Vec3::new(0.42, 0.41, 0.50),
];
const NIGHT_SKY: Sky = [
    Vec3::new(0.012, 0.020, 0.055),
    Vec3::new(0.050, 0.070, 0.130),
    Vec3::new(0.030, 0.040, 0.070),
    Vec3::new(0.160, 0.200, 0.310),
];

const HIGH_SUN: Vec3 = Vec3::new(1.0, 0.93, 0.78);
const LOW_SUN: Vec3 = Vec3::new(1.0, 0.56, 0.30);
const MOON: Vec3 = Vec3::new(0.26, 0.32, 0.44);

/// Zenith, horizon, ground, colour of the light, ambient light, and direction of the light.
pub(super) fn light_at(hour: f32) -> [Vec3; 6] {
    let sun = sun_at(hour);
    let height = sun.y;
    let sky: [Vec3; 4] = std::array::from_fn(|i| {
        let night = smooth_step(0.0, NIGHT, height);
        let evening = DUSK_SKY[i].lerp(NIGHT_SKY[i], night);
        evening.lerp(DAY_SKY[i], smooth_step(0.0, DAY, height))
    });
    let [zenith, horizon, ground, ambient] = sky;
    let (light, from) = if height > MOONRISE {
        let color = LOW_SUN.lerp(HIGH_SUN, smooth_step(0.0, 0.5, height));
        (color * smooth_step(MOONRISE, FULL, height), sun)
    } else {
        (MOON * smooth_step(MOONRISE, NIGHT, height), -sun)
    };
    [zenith, horizon, ground, light, ambient, from]
}

/// Unit vector towards the sun.
fn sun_at(hour: f32) -> Vec3 {
    let hour = if hour.is_finite() { hour.rem_euclid(24.0) } else { 12.0 };
    let (up, east) = ((hour - 6.0) / 12.0 * PI).sin_cos();
    Vec3::new(east, up * LEAN.cos(), up * LEAN.sin())
}

/// 0 before `from`, 1 from `to` on, and smooth between. `to` may be less than `from`.
fn smooth_step(from: f32, to: f32, at: f32) -> f32 {
    let part = ((at - from) / (to - from)).clamp(0.0, 1.0);
    part * part * (3.0 - 2.0 * part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Atmosphere;

    /// Midnight follows the last minute. From one minute to the next only the direction of the
    /// light may jump, while there is no light.
    #[test]
    fn light_changes_smoothly_through_the_day() {
        let minute = |minute: u16| light_at(f32::from(minute) / 60.0);
        for at in 0..1440 {
            let [now, next] = [minute(at), minute((at + 1) % 1440)];
            for i in 0..5 {
                assert!(now[i].distance(next[i]) < 0.03, "{i} at minute {at}");
                assert!(now[i].min_element() >= 0.0 && now[i].max_element() <= 1.0);
            }
            let is_dark = now[3].length() < 0.01 && next[3].length() < 0.01;
            assert!(is_dark || now[5].distance(next[5]) < 0.01, "minute {at}");
            assert!((now[5].length() - 1.0).abs() < 1e-5);
        }
    }

    #[test]
    fn noon_is_bright_and_night_is_dark() {
        let up = |hour: f32| Atmosphere::default().with_hour(hour).light(Vec3::Y).element_sum();
        let hours: Vec<f32> = [0.0, 7.0, 9.0, 12.0].map(up).to_vec();
        assert!(hours.is_sorted(), "{hours:?}");
        assert!(hours[3] > 2.0 * hours[0]);
        assert_eq!(up(36.0), up(12.0));
        assert_eq!(up(f32::NAN), up(12.0));
        // At noon the sun stands in the south, at six in the east.
        assert!(sun_at(12.0).abs_diff_eq(Vec3::new(0.0, LEAN.cos(), LEAN.sin()), 1e-6));
        assert!(sun_at(6.0).abs_diff_eq(Vec3::X, 1e-6));
    }

    /// Haze and ambient occlusion remain.
    #[test]
    fn the_hour_changes_only_the_light() {
        let air =
            Atmosphere { ambient_occlusion: 0.2, ..Atmosphere::default().with_haze(1.0, 9.0, 0.5) };
        let night = air.with_hour(1.0);
        let same = Atmosphere {
            zenith: air.zenith,
            horizon: air.horizon,
            ground: air.ground,
            sun: air.sun,
            ambient: air.ambient,
            sun_direction: air.sun_direction,
            ..night
        };
        assert_eq!(same, air);
        assert_ne!(night, air);
    }
}
