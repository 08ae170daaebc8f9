//! Bloom: the picture of emitted light, its blurring, and its addition to the picture. See
//! `crate::bloom`.

use std::rc::Rc;

use super::{
    COMMANDS_BYTES, GlDevice, GlGeometry,
    bindings::{self as gl, Gl, types::*},
    context::Context,
    passes::{FRAME_BINDING, bind_uniforms, use_program},
    program::Program,
    target::Target,
    upload::UploadRange,
    vertex_array::VertexArray,
};
use crate::{
    bloom::{SAMPLES, WIDTHS, sizes},
    error::RenderError,
    frame::Frame,
    passes::Passes,
};

const VERTEX_SHADER: &str = include_str!("shaders/bloom.vert");
const FRAGMENT_SHADER: &str = include_str!("shaders/bloom.frag");
const CREATING: &str = "creating bloom";

/// Programs and textures of bloom for pictures of one size.
pub(super) struct Bloom {
    picture: [u32; 2],
    /// Samples of the picture of emitted light.
    samples: Target,
    emitted: Layer,
    /// The glows, each half as large as the one before. The first becomes their sum.
    glows: Vec<Layer>,
    programs: BloomPrograms,
}

struct BloomPrograms {
    halve: Program,
    widen: Program,
    add: Program,
    no_vertices: VertexArray,
}

/// A texture that is drawn to, and then read.
struct Layer {
    context: Rc<Context>,
    size: [u32; 2],
    texture: GLuint,
    framebuffer: GLuint,
}

impl GlDevice {
    /// Creates or keeps bloom for a picture, or frees it. Returns the range of the frame of emitted light.
    ///
    /// # Errors
    /// `Device` when there is no memory for it, or the driver refuses a shader.
    pub(super) fn prepare_bloom(
        &mut self,
        gl: &Gl,
        (frame, has_bloom): (&Frame, bool),
    ) -> Result<Option<UploadRange>, RenderError> {
        if !has_bloom || !self.painter.emits() {
            self.bloom = None;
            return Ok(None);
        }
        let size = self.target.size();
        if self.bloom.as_ref().is_none_or(|bloom| bloom.picture != size) {
            self.bloom = None;
            let no_vertices = self.vertex_array()?;
            self.bloom = Some(Bloom::new(&self.context, size, no_vertices)?);
        }
        let frame = frame.emitted();
        self.painter.prepare(&frame, Default::default())?;
        let alignment = self.context.limits.uniform_alignment;
        let range = self.staging.allocate(size_of::<Frame>() as u64, alignment)?;
        range.write(0, bytemuck::bytes_of(&frame));
        self.staging.flush(gl)?;
        Ok(Some(range))
    }

    /// Draws what the passes emit, and adds its glow to the finished picture. The commands of the
    /// passes are in `range`, behind the frame.
    pub(super) fn draw_bloom(
        &self,
        gl: &Gl,
        range: &UploadRange,
        (emitted, passes): (&UploadRange, &Passes<'_, GlGeometry>),
    ) {
        let Some(Bloom { samples, emitted: light, glows, programs, .. }) = &self.bloom else {
            return;
        };
        samples.begin(gl);
        self.painter.bind_frame(gl, range);
        bind_uniforms(gl, FRAME_BINDING, emitted, (0, size_of::<Frame>()));
        let commands = passes.indirect.then_some(range.offset_bytes + COMMANDS_BYTES);
        self.painter.paint_emitted(gl, passes, commands);
        samples.resolve_to(gl, light.framebuffer);
        programs.begin(gl);
        let mut source = light;
        for glow in glows {
            glow.draw(gl, &programs.halve, source);
            source = glow;
        }
        set_blending(gl, Some(gl::ONE));
        for glow in glows[..WIDTHS - 1].iter().rev() {
            glow.draw(gl, &programs.widen, source);
            source = glow;
        }
        set_blending(gl, Some(gl::ONE_MINUS_DST_COLOR));
        self.target.bind_picture(gl);
        source.read(gl, &programs.add);
        set_blending(gl, None);
    }
}

impl Bloom {
    fn new(
        context: &Rc<Context>,
        picture: [u32; 2],
        no_vertices: VertexArray,
    ) -> Result<Self, RenderError> {
        let [emitted, glows @ ..] = sizes(picture);
        let glows = glows.iter().map(|size| Layer::new(context, *size, gl::RGBA16F));
        Ok(Self {
            picture,
            samples: Target::new(context, emitted, SAMPLES)?,
            emitted: Layer::new(context, emitted, gl::RGBA8)?,
            glows: glows.collect::<Result<_, _>>()?,
            programs: BloomPrograms::new(context, no_vertices)?,
        })
    }
}

impl BloomPrograms {
    fn new(context: &Rc<Context>, no_vertices: VertexArray) -> Result<Self, RenderError> {
        let program = |step: &str| {
            let head = format!("#version 430 core\n#define {step}\n");
            Program::new(context, &[VERTEX_SHADER], &[&head, FRAGMENT_SHADER])
        };
        let [halve, widen, add] = ["HALVE", "WIDEN", "ADD"].map(program);
        Ok(Self { halve: halve?, widen: widen?, add: add?, no_vertices })
    }

