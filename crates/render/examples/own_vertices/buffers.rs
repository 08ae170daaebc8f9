//! The pool's backend: all functions that `drystone-pool` needs of a graphics API.

use std::collections::BTreeMap;

use drystone_pool::{Access, Backend, BackendError};

use super::engine::Engine;

/// The pool's buffers on a wgpu device.
pub(crate) struct Buffers {
    device: wgpu::Device,
    queue: wgpu::Queue,
    /// Vertex buffers, by the pool's buffer number.
    elements: BTreeMap<u32, wgpu::Buffer>,
    /// The table of per-draw data, which all buffers share.
    table: Option<wgpu::Buffer>,
    /// Size of one mesh's per-draw data, in bytes.
    slot_bytes: u64,
}

impl Buffers {
    /// Creates a backend without buffers.
    pub(crate) fn new(engine: &Engine, slot_bytes: usize) -> Self {
        // Both are handles: a clone refers to the same device and the same queue.
        let (device, queue) = (engine.device.clone(), engine.queue.clone());
        let slot_bytes = slot_bytes as u64;
        Self { device, queue, elements: BTreeMap::new(), table: None, slot_bytes }
    }

    /// The vertex buffer with this number.
    pub(crate) fn elements(&self, buffer: u32) -> Option<&wgpu::Buffer> {
        self.elements.get(&buffer)
    }

    /// The table of per-draw data; `None` before the first mesh.
    pub(crate) const fn table(&self) -> Option<&wgpu::Buffer> {
        self.table.as_ref()
    }

    /// Creates a vertex buffer. The pool reports out of memory to the caller of `insert`.
    fn make(&self, label: &str, size_bytes: u64) -> Result<wgpu::Buffer, BackendError> {
        use wgpu::BufferUsages as Usage;
        let out_of_memory = BackendError::OutOfMemory { requested_bytes: size_bytes };
        if size_bytes > self.device.limits().max_buffer_size {
            return Err(out_of_memory);
        }
        let scope = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size: size_bytes,
            usage: Usage::VERTEX | Usage::COPY_DST | Usage::COPY_SRC,
            mapped_at_creation: false,
        });
        match pollster::block_on(scope.pop()) {
            Some(_) => Err(out_of_memory),
            None => Ok(buffer),
        }
    }

    /// Submits a copy at once, so that later writes come after it: writes are executed when the
    /// next work is submitted, before that work. An engine with many moves would gather the copies.
    fn copy(&self, from: (&wgpu::Buffer, u64), to: (&wgpu::Buffer, u64), size_bytes: u64) {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(from.0, from.1, to.0, to.1, size_bytes);
        self.queue.submit([encoder.finish()]);
    }
}

impl Backend for Buffers {
    /// `write_buffer` is a staged write: it takes effect in queue order. So the pool can write a
    /// range again as soon as it is freed, and fences protect buffers alone. Writes to permanently
    /// mapped memory would be `Direct`, and the pool would hold freed ranges back.
    fn access(&self) -> Access {
        Access::Staged
    }

    fn create_buffer(&mut self, buffer: u32, size_bytes: u64) -> Result<(), BackendError> {
        let made = self.make("elements", size_bytes)?;
        self.elements.insert(buffer, made);
        Ok(())
    }

    fn destroy_buffer(&mut self, buffer: u32) {
        self.elements.remove(&buffer);
    }

    fn write_elements(
        &mut self,
        buffer: u32,
        offset_bytes: u64,
        bytes: &[u8],
    ) -> Result<(), BackendError> {
        let elements = self.elements.get(&buffer).ok_or(BackendError::Lost)?;
        self.queue.write_buffer(elements, offset_bytes, bytes);
        Ok(())
    }

    fn copy_elements(
        &mut self,
        from: (u32, u64),
        to: (u32, u64),
        size_bytes: u64,
    ) -> Result<(), BackendError> {
        let source = self.elements.get(&from.0).ok_or(BackendError::Lost)?;
        let target = self.elements.get(&to.0).ok_or(BackendError::Lost)?;
        if from.0 != to.0 {
            self.copy((source, from.1), (target, to.1), size_bytes);
            return Ok(());
        }
        // WebGPU cannot copy within a buffer: the copy goes through another one.
        let between = self.make("between", size_bytes)?;
        self.copy((source, from.1), (&between, 0), size_bytes);
        self.copy((&between, 0), (target, to.1), size_bytes);
        Ok(())
    }

    fn resize_draw_data(&mut self, slots: u32) -> Result<(), BackendError> {
        // Frames in flight keep the old table alive; the pool writes the whole new one.
        self.table = Some(self.make("per-draw data", u64::from(slots) * self.slot_bytes)?);
        Ok(())
    }

    fn write_draw_data(&mut self, slot: u32, bytes: &[u8]) {
        if let Some(table) = &self.table {
            self.queue.write_buffer(table, u64::from(slot) * self.slot_bytes, bytes);
        }
    }
}
