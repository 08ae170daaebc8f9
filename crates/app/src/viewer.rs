//! The window: fly through a world, edit it, and see the statistics of the renderer.

mod backend;
mod change;
#[cfg(windows)]
mod console;
mod editing;
mod ending;
mod flight;
mod frame;
mod frame_benchmark;
mod keys;
mod levels;
mod opening;
mod overlay;
mod panel_actions;
mod reading;
mod saving;
mod screen;
mod screenshot;
mod signals;
mod status;
mod switches;
mod walk;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use drystone::scene::{ChunkQuads, Size};
use drystone::{Flight, Walk};
use drystone_render::{Atmosphere, View};
use winit::{
    application::ApplicationHandler,
    dpi::PhysicalSize,
    event::{DeviceEvent, DeviceId, ElementState, KeyEvent, MouseButton, StartCause, WindowEvent},
    event_loop::{ActiveEventLoop, ControlFlow},
    keyboard::{KeyCode, PhysicalKey},
    window::{CursorGrabMode, Window, WindowId},
};

use crate::{
    AppError,
    allocator::AllocatorReport,
    cli::{LevelsKind, SaveArgs, SceneOptions},
    commands::Framed,
    content::Content,
    output,
    settings::{Settings, SettingsFile},
};
use change::Change;
use editing::Editing;
use ending::open_event_loop;
use flight::{flight_key, notches};
use frame_benchmark::FrameBenchmark;
pub(crate) use keys::{help as keys_help, text as keys_text};
use opening::{First, Loaded};
use overlay::Overlay;
pub(crate) use overlay::Textures as OverlayTextures;
use screen::Screen;
use screenshot::Screenshots;
use signals::{Ended, WindowRequest, WindowRequests};
use status::Status;

/// Whether this session has a display to open a window on.
pub(crate) fn has_display() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    cfg!(any(windows, target_os = "macos")) || set("DISPLAY") || set("WAYLAND_DISPLAY")
}

/// Shows the source in a window until it is closed, or for `frames` frames of a benchmark. Edits
/// are saved as `save` says.
pub(crate) fn run(
    options: &SceneOptions,
    save: &SaveArgs,
    frames: Option<u32>,
) -> Result<(), AppError> {
    if !has_display() {
        return Err(AppError::Window("no display found".into()));
    }
    let mut settings_file = SettingsFile::of_user();
    let (settings, problem) = settings_file.read();
    problem.iter().for_each(|line| output::note(line));
    let first = First::read(options.clone(), save, &settings)?;
    let event_loop = open_event_loop()?;
    event_loop.set_control_flow(ControlFlow::Wait);
    let requests = WindowRequests::to(event_loop.create_proxy());
    let ended = Ended::default();
    signals::listen(requests.clone(), ended.clone());
    let mut viewer = Viewer::begin(first, save.clone(), settings, requests);
    viewer.ended = ended;
    viewer.benchmark = frames.map(FrameBenchmark::new);
    // A benchmark does not change the settings.
    viewer.settings_file = frames.is_none().then_some(settings_file);
    viewer.run(|viewer| event_loop.run_app(viewer));
    if options.verbose {
        output::note(&AllocatorReport::now().to_string());
    }
    viewer.outcome()
}

struct Viewer {
    options: SceneOptions,
    save: SaveArgs,
    editing: Editing,
    /// Whether a screen is or was open.
    was_shown: bool,
    /// World or model, while no screen holds it.
    content: Option<Content>,
    /// Quads of the content, if a thread has made them.
    quads: Option<Vec<ChunkQuads>>,
    window: Option<Arc<Window>>,
    screen: Option<Screen>,
    view: View,
    /// Framing of the content for views.
    framed: Framed,
    /// Atmosphere before haze hides the edge of a vast world.
    clear_air: Option<Atmosphere>,
    /// Whether haze is still changing to its target.
    is_haze_moving: bool,
    flight: Flight,
    /// Walking; `None` while flying.
    walk: Option<Walk>,
    status: Status,
    overlay: Overlay,
    screenshots: Screenshots,
    settings: Settings,
    /// File of the settings; `None` if they are not saved.
    settings_file: Option<SettingsFile>,
    requests: WindowRequests,
    /// Name of the file that a thread reads.
    loading: Option<String>,
    /// Whether that file is the current one, read again to be shown differently.
    is_reread: bool,
    /// Number of edits, and of chunks without saved edits, when that began.
    before: (u64, usize),
    /// Requested levels of detail, for the next files.
    requested_levels: LevelsKind,
    /// Whether the first file is still being read and nothing is shown.
    awaits_first: bool,
    /// Change of renderer or meshing that is in progress.
    change: Option<Change>,
    /// Running benchmark of frames.
    benchmark: Option<FrameBenchmark>,
    last_frame: Instant,
    /// Time of the last frame.
    frame_time: Duration,
    mouse_captured: bool,
    reopened: u32,
    /// Whether the meshes lag behind the camera.
    lags: bool,
    /// Whether the last frame was drawn, but not presented.
    is_hidden: bool,
    /// Time at which parts that could not be read are retried.
    retry_at: Option<Instant>,
    /// Number of faults that were already printed.
    faults_noted: usize,
    failure: Option<AppError>,
    /// Whether everything is written to disk.
    is_over: bool,
    ended: Ended,
}

