//! Drawing of overlays, after the scene, with one call for each part.

use std::{collections::HashMap, ptr, rc::Rc};

use super::{
    bindings::{self as gl, Gl, types::*},
    buffer::{Buffer, Kind},
    context::Context,
    passes::use_program,
    program::Program,
    vertex_array::VertexArray,
};
use crate::{
    error::RenderError,
    overlay::{Overlay, OverlayCorner, OverlayPart, OverlayPatch},
};

const VERTEX_SHADER: &str = include_str!("shaders/overlay.vert");
const FRAGMENT_SHADER: &str = include_str!("shaders/overlay.frag");
/// Location of the scale uniform, as in `shaders/`.
const SCALE: GLint = 0;
/// Binding of the corners.
const CORNERS: GLuint = 0;

pub(super) struct OverlayPainter {
    context: Rc<Context>,
    program: Program,
    vertices: VertexArray,
    sizes: HashMap<u64, [u32; 2]>,
    textures: HashMap<u64, Texture>,
    /// Buffers of the corners and of the indices, created again for each overlay: running frames
    /// read the previous ones.
    buffers: [Buffer; 2],
    parts: Vec<OverlayPart>,
}

struct Texture {
    context: Rc<Context>,
    name: GLuint,
}

impl OverlayPainter {
    pub(super) fn new(context: &Rc<Context>) -> Result<Self, RenderError> {
        let program = Program::new(context, &[VERTEX_SHADER], &[FRAGMENT_SHADER])?;
        let empty = || Buffer::new(context, "an overlay", 1, Kind::Device);
        let buffers = [empty()?, empty()?];
        let vertices = VertexArray::new(context, &buffers[1])?;
        let gl = context.current()?;
        vertices.add_floats(gl, 0, CORNERS, (2, 0));
        vertices.add_floats(gl, 1, CORNERS, (2, 8));
        vertices.add_color(gl, 2, CORNERS, 16);
        let (sizes, textures, parts) = (HashMap::new(), HashMap::new(), Vec::new());
        let context = Rc::clone(context);
        Ok(Self { context, program, vertices, sizes, textures, buffers, parts })
    }

    /// Uploads the changes and stores the parts to draw. Creates the painter with the first overlay. A
    /// painter that refuses its overlay is created again with the next one.
    pub(super) fn replace(
        painter: &mut Option<Self>,
        context: &Rc<Context>,
        overlay: &Overlay,
    ) -> Result<(), RenderError> {
        if painter.is_none() && overlay.parts.is_empty() && overlay.patches.is_empty() {
            return Ok(());
        }
        let mut new = match painter.take() {
            Some(painter) => painter,
            None => Self::new(context)?,
        };
        context.scope("taking an overlay", |_| new.set(overlay)).and_then(|set| set)?;
        *painter = Some(new);
        Ok(())
    }

    /// Uploads the changes and stores the parts to draw.
    pub(super) fn set(&mut self, overlay: &Overlay) -> Result<(), RenderError> {
        overlay.check(&mut self.sizes)?;
        for patch in &overlay.patches {
            match self.textures.get(&patch.texture).filter(|_| patch.at.is_some()) {
                Some(texture) => texture.write(patch)?,
                None => {
                    let texture = Texture::new(&self.context, patch)?;
                    self.textures.insert(patch.texture, texture);
                }
            }
        }
        overlay.freed.iter().for_each(|texture| drop(self.textures.remove(texture)));
        let filled = |bytes: &[u8]| {
            Buffer::new(&self.context, "an overlay", bytes.len() as u64, Kind::Filled(bytes))
        };
        let corners = filled(bytemuck::cast_slice(&overlay.corners))?;
        let indices = filled(bytemuck::cast_slice(&overlay.indices))?;
        let gl = self.context.current()?;
        let stride = size_of::<OverlayCorner>() as GLsizei;
        self.vertices.set_buffer(gl, CORNERS, corners.name(), stride);
        self.vertices.set_indices(gl, indices.name());
        self.buffers = [corners, indices];
        overlay.parts.clone_into(&mut self.parts);
        Ok(())
    }

