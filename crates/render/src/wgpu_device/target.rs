//! Targets of pictures: a texture that can be read back, or a window.

use drystone_wgpu::CullDepth;

use super::{
    adapter::{self, Opened, WindowHandle},
    attachments::{Attachments, lowered, texture},
    pipelines::Attachment,
};
use crate::{
    device::Destination, error::RenderError, fault::one_line, image::Image, samples::Samples,
    shadows::MapKinds,
};

pub(super) struct Target {
    window: Option<Box<Window>>,
    /// Texture to draw to. `None`: the window's surface.
    picture: Option<Picture>,
    size: [u32; 2],
    /// Format that pipelines draw in: never an sRGB one, because shaders output colours as shown on
    /// screen.
    pub(super) format: wgpu::TextureFormat,
    /// Depth, and colours with several samples a pixel.
    pub(super) attachments: Attachments,
    /// Encoder and attachments of the caller, for one frame.
    pub(super) lent: Option<Lent>,
}

/// Encoder and attachments of the caller, held while one frame is encoded.
pub(super) struct Lent {
    /// `None` while a frame is encoded.
    pub(super) encoder: Option<wgpu::CommandEncoder>,
    pub(super) color: wgpu::TextureView,
    pub(super) depth: wgpu::TextureView,
    pub(super) size: [u32; 2],
    pub(super) color_load: wgpu::LoadOp<wgpu::Color>,
    pub(super) depth_load: wgpu::LoadOp<f32>,
    pub(super) has_sky: bool,
}

const CONFIGURING: &str = "configuring the window's surface";

/// A texture that can be read back. The view is created once: backends keep a framebuffer for each
/// view that they draw to.
struct Picture {
    texture: wgpu::Texture,
    view: wgpu::TextureView,
}

struct Window {
    instance: wgpu::Instance,
    handle: WindowHandle,
    surface: wgpu::Surface<'static>,
    configuration: wgpu::SurfaceConfiguration,
}

/// Attachments of one frame.
pub(super) struct Canvas {
    pub(super) color: wgpu::TextureView,
    /// Surface to present after the frame is submitted.
    pub(super) surface: Option<wgpu::SurfaceTexture>,
}

impl Target {
    pub(super) fn picture(
        device: &wgpu::Device,
        size: [u32; 2],
        format: wgpu::TextureFormat,
    ) -> Self {
        let picture = Some(Picture::new(device, size, format));
        let attachments = Attachments::new(device, size, format, Samples::One);
        Self { window: None, picture, size, format, attachments, lent: None }
    }

    pub(super) fn window(
        opened: &Opened,
        surface: wgpu::Surface<'static>,
        handle: WindowHandle,
        size: [u32; 2],
        vsync: bool,
    ) -> Result<Self, RenderError> {
        let origin = opened.origin()?;
        let configuration = surface
            .get_default_config(&origin.1, size[0].max(1), size[1].max(1))
            .ok_or(RenderError::Device {
            during: CONFIGURING,
            reason: "the adapter cannot show pictures in this window".into(),
        })?;
        let capabilities = surface.get_capabilities(&origin.1);
        let plain = capabilities.formats.iter().copied().find(|f| {
            use wgpu::TextureFormat::{Bgra8Unorm, Rgba8Unorm};
            matches!(f, Bgra8Unorm | Rgba8Unorm)
        });
        let surface_format = plain.unwrap_or(configuration.format);
        let format = surface_format.remove_srgb_suffix();
        let view_formats = if format == surface_format { vec![] } else { vec![format] };
        let present_mode =
            if vsync { wgpu::PresentMode::AutoVsync } else { wgpu::PresentMode::AutoNoVsync };
        let configuration = wgpu::SurfaceConfiguration {
            format: surface_format,
            view_formats,
            present_mode,
            ..configuration
        };
        surface.configure(&opened.gpu.device, &configuration);
        let drawn = size.map(|side| side.max(1));
        let attachments = Attachments::new(&opened.gpu.device, drawn, format, Samples::One);
        let instance = origin.0.clone();
        let window = Some(Box::new(Window { instance, handle, surface, configuration }));
        Ok(Self { window, picture: None, size, format, attachments, lent: None })
    }

