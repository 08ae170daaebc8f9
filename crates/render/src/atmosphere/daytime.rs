//! Sun, moon and sky through the day.

use std::f32::consts::PI;

use glam::{DVec3, Vec3};

use super::scattering::{LitSky, sunlight};

/// Tilt of the sun's path to the south. At noon the sun stands this angle below the zenith.
const LEAN: f32 = 25.0 * PI / 180.0;
/// Heights of the sun, as the sine of its angle, at which its light disappears, and from which it has
/// full strength.
const SUNSET: f32 = -0.06;
const FULL: f32 = 0.28;
/// Height of the sun at which the sky above it begins to lose its glow; at which that has gone, and the
/// moon begins to shine; and below which the moon has full strength.
const AFTERGLOW: f32 = -0.05;
const MOONRISE: f32 = -0.32;
const NIGHT: f32 = -0.52;
/// Colour of the moon's light.
const MOON: Vec3 = Vec3::new(0.24, 0.30, 0.42);
/// The moon's light beside the sun's: twice as bright as a true one. It is bluish, because eyes
/// see so in the dark.
const MOONLIGHT: DVec3 = DVec3::new(4e-6, 5e-6, 7e-6);
/// Radiance of the night sky itself.
const AIRGLOW: DVec3 = DVec3::new(3.5e-7, 5.5e-7, 9.0e-7);
/// A light that is lower than this does not change the sky.
const LOWEST: f64 = -0.3;
/// Sine of the height above the horizon at which the sky has the colour of haze.
const HAZE_HEIGHT: f64 = 0.05;
/// Brightness of noon in the picture, and part of the changes of brightness, as a power, that the
/// exposure undoes. The rest is small enough that nights are not black.
const EXPOSURE: f64 = 0.25;
const ADAPTATION: f64 = 0.85;
/// Mean radiance of the sky at noon.
const NOON: f64 = 0.0126;
/// Light of the sun and of the sky on surfaces beside the brightness of the sky.
const SUN_PART: f64 = 0.12;
const SKY_PART: f64 = 1.15;

/// Colours of the sky and of light at an hour. They are those of [`Atmosphere`](super::Atmosphere).
#[derive(Clone, Copy, Debug)]
pub(super) struct Daylight {
    pub(super) zenith: Vec3,
    pub(super) horizon: Vec3,
    pub(super) glow: Vec3,
    pub(super) ground: Vec3,
    pub(super) sun: Vec3,
    pub(super) ambient: Vec3,
    pub(super) sun_direction: Vec3,
}

/// Returns the light at an hour.
///
/// # Cost
/// About a millisecond: the light that the atmosphere scatters is computed.
pub(super) fn light_at(hour: f32) -> Daylight {
    let sun = sun_at(hour);
    let night = NightAndDay::new(sun.as_dvec3().normalize());
    let flat = Vec3::new(sun.x, 0.0, sun.z).normalize_or(Vec3::X).as_dvec3();
    let beside = DVec3::new(flat.z, 0.0, -flat.x);
    let haze = |along: DVec3| night.radiance((along + DVec3::Y * HAZE_HEIGHT).normalize());
    let (toward, away, sides) = (haze(flat), haze(-flat), haze(beside));
    let (mean, horizon) = (night.mean(), (2.0 * sides + away) / 3.0);
    // The exposure depends on the whole sky, and a little on its brightest part.
    let seen = luminance(0.5 * mean + 0.14 * horizon + 0.02 * toward);
    let exposure = EXPOSURE / NOON * (NOON / seen).powf(ADAPTATION);
    let shown = |radiance: DVec3| encoded(radiance * exposure);
    let (horizon, toward) = (shown(horizon), shown(toward));
    let (light, sun_direction) = if sun.y > MOONRISE {
        let color = encoded(sunlight(f64::from(sun.y)) * (exposure * SUN_PART));
        (color * smooth_step(SUNSET, FULL, sun.y), sun)
    } else {
        (MOON * smooth_step(MOONRISE, NIGHT, sun.y), -sun)
    };
    Daylight {
        zenith: shown(night.radiance(DVec3::Y)),
        horizon,
        // The sky around the moon is hardly brighter.
        glow: (toward - horizon) * smooth_step(MOONRISE, AFTERGLOW, sun.y),
        ground: horizon * 0.82,
        sun: light,
        ambient: shown(mean * SKY_PART),
        sun_direction,
    }
}

