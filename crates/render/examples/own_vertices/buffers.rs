//! The glue: where the pool's bytes go. All that `drystone-pool` asks of a graphics API.

use std::collections::BTreeMap;

use drystone_pool::{Access, Backend, BackendError};

use super::engine::Engine;

/// The pool's buffers on a wgpu device.
pub(crate) struct Buffers {
    device: wgpu::Device,
    queue: wgpu::Queue,
    /// Vertex buffers, by the number that the pool gave them.
    elements: BTreeMap<u32, wgpu::Buffer>,
    /// The table of per-draw data, which all of them share.
    table: Option<wgpu::Buffer>,
    /// Bytes of one mesh's per-draw data.
    slot_bytes: u64,
}

impl Buffers {
    /// No buffer as yet.
    pub(crate) fn new(engine: &Engine, slot_bytes: usize) -> Self {
        // Both are handles: a clone is the same device and the same queue.
        let (device, queue) = (engine.device.clone(), engine.queue.clone());
        let slot_bytes = slot_bytes as u64;
        Self { device, queue, elements: BTreeMap::new(), table: None, slot_bytes }
    }

    /// The vertex buffer with that number.
    pub(crate) fn elements(&self, buffer: u32) -> Option<&wgpu::Buffer> {
        self.elements.get(&buffer)
    }

    /// The table of per-draw data, once there is a mesh.
    pub(crate) const fn table(&self) -> Option<&wgpu::Buffer> {
        self.table.as_ref()
    }

    /// A buffer that vertices can be read from. "No memory" is an answer that the pool passes
    /// on to whoever inserts.
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

    /// Copies at once, so that later writes come after it: those are made when the next work
    /// is submitted, before it. An engine that moves much would gather copies until then.
    fn copy(&self, from: (&wgpu::Buffer, u64), to: (&wgpu::Buffer, u64), size_bytes: u64) {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(from.0, from.1, to.0, to.1, size_bytes);
        self.queue.submit([encoder.finish()]);
    }
}

impl Backend for Buffers {
    /// `write_buffer` is a staged write: it takes effect in queue order. So the pool may write
    /// a place again as soon as it is freed, and fences protect buffers alone. Into memory that
    /// is mapped for good it would be `Direct`, and the pool would keep freed places back.
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
        // WebGPU does not copy within a buffer: it goes by way of another.
        let between = self.make("between", size_bytes)?;
        self.copy((source, from.1), (&between, 0), size_bytes);
        self.copy((&between, 0), (target, to.1), size_bytes);
        Ok(())
    }

    fn resize_draw_data(&mut self, slots: u32) -> Result<(), BackendError> {
        // Frames in flight keep the old table alive; the pool writes the new one itself.
        self.table = Some(self.make("per-draw data", u64::from(slots) * self.slot_bytes)?);
        Ok(())
    }

    fn write_draw_data(&mut self, slot: u32, bytes: &[u8]) {
        if let Some(table) = &self.table {
            self.queue.write_buffer(table, u64::from(slot) * self.slot_bytes, bytes);
        }
    }
}
