//! OpenSimplex2 noise of several points at once.
//!
//! The values are those of the crate `fastnoise-lite`, bit by bit. That computes one point at a time, which
//! takes two to three times as long: here, the compiler uses SIMD instructions, as no branch depends on a
//! point. Source of the algorithm: K. Spencer, "OpenSimplex2", as in FastNoise Lite by J. Peck.

#![allow(
    clippy::needless_range_loop,
    reason = "a loop over lanes by number is compiled to SIMD instructions, whatever else it indexes"
)]

use super::hash::mix;

/// Number of points that are computed together.
pub(super) const LANES: usize = 8;
/// One number for each point.
pub(super) type Lanes = [f32; LANES];

/// Returns up to [`LANES`] points as lanes, by axis. Lanes without a point have the first one.
pub(super) fn lanes<const D: usize>(points: &[[f32; D]]) -> [Lanes; D] {
    let first = points.first().copied().unwrap_or([0.0; D]);
    let mut lanes = first.map(|c| [c; LANES]);
    for (at, point) in points.iter().take(LANES).enumerate() {
        lanes.iter_mut().zip(point).for_each(|(axis, c)| axis[at] = *c);
    }
    lanes
}

/// Noise of one or more octaves, each twice as fine and half as strong as the last.
pub(super) struct Noise {
    seed: i32,
    frequency: f32,
    octaves: u32,
    /// Strength of the first octave: that of all is 1.
    strength: f32,
    is_ridged: bool,
}

impl Noise {
    /// Creates a noise with waves of `width` voxels. `purpose` separates the noises of a world.
    pub(super) fn new(seed: u64, purpose: u64, width: f32, octaves: u32) -> Self {
        let sum: f32 = (0..octaves).map(|octave| 0.5_f32.powi(octave as i32)).sum();
        let seed = mix(seed ^ purpose << 32) as i32;
        Self { seed, frequency: 1.0 / width, octaves, strength: 1.0 / sum, is_ridged: false }
    }

    /// Uses the distance of each octave from zero: lines where the noise is zero become ridges.
    pub(super) fn ridged(self) -> Self {
        Self { is_ridged: true, ..self }
    }

    /// Returns the two-dimensional noise, −1 to 1.
    pub(super) fn flat(&self, points: &[Lanes; 2]) -> Lanes {
        const SKEW: f32 = 0.5 * (SQRT_3 - 1.0);
        let [mut x, mut y] = *points;
        for l in 0..LANES {
            let scaled = [x[l] * self.frequency, y[l] * self.frequency];
            let skew = (scaled[0] + scaled[1]) * SKEW;
            (x[l], y[l]) = (scaled[0] + skew, scaled[1] + skew);
        }
        self.sum([x, y], flat_octave)
    }

    /// Returns the three-dimensional noise, −1 to 1.
    pub(super) fn solid(&self, points: &[Lanes; 3]) -> Lanes {
        let mut rotated = *points;
        for l in 0..LANES {
            let [x, y, z] = [0, 1, 2].map(|axis| points[axis][l] * self.frequency);
            let turn = (x + y + z) * (2.0 / 3.0);
            (rotated[0][l], rotated[1][l], rotated[2][l]) = (turn - x, turn - y, turn - z);
        }
        self.sum(rotated, solid_octave)
    }

    fn sum<const D: usize>(
        &self,
        mut points: [Lanes; D],
        octave: fn(i32, &[Lanes; D]) -> Lanes,
    ) -> Lanes {
        let (mut sum, mut strength) = ([0.0; LANES], self.strength);
        for number in 0..self.octaves {
            let noise = octave(self.seed.wrapping_add(number as i32), &points);
            for l in 0..LANES {
                let value = if self.is_ridged { noise[l].abs() * -2.0 + 1.0 } else { noise[l] };
                sum[l] += value * strength;
            }
            points.iter_mut().flatten().for_each(|c| *c *= 2.0);
            strength *= 0.5;
        }
        sum
    }
}

const SQRT_3: f32 = 1.732_050_8;
/// Multipliers of the integer coordinates of lattice points, in their hash.
const PRIMES: [i32; 3] = [501_125_321, 1_136_930_381, 1_720_413_743];

const fn hash(seed: i32, point: i32) -> i32 {
    let hash = (seed ^ point).wrapping_mul(0x27d4_eb2d);
    hash ^ hash >> 15
}

