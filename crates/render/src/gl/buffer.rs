//! Buffers of a fixed size, with or without a mapping.

use std::{cell::Cell, ops::Range, ptr::NonNull, rc::Rc};

use super::{
    bindings::{self as gl, types::*},
    context::Context,
};
use crate::error::RenderError;

/// Access of the program to a buffer.
#[derive(Clone, Copy)]
pub(super) enum Kind<'a> {
    /// Written by GPU copies only.
    Device,
    /// Filled once, at creation.
    Filled(&'a [u8]),
    /// Mapped for its whole lifetime, also while the GPU reads it.
    Persistent,
    /// Mapped temporarily, never while the GPU reads it.
    OnDemand,
}

/// Written by the program while the GPU reads, with coherent memory.
const PERSISTENT: GLbitfield = gl::MAP_WRITE_BIT | gl::MAP_PERSISTENT_BIT | gl::MAP_COHERENT_BIT;

const CREATING: &str = "creating a buffer";

/// A buffer of the GPU.
pub(super) struct Buffer {
    context: Rc<Context>,
    name: GLuint,
    size_bytes: u64,
    mapping: Cell<Option<Mapping>>,
}

/// Address of a mapped range of a buffer.
#[derive(Clone, Copy)]
struct Mapping {
    first_byte: NonNull<u8>,
    start: u64,
    end: u64,
}

impl Buffer {
    /// Creates a buffer of `size_bytes`, or of one byte for zero, because OpenGL has no empty
    /// buffers.
    ///
    /// # Errors
    /// `OutOfMemory`, or `Lost`.
    pub(super) fn new(
        context: &Rc<Context>,
        what: &'static str,
        size_bytes: u64,
        kind: Kind<'_>,
    ) -> Result<Self, RenderError> {
        let size_bytes = size_bytes.max(1);
        context.fault.check_lost(CREATING)?;
        let refused = |reason: String| RenderError::OutOfMemory {
            requested_bytes: size_bytes,
            reason: format!("{reason} ({size_bytes} bytes of {what})"),
        };
        context.memory.take(size_bytes).map_err(refused)?;
        // From here on `drop` deletes it; OpenGL ignores the name zero.
        let (context, name, mapping) = (Rc::clone(context), 0, Cell::default());
        let mut buffer = Self { context, name, size_bytes, mapping };
        let made = Rc::clone(&buffer.context).scope(CREATING, |gl| {
            // SAFETY: the context is current; `name` has space for one name.
            unsafe { gl.CreateBuffers(1, &raw mut buffer.name) };
            buffer.fill(gl, kind);
        });
        made.map_err(|error| match error {
            RenderError::Device { during: CREATING, reason } => refused(reason),
            other => other,
        })?;
        if matches!(kind, Kind::Persistent) {
            buffer.map_with(0..size_bytes, PERSISTENT)?;
        }
        Ok(buffer)
    }

    fn fill(&self, gl: &gl::Gl, kind: Kind<'_>) {
        let data = match kind {
            Kind::Filled(bytes) if bytes.len() as u64 >= self.size_bytes => bytes.as_ptr().cast(),
            _ => std::ptr::null(),
        };
        let flags = match kind {
            Kind::Device | Kind::Filled(_) => 0,
            Kind::Persistent => PERSISTENT,
            Kind::OnDemand => gl::MAP_WRITE_BIT,
        };
        let size_bytes = self.size_bytes as GLsizeiptr;
        // SAFETY: the context is current, the name is of a new buffer, and where data are
        // given there are as many bytes of them as the buffer has.
        unsafe { gl.NamedBufferStorage(self.name, size_bytes, data, flags) };
    }

    pub(super) const fn name(&self) -> GLuint {
        self.name
    }

