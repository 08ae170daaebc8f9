//! The backend of the window, and its change.

use std::{sync::Arc, time::Instant};

use drystone::scene::BackendKind;
use drystone_render::Cull;
use winit::{event_loop::ActiveEventLoop, window::Window};

use super::{Viewer, change::BUSY, screen::Screen};
use crate::{AppError, cli::SceneOptions, output};

impl Viewer {
    /// Opens a device and shows the content on it.
    pub(super) fn open_screen(
        &mut self,
        event_loop: &ActiveEventLoop,
        window: Arc<Window>,
    ) -> Result<(), AppError> {
        let (renderer, backend) = (self.options.renderer, self.options.backend);
        let meshing = self.options.meshing();
        let content = (&mut self.content, self.quads.take());
        let opened = Screen::open(event_loop, &window, renderer, backend, content, meshing)?;
        let Some(mut opened) = opened else { return Ok(()) };
        if let Err(error) = opened.set_cull(self.options.cull) {
            self.content = Some(opened.into_content());
            return Err(error.into());
        }
        let backend = opened.backend();
        if self.options.verbose {
            output::note(&format!("drawing on {backend}"));
        }
        self.status.set_backend(backend);
        (self.screen, self.was_shown) = (Some(opened), true);
        self.end_change();
        self.view.atmosphere.ambient_occlusion = self.options.occlusion();
        self.overlay.forget();
        self.last_frame = Instant::now();
        window.request_redraw();
        Ok(())
    }

    /// Returns the current backend as a concrete kind.
    pub(super) fn backend(&self) -> BackendKind {
        match self.options.backend {
            BackendKind::Auto if self.screen.as_ref().is_some_and(Screen::is_soft) => {
                BackendKind::Soft
            }
            BackendKind::Auto => BackendKind::Wgpu,
            BackendKind::GlStaged => BackendKind::Gl,
            kind => kind,
        }
    }

    /// Changes to the next backend.
    pub(super) fn next_backend(&mut self, event_loop: &ActiveEventLoop) {
        self.switch_backend(
            event_loop,
            match self.backend() {
                BackendKind::Wgpu => BackendKind::Gl,
                BackendKind::Gl => BackendKind::Soft,
                _ => BackendKind::Wgpu,
            },
        );
    }

    /// Changes the backend at once, or reports an error and keeps the current one.
    pub(super) fn switch_backend(&mut self, event_loop: &ActiveEventLoop, backend: BackendKind) {
        if self.is_changing() {
            return self.notify(BUSY);
        }
        // Only wgpu culls on the GPU.
        let cull = if backend == BackendKind::Wgpu { self.options.cull } else { Cull::Cpu };
        let options = SceneOptions { backend, cull, ..self.options.clone() };
        let Some(window) = self.window.clone() else { return };
        let before = std::mem::replace(&mut self.options, options);
        // Edits are finished first: they need no device and must not be left half done.
        self.finish_editing();
        // The old device is closed first: a window has one device at a time.
        self.content = self.screen.take().map(Screen::into_content);
        let opened = self.open_screen(event_loop, Arc::clone(&window));
        let Err(error) = opened else {
            let [_, backend] = self.status.names();
            self.editing.message = format!("switched to {backend}");
            return;
        };
        if self.content.is_none() {
            // The content was lost with the failed device; edits are saved as the window closes.
            return self.stop(event_loop, error);
        }
        self.options = before;
        self.notify(&format!("{error}; the previous backend stays in use"));
        if let Err(error) = self.open_screen(event_loop, window) {
            self.stop(event_loop, error);
        }
    }
}
