//! The picture being drawn, and its presentation in a window.

use std::rc::Rc;

use super::{
    bindings::{self as gl, Gl, types::*},
    context::Context,
};
use crate::{device::check_size, error::RenderError, image::Image, samples::Samples};

/// A picture with depth. It is drawn from the top row down, unlike usual in OpenGL, and is flipped
/// when it is copied to a window.
pub(super) struct Target {
    context: Rc<Context>,
    size: [u32; 2],
    samples: Samples,
    framebuffer: GLuint,
    color: GLuint,
    depth: GLuint,
    /// Framebuffer and colours of the finished picture, if the ones above have several samples a
    /// pixel; else 0.
    resolved: [GLuint; 2],
}

const CREATING: &str = "creating the picture";

impl Target {
    /// Creates a picture of this size, with at most `samples` samples a pixel.
    ///
    /// # Errors
    /// `EmptyPicture`, `TooLarge`, or `Device` when there is no memory for it.
    pub(super) fn new(
        context: &Rc<Context>,
        size: [u32; 2],
        samples: Samples,
    ) -> Result<Self, RenderError> {
        check_size(size, context.limits.side)?;
        let [width, height] = size.map(|side| side as GLsizei);
        let samples = samples.lowered(|count| count <= context.limits.samples);
        let is_sampled = samples != Samples::One;
        let count = if is_sampled { samples.count() as GLsizei } else { 0 };
        // From here on `drop` deletes it; OpenGL ignores the name zero.
        let context = Rc::clone(context);
        let (framebuffer, color, depth, resolved) = (0, 0, 0, [0; 2]);
        let mut target = Self { context, size, samples, framebuffer, color, depth, resolved };
        let status = Rc::clone(&target.context).scope(CREATING, |gl| {
            // SAFETY: the context is current, there is space for one name each, and the attachments
            // are of the sizes that were checked.
            unsafe {
                gl.CreateRenderbuffers(1, &raw mut target.color);
                gl.CreateRenderbuffers(1, &raw mut target.depth);
                gl.CreateFramebuffers(1, &raw mut target.framebuffer);
                let store = |name, format, count| {
                    gl.NamedRenderbufferStorageMultisample(name, count, format, width, height);
                };
                store(target.color, gl::RGBA8, count);
                store(target.depth, gl::DEPTH_COMPONENT32F, count);
                let attach = |framebuffer, point, name| {
                    gl.NamedFramebufferRenderbuffer(framebuffer, point, gl::RENDERBUFFER, name);
                };
                attach(target.framebuffer, gl::COLOR_ATTACHMENT0, target.color);
                attach(target.framebuffer, gl::DEPTH_ATTACHMENT, target.depth);
                if is_sampled {
                    let [framebuffer, color] = &mut target.resolved;
                    gl.CreateFramebuffers(1, framebuffer);
                    gl.CreateRenderbuffers(1, color);
                    store(*color, gl::RGBA8, 0);
                    attach(*framebuffer, gl::COLOR_ATTACHMENT0, *color);
                }
                // Renderbuffers are undefined at first: with the previous contents of their memory.
                let nothing = [0.0_f32; 4];
                gl.ClearNamedFramebufferfv(target.picture(), gl::COLOR, 0, nothing.as_ptr());
                gl.CheckNamedFramebufferStatus(target.framebuffer, gl::FRAMEBUFFER)
            }
        })?;
        if status != gl::FRAMEBUFFER_COMPLETE {
            let reason = format!("the driver cannot draw to it (0x{status:04x})");
            return Err(RenderError::Device { during: CREATING, reason });
        }
        Ok(target)
    }

    pub(super) const fn size(&self) -> [u32; 2] {
        self.size
    }

    pub(super) const fn samples(&self) -> Samples {
        self.samples
    }

    /// The framebuffer of the finished picture.
    const fn picture(&self) -> GLuint {
        if self.resolved[0] == 0 { self.framebuffer } else { self.resolved[0] }
    }

    /// Binds the picture as the target, and clears it.
    pub(super) fn begin(&self, gl: &Gl) {
        let [width, height] = self.size.map(|side| side as GLsizei);
        let (black, far) = ([0.0_f32, 0.0, 0.0, 1.0], 0.0_f32);
        // SAFETY: `gl` is of the context that is current, in which the framebuffer is;
        // colours have four numbers, depth one.
        unsafe {
            gl.BindFramebuffer(gl::FRAMEBUFFER, self.framebuffer);
            gl.Viewport(0, 0, width, height);
            gl.ClipControl(gl::UPPER_LEFT, gl::ZERO_TO_ONE);
            gl.DepthMask(gl::TRUE);
            gl.ClearNamedFramebufferfv(self.framebuffer, gl::COLOR, 0, black.as_ptr());
            gl.ClearNamedFramebufferfv(self.framebuffer, gl::DEPTH, 0, &raw const far);
        }
    }

