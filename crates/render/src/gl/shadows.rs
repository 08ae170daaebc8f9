//! Shadow maps: layers of a depth texture, and the programs that draw them.

use std::rc::Rc;

use super::{
    COMMANDS_BYTES, GlDevice, GlGeometry,
    bindings::{self as gl, Gl, types::*},
    context::Context,
    passes::{FRAME_BINDING, Painter},
    program::{CasterPrograms, Program},
    upload::UploadRange,
};
use crate::{
    buffers::BufferKind,
    error::RenderError,
    frame::Frame,
    passes::{CascadePass, ShadowPass},
    shadows::{MAX_CASCADES, ShadowFrame},
};

/// Binding of the uniforms for reading maps, and the texture unit of the maps.
const SHADOW_BINDING: GLuint = 1;
const MAPS_UNIT: GLuint = 0;

const CREATING: &str = "creating shadow maps";

/// The maps of the last picture with shadows.
pub(super) struct ShadowMaps {
    context: Rc<Context>,
    side: u32,
    texture: GLuint,
    framebuffers: [GLuint; MAX_CASCADES],
    programs: CasterPrograms,
    /// Token of the renderer whose maps they are; 0 for none.
    pub(super) token: u64,
}

/// Offsets in bytes of a picture's data of shadows: the uniforms for reading, then the frame of each
/// map that is drawn.
struct ShadowData {
    stride_bytes: u64,
}

impl GlDevice {
    /// Draws the shadow maps that have changed, and binds all; or frees them.
    pub(super) fn draw_shadows(
        &mut self,
        gl: &Gl,
        range: &UploadRange,
        shadows: Option<(&ShadowPass<'_, GlGeometry>, Option<u64>)>,
    ) -> Result<(), RenderError> {
        let Some((pass, commands)) = shadows else {
            self.shadows = None;
            return Ok(());
        };
        let alignment = self.context.limits.uniform_alignment;
        let data = ShadowData::new(alignment);
        let own = self.staging.allocate(data.size_bytes(pass), alignment)?;
        data.write(&own, pass);
        self.staging.flush(gl)?;
        let maps = ShadowMaps::prepare(&mut self.shadows, &self.context, pass.side)?;
        self.painter.bind_frame(gl, range);
        let commands = commands.map(|at| range.offset_bytes + COMMANDS_BYTES + at);
        maps.draw(gl, (pass, &self.painter), (&data, &own), commands);
        maps.token = pass.token;
        Ok(())
    }
}

impl ShadowData {
    /// Creates the offsets for uniforms with this alignment.
    fn new(alignment: u64) -> Self {
        Self { stride_bytes: (size_of::<Frame>() as u64).next_multiple_of(alignment) }
    }

    /// Size of the data of a pass.
    fn size_bytes(&self, pass: &ShadowPass<'_, GlGeometry>) -> u64 {
        (1 + pass.redrawn.len() as u64) * self.stride_bytes
    }

    /// Writes the data of a pass.
    fn write(&self, range: &UploadRange, pass: &ShadowPass<'_, GlGeometry>) {
        range.write(0, bytemuck::bytes_of(&pass.frame));
        for (cascade, at) in pass.redrawn.iter().zip(1..) {
            range.write(at * self.stride_bytes, bytemuck::bytes_of(&cascade.frame));
        }
    }

    fn offset_bytes(&self, number: u64) -> u64 {
        (1 + number) * self.stride_bytes
    }
}

impl ShadowMaps {
    /// Creates maps of this side.
    ///
    /// # Errors
    /// `Device` when there is no memory for them, or the driver refuses a shader.
    fn new(context: &Rc<Context>, side: u32) -> Result<Self, RenderError> {
        let programs = CasterPrograms::new(context)?;
        // From here on `drop` deletes it; OpenGL ignores the name zero.
        let context = Rc::clone(context);
        let (texture, framebuffers, token) = (0, [0; MAX_CASCADES], 0);
        let mut maps = Self { context, side, texture, framebuffers, programs, token };
        let status = Rc::clone(&maps.context).scope(CREATING, |gl| {
            let (length, layers) = (side as GLsizei, MAX_CASCADES as GLsizei);
            // SAFETY: the context is current, there is space for the names, and the texture has as
            // many layers as there are framebuffers.
            unsafe {
                gl.CreateTextures(gl::TEXTURE_2D_ARRAY, 1, &raw mut maps.texture);
                let format = gl::DEPTH_COMPONENT32F;
                gl.TextureStorage3D(maps.texture, 1, format, length, length, layers);
                let nearest = gl::NEAREST as GLint;
                gl.TextureParameteri(maps.texture, gl::TEXTURE_MIN_FILTER, nearest);
                gl.TextureParameteri(maps.texture, gl::TEXTURE_MAG_FILTER, nearest);
                gl.CreateFramebuffers(layers, maps.framebuffers.as_mut_ptr());
                for (layer, framebuffer) in (0..).zip(maps.framebuffers) {
                    let point = gl::DEPTH_ATTACHMENT;
                    gl.NamedFramebufferTextureLayer(framebuffer, point, maps.texture, 0, layer);
                    gl.NamedFramebufferDrawBuffer(framebuffer, gl::NONE);
                }
                gl.CheckNamedFramebufferStatus(maps.framebuffers[0], gl::FRAMEBUFFER)
            }
        })?;
        if status != gl::FRAMEBUFFER_COMPLETE {
            let reason = format!("the driver cannot draw to them (0x{status:04x})");
            return Err(RenderError::Device { during: CREATING, reason });
        }
        Ok(maps)
    }