    /// Sets the state for steps.
    fn begin(&self, gl: &Gl) {
        self.no_vertices.bind(gl);
        // SAFETY: `gl` is of the context that is current.
        unsafe {
            gl.Disable(gl::DEPTH_TEST);
            gl.Disable(gl::CULL_FACE);
        }
    }
}

impl Layer {
    fn new(context: &Rc<Context>, size: [u32; 2], format: GLenum) -> Result<Self, RenderError> {
        // From here on `drop` deletes it; OpenGL ignores the name zero.
        let mut layer = Self { context: Rc::clone(context), size, texture: 0, framebuffer: 0 };
        let [width, height] = size.map(|side| side as GLsizei);
        let status = context.scope(CREATING, |gl| {
            // SAFETY: the context is current, there is space for one name each, and the texture has one
            // level.
            unsafe {
                gl.CreateTextures(gl::TEXTURE_2D, 1, &raw mut layer.texture);
                gl.TextureStorage2D(layer.texture, 1, format, width, height);
                for filter in [gl::TEXTURE_MIN_FILTER, gl::TEXTURE_MAG_FILTER] {
                    gl.TextureParameteri(layer.texture, filter, gl::NEAREST as GLint);
                }
                gl.CreateFramebuffers(1, &raw mut layer.framebuffer);
                let (framebuffer, point) = (layer.framebuffer, gl::COLOR_ATTACHMENT0);
                gl.NamedFramebufferTexture(framebuffer, point, layer.texture, 0);
                gl.CheckNamedFramebufferStatus(framebuffer, gl::FRAMEBUFFER)
            }
        })?;
        if status != gl::FRAMEBUFFER_COMPLETE {
            let reason = format!("the driver cannot draw to it (0x{status:04x})");
            return Err(RenderError::Device { during: CREATING, reason });
        }
        Ok(layer)
    }

    /// Draws to all of the layer with a program that reads `source`.
    fn draw(&self, gl: &Gl, program: &Program, source: &Self) {
        let [width, height] = self.size.map(|side| side as GLsizei);
        // SAFETY: `gl` is of the context that is current, in which the framebuffer is.
        unsafe {
            gl.BindFramebuffer(gl::FRAMEBUFFER, self.framebuffer);
            gl.Viewport(0, 0, width, height);
        }
        source.read(gl, program);
    }

    /// Draws to all of the bound target with a program that reads this layer.
    fn read(&self, gl: &Gl, program: &Program) {
        use_program(gl, program);
        // SAFETY: `gl` is of the context that is current, in which the texture is; the corners need
        // no buffers.
        unsafe {
            gl.BindTextureUnit(0, self.texture);
            gl.DrawArrays(gl::TRIANGLES, 0, 3);
        }
    }
}

impl Drop for Layer {
    fn drop(&mut self) {
        if let Ok(gl) = self.context.current() {
            // SAFETY: the context is current and the names are ours.
            unsafe {
                gl.DeleteFramebuffers(1, &raw const self.framebuffer);
                gl.DeleteTextures(1, &raw const self.texture);
            }
        }
    }
}

/// Adds light, multiplied by `factor`; opacity stays. `None` replaces colours.
fn set_blending(gl: &Gl, factor: Option<GLenum>) {
    // SAFETY: `gl` is of the context that is current.
    unsafe {
        match factor {
            Some(factor) => {
                gl.BlendFuncSeparate(factor, gl::ONE, gl::ZERO, gl::ONE);
                gl.Enable(gl::BLEND);
            }
            None => gl.Disable(gl::BLEND),
        }
    }
}
