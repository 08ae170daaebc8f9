//! Light that the Earth's atmosphere scatters.
//!
//! Sources: single scattering along a ray with the Earth's shadow from Nishita et al., "Display of the
//! Earth Taking into Account Atmospheric Scattering" (1993); coefficients, ozone and the closed form for
//! all further scattering from Hillaire, "A Scalable and Production Ready Sky and Atmosphere Rendering
//! Technique" (2020). Lengths are in kilometres, colours are linear.

use std::f64::consts::PI;

use glam::DVec3;

/// Radius of the Earth, and of the sphere where its atmosphere ends.
const EARTH: f64 = 6_360.0;
const TOP: f64 = 6_460.0;
/// Height of the observer above the sea.
const OBSERVER: f64 = 0.5;
/// Scattering of air and of aerosols at sea level, and absorption of aerosols and of ozone, per km.
const AIR: DVec3 = DVec3::new(5.802e-3, 13.558e-3, 33.1e-3);
const AEROSOL: f64 = 3.996e-3;
const AEROSOL_LOSS: f64 = 4.40e-3;
const OZONE_LOSS: DVec3 = DVec3::new(0.650e-3, 1.881e-3, 0.085e-3);
/// Asymmetry of the phase function of aerosols (Cornette and Shanks 1992).
const ASYMMETRY: f64 = 0.8;
/// Part of the light that the ground reflects.
const GROUND: f64 = 0.3;
/// Steps along a ray to the observer, along one to the light, and along those that add further scattering.
const VIEW_STEPS: u32 = 24;
const LIGHT_STEPS: u32 = 12;
const FURTHER_STEPS: u32 = 10;
/// Heights above the sea at which further scattering is computed, and number of directions.
const HEIGHTS: [f64; 5] = [0.2, 3.0, 10.0, 25.0, 50.0];
const DIRECTIONS: u32 = 24;

/// The sky under one light that is infinitely far away, such as the sun, of irradiance 1.
pub(super) struct LitSky {
    /// Unit vector towards the light. Y is up.
    light: DVec3,
    /// Radiance of light that was scattered more than once, at each of [`HEIGHTS`].
    further: [DVec3; HEIGHTS.len()],
}

/// Matter at a height.
struct Matter {
    /// Light that air and aerosols scatter, per km.
    air: DVec3,
    aerosol: f64,
    /// Light that is scattered or absorbed, per km.
    loss: DVec3,
}

/// One step along a ray.
struct Step {
    matter: Matter,
    /// Height above the sea, and sine of the light's height above the horizon there.
    height: f64,
    light_height: f64,
    /// Part of the light at the step that reaches the ray's start, and what the step then adds of each
    /// unit of radiance per km.
    weight: DVec3,
}

impl LitSky {
    /// Computes the light that is scattered more than once.
    ///
    /// # Cost
    /// About 10,000 samples of the atmosphere.
    pub(super) fn new(light: DVec3) -> Self {
        let further = HEIGHTS.map(|height| {
            let (mut second, mut share) = (DVec3::ZERO, DVec3::ZERO);
            for direction in directions(DIRECTIONS) {
                let end = walk(height, direction, light, FURTHER_STEPS, |step| {
                    let scattered = step.matter.air + step.matter.aerosol;
                    let sun = transmittance(step.height, step.light_height);
                    second += step.weight * scattered * sun / (4.0 * PI);
                    share += step.weight * scattered;
                });
                if let Some(end) = end {
                    let sun = transmittance(0.0, end.light_height) * end.light_height.max(0.0);
                    second += end.weight * sun * (GROUND / PI);
                }
            }
            let count = f64::from(DIRECTIONS);
            second / count / (DVec3::ONE - share / count)
        });
        Self { light, further }
    }

