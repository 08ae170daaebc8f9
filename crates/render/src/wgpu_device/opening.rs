//! Construction of devices for pictures and windows.

use drystone_mesh::Quad;
use drystone_pool::Access;
use drystone_wgpu::{
    WriteMode,
    parts::{FrameCounter, Gpu, Transfers, quad_pattern},
};

use super::{
    Api, WgpuDevice,
    adapter::{self, Opened},
    cull,
    per_frame::PerFrame,
    pipelines::Pipelines,
    target::Target,
};
use crate::{
    buffers::PATTERN_QUADS,
    device::{DeviceInfo, check_size},
    error::RenderError,
    fault::Fault,
    software::is_software,
    window_target::WindowTarget,
};

/// Number of storage buffers that the vertex stage of quads reads: materials, quads, draws.
const STORAGE_BUFFERS: u32 = 3;

impl WgpuDevice {
    /// Creates a device without a window that draws pictures of this size.
    ///
    /// # Errors
    /// `NoAdapter`, `NoDevice`, `EmptyPicture` or `TooLarge`.
    pub fn headless(api: Api, width: u32, height: u32) -> Result<Self, RenderError> {
        let opened = pollster::block_on(adapter::open_headless(api))?;
        check_size([width, height], opened.gpu.device.limits().max_texture_dimension_2d)?;
        let target =
            Target::picture(&opened.gpu.device, [width, height], wgpu::TextureFormat::Rgba8Unorm);
        Self::new(opened, target)
    }

    /// Creates a device on a device and queue of the caller, which draws pictures of `format`. Shaders
    /// output colours as shown on screen: for a texture with an sRGB format, pass the format without
    /// the suffix, and a view of that format. [`PoolRenderer::draw_into`](crate::PoolRenderer::draw_into) draws them into the
    /// caller's textures. Its own picture has one pixel until it is resized.
    ///
    /// Handlers of errors and of the loss of the device stay the caller's. The GPU culls if the device
    /// has compute shaders and `INDIRECT_FIRST_INSTANCE`, and the caller's depth textures have
    /// `TEXTURE_BINDING`.
    ///
    /// # Errors
    /// `Device` for an sRGB format, and for a format without colours that can be blended; `TooLarge`
    /// if a limit of the device is too low; `OutOfMemory` or `Lost`.
    pub fn from_parts(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        format: wgpu::TextureFormat,
    ) -> Result<Self, RenderError> {
        let limits = device.limits();
        let (needed, allowed) = (STORAGE_BUFFERS, limits.max_storage_buffers_per_shader_stage);
        if allowed < needed {
            return Err(RenderError::TooLarge {
                what: "max_storage_buffers_per_shader_stage",
                requested: needed.into(),
                limit: allowed.into(),
            });
        }
        if format != format.remove_srgb_suffix() {
            let reason = format!(
                "the format {format:?} would make pictures too bright; use it without sRGB"
            );
            return Err(RenderError::Device { during: "opening the caller's device", reason });
        }
        let gpu = Gpu::new(device, queue);
        let target =
            gpu.scope(("pictures of this format", 0), || Target::picture(device, [1, 1], format))?;
        let opened = Opened { origin: None, gpu, fault: Fault::default() };
        Self::new(opened, target)
    }

    /// Creates a device that shows its pictures in a window. Blocks, which browsers do not allow:
    /// use [`windowed_async`](Self::windowed_async) there.
    ///
    /// # Errors
    /// `NoAdapter` when no adapter can show pictures in the window, `NoDevice`, or `Device` when
    /// the window has no surface.
    pub fn windowed(
        api: Api,
        window: WindowTarget,
        width: u32,
        height: u32,
    ) -> Result<Self, RenderError> {
        pollster::block_on(Self::windowed_async(api, window, width, height))
    }

    /// Creates a device that shows its pictures in a window, or in a canvas of a web page, without
    /// blocking.
    ///
    /// # Errors
    /// The errors of [`windowed`](Self::windowed).
    pub async fn windowed_async(
        api: Api,
        window: WindowTarget,
        width: u32,
        height: u32,
    ) -> Result<Self, RenderError> {
        let vsync = window.vsync;
        let (opened, surface, window) = adapter::open_for_window(api, window).await?;
        let size = [width.max(1), height.max(1)];
        check_size(size, opened.gpu.device.limits().max_texture_dimension_2d)?;
        let target = Target::window(&opened, surface, window, size, vsync)?;
        Self::new(opened, target)
    }

    pub(super) fn new(opened: Opened, target: Target) -> Result<Self, RenderError> {
        let create = || Pipelines::new(&opened.gpu.device, target.attachment());
        let pipelines = opened.gpu.scope(("pipelines", 0), create)?;
        let per_frame = PerFrame::new(&opened, &pipelines)?;
        let pattern = quad_pattern(&opened.gpu, PATTERN_QUADS)?;
        let indirect = opened.gpu.draws_indirectly();
        let limits = opened.gpu.device.limits();
        let max_bytes = limits.max_buffer_size.min(limits.max_storage_buffer_binding_size);
        let max_quads = u32::try_from(max_bytes / size_of::<Quad>() as u64).unwrap_or(u32::MAX);
        let culling = cull::missing(&opened).map_or(Ok(()), Err);
        let (size, access) = (target.size(), Access::Staged);
        let samples = target.attachments.samples;
        let adapter = opened.gpu.device.adapter_info();
        let is_software =
            adapter.device_type == wgpu::DeviceType::Cpu || is_software(&adapter.name);
        let info = DeviceInfo { size, samples, access, max_quads, is_software, culling };
        opened.fault.check("making pipelines")?;
        Ok(Self {
            opened,
            pipelines,
            target,
            per_frame,
            pattern,
            indirect,
            info,
            transfers: Transfers::new(WriteMode::Gathered),
            progress: FrameCounter::default(),
            culler: None,
            overlay: None,
            wired: None,
        })
    }
}
