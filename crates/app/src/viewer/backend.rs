//! What draws in the window, and another instead.

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

    /// The backend that draws, as it would be asked for.
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

    /// Shows the same on the next backend that there is.
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

    /// Shows the same on another backend, at once, or says why that cannot be and goes on as before.
    pub(super) fn switch_backend(&mut self, event_loop: &ActiveEventLoop, backend: BackendKind) {
        if self.is_changing() {
            return self.say(BUSY);
        }
        // Others do not cull on the GPU.
        let cull = if backend == BackendKind::Wgpu { self.options.cull } else { Cull::Cpu };
        let options = SceneOptions { backend, cull, ..self.options.clone() };
        let Some(window) = self.window.clone() else { return };
        let before = std::mem::replace(&mut self.options, options);
        // Voxels need no device: no half of an edit is left if none opens.
        self.finish_editing();
        // The old one goes first: a window is one device's.
        self.content = self.screen.take().map(Screen::into_content);
        let opened = self.open_screen(event_loop, Arc::clone(&window));
        let Err(error) = opened else {
            let [_, backend] = self.status.names();
            self.editing.message = format!("now on {backend}");
            return;
        };
        if self.content.is_none() {
            // The device took it and failed: what was edited is saved as the window closes.
            return self.stop(event_loop, error);
        }
        self.options = before;
        self.say(&format!("{error}; it goes on as before"));
        if let Err(error) = self.open_screen(event_loop, window) {
            self.stop(event_loop, error);
        }
    }
}
