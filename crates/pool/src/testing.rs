//! What the tests of several modules share.

/// A small generator (xorshift64*), so that the crate needs no dependency for it.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        ((self.bits() >> 33) % u64::from(bound)) as u32
    }
}