/// Sines of 7.5° and of every 15° more, up to 82.5°.
const SINES: [f32; 6] =
    [0.130_526_19, 0.382_683_43, 0.608_761_4, 0.793_353_3, 0.923_879_5, 0.991_444_9];

/// Sine of 7.5° plus `steps` times 15°.
const fn sine(steps: usize) -> f32 {
    let within = steps % 12;
    let sine = SINES[if within < 6 { within } else { 11 - within }];
    if steps % 24 < 12 { sine } else { -sine }
}

/// Unit vectors of the flat lattice points: 24 directions five times, and eight of them again.
const FLAT_GRADIENTS: [[f32; 2]; 128] = {
    let mut gradients = [[0.0; 2]; 128];
    let mut at = 0;
    while at < gradients.len() {
        let steps = if at < 120 { at } else { 1 + 3 * (at - 120) };
        gradients[at] = [sine(steps), sine(steps + 6)];
        at += 1;
    }
    gradients
};

/// Vectors of the solid lattice points: the edges of a cube five times, and four of them again. The fourth
/// number is unused.
const SOLID_GRADIENTS: [[f32; 4]; 64] = {
    const SIGNS: [[f32; 2]; 4] = [[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]];
    const LAST: [usize; 4] = [8, 1, 9, 3];
    let mut gradients = [[0.0; 4]; 64];
    let mut at = 0;
    while at < gradients.len() {
        let edge = if at < 60 { at % 12 } else { LAST[at - 60] };
        let [a, b] = SIGNS[edge % 4];
        gradients[at] = match edge / 4 {
            0 => [0.0, a, b, 0.0],
            1 => [a, 0.0, b, 0.0],
            _ => [a, b, 0.0, 0.0],
        };
        at += 1;
    }
    gradients
};

/// Returns the nearest whole number, the even one in the middle between two. Numbers must lie within 2²².
/// The conversion of the language is slower, because it checks for other numbers.
const fn nearest(value: f32) -> i32 {
    // With this addend, one is the value of the last bit of the fraction.
    const SHIFT: f32 = 12_582_912.0;
    (value + SHIFT).to_bits().wrapping_sub(SHIFT.to_bits()) as i32
}

/// Returns the largest whole number up to a value; below negative whole numbers, the one before them.
const fn floor(value: f32) -> i32 {
    let near = nearest(value);
    let is_above = near as f32 > value;
    let is_before = value < 0.0 && near as f32 == value;
    near - (is_above | is_before) as i32
}

/// Returns the nearest whole number, the one farther from 0 in the middle between two.
const fn round(value: f32) -> i32 {
    let size = value.abs() + 0.5;
    let near = nearest(size);
    let size = near - (near as f32 > size) as i32;
    if value < 0.0 { -size } else { size }
}

/// Weight of a lattice point: the fourth power, or 0.
const fn weight(reach: f32) -> f32 {
    if reach > 0.0 { (reach * reach) * (reach * reach) } else { 0.0 }
}

