use std::{num::NonZeroU32, sync::Arc};

use drystone::{
    Session,
    scene::{self, BackendKind, Size},
};
use drystone_render::{DrawStats, Image, RenderError, WindowHandle, WindowTarget};
#[cfg(all(unix, not(target_vendor = "apple")))]
use winit::platform::x11::WindowAttributesExtX11;
use winit::{
    dpi::{self, PhysicalSize},
    event_loop::{ActiveEventLoop, OwnedDisplayHandle},
    window::{CursorGrabMode, Fullscreen, Window},
};

use crate::{AppError, settings::WindowState};

/// The window, and the path of pictures to it.
#[derive(Default)]
pub(super) struct Screen {
    window: Option<Arc<Window>>,
    /// Size that the window was opened with.
    pub(super) first_size: Option<Size>,
    /// Software surface, if the GPU does not draw to the window.
    surface: Option<SoftSurface>,
    /// Whether a device is or was open.
    pub(super) was_shown: bool,
    awaits_frame: bool,
    /// Whether the last frame was drawn, but not presented.
    pub(super) is_hidden: bool,
    /// Number of consecutive attempts to open a failing device again.
    pub(super) reopened: u32,
}

type SoftSurface = softbuffer::Surface<OwnedDisplayHandle, Arc<Window>>;

impl Screen {
    /// Opens the window.
    pub(super) fn open_window(
        &mut self,
        event_loop: &ActiveEventLoop,
        size: dpi::Size,
        is_maximized: bool,
    ) -> Result<(), AppError> {
        let attributes = Window::default_attributes()
            .with_title("drystone")
            .with_inner_size(size)
            .with_maximized(is_maximized);
        // The window's class of X11 and application ID of Wayland.
        #[cfg(all(unix, not(target_vendor = "apple")))]
        let attributes = WindowAttributesExtX11::with_name(attributes, "drystone", "drystone");
        let window = event_loop
            .create_window(attributes)
            .map_err(|error| AppError::Window(error.to_string()))?;
        self.window = Some(Arc::new(window));
        self.first_size = self.size();
        Ok(())
    }

    /// Opens a device for the window and shows the session on it; `Auto` falls back to the software
    /// rasteriser. If the device cannot be opened, the content of the session stays.
    pub(super) fn open_device(
        &mut self,
        event_loop: &ActiveEventLoop,
        session: &mut Session,
        backend: BackendKind,
    ) -> Result<(), AppError> {
        let Some(window) = self.window.clone() else { return Ok(()) };
        let PhysicalSize { width, height } = window.inner_size();
        let size = Size { width: width.max(1), height: height.max(1) };
        let display = event_loop.owned_display_handle();
        self.surface = None;
        if backend != BackendKind::Soft {
            let target = || WindowTarget {
                window: Arc::clone(&window) as Arc<dyn WindowHandle>,
                display: Box::new(display.clone()),
                vsync: true,
            };
            let opened = scene::open_window(backend, target, size);
            match opened.and_then(|device| session.prepare(device)) {
                Ok(prepared) => return self.attach(session, prepared),
                Err(error) if backend != BackendKind::Auto => return Err(error.into()),
                Err(_) => {}
            }
        }
        self.surface = Some(soft_surface(display, &window)?);
        let opened = scene::open_soft(size).and_then(|device| session.prepare(device));
        self.attach(session, opened?)
    }

    fn attach(
        &mut self,
        session: &mut Session,
        prepared: drystone::Prepared,
    ) -> Result<(), AppError> {
        session.attach(prepared)?;
        self.was_shown = true;
        self.redraw();
        Ok(())
    }

    /// Draws a picture and shows it.
    pub(super) fn draw(&mut self, session: &mut Session) -> Result<DrawStats, RenderError> {
        let Some(surface) = &mut self.surface else { return session.draw() };
        let Some((picture, drawn)) = session.picture()? else { return Ok(DrawStats::default()) };
        show(surface, &picture).map_err(|error| RenderError::Device {
            during: "showing the picture",
            reason: error.to_string(),
        })?;
        Ok(drawn)
    }

