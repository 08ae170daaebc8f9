//! Drawing through OpenGL 4.5: quads written directly, one call for many commands.
//!
//! ```text
//! write entries ──direct──► mapped memory ─────────────────────────┐
//!               ──staged──► ring ──copy──► buffer ─────────────────┼─► opaque ─ sky ─ blended
//! write draw data ────────► ring ──copy──► table, by base instance ┘   one call a batch
//! draw ──► frame, commands ──► ring, fenced
//! ```
//! *Direct* writes are plain stores into memory that the GPU reads while it runs. The caller must
//! ensure that no unfinished frame reads the written range. Fences show which frames are finished;
//! they are polled, never waited for. All other writes are *staged*: the GPU copies them, in order,
//! from ranges that no unfinished frame reads.

#[allow(unsafe_code)]
pub mod bindings;
#[allow(unsafe_code)]
mod bloom;
#[allow(unsafe_code)]
mod buffer;
mod config;
#[allow(unsafe_code)]
mod context;
mod drawing;
mod geometry;
#[allow(unsafe_code)]
mod overlay;
pub mod parts;
#[allow(unsafe_code)]
mod passes;
#[allow(unsafe_code)]
mod platform;
#[allow(unsafe_code)]
mod program;
#[allow(unsafe_code)]
mod progress;
mod ring;
#[allow(unsafe_code)]
mod shadows;
mod staging;
#[allow(unsafe_code)]
mod target;
mod upload;
#[allow(unsafe_code)]
mod vertex_array;

#[cfg(test)]
mod tests;

use std::{num::NonZeroU32, rc::Rc};

use drystone_mesh::Quad;
use drystone_pool::{Access, DrawCommand};

use self::{
    bindings::Gl,
    bloom::Bloom,
    context::Context,
    geometry::{check, draw_table},
    overlay::OverlayPainter,
    passes::{Painter, use_program},
    platform::Platform,
    program::Program,
    progress::Fences,
    shadows::ShadowMaps,
    staging::Staging,
    target::Target,
    vertex_array::VertexArray,
};
pub use self::{config::GlConfig, geometry::GlGeometry};
use crate::{
    buffers::{BufferData, BufferKind, CopyRange, DrawSlots},
    device::{Destination, Device, DeviceInfo, Output, Progress, Submitted, sealed::Sealed},
    error::RenderError,
    frame::Frame,
    image::Image,
    material_look::MaterialLook,
    overlay::Overlay,
    passes::Passes,
    quad_textures::QuadTextures,
    samples::Samples,
    software::is_software,
    texture_set::TextureSet,
    window_target::WindowTarget,
};

/// A device that draws through OpenGL, to a picture or to a window.
///
/// It stays on the thread that made it, to which its context is bound. Every call makes the context
/// current, so other contexts can be used in between.
///
/// # Cost
/// A batch is one call. Written quads are stored once ([`Access::Direct`]), or once and copied by
/// the GPU.
pub struct GlDevice {
    context: Rc<Context>,
    access: Access,
    target: Target,
    painter: Painter,
    staging: Staging,
    progress: Fences,
    /// `None` until a picture reads maps, and after one that reads none.
    shadows: Option<ShadowMaps>,
    /// Painter of the overlay. `None` until the first overlay is set.
    overlay: Option<OverlayPainter>,
    /// `None` until a picture has bloom, and after one without.
    bloom: Option<Bloom>,
}

/// Why the device does not cull meshes itself.
const NO_CULLING: &str = "this backend has no compute shaders for it";

/// Offset of the commands from the start of a frame's data, in bytes.
const COMMANDS_BYTES: u64 = size_of::<Frame>() as u64;

impl GlDevice {
    /// Creates a device without a window that draws pictures of this size.
    ///
    /// # Errors
    /// `NoAdapter` when no suitable OpenGL is available, `EmptyPicture` or `TooLarge`.
    pub fn headless(config: GlConfig, width: u32, height: u32) -> Result<Self, RenderError> {
        let (platforms, mut faults) = Platform::headless();
        let contexts = platforms.into_iter().filter_map(|platform| {
            let context = Context::new(platform, &config);
            context.map_err(|reason| faults.push(reason)).ok()
        });
        let opened = first_device(contexts, |context| Self::new(context, config, [width, height]));
        opened.unwrap_or_else(|| Err(no_adapter(&faults)))
    }

