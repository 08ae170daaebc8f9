//! Writes that the GPU carries out by copying, in order with all that it is told.

use std::rc::Rc;

use super::{
    bindings::Gl,
    buffer::Buffer,
    context::Context,
    upload::{FIRST_RING_BYTES, Place, Upload},
};
use crate::RenderError;

/// Bytes that may wait beside the ring before they are copied without a frame.
const SPILLED_BYTES: u64 = 8 * FIRST_RING_BYTES;

/// Places are multiples of this, so that slots written one after the other are one copy.
const ALIGNMENT: u64 = 8;

/// Bytes that were written and are not copied yet.
pub(super) struct Staging {
    upload: Upload,
    copies: Vec<Copy>,
}

struct Copy {
    from: Place,
    to: Rc<Buffer>,
    to_bytes: u64,
    size_bytes: u64,
}

impl Staging {
    pub(super) fn new(context: &Rc<Context>, is_persistent: bool) -> Result<Self, RenderError> {
        Ok(Self { upload: Upload::new(context, is_persistent)?, copies: Vec::new() })
    }

    /// Has `bytes` copied to `to`, at the next [`flush`](Self::flush). They must be within.
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
        let from = self.upload.place(size_bytes, ALIGNMENT)?;
        from.write(0, bytes);
        match self.copies.last_mut() {
            Some(last) if last.goes_on_with(&from, to, to_bytes) => last.size_bytes += size_bytes,
            _ => self.copies.push(Copy { from, to: Rc::clone(to), to_bytes, size_bytes }),
        }
        Ok(())
    }

    /// Has the GPU copy what was written: before anything that reads or overwrites it.
    ///
    /// # Errors
    /// `Device` when the driver lost what was written.
    pub(super) fn flush(&mut self, gl: &Gl) -> Result<(), RenderError> {
        self.upload.flush()?;
        for copy in self.copies.drain(..) {
            let from = (&*copy.from.buffer, copy.from.offset_bytes);
            copy.to.copy_from(gl, copy.to_bytes, from, copy.size_bytes);
        }
        Ok(())
    }

    /// A place for bytes that the GPU reads where they are, in this frame.
    ///
    /// # Errors
    /// `Device` when there is no memory.
    pub(super) fn place(&mut self, size_bytes: u64, alignment: u64) -> Result<Place, RenderError> {
        self.upload.place(size_bytes, alignment)
    }

    /// All that was written so far belongs to `frame`; `completed` is done.
    pub(super) fn end_frame(&mut self, frame: u64, completed: u64) {
        self.upload.end_frame(frame, completed);
    }
}

impl Copy {
    /// Whether bytes from `from` to `to` lie right behind this copy's on both sides.
    fn goes_on_with(&self, from: &Place, to: &Rc<Buffer>, to_bytes: u64) -> bool {
        Rc::ptr_eq(&self.from.buffer, &from.buffer)
            && Rc::ptr_eq(&self.to, to)
            && self.from.offset_bytes + self.size_bytes == from.offset_bytes
            && self.to_bytes + self.size_bytes == to_bytes
    }
}
