use drystone_pool::DrawCommand;

use crate::{error::GpuError, gpu::Gpu};

const COMMANDS: &str = "the draw commands";
/// Number of draw commands that fit a new buffer.
const MIN_COMMANDS: u64 = 1024;

/// Source of the commands of a draw's calls.
#[derive(Clone, Copy, Debug)]
pub enum CallSource<'a> {
    /// One call reads all commands from a buffer, at an offset in bytes.
    Indirect(&'a wgpu::Buffer, u64),
    /// One call reads the commands and their number from buffers, each at an offset in bytes.
    Counted {
        /// The commands.
        commands: (&'a wgpu::Buffer, u64),
        /// Their number, 4 bytes.
        count: (&'a wgpu::Buffer, u64),
    },
    /// One call for each command, for devices without indirect calls.
    Single,
}

impl CallSource<'_> {
    /// Encodes the calls that draw `commands` with the state of the pass. Returns their number.
    pub fn draw(self, pass: &mut wgpu::RenderPass<'_>, commands: &[DrawCommand]) -> usize {
        let number = commands.len() as u32;
        match self {
            _ if commands.is_empty() => return 0,
            Self::Indirect(buffer, offset_bytes) => {
                pass.multi_draw_indexed_indirect(buffer, offset_bytes, number);
            }
            Self::Counted { commands: (buffer, at), count } => {
                pass.multi_draw_indexed_indirect_count(buffer, at, count.0, count.1, number);
            }
            Self::Single => {
                for command in commands {
                    let end = command.first_index.saturating_add(command.index_count);
                    let slot = command.first_instance;
                    let instances = slot..slot.saturating_add(command.instance_count);
                    pass.draw_indexed(command.first_index..end, command.base_vertex, instances);
                }
                return commands.len();
            }
        }
        1
    }
}

/// Draw commands of one frame on the device, in a buffer that grows.
///
/// A buffer that is too small is replaced for the following draws. Passes that read the old one keep
/// it alive.
#[derive(Debug, Default)]
pub struct CommandUpload {
    buffer: Option<wgpu::Buffer>,
    used_bytes: u64,
}

impl CommandUpload {
    /// Uploads the bytes of commands, and what else their calls read, in queue order before the next
    /// submission. Returns their buffer and their offset in bytes.
    ///
    /// # Errors
    /// The errors of [`Gpu::buffer`] and [`Gpu::write`].
    pub fn push<'a>(
        &mut self,
        gpu: &Gpu,
        parts: impl Iterator<Item = &'a [u8]> + Clone,
    ) -> Result<(&wgpu::Buffer, u64), GpuError> {
        let size_bytes: u64 = parts.clone().map(|part| part.len() as u64).sum();
        let held_bytes = self.buffer.as_ref().map_or(0, wgpu::Buffer::size);
        let buffer = match self.buffer.take() {
            Some(buffer) if self.used_bytes + size_bytes <= held_bytes => buffer,
            _ => {
                let min_bytes = MIN_COMMANDS * size_of::<DrawCommand>() as u64;
                let max_bytes = gpu.device.limits().max_buffer_size;
                let new_bytes = (held_bytes * 2).max(min_bytes).min(max_bytes).max(size_bytes);
                let usage = wgpu::BufferUsages::INDIRECT | wgpu::BufferUsages::COPY_DST;
                self.used_bytes = 0;
                gpu.buffer(COMMANDS, new_bytes, usage)?
            }
        };
        let buffer = self.buffer.insert(buffer);
        let offset_bytes = self.used_bytes;
        gpu.write(COMMANDS, buffer, offset_bytes, parts)?;
        self.used_bytes += size_bytes;
        Ok((buffer, offset_bytes))
    }

    /// Begins the next frame: its commands overwrite those of the submitted frames, in queue order.
    pub fn restart(&mut self) {
        self.used_bytes = 0;
    }
}
