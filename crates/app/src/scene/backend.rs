use std::str::FromStr;

use drystone_render::{
    Api, Device, InstancedRenderer, NaiveRenderer, PoolRenderer, RenderError, Renderer,
    SharedDevice, SlotPolicy, WgpuDevice, WindowTarget,
};

use super::{ChunkQuads, quad_count};

#[cfg(not(target_arch = "wasm32"))]
mod blocking;

#[cfg(not(target_arch = "wasm32"))]
pub use blocking::{open_renderer, open_soft, open_window};

/// Which renderer keeps and draws the meshes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RendererKind {
    /// All meshes in one buffer, one indirect call.
    #[default]
    Pool,
    /// The baseline: buffers for each mesh, a call a facing.
    Naive,
    /// Cube by cube, each in the place that the policy gives it.
    Instanced(SlotPolicy),
}

/// What is said to a name that is none.
const RENDERERS: &str = "it is pool, naive, instanced, instanced-last-leaf or instanced-oldest";

/// Which backend draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BackendKind {
    /// A hardware adapter, through wgpu or else OpenGL, else `Soft`: drivers that are programs on
    /// the CPU are slower than it and take more memory.
    #[default]
    Auto,
    /// The built-in rasteriser.
    Soft,
    /// wgpu: Vulkan, Metal, Direct3D 12, OpenGL.
    Wgpu,
    /// OpenGL, with vertices written in place.
    Gl,
    /// OpenGL, with vertices copied by the GPU: for drivers that fault on mapped memory.
    GlStaged,
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

impl FromStr for BackendKind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "auto" => Ok(Self::Auto),
            "soft" => Ok(Self::Soft),
            "wgpu" => Ok(Self::Wgpu),
            "gl" => Ok(Self::Gl),
            "gl-staged" => Ok(Self::GlStaged),
            _ => Err("it is auto, soft, wgpu, gl or gl-staged".into()),
        }
    }
}

/// A picture's size in pixels, written `1280x720`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Pixels across, at least 1.
    pub width: u32,
    /// Pixels down, at least 1.
    pub height: u32,
}

impl Default for Size {
    fn default() -> Self {
        Self { width: 1280, height: 720 }
    }
}

impl Size {
    /// Width to height.
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

/// What a renderer is to have room for at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Quads: there is room for more when they come.
    pub quads: u64,
    /// The most meshes at a time.
    pub meshes: u32,
}

impl Capacity {
    /// Meshes that edits may add to a world, or parts that a model may have.
    const SPARE_MESHES: u32 = 1024;

    /// For so many quads, in two layers of each of so many chunks.
    pub fn of(quads: u64, chunks: usize) -> Self {
        let layers = (chunks as u32).saturating_mul(2);
        Self { quads, meshes: layers.saturating_add(Self::SPARE_MESHES) }
    }
}

impl From<&[ChunkQuads]> for Capacity {
    /// Two layers a chunk, and room for chunks that edits will add.
    fn from(quads: &[ChunkQuads]) -> Self {
        Self::of(quad_count(quads), quads.len())
    }
}

impl From<&Vec<ChunkQuads>> for Capacity {
    fn from(quads: &Vec<ChunkQuads>) -> Self {
        quads.as_slice().into()
    }
}

impl Default for Capacity {
    /// For a few meshes.
    fn default() -> Self {
        Self { quads: 0, meshes: Self::SPARE_MESHES }
    }
}

/// A device that is open, and makes renderers: one may draw while another takes in its meshes,
/// and be followed by it without a picture in which any are missing.
pub struct OpenDevice {
    renderer: Box<MakeRenderer>,
}

type MakeRenderer = dyn Fn(RendererKind, Capacity) -> Result<Box<dyn Renderer>, RenderError>;

impl OpenDevice {
    /// Has renderers share a device.
    pub fn new<D: Device + 'static>(device: D) -> Self {
        let device = SharedDevice::new(device);
        Self { renderer: Box::new(move |kind, room| renderer_on(device.clone(), kind, room)) }
    }

    /// A renderer with `room` for what will be shown and a little more; it grows when it must.
    ///
    /// # Errors
    /// When the device is out of memory, or lost.
    pub fn renderer(
        &self,
        kind: RendererKind,
        room: impl Into<Capacity>,
    ) -> Result<Box<dyn Renderer>, RenderError> {
        (self.renderer)(kind, room.into())
    }
}

/// A renderer that shows its pictures in a window through wgpu, while the program goes on: the
/// only way in a browser, where the window is a canvas.
///
/// # Errors
/// `NoAdapter` when no adapter can show pictures there, or what the device says.
pub async fn open_window_async(
    kind: RendererKind,
    target: WindowTarget,
    size: Size,
    room: impl Into<Capacity>,
) -> Result<Box<dyn Renderer>, RenderError> {
    let device = WgpuDevice::windowed_async(Api::Any, target, size.width, size.height).await?;
    renderer_on(device, kind, room.into())
}

fn renderer_on<D: Device + 'static>(
    device: D,
    kind: RendererKind,
    room: Capacity,
) -> Result<Box<dyn Renderer>, RenderError> {
    match kind {
        RendererKind::Naive => Ok(Box::new(NaiveRenderer::new(device))),
        RendererKind::Instanced(policy) => Ok(Box::new(InstancedRenderer::new(device, policy)?)),
        RendererKind::Pool => Ok(Box::new(PoolRenderer::new(device, room.quads, room.meshes)?)),
    }
}

#[cfg(test)]
mod tests {
    use drystone_render::SoftDevice;

    use super::*;

    #[test]
    fn renderers_are_read_by_the_names_they_give() {
        let device = || SoftDevice::new(1, 1).unwrap();
        for name in ["pool", "naive", "instanced", "instanced-last-leaf", "instanced-oldest"] {
            let kind: RendererKind = name.parse().unwrap();
            assert_eq!(renderer_on(device(), kind, Capacity::default()).unwrap().name(), name);
            assert!(RENDERERS.contains(name));
        }
        assert!("instanced-".parse::<RendererKind>().is_err());
    }

    #[test]
    fn sizes_are_read_or_refused() {
        assert_eq!("64x48".parse(), Ok(Size { width: 64, height: 48 }));
        for wrong in ["", "0x1", "1x0", "x", "64", "64x", "-1x5", "1x2x3", "99999999999x1"] {
            assert!(wrong.parse::<Size>().is_err(), "{wrong}");
        }
    }
}
