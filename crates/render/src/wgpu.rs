//! Drawing through wgpu: Vulkan, Metal, Direct3D 12, or OpenGL as a fallback.
//!
//! ```text
//! write_quads ──► queue ──► quads, per-draw data ─┐
//! draw ──► frame, commands ──► queue ──► submit: opaque ─ sky ─ blended
//! one multi-draw a batch, or a call a command
//! ```
//! Writes are staged by wgpu. They take effect in queue order, after all frames submitted before
//! and before the next. So a range can be written again as soon as it is freed.

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

/// Colour of materials without a colour: magenta, as in the shader.
const UNKNOWN_COLOR: [u8; 4] = [255, 0, 255, 255];

/// A device that draws through wgpu, to a picture or to a window.
///
/// # Cost
/// A frame is one submission. A batch is one indirect call if the adapter supports it, else one
/// call for each command.
pub struct WgpuDevice {
    opened: Opened,
    pipelines: Pipelines,
    target: Target,
    /// Data that changes with every frame, in one buffer, so that one write uploads it: the
    /// [`Frame`], and the draw commands from [`COMMANDS_OFFSET`] on.
    per_frame: wgpu::Buffer,
    palette: wgpu::Buffer,
    frame_group: wgpu::BindGroup,
    pattern: wgpu::Buffer,
    /// Whether indirect commands can use the draw's slot as first instance.
    indirect: bool,
    /// Whether the last picture reached its target.
    shown: bool,
    copies: Copies,
    progress: Progress,
    /// Created when the first frame needs it.
    culler: Option<Culler>,
    /// Created when the first overlay is set.
    overlay: Option<OverlayPainter>,
    /// Created with the first triangles with lines.
    wired: Option<WiredDraws>,
}

impl WgpuDevice {
    /// Whether wgpu draws through OpenGL.
    pub fn is_opengl(&self) -> bool {
        self.opened.adapter.get_info().backend == wgpu::Backend::Gl
    }

    /// Writes the bytes of a geometry's entries, after all earlier copies.
    fn write(&mut self, geometry: &WgpuGeometry, first: u32, bytes: &[u8]) {
        self.copies.flush(&self.opened.queue);
        geometry.write(&self.opened.queue, first, bytes);
    }

    /// Draws from the next frame on as if the GPU could not read command counts.
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
        let calls = if self.indirect { "" } else { ", one call per command" };
        // Browsers hide the name.
        let name = if info.name.is_empty() { "unnamed adapter" } else { &info.name };
        format!("wgpu: {name} ({}, {}{calls})", info.backend, self.access().name())
    }

    fn access(&self) -> Access {
        Access::Staged
    }

    fn submitted(&self) -> u64 {
        self.progress.submitted()
    }

    fn completed(&mut self) -> u64 {
        // A lost device completes nothing more; drawing reports the loss.
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
        // A buffer has at least one entry. For an empty palette it is the colour of materials
        // without one.
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
            // The next frame must fail, because it would show wrong quads.
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
        // A lost device reports nothing more; drawing reports the loss.
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
        // A painter that refused its overlay is created again.
        self.opened.fault.scope("setting the overlay", || painter.set(&self.opened, overlay))??;
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

/// A browser frees a device's memory when its garbage is collected, without regard to the GPU's
/// memory. So the device is destroyed explicitly.
#[cfg(target_arch = "wasm32")]
impl Drop for WgpuDevice {
    fn drop(&mut self) {
        self.opened.device.destroy();
    }
}

#[cfg(test)]
mod tests;