    /// Radiance of the sky in a direction of unit length, without the light itself.
    pub(super) fn radiance(&self, direction: DVec3) -> DVec3 {
        let cos = direction.dot(self.light);
        let air_phase = 3.0 / (16.0 * PI) * (1.0 + cos * cos);
        let g2 = ASYMMETRY * ASYMMETRY;
        let aerosol_phase = 3.0 / (8.0 * PI) * (1.0 - g2) * (1.0 + cos * cos)
            / ((2.0 + g2) * (1.0 + g2 - 2.0 * ASYMMETRY * cos).powf(1.5));
        let mut radiance = DVec3::ZERO;
        walk(OBSERVER, direction, self.light, VIEW_STEPS, |step| {
            let Step { matter, height, light_height, weight } = step;
            let once = matter.air * air_phase + matter.aerosol * aerosol_phase;
            let further = self.further(*height) * (matter.air + matter.aerosol);
            radiance += *weight * (once * transmittance(*height, *light_height) + further);
        });
        radiance
    }

    /// Mean radiance of the upper half of the sky on a horizontal surface.
    pub(super) fn mean(&self) -> DVec3 {
        let above = || directions(2 * DIRECTIONS).filter(|direction| direction.y > 0.0);
        let sum: DVec3 = above().map(|direction| self.radiance(direction) * direction.y).sum();
        sum / above().map(|direction| direction.y).sum::<f64>()
    }

    fn further(&self, height: f64) -> DVec3 {
        let above = HEIGHTS.partition_point(|&at| at <= height).clamp(1, HEIGHTS.len() - 1);
        let [low, high] = [HEIGHTS[above - 1], HEIGHTS[above]];
        let part = ((height - low) / (high - low)).clamp(0.0, 1.0);
        self.further[above - 1].lerp(self.further[above], part)
    }
}

/// Part of the light of the sun at this sine of its height that reaches the observer. A sun below the
/// horizon counts as one on it.
pub(super) fn sunlight(height: f64) -> DVec3 {
    transmittance(OBSERVER, height.max(0.0))
}

impl Matter {
    fn at(height: f64) -> Self {
        let (air, aerosol) = ((-height / 8.0).exp(), (-height / 1.2).exp());
        let ozone = (1.0 - (height - 25.0).abs() / 15.0).max(0.0);
        let scattered = AIR * air + AEROSOL * aerosol;
        let loss = scattered + AEROSOL_LOSS * aerosol + OZONE_LOSS * ozone;
        Self { air: AIR * air, aerosol: AEROSOL * aerosol, loss }
    }
}

/// Part of the light from outside that reaches a height from a direction, given as the sine of its
/// angle above the horizon. Zero in the Earth's shadow.
fn transmittance(height: f64, up: f64) -> DVec3 {
    let radius = EARTH + height;
    if ground_distance(radius, up).is_some() {
        return DVec3::ZERO;
    }
    let length = top_distance(radius, up);
    let depth: DVec3 = steps(length, LIGHT_STEPS)
        .map(|(at, step)| Matter::at(height_along(radius, up, at)).loss * step)
        .sum();
    (-depth).exp()
}

/// Calls `visit` for each step along a ray from `height`. Returns the end of the ray on the ground, if
/// it meets it.
fn walk(
    height: f64,
    direction: DVec3,
    light: DVec3,
    count: u32,
    mut visit: impl FnMut(&Step),
) -> Option<Step> {
    let radius = EARTH + height;
    let ground = ground_distance(radius, direction.y);
    let length = ground.unwrap_or_else(|| top_distance(radius, direction.y));
    let light_height = |at: f64| (DVec3::Y * radius + direction * at).normalize().dot(light);
    let mut reaching = DVec3::ONE;
    for (at, step) in steps(length, count) {
        let height = height_along(radius, direction.y, at);
        let matter = Matter::at(height);
        let passes = (matter.loss * -step).exp();
        let weight = reaching * (DVec3::ONE - passes) / matter.loss;
        visit(&Step { matter, height, light_height: light_height(at), weight });
        reaching *= passes;
    }
    ground.map(|at| Step {
        matter: Matter::at(0.0),
        height: 0.0,
        light_height: light_height(at),
        weight: reaching,
    })
}