/// One octave at skewed points: the lattice is of triangles.
fn flat_octave(seed: i32, [x, y]: &[Lanes; 2]) -> Lanes {
    const UNSKEW: f32 = (3.0 - SQRT_3) / 6.0;
    const FAR: f32 = 1.0 - 2.0 * UNSKEW;
    // Distances of a point from the corners of its triangle, weights and numbers of gradients.
    let mut away = [[[0.0; LANES]; 2]; 3];
    let mut weights = [[0.0; LANES]; 3];
    let mut numbers = [[0; LANES]; 3];
    for l in 0..LANES {
        let (i, j) = (floor(x[l]), floor(y[l]));
        let (in_x, in_y) = (x[l] - i as f32, y[l] - j as f32);
        let unskew = (in_x + in_y) * UNSKEW;
        let (x0, y0) = (in_x - unskew, in_y - unskew);
        let (i, j) = (i.wrapping_mul(PRIMES[0]), j.wrapping_mul(PRIMES[1]));
        let is_upper = y0 > x0;
        let [dx, dy] = if is_upper { [UNSKEW, UNSKEW - 1.0] } else { [UNSKEW - 1.0, UNSKEW] };
        let (x1, y1) = (x0 + dx, y0 + dy);
        let (x2, y2) = (x0 + (2.0 * UNSKEW - 1.0), y0 + (2.0 * UNSKEW - 1.0));
        let a = 0.5 - x0 * x0 - y0 * y0;
        let b = 0.5 - x1 * x1 - y1 * y1;
        let c = (2.0 * FAR * (1.0 / UNSKEW - 2.0)) * unskew + (-2.0 * FAR * FAR + a);
        let [step_i, step_j] = if is_upper { [0, PRIMES[1]] } else { [PRIMES[0], 0] };
        let middle = i.wrapping_add(step_i) ^ j.wrapping_add(step_j);
        let last = i.wrapping_add(PRIMES[0]) ^ j.wrapping_add(PRIMES[1]);
        (away[0][0][l], away[0][1][l]) = (x0, y0);
        (away[1][0][l], away[1][1][l]) = (x1, y1);
        (away[2][0][l], away[2][1][l]) = (x2, y2);
        (weights[0][l], weights[1][l], weights[2][l]) = (weight(a), weight(b), weight(c));
        numbers[0][l] = hash(seed, i ^ j) >> 1 & 127;
        numbers[1][l] = hash(seed, middle) >> 1 & 127;
        numbers[2][l] = hash(seed, last) >> 1 & 127;
    }
    // Loads from a table, which most processors cannot do for several points at once.
    let mut gradients = [[[0.0; LANES]; 2]; 3];
    for (gradients, numbers) in gradients.iter_mut().zip(&numbers) {
        for l in 0..LANES {
            let [x, y] = FLAT_GRADIENTS[(numbers[l] & 127) as usize];
            (gradients[0][l], gradients[1][l]) = (x, y);
        }
    }
    std::array::from_fn(|l| {
        let corner = |corner: usize| {
            let ([x, y], [gx, gy]) = (&away[corner], &gradients[corner]);
            weights[corner][l] * (x[l] * gx[l] + y[l] * gy[l])
        };
        (corner(0) + corner(1) + corner(2)) * 99.836_85
    })
}

/// Points relative to one of the two cubic lattices of solid noise.
struct Cubic {
    /// Distance to the nearest lattice point, by axis, and its sum of squares subtracted from 0.6.
    away: [Lanes; 3],
    reach: Lanes,
    /// Absolute distances.
    far: [Lanes; 3],
    /// Opposite of the sign of the distances.
    signs: [[i32; LANES]; 3],
    /// Nearest lattice point, multiplied by the primes.
    nearest: [[i32; LANES]; 3],
}

impl Cubic {
    fn new(points: &[Lanes; 3]) -> Self {
        let mut cubic = Self {
            away: [[0.0; LANES]; 3],
            reach: [0.0; LANES],
            far: [[0.0; LANES]; 3],
            signs: [[0; LANES]; 3],
            nearest: [[0; LANES]; 3],
        };
        for axis in 0..3 {
            for l in 0..LANES {
                let nearest = round(points[axis][l]);
                let away = points[axis][l] - nearest as f32;
                // A distance just below 0 counts as 0.
                let sign = if -1.0 - away <= -1.0 { -1 } else { 1 };
                cubic.away[axis][l] = away;
                cubic.far[axis][l] = sign as f32 * -away;
                cubic.signs[axis][l] = sign;
                cubic.nearest[axis][l] = nearest.wrapping_mul(PRIMES[axis]);
            }
        }
        let [x, y, z] = &cubic.away;
        cubic.reach = std::array::from_fn(|l| (0.6 - x[l] * x[l]) - (y[l] * y[l] + z[l] * z[l]));
        cubic
    }

    /// Moves to the lattice whose points are in the middles of the first one's cubes.
    fn move_to_second(&mut self) {
        for l in 0..LANES {
            for axis in 0..3 {
                self.far[axis][l] = 0.5 - self.far[axis][l];
                self.away[axis][l] = self.signs[axis][l] as f32 * self.far[axis][l];
            }
            let [x, y, z] = [0, 1, 2].map(|axis| self.far[axis][l]);
            self.reach[l] = self.reach[l] + (0.75 - x) - (y + z);
            for axis in 0..3 {
                let step = self.signs[axis][l] >> 1 & PRIMES[axis];
                self.nearest[axis][l] = self.nearest[axis][l].wrapping_add(step);
                self.signs[axis][l] = -self.signs[axis][l];
            }
        }
    }

