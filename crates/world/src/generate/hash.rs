//! Chance that depends on nothing but a seed and a place.

/// Mixes 64 bits so that each depends on all (the finaliser of SplitMix64).
pub(super) fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

/// Throws of dice for one place: the same place and seed give the same throws.
pub(super) struct Dice(u64);

impl Dice {
    /// Dice for the place (x, z); `purpose` keeps different uses of one place apart.
    pub(super) fn at(seed: u64, purpose: u64, x: i32, z: i32) -> Self {
        let place = u64::from(x as u32) << 32 | u64::from(z as u32);
        Self(mix(mix(seed ^ purpose << 48) ^ place))
    }

    /// From 0 up to, not including, `n`, which must not be 0.
    pub(super) fn below(&mut self, n: u32) -> i32 {
        self.0 = mix(self.0);
        // The high half times n, and of that the whole part: even to within n / 2³².
        (((self.0 >> 32) * u64::from(n)) >> 32) as i32
    }

    /// From 0 up to, not including, 1.
    pub(super) fn unit(&mut self) -> f32 {
        self.0 = mix(self.0);
        (self.0 >> 40) as f32 / (1_u64 << 24) as f32
    }
}
