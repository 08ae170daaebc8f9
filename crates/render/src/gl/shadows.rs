//! Maps of shadows and of the sky: layers of depth textures, and the programs that draw them.

use std::rc::Rc;

use super::{
    COMMANDS_BYTES, GlDevice, GlGeometry,
    bindings::{self as gl, Gl, types::*},
    context::Context,
    passes::{FRAME_BINDING, Painter, bind_uniforms},
    program::{CasterPrograms, Program},
    upload::UploadRange,
};
use crate::{
    buffers::BufferKind,
    error::RenderError,
    frame::Frame,
    passes::{Passes, ShadowPass},
    shadows::{MAX_CASCADES, MapLayer, SKY_MAPS, SKY_SIDE, ShadowFrame},
};

/// Binding of the uniforms for reading maps, and the texture units of the maps.
const SHADOW_BINDING: GLuint = 1;
const CASCADES_UNIT: GLuint = 0;
const SKY_UNIT: GLuint = 1;

const CREATING: &str = "creating shadow maps";

/// The maps of the last picture that read any.
pub(super) struct ShadowMaps {
    /// `None` without shadows.
    cascades: Option<Maps>,
    /// `None` without sky light.
    sky: Option<Maps>,
    programs: CasterPrograms,
    /// Token of the renderer whose maps they are; 0 for none.
    pub(super) token: u64,
}

/// Maps of one size.
struct Maps {
    context: Rc<Context>,
    side: u32,
    texture: GLuint,
    framebuffers: Vec<GLuint>,
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
        passes: Option<&Passes<'_, GlGeometry>>,
    ) -> Result<(), RenderError> {
        let Some((passes, pass)) = passes.and_then(|passes| Some((passes, passes.shadows?))) else {
            self.shadows = None;
            return Ok(());
        };
        let alignment = self.context.limits.uniform_alignment;
        let data = ShadowData::new(alignment);
        let own = self.staging.allocate(data.size_bytes(pass), alignment)?;
        data.write(&own, pass);
        self.staging.flush(gl)?;
        let maps = ShadowMaps::prepare(&mut self.shadows, &self.context, pass)?;
        maps.programs.prepare(&self.context, self.painter.holes())?;
        self.painter.bind_frame(gl, range);
        // The commands of the maps follow those of the scene.
        let of_scene = passes.scene_batches().map(|batch| size_of_val(batch.commands) as u64);
        let commands = range.offset_bytes + COMMANDS_BYTES + of_scene.sum::<u64>();
        let commands = passes.indirect.then_some(commands);
        maps.draw(gl, (pass, &self.painter), (&data, &own), commands);
        maps.token = pass.token;
        Ok(())
    }
}

