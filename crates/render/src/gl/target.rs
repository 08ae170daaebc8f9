//! The picture being drawn, and its presentation in a window.

use std::rc::Rc;

use super::{
    bindings::{self as gl, Gl, types::*},
    context::Context,
};
use crate::{device::check_size, error::RenderError, image::Image};

/// A picture with depth. It is drawn from the top row down, unlike usual in OpenGL, and is flipped
/// when it is copied to a window.
pub(super) struct Target {
    context: Rc<Context>,
    size: [u32; 2],
    framebuffer: GLuint,
    color: GLuint,
    depth: GLuint,
}

const CREATING: &str = "creating the picture";

impl Target {
    /// Creates a picture of this size.
    ///
    /// # Errors
    /// `EmptyPicture`, `TooLarge`, or `Device` when there is no memory for it.
    pub(super) fn new(context: &Rc<Context>, size: [u32; 2]) -> Result<Self, RenderError> {
        check_size(size, context.limits.side)?;
        let [width, height] = size.map(|side| side as GLsizei);
        // From here on `drop` deletes it; OpenGL ignores the name zero.
        let context = Rc::clone(context);
        let mut target = Self { context, size, framebuffer: 0, color: 0, depth: 0 };
        let status = Rc::clone(&target.context).scope(CREATING, |gl| {
            // SAFETY: the context is current, there is space for one name each, and the attachments
            // are of the sizes that were checked.
            unsafe {
                gl.CreateRenderbuffers(1, &raw mut target.color);
                gl.CreateRenderbuffers(1, &raw mut target.depth);
                gl.CreateFramebuffers(1, &raw mut target.framebuffer);
                gl.NamedRenderbufferStorage(target.color, gl::RGBA8, width, height);
                gl.NamedRenderbufferStorage(target.depth, gl::DEPTH_COMPONENT32F, width, height);
                let attach = |point, name| {
                    let framebuffer = target.framebuffer;
                    gl.NamedFramebufferRenderbuffer(framebuffer, point, gl::RENDERBUFFER, name);
                };
                attach(gl::COLOR_ATTACHMENT0, target.color);
                attach(gl::DEPTH_ATTACHMENT, target.depth);
                // Renderbuffers are undefined at first: with the previous contents of their memory.
                let nothing = [0.0_f32; 4];
                gl.ClearNamedFramebufferfv(target.framebuffer, gl::COLOR, 0, nothing.as_ptr());
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

    /// Copies the picture to the window's back buffer.
    pub(super) fn copy_to_window(&self, gl: &Gl) {
        let [width, height] = self.size.map(|side| side as GLint);
        // SAFETY: `gl` is of the context that is current, in which the framebuffer is; zero
        // is the window's.
        unsafe {
            gl.BlitNamedFramebuffer(
                self.framebuffer,
                0,
                0,
                0,
                width,
                height,
                0,
                height,
                width,
                0,
                gl::COLOR_BUFFER_BIT,
                gl::NEAREST,
            );
        }
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
            gl.BindFramebuffer(gl::READ_FRAMEBUFFER, self.framebuffer);
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
                gl.DeleteFramebuffers(1, &raw const self.framebuffer);
                gl.DeleteRenderbuffers(2, [self.color, self.depth].as_ptr());
            }
        }
    }
}
