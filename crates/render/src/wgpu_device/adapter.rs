//! Selection of an adapter, and creation of a device on it.

use std::sync::Arc;

use drystone_wgpu::parts::Gpu;

use crate::{
    error::RenderError,
    fault::{Fault, one_line},
    software::is_software,
    window_target::WindowTarget,
};

/// Graphics API to use through wgpu.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Api {
    /// Vulkan, Metal or Direct3D 12, with OpenGL as fallback.
    #[default]
    Any,
    /// Vulkan, Metal, Direct3D 12 or OpenGL, on hardware only. Adapters that are programs on the
    /// CPU are not used.
    Hardware,
    /// Vulkan only.
    Vulkan,
    /// OpenGL (ES) only.
    OpenGl,
}

impl Api {
    /// The sets of wgpu backends to try, one after another.
    fn attempts(self) -> &'static [wgpu::Backends] {
        match self {
            Self::Any | Self::Hardware => &[wgpu::Backends::PRIMARY, wgpu::Backends::GL],
            Self::Vulkan => &[wgpu::Backends::VULKAN],
            Self::OpenGl => &[wgpu::Backends::GL],
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Any => "graphics",
            Self::Hardware => "hardware",
            Self::Vulkan => "Vulkan",
            Self::OpenGl => "OpenGL",
        }
    }
}

/// Window that a surface is created on: any raw handle, such as winit's.
#[cfg(not(target_arch = "wasm32"))]
pub(super) type WindowHandle = Arc<dyn crate::window_target::WindowHandle>;
/// Canvas of the web page that a surface is created on.
#[cfg(target_arch = "wasm32")]
pub(super) type WindowHandle = web_sys::HtmlCanvasElement;

impl WindowTarget {
    /// Descriptor of a wgpu instance for this window, and the window.
    pub(super) fn instance(self) -> (wgpu::InstanceDescriptor, WindowHandle) {
        #[cfg(not(target_arch = "wasm32"))]
        let descriptor = wgpu::InstanceDescriptor::new_with_display_handle(Box::new(self.display));
        #[cfg(target_arch = "wasm32")]
        let descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        (descriptor, self.window)
    }
}

/// Target for wgpu to create a surface on.
pub(super) fn surface_target(window: &WindowHandle) -> wgpu::SurfaceTarget<'static> {
    #[cfg(not(target_arch = "wasm32"))]
    let target = wgpu::SurfaceTarget::Window(Box::new(window.clone()));
    #[cfg(target_arch = "wasm32")]
    let target = wgpu::SurfaceTarget::Canvas(window.clone());
    target
}

/// An open device with its adapter and its features.
pub(super) struct Opened {
    /// Instance and adapter of the device; `None` for a device of the caller.
    pub(super) origin: Option<(wgpu::Instance, wgpu::Adapter)>,
    pub(super) gpu: Gpu,
    pub(super) fault: Fault,
}

impl Opened {
    /// Instance and adapter of the device.
    ///
    /// # Errors
    /// `Device` for a device of the caller.
    pub(super) fn origin(&self) -> Result<&(wgpu::Instance, wgpu::Adapter), RenderError> {
        self.origin.as_ref().ok_or_else(|| RenderError::Device {
            during: "opening a window",
            reason: "a device of the caller has no window".into(),
        })
    }

    /// Creates a buffer.
    ///
    /// # Errors
    /// `TooLarge`, `OutOfMemory` or `Lost`.
    pub(super) fn buffer(
        &self,
        label: &'static str,
        size: u64,
        usage: wgpu::BufferUsages,
    ) -> Result<wgpu::Buffer, RenderError> {
        self.fault.check_lost("creating a buffer")?;
        let buffer = self.gpu.buffer(label, size, usage)?;
        // The loss may have been recorded just now.
        self.fault.check_lost("creating a buffer").map(|()| buffer)
    }
}

/// Opens the best adapter without a window: hardware before software, for any API.
pub(super) async fn open_headless(api: Api) -> Result<Opened, RenderError> {
    let mut found = Found::new(api);
    for &backends in api.attempts() {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        configure(&mut descriptor, backends);
        let instance = wgpu::Instance::new(descriptor);
        for adapter in instance.enumerate_adapters(backends).await {
            found.consider(&instance, adapter);
        }
        // Try the next API only if no hardware was found yet.
        if found.has_hardware() {
            break;
        }
    }
    found.open().await
}

