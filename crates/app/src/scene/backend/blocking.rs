//! Renderers that are waited for, on every backend that there is.

use drystone_render::{
    Access, Api, GlConfig, GlDevice, RenderError, Renderer, SoftDevice, WgpuDevice, WindowTarget,
};

use super::{BackendKind, OpenDevice, RendererKind, Room, Size, renderer_on};

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
            let on_wgpu = |device| renderer_on(device, kind, room);
            wgpu_or_gl(wgpu, || gl(Access::Direct), on_wgpu)
                .or_else(|_| renderer_on(SoftDevice::new(width, height)?, kind, room))
        }
    }
}

/// A device that shows its pictures in a window; `target` is asked for it once for each
/// backend that is tried. `Soft` shows none by itself.
///
/// # Errors
/// `NoAdapter` when no adapter can show pictures there, or what the device says.
pub fn open_window(
    backend: BackendKind,
    target: impl Fn() -> WindowTarget,
    size: Size,
) -> Result<OpenDevice, RenderError> {
    let Size { width, height } = size;
    let wgpu = || WgpuDevice::windowed(Api::Any, target(), width, height);
    let gl = |access| {
        let device = GlDevice::windowed(gl_config(access), target(), width, height)?;
        Ok(OpenDevice::new(device))
    };
    match backend {
        BackendKind::Soft => {
            let found = "the software rasteriser has no way to a window".into();
            Err(RenderError::NoAdapter { wanted: "windowed", found })
        }
        BackendKind::Wgpu => Ok(OpenDevice::new(wgpu()?)),
        BackendKind::Gl => gl(Access::Direct),
        BackendKind::GlStaged => gl(Access::Staged),
        BackendKind::Auto => {
            wgpu_or_gl(wgpu, || gl(Access::Direct), |device| Ok(OpenDevice::new(device)))
        }
    }
}

/// The software rasteriser, for whoever copies its pictures to where they are seen.
///
/// # Errors
/// `EmptyPicture`, `TooLarge`.
pub fn open_soft(Size { width, height }: Size) -> Result<OpenDevice, RenderError> {
    Ok(OpenDevice::new(SoftDevice::new(width, height)?))
}

fn gl_config(access: Access) -> GlConfig {
    GlConfig { access, ..GlConfig::default() }
}

/// wgpu where it has more than OpenGL, which is quicker without it; else whichever there
/// is.
fn wgpu_or_gl<T>(
    wgpu: impl Fn() -> Result<WgpuDevice, RenderError>,
    gl: impl FnOnce() -> Result<T, RenderError>,
    on_wgpu: impl Fn(WgpuDevice) -> Result<T, RenderError>,
) -> Result<T, RenderError> {
    let refused = match wgpu() {
        Ok(device) if !device.is_opengl() => return on_wgpu(device),
        // It goes before the other comes: a window has room for one.
        other => other.err(),
    };
    gl().or_else(|_| match refused {
        Some(error) => Err(error),
        None => on_wgpu(wgpu()?),
    })
}
