//! Vertex arrays: the sources of a program's vertices.

use std::rc::Rc;

use super::{
    bindings::{self as gl, Gl, types::*},
    buffer::Buffer,
    context::Context,
};
use crate::error::RenderError;

/// Attributes, and the buffers that they and the indices are read from.
pub struct VertexArray {
    context: Rc<Context>,
    name: GLuint,
}

impl VertexArray {
    /// Creates a vertex array without attributes, with the indices of a buffer.
    pub(super) fn new(context: &Rc<Context>, indices: &Buffer) -> Result<Self, RenderError> {
        let gl = context.current()?;
        let mut name = 0;
        // SAFETY: the context is current, `name` has space for one name, and the buffer is of it.
        unsafe {
            gl.CreateVertexArrays(1, &raw mut name);
            gl.VertexArrayElementBuffer(name, indices.name());
        }
        Ok(Self { context: Rc::clone(context), name })
    }

    /// Adds an attribute of four integers, which advances by instance.
    pub fn add_integers(&self, gl: &Gl, attribute: GLuint, binding: GLuint) {
        // SAFETY: `gl` is of the context that is current, in which the vertex array is.
        unsafe {
            gl.EnableVertexArrayAttrib(self.name, attribute);
            gl.VertexArrayAttribIFormat(self.name, attribute, 4, gl::INT, 0);
            gl.VertexArrayAttribBinding(self.name, attribute, binding);
            gl.VertexArrayBindingDivisor(self.name, binding, 1);
        }
    }

    /// Adds an attribute of floats, `offset_bytes` from a vertex's start.
    pub fn add_floats(
        &self,
        gl: &Gl,
        attribute: GLuint,
        binding: GLuint,
        (count, offset_bytes): (GLint, GLuint),
    ) {
        // SAFETY: `gl` is of the context that is current, in which the vertex array is.
        unsafe {
            gl.EnableVertexArrayAttrib(self.name, attribute);
            gl.VertexArrayAttribFormat(
                self.name,
                attribute,
                count,
                gl::FLOAT,
                gl::FALSE,
                offset_bytes,
            );
            gl.VertexArrayAttribBinding(self.name, attribute, binding);
        }
    }

    /// Adds an attribute of four bytes, each 0 to 1 in shaders.
    pub(super) fn add_color(
        &self,
        gl: &Gl,
        attribute: GLuint,
        binding: GLuint,
        offset_bytes: GLuint,
    ) {
        let (name, kind) = (self.name, gl::UNSIGNED_BYTE);
        // SAFETY: `gl` is of the context that is current, in which the vertex array is.
        unsafe {
            gl.EnableVertexArrayAttrib(name, attribute);
            gl.VertexArrayAttribFormat(name, attribute, 4, kind, gl::TRUE, offset_bytes);
            gl.VertexArrayAttribBinding(name, attribute, binding);
        }
    }

    /// Binds a buffer to a binding's attributes. Its vertices are `stride` bytes.
    pub fn set_buffer(&self, gl: &Gl, binding: GLuint, buffer: GLuint, stride: GLsizei) {
        // SAFETY: `gl` is of the context that is current, in which both are.
        unsafe { gl.VertexArrayVertexBuffer(self.name, binding, buffer, 0, stride) };
    }

    /// Binds a buffer of indices.
    pub(super) fn set_indices(&self, gl: &Gl, buffer: GLuint) {
        // SAFETY: `gl` is of the context that is current, in which both are.
        unsafe { gl.VertexArrayElementBuffer(self.name, buffer) };
    }

    /// Binds the vertex array for drawing.
    pub fn bind(&self, gl: &Gl) {
        // SAFETY: `gl` is of the context that is current, in which it is.
        unsafe { gl.BindVertexArray(self.name) };
    }
}

impl Drop for VertexArray {
    fn drop(&mut self) {
        if let Ok(gl) = self.context.current() {
            // SAFETY: the context is current and the name is ours.
            unsafe { gl.DeleteVertexArrays(1, &raw const self.name) };
        }
    }
}
