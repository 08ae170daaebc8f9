//! Where a pool's bytes go when nobody draws: for what is measured of pools alone.

use drystone_pool::{Access, Backend, BackendError};

/// Takes everything and keeps nothing.
pub(super) struct Nowhere;

impl Backend for Nowhere {
    fn access(&self) -> Access {
        Access::Staged
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