impl Viewer {
    fn new(loaded: Loaded, save: SaveArgs, settings: Settings, requests: WindowRequests) -> Self {
        let Loaded { options, content, edit_target, quads } = loaded;
        let (framed, requested_levels) = (content.framed(), options.levels);
        let (view, clear_air) = (framed.view(&options), content.clear_air(&options));
        let mut viewer = Self {
            status: Status::new(content.name()),
            editing: Editing::new(edit_target, options.memory_budget()),
            options,
            save,
            content: Some(content),
            quads: Some(quads),
            window: None,
            was_shown: false,
            screen: None,
            view,
            framed,
            clear_air,
            is_haze_moving: false,
            flight: framed.flight(),
            walk: None,
            overlay: Overlay::new(settings.shows_panels),
            screenshots: Screenshots::new(requests.clone()),
            settings,
            settings_file: None,
            requests,
            loading: None,
            is_reread: false,
            before: (0, 0),
            requested_levels,
            awaits_first: false,
            change: None,
            benchmark: None,
            last_frame: Instant::now(),
            frame_time: Duration::ZERO,
            mouse_captured: false,
            reopened: 0,
            lags: false,
            is_hidden: false,
            retry_at: None,
            faults_noted: 0,
            failure: None,
            is_over: false,
            ended: Ended::default(),
        };
        viewer.note_source();
        viewer
    }

    /// Opens the window and the screen in it.
    fn open(&mut self, event_loop: &ActiveEventLoop) -> Result<(), AppError> {
        let Size { width, height } = self.options.size;
        let attributes = Window::default_attributes()
            .with_title("drystone")
            .with_inner_size(PhysicalSize::new(width, height));
        let window = event_loop
            .create_window(attributes)
            .map_err(|error| AppError::Window(error.to_string()))?;
        let window = Arc::new(window);
        self.window = Some(Arc::clone(&window));
        self.open_screen(event_loop, window)
    }

    fn stop(&mut self, event_loop: &ActiveEventLoop, error: AppError) {
        self.fail(error);
        event_loop.exit();
    }

    /// Sets the error of the viewer; prints an earlier one.
    fn fail(&mut self, error: AppError) {
        if let Some(earlier) = self.failure.replace(error) {
            output::note(&earlier.to_string());
        }
    }

    fn resize(&mut self, event_loop: &ActiveEventLoop, size: PhysicalSize<u32>) {
        if size.width == 0 || size.height == 0 {
            return;
        }
        let resized = self.screen.as_mut().map(|screen| screen.resize(size));
        match resized {
            Some(Err(error)) => self.recover(event_loop, error),
            _ => self.redraw(),
        }
    }

    fn key(&mut self, event_loop: &ActiveEventLoop, event: &KeyEvent) {
        let PhysicalKey::Code(code) = event.physical_key else { return };
        let pressed = event.state == ElementState::Pressed;
        if pressed && self.edit_key(event, code) {
            return self.redraw();
        }
        if flight_key(code).is_some_and(|key| self.flight.key(key, pressed)) {
            // A standing camera must not jump by the time it stood.
            self.last_frame = Instant::now();
        } else if pressed && !event.repeat {
            match code {
                KeyCode::Escape if self.mouse_captured => self.capture_mouse(false),
                KeyCode::Escape if self.overlay.close_lists() => {}
                KeyCode::Escape if self.overlay.shows_help() => self.overlay.switch_help(),
                KeyCode::Escape if self.editing.is_on() => self.switch_editing(),
                KeyCode::Escape => self.close(event_loop),
                KeyCode::KeyM => self.switch_mask(),
                KeyCode::KeyC => self.view.cull_frustum = !self.view.cull_frustum,
                KeyCode::KeyO => self.view.order = !self.view.order,
                KeyCode::KeyR => self.next_renderer(event_loop),
                KeyCode::KeyK => self.next_backend(event_loop),
                KeyCode::KeyG => self.switch_cull(event_loop),
                KeyCode::KeyX => self.switch_occlusion(),
                KeyCode::KeyT => self.switch_tint(),
                KeyCode::KeyN => self.switch_wire(),
                KeyCode::KeyL => self.switch_levels(),
                KeyCode::KeyF => self.switch_walking(),
                KeyCode::Home => self.go_home(),
                KeyCode::KeyH => self.overlay.switch_help(),
                KeyCode::KeyP => self.read_previous(),
                KeyCode::F12 => self.screenshot(event_loop),
                KeyCode::Tab => self.overlay.switch_panels(),
                _ => return,
            }
        }
        self.redraw();
    }

