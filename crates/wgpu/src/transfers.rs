mod small_writes;

use std::iter::once;

use small_writes::SmallWrites;

use crate::{error::GpuError, gpu::Gpu};

/// Bytes that a copy within one buffer moves at a time. wgpu requires two different buffers, so it
/// goes through a third.
const DETOUR_BYTES: u64 = 1 << 20;

/// Writes to buffers and copies between them, carried out in the order of the calls.
///
/// wgpu carries out its own writes before the commands that are submitted after them, for any order
/// of the calls. So copies are gathered, and submitted before the next write that is one of wgpu's.
/// With [`WriteMode::Gathered`], small writes to buffers with [`wgpu::BufferUsages::STORAGE`]
/// are gathered too: 16 or more of them become one compute pass among the copies, where the device has
/// compute shaders. Without a large write in between, everything is submitted with the frame.
#[derive(Debug, Default)]
pub struct Transfers {
    encoder: Option<wgpu::CommandEncoder>,
    detour: Option<wgpu::Buffer>,
    small: SmallWrites,
    mode: WriteMode,
}

/// Time at which small writes are carried out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteMode {
    /// Each by itself, when it is made. Its own call returns its errors.
    #[default]
    Single,
    /// Together, before the next draw, in one copy and one compute pass if there are 16 or more. A later
    /// call returns their errors, also that of a lost device.
    ///
    /// wgpu separates writes to one buffer by barriers, which makes hundreds of changed meshes a frame
    /// slow on GPUs.
    Gathered,
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

impl Transfers {
    /// Creates transfers without any.
    pub fn new(mode: WriteMode) -> Self {
        Self { mode, ..Self::default() }
    }

    /// Sets when small writes are carried out from now on.
    pub const fn set_mode(&mut self, mode: WriteMode) {
        self.mode = mode;
    }

    /// Writes bytes to a buffer.
    ///
    /// # Errors
    /// `Lost`; `OutOfMemory` without staging memory; `Refused` beyond the end of the buffer. The error
    /// can be that of an earlier write that was gathered.
    pub fn write(
        &mut self,
        gpu: &Gpu,
        buffer: &wgpu::Buffer,
        (what, offset_bytes): (&'static str, u64),
        bytes: &[u8],
    ) -> Result<(), GpuError> {
        if self.mode == WriteMode::Gathered
            && self.small.takes(gpu, buffer, offset_bytes, bytes.len())
        {
            if self.small.add(buffer, offset_bytes, bytes) {
                return Ok(());
            }
            self.encode_small(gpu)?;
            if self.small.add(buffer, offset_bytes, bytes) {
                return Ok(());
            }
        }
        self.flush(gpu)?;
        gpu.write(what, buffer, offset_bytes, once(bytes))
    }

    /// Copies bytes from one buffer to another.
    ///
    /// # Errors
    /// The error of an earlier write that was gathered.
    pub fn copy(
        &mut self,
        gpu: &Gpu,
        from: &wgpu::Buffer,
        to: &wgpu::Buffer,
        copy_bytes: CopyBytes,
    ) -> Result<(), GpuError> {
        let CopyBytes { from_bytes, to_bytes, size_bytes } = copy_bytes;
        self.encode_small(gpu)?;
        let encoder = self.encoder(gpu);
        encoder.copy_buffer_to_buffer(from, from_bytes, to, to_bytes, size_bytes);
        Ok(())
    }

    /// Copies bytes within one buffer, between ranges that do not overlap.
    ///
    /// # Errors
    /// The errors of [`Gpu::buffer`] when the intermediate buffer cannot be created, and the error of
    /// an earlier write that was gathered.
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
        self.encode_small(gpu)?;
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

    /// Submits everything gathered. Must be called before commands of the caller that read or write
    /// the buffers.
    ///
    /// # Errors
    /// The error of a write that was gathered; it was not carried out.
    pub fn flush(&mut self, gpu: &Gpu) -> Result<(), GpuError> {
        let (commands, result) = self.take(gpu);
        if let Some(commands) = commands {
            gpu.queue.submit([commands]);
        }
        result
    }

    /// Everything gathered, to be submitted before the frame's own commands and before the next call.
    /// Also returns the error of a write that was gathered and not carried out.
    pub fn take(&mut self, gpu: &Gpu) -> (Option<wgpu::CommandBuffer>, Result<(), GpuError>) {
        let result = self.encode_small(gpu);
        self.small.submitted();
        (self.encoder.take().map(wgpu::CommandEncoder::finish), result)
    }

    /// Carries the small writes out after the gathered commands: as a compute pass that is encoded
    /// now, or as writes of wgpu.
    fn encode_small(&mut self, gpu: &Gpu) -> Result<(), GpuError> {
        if self.small.is_empty() {
            return Ok(());
        }
        if self.small.are_many() {
            let new = || gpu.device.create_command_encoder(&Default::default());
            let encoder = self.encoder.get_or_insert_with(new);
            if self.small.encode(gpu, encoder).is_ok() {
                return Ok(());
            }
        }
        if let Some(encoder) = self.encoder.take() {
            gpu.queue.submit([encoder.finish()]);
            self.small.submitted();
        }
        self.small.write_each(gpu)
    }

    fn encoder(&mut self, gpu: &Gpu) -> &mut wgpu::CommandEncoder {
        let new = || gpu.device.create_command_encoder(&Default::default());
        self.encoder.get_or_insert_with(new)
    }
}
