use std::str::FromStr;

#[cfg(feature = "gpu")]
use drystone_render::{Api, WgpuDevice, WindowTarget};
use drystone_render::{
    Device, InstancedRenderer, NaiveRenderer, Output, PoolRenderer, RenderError, Renderer, Samples,
    SharedDevice, SlotPolicy, SoftDevice,
};

#[cfg(not(target_arch = "wasm32"))]
mod blocking;

#[cfg(not(target_arch = "wasm32"))]
pub use blocking::open_renderer;
#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
pub use blocking::open_window;

/// Renderer that stores and draws the meshes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RendererKind {
    /// Meshes in a few buffers, drawn with one indirect call per buffer.
    #[default]
    Pool,
    /// Baseline: buffers for each mesh, one call per mesh.
    Naive,
    /// One instance per cube, in slots chosen by the policy.
    Instanced(SlotPolicy),
}

impl RendererKind {
    /// Whether the renderer draws ambient occlusion. It refuses such meshes otherwise.
    pub const fn has_occlusion(self) -> bool {
        !matches!(self, Self::Instanced(_))
    }
}

/// Message for an unknown name.
const RENDERERS: &str =
    "a renderer is pool, naive, instanced, instanced-last-leaf or instanced-oldest";

/// Graphics backend. `Wgpu`, `Gl` and `GlStaged` need the feature `gpu`; without it they cannot be
/// opened, and `Auto` is `Soft`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BackendKind {
    /// A hardware adapter through wgpu or else OpenGL, else `Soft`. Software drivers are slower
    /// than `Soft` and take more memory.
    #[default]
    Auto,
    /// The built-in software rasteriser.
    Soft,
    /// wgpu: Vulkan, Metal, Direct3D 12, OpenGL.
    Wgpu,
    /// OpenGL, with vertices written to mapped memory.
    Gl,
    /// OpenGL, with vertices copied by the GPU: for drivers that fault on mapped memory.
    GlStaged,
}

impl RendererKind {
    /// Returns the name that is parsed, such as `pool`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pool => "pool",
            Self::Naive => "naive",
            Self::Instanced(policy) => policy.renderer_name(),
        }
    }
}

impl FromStr for RendererKind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "pool" => Ok(Self::Pool),
            "naive" => Ok(Self::Naive),
            _ => {
                let policy = SlotPolicy::ALL.into_iter().find(|it| it.renderer_name() == name);
                policy.map(Self::Instanced).ok_or_else(|| RENDERERS.into())
            }
        }
    }
}

impl BackendKind {
    /// Returns the name that is parsed, such as `wgpu`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Soft => "soft",
            Self::Wgpu => "wgpu",
            Self::Gl => "gl",
            Self::GlStaged => "gl-staged",
        }
    }
}

impl FromStr for BackendKind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "auto" => Ok(Self::Auto),
            "soft" => Ok(Self::Soft),
            "wgpu" => Ok(Self::Wgpu),
            "gl" => Ok(Self::Gl),
            "gl-staged" => Ok(Self::GlStaged),
            _ => Err("a backend is auto, soft, wgpu, gl or gl-staged".into()),
        }
    }
}

/// Size of a picture in pixels, written `1280x720`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Width in pixels, at least 1.
    pub width: u32,
    /// Height in pixels, at least 1.
    pub height: u32,
}

impl Default for Size {
    fn default() -> Self {
        Self { width: 1280, height: 720 }
    }
}

impl Size {
    /// Returns width to height.
    pub fn aspect(self) -> f32 {
        self.width as f32 / self.height.max(1) as f32
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once('x').map(|(w, h)| (w.parse(), h.parse()));
        match parsed {
            Some((Ok(width), Ok(height))) if width > 0 && height > 0 => Ok(Self { width, height }),
            _ => Err("a size is WIDTHxHEIGHT in pixels, each at least 1, such as 1280x720".into()),
        }
    }
}

/// Initial capacity of a renderer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Quads; the capacity grows if more are inserted.
    pub quads: u64,
    /// Maximum number of meshes.
    pub meshes: u32,
}

impl Capacity {
    /// Spare meshes, for edits of a world or parts of a model.
    const SPARE_MESHES: u32 = 1024;

