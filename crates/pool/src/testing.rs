//! What the tests of several modules share.

use crate::{Access, Backend, BackendError};

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

/// A backend that forgets all it is told.
pub(crate) struct Nowhere(pub(crate) Access);

impl Backend for Nowhere {
    fn access(&self) -> Access {
        self.0
    }

    fn create_buffer(&mut self, _buffer: u32, _size_bytes: u64) -> Result<(), BackendError> {
        Ok(())
    }

    fn destroy_buffer(&mut self, _buffer: u32) {}

    fn write_elements(&mut self, _buffer: u32, _offset_bytes: u64, _bytes: &[u8]) {}

    fn copy_elements(&mut self, _from: (u32, u64), _to: (u32, u64), _size_bytes: u64) {}

    fn resize_draw_data(&mut self, _slots: u32) -> Result<(), BackendError> {
        Ok(())
    }

    fn write_draw_data(&mut self, _slot: u32, _bytes: &[u8]) {}
}
