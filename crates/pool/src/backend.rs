use core::fmt;

use crate::Access;

/// Why a backend could not do what it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackendError {
    /// The device has no memory left for it.
    OutOfMemory {
        /// Bytes asked for.
        requested_bytes: u64,
    },
    /// The device is gone, and what it held with it.
    Lost,
}

impl fmt::Display for BackendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfMemory { requested_bytes } => write!(
                f,
                "the device has no memory for {requested_bytes} bytes; remove meshes or close \
                 what else uses it"
            ),
            Self::Lost => f.write_str("the device is lost; open it again and insert anew"),
        }
    }
}

impl core::error::Error for BackendError {}

/// What every offset and size that a [`Backend`] gets is a multiple of, in bytes: what WebGPU
/// requires of writes and copies. The sizes of a pool's elements and per-draw data must be
/// such multiples too.
pub const ALIGNMENT_BYTES: usize = 4;

/// Where a pool's bytes go: the GPU, or memory that stands in for it.
///
/// The pool calls these in the order in which they must take effect, between frames, and
/// relies on this: copies, draw data and staged writes take effect in queue order, after
/// all frames submitted before and before the next. Only direct writes take effect at
/// once; the pool makes them where no frame in flight reads.
///
/// All offsets and sizes in bytes are multiples of [`ALIGNMENT_BYTES`], those of buffers and
/// of per-draw data included.
pub trait Backend {
    /// How elements are written. It is asked for every new buffer, and holds for the
    /// buffer's life.
    fn access(&self) -> Access;

    /// Makes room for `size_bytes` bytes of elements, under a number that no living
    /// buffer has.
    ///
    /// # Errors
    /// Nothing has changed then.
    fn create_buffer(&mut self, buffer: u32, size_bytes: u64) -> Result<(), BackendError>;

    /// Gives a buffer back. No frame in flight reads it any more.
    fn destroy_buffer(&mut self, buffer: u32);

    /// Copies `bytes` to `offset_bytes` of a buffer. The pool never writes past its end.
    ///
    /// # Errors
    /// Nothing is written then. The mesh is refused, or the old one stays.
    fn write_elements(
        &mut self,
        buffer: u32,
        offset_bytes: u64,
        bytes: &[u8],
    ) -> Result<(), BackendError>;

    /// Has the GPU copy elements, in queue order, `from` and `to` being buffer and offset
    /// in bytes. The two never overlap.
    ///
    /// # Errors
    /// Nothing is copied then. The elements stay where they are.
    fn copy_elements(
        &mut self,
        from: (u32, u64),
        to: (u32, u64),
        size_bytes: u64,
    ) -> Result<(), BackendError>;

    /// Makes the table of per-draw data, which all buffers share, as large as `slots`
    /// meshes need; it only grows. The pool writes it anew afterwards. Frames in flight
    /// go on reading what they read.
    ///
    /// # Errors
    /// Nothing has changed then.
    fn resize_draw_data(&mut self, slots: u32) -> Result<(), BackendError>;

    /// Copies per-draw data, in queue order, to the table that shaders reach through
    /// `first_instance`: to slot `slot`, or to that and the next ones when `bytes` holds
    /// the data of several.
    fn write_draw_data(&mut self, slot: u32, bytes: &[u8]);
}

impl<B: Backend + ?Sized> Backend for &mut B {
    fn access(&self) -> Access {
        (**self).access()
    }

    fn create_buffer(&mut self, buffer: u32, size_bytes: u64) -> Result<(), BackendError> {
        (**self).create_buffer(buffer, size_bytes)
    }

    fn destroy_buffer(&mut self, buffer: u32) {
        (**self).destroy_buffer(buffer);
    }

    fn write_elements(
        &mut self,
        buffer: u32,
        offset_bytes: u64,
        bytes: &[u8],
    ) -> Result<(), BackendError> {
        (**self).write_elements(buffer, offset_bytes, bytes)
    }

    fn copy_elements(
        &mut self,
        from: (u32, u64),
        to: (u32, u64),
        size_bytes: u64,
    ) -> Result<(), BackendError> {
        (**self).copy_elements(from, to, size_bytes)
    }

    fn resize_draw_data(&mut self, slots: u32) -> Result<(), BackendError> {
        (**self).resize_draw_data(slots)
    }

    fn write_draw_data(&mut self, slot: u32, bytes: &[u8]) {
        (**self).write_draw_data(slot, bytes);
    }
}
