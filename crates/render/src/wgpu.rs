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
mod overlay;
mod per_frame;
mod pipelines;
mod progress;
mod target;
mod wired;

pub use adapter::Api;
pub use geometry::WgpuGeometry;
pub use target::WindowTarget;

use drystone_mesh::{Cube, Quad, quad_index_pattern};
use drystone_pool::Access;

use self::{
    adapter::Opened,
    copies::Copies,
    cull::Culler,
    overlay::OverlayPainter,
    per_frame::{frame_group, per_frame_buffer},
    pipelines::Pipelines,
    progress::Progress,
    target::Target,
    wired::WiredDraws,
};
use crate::{
    CullCounts, Culled, Device, DrawData, Frame, Image, Overlay, PATTERN_QUADS, Passes,
    RenderError, TriangleVertex, device::Entries,
};

/// Draw commands that a new device has room for.
const FIRST_COMMANDS: usize = 1024;

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
    /// A device without a window, drawing pictures of this size.
    ///
    /// # Errors
    /// `NoAdapter`, `NoDevice`, `EmptyPicture` or `TooLarge`.
    pub fn headless(api: Api, width: u32, height: u32) -> Result<Self, RenderError> {
        let opened = pollster::block_on(adapter::open_headless(api))?;
        check_size(&opened, width, height)?;
        let target = Target::picture(&opened.device, [width, height]);
        Self::new(opened, target)
    }

    /// A device that shows its pictures in a window. Waits for it, which browsers do not
    /// allow: there it is [`windowed_async`](Self::windowed_async).
    ///
    /// # Errors
    /// `NoAdapter` when none can show pictures there, `NoDevice`, or `Device` when the
    /// window gives no surface.
    pub fn windowed(
        api: Api,
        window: WindowTarget,
        width: u32,
        height: u32,
    ) -> Result<Self, RenderError> {
        pollster::block_on(Self::windowed_async(api, window, width, height))
    }

    /// The same, while the program goes on: also in a browser, in a canvas of the page.
    ///
    /// # Errors
    /// As [`windowed`](Self::windowed).
    pub async fn windowed_async(
        api: Api,
        window: WindowTarget,
        width: u32,
        height: u32,
    ) -> Result<Self, RenderError> {
        let vsync = window.vsync;
        let (opened, surface, window) = adapter::open_for_window(api, window).await?;
        let size = [width.max(1), height.max(1)];
        check_size(&opened, size[0], size[1])?;
        let target = Target::window(&opened, surface, window, size, vsync)?;
        Self::new(opened, target)
    }

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
            culler.counts_on_gpu = false;
        }
    }

    fn new(opened: Opened, target: Target) -> Result<Self, RenderError> {
        use wgpu::BufferUsages as Usage;
        let pipelines = Pipelines::new(&opened.device, target.format);
        let per_frame = per_frame_buffer(&opened, FIRST_COMMANDS)?;
        let palette = geometry::buffer(&opened, "palette", 4, Usage::STORAGE | Usage::COPY_DST)?;
        let frame_group = frame_group(&opened, &pipelines, &per_frame, &palette);
        let indices = quad_index_pattern(PATTERN_QUADS);
        let index_bytes: &[u8] = bytemuck::cast_slice(&indices);
        let usage = Usage::INDEX | Usage::COPY_DST;
        let pattern = geometry::buffer(&opened, "index pattern", index_bytes.len() as u64, usage)?;
        opened.queue.write_buffer(&pattern, 0, index_bytes);
        opened.queue.write_buffer(&palette, 0, &UNKNOWN_COLOR);
        let features = opened.device.features();
        // On Direct3D 12 indirect commands reach the shader without base vertex and first
        // instance unless wgpu rewrites them, which costs more than it saves. Browsers have no
        // multi-draw, and validate each indirect command in a compute pass of its own.
        let goes_alone = [wgpu::Backend::Dx12, wgpu::Backend::BrowserWebGpu];
        let indirect = features.contains(wgpu::Features::INDIRECT_FIRST_INSTANCE)
            && !goes_alone.contains(&opened.adapter.get_info().backend);
        opened.fault.check("making pipelines")?;
        Ok(Self {
            opened,
            pipelines,
            target,
            per_frame,
            palette,
            frame_group,
            pattern,
            indirect,
            shown: true,
            copies: Copies::default(),
            progress: Progress::default(),
            culler: None,
            overlay: None,
            wired: None,
        })
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

    fn write_draw_data(&mut self, geometry: &mut WgpuGeometry, slot: u32, data: &DrawData) {
        geometry.write_draw_data(&self.opened.queue, slot, data);
    }

    fn resize(&mut self, width: u32, height: u32) -> Result<(), RenderError> {
        check_size(&self.opened, width, height)?;
        if self.target.size() != [width, height] {
            self.target.resize(&self.opened.device, [width, height]);
        }
        self.opened.fault.check("resizing the picture")
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
        painter.set(&self.opened, overlay)?;
        self.overlay = Some(painter);
        self.opened.fault.check("taking an overlay")
    }

    fn set_readable(&mut self, readable: bool) -> Result<(), RenderError> {
        self.target.set_readable(&self.opened.device, readable);
        self.opened.fault.check("making room for a picture")
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

fn check_size(opened: &Opened, width: u32, height: u32) -> Result<(), RenderError> {
    if width == 0 || height == 0 {
        return Err(RenderError::EmptyPicture { width, height });
    }
    let limit = opened.device.limits().max_texture_dimension_2d.into();
    let requested = width.max(height).into();
    if requested > limit {
        return Err(RenderError::TooLarge { what: "a picture's side", requested, limit });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Atmosphere, Camera};

    /// A device that is gone gives errors, one after another, and no panic.
    #[test]
    fn a_lost_device_is_an_error() {
        let mut device = match WgpuDevice::headless(Api::Any, 16, 16) {
            Ok(device) => device,
            Err(error) => {
                println!("skipped: a_lost_device_is_an_error: {error}");
                return;
            }
        };
        let frame = Frame::new(&Camera::default(), &Atmosphere::default(), 16, 16);
        let passes = Passes { opaque: &[], blended: &[], indirect: true };
        device.draw(&frame, &passes).unwrap();
        device.finish().unwrap();
        device.opened.device.destroy();
        for _ in 0..3 {
            let drawn = device.draw(&frame, &passes).and_then(|()| device.finish());
            assert!(matches!(drawn, Err(RenderError::Lost { .. })), "{drawn:?}");
            assert!(matches!(device.create_geometry(1, 1), Err(RenderError::Lost { .. })));
        }
        assert!(device.read_image().is_err());
    }
}