    /// Puts the window into the state of a hidden window.
    #[cfg(test)]
    pub(super) fn hide(&mut self) {
        self.picture = None;
    }

    pub(super) fn size(&self) -> [u32; 2] {
        self.lent.as_ref().map_or(self.size, |lent| lent.size)
    }

    pub(super) fn depth(&self) -> &wgpu::TextureView {
        self.lent.as_ref().map_or(&self.attachments.depth, |lent| &lent.depth)
    }

    /// Creates the depth that culling reads, if it does not exist.
    pub(super) fn prepare_culling(&mut self, device: &wgpu::Device) {
        if self.lent.is_none() {
            self.attachments.prepare_culling(device, self.size.map(|side| side.max(1)));
        }
    }

    /// The depth that culling reads.
    pub(super) fn depth_for_culling(&self) -> CullDepth<'_> {
        let own = || self.attachments.depth_for_culling();
        let view = self.lent.as_ref().map_or_else(own, |lent| &lent.depth);
        CullDepth { view, size: self.size() }
    }

    /// Encodes the computation of the depth that culling reads, from the current depth.
    pub(super) fn encode_depth_for_culling(&self, encoder: &mut wgpu::CommandEncoder) {
        if self.lent.is_none() {
            self.attachments.encode_depth_for_culling(encoder);
        }
    }

    /// Format and samples of the attachments that scenes are drawn to.
    pub(super) fn attachment(&self) -> Attachment {
        let own = self.attachments.samples.count();
        let samples = self.lent.as_ref().map_or(own, |lent| lent.color.texture().sample_count());
        Attachment { format: self.format, samples, maps: MapKinds::default(), is_tiled: false }
    }

    /// Format and samples of the canvas. Own ones have one sample a pixel, those of the caller have
    /// as many as its scenes.
    pub(super) fn canvas_attachment(&self) -> Attachment {
        let samples = if self.lent.is_some() { self.attachment().samples } else { 1 };
        Attachment { format: self.format, samples, maps: MapKinds::default(), is_tiled: false }
    }

    /// The colours with several samples a pixel that scenes are drawn to, and from which the canvas is
    /// resolved. `None` if scenes are drawn to the canvas directly.
    pub(super) fn colors(&self) -> Option<&wgpu::TextureView> {
        self.attachments.colors.as_ref().filter(|_| self.lent.is_none())
    }

    /// Store operation for the colours of a complete scene.
    pub(super) fn resolved_store(&self) -> wgpu::StoreOp {
        self.colors().map_or(wgpu::StoreOp::Store, |_| self.attachments.resolved_store)
    }

    /// Changes the number of samples in each pixel of the following pictures.
    ///
    /// # Errors
    /// `Device` or `Lost`. After an error the number is unchanged.
    pub(super) fn set_samples(
        &mut self,
        opened: &Opened,
        samples: Samples,
    ) -> Result<(), RenderError> {
        let (device, format) = (&opened.gpu.device, self.format);
        let samples = lowered(opened, format, samples);
        if samples != self.attachments.samples {
            let size = self.size.map(|side| side.max(1));
            let during = "changing the number of samples";
            let create = || Attachments::new(device, size, format, samples);
            self.attachments = opened.fault.scope(during, create)?;
        }
        Ok(())
    }

    /// Changes the size of the following pictures. A window that is readable stays readable.
    ///
    /// # Errors
    /// `Device` or `Lost`. After an error the target keeps its size.
    pub(super) fn resize(&mut self, opened: &Opened, size: [u32; 2]) -> Result<(), RenderError> {
        let (device, format) = (&opened.gpu.device, self.format);
        let is_readable = self.picture.is_some();
        let samples = self.attachments.samples;
        let (attachments, picture) = opened.fault.scope("resizing the picture", || {
            let picture = is_readable.then(|| Picture::new(device, size, format));
            (Attachments::new(device, size, format, samples), picture)
        })?;
        if let Some(window) = &mut self.window {
            window.resize(opened, size)?;
        }
        (self.size, self.attachments, self.picture) = (size, attachments, picture);
        Ok(())
    }

    /// Selects whether a window's pictures are drawn to a texture that can be read.
    ///
    /// # Errors
    /// `Device` or `Lost`. After an error the window is not readable.
    pub(super) fn set_destination(
        &mut self,
        opened: &Opened,
        destination: Destination,
    ) -> Result<(), RenderError> {
        if self.window.is_none() {
            return opened.fault.check_lost("creating the picture");
        }
        self.picture = None;
        self.picture = opened.fault.scope("creating the picture", || {
            (destination == Destination::Kept)
                .then(|| Picture::new(&opened.gpu.device, self.size, self.format))
        })?;
        Ok(())
    }

    /// The next canvas. `None` when the window shows nothing at the moment (hidden, or not ready):
    /// the frame is skipped, which is not an error.
    pub(super) fn canvas(&mut self, opened: &Opened) -> Result<Option<Canvas>, RenderError> {
        if let Some(lent) = &self.lent {
            return Ok(Some(Canvas { color: lent.color.clone(), surface: None }));
        }
        match (&self.picture, &mut self.window) {
            (Some(Picture { view, .. }), _) => {
                Ok(Some(Canvas { color: view.clone(), surface: None }))
            }
            (None, Some(window)) => window.canvas(opened, self.format),
            (None, None) => Ok(None),
        }
    }

    pub(super) fn take_encoder(&mut self) -> Option<wgpu::CommandEncoder> {
        self.lent.as_mut()?.encoder.take()
    }

    pub(super) fn return_encoder(&mut self, encoder: wgpu::CommandEncoder) {
        if let Some(lent) = &mut self.lent {
            lent.encoder = Some(encoder);
        }
    }

    /// Load and store operations of the caller's attachments.
    pub(super) fn lent_operations(
        &self,
    ) -> Option<(wgpu::Operations<wgpu::Color>, wgpu::Operations<f32>)> {
        let Lent { color_load, depth_load, .. } = self.lent.as_ref()?;
        let store = wgpu::StoreOp::Store;
        let color = wgpu::Operations { load: *color_load, store };
        Some((color, wgpu::Operations { load: *depth_load, store }))
    }

    pub(super) fn has_sky(&self) -> bool {
        self.lent.as_ref().is_none_or(|lent| lent.has_sky)
    }

    /// Reads the picture back. Fails for a window that is not readable.
    pub(super) fn read(&self, opened: &Opened) -> Result<Image, RenderError> {
        match &self.picture {
            Some(Picture { texture, .. }) => read_texture(opened, texture, self.size),
            None => Err(RenderError::Device {
                during: "reading the picture back",
                reason: "the device draws to a window, which keeps no picture".into(),
            }),
        }
    }
}