    /// Creates the maps of a pass if `kept` are not those.
    fn prepare<'a>(
        kept: &'a mut Option<Self>,
        context: &Rc<Context>,
        side: u32,
    ) -> Result<&'a mut Self, RenderError> {
        let maps = match kept.take().filter(|maps| maps.side == side) {
            Some(maps) => maps,
            None => Self::new(context, side)?,
        };
        let maps = kept.insert(maps);
        maps.token = 0;
        Ok(maps)
    }

    /// Draws the maps that have changed, and binds all for reading. `data` has the pass's data; the
    /// commands of the maps begin at `commands` in the bound indirect buffer if batches are drawn
    /// indirectly.
    fn draw(
        &self,
        gl: &Gl,
        (pass, painter): (&ShadowPass<'_, GlGeometry>, &Painter),
        (data, range): (&ShadowData, &UploadRange),
        mut commands: Option<u64>,
    ) {
        for (cascade, number) in pass.redrawn.iter().zip(0..) {
            self.begin(gl, cascade);
            bind_uniforms(
                gl,
                FRAME_BINDING,
                range,
                (data.offset_bytes(number), size_of::<Frame>()),
            );
            let CasterPrograms { quads, cubes, triangles } = &self.programs;
            let programs: [(BufferKind, &Program); 3] = [
                (BufferKind::Quads, quads),
                (BufferKind::Cubes, cubes),
                (BufferKind::Vertices, triangles),
            ];
            painter.paint_batches(gl, (&programs, &cascade.batches), (false, &mut commands));
        }
        bind_uniforms(gl, SHADOW_BINDING, range, (0, size_of::<ShadowFrame>()));
        // SAFETY: `gl` is of the context that is current, in which the texture is.
        unsafe { gl.BindTextureUnit(MAPS_UNIT, self.texture) };
    }

    /// Binds a map as the target, and clears it.
    fn begin(&self, gl: &Gl, cascade: &CascadePass<'_, GlGeometry>) {
        let framebuffer = self.framebuffers.get(cascade.layer).copied().unwrap_or_default();
        let (side, far) = (self.side as GLsizei, 0.0_f32);
        // SAFETY: `gl` is of the context that is current, in which the framebuffer is; depth is one
        // number.
        unsafe {
            gl.BindFramebuffer(gl::FRAMEBUFFER, framebuffer);
            gl.Viewport(0, 0, side, side);
            gl.ClipControl(gl::UPPER_LEFT, gl::ZERO_TO_ONE);
            gl.DepthMask(gl::TRUE);
            gl.ClearNamedFramebufferfv(framebuffer, gl::DEPTH, 0, &raw const far);
        }
    }
}

fn bind_uniforms(gl: &Gl, binding: GLuint, range: &UploadRange, (offset, size): (u64, usize)) {
    let offset = (range.offset_bytes + offset) as GLintptr;
    // SAFETY: `gl` is of the context that is current, in which the buffer is.
    unsafe {
        let (buffer, size) = (range.buffer.name(), size as GLsizeiptr);
        gl.BindBufferRange(gl::UNIFORM_BUFFER, binding, buffer, offset, size);
    }
}

impl Drop for ShadowMaps {
    fn drop(&mut self) {
        if let Ok(gl) = self.context.current() {
            // SAFETY: the context is current and the names are ours.
            unsafe {
                gl.DeleteFramebuffers(MAX_CASCADES as GLsizei, self.framebuffers.as_ptr());
                gl.DeleteTextures(1, &raw const self.texture);
            }
        }
    }
}