    pub(super) const fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Ensures that `range` can be written: does nothing if it is mapped, else maps the buffer
    /// from there up to `mapped_end`, which no unfinished frame reads.
    ///
    /// # Errors
    /// `Device` when the driver cannot.
    pub(super) fn map_over(&self, range: Range<u64>, mapped_end: u64) -> Result<(), RenderError> {
        let covers = |it: &Mapping| it.start <= range.start && range.end <= it.end;
        if range.is_empty() || self.mapping.get().as_ref().is_some_and(covers) {
            return Ok(());
        }
        self.unmap()?;
        let flags = gl::MAP_WRITE_BIT | gl::MAP_UNSYNCHRONIZED_BIT | gl::MAP_INVALIDATE_RANGE_BIT;
        self.map_with(range.start..mapped_end, flags)
    }

    fn map_with(&self, range: Range<u64>, flags: GLbitfield) -> Result<(), RenderError> {
        debug_assert!(self.mapping.get().is_none(), "mapped already");
        debug_assert!(range.start < range.end && range.end <= self.size_bytes);
        let gl = self.context.current()?;
        let size_bytes = (range.end - range.start) as GLsizeiptr;
        // SAFETY: the context is current and the name is of a buffer. A range beyond its
        // end is an error of OpenGL's.
        let address = unsafe {
            gl.MapNamedBufferRange(self.name, range.start as GLintptr, size_bytes, flags)
        };
        let Some(first_byte) = NonNull::new(address.cast::<u8>()) else {
            self.context.check("mapping a buffer")?;
            let reason = "the driver maps no memory; try staged writes".to_owned();
            return Err(RenderError::Device { during: "mapping a buffer", reason });
        };
        let Range { start, end } = range;
        self.mapping.set(Some(Mapping { first_byte, start, end }));
        Ok(())
    }

    /// Unmaps an on-demand buffer, so that the GPU can read it.
    pub(super) fn unmap(&self) -> Result<(), RenderError> {
        if self.mapping.take().is_none() {
            return Ok(());
        }
        let gl = self.context.current()?;
        // SAFETY: the context is current and the buffer is mapped.
        if unsafe { gl.UnmapNamedBuffer(self.name) } == gl::FALSE {
            let reason = "the driver lost what was written; draw again".to_owned();
            return Err(RenderError::Device { during: "unmapping a buffer", reason });
        }
        Ok(())
    }

    /// Stores bytes in the mapped range; bytes outside are ignored. The memory can be
    /// write-combined: it is written once, from low to high.
    #[inline]
    pub(super) fn write(&self, offset_bytes: u64, bytes: &[u8]) {
        let Some(mapping) = self.mapping.get() else { return };
        if offset_bytes < mapping.start || offset_bytes >= mapping.end {
            return;
        }
        let free_bytes = usize::try_from(mapping.end - offset_bytes).unwrap_or(usize::MAX);
        let count = bytes.len().min(free_bytes);
        // SAFETY: `start` to `end` of the buffer are mapped at `first_byte` until `mapping`
        // is taken, which happens nowhere but in `unmap` and `drop`; `offset_bytes` and
        // `count` stay within. No reference to that memory exists, so none can alias it.
        unsafe {
            let target = mapping.first_byte.add((offset_bytes - mapping.start) as usize);
            target.as_ptr().copy_from_nonoverlapping(bytes.as_ptr(), count);
        }
    }

    /// Records a GPU copy of bytes of `from` into this buffer, after all earlier commands. The two
    /// ranges must be within their buffers and must not overlap.
    pub(super) fn copy_from(
        &self,
        gl: &gl::Gl,
        to_bytes: u64,
        (from, from_bytes): (&Self, u64),
        size_bytes: u64,
    ) {
        // SAFETY: `gl` is of the context that is current, in which both buffers are. Ranges that
        // reach beyond their ends, or overlap, are OpenGL errors.
        unsafe {
            gl.CopyNamedBufferSubData(
                from.name,
                self.name,
                from_bytes as GLintptr,
                to_bytes as GLintptr,
                size_bytes as GLsizeiptr,
            );
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.context.memory.give_back(self.size_bytes);
        // If the context is unreachable, the buffer is deleted with it.
        if let Ok(gl) = self.context.current() {
            // SAFETY: the context is current and the name is ours. Deleting unmaps; the
            // driver keeps the memory for frames that still read it.
            unsafe { gl.DeleteBuffers(1, &raw const self.name) };
        }
    }
}