impl Picture {
    fn new(device: &wgpu::Device, size: [u32; 2], format: wgpu::TextureFormat) -> Self {
        let texture = color_texture(device, size, format);
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        Self { texture, view }
    }
}

impl Window {
    /// Configures the surface. A surface that failed to configure has no texture to draw to.
    fn configure(&self, opened: &Opened) -> Result<(), RenderError> {
        self.surface.configure(&opened.gpu.device, &self.configuration);
        opened.fault.check(CONFIGURING)
    }

    /// Configures the surface for pictures of another size. Restores the old configuration on
    /// failure.
    fn resize(&mut self, opened: &Opened, size: [u32; 2]) -> Result<(), RenderError> {
        let [width, height] = size;
        let old = self.configuration.clone();
        self.configuration = wgpu::SurfaceConfiguration { width, height, ..old.clone() };
        let configured = opened
            .fault
            .scope(CONFIGURING, || self.surface.configure(&opened.gpu.device, &self.configuration));
        configured.inspect_err(|_| {
            self.configuration = old;
            self.surface.configure(&opened.gpu.device, &self.configuration);
        })
    }

    /// Returns a canvas of the surface. A surface can be lost or outdated at any time: it is
    /// configured or created again, a bounded number of times.
    fn canvas(
        &mut self,
        opened: &Opened,
        format: wgpu::TextureFormat,
    ) -> Result<Option<Canvas>, RenderError> {
        const ATTEMPTS: u32 = 3;
        for _ in 0..ATTEMPTS {
            let texture = match self.surface.get_current_texture() {
                wgpu::CurrentSurfaceTexture::Success(texture)
                | wgpu::CurrentSurfaceTexture::Suboptimal(texture) => texture,
                wgpu::CurrentSurfaceTexture::Timeout | wgpu::CurrentSurfaceTexture::Occluded => {
                    return Ok(None);
                }
                wgpu::CurrentSurfaceTexture::Outdated | wgpu::CurrentSurfaceTexture::Validation => {
                    self.configure(opened)?;
                    continue;
                }
                wgpu::CurrentSurfaceTexture::Lost => {
                    self.surface = adapter::make_surface(&self.instance, &self.handle)?;
                    self.configure(opened)?;
                    continue;
                }
            };
            let descriptor =
                wgpu::TextureViewDescriptor { format: Some(format), ..Default::default() };
            let color = texture.texture.create_view(&descriptor);
            return Ok(Some(Canvas { color, surface: Some(texture) }));
        }
        // Still changing (a window being dragged): try again with the next frame.
        Ok(None)
    }
}