    /// Returns the capacity for meshes in two layers of each of `chunks` chunks.
    pub fn of_chunks(chunks: u64) -> Self {
        let layers = u32::try_from(chunks.saturating_mul(2)).unwrap_or(u32::MAX);
        Self { quads: 0, meshes: layers.saturating_add(Self::SPARE_MESHES) }
    }
}

impl Default for Capacity {
    /// Capacity for a few meshes.
    fn default() -> Self {
        Self { quads: 0, meshes: Self::SPARE_MESHES }
    }
}

/// Open device that creates renderers. Several can exist at once, so that one draws while the next
/// is filled.
pub struct OpenDevice {
    renderer: Box<MakeRenderer>,
}

type MakeRenderer = dyn Fn(RendererKind, Capacity) -> Result<Box<dyn Renderer>, RenderError>;

impl OpenDevice {
    /// Creates an open device, which its renderers share.
    pub fn new<D: Device + 'static>(device: D) -> Self {
        let device = SharedDevice::new(device);
        Self {
            renderer: Box::new(move |kind, capacity| renderer_on(device.clone(), kind, capacity)),
        }
    }

    /// Creates a renderer with the given initial capacity, which grows when needed.
    ///
    /// # Errors
    /// If the device is out of memory, or lost.
    pub fn renderer(
        &self,
        kind: RendererKind,
        capacity: Capacity,
    ) -> Result<Box<dyn Renderer>, RenderError> {
        (self.renderer)(kind, capacity)
    }
}

/// Opens a wgpu device that presents to a window, asynchronously. In a browser, where the
/// window is a canvas, this is the only way.
///
/// # Errors
/// `NoAdapter` if no adapter can present to the window, or the device's error.
#[cfg(feature = "gpu")]
pub async fn open_window_async(
    target: WindowTarget,
    size: Size,
) -> Result<OpenDevice, RenderError> {
    let device = WgpuDevice::windowed_async(Api::Any, target, size.width, size.height).await?;
    Ok(OpenDevice::new(device))
}

/// Opens the software rasteriser, whose pictures the caller copies to the window or page.
///
/// # Errors
/// `EmptyPicture`, `TooLarge`.
pub fn open_soft(Size { width, height }: Size) -> Result<OpenDevice, RenderError> {
    Ok(OpenDevice::new(SoftDevice::new(width, height)?))
}

/// Sets the number of samples in each pixel. If the device draws fewer, returns why.
///
/// # Errors
/// If the device refuses one sample, or is lost.
pub fn set_samples(
    output: &mut dyn Output,
    samples: Samples,
) -> Result<Option<String>, RenderError> {
    let refused = match output.set_samples(samples) {
        // Pictures keep the number of samples that they had.
        Err(error @ (RenderError::TooLarge { .. } | RenderError::OutOfMemory { .. })) => {
            Some(error)
        }
        done => done.map(|()| None)?,
    };
    let drawn = output.info().samples;
    let reason = || refused.map_or("this backend offers no more".into(), |it| it.to_string());
    Ok((drawn < samples).then(|| {
        format!("drawing {drawn} instead of {samples} samples in each pixel: {}", reason())
    }))
}

fn renderer_on<D: Device + 'static>(
    device: D,
    kind: RendererKind,
    capacity: Capacity,
) -> Result<Box<dyn Renderer>, RenderError> {
    match kind {
        RendererKind::Naive => Ok(Box::new(NaiveRenderer::new(device))),
        RendererKind::Instanced(policy) => Ok(Box::new(InstancedRenderer::new(device, policy)?)),
        RendererKind::Pool => {
            Ok(Box::new(PoolRenderer::new(device, capacity.quads, capacity.meshes)?))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renderer_names_are_parsed() {
        let device = || SoftDevice::new(1, 1).unwrap();
        for name in ["pool", "naive", "instanced", "instanced-last-leaf", "instanced-oldest"] {
            let kind: RendererKind = name.parse().unwrap();
            assert_eq!(renderer_on(device(), kind, Capacity::default()).unwrap().name(), name);
            assert!(RENDERERS.contains(name));
        }
        assert!("instanced-".parse::<RendererKind>().is_err());
    }

    #[test]
    fn sizes_are_parsed_or_refused() {
        assert_eq!("64x48".parse(), Ok(Size { width: 64, height: 48 }));
        for wrong in ["", "0x1", "1x0", "x", "64", "64x", "-1x5", "1x2x3", "99999999999x1"] {
            assert!(wrong.parse::<Size>().is_err(), "{wrong}");
        }
    }
}