    /// Resets the camera to the initial view, for the current size of the window.
    fn go_home(&mut self) {
        let mut options = self.options.clone();
        if let Some(PhysicalSize { width: width @ 1.., height: height @ 1.. }) =
            self.window.as_ref().map(|window| window.inner_size())
        {
            options.size = Size { width, height };
        }
        self.view.camera = self.framed.view(&options).camera;
    }

    fn capture_mouse(&mut self, capture: bool) {
        let Some(window) = &self.window else { return };
        let grabbed = if capture {
            window
                .set_cursor_grab(CursorGrabMode::Locked)
                .or_else(|_| window.set_cursor_grab(CursorGrabMode::Confined))
                .is_ok()
        } else {
            // Releasing a pointer that is not captured fails, which is harmless.
            let _ = window.set_cursor_grab(CursorGrabMode::None);
            false
        };
        window.set_cursor_visible(!grabbed);
        self.mouse_captured = grabbed;
        if grabbed {
            self.overlay.lose_pointer();
        }
    }

    fn redraw(&self) {
        if let Some(window) = &self.window {
            window.request_redraw();
        }
    }
}

impl ApplicationHandler<WindowRequest> for Viewer {
    fn new_events(&mut self, event_loop: &ActiveEventLoop, cause: StartCause) {
        if matches!(cause, StartCause::ResumeTimeReached { .. }) {
            event_loop.set_control_flow(ControlFlow::Wait);
            let now = Instant::now();
            let retries = self.retry_at.take_if(|at| *at <= now).is_some();
            if self.is_hidden || retries || self.overlay.wakes(now) {
                self.redraw();
                // A minimised window may draw no frames, but saving has to continue.
                self.retry_saving(event_loop);
            } else {
                self.update_status(event_loop);
            }
        }
    }

    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.window.is_some() {
            return;
        }
        if let Err(error) = self.open(event_loop) {
            self.stop(event_loop, error);
        }
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        if self.is_for_panels(&event) {
            return;
        }
        match event {
            WindowEvent::CloseRequested => self.close(event_loop),
            WindowEvent::RedrawRequested => self.frame(event_loop),
            WindowEvent::Resized(size) => self.resize(event_loop, size),
            // Keys held while the window gets the focus are reported as pressed; these are ignored.
            WindowEvent::KeyboardInput { event, is_synthetic, .. }
                if !is_synthetic || event.state == ElementState::Released =>
            {
                self.key(event_loop, &event);
            }
            WindowEvent::ModifiersChanged(modifiers) => self.editing.modifiers = modifiers.state(),
            WindowEvent::CursorMoved { position, .. } => self.point(position),
            WindowEvent::MouseInput { state, button, .. } if self.editing.is_on() => {
                self.edit_button(button, state);
            }
            WindowEvent::MouseInput {
                state: ElementState::Pressed,
                button: MouseButton::Left,
                ..
            } => self.capture_mouse(true),
            WindowEvent::MouseWheel { delta, .. } => self.flight.wheel(notches(delta)),
            WindowEvent::Focused(false) => {
                self.editing.focus.set(false);
                self.flight.release_all();
                self.editing.release();
                self.capture_mouse(false);
            }
            WindowEvent::Focused(true) => {
                self.editing.focus.set(true);
                self.redraw();
            }
            WindowEvent::Occluded(false) => self.redraw(),
            WindowEvent::DroppedFile(path) => self.read(path),
            _ => {}
        }
    }

    fn user_event(&mut self, event_loop: &ActiveEventLoop, request: WindowRequest) {
        match request {
            WindowRequest::End => self.end(event_loop),
            WindowRequest::Message(line) => {
                self.notify(&line);
                self.redraw();
            }
            WindowRequest::Read(path) => self.read(path),
            WindowRequest::Fail(error) => self.stop(event_loop, error),
            WindowRequest::Show(loaded) => self.show(event_loop, *loaded),
            WindowRequest::NotRead(problem) => {
                (self.loading, self.is_reread) = (None, false);
                self.overlay.set_progress(None);
                self.notify(&problem);
                self.redraw();
            }
        }
    }

    fn device_event(&mut self, _: &ActiveEventLoop, _: DeviceId, event: DeviceEvent) {
        if let (DeviceEvent::MouseMotion { delta }, true) = (event, self.mouse_captured) {
            let by = [delta.0, delta.1].map(|by| by * self.settings.mouse_speed);
            self.flight.turn(&mut self.view.camera, by);
            self.redraw();
        }
    }

    fn exiting(&mut self, _: &ActiveEventLoop) {
        self.leave();
    }
}

#[cfg(test)]
mod tests;
