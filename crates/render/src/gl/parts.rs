//! Parts of a `GlDevice`, for devices that draw with their own shaders and vertex layouts.
//!
//! Such a device owns a [`GlDevice`](super::GlDevice) for the context, the picture, uploads and
//! fences. It creates a [`Program`] and a [`VertexArray`] of its own and draws through `draw_own`.
//! OpenGL calls are made with the functions that [`Context::current`] returns.

#[doc(hidden)]
pub use super::bindings;
use super::{GlGeometry, bindings::types::GLuint};
pub use super::{
    context::Context,
    passes::draw_indirect,
    program::{FRAME, Program, SURFACE_FRAGMENT},
    vertex_array::VertexArray,
};

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
