//! Upload memory: ranges to write that no unfinished frame reads.
//!
//! ```text
//! allocate ──► ring, fenced by frames ──full──► buffers for this frame alone
//! mapped permanently, or while it is written
//! ```

use std::rc::Rc;

use super::{
    buffer::{Buffer, Kind},
    context::Context,
    ring::Ring,
};
use crate::error::RenderError;

/// Size of a new ring in bytes: several frames' commands and some hundred meshes.
pub(super) const FIRST_RING_BYTES: u64 = 1 << 22;
/// Maximum size of a ring in bytes. Larger uploads get their own buffers.
const MAX_RING_BYTES: u64 = 1 << 26;

/// Allocates ranges to write, for one frame each. When its ring is full, it creates a buffer
/// instead of waiting for the GPU, and continues with a larger ring.
pub(super) struct Upload {
    context: Rc<Context>,
    is_persistent: bool,
    ring: Ring,
    buffer: Rc<Buffer>,
    /// Buffers created for this frame because the ring was full. The last one can have free space.
    spilled: Vec<Spill>,
    /// Bytes requested since the end of the last frame.
    frame_bytes: u64,
}

struct Spill {
    buffer: Rc<Buffer>,
    used_bytes: u64,
}

/// A range that can be written, and that the GPU can read.
#[derive(Clone)]
pub(super) struct UploadRange {
    pub(super) buffer: Rc<Buffer>,
    pub(super) offset_bytes: u64,
}

impl UploadRange {
    /// Stores bytes at offset `at` of the range. They must be within its size.
    #[inline]
    pub(super) fn write(&self, at: u64, bytes: &[u8]) {
        self.buffer.write(self.offset_bytes + at, bytes);
    }
}

impl Upload {
    /// Creates an allocator. Its buffers stay mapped, or are mapped while they are written.
    pub(super) fn new(context: &Rc<Context>, is_persistent: bool) -> Result<Self, RenderError> {
        let context = Rc::clone(context);
        let buffer = Rc::new(ring_buffer(&context, FIRST_RING_BYTES, is_persistent)?);
        let ring = Ring::new(FIRST_RING_BYTES);
        Ok(Self { context, is_persistent, ring, buffer, spilled: Vec::new(), frame_bytes: 0 })
    }

    /// Allocates a range of `size_bytes`. It must be written before the next allocation and before
    /// [`flush`](Self::flush).
    ///
    /// # Errors
    /// `Device` when there is no memory, or the driver cannot map it.
    pub(super) fn allocate(
        &mut self,
        size_bytes: u64,
        alignment: u64,
    ) -> Result<UploadRange, RenderError> {
        self.frame_bytes = self.frame_bytes.saturating_add(size_bytes);
        let Some(offset_bytes) = self.ring.allocate(size_bytes, alignment) else {
            return self.spill(size_bytes, alignment);
        };
        let end = offset_bytes + size_bytes;
        let free = self.ring.free_range();
        let mapped_end = if free.start == end { free.end } else { end };
        self.buffer.map_over(offset_bytes..end, mapped_end)?;
        Ok(UploadRange { buffer: Rc::clone(&self.buffer), offset_bytes })
    }

    fn spill(&mut self, size_bytes: u64, alignment: u64) -> Result<UploadRange, RenderError> {
        let fits = |spill: &&mut Spill| {
            let start = spill.used_bytes.next_multiple_of(alignment);
            start + size_bytes <= spill.buffer.size_bytes()
        };
        if self.spilled.last_mut().filter(fits).is_none() {
            let room_bytes = size_bytes.max(FIRST_RING_BYTES);
            let buffer = Rc::new(ring_buffer(&self.context, room_bytes, self.is_persistent)?);
            self.spilled.push(Spill { buffer, used_bytes: 0 });
        }
        let Some(spill) = self.spilled.last_mut() else { unreachable!("one was just pushed") };
        let offset_bytes = spill.used_bytes.next_multiple_of(alignment);
        let end = offset_bytes + size_bytes;
        spill.used_bytes = end;
        spill.buffer.map_over(offset_bytes..end, spill.buffer.size_bytes())?;
        Ok(UploadRange { buffer: Rc::clone(&spill.buffer), offset_bytes })
    }

    /// Makes written bytes visible to the GPU. Must be called before commands that read them.
    pub(super) fn flush(&mut self) -> Result<(), RenderError> {
        if self.is_persistent {
            return Ok(());
        }
        self.spilled.iter().try_for_each(|spill| spill.buffer.unmap())?;
        self.buffer.unmap()
    }

    /// Bytes of the buffers created because the ring was full.
    pub(super) fn spilled_bytes(&self) -> u64 {
        self.spilled.iter().map(|spill| spill.buffer.size_bytes()).sum()
    }

    /// Deletes the buffers created because the ring was full. OpenGL keeps them for submitted
    /// commands that read them.
    pub(super) fn drop_spilled(&mut self) {
        self.spilled.clear();
    }

    /// Assigns all ranges so far to `frame`, which was just submitted; frame `completed` is
    /// complete.
    pub(super) fn end_frame(&mut self, frame: u64, completed: u64) {
        self.ring.end_frame(frame);
        self.ring.complete(completed);
        let capacity = self.frame_bytes.saturating_mul(4).min(MAX_RING_BYTES).next_power_of_two();
        self.frame_bytes = 0;
        if self.spilled.is_empty() {
            return;
        }
        self.drop_spilled();
        if capacity > self.buffer.size_bytes() {
            // Without memory for a larger ring, continue with the old one.
            if let Ok(buffer) = ring_buffer(&self.context, capacity, self.is_persistent) {
                self.buffer = Rc::new(buffer);
                self.ring = Ring::new(capacity);
            }
        }
    }
}

fn ring_buffer(
    context: &Rc<Context>,
    size_bytes: u64,
    is_persistent: bool,
) -> Result<Buffer, RenderError> {
    let kind = if is_persistent { Kind::Persistent } else { Kind::OnDemand };
    Buffer::new(context, "upload ring", size_bytes, kind)
}