    /// Adds what the nearest lattice point contributes, and the next one on the axis with the largest
    /// distance.
    fn add_to(&self, value: &mut Lanes, seed: i32) {
        let mut weights = [[0.0; LANES]; 2];
        let mut numbers = [[0; LANES]; 2];
        let mut next = [[0.0; LANES]; 3];
        for l in 0..LANES {
            let [x, y, z] = [0, 1, 2].map(|axis| self.far[axis][l]);
            let [i, j, k] = [0, 1, 2].map(|axis| self.nearest[axis][l]);
            let is_x = (x >= y) & (x >= z);
            let is_y = !is_x & (y > x) & (y >= z);
            let is_on = [is_x, is_y, !is_x & !is_y];
            let most = if is_x {
                x
            } else if is_y {
                y
            } else {
                z
            };
            let further = self.reach[l] + most + most;
            weights[0][l] = weight(self.reach[l]);
            weights[1][l] = weight(further - 1.0);
            // A prime multiplied by the sign, on one axis.
            let step = |axis: usize| {
                let negative = self.signs[axis][l] >> 1;
                (PRIMES[axis] ^ negative).wrapping_sub(negative) & -i32::from(is_on[axis])
            };
            let there = i.wrapping_sub(step(0)) ^ j.wrapping_sub(step(1)) ^ k.wrapping_sub(step(2));
            numbers[0][l] = hash(seed, i ^ j ^ k) >> 2 & 63;
            numbers[1][l] = hash(seed, there) >> 2 & 63;
            for axis in 0..3 {
                let step = if is_on[axis] { self.signs[axis][l] as f32 } else { 0.0 };
                next[axis][l] = self.away[axis][l] + step;
            }
        }
        for (point, away) in [&self.away, &next].into_iter().enumerate() {
            let mut gradients = [[0.0; LANES]; 3];
            for l in 0..LANES {
                let [x, y, z, _] = SOLID_GRADIENTS[(numbers[point][l] & 63) as usize];
                (gradients[0][l], gradients[1][l], gradients[2][l]) = (x, y, z);
            }
            for l in 0..LANES {
                let along = |axis: usize| away[axis][l] * gradients[axis][l];
                value[l] += weights[point][l] * (along(0) + along(1) + along(2));
            }
        }
    }
}

/// One octave at rotated points: the lattice consists of two cubic ones.
fn solid_octave(seed: i32, points: &[Lanes; 3]) -> Lanes {
    let mut value = [0.0; LANES];
    let mut cubic = Cubic::new(points);
    cubic.add_to(&mut value, seed);
    cubic.move_to_second();
    cubic.add_to(&mut value, !seed);
    value.map(|value| value * 32.694_283)
}

#[cfg(test)]
mod tests {
    use fastnoise_lite::FractalType;

    use super::*;
    use crate::generate::hash;

    /// The noises are those of the crate that computes one point at a time.
    #[test]
    fn values_are_those_of_fastnoise_lite() {
        let mut state = 7;
        let mut random = |size: f32| {
            state = mix(state);
            ((state >> 40) as f32 / (1 << 24) as f32 - 0.5) * size
        };
        for (purpose, width, octaves, is_ridged) in
            [(2, 250.0, 4, false), (3, 270.0, 3, true), (6, 95.0, 1, false), (20, 30.0, 2, false)]
        {
            let mut one = hash::noise(5, purpose, width);
            let fractal = if is_ridged { FractalType::Ridged } else { FractalType::FBm };
            one.set_fractal_type(Some(fractal));
            one.set_fractal_octaves(Some(octaves as i32));
            let noise = Noise::new(5, purpose, width, octaves);
            let noise = if is_ridged { noise.ridged() } else { noise };
            for round in 0..4_000 {
                // Whole numbers lie on the lattice more often.
                let size = [2e6, 3_000.0, 60.0, 8.0][round % 4];
                let mut point = || {
                    [0; 3].map(|_| random(size)).map(|c| if round % 3 == 0 { c.round() } else { c })
                };
                let points: [[f32; 3]; LANES] = std::array::from_fn(|_| point());
                let [x, y, z] = lanes(&points);
                let (flat, solid) = (noise.flat(&[x, z]), noise.solid(&[x, y, z]));
                for (l, [x, y, z]) in points.into_iter().enumerate() {
                    assert_eq!(flat[l], one.get_noise_2d(x, z), "{x} {z}");
                    assert_eq!(solid[l], one.get_noise_3d(x, y, z), "{x} {y} {z}");
                }
            }
        }
    }
}
