//! Parts of [`GlDevice`], for devices that draw with their own shaders and vertex layouts.
//!
//! Such a device owns a `GlDevice` for the context, the picture, uploads and fences. It creates a
//! [`Program`] and a [`VertexArray`] of its own and draws through [`GlDevice::draw_own`]. OpenGL
//! calls are made with the functions that [`Context::current`] returns.

use std::rc::Rc;

use drystone_pool::DrawCommand;

#[doc(hidden)]
pub use super::bindings;
use super::{
    GlDevice, GlGeometry,
    bindings::{Gl, types::GLuint},
    passes::use_program,
};
pub use super::{
    context::Context,
    passes::draw_indirect,
    program::{FRAME, Program, SURFACE_FRAGMENT},
    vertex_array::VertexArray,
};
use crate::{
    buffers::{BufferKind, DrawSlots},
    device::Submitted,
    error::RenderError,
    frame::Frame,
};

impl GlDevice {
    /// The context that all objects of the device belong to.
    pub const fn context(&self) -> &Rc<Context> {
        &self.context
    }

    /// Creates a vertex array without attributes, with the indices of the shared quad pattern.
    ///
    /// # Errors
    /// `Device` when the context cannot be made current.
    pub fn vertex_array(&self) -> Result<VertexArray, RenderError> {
        VertexArray::new(&self.context, &self.painter.pattern)
    }

    /// Creates a geometry of `count` elements of `element_bytes` each, which are not those of a
    /// [`BufferKind`].
    ///
    /// # Errors
    /// `OutOfMemory` or `Lost`.
    pub fn create_elements(
        &mut self,
        element_bytes: u64,
        count: u32,
        slots: DrawSlots<'_, GlGeometry>,
    ) -> Result<GlGeometry, RenderError> {
        let size = (BufferKind::Quads, element_bytes, count);
        GlGeometry::new(&self.context, self.access, size, slots)
    }

    /// Copies the bytes of elements into a geometry, starting at element `first`. Bytes that do not
    /// fit are ignored.
    pub fn write_bytes(&mut self, geometry: &GlGeometry, first: u32, bytes: &[u8]) {
        self.attempt(|gl, staging, access| geometry.write(gl, staging, (access, first), bytes));
    }

    /// Fails the next frame with this error, for operations that cannot return one.
    pub fn fail_next_frame(&self, error: &RenderError) {
        self.context.fault.note(error.to_string(), false);
    }

    /// Draws one picture: calls `paint` with `program` in use, then draws the sky. `commands` are
    /// uploaded to the bound indirect buffer, one list after the other; `paint` receives the offset
    /// of the first in bytes.
    ///
    /// # Errors
    /// `Lost`, or `Device` when the device refuses.
    pub fn draw_own<'a>(
        &mut self,
        frame: &Frame,
        program: &Program,
        commands: impl Iterator<Item = &'a [DrawCommand]> + Clone,
        paint: impl FnOnce(&Gl, u64),
    ) -> Result<Submitted, RenderError> {
        self.draw_with(frame, commands, |painter, gl, range, commands_bytes| {
            painter.bind_frame(gl, range);
            use_program(gl, program);
            paint(gl, range.offset_bytes + commands_bytes);
            painter.paint_sky(gl);
        })
    }
}

impl GlGeometry {
    /// OpenGL's name of the buffer of elements.
    pub fn elements_name(&self) -> GLuint {
        self.entries.name()
    }

    /// OpenGL's name of the table of per-draw data.
    pub fn draw_data_name(&self) -> GLuint {
        self.draws.name()
    }
}
