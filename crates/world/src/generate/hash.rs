//! Random numbers and noise that depend only on a seed and a position.

use fastnoise_lite::{FastNoiseLite, NoiseType};

/// Mixes 64 bits so that each depends on all (the finalizer of SplitMix64).
pub(crate) fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

/// Random numbers for one position. The same position and seed give the same numbers.
pub(super) struct Dice(u64);

impl Dice {
    /// Creates the random numbers for (x, z). `purpose` separates different uses of one position.
    pub(super) fn at(seed: u64, purpose: u64, x: i32, z: i32) -> Self {
        let position = u64::from(x as u32) << 32 | u64::from(z as u32);
        Self(mix(mix(seed ^ purpose << 48) ^ position))
    }

    /// Returns a number from 0 to `n` (exclusive). `n` must not be 0.
    pub(super) fn below(&mut self, n: u32) -> i32 {
        self.0 = mix(self.0);
        // Scales the upper half to `n`. The distribution is even to within n / 2³².
        (((self.0 >> 32) * u64::from(n)) >> 32) as i32
    }

    /// Returns a number from 0 to 1 (exclusive).
    pub(super) fn unit(&mut self) -> f32 {
        self.0 = mix(self.0);
        (self.0 >> 40) as f32 / (1_u64 << 24) as f32
    }
}

/// Creates a plain noise with waves of `width` voxels.
pub(crate) fn noise(seed: u64, purpose: u64, width: f32) -> FastNoiseLite {
    let mut noise = FastNoiseLite::with_seed(mix(seed ^ purpose << 32) as i32);
    noise.set_noise_type(Some(NoiseType::OpenSimplex2));
    noise.set_frequency(Some(1.0 / width));
    noise
}
