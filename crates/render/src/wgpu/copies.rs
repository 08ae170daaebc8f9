//! Copies of quads on the GPU, in the same order as the writes around them.
//!
//! wgpu executes writes before the commands that are submitted after them, for any order of the
//! calls. So copies are gathered and submitted before the next write. Without a write in between
//! they are submitted with the frame.

use super::adapter::Opened;
use crate::error::RenderError;

/// Bytes that a copy within one buffer moves at a time. wgpu requires two different buffers, so it
/// goes through a third.
const DETOUR_BYTES: u64 = 1 << 20;

/// Copies that are not submitted yet.
#[derive(Default)]
pub(super) struct Copies {
    encoder: Option<wgpu::CommandEncoder>,
    detour: Option<wgpu::Buffer>,
}

/// A range of bytes to be copied.
#[derive(Clone, Copy)]
pub(super) struct CopyBytes {
    pub(super) from_bytes: u64,
    pub(super) to_bytes: u64,
    pub(super) size_bytes: u64,
}

impl Copies {
    /// Copies bytes from one buffer to another.
    pub(super) fn copy(
        &mut self,
        opened: &Opened,
        from: &wgpu::Buffer,
        to: &wgpu::Buffer,
        copy_bytes: CopyBytes,
    ) {
        let CopyBytes { from_bytes, to_bytes, size_bytes } = copy_bytes;
        let encoder = self.encoder(opened);
        encoder.copy_buffer_to_buffer(from, from_bytes, to, to_bytes, size_bytes);
    }

    /// Copies bytes within one buffer, between ranges that do not overlap.
    ///
    /// # Errors
    /// `Device` when there is no memory for the intermediate buffer.
    pub(super) fn copy_within(
        &mut self,
        opened: &Opened,
        buffer: &wgpu::Buffer,
        copy_bytes: CopyBytes,
    ) -> Result<(), RenderError> {
        let detour = match &self.detour {
            Some(detour) => detour.clone(),
            None => {
                let usage = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
                opened.buffer("copies within a buffer", DETOUR_BYTES, usage)?
            }
        };
        self.detour = Some(detour.clone());
        let encoder = self.encoder(opened);
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
    pub(super) fn flush(&mut self, queue: &wgpu::Queue) {
        if let Some(commands) = self.take() {
            queue.submit([commands]);
        }
    }

    /// The gathered copies, to be submitted before the frame's own commands.
    pub(super) fn take(&mut self) -> Option<wgpu::CommandBuffer> {
        self.encoder.take().map(wgpu::CommandEncoder::finish)
    }

    fn encoder(&mut self, opened: &Opened) -> &mut wgpu::CommandEncoder {
        let new = || opened.device.create_command_encoder(&Default::default());
        self.encoder.get_or_insert_with(new)
    }
}
