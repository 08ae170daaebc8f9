//! Blocking creation of renderers, on every backend.

#[cfg(feature = "gpu")]
use drystone_render::{Access, Api, GlConfig, GlDevice, WgpuDevice, WindowTarget};
use drystone_render::{RenderError, Renderer, SoftDevice};

#[cfg(feature = "gpu")]
use super::OpenDevice;
use super::{BackendKind, Capacity, RendererKind, Size, renderer_on};

/// Creates a renderer without a window, with the given initial capacity, which grows when needed.
///
/// # Errors
/// The backend's error; `Auto` falls back to `Soft`.
pub fn open_renderer(
    kind: RendererKind,
    backend: BackendKind,
    size: Size,
    capacity: Capacity,
) -> Result<Box<dyn Renderer>, RenderError> {
    let soft = || renderer_on(SoftDevice::new(size.width, size.height)?, kind, capacity);
    match backend {
        BackendKind::Soft => soft(),
        // Whatever the error of the GPU, the software rasteriser remains.
        BackendKind::Auto => on_gpu(kind, backend, size, capacity).or_else(|_| soft()),
        _ => on_gpu(kind, backend, size, capacity),
    }
}

#[cfg(feature = "gpu")]
fn on_gpu(
    kind: RendererKind,
    backend: BackendKind,
    size: Size,
    capacity: Capacity,
) -> Result<Box<dyn Renderer>, RenderError> {
    let Size { width, height } = size;
    let wgpu = |api| WgpuDevice::headless(api, width, height);
    let gl = |config| renderer_on(GlDevice::headless(config, width, height)?, kind, capacity);
    match backend {
        BackendKind::Wgpu => renderer_on(wgpu(Api::Any)?, kind, capacity),
        BackendKind::Gl => gl(gl_config(Access::Direct)),
        BackendKind::GlStaged => gl(gl_config(Access::Staged)),
        BackendKind::Auto | BackendKind::Soft => {
            let on_wgpu = |device| renderer_on(device, kind, capacity);
            let wgpu = (|| wgpu(Api::Hardware), WgpuDevice::is_opengl, on_wgpu);
            wgpu_or_gl(wgpu, || gl(hardware()))
        }
    }
}

#[cfg(not(feature = "gpu"))]
fn on_gpu(
    _: RendererKind,
    _: BackendKind,
    _: Size,
    _: Capacity,
) -> Result<Box<dyn Renderer>, RenderError> {
    let found = "this program was built without the feature gpu".into();
    Err(RenderError::NoAdapter { requested: "GPU", found })
}

/// Opens a device that presents to a window; `target` is called once for each backend that is
/// tried. `Soft` cannot present, so that `Auto` fails without hardware.
///
/// # Errors
/// `NoAdapter` if no adapter can present to the window, or the device's error.
#[cfg(feature = "gpu")]
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
            let found = "the software rasteriser cannot present to a window".into();
            Err(RenderError::NoAdapter { requested: "windowed", found })
        }
        BackendKind::Wgpu => Ok(OpenDevice::new(wgpu(Api::Any)?)),
        BackendKind::Gl => gl(gl_config(Access::Direct)),
        BackendKind::GlStaged => gl(gl_config(Access::Staged)),
        BackendKind::Auto => {
            let on_wgpu = |device| Ok(OpenDevice::new(device));
            let wgpu = (|| wgpu(Api::Hardware), WgpuDevice::is_opengl, on_wgpu);
            wgpu_or_gl(wgpu, || gl(hardware()))
        }
    }
}

#[cfg(feature = "gpu")]
fn gl_config(access: Access) -> GlConfig {
    GlConfig::default().with_access(access)
}

/// OpenGL settings of `Auto`.
#[cfg(feature = "gpu")]
fn hardware() -> GlConfig {
    GlConfig::default().with_hardware_only()
}

/// Opens wgpu unless it runs on OpenGL, which is faster used directly; falls back to the other.
#[cfg(feature = "gpu")]
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
        // The wgpu device is dropped first: a window has one device at a time.
        other => other.err(),
    };
    gl().or_else(|_| match refused {
        Some(error) => Err(error),
        None => on_wgpu(wgpu()?),
    })
}

#[cfg(test)]
#[cfg(feature = "gpu")]
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

    /// The built-in rasteriser is chosen if all adapters are software. Prints the adapters on a
    /// machine with a GPU.
    #[test]
    fn without_a_gpu_the_software_rasteriser_is_chosen() {
        let size = Size { width: 16, height: 16 };
        let opened =
            |backend| open_renderer(RendererKind::Pool, backend, size, Capacity::default());
        let described = |backend| match opened(backend) {
            Ok(mut renderer) => renderer.output().describe(),
            Err(error) => error.to_string(),
        };
        let chosen = described(BackendKind::Auto);
        let adapters = [BackendKind::Wgpu, BackendKind::Gl].map(described);
        let is_software = |name: &String| name.contains("llvmpipe") || name.contains("no ");
        if adapters.iter().all(is_software) {
            assert!(chosen.starts_with("soft"), "{chosen}, of {adapters:?}");
        } else {
            println!("skipped: without_a_gpu_the_software_rasteriser_is_chosen: {adapters:?}");
            assert!(!chosen.contains("llvmpipe"), "{chosen}");
        }
    }
}
