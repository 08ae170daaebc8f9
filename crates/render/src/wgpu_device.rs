//! Drawing through wgpu: Vulkan, Metal, Direct3D 12, or OpenGL as a fallback.
//!
//! ```text
//! write ──► queue ──► entries, per-draw data ─┐
//! draw ──► frame, commands ──► queue ─────────┴─► submit: opaque ─ sky ─ blended
//!                                                 one multi-draw a batch, or a call a command
//! ```
//! Writes are staged by wgpu. They take effect in queue order, after all frames submitted before
//! and before the next. So a range can be written again as soon as it is freed.

mod adapter;
mod attachments;
mod bloom;
mod cull;
mod encode;
mod geometry;
mod lent;
mod opening;
mod overlay;
mod per_frame;
mod pipelines;
mod shadows;
mod sources;
mod target;
mod wired;

pub use adapter::Api;
pub use geometry::WgpuGeometry;
pub use lent::DrawTarget;

use drystone_wgpu::{
    GpuError,
    parts::{FrameCounter, Transfers},
};

use self::{
    adapter::Opened, cull::PictureCuller, overlay::OverlayPainter, per_frame::PerFrame,
    pipelines::Pipelines, target::Target, wired::WiredDraws,
};
use crate::{
    buffers::{BufferData, BufferKind, CopyRange, DrawSlots},
    device::{
        Destination, Device, DeviceInfo, Output, Progress, Submitted, check_size, sealed::Sealed,
    },
    error::RenderError,
    frame::Frame,
    image::Image,
    material_look::MaterialLook,
    overlay::Overlay,
    passes::Passes,
    quad_textures::QuadTextures,
    samples::Samples,
    texture_set::TextureSet,
};

/// A device that draws through wgpu, to a picture or to a window.
///
/// # Cost
/// A frame is one submission. A batch is one indirect call if the adapter supports it, else one
/// call for each command.
pub struct WgpuDevice {
    opened: Opened,
    pipelines: Pipelines,
    target: Target,
    per_frame: PerFrame,
    pattern: wgpu::Buffer,
    /// Whether indirect commands can use the draw's slot as first instance.
    indirect: bool,
    /// Abilities and limits. The size is that of the target.
    info: DeviceInfo,
    transfers: Transfers,
    progress: FrameCounter,
    /// Created when the first frame needs it.
    culler: Option<PictureCuller>,
    /// Created when the first overlay is set.
    overlay: Option<OverlayPainter>,
    /// Created with the first triangles with lines.
    wired: Option<WiredDraws>,
}

impl WgpuDevice {
    /// Whether wgpu draws through OpenGL.
    pub fn is_opengl(&self) -> bool {
        self.opened.gpu.device.adapter_info().backend == wgpu::Backend::Gl
    }

    /// Draws from the next frame on as if the GPU could not read command counts.
    #[cfg(test)]
    pub(crate) fn cull_without_counts(&mut self) {
        if let Some(culler) = &mut self.culler {
            culler.max_counted = 0;
        }
    }
}

impl Sealed for WgpuDevice {}

impl Output for WgpuDevice {
    fn describe(&self) -> String {
        let info = self.opened.gpu.device.adapter_info();
        let calls = if self.indirect { "" } else { ", one call per command" };
        match info.name.as_str() {
            // Browsers hide the name.
            "" => format!("wgpu: {}{calls}", info.backend),
            name => format!("wgpu: {name} ({}{calls})", info.backend),
        }
    }

    fn info(&self) -> DeviceInfo {
        let (size, samples) = (self.target.size(), self.target.attachments.samples);
        DeviceInfo { size, samples, ..self.info }
    }

    fn set_materials(&mut self, materials: &[MaterialLook]) -> Result<(), RenderError> {
        self.per_frame.set_materials(&self.opened, materials)
    }

    fn set_textured_materials(
        &mut self,
        materials: &[MaterialLook],
        textures: &QuadTextures,
    ) -> Result<(), RenderError> {
        self.per_frame.set_textured_materials(&self.opened, materials, textures)
    }

    fn set_textures(&mut self, textures: &TextureSet) -> Result<(), RenderError> {
        self.per_frame.set_textures(&self.opened, textures)
    }

    fn resize(&mut self, width: u32, height: u32) -> Result<(), RenderError> {
        check_size([width, height], self.opened.gpu.device.limits().max_texture_dimension_2d)?;
        if self.target.size() == [width, height] {
            return self.opened.fault.check_lost("resizing the picture");
        }
        self.target.resize(&self.opened, [width, height])
    }

    fn set_samples(&mut self, samples: Samples) -> Result<(), RenderError> {
        self.target.set_samples(&self.opened, samples)
    }