/// Opens the best adapter that can show pictures in the window, and the window's surface.
pub(super) async fn open_for_window(
    api: Api,
    window: WindowTarget,
) -> Result<(Opened, wgpu::Surface<'static>, WindowHandle), RenderError> {
    let backends = api.attempts().iter().copied().fold(wgpu::Backends::empty(), |a, b| a | b);
    let (mut descriptor, window) = window.instance();
    configure(&mut descriptor, backends);
    let instance = wgpu::Instance::new(descriptor);
    let surface = make_surface(&instance, &window)?;
    let mut found = Found::new(api);
    for adapter in instance.enumerate_adapters(backends).await {
        if adapter.is_surface_supported(&surface) {
            found.consider(&instance, adapter);
        }
    }
    Ok((found.open().await?, surface, window))
}

/// Creates a surface on the window, also after the previous surface was lost.
pub(super) fn make_surface(
    instance: &wgpu::Instance,
    window: &WindowHandle,
) -> Result<wgpu::Surface<'static>, RenderError> {
    instance.create_surface(surface_target(window)).map_err(|error| RenderError::Device {
        during: "making a surface for the window",
        reason: one_line(&error.to_string()),
    })
}

fn configure(descriptor: &mut wgpu::InstanceDescriptor, backends: wgpu::Backends) {
    descriptor.backends = backends;
    // No indirect validation: a compute pass over commands that are all made by this crate costs
    // more than the draw. Ranges that can be wrong are checked on the CPU (see `Batch`).
    descriptor.flags = wgpu::InstanceFlags::empty();
}

/// The adapters that were found.
struct Found {
    api: Api,
    /// Adapters with the required features, each with its instance.
    usable: Vec<(wgpu::Instance, wgpu::Adapter)>,
    /// Names of all adapters, with the reason why one cannot be used.
    names: Vec<String>,
}

impl Found {
    const fn new(api: Api) -> Self {
        Self { api, usable: Vec::new(), names: Vec::new() }
    }

    fn consider(&mut self, instance: &wgpu::Instance, adapter: wgpu::Adapter) {
        let flags = adapter.get_downlevel_capabilities().flags;
        let info = adapter.get_info();
        let refused = refusal(self.api, &info, flags);
        let remark = refused.map(|reason| format!(": {reason}")).unwrap_or_default();
        self.names.push(format!("{} ({}){remark}", info.name, info.backend));
        if refused.is_none() {
            self.usable.push((instance.clone(), adapter));
        }
    }

    fn has_hardware(&self) -> bool {
        self.usable.iter().any(|(_, adapter)| is_hardware(&adapter.get_info()))
    }

    /// Opens the best adapter that can create a device. If none can, returns the error of the best
    /// one.
    async fn open(mut self) -> Result<Opened, RenderError> {
        self.usable.sort_by_key(|(_, adapter)| rank(adapter));
        let mut first_error = None;
        for (instance, adapter) in self.usable {
            let limits = adapter.limits();
            match open(instance, adapter, limits).await {
                Ok(opened) => return Ok(opened),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        let none =
            if self.names.is_empty() { "none installed".into() } else { self.names.join(", ") };
        Err(first_error
            .unwrap_or(RenderError::NoAdapter { requested: self.api.words(), found: none }))
    }
}

/// Rank of an adapter, lowest for the fastest: first by the kind of device, then by the API.
fn rank(adapter: &wgpu::Adapter) -> (u8, u8) {
    let info = adapter.get_info();
    let kind = match info.device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    };
    // Direct3D 12 and OpenGL draw command by command, see `WgpuDevice::new`.
    let api = match info.backend {
        wgpu::Backend::Dx12 => 1,
        wgpu::Backend::Gl => 2,
        _ => 0,
    };
    (kind, api)
}

/// Whether the adapter is hardware rather than a program on the CPU.
fn is_hardware(info: &wgpu::AdapterInfo) -> bool {
    info.device_type != wgpu::DeviceType::Cpu && !is_software(&info.name)
}

/// Reason why an adapter is not used.
fn refusal(
    api: Api,
    info: &wgpu::AdapterInfo,
    flags: wgpu::DownlevelFlags,
) -> Option<&'static str> {
    let needed = wgpu::DownlevelFlags::VERTEX_STORAGE | wgpu::DownlevelFlags::BASE_VERTEX;
    if !flags.contains(needed) {
        Some("no storage buffers in vertex shaders")
    } else if api == Api::Hardware && !is_hardware(info) {
        Some("a program on the CPU")
    } else {
        None
    }
}

