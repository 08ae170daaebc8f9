//! Writes that the GPU executes as copies, in order with all its commands.

use std::rc::Rc;

use super::{
    bindings::Gl,
    buffer::Buffer,
    context::Context,
    upload::{FIRST_RING_BYTES, Upload, UploadRange},
};
use crate::error::RenderError;

/// Bytes that can wait outside the ring before they are copied without a frame.
const SPILLED_BYTES: u64 = 8 * FIRST_RING_BYTES;

/// Alignment of ranges, so that consecutive slots are merged into one copy.
const ALIGNMENT: u64 = 8;

/// Bytes that were written and are not copied yet.
pub(super) struct Staging {
    upload: Upload,
    copies: Vec<Copy>,
}

struct Copy {
    from: UploadRange,
    to: Rc<Buffer>,
    to_bytes: u64,
    size_bytes: u64,
}

impl Staging {
    pub(super) fn new(context: &Rc<Context>, is_persistent: bool) -> Result<Self, RenderError> {
        Ok(Self { upload: Upload::new(context, is_persistent)?, copies: Vec::new() })
    }

    /// Records a copy of `bytes` to `to`, for the next [`flush`](Self::flush). They must be within
    /// the buffer.
    ///
    /// # Errors
    /// `Device` when there is no memory.
    pub(super) fn write(
        &mut self,
        gl: &Gl,
        (to, to_bytes): (&Rc<Buffer>, u64),
        bytes: &[u8],
    ) -> Result<(), RenderError> {
        if self.upload.spilled_bytes() > SPILLED_BYTES {
            self.flush(gl)?;
            self.upload.drop_spilled();
        }
        let size_bytes = bytes.len() as u64;
        let from = self.upload.allocate(size_bytes, ALIGNMENT)?;
        from.write(0, bytes);
        match self.copies.last_mut() {
            Some(last) if last.goes_on_with(&from, to, to_bytes) => last.size_bytes += size_bytes,
            _ => self.copies.push(Copy { from, to: Rc::clone(to), to_bytes, size_bytes }),
        }
        Ok(())
    }

    /// Executes the recorded copies. Must be called before anything that reads or overwrites their
    /// targets.
    ///
    /// # Errors
    /// `Device` when the driver lost the written bytes.
    pub(super) fn flush(&mut self, gl: &Gl) -> Result<(), RenderError> {
        self.upload.flush()?;
        for copy in self.copies.drain(..) {
            let from = (&*copy.from.buffer, copy.from.offset_bytes);
            copy.to.copy_from(gl, copy.to_bytes, from, copy.size_bytes);
        }
        Ok(())
    }

    /// Allocates a range for bytes that the GPU reads directly, in this frame.
    ///
    /// # Errors
    /// `Device` when there is no memory.
    pub(super) fn allocate(
        &mut self,
        size_bytes: u64,
        alignment: u64,
    ) -> Result<UploadRange, RenderError> {
        self.upload.allocate(size_bytes, alignment)
    }

    /// Assigns all bytes written so far to `frame`; frame `completed` is complete.
    pub(super) fn end_frame(&mut self, frame: u64, completed: u64) {
        self.upload.end_frame(frame, completed);
    }
}

impl Copy {
    /// Whether the bytes from `from` to `to` directly follow this copy's on both sides.
    fn goes_on_with(&self, from: &UploadRange, to: &Rc<Buffer>, to_bytes: u64) -> bool {
        Rc::ptr_eq(&self.from.buffer, &from.buffer)
            && Rc::ptr_eq(&self.to, to)
            && self.from.offset_bytes + self.size_bytes == from.offset_bytes
            && self.to_bytes + self.size_bytes == to_bytes
    }
}
