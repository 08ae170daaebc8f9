//! Choosing an adapter and opening a device on it.

use std::sync::{Arc, Mutex, PoisonError};

use crate::RenderError;

/// Which graphics API to use through wgpu.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Api {
    /// Vulkan, Metal or Direct3D 12; OpenGL where that is all there is.
    #[default]
    Any,
    /// Vulkan only.
    Vulkan,
    /// OpenGL (ES) only.
    OpenGl,
}

impl Api {
    /// The sets of wgpu backends to try, one after another.
    fn attempts(self) -> &'static [wgpu::Backends] {
        match self {
            Self::Any => &[wgpu::Backends::PRIMARY, wgpu::Backends::GL],
            Self::Vulkan => &[wgpu::Backends::VULKAN],
            Self::OpenGl => &[wgpu::Backends::GL],
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Any => "graphics",
            Self::Vulkan => "Vulkan",
            Self::OpenGl => "OpenGL",
        }
    }
}

/// An opened device and what is known of it.
pub(super) struct Opened {
    pub(super) instance: wgpu::Instance,
    pub(super) adapter: wgpu::Adapter,
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) fault: Fault,
}

/// The first thing that went wrong behind our back: wgpu reports lost devices and refused
/// calls through callbacks.
#[derive(Clone, Default)]
pub(super) struct Fault(Arc<Mutex<Option<String>>>);

impl Fault {
    fn note(&self, what: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(what);
    }

    /// Takes the fault out, as the error of what was being done.
    pub(super) fn check(&self, during: &'static str) -> Result<(), RenderError> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(reason) => Err(RenderError::Device { during, reason: one_line(&reason) }),
            None => Ok(()),
        }
    }
}

/// Opens the best adapter without a window: hardware before software.
pub(super) fn open_headless(api: Api) -> Result<Opened, RenderError> {
    let mut found = Vec::new();
    for &backends in api.attempts() {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        configure(&mut descriptor, backends);
        let instance = wgpu::Instance::new(descriptor);
        let adapters = pollster::block_on(instance.enumerate_adapters(backends));
        if let Some(adapter) = best(adapters, &mut found) {
            return open(instance, adapter);
        }
    }
    Err(none_found(api, &found))
}

/// Opens the best adapter that can show pictures in the window, and the window's surface.
pub(super) fn open_for_window(
    api: Api,
    display: Box<dyn wgpu::wgt::WgpuHasDisplayHandle>,
    window: &Arc<dyn wgpu::WindowHandle>,
) -> Result<(Opened, wgpu::Surface<'static>), RenderError> {
    let backends = api.attempts().iter().copied().fold(wgpu::Backends::empty(), |a, b| a | b);
    let mut descriptor = wgpu::InstanceDescriptor::new_with_display_handle(display);
    configure(&mut descriptor, backends);
    let instance = wgpu::Instance::new(descriptor);
    let surface = make_surface(&instance, window)?;
    let mut adapters = pollster::block_on(instance.enumerate_adapters(backends));
    adapters.retain(|adapter| adapter.is_surface_supported(&surface));
    let mut found = Vec::new();
    match best(adapters, &mut found) {
        Some(adapter) => Ok((open(instance, adapter)?, surface)),
        None => Err(none_found(api, &found)),
    }
}

/// A surface on the window; also when the last one was lost.
pub(super) fn make_surface(
    instance: &wgpu::Instance,
    window: &Arc<dyn wgpu::WindowHandle>,
) -> Result<wgpu::Surface<'static>, RenderError> {
    let target = wgpu::SurfaceTarget::Window(Box::new(Arc::clone(window)));
    instance.create_surface(target).map_err(|error| RenderError::Device {
        during: "making a surface for the window",
        reason: one_line(&error.to_string()),
    })
}

fn configure(descriptor: &mut wgpu::InstanceDescriptor, backends: wgpu::Backends) {
    descriptor.backends = backends;
    // No indirect validation: a compute pass over commands that are all our own costs more
    // than the draw. Debug builds check them on the CPU instead (see `Batch::check`).
    descriptor.flags = wgpu::InstanceFlags::empty();
}

/// The best adapter that can do what we need; `found` gets the names of all.
fn best(adapters: Vec<wgpu::Adapter>, found: &mut Vec<String>) -> Option<wgpu::Adapter> {
    let rank = |adapter: &wgpu::Adapter| {
        let info = adapter.get_info();
        let kind = match info.device_type {
            wgpu::DeviceType::DiscreteGpu => 0,
            wgpu::DeviceType::IntegratedGpu => 1,
            wgpu::DeviceType::VirtualGpu => 2,
            wgpu::DeviceType::Other => 3,
            wgpu::DeviceType::Cpu => 4,
        };
        (kind, info.backend == wgpu::Backend::Gl)
    };
    let mut fit = Vec::new();
    for adapter in adapters {
        let info = adapter.get_info();
        let usable = adapter.limits().max_storage_buffers_per_shader_stage >= 3;
        let remark = if usable { "" } else { ": no storage buffers in vertex shaders" };
        found.push(format!("{} ({}){remark}", info.name, info.backend));
        if usable {
            fit.push(adapter);
        }
    }
    fit.into_iter().min_by_key(rank)
}

fn open(instance: wgpu::Instance, adapter: wgpu::Adapter) -> Result<Opened, RenderError> {
    let name = adapter.get_info().name;
    let wanted = wgpu::Features::INDIRECT_FIRST_INSTANCE;
    let descriptor = wgpu::DeviceDescriptor {
        label: Some("drystone"),
        required_features: adapter.features() & wanted,
        required_limits: adapter.limits(),
        memory_hints: wgpu::MemoryHints::Performance,
        ..Default::default()
    };
    let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))
        .map_err(|e| RenderError::NoDevice { adapter: name, reason: one_line(&e.to_string()) })?;
    let fault = Fault::default();
    let (on_error, on_loss) = (fault.clone(), fault.clone());
    device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
        on_error.note(error.to_string());
    }));
    device.set_device_lost_callback(move |reason, message| {
        if reason != wgpu::DeviceLostReason::Destroyed {
            on_loss.note(format!("device lost: {message}"));
        }
    });
    Ok(Opened { instance, adapter, device, queue, fault })
}

fn none_found(api: Api, found: &[String]) -> RenderError {
    let found = if found.is_empty() { "there is none".into() } else { found.join(", ") };
    RenderError::NoAdapter { wanted: api.words(), found }
}

/// Drivers speak in paragraphs; an error is one line.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
