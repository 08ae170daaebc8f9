use drystone_pool::{Access, Backend, BackendError};

use crate::{
    error::GpuError,
    gpu::Gpu,
    transfers::{CopyBytes, Transfers},
};

/// Buffers of a pool's elements by number, without a table of per-draw data: the backend of a pool
/// of indices.
#[derive(Debug)]
pub(crate) struct ElementBuffers {
    pub(crate) gpu: Gpu,
    what: &'static str,
    usage: wgpu::BufferUsages,
    all: Vec<Option<wgpu::Buffer>>,
    pub(crate) transfers: Transfers,
    /// The device's last error.
    pub(crate) failure: Option<GpuError>,
}

impl ElementBuffers {
    pub(crate) fn new(gpu: &Gpu, what: &'static str, usage: wgpu::BufferUsages) -> Self {
        let usage = usage | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
        let (gpu, transfers) = (gpu.clone(), Transfers::default());
        Self { gpu, what, usage, all: Vec::new(), transfers, failure: None }
    }

    /// The buffer with this number.
    pub(crate) fn get(&self, buffer: u32) -> Result<&wgpu::Buffer, GpuError> {
        let found = self.all.get(buffer as usize).and_then(Option::as_ref);
        found.ok_or(GpuError::NoSuchBuffer { buffer })
    }

    /// Submits the writes and copies gathered so far.
    ///
    /// # Errors
    /// The error of a write that was not carried out.
    pub(crate) fn flush(&mut self) -> Result<(), GpuError> {
        let flushed = self.transfers.flush(&self.gpu);
        if let Err(error) = &flushed {
            self.failure = Some(error.clone());
        }
        flushed
    }

    /// Stores an error. Returns it as an error for the pool.
    pub(crate) fn refuse(&mut self, error: GpuError, requested_bytes: u64) -> BackendError {
        let refused = error.for_pool(requested_bytes);
        self.failure = Some(error);
        refused
    }

    fn encode_copy(
        &mut self,
        from: (u32, u64),
        to: (u32, u64),
        size_bytes: u64,
    ) -> Result<(), GpuError> {
        let [source, target] = [from.0, to.0].map(|buffer| self.get(buffer).cloned());
        let (source, target) = (source?, target?);
        let copy_bytes = CopyBytes { from_bytes: from.1, to_bytes: to.1, size_bytes };
        if from.0 == to.0 {
            return self.transfers.copy_within(&self.gpu, &source, copy_bytes);
        }
        self.transfers.copy(&self.gpu, &source, &target, copy_bytes)
    }
}

impl Backend for ElementBuffers {
    /// Queue writes are staged: they take effect in queue order.
    fn access(&self) -> Access {
        Access::Staged
    }

    fn create_buffer(&mut self, buffer: u32, size_bytes: u64) -> Result<(), BackendError> {
        let created = self.gpu.buffer(self.what, size_bytes, self.usage);
        let created = created.map_err(|error| self.refuse(error, size_bytes))?;
        let at = buffer as usize;
        if self.all.len() <= at {
            self.all.resize_with(at + 1, || None);
        }
        self.all[at] = Some(created);
        Ok(())
    }

    fn destroy_buffer(&mut self, buffer: u32) {
        if let Some(slot) = self.all.get_mut(buffer as usize) {
            *slot = None;
        }
    }

    fn write_elements(
        &mut self,
        buffer: u32,
        offset_bytes: u64,
        bytes: &[u8],
    ) -> Result<(), BackendError> {
        let found = self.get(buffer).cloned();
        let place = (self.what, offset_bytes);
        let written = found.and_then(|it| self.transfers.write(&self.gpu, &it, place, bytes));
        written.map_err(|error| self.refuse(error, bytes.len() as u64))
    }

    fn copy_elements(
        &mut self,
        from: (u32, u64),
        to: (u32, u64),
        size_bytes: u64,
    ) -> Result<(), BackendError> {
        let copied = self.encode_copy(from, to, size_bytes);
        copied.map_err(|error| self.refuse(error, size_bytes))
    }

    fn resize_draw_data(&mut self, _slots: u32) -> Result<(), BackendError> {
        Ok(())
    }

    fn write_draw_data(&mut self, _slot: u32, _bytes: &[u8]) {}
}
