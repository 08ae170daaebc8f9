//! Creation of contexts: without a window through EGL's devices, with a window through the system's
//! API.

use std::{ffi::CString, num::NonZeroU32, os::raw::c_void};

use glutin::{
    config::{Api, ConfigSurfaceTypes, ConfigTemplateBuilder},
    context::{
        ContextApi, ContextAttributesBuilder, GlProfile, NotCurrentContext, PossiblyCurrentContext,
        Robustness, Version,
    },
    display::{Display, DisplayApiPreference},
    prelude::{GlDisplay, GlSurface, NotCurrentGlContext, PossiblyCurrentGlContext},
    surface::{Surface, SurfaceAttributesBuilder, SwapInterval, WindowSurface},
};

use raw_window_handle::{HasDisplayHandle, HasWindowHandle, RawWindowHandle};

use crate::window_target::WindowTarget;

/// Displays of EGL devices that contexts were made on. They are never closed: a driver of NVIDIA (580)
/// has one display for each device, and closing it ends all its contexts.
#[cfg(not(target_vendor = "apple"))]
static DISPLAYS: std::sync::Mutex<Vec<Vec<DeviceDisplay>>> = std::sync::Mutex::new(Vec::new());

/// A context and its target, if that is a window.
pub(super) struct Platform {
    context: PossiblyCurrentContext,
    display: Display,
    window: Option<Window>,
}

/// Dropped in this order: the objects that the surface depends on are dropped last.
struct Window {
    surface: Surface<WindowSurface>,
    /// Kept alive for the surface.
    _target: WindowTarget,
}

/// The OpenGL versions to request, best first. The older one is suitable only if the driver has
/// extensions for the missing features.
const VERSIONS: [Version; 2] = [Version::new(4, 5), Version::new(4, 3)];

impl Platform {
    /// Creates a context for every EGL device that supports it, hardware first. Also returns the
    /// errors of the other devices.
    #[cfg(not(target_vendor = "apple"))]
    pub(super) fn headless() -> (Vec<Self>, Vec<String>) {
        let opened = || DISPLAYS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // They fail if another library of the process has closed them, as wgpu does on OpenGL.
        let last = opened().last().cloned();
        let last = last.map(|displays| contexts(&displays));
        if let Some(found) = last.filter(|(platforms, _)| !platforms.is_empty()) {
            return found;
        }
        match device_displays() {
            Ok(displays) => {
                let found = contexts(&displays);
                opened().push(displays);
                found
            }
            Err(reason) => (Vec::new(), vec![reason]),
        }
    }

    /// Returns no contexts: this system has no suitable contexts without a window.
    #[cfg(target_vendor = "apple")]
    pub(super) fn headless() -> (Vec<Self>, Vec<String>) {
        (Vec::new(), vec!["this system has no OpenGL 4.3".to_owned()])
    }

    #[cfg(not(target_vendor = "apple"))]
    fn on_display(display: Display) -> Result<Self, String> {
        let template = ConfigTemplateBuilder::new()
            .with_api(Api::OPENGL)
            .with_surface_type(ConfigSurfaceTypes::empty());
        // SAFETY: the template names no window.
        let mut configs = unsafe { display.find_configs(template.build()) }.map_err(text)?;
        let config = configs.next().ok_or("it offers no OpenGL")?;
        drop(configs);
        let context = create_context(&display, &config, None)?;
        let context = context.treat_as_possibly_current();
        let platform = Self { context, display, window: None };
        platform.make_current()?;
        Ok(platform)
    }

    /// Creates a context that draws to a window.
    pub(super) fn windowed(
        target: WindowTarget,
        [width, height]: [NonZeroU32; 2],
    ) -> Result<Self, String> {
        let raw_display = target.display.display_handle().map_err(text)?.as_raw();
        let raw_window = target.window.window_handle().map_err(text)?.as_raw();
        #[cfg(all(unix, not(target_vendor = "apple")))]
        let preference = DisplayApiPreference::Egl;
        #[cfg(target_vendor = "apple")]
        let preference = DisplayApiPreference::Cgl;
        #[cfg(windows)]
        let preference = DisplayApiPreference::Wgl(Some(raw_window));
        // SAFETY: the handles are those of a window and a display that `target` keeps alive, which
        // is dropped after all objects that depend on them.
        let display = unsafe { Display::new(raw_display, preference) }.map_err(text)?;
        let template = ConfigTemplateBuilder::new()
            .with_api(Api::OPENGL)
            .with_alpha_size(0)
            .compatible_with_native_window(raw_window);
        // SAFETY: as above.
        let mut configs = unsafe { display.find_configs(template.build()) }.map_err(text)?;
        let config = configs.next().ok_or("it offers no OpenGL for this window")?;
        drop(configs);
        let context = create_context(&display, &config, Some(raw_window))?;
        let attributes = SurfaceAttributesBuilder::<WindowSurface>::new()
            .with_srgb(Some(false))
            .build(raw_window, width, height);
        // SAFETY: as above; the configuration is of the same display.
        let surface = unsafe { display.create_window_surface(&config, &attributes) };
        let surface = surface.map_err(text)?;
        let context = context.make_current(&surface).map_err(text)?;
        let interval =
            if target.vsync { SwapInterval::Wait(NonZeroU32::MIN) } else { SwapInterval::DontWait };
        // A system that ignores the interval still shows pictures.
        let _ = surface.set_swap_interval(&context, interval);
        Ok(Self { context, display, window: Some(Window { surface, _target: target }) })
    }

