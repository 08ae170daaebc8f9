//! Drawing through wgpu: Vulkan, Metal, Direct3D 12, and OpenGL where that is all there is.
//!
//! ```text
//!  write_quads ──► queue ──► quads, per-draw data ─┐
//!  draw ──► frame, commands ──► queue ──► submit: opaque ─ sky ─ blended
//!                                          one multi-draw a batch, or a call a command
//! ```
//! Writes are staged by wgpu: they take effect in queue order, after all frames submitted
//! before and before the next, so a place may be written again as soon as it is freed.

mod adapter;
mod copies;
mod cull;
mod encode;
mod geometry;
mod opening;
mod overlay;
mod per_frame;
mod pipelines;
mod progress;
mod target;
mod wired;

pub use adapter::Api;
pub use geometry::WgpuGeometry;
pub use target::WindowTarget;

use drystone_mesh::{Cube, Quad};
use drystone_pool::Access;

use self::{
    adapter::Opened, copies::Copies, cull::Culler, opening::check_size, overlay::OverlayPainter,
    per_frame::frame_group, pipelines::Pipelines, progress::Progress, target::Target,
    wired::WiredDraws,
};
use crate::{
    CullCounts, Culled, Device, DrawData, Frame, Image, Overlay, Passes, RenderError,
    TriangleVertex, device::Entries,
};

/// What a material without a colour is drawn in: magenta, as in the shader.
const UNKNOWN_COLOR: [u8; 4] = [255, 0, 255, 255];

/// A device that draws through wgpu, to a picture or to a window.
///
/// # Cost
/// A frame is one submission; a batch is one indirect call where the adapter can, else a
/// call a command.
pub struct WgpuDevice {
    opened: Opened,
    pipelines: Pipelines,
    target: Target,
    /// What changes with every frame, in one buffer, so that it goes up in one write: the
    /// [`Frame`], and from [`COMMANDS_OFFSET`] on the draw commands.
    per_frame: wgpu::Buffer,
    palette: wgpu::Buffer,
    frame_group: wgpu::BindGroup,
    pattern: wgpu::Buffer,
    /// Whether indirect commands may name the draw's slot as their first instance.
    indirect: bool,
    /// Whether the last picture reached its target.
    shown: bool,
    copies: Copies,
    progress: Progress,
    /// Once a frame has asked for it.
    culler: Option<Culler>,
    /// Once there is something to be drawn over pictures.
    overlay: Option<OverlayPainter>,
    /// Once there were triangles with lines.
    wired: Option<WiredDraws>,
}

impl WgpuDevice {
    /// Whether it is OpenGL that wgpu draws through.
    pub fn is_opengl(&self) -> bool {
        self.opened.adapter.get_info().backend == wgpu::Backend::Gl
    }

    /// Writes the bytes of a geometry's entries, after all copies before.
    fn write(&mut self, geometry: &WgpuGeometry, first: u32, bytes: &[u8]) {
        self.copies.flush(&self.opened.queue);
        geometry.write(&self.opened.queue, first, bytes);
    }

    /// From the next frame on, as where the GPU does not read how many commands there are.
    #[cfg(test)]
    pub(crate) fn cull_without_counts(&mut self) {
        if let Some(culler) = &mut self.culler {
            culler.max_counted = 0;
        }
    }
}

impl Device for WgpuDevice {
    type Geometry = WgpuGeometry;

    fn describe(&self) -> String {
        let info = self.opened.adapter.get_info();
        let calls = if self.indirect { "" } else { ", a call a command" };
        // Browsers keep it to themselves.
        let name = if info.name.is_empty() { "some adapter" } else { &info.name };
        format!("wgpu: {name} ({}, {}{calls})", info.backend, self.access().name())
    }

    fn access(&self) -> Access {
        Access::Staged
    }

    fn submitted(&self) -> u64 {
        self.progress.submitted()
    }

    fn completed(&mut self) -> u64 {
        // A lost device completes nothing more; drawing says so.
        let _ = adapter::poll(&self.opened, wgpu::PollType::Poll);
        self.progress.completed()
    }

    fn max_quads(&self) -> u32 {
        let limits = self.opened.device.limits();
        let bytes = limits.max_buffer_size.min(limits.max_storage_buffer_binding_size);
        u32::try_from(bytes / size_of::<Quad>() as u64).unwrap_or(u32::MAX)
    }

    fn set_palette(&mut self, colors: &[[u8; 4]]) -> Result<(), RenderError> {
        use wgpu::BufferUsages as Usage;
        // A buffer has at least one entry: that of an empty palette is the colour of
        // numbers without one.
        let colors = if colors.is_empty() { &[UNKNOWN_COLOR] } else { colors };
        let bytes: &[u8] = bytemuck::cast_slice(colors);
        let usage = Usage::STORAGE | Usage::COPY_DST;
        self.palette = geometry::buffer(&self.opened, "palette", bytes.len() as u64, usage)?;
        self.opened.queue.write_buffer(&self.palette, 0, bytes);
        self.frame_group =
            frame_group(&self.opened, &self.pipelines, &self.per_frame, &self.palette);
        Ok(())
    }

    fn create_geometry(&mut self, quads: u32, slots: u32) -> Result<WgpuGeometry, RenderError> {
        WgpuGeometry::new(&self.opened, &self.pipelines, (Entries::Quads, quads), slots)
    }

    fn create_cubes(&mut self, cubes: u32, slots: u32) -> Result<WgpuGeometry, RenderError> {
        WgpuGeometry::new(&self.opened, &self.pipelines, (Entries::Cubes, cubes), slots)
    }

