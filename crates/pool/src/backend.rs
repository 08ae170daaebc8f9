use core::fmt;

/// Path by which writes reach GPU-visible memory. The choice determines how the pool protects frames in
/// flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
pub enum Access {
    /// The GPU copies data in the order in which frames are submitted. Freed memory can be written
    /// again at once.
    #[default]
    Staged,
    /// The CPU stores into mapped memory, which is visible to frames in flight. Freed memory stays
    /// reserved until the last frame that could read it has completed.
    Direct,
}

impl Access {
    /// Returns the lower-case name, as used in settings and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Staged => "staged",
            Self::Direct => "direct",
        }
    }
}

/// An operation that a backend could not carry out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BackendError {
    /// The device is out of memory.
    OutOfMemory {
        /// Requested size, in bytes.
        requested_bytes: u64,
    },
    /// The device is lost, and its memory with it.
    Lost,
}

impl fmt::Display for BackendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfMemory { requested_bytes } => write!(
                f,
                "the device has no memory for {requested_bytes} bytes; remove meshes or close \
                 other programs that use it"
            ),
            Self::Lost => f.write_str("the device is lost; open it and insert the meshes again"),
        }
    }
}

impl core::error::Error for BackendError {}

/// Alignment of every offset and size passed to a [`Backend`], in bytes, as WebGPU requires for
/// writes and copies. The sizes of a pool's elements and per-draw data must be multiples too.
pub const ALIGNMENT_BYTES: usize = 4;

/// Destination of a pool's bytes: the GPU, or memory that simulates it.
///
/// The pool calls these functions between frames, in the order in which they must take effect.
/// Copies, per-draw data and staged writes must take effect in queue order: after all submitted
/// frames and before the next frame. Direct writes take effect at once; the pool makes them only
/// where no frame in flight reads.
///
/// All offsets and sizes in bytes are multiples of [`ALIGNMENT_BYTES`], including the sizes of
/// buffers and of per-draw data.
pub trait Backend {
    /// Returns how elements are written. The pool queries it for each new buffer, and it holds for
    /// the lifetime of that buffer.
    fn access(&self) -> Access;

    /// Creates a buffer of `size_bytes` bytes for elements. No live buffer has the number `buffer`.
    ///
    /// # Errors
    /// Nothing has changed.
    fn create_buffer(&mut self, buffer: u32, size_bytes: u64) -> Result<(), BackendError>;

    /// Destroys a buffer. No frame in flight reads it.
    fn destroy_buffer(&mut self, buffer: u32);

    /// Copies `bytes` to `offset_bytes` of a buffer. The pool never writes past its end.
    ///
    /// # Errors
    /// Nothing is written. The pool returns the error, and an old mesh stays.
    fn write_elements(
        &mut self,
        buffer: u32,
        offset_bytes: u64,
        bytes: &[u8],
    ) -> Result<(), BackendError>;

    /// Returns the memory of `size_bytes` bytes at `offset_bytes` of a buffer with
    /// [`Access::Direct`], if it has an address. A [`MeshWriter`](crate::MeshWriter) then fills it in
    /// place. No frame in flight reads these bytes, and the pool never reads them. Default: `None`,
    /// so that all elements come through [`write_elements`](Self::write_elements).
    fn map_elements(
        &mut self,
        buffer: u32,
        offset_bytes: u64,
        size_bytes: u64,
    ) -> Option<&mut [u8]> {
        let _ = (buffer, offset_bytes, size_bytes);
        None
    }

    /// Makes the GPU copy elements in queue order. `from` and `to` are a buffer and an offset in
    /// bytes. The two ranges never overlap.
    ///
    /// # Errors
    /// Nothing is copied. The elements stay at `from`.
    fn copy_elements(
        &mut self,
        from: (u32, u64),
        to: (u32, u64),
        size_bytes: u64,
    ) -> Result<(), BackendError>;

    /// Grows the table of per-draw data to at least `slots` slots. All buffers share the table, and
    /// it never shrinks. The pool writes all data again afterwards. Frames in flight continue to
    /// read the old table.
    ///
    /// # Errors
    /// Nothing has changed.
    fn resize_draw_data(&mut self, slots: u32) -> Result<(), BackendError>;

    /// Copies per-draw data to the table in queue order, starting at `slot`. `bytes` holds the data
    /// of one slot or of several consecutive slots. Shaders index the table by `first_instance`.
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

    fn map_elements(
        &mut self,
        buffer: u32,
        offset_bytes: u64,
        size_bytes: u64,
    ) -> Option<&mut [u8]> {
        (**self).map_elements(buffer, offset_bytes, size_bytes)
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

/// Backend that discards all data. Use it to plan, measure or test allocations without a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NullBackend(pub Access);

impl Backend for NullBackend {
    #[inline]
    fn access(&self) -> Access {
        self.0
    }

    fn create_buffer(&mut self, _buffer: u32, _size_bytes: u64) -> Result<(), BackendError> {
        Ok(())
    }

    fn destroy_buffer(&mut self, _buffer: u32) {}

    #[inline]
    fn write_elements(
        &mut self,
        _buffer: u32,
        _offset_bytes: u64,
        _bytes: &[u8],
    ) -> Result<(), BackendError> {
        Ok(())
    }

    fn copy_elements(
        &mut self,
        _from: (u32, u64),
        _to: (u32, u64),
        _size_bytes: u64,
    ) -> Result<(), BackendError> {
        Ok(())
    }

    fn resize_draw_data(&mut self, _slots: u32) -> Result<(), BackendError> {
        Ok(())
    }

    #[inline]
    fn write_draw_data(&mut self, _slot: u32, _bytes: &[u8]) {}
}