/// Opens a device with these limits, which the adapter supports.
pub(super) async fn open(
    instance: wgpu::Instance,
    adapter: wgpu::Adapter,
    limits: wgpu::Limits,
) -> Result<Opened, RenderError> {
    let name = adapter.get_info().name;
    let features = wgpu::Features::INDIRECT_FIRST_INSTANCE
        | wgpu::Features::MULTI_DRAW_INDIRECT_COUNT
        // Numbers of samples a pixel besides 1 and 4.
        | wgpu::Features::TEXTURE_ADAPTER_SPECIFIC_FORMAT_FEATURES;
    let descriptor = wgpu::DeviceDescriptor {
        label: Some("drystone"),
        required_features: adapter.features() & features,
        required_limits: limits,
        memory_hints: wgpu::MemoryHints::Performance,
        ..Default::default()
    };
    let (device, queue) = adapter
        .request_device(&descriptor)
        .await
        .map_err(|e| RenderError::NoDevice { adapter: name, reason: one_line(&e.to_string()) })?;
    let fault = Fault::default();
    let (on_error, on_loss) = (fault.clone(), fault.clone());
    device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
        on_error.note(error.to_string(), false);
    }));
    device.set_device_lost_callback(move |reason, message| {
        on_loss.note(format!("device lost ({reason:?}): {message}"), true);
    });
    let gpu = Gpu::new(&device, &queue);
    Ok(Opened { origin: Some((instance, adapter)), gpu, fault })
}

/// Updates the completed frames, and waits for them if `poll_type` requests it. wgpu panics if it
/// finds the device lost: the panic is caught, recorded and returned. Other faults stay recorded,
/// because they must fail the next frame, and callers that only poll ignore the result.
pub(super) fn poll(opened: &Opened, poll_type: wgpu::PollType) -> Result<(), RenderError> {
    opened.fault.check_lost("waiting for the GPU")?;
    let failed = |reason: String| RenderError::Device { during: "waiting for the GPU", reason };
    let device = std::panic::AssertUnwindSafe(&opened.gpu.device);
    match std::panic::catch_unwind(move || device.poll(poll_type)) {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(failed(one_line(&error.to_string()))),
        Err(_) => {
            opened.fault.note("device lost while waiting for it".into(), true);
            opened.fault.check_lost("waiting for the GPU")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An adapter on the CPU is left out if hardware is requested, by its kind or by its name.
    #[test]
    fn hardware_is_detected_by_kind_and_name() {
        use wgpu::DeviceType::{Cpu, DiscreteGpu, IntegratedGpu, Other, VirtualGpu};
        let flags = wgpu::DownlevelFlags::all();
        for (kind, name, is_refused) in [
            (Cpu, "unknown", true),
            (Cpu, "llvmpipe (LLVM 15.0.6, 256 bits)", true),
            (Other, "llvmpipe (LLVM 15.0.6, 256 bits)", true),
            (Other, "Mali-G78", false),
            (DiscreteGpu, "NVIDIA H200", false),
            (IntegratedGpu, "Intel(R) UHD Graphics", false),
            (VirtualGpu, "Virtio-GPU Venus", false),
        ] {
            let mut info = wgpu::AdapterInfo::new(kind, wgpu::Backend::Vulkan);
            info.name = name.into();
            assert_eq!(refusal(Api::Hardware, &info, flags).is_some(), is_refused, "{name}");
            assert_eq!(refusal(Api::Any, &info, flags), None);
            assert!(refusal(Api::Any, &info, wgpu::DownlevelFlags::empty()).is_some());
        }
    }
}