    fn create_vertices(&mut self, vertices: u32, slots: u32) -> Result<WgpuGeometry, RenderError> {
        WgpuGeometry::new(&self.opened, &self.pipelines, (Entries::Vertices, vertices), slots)
    }

    fn create_indices(&mut self, indices: u32) -> Result<WgpuGeometry, RenderError> {
        WgpuGeometry::new(&self.opened, &self.pipelines, (Entries::Indices, indices), 0)
    }

    fn create_sharing(
        &mut self,
        other: &WgpuGeometry,
        quads: u32,
    ) -> Result<WgpuGeometry, RenderError> {
        WgpuGeometry::sharing(&self.opened, &self.pipelines, other, quads)
    }

    fn resize_draw_data(
        &mut self,
        sharing: &mut [&mut WgpuGeometry],
        slots: u32,
    ) -> Result<(), RenderError> {
        let draws = geometry::draw_table(&self.opened, slots)?;
        for geometry in sharing {
            geometry.set_draws(&self.opened, &self.pipelines, &draws);
        }
        Ok(())
    }

    fn write_quads(&mut self, geometry: &mut WgpuGeometry, first: u32, quads: &[Quad]) {
        self.write(geometry, first, bytemuck::cast_slice(quads));
    }

    fn write_cubes(&mut self, geometry: &mut WgpuGeometry, first: u32, cubes: &[Cube]) {
        if geometry.entries == Entries::Cubes {
            self.write(geometry, first, bytemuck::cast_slice(cubes));
        }
    }

    fn write_vertices(
        &mut self,
        geometry: &mut WgpuGeometry,
        first: u32,
        vertices: &[TriangleVertex],
    ) {
        if geometry.entries == Entries::Vertices {
            self.write(geometry, first, bytemuck::cast_slice(vertices));
        }
    }

    fn write_indices(&mut self, geometry: &mut WgpuGeometry, first: u32, indices: &[u32]) {
        if geometry.entries == Entries::Indices {
            self.write(geometry, first, bytemuck::cast_slice(indices));
        }
    }

    fn copy_quads(
        &mut self,
        from: &WgpuGeometry,
        from_first: u32,
        to: &mut WgpuGeometry,
        to_first: u32,
        count: u32,
    ) {
        to.copy_from(to_first, (from, from_first), count, (&mut self.copies, &self.opened));
    }

    fn copy_quads_within(
        &mut self,
        geometry: &mut WgpuGeometry,
        from_first: u32,
        to_first: u32,
        count: u32,
    ) {
        let into = (&mut self.copies, &self.opened);
        if let Err(error) = geometry.copy_within(from_first, to_first, count, into) {
            // The next frame fails: it would not show what it should.
            self.opened.fault.note(error.to_string(), false);
        }
    }

    fn write_draw_data(&mut self, geometry: &mut WgpuGeometry, first: u32, data: &[DrawData]) {
        geometry.write_draw_data(&self.opened.queue, first, data);
    }

    fn resize(&mut self, width: u32, height: u32) -> Result<(), RenderError> {
        check_size(&self.opened, width, height)?;
        if self.target.size() == [width, height] {
            return self.opened.fault.check_lost("resizing the picture");
        }
        self.target.resize(&self.opened, [width, height])
    }

    fn size(&self) -> [u32; 2] {
        self.target.size()
    }

    fn draw(
        &mut self,
        frame: &Frame,
        passes: &Passes<'_, WgpuGeometry>,
    ) -> Result<(), RenderError> {
        self.draw_frame(frame, passes, None)
    }

    fn culls(&self) -> Result<(), &'static str> {
        cull::missing(&self.opened, self.indirect).map_or(Ok(()), Err)
    }

    fn draw_culled(
        &mut self,
        frame: &Frame,
        passes: &Passes<'_, WgpuGeometry>,
        culled: &Culled<'_, WgpuGeometry>,
    ) -> Result<(), RenderError> {
        self.draw_frame(frame, passes, Some(culled))
    }

    fn cull_counts(&mut self) -> Option<CullCounts> {
        // A lost device tells nothing more; drawing says so.
        let _ = adapter::poll(&self.opened, wgpu::PollType::Poll);
        self.culler.as_mut()?.counts()
    }

    fn shown(&self) -> bool {
        self.shown
    }

    fn set_overlay(&mut self, overlay: &Overlay) -> Result<(), RenderError> {
        if self.overlay.is_none() && overlay.parts.is_empty() && overlay.patches.is_empty() {
            return Ok(());
        }
        let format = self.target.format;
        let made = || OverlayPainter::new(&self.opened, format);
        let mut painter = match self.overlay.take() {
            Some(painter) => painter,
            None => made()?,
        };
        // One that was refused is made anew.
        self.opened.fault.scope("taking an overlay", || painter.set(&self.opened, overlay))??;
        self.overlay = Some(painter);
        Ok(())
    }

    fn set_readable(&mut self, readable: bool) -> Result<(), RenderError> {
        self.target.set_readable(&self.opened, readable)
    }

    fn finish(&mut self) -> Result<(), RenderError> {
        adapter::poll(&self.opened, wgpu::PollType::wait_indefinitely())?;
        self.opened.fault.check("drawing")
    }

    fn read_image(&mut self) -> Result<Image, RenderError> {
        self.target.read(&self.opened)
    }
}

/// A browser gives back what a device holds when its garbage is collected, which knows nothing of
/// the GPU's memory.
#[cfg(target_arch = "wasm32")]
impl Drop for WgpuDevice {
    fn drop(&mut self) {
        self.opened.device.destroy();
    }
}

#[cfg(test)]
mod tests;
