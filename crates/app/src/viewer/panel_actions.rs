//! Connection between the viewer and its panels.

use std::time::Instant;

use drystone_pool::VertexPool;
use drystone_render::{Overlay, RenderError};
use egui::CursorIcon;
use winit::{
    event::{ElementState, WindowEvent},
    event_loop::ActiveEventLoop,
    window::Window,
};

use super::{
    Viewer,
    frame_benchmark::Clock,
    overlay::{Action, Facts},
};
use crate::output;

impl Viewer {
    /// Whether an event is for the panels alone. While the mouse is captured, no event is. Releases
    /// always reach the viewer too, so that no key or button stays pressed.
    pub(super) fn is_for_panels(&mut self, event: &WindowEvent) -> bool {
        let Some(window) = self.window.clone() else { return false };
        if let WindowEvent::KeyboardInput { event: key, .. } = event {
            let is_theirs = !self.mouse_captured && self.overlay.key(&window, event);
            if is_theirs {
                self.redraw();
            }
            return is_theirs && key.state == ElementState::Pressed;
        }
        let is_of_pointer = matches!(
            event,
            WindowEvent::CursorMoved { .. }
                | WindowEvent::MouseInput { .. }
                | WindowEvent::MouseWheel { .. }
        );
        if self.mouse_captured && is_of_pointer {
            return false;
        }
        let result = self.overlay.event(&window, event);
        if result.repaint {
            self.redraw();
        }
        let is_let_go =
            matches!(event, WindowEvent::MouseInput { state: ElementState::Released, .. });
        is_of_pointer && result.is_taken && !is_let_go
    }

    /// Rebuilds the panels if due, and executes the user's actions. Returns false if the device was
    /// lost or recreated.
    pub(super) fn show_panels(&mut self, event_loop: &ActiveEventLoop) -> bool {
        let now = Instant::now();
        let Some(window) = self.window.clone().filter(|_| self.overlay.is_due(now)) else {
            return true;
        };
        let (clock, mut actions) = (Clock::now(), Vec::new());
        let triangles = match self.overlay.is_laid_out() && self.overlay.is_open() {
            true => self.overlay.paint(),
            false => self.make_panels(&window, &mut actions),
        };
        let Some(screen) = &mut self.screen else { return false };
        let set = triangles
            .map_or(Ok(()), |triangles| screen.renderer().output().set_overlay(&triangles));
        self.overlay.built_in(clock.elapsed());
        match set {
            Ok(()) => {}
            Err(error @ RenderError::Lost { .. }) => {
                self.recover(event_loop, error);
                return false;
            }
            // The scene is drawn without panels.
            Err(error) => {
                self.overlay.hide_all();
                self.notify(&format!("cannot draw the panels: {error}"));
            }
        }
        if !actions.is_empty() {
            self.redraw();
        }
        actions.into_iter().for_each(|action| self.act(event_loop, action));
        true
    }

    /// Builds the panels from the current state.
    fn make_panels(&mut self, window: &Window, actions: &mut Vec<Action>) -> Option<Overlay> {
        let needs_ranges = self.overlay.needs_ranges();
        let (walks, renderer) = (self.walk.is_some(), self.requested_renderer());
        let backend_kind = self.backend();
        let screen = self.screen.as_mut()?;
        let facts = self.overlay.shows_panels().then(|| {
            let [name, backend] = self.status.names();
            let pool = screen.renderer().pool();
            let ranges = needs_ranges.then(|| pool.map_or(Vec::new(), VertexPool::ranges));
            let pool = pool.map(VertexPool::stats);
            Facts {
                name,
                backend,
                backend_kind,
                renderer,
                drawn: self.status.drawn(),
                held: screen.held(),
                pool,
                ranges,
                view: self.view,
                cull: screen.cull(),
                has_levels: screen.levels().is_some(),
                is_walking: walks,
                hour: self.options.air.hour,
                settings: &self.settings,
                edit: self.editing.facts(screen),
            }
        });
        let cursor = match self.editing.is_on() {
            _ if self.mouse_captured => None,
            true => Some(CursorIcon::Crosshair),
            false => Some(CursorIcon::Default),
        };
        self.overlay.make(window, facts.as_ref(), cursor, actions)
    }

    fn act(&mut self, event_loop: &ActiveEventLoop, action: Action) {
        match action {
            Action::Renderer(kind) => self.switch_renderer(event_loop, kind),
            Action::Backend(kind) => self.switch_backend(event_loop, kind),
            Action::FaceMask => self.switch_mask(),
            Action::Frustum => self.view.cull_frustum = !self.view.cull_frustum,
            Action::Sort => self.view.order = !self.view.order,
            Action::Cull => self.switch_cull(event_loop),
            Action::Occlusion => self.switch_occlusion(),
            Action::Walk => self.switch_walking(),
            Action::Edit => self.switch_editing(),
            Action::Help => self.overlay.switch_help(),
            Action::OpenDialog => self.ask_for_file(),
            Action::Open(path) => self.read(path),
            Action::MouseSpeed(speed) => self.settings.mouse_speed = speed,
            Action::Levels => self.switch_levels(),
            Action::Tint => self.switch_tint(),
            Action::Wire => self.switch_wire(),
            Action::Hour(hour) => self.set_hour(hour),
            Action::Haze(end) => self.set_haze(end),
            Action::Screenshot => self.screenshot(event_loop),
            Action::Home => self.go_home(),
            Action::Brush(brush) => self.editing.editor.brush = brush,
            Action::Undo => self.step_history(false),
            Action::Redo => self.step_history(true),
            Action::Save => self.save(),
            Action::Go(position) => self.view.camera.position = position,
        }
    }

    /// Shows a message in the title and on the terminal.
    pub(super) fn notify(&mut self, line: &str) {
        output::note(line);
        self.editing.message = line.into();
    }
}
