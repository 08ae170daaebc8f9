use std::str::FromStr;

use drystone_render::{
    Access, Api, Device, GlConfig, GlDevice, InstancedRenderer, NaiveRenderer, PlacePolicy,
    PoolRenderer, RenderError, Renderer, SoftDevice, WgpuDevice, WindowTarget,
};

use super::{ChunkQuads, quad_count};

/// Which renderer keeps and draws the meshes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RendererKind {
    /// All meshes in one buffer, one indirect call.
    #[default]
    Pool,
    /// The baseline: buffers for each mesh, a call a facing.
    Naive,
    /// Cube by cube, each in the place that the policy gives it.
    Instanced(PlacePolicy),
}

/// What is said to a name that is none.
const RENDERERS: &str = "it is pool, naive, instanced, instanced-last-leaf or instanced-oldest";

/// Which backend draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BackendKind {
    /// A hardware adapter, else a software one of the system's, else `Soft`.
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
                let policy = PlacePolicy::ALL.into_iter().find(|it| it.renderer_name() == name);
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
pub struct Room {
    /// Quads: there is room for more when they come.
    pub quads: u64,
    /// The most meshes at a time.
    pub meshes: u32,
}

impl Room {
    /// Meshes that edits may add to a world, or parts that a model may have.
    const SPARE_MESHES: u32 = 1024;
}

impl From<&[ChunkQuads]> for Room {
    /// Two layers a chunk, and room for chunks that edits will add.
    fn from(quads: &[ChunkQuads]) -> Self {
        let layers = (quads.len() as u32).saturating_mul(2);
        Self { quads: quad_count(quads), meshes: layers.saturating_add(Self::SPARE_MESHES) }
    }
}

impl From<&Vec<ChunkQuads>> for Room {
    fn from(quads: &Vec<ChunkQuads>) -> Self {
        quads.as_slice().into()
    }
}

impl Default for Room {
    /// For a few meshes.
    fn default() -> Self {
        Self { quads: 0, meshes: Self::SPARE_MESHES }
    }
}

/// A renderer without a window, with `room` for what will be shown and a little more; it
/// grows when it must.
///
/// # Errors
/// What the backend says; `Auto` always finds `Soft`.
pub fn open_renderer(
    kind: RendererKind,
    backend: BackendKind,
    size: Size,
    room: impl Into<Room>,
) -> Result<Box<dyn Renderer>, RenderError> {
    let room = room.into();
    let Size { width, height } = size;
    let wgpu = || WgpuDevice::headless(Api::Any, width, height);
    let gl = |access| {
        let device = GlDevice::headless(gl_config(access), width, height)?;
        renderer_on(device, kind, room)
    };
    match backend {
        BackendKind::Soft => renderer_on(SoftDevice::new(width, height)?, kind, room),
        BackendKind::Wgpu => renderer_on(wgpu()?, kind, room),
        BackendKind::Gl => gl(Access::Direct),
        BackendKind::GlStaged => gl(Access::Staged),
        BackendKind::Auto => {
            // Whatever keeps the GPU from being used, there is one that needs none.
            wgpu_or_gl(wgpu, || gl(Access::Direct), kind, room)
                .or_else(|_| renderer_on(SoftDevice::new(width, height)?, kind, room))
        }
    }
}

/// A renderer that shows its pictures in a window; `target` is asked for it once for each
/// backend that is tried. `Soft` shows none by itself.
///
/// # Errors
/// `NoAdapter` when no adapter can show pictures there, or what the device says.
pub fn open_window(
    kind: RendererKind,
    backend: BackendKind,
    target: impl Fn() -> WindowTarget,
    size: Size,
    room: impl Into<Room>,
) -> Result<Box<dyn Renderer>, RenderError> {
    let room = room.into();
    let Size { width, height } = size;
    let wgpu = || WgpuDevice::windowed(Api::Any, target(), width, height);
    let gl = |access| {
        let device = GlDevice::windowed(gl_config(access), target(), width, height)?;
        renderer_on(device, kind, room)
    };
    match backend {
        BackendKind::Soft => {
            let found = "the software rasteriser has no way to a window".into();
            Err(RenderError::NoAdapter { wanted: "windowed", found })
        }
        BackendKind::Wgpu => renderer_on(wgpu()?, kind, room),
        BackendKind::Gl => gl(Access::Direct),
        BackendKind::GlStaged => gl(Access::Staged),
        BackendKind::Auto => wgpu_or_gl(wgpu, || gl(Access::Direct), kind, room),
    }
}

fn gl_config(access: Access) -> GlConfig {
    GlConfig { access, ..GlConfig::default() }
}

/// wgpu where it has more than OpenGL, which is quicker without it; else whichever there
/// is.
fn wgpu_or_gl(
    wgpu: impl Fn() -> Result<WgpuDevice, RenderError>,
    gl: impl FnOnce() -> Result<Box<dyn Renderer>, RenderError>,
    kind: RendererKind,
    room: Room,
) -> Result<Box<dyn Renderer>, RenderError> {
    let refused = match wgpu() {
        Ok(device) if !device.is_opengl() => return renderer_on(device, kind, room),
        // It goes before the other comes: a window has room for one.
        other => other.err(),
    };
    gl().or_else(|_| match refused {
        Some(error) => Err(error),
        None => renderer_on(wgpu()?, kind, room),
    })
}

fn renderer_on<D: Device + 'static>(
    device: D,
    kind: RendererKind,
    room: Room,
) -> Result<Box<dyn Renderer>, RenderError> {
    match kind {
        RendererKind::Naive => Ok(Box::new(NaiveRenderer::new(device))),
        RendererKind::Instanced(policy) => Ok(Box::new(InstancedRenderer::new(device, policy)?)),
        RendererKind::Pool => Ok(Box::new(PoolRenderer::new(device, room.quads, room.meshes)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renderers_are_read_by_the_names_they_give() {
        let device = || SoftDevice::new(1, 1).unwrap();
        for name in ["pool", "naive", "instanced", "instanced-last-leaf", "instanced-oldest"] {
            let kind: RendererKind = name.parse().unwrap();
            assert_eq!(renderer_on(device(), kind, Room::default()).unwrap().name(), name);
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