/// The sky under the sun and a full moon opposite to it.
struct NightAndDay {
    sun: Option<LitSky>,
    moon: Option<LitSky>,
}

impl NightAndDay {
    fn new(sun: DVec3) -> Self {
        let lit = |light: DVec3| (light.y > LOWEST).then(|| LitSky::new(light));
        Self { sun: lit(sun), moon: lit(-sun) }
    }

    fn sum(&self, of: impl Fn(&LitSky) -> DVec3) -> DVec3 {
        let [sun, moon] = [&self.sun, &self.moon].map(|sky| sky.as_ref().map_or(DVec3::ZERO, &of));
        sun + moon * MOONLIGHT + AIRGLOW
    }

    fn radiance(&self, direction: DVec3) -> DVec3 {
        self.sum(|sky| sky.radiance(direction))
    }

    fn mean(&self) -> DVec3 {
        self.sum(LitSky::mean)
    }
}

fn luminance(color: DVec3) -> f64 {
    color.dot(DVec3::new(0.2126, 0.7152, 0.0722))
}

/// Returns the sRGB colour of a linear one of any brightness. Bright colours approach white more slowly
/// than each of their components would by itself, so that a sunset keeps its hue.
fn encoded(color: DVec3) -> Vec3 {
    let each = DVec3::ONE - (-color).exp();
    let brightness = luminance(color).max(1e-12);
    let same_hue = color * ((1.0 - (-brightness).exp()) / brightness);
    let linear = each.lerp(same_hue.min(DVec3::ONE), 0.65);
    let curve = |part: f64| match part {
        part if part <= 0.003_130_8 => 12.92 * part,
        part => 1.055 * part.powf(1.0 / 2.4) - 0.055,
    };
    DVec3::from_array(linear.to_array().map(curve)).as_vec3()
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
        // Three hours around sunset, where most changes, and the hour around midnight.
        let (dusk, midnight) = (17 * 60..20 * 60, 23 * 60 + 30..24 * 60);
        for at in dusk.chain(midnight).chain(0..30) {
            let [now, next] = [minute(at), minute((at + 1) % 1440)];
            let colors = |it: Daylight| [it.zenith, it.horizon, it.ground, it.sun, it.ambient];
            // Where the sun has set, the afterglow changes fastest.
            let west = |it: Daylight| it.horizon + it.glow;
            assert!(west(now).distance(west(next)) < 0.05, "{at}: {} {}", west(now), west(next));
            for (i, (now, next)) in colors(now).into_iter().zip(colors(next)).enumerate() {
                assert!(now.distance(next) < 0.03, "{i} at minute {at}: {now} {next}");
                assert!(now.min_element() >= 0.0 && now.max_element() <= 1.0);
            }
            let is_dark = now.sun.length() < 0.01 && next.sun.length() < 0.01;
            let turn = now.sun_direction.distance(next.sun_direction);
            assert!(is_dark || turn < 0.01, "minute {at}");
            assert!((now.sun_direction.length() - 1.0).abs() < 1e-5);
        }
    }

    /// The darkest colours of a picture in the dusk and at night can be seen.
    #[test]
    fn no_hour_is_near_black() {
        for hour in [0.0, 5.5, 17.5, 18.25, 18.5, 18.75, 19.0, 22.0] {
            let light = Atmosphere::default().with_hour(hour).light(Vec3::NEG_Y);
            assert!(light.max_element() > 0.15, "{hour}: {light}");
        }
    }

    /// At half past six in the evening the west is orange, the zenith and the east are not.
    #[test]
    fn the_evening_sky_glows_in_the_west() {
        let light = light_at(18.5);
        let west = light.horizon + light.glow;
        assert!(west.x > west.z + 0.25 && west.x > 0.8, "{light:?}");
        assert!(light.horizon.x < west.x - 0.15 && light.zenith.z >= light.zenith.x, "{light:?}");
    }

    #[test]
    fn noon_is_bright_and_night_is_dark() {
        let up = |hour: f32| Atmosphere::default().with_hour(hour).light(Vec3::Y).element_sum();
        let hours: Vec<f32> = [0.0, 7.0, 9.0, 12.0].map(up).to_vec();
        assert!(hours.is_sorted(), "{hours:?}");
        assert!(hours[3] > 2.0 * hours[0], "{hours:?}");
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
            glow: air.glow,
            ..night
        };
        assert_eq!(same, air);
        assert_ne!(night, air);
    }
}