    /// Creates a device that shows its pictures in a window.
    ///
    /// # Errors
    /// `NoAdapter` when no OpenGL is suitable for the window, or `TooLarge`.
    pub fn windowed(
        config: GlConfig,
        window: WindowTarget,
        width: u32,
        height: u32,
    ) -> Result<Self, RenderError> {
        let size = [width, height].map(|side| NonZeroU32::new(side).unwrap_or(NonZeroU32::MIN));
        let context = Platform::windowed(window, size)
            .and_then(|platform| Context::new(platform, &config))
            .map_err(|reason| no_adapter(&[reason]))?;
        Self::new(context, config, size.map(NonZeroU32::get))
    }

    fn new(context: Rc<Context>, config: GlConfig, size: [u32; 2]) -> Result<Self, RenderError> {
        let target = Target::new(&context, size, Samples::One)?;
        let painter = Painter::new(&context)?;
        let staging = Staging::new(&context, config.access == Access::Direct)?;
        let progress = Fences::new(&context);
        let (access, shadows, overlay, bloom) = (config.access, None, None, None);
        Ok(Self { access, target, painter, staging, progress, shadows, overlay, bloom, context })
    }

    /// Simulates the loss of the context.
    #[cfg(test)]
    pub(crate) fn lose(&self) {
        self.context.fault.note("the context was reset".to_owned(), true);
    }

    /// Changes materials or textures. Renderers draw all maps again if the holes of casters may have
    /// changed.
    fn change_holes(
        &mut self,
        change: impl FnOnce(&mut Painter) -> Result<(), RenderError>,
    ) -> Result<(), RenderError> {
        let before = self.painter.holes();
        change(&mut self.painter)?;
        let has_changed = [before, self.painter.holes()].iter().any(|it| it.0 || it.1);
        self.shadows.iter_mut().filter(|_| has_changed).for_each(|maps| maps.token = 0);
        Ok(())
    }

    /// Runs an operation whose caller cannot return errors. An error fails the next frame.
    fn attempt(&mut self, work: impl FnOnce(&Gl, &mut Staging, Access) -> Result<(), RenderError>) {
        let context = Rc::clone(&self.context);
        let done = context.current().and_then(|gl| work(gl, &mut self.staging, self.access));
        if let Err(error) = done {
            context.fault.note(error.to_string(), false);
        }
    }
}

/// Parts for devices that draw with their own shaders and vertex layouts.
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
        self.draw_with(frame, commands, None, |painter, gl, range, commands_bytes| {
            painter.bind_frame(gl, range);
            use_program(gl, program);
            paint(gl, range.offset_bytes + commands_bytes);
            painter.paint_sky(gl);
        })
    }
}

impl Sealed for GlDevice {}

impl Output for GlDevice {
    fn describe(&self) -> String {
        format!("gl: {}, {}", self.context.name, self.access.name())
    }

    fn info(&self) -> DeviceInfo {
        let max_quads = self.context.limits.storage_bytes / size_of::<Quad>() as u64;
        DeviceInfo {
            size: self.target.size(),
            samples: self.target.samples(),
            access: self.access,
            max_quads: u32::try_from(max_quads).unwrap_or(u32::MAX),
            is_software: is_software(&self.context.name),
            culling: Err(NO_CULLING),
        }
    }

    fn set_materials(&mut self, materials: &[MaterialLook]) -> Result<(), RenderError> {
        self.change_holes(|painter| painter.set_materials(materials))
    }

    fn set_textured_materials(
        &mut self,
        materials: &[MaterialLook],
        textures: &QuadTextures,
    ) -> Result<(), RenderError> {
        self.change_holes(|painter| painter.set_textured_materials(materials, textures))
    }

    fn set_textures(&mut self, textures: &TextureSet) -> Result<(), RenderError> {
        if self.painter.has_set(textures) {
            return Ok(());
        }
        self.change_holes(|painter| painter.set_textures(textures))
    }

    fn resize(&mut self, width: u32, height: u32) -> Result<(), RenderError> {
        if self.target.size() == [width, height] {
            return Ok(());
        }
        // The old target remains until the new one exists.
        self.target = Target::new(&self.context, [width, height], self.target.samples())?;
        if let (Some(width), Some(height)) = (NonZeroU32::new(width), NonZeroU32::new(height)) {
            self.context.platform.resize(width, height);
        }
        Ok(())
    }