    /// Computes the pixels from their samples, and binds the finished picture as the target.
    pub(super) fn resolve(&self, gl: &Gl) {
        if self.picture() == self.framebuffer {
            return;
        }
        let [width, height] = self.size.map(|side| side as GLint);
        copy(gl, [self.framebuffer, self.picture()], [0, 0, width, height]);
        // SAFETY: `gl` is of the context that is current, in which the framebuffer is.
        unsafe { gl.BindFramebuffer(gl::FRAMEBUFFER, self.picture()) };
    }

    /// Computes the pixels from their samples, and stores them in another framebuffer of this size.
    pub(super) fn resolve_to(&self, gl: &Gl, framebuffer: GLuint) {
        let [width, height] = self.size.map(|side| side as GLint);
        copy(gl, [self.framebuffer, framebuffer], [0, 0, width, height]);
    }

    /// Binds the finished picture as the target.
    pub(super) fn bind_picture(&self, gl: &Gl) {
        let [width, height] = self.size.map(|side| side as GLsizei);
        // SAFETY: `gl` is of the context that is current, in which the framebuffer is.
        unsafe {
            gl.BindFramebuffer(gl::FRAMEBUFFER, self.picture());
            gl.Viewport(0, 0, width, height);
        }
    }

    /// Copies the picture to the window's back buffer.
    pub(super) fn copy_to_window(&self, gl: &Gl) {
        let [width, height] = self.size.map(|side| side as GLint);
        // Mesa's software drivers update the size of a resized window only in `Viewport`, with the
        // window's framebuffer bound.
        // SAFETY: `gl` is of the context that is current, which has a window.
        unsafe {
            gl.BindFramebuffer(gl::DRAW_FRAMEBUFFER, 0);
            gl.Viewport(0, 0, width, height);
        }
        copy(gl, [self.picture(), 0], [0, height, width, 0]);
    }

    /// Waits for the picture and copies it to memory.
    pub(super) fn read(&self) -> Result<Image, RenderError> {
        const DURING: &str = "reading the picture back";
        let gl = self.context.current()?;
        let [width, height] = self.size;
        let mut rgba = vec![0; width as usize * height as usize * 4];
        // SAFETY: the context is current; rows of four bytes a pixel lie side by side, and `rgba`
        // has space for all of them.
        unsafe {
            gl.BindFramebuffer(gl::READ_FRAMEBUFFER, self.picture());
            gl.PixelStorei(gl::PACK_ALIGNMENT, 4);
            gl.ReadnPixels(
                0,
                0,
                width as GLsizei,
                height as GLsizei,
                gl::RGBA,
                gl::UNSIGNED_BYTE,
                GLsizei::try_from(rgba.len()).unwrap_or(GLsizei::MAX),
                rgba.as_mut_ptr().cast(),
            );
        }
        self.context.check(DURING)?;
        let cut = || RenderError::Device { during: DURING, reason: "it is cut short".into() };
        Image::from_rgba(width, height, rgba).ok_or_else(cut)
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Ok(gl) = self.context.current() {
            // SAFETY: the context is current and the names are ours.
            unsafe {
                let [resolved, resolved_color] = self.resolved;
                gl.DeleteFramebuffers(2, [self.framebuffer, resolved].as_ptr());
                gl.DeleteRenderbuffers(3, [self.color, self.depth, resolved_color].as_ptr());
            }
        }
    }
}

/// Copies the colours of one framebuffer to a box of another: left, top, right, bottom. The name 0
/// is the window's.
fn copy(gl: &Gl, [from, to]: [GLuint; 2], [left, top, right, bottom]: [GLint; 4]) {
    let [width, height] = [right.max(left), bottom.max(top)];
    let (mask, filter) = (gl::COLOR_BUFFER_BIT, gl::NEAREST);
    // SAFETY: `gl` is of the context that is current, in which both framebuffers are.
    unsafe {
        gl.BlitNamedFramebuffer(
            from, to, 0, 0, width, height, left, top, right, bottom, mask, filter,
        );
    }
}