    /// Fills the screen that the window is on, without a change of its resolution, or ends that.
    pub(super) fn switch_full_screen(&self) {
        if let Some(window) = &self.window {
            let fills = window.fullscreen().is_none();
            window.set_fullscreen(fills.then_some(Fullscreen::Borderless(None)));
        }
    }

    /// Captures and hides the pointer, or releases it. Returns whether it is captured.
    pub(super) fn capture_pointer(&self, capture: bool) -> bool {
        let Some(window) = &self.window else { return false };
        let is_captured = if capture {
            window
                .set_cursor_grab(CursorGrabMode::Locked)
                .or_else(|_| window.set_cursor_grab(CursorGrabMode::Confined))
                .is_ok()
        } else {
            // Releasing a pointer that is not captured fails, which is harmless.
            let _ = window.set_cursor_grab(CursorGrabMode::None);
            false
        };
        window.set_cursor_visible(!is_captured);
        is_captured
    }

    /// Requests a frame.
    pub(super) fn redraw(&mut self) {
        if let Some(window) = &self.window {
            window.request_redraw();
            self.awaits_frame = true;
        }
    }

    /// Whether a frame is requested that has not begun.
    pub(super) const fn awaits_frame(&self) -> bool {
        self.awaits_frame
    }

    /// Notes that a frame begins.
    pub(super) const fn begin_frame(&mut self) {
        self.awaits_frame = false;
    }

    /// Returns the window; `None` before it is opened.
    pub(super) const fn window(&self) -> Option<&Arc<Window>> {
        self.window.as_ref()
    }

    /// Returns the size of pictures; `None` for a minimised window.
    pub(super) fn size(&self) -> Option<Size> {
        let PhysicalSize { width, height } = self.window.as_ref()?.inner_size();
        (width > 0 && height > 0).then_some(Size { width, height })
    }

    /// Returns whether the window has a size of its own.
    pub(super) fn state(&self) -> WindowState {
        let Some(window) = self.window.as_ref().filter(|window| window.fullscreen().is_none())
        else {
            return WindowState::Other;
        };
        match self.size() {
            _ if window.is_maximized() => WindowState::Maximized,
            Some(size) => WindowState::Normal(size),
            None => WindowState::Other,
        }
    }

    /// Returns a requested backend as a concrete kind.
    pub(super) const fn concrete(&self, backend: BackendKind) -> BackendKind {
        match backend {
            BackendKind::Auto if self.surface.is_some() => BackendKind::Soft,
            BackendKind::Auto => BackendKind::Wgpu,
            BackendKind::GlStaged => BackendKind::Gl,
            kind => kind,
        }
    }
}

fn soft_surface(
    display: OwnedDisplayHandle,
    window: &Arc<Window>,
) -> Result<SoftSurface, AppError> {
    let failed = |error: softbuffer::SoftBufferError| AppError::Window(error.to_string());
    let context = softbuffer::Context::new(display).map_err(failed)?;
    softbuffer::Surface::new(&context, Arc::clone(window)).map_err(failed)
}

/// Copies a picture into the window, whose pixels are `0RGB` words.
fn show(surface: &mut SoftSurface, picture: &Image) -> Result<(), softbuffer::SoftBufferError> {
    let sides = (NonZeroU32::new(picture.width()), NonZeroU32::new(picture.height()));
    let (Some(width), Some(height)) = sides else { return Ok(()) };
    surface.resize(width, height)?;
    let mut buffer = surface.buffer_mut()?;
    for (word, pixel) in buffer.iter_mut().zip(picture.rgba().chunks_exact(4)) {
        *word = u32::from_be_bytes([0, pixel[0], pixel[1], pixel[2]]);
    }
    buffer.present()
}