impl ShadowData {
    /// Creates the offsets for uniforms with this alignment.
    fn new(alignment: u64) -> Self {
        let larger = size_of::<Frame>().max(size_of::<ShadowFrame>());
        Self { stride_bytes: (larger as u64).next_multiple_of(alignment) }
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

impl Maps {
    /// Creates this number of maps of this side.
    ///
    /// # Errors
    /// `Device` when there is no memory for them.
    fn new(context: &Rc<Context>, (side, count): (u32, usize)) -> Result<Self, RenderError> {
        // From here on `drop` deletes it; OpenGL ignores the name zero.
        let (context, texture, framebuffers) = (Rc::clone(context), 0, vec![0; count]);
        let mut maps = Self { context, side, texture, framebuffers };
        let status = Rc::clone(&maps.context).scope(CREATING, |gl| {
            let (length, layers) = (side as GLsizei, count as GLsizei);
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
                for (layer, &framebuffer) in (0..).zip(&maps.framebuffers) {
                    let point = gl::DEPTH_ATTACHMENT;
                    gl.NamedFramebufferTextureLayer(framebuffer, point, maps.texture, 0, layer);
                    gl.NamedFramebufferDrawBuffer(framebuffer, gl::NONE);
                }
                let first = maps.framebuffers.first().copied().unwrap_or_default();
                gl.CheckNamedFramebufferStatus(first, gl::FRAMEBUFFER)
            }
        })?;
        if status != gl::FRAMEBUFFER_COMPLETE {
            let reason = format!("the driver cannot draw to them (0x{status:04x})");
            return Err(RenderError::Device { during: CREATING, reason });
        }
        Ok(maps)
    }

    /// Keeps the maps of this side and number, or creates them; frees them without.
    fn prepare(
        kept: &mut Option<Self>,
        context: &Rc<Context>,
        needed: Option<(u32, usize)>,
    ) -> Result<(), RenderError> {
        let is_same = |(side, _)| kept.as_ref().is_some_and(|maps| maps.side == side);
        if !needed.is_some_and(is_same) {
            *kept = None;
            *kept = needed.map(|size| Self::new(context, size)).transpose()?;
        }
        Ok(())
    }

    /// Binds the maps for reading.
    fn bind(&self, gl: &Gl, unit: GLuint) {
        // SAFETY: `gl` is of the context that is current, in which the texture is.
        unsafe { gl.BindTextureUnit(unit, self.texture) };
    }

    /// Binds a map as the target, and clears it.
    fn begin(&self, gl: &Gl, layer: usize) {
        let framebuffer = self.framebuffers.get(layer).copied().unwrap_or_default();
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

impl ShadowMaps {
    /// Creates the maps of a pass if `kept` are not those.
    ///
    /// # Errors
    /// `Device` when there is no memory for them, or the driver refuses a shader.
    fn prepare<'a>(
        kept: &'a mut Option<Self>,
        context: &Rc<Context>,
        pass: &ShadowPass<'_, GlGeometry>,
    ) -> Result<&'a mut Self, RenderError> {
        let maps = match kept {
            Some(maps) => maps,
            none => {
                let programs = CasterPrograms::new(context)?;
                none.insert(Self { cascades: None, sky: None, programs, token: 0 })
            }
        };
        maps.token = 0;
        let kinds = pass.kinds();
        Maps::prepare(&mut maps.cascades, context, kinds.sun.then_some((pass.side, MAX_CASCADES)))?;
        Maps::prepare(&mut maps.sky, context, kinds.sky.then_some((SKY_SIDE, SKY_MAPS)))?;
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
            let (maps, layer) = match cascade.layer {
                MapLayer::Cascade(layer) => (&self.cascades, layer),
                MapLayer::Sky(layer) => (&self.sky, layer),
            };
            maps.iter().for_each(|maps| maps.begin(gl, layer));
            bind_uniforms(
                gl,
                FRAME_BINDING,
                range,
                (data.offset_bytes(number), size_of::<Frame>()),
            );
            let CasterPrograms { quads, cubes, triangles, masked, cut_out } = &self.programs;
            let triangles = masked.as_ref().unwrap_or(triangles);
            let [quads, cubes] = cut_out.as_ref().map_or([quads, cubes], <[_; 2]>::each_ref);
            let programs: [(BufferKind, &Program); 3] = [
                (BufferKind::Quads, quads),
                (BufferKind::Cubes, cubes),
                (BufferKind::Vertices, triangles),
            ];
            painter.paint_batches(gl, (&programs, &cascade.batches), (false, &mut commands));
        }
        bind_uniforms(gl, SHADOW_BINDING, range, (0, size_of::<ShadowFrame>()));
        self.cascades.iter().for_each(|maps| maps.bind(gl, CASCADES_UNIT));
        self.sky.iter().for_each(|maps| maps.bind(gl, SKY_UNIT));
    }
}

impl Drop for Maps {
    fn drop(&mut self) {
        if let Ok(gl) = self.context.current() {
            // SAFETY: the context is current and the names are ours.
            unsafe {
                let count = self.framebuffers.len() as GLsizei;
                gl.DeleteFramebuffers(count, self.framebuffers.as_ptr());
                gl.DeleteTextures(1, &raw const self.texture);
            }
        }
    }
}