/// Middles and lengths of steps along a ray. They grow with the distance, because most of the
/// atmosphere is near.
fn steps(length: f64, count: u32) -> impl Iterator<Item = (f64, f64)> {
    let end = move |step: u32| (f64::from(step) / f64::from(count)).powi(2) * length;
    (0..count).map(move |step| ((end(step) + end(step + 1)) / 2.0, end(step + 1) - end(step)))
}

/// Height above the sea at a distance along a ray.
fn height_along(radius: f64, up: f64, at: f64) -> f64 {
    ((radius * radius + at * at + 2.0 * radius * at * up).sqrt() - EARTH).max(0.0)
}

fn top_distance(radius: f64, up: f64) -> f64 {
    let along = radius * up;
    -along + (along * along + TOP * TOP - radius * radius).max(0.0).sqrt()
}

/// Distance to the ground along a ray; `None` if it passes by.
fn ground_distance(radius: f64, up: f64) -> Option<f64> {
    let along = radius * up;
    let square = along * along - (radius * radius - EARTH * EARTH);
    (up < 0.0 && square >= 0.0).then(|| -along - square.sqrt())
}

/// Unit vectors in all directions, spread evenly along a spiral.
fn directions(count: u32) -> impl Iterator<Item = DVec3> {
    const GOLDEN_ANGLE: f64 = 2.399_963_229_728_653;
    (0..count).map(move |index| {
        let at = f64::from(index) + 0.5;
        let y = 1.0 - 2.0 * at / f64::from(count);
        let (sin, cos) = (at * GOLDEN_ANGLE).sin_cos();
        let side = (1.0 - y * y).sqrt();
        DVec3::new(side * cos, y, side * sin)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sky(sine: f64) -> LitSky {
        LitSky::new(DVec3::new((1.0 - sine * sine).sqrt(), sine, 0.0))
    }

    /// The optical depth of air and ozone straight up has a closed form.
    #[test]
    fn light_from_above_loses_what_the_columns_hold() {
        let column = |height: f64| (1.0 - (-100.0 / height).exp()) * height;
        let ozone = OZONE_LOSS * 15.0;
        let depth = AIR * column(8.0) + (AEROSOL + AEROSOL_LOSS) * column(1.2) + ozone;
        let (exact, found) = ((-depth).exp(), transmittance(0.0, 1.0));
        assert!(found.abs_diff_eq(exact, 0.01), "{found} {exact}");
    }

    /// Measured zenith skies are two to four times as bright in blue as in red; sunlight through 38 air
    /// masses is red.
    #[test]
    fn the_day_is_blue_and_the_low_sun_is_red() {
        let zenith = sky(0.7).radiance(DVec3::Y);
        assert!((2.0..6.0).contains(&(zenith.z / zenith.x)), "{zenith}");
        let low = sunlight(0.0);
        assert!(low.x > 5.0 * low.y && low.y > 5.0 * low.z, "{low}");
        assert_eq!(sunlight(-0.1), low);
    }

    /// Away from the sun the Earth's shadow rises; the sky above the sun stays bright, and red.
    #[test]
    fn dusk_glows_where_the_sun_has_set() {
        let dusk = sky(-0.1);
        let toward = dusk.radiance(DVec3::new(1.0, 0.05, 0.0).normalize());
        let away = dusk.radiance(DVec3::new(-1.0, 0.05, 0.0).normalize());
        assert!(toward.x > 10.0 * away.x, "{toward} {away}");
        assert!(toward.x > 2.0 * toward.z && away.x > 0.0, "{toward} {away}");
    }

    /// Nothing is created: the sky sends less light down than arrives from the sun.
    #[test]
    fn the_sky_is_darker_than_the_sun() {
        for sine in [0.05, 0.3, 1.0] {
            let down = sky(sine).mean() * PI;
            let direct = sunlight(sine) * sine;
            let arrives = down + direct;
            assert!(
                arrives.max_element() < 1.2 * sine.max(0.1) && down.min_element() > 0.0,
                "{arrives}"
            );
        }
    }
}
