//! Renderers that are waited for, on every backend that there is.

use drystone_render::{
    Access, Api, GlConfig, GlDevice, RenderError, Renderer, SoftDevice, WgpuDevice, WindowTarget,
};

use super::{BackendKind, Capacity, OpenDevice, RendererKind, Size, renderer_on};

/// A renderer without a window, with `room` for what will be shown and a little more; it
/// grows when it must.
///
/// # Errors
/// What the backend says; `Auto` always finds `Soft`.
pub fn open_renderer(
    kind: RendererKind,
    backend: BackendKind,
    size: Size,
    room: impl Into<Capacity>,
) -> Result<Box<dyn Renderer>, RenderError> {
    let room = room.into();
    let Size { width, height } = size;
    let wgpu = |api| WgpuDevice::headless(api, width, height);
    let gl = |config| renderer_on(GlDevice::headless(config, width, height)?, kind, room);
    let soft = || renderer_on(SoftDevice::new(width, height)?, kind, room);
    match backend {
        BackendKind::Soft => soft(),
        BackendKind::Wgpu => renderer_on(wgpu(Api::Any)?, kind, room),
        BackendKind::Gl => gl(gl_config(Access::Direct)),
        BackendKind::GlStaged => gl(gl_config(Access::Staged)),
        BackendKind::Auto => {
            // Whatever keeps the GPU from being used, there is one that needs none.
            let on_wgpu = |device| renderer_on(device, kind, room);
            let wgpu = (|| wgpu(Api::Hardware), WgpuDevice::is_opengl, on_wgpu);
            wgpu_or_gl(wgpu, || gl(HARDWARE)).or_else(|_| soft())
        }
    }
}

/// A device that shows its pictures in a window; `target` is asked for it once for each
/// backend that is tried. `Soft` shows none by itself, which is where `Auto` finds no hardware.
///
/// # Errors
/// `NoAdapter` when no adapter can show pictures there, or what the device says.
pub fn open_window(
    backend: BackendKind,
    target: impl Fn() -> WindowTarget,
    size: Size,
) -> Result<OpenDevice, RenderError> {
    let Size { width, height } = size;
    let wgpu = |api| WgpuDevice::windowed(api, target(), width, height);
    let gl = |config| Ok(OpenDevice::new(GlDevice::windowed(config, target(), width, height)?));
    match backend {
        BackendKind::Soft => {
            let found = "the software rasteriser has no way to a window".into();
            Err(RenderError::NoAdapter { wanted: "windowed", found })
        }
        BackendKind::Wgpu => Ok(OpenDevice::new(wgpu(Api::Any)?)),
        BackendKind::Gl => gl(gl_config(Access::Direct)),
        BackendKind::GlStaged => gl(gl_config(Access::Staged)),
        BackendKind::Auto => {
            let on_wgpu = |device| Ok(OpenDevice::new(device));
            let wgpu = (|| wgpu(Api::Hardware), WgpuDevice::is_opengl, on_wgpu);
            wgpu_or_gl(wgpu, || gl(HARDWARE))
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

/// OpenGL as `Auto` uses it.
const HARDWARE: GlConfig =
    GlConfig { access: Access::Direct, memory_limit_bytes: u64::MAX, hardware_only: true };

/// wgpu where it has more than OpenGL, which is quicker without it; else whichever there
/// is.
fn wgpu_or_gl<D, T, E>(
    (wgpu, is_opengl, on_wgpu): (
        impl Fn() -> Result<D, E>,
        impl Fn(&D) -> bool,
        impl Fn(D) -> Result<T, E>,
    ),
    gl: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    let refused = match wgpu() {
        Ok(device) if !is_opengl(&device) => return on_wgpu(device),
        // It goes before the other comes: a window has room for one.
        other => other.err(),
    };
    gl().or_else(|_| match refused {
        Some(error) => Err(error),
        None => on_wgpu(wgpu()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wgpu_comes_before_opengl_unless_it_is_opengl() {
        let choose = |wgpu: Result<&'static str, &'static str>, gl: Result<&'static str, _>| {
            wgpu_or_gl((|| wgpu, |device: &&str| *device == "wgpu on gl", Ok), || gl)
        };
        let no_gl = Err("no gl");
        assert_eq!(choose(Ok("wgpu"), Ok("gl")), Ok("wgpu"));
        assert_eq!(choose(Ok("wgpu"), no_gl), Ok("wgpu"));
        assert_eq!(choose(Ok("wgpu on gl"), Ok("gl")), Ok("gl"));
        assert_eq!(choose(Ok("wgpu on gl"), no_gl), Ok("wgpu on gl"));
        assert_eq!(choose(Err("no wgpu"), Ok("gl")), Ok("gl"));
        assert_eq!(choose(Err("no wgpu"), no_gl), Err("no wgpu"));
    }

    /// Where the only adapters are programs on the CPU, the built-in rasteriser draws. Says
    /// which adapters there are: on a machine with a GPU it is the GPU that draws.
    #[test]
    fn a_machine_without_a_gpu_is_drawn_on_by_soft() {
        let size = Size { width: 16, height: 16 };
        let opened =
            |backend| open_renderer(RendererKind::Pool, backend, size, Capacity::default());
        let described = |backend| match opened(backend) {
            Ok(renderer) => renderer.backend(),
            Err(error) => error.to_string(),
        };
        let chosen = described(BackendKind::Auto);
        let there_are = [BackendKind::Wgpu, BackendKind::Gl].map(described);
        let is_software = |name: &String| name.contains("llvmpipe") || name.contains("no ");
        if there_are.iter().all(is_software) {
            assert!(chosen.starts_with("soft"), "{chosen}, of {there_are:?}");
        } else {
            println!("skipped: a_machine_without_a_gpu_is_drawn_on_by_soft: {there_are:?}");
            assert!(!chosen.contains("llvmpipe"), "{chosen}");
        }
    }
}