    /// Draws the overlay over the bound picture of this size.
    pub(super) fn paint(&self, gl: &Gl, size: [u32; 2]) {
        if self.parts.is_empty() {
            return;
        }
        let [x, y] = size.map(|side| 2.0 / side.max(1) as f32);
        use_program(gl, &self.program);
        self.vertices.bind(gl);
        // SAFETY: `gl` is of the context that is current, in which the program is, whose scale
        // has two numbers.
        unsafe {
            gl.Uniform2f(SCALE, x, y);
            gl.Disable(gl::DEPTH_TEST);
            gl.Disable(gl::CULL_FACE);
            gl.Enable(gl::BLEND);
            gl.BlendFunc(gl::ONE, gl::ONE_MINUS_SRC_ALPHA);
            gl.Enable(gl::SCISSOR_TEST);
        }
        for part in &self.parts {
            let Some(texture) = self.textures.get(&part.texture) else { continue };
            if let Some(clip) = part.clip_within(size) {
                draw(gl, part, texture, clip);
            }
        }
        // SAFETY: `gl` is of the context that is current.
        unsafe {
            gl.Disable(gl::SCISSOR_TEST);
            gl.Disable(gl::BLEND);
        }
    }
}

/// Draws one part, clipped to a box of the picture.
fn draw(gl: &Gl, part: &OverlayPart, texture: &Texture, clip: [u32; 4]) {
    let [left, top, right, bottom] = clip.map(|side| side as GLint);
    let first = part.indices.start as usize * size_of::<u32>();
    // SAFETY: `gl` is of the context that is current, in which the texture is, and where the
    // indices are bound. The range of the part was checked to be within them, and they were checked
    // to be within the corners. `first` is an offset within them, not an address.
    unsafe {
        gl.BindTextureUnit(0, texture.name);
        // Pictures are drawn from the top row down, and so are the rows of the box.
        gl.Scissor(left, top, right - left, bottom - top);
        gl.DrawElements(
            gl::TRIANGLES,
            part.indices.len() as GLsizei,
            gl::UNSIGNED_INT,
            ptr::without_provenance(first),
        );
    }
}

impl Texture {
    /// Creates a texture with its pixels. The size was already checked.
    fn new(context: &Rc<Context>, patch: &OverlayPatch) -> Result<Self, RenderError> {
        let gl = context.current()?;
        let [width, height] = patch.size.map(|side| side as GLsizei);
        let mut name = 0;
        // SAFETY: the context is current; `name` has space for one name.
        unsafe {
            gl.CreateTextures(gl::TEXTURE_2D, 1, &raw mut name);
            gl.TextureStorage2D(name, 1, gl::RGBA8, width, height);
            for filter in [gl::TEXTURE_MIN_FILTER, gl::TEXTURE_MAG_FILTER] {
                gl.TextureParameteri(name, filter, gl::LINEAR as GLint);
            }
            for side in [gl::TEXTURE_WRAP_S, gl::TEXTURE_WRAP_T] {
                gl.TextureParameteri(name, side, gl::CLAMP_TO_EDGE as GLint);
            }
        }
        let texture = Self { context: Rc::clone(context), name };
        texture.write(&OverlayPatch { at: None, ..patch.clone() })?;
        Ok(texture)
    }

    /// Copies a patch, which was checked to be within the texture, into it.
    fn write(&self, patch: &OverlayPatch) -> Result<(), RenderError> {
        let gl = self.context.current()?;
        let [x, y] = patch.at.unwrap_or_default().map(|at| at as GLint);
        let [width, height] = patch.size.map(|side| side as GLsizei);
        let (format, kind) = (gl::RGBA, gl::UNSIGNED_BYTE);
        // SAFETY: the context is current and the name is of a texture of it; there are four
        // bytes for each pixel, as was checked, and rows lie side by side.
        unsafe {
            gl.PixelStorei(gl::UNPACK_ALIGNMENT, 4);
            let pixels = patch.rgba.as_ptr().cast();
            gl.TextureSubImage2D(self.name, 0, x, y, width, height, format, kind, pixels);
        }
        Ok(())
    }
}

impl Drop for Texture {
    fn drop(&mut self) {
        if let Ok(gl) = self.context.current() {
            // SAFETY: the context is current and the name is ours.
            unsafe { gl.DeleteTextures(1, &raw const self.name) };
        }
    }
}