fn color_texture(
    device: &wgpu::Device,
    size: [u32; 2],
    format: wgpu::TextureFormat,
) -> wgpu::Texture {
    let usage = wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC;
    texture(device, ("picture", Samples::One), size, format, usage)
}

/// Reads a texture back. Formats other than 8 bits a channel are not supported.
pub(super) fn read_texture(
    opened: &Opened,
    texture: &wgpu::Texture,
    [width, height]: [u32; 2],
) -> Result<Image, RenderError> {
    let failed =
        |reason: String| RenderError::Device { during: "reading the picture back", reason };
    let is_bgra = match texture.format() {
        wgpu::TextureFormat::Rgba8Unorm => false,
        wgpu::TextureFormat::Bgra8Unorm => true,
        other => return Err(failed(format!("the format {other:?} is not supported"))),
    };
    let row_bytes = width * 4;
    let padded_bytes = row_bytes.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
    let buffer = opened.gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("read back"),
        size: u64::from(padded_bytes) * u64::from(height),
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = opened.gpu.device.create_command_encoder(&Default::default());
    let layout = wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some(padded_bytes),
        rows_per_image: None,
    };
    encoder.copy_texture_to_buffer(
        texture.as_image_copy(),
        wgpu::TexelCopyBufferInfo { buffer: &buffer, layout },
        texture.size(),
    );
    opened.gpu.queue.submit([encoder.finish()]);
    buffer.slice(..).map_async(wgpu::MapMode::Read, |_| {});
    adapter::poll(opened, wgpu::PollType::wait_indefinitely())?;
    opened.fault.check("reading the picture back")?;
    let view = buffer.get_mapped_range(..).map_err(|e| failed(one_line(&e.to_string())))?;
    let rows = view.chunks_exact(padded_bytes as usize);
    let mut rgba: Vec<u8> =
        rows.flat_map(|row| row[..row_bytes as usize].iter().copied()).collect();
    if is_bgra {
        rgba.chunks_exact_mut(4).for_each(|pixel| pixel.swap(0, 2));
    }
    Image::from_rgba(width, height, rgba).ok_or_else(|| failed("it is truncated".into()))
}