    /// Makes the context current on this thread, if it is not.
    pub(super) fn make_current(&self) -> Result<(), String> {
        if self.context.is_current() {
            return Ok(());
        }
        match (&self.window, &self.context) {
            (Some(window), context) => context.make_current(&window.surface).map_err(text),
            #[cfg(not(target_vendor = "apple"))]
            (None, PossiblyCurrentContext::Egl(context)) => {
                context.make_current_surfaceless().map_err(text)
            }
            #[allow(unreachable_patterns)]
            (None, _) => Err("the context has no window".to_owned()),
        }
    }

    /// Address of an OpenGL function, or null.
    pub(super) fn address(&self, name: &str) -> *const c_void {
        CString::new(name).map_or(std::ptr::null(), |name| self.display.get_proc_address(&name))
    }

    pub(super) const fn has_window(&self) -> bool {
        self.window.is_some()
    }

    /// Resizes the window's surface, on systems where it does not follow the window.
    pub(super) fn resize(&self, width: NonZeroU32, height: NonZeroU32) {
        if let Some(window) = &self.window {
            window.surface.resize(&self.context, width, height);
        }
    }

    /// Shows the drawn picture in the window.
    pub(super) fn present(&self) -> Result<(), String> {
        match &self.window {
            Some(window) => window.surface.swap_buffers(&self.context).map_err(text),
            None => Ok(()),
        }
    }
}

/// Creates a context on every display that supports it. Also returns the errors of the others.
#[cfg(not(target_vendor = "apple"))]
fn contexts(displays: &[DeviceDisplay]) -> (Vec<Platform>, Vec<String>) {
    let (mut platforms, mut faults) = (Vec::new(), Vec::new());
    for (device, display) in displays {
        match display.clone().and_then(Platform::on_display) {
            Ok(platform) => platforms.push(platform),
            Err(reason) => faults.push(format!("{device}: {reason}")),
        }
    }
    (platforms, faults)
}

/// Name and display of an EGL device.
#[cfg(not(target_vendor = "apple"))]
type DeviceDisplay = (String, Result<Display, String>);

/// Opens the display of every EGL device, hardware first.
#[cfg(not(target_vendor = "apple"))]
fn device_displays() -> Result<Vec<DeviceDisplay>, String> {
    use glutin::api::egl::{device::Device, display::Display as EglDisplay};
    let devices = Device::query_devices().map_err(|error| format!("no EGL devices: {error}"))?;
    let mut devices: Vec<Device> = devices.collect();
    devices.sort_by_key(|device| device.extensions().contains("EGL_MESA_device_software"));
    let open = |device: Device| {
        let name = device.name().unwrap_or("an EGL device").to_owned();
        // SAFETY: no raw display is passed.
        let display = unsafe { EglDisplay::with_device(&device, None) };
        (name, display.map(Display::Egl).map_err(text))
    };
    Ok(devices.into_iter().map(open).collect())
}

/// Creates a core context of the newest supported version, with robustness if possible.
fn create_context(
    display: &Display,
    config: &glutin::config::Config,
    window: Option<RawWindowHandle>,
) -> Result<NotCurrentContext, String> {
    let mut first_error = None;
    for version in VERSIONS {
        for robustness in [Robustness::RobustLoseContextOnReset, Robustness::NotRobust] {
            let attributes = ContextAttributesBuilder::new()
                .with_context_api(ContextApi::OpenGl(Some(version)))
                .with_profile(GlProfile::Core)
                .with_robustness(robustness)
                .with_debug(cfg!(debug_assertions))
                .build(window);
            // SAFETY: the window's handle is valid, as of `Platform::windowed`.
            match unsafe { display.create_context(config, &attributes) } {
                Ok(context) => return Ok(context),
                Err(error) => first_error = first_error.or(Some(text(error))),
            }
        }
    }
    Err(first_error.unwrap_or_default())
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