    fn set_overlay(&mut self, overlay: &Overlay) -> Result<(), RenderError> {
        if self.overlay.is_none() && overlay.parts.is_empty() && overlay.patches.is_empty() {
            return Ok(());
        }
        let mut painter = match self.overlay.take() {
            Some(painter) => painter,
            None => OverlayPainter::new(&self.opened)?,
        };
        // A painter that refused its overlay is created again.
        self.opened.fault.scope("setting the overlay", || painter.set(&self.opened, overlay))??;
        self.overlay = Some(painter);
        Ok(())
    }

    fn set_destination(&mut self, destination: Destination) -> Result<(), RenderError> {
        self.target.set_destination(&self.opened, destination)
    }

    fn finish(&mut self) -> Result<(), RenderError> {
        adapter::poll(&self.opened, wgpu::PollType::wait_indefinitely())?;
        self.opened.fault.check("drawing")
    }

    fn is_idle(&mut self) -> Result<bool, RenderError> {
        adapter::poll(&self.opened, wgpu::PollType::Poll)?;
        Ok(self.progress.completed() >= self.progress.submitted())
    }

    fn read_image(&mut self) -> Result<Image, RenderError> {
        self.target.read(&self.opened)
    }
}

impl Device for WgpuDevice {
    type Geometry = WgpuGeometry;

    fn create(
        &mut self,
        kind: BufferKind,
        count: u32,
        slots: DrawSlots<'_, WgpuGeometry>,
    ) -> Result<WgpuGeometry, RenderError> {
        WgpuGeometry::new((&self.opened, &self.pipelines), kind, count, slots)
    }

    fn resize_draw_data(
        &mut self,
        sharing: &mut [&mut WgpuGeometry],
        slots: u32,
    ) -> Result<(), RenderError> {
        let draws = geometry::draw_table(&self.opened, slots)?;
        for geometry in sharing {
            geometry.set_draws((&self.opened, &self.pipelines), &draws);
        }
        Ok(())
    }

    fn write(&mut self, geometry: &mut WgpuGeometry, first: u32, data: BufferData<'_>) {
        let to = (&mut self.transfers, &self.opened);
        let written = match data {
            BufferData::DrawData(data) => geometry.write_draw_data(to, first, data),
            _ => geometry.write_entries(to, first, data),
        };
        self.note(written);
    }

    fn copy(&mut self, from: Option<&WgpuGeometry>, to: &mut WgpuGeometry, copy_range: CopyRange) {
        let copied = to.copy(from, copy_range, (&mut self.transfers, &self.opened));
        self.note(copied);
    }

    fn draw(
        &mut self,
        frame: &Frame,
        passes: &Passes<'_, WgpuGeometry>,
    ) -> Result<Submitted, RenderError> {
        let shown = self.draw_frame(frame, passes)?;
        Ok(Submitted { frame: self.progress.submitted(), shown })
    }

    fn can_move(&self) -> bool {
        !self.per_frame.is_read_by_lent()
    }

    fn kept_shadows(&self) -> u64 {
        // The caller may drop a lent picture, or submit it after others.
        let is_lent = self.target.lent.is_some() || self.per_frame.was_lent();
        let maps = self.per_frame.shadows.as_ref().filter(|_| !is_lent);
        maps.map_or(0, |maps| maps.token)
    }

    fn progress(&mut self) -> Progress {
        // A lost device completes nothing more; drawing reports the loss.
        let _ = adapter::poll(&self.opened, wgpu::PollType::Poll);
        let culled = self.culler.as_mut().and_then(PictureCuller::counts);
        Progress { completed: self.progress.completed(), culled }
    }
}

impl From<GpuError> for RenderError {
    fn from(error: GpuError) -> Self {
        let reason = error.to_string();
        match error {
            GpuError::Limit { what, needed, allowed, .. } => {
                Self::TooLarge { what, requested: needed, limit: allowed }
            }
            GpuError::OutOfMemory { requested_bytes, .. } => {
                Self::OutOfMemory { requested_bytes, reason }
            }
            GpuError::Lost { .. } => Self::Lost { during: "writing to it", reason },
            _ => Self::Device { during: "creating or writing buffers", reason },
        }
    }
}

/// A browser frees a device's memory when its garbage is collected, without regard to the GPU's
/// memory. So the device is destroyed explicitly, unless it is the caller's.
#[cfg(target_arch = "wasm32")]
impl Drop for WgpuDevice {
    fn drop(&mut self) {
        if self.opened.origin.is_some() {
            self.opened.gpu.device.destroy();
        }
    }
}

#[cfg(test)]
mod tests;
