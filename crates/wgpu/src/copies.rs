use crate::{error::GpuError, gpu::Gpu};

/// Bytes that a copy within one buffer moves at a time. wgpu requires two different buffers, so it
/// goes through a third.
const DETOUR_BYTES: u64 = 1 << 20;

/// Copies between buffers that are not submitted yet, in order with the writes around them.
///
/// wgpu executes writes before the commands that are submitted after them, for any order of the
/// calls. So copies are gathered and submitted before the next write. Without a write in between
/// they are submitted with the frame.
#[derive(Debug, Default)]
pub struct Copies {
    encoder: Option<wgpu::CommandEncoder>,
    detour: Option<wgpu::Buffer>,
}

/// A range of bytes to be copied. All values are multiples of 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyBytes {
    /// First byte to be copied.
    pub from_bytes: u64,
    /// First byte to be overwritten.
    pub to_bytes: u64,
    /// Number of bytes.
    pub size_bytes: u64,
}

impl Copies {
    /// Copies bytes from one buffer to another.
    pub fn copy(
        &mut self,
        gpu: &Gpu,
        from: &wgpu::Buffer,
        to: &wgpu::Buffer,
        copy_bytes: CopyBytes,
    ) {
        let CopyBytes { from_bytes, to_bytes, size_bytes } = copy_bytes;
        let encoder = self.encoder(gpu);
        encoder.copy_buffer_to_buffer(from, from_bytes, to, to_bytes, size_bytes);
    }

    /// Copies bytes within one buffer, between ranges that do not overlap.
    ///
    /// # Errors
    /// The errors of [`Gpu::buffer`] when the intermediate buffer cannot be created.
    pub fn copy_within(
        &mut self,
        gpu: &Gpu,
        buffer: &wgpu::Buffer,
        copy_bytes: CopyBytes,
    ) -> Result<(), GpuError> {
        let detour = match &self.detour {
            Some(detour) => detour.clone(),
            None => {
                let usage = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
                gpu.buffer("copies within a buffer", DETOUR_BYTES, usage)?
            }
        };
        self.detour = Some(detour.clone());
        let encoder = self.encoder(gpu);
        let mut done_bytes = 0;
        while done_bytes < copy_bytes.size_bytes {
            let size_bytes = (copy_bytes.size_bytes - done_bytes).min(DETOUR_BYTES);
            let from_bytes = copy_bytes.from_bytes + done_bytes;
            let to_bytes = copy_bytes.to_bytes + done_bytes;
            encoder.copy_buffer_to_buffer(buffer, from_bytes, &detour, 0, size_bytes);
            encoder.copy_buffer_to_buffer(&detour, 0, buffer, to_bytes, size_bytes);
            done_bytes += size_bytes;
        }
        Ok(())
    }

    /// Submits the gathered copies. Must be called before a write that must come after them.
    pub fn flush(&mut self, queue: &wgpu::Queue) {
        if let Some(commands) = self.take() {
            queue.submit([commands]);
        }
    }

    /// The gathered copies, to be submitted before the frame's own commands.
    pub fn take(&mut self) -> Option<wgpu::CommandBuffer> {
        self.encoder.take().map(wgpu::CommandEncoder::finish)
    }

    fn encoder(&mut self, gpu: &Gpu) -> &mut wgpu::CommandEncoder {
        let new = || gpu.device.create_command_encoder(&Default::default());
        self.encoder.get_or_insert_with(new)
    }
}