    fn set_samples(&mut self, samples: Samples) -> Result<(), RenderError> {
        if self.target.samples() != samples {
            self.target = Target::new(&self.context, self.target.size(), samples)?;
        }
        Ok(())
    }

    fn set_overlay(&mut self, overlay: &Overlay) -> Result<(), RenderError> {
        OverlayPainter::replace(&mut self.overlay, &self.context, overlay)
    }

    fn set_destination(&mut self, _: Destination) -> Result<(), RenderError> {
        // Every picture is kept, and copied to the window.
        Ok(())
    }

    fn finish(&mut self) -> Result<(), RenderError> {
        self.progress.finish()
    }

    fn read_image(&mut self) -> Result<Image, RenderError> {
        self.target.read()
    }
}

impl Device for GlDevice {
    type Geometry = GlGeometry;

    fn create(
        &mut self,
        kind: BufferKind,
        count: u32,
        slots: DrawSlots<'_, GlGeometry>,
    ) -> Result<GlGeometry, RenderError> {
        let requested = u64::from(count) * kind.entry_bytes();
        let limit = self.context.limits.storage_bytes;
        if requested > limit {
            return Err(RenderError::TooLarge { what: "a geometry", requested, limit });
        }
        GlGeometry::new(&self.context, self.access, (kind, kind.entry_bytes(), count), slots)
    }

    fn resize_draw_data(
        &mut self,
        sharing: &mut [&mut GlGeometry],
        slots: u32,
    ) -> Result<(), RenderError> {
        let draws = draw_table(&self.context, slots)?;
        sharing.iter_mut().for_each(|geometry| geometry.set_draws(&draws, slots));
        Ok(())
    }

    fn write(&mut self, geometry: &mut GlGeometry, first: u32, data: BufferData<'_>) {
        self.attempt(|gl, staging, access| match data {
            BufferData::DrawData(data) => geometry.write_draw_data(gl, staging, first, data),
            _ if data.kind() != Some(geometry.kind) => Ok(()),
            _ => geometry.write(gl, staging, (access, first), data.bytes()),
        });
    }

    fn copy(&mut self, from: Option<&GlGeometry>, to: &mut GlGeometry, copy_range: CopyRange) {
        self.attempt(|gl, staging, _| {
            staging.flush(gl)?;
            to.copy(gl, from, copy_range);
            Ok(())
        });
    }

    fn draw(
        &mut self,
        frame: &Frame,
        passes: &Passes<'_, GlGeometry>,
    ) -> Result<Submitted, RenderError> {
        if passes.culled.is_some() {
            return Err(RenderError::cannot_cull(NO_CULLING));
        }
        // The maps are not those of a picture that is not drawn.
        self.shadows.iter_mut().for_each(|maps| maps.token = 0);
        passes.batches().filter(|batch| batch.needs_check()).try_for_each(check)?;
        let indirect = passes.batches().filter(|_| passes.indirect);
        let commands = indirect.map(|batch| batch.commands);
        self.draw_with(frame, commands, Some(passes), |painter, gl, range, commands_bytes| {
            painter.paint(gl, range, commands_bytes, (frame, passes));
        })
    }

    fn kept_shadows(&self) -> u64 {
        self.shadows.as_ref().map_or(0, |maps| maps.token)
    }

    fn progress(&mut self) -> Progress {
        Progress { completed: self.progress.completed(), culled: None }
    }
}

/// The first device that can be created with one of the contexts, else the first error. A context
/// can be created although its driver then refuses a program or a picture.
fn first_device<C, D, E>(
    contexts: impl Iterator<Item = C>,
    open: impl FnMut(C) -> Result<D, E>,
) -> Option<Result<D, E>> {
    let mut first_error = None;
    for opened in contexts.map(open) {
        match opened {
            Ok(device) => return Some(Ok(device)),
            Err(error) => first_error = first_error.or(Some(Err(error))),
        }
    }
    first_error
}

fn no_adapter(found: &[String]) -> RenderError {
    let found = if found.is_empty() { "there is none".into() } else { found.join(", ") };
    RenderError::NoAdapter { requested: "OpenGL 4.5", found: crate::fault::one_line(&found) }
}
