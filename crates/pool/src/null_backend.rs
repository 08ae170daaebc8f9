use crate::{Access, Backend, BackendError};

/// Backend that discards all data. Use it to plan, measure or test allocations without a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NullBackend(pub Access);

impl Backend for NullBackend {
    #[inline]
    fn access(&self) -> Access {
        self.0
    }

    fn create_buffer(&mut self, _buffer: u32, _size_bytes: u64) -> Result<(), BackendError> {
        Ok(())
    }

    fn destroy_buffer(&mut self, _buffer: u32) {}

    #[inline]
    fn write_elements(
        &mut self,
        _buffer: u32,
        _offset_bytes: u64,
        _bytes: &[u8],
    ) -> Result<(), BackendError> {
        Ok(())
    }

    fn copy_elements(
        &mut self,
        _from: (u32, u64),
        _to: (u32, u64),
        _size_bytes: u64,
    ) -> Result<(), BackendError> {
        Ok(())
    }

    fn resize_draw_data(&mut self, _slots: u32) -> Result<(), BackendError> {
        Ok(())
    }

    #[inline]
    fn write_draw_data(&mut self, _slot: u32, _bytes: &[u8]) {}
}
