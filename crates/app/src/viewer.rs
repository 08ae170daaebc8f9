//! The window: fly through a world, edit it, and see the statistics of the renderer.

mod clipboard;
#[cfg(windows)]
mod console;
mod ending;
mod facts;
mod frame;
mod frame_benchmark;
mod opening;
mod overlay;
mod pointer;
mod reading;
mod saving;
mod screen;
mod screenshot;
mod signals;
mod status;
mod watch;

use std::time::Instant;

use drystone::{
    Action, CameraKind, Content, MessageKind, Session,
    keys::{self, Host},
    scene::{BackendKind, Size},
};
use drystone_render::RenderError;
use winit::{
    application::ApplicationHandler,
    dpi::PhysicalSize,
    event::{DeviceEvent, DeviceId, ElementState, MouseButton, StartCause, WindowEvent},
    event_loop::{ActiveEventLoop, ControlFlow},
    window::{CursorIcon, WindowId},
};

use crate::{
    AppError,
    allocator::AllocatorReport,
    cli::{SaveArgs, SceneOptions},
    output,
    settings::{Settings, SettingsFile},
    source::Note,
};
use clipboard::Copies;
use ending::{Ending, open_event_loop};
use frame_benchmark::FrameBenchmark;
use opening::session_options;
use overlay::Overlay;
pub(crate) use overlay::Textures as OverlayTextures;
use pointer::{Focus, MouseUse, Pointer, notches, turn};
use reading::{First, Reader};
use saving::Saving;
use screen::Screen;
use screenshot::Screenshots;
use signals::{Ended, WindowRequest, WindowRequests};
use status::{Feedback, Status};

/// Content of a file, ready to be shown, with its options.
struct Opened {
    options: SceneOptions,
    content: Content,
    /// Line about the content for the user.
    note: Option<Note>,
}

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
    let (mut options, mut save) = (options.clone(), save.clone());
    // Times of a benchmark depend on its command line alone.
    match frames {
        None => settings.set_options(&mut options),
        Some(_) => save.no_edits = true,
    }
    let is_verbose = options.verbose;
    let first = First::read(options, &save, &settings)?;
    let event_loop = open_event_loop()?;
    event_loop.set_control_flow(ControlFlow::Wait);
    let requests = WindowRequests::to(event_loop.create_proxy());
    let ended = Ended::default();
    signals::listen(requests.clone(), ended.clone());
    let mut viewer = Viewer::begin(first, save, settings, requests);
    viewer.ending.ended = ended;
    viewer.benchmark = frames.map(FrameBenchmark::new);
    // A benchmark does not change the settings.
    viewer.preferences.file = frames.is_none().then_some(settings_file);
    viewer.run(|viewer| event_loop.run_app(viewer));
    if is_verbose {
        output::note(&AllocatorReport::now().to_string());
    }
    viewer.outcome()
}

/// Pictures and text that the user takes from the window.
struct Captures {
    pictures: Screenshots,
    camera: Copies,
}

/// A session in a window.
struct Viewer {
    session: Session,
    /// Options of the current file.
    options: SceneOptions,
    saving: Saving,
    reader: Reader,
    screen: Screen,
    pointer: Pointer,
    overlay: Overlay,
    status: Status,
    captures: Captures,
    preferences: Preferences,
    /// Running benchmark of frames.
    benchmark: Option<FrameBenchmark>,
    ending: Ending,
}

/// Settings with their file.
struct Preferences {
    settings: Settings,
    /// `None` if the settings are not saved.
    file: Option<SettingsFile>,
    feedback: Feedback,
}

impl Viewer {
    fn new(opened: Opened, save: SaveArgs, settings: Settings, requests: WindowRequests) -> Self {
        let Opened { options, content, note } = opened;
        let mut viewer = Self {
            status: Status::new(content.name()),
            session: Session::new(content, &session_options(&options)),
            saving: Saving::new(),
            screen: Screen::default(),
            pointer: Pointer::new(),
            overlay: Overlay::new(settings.shows_panels, settings.view.text_scale),
            captures: Captures {
                pictures: Screenshots::new(requests.clone()),
                camera: Copies::default(),
            },
            reader: Reader::new(save, options.detail.levels, requests),
            preferences: Preferences { settings, file: None, feedback: Feedback::of_environment() },
            options,
            benchmark: None,
            ending: Ending::default(),
        };
        viewer.note_source();
        viewer.show_note(note);
        viewer
    }

    fn resize(&mut self, event_loop: &ActiveEventLoop, size: PhysicalSize<u32>) {
        let PhysicalSize { width: width @ 1.., height: height @ 1.. } = size else { return };
        self.preferences.settings.view.note_window(self.screen.state(), self.screen.first_size);
        match self.session.resize(Size { width, height }) {
            Ok(()) => self.screen.redraw(),
            Err(error) => self.recover(event_loop, error),
        }
    }

    /// Executes an action and draws a frame.
    fn act_and_redraw(&mut self, event_loop: &ActiveEventLoop, action: Option<Action>) {
        if let Some(action) = action {
            self.act(event_loop, action);
            self.screen.redraw();
        }
    }

    /// Executes an action.
    fn act(&mut self, event_loop: &ActiveEventLoop, action: Action) {
        let was_editing = self.session.editing().is_on();
        match self.session.apply(action) {
            Ok(None) => {}
            Ok(Some(action)) => self.act_on_window(event_loop, action),
            Err(error) => self.recover(event_loop, error),
        }
        if self.session.editing().is_on() != was_editing {
            self.end_editing();
        }
        self.preferences.settings.view.note(action, self.session.camera());
        self.after_action();
    }

    /// Executes an action that concerns files, devices or panels.
    fn act_on_window(&mut self, event_loop: &ActiveEventLoop, action: Action) {
        match action {
            Action::Save => self.save(),
            Action::Backend(kind) => self.switch_backend(event_loop, kind),
            Action::NextBackend => {
                let next = match self.screen.concrete(self.options.drawing.backend) {
                    BackendKind::Wgpu => BackendKind::Gl,
                    BackendKind::Gl => BackendKind::Soft,
                    _ => BackendKind::Wgpu,
                };
                self.switch_backend(event_loop, next);
            }
            Action::OpenDialog => self.reader.ask_for_file(),
            Action::OpenRecent(rank) => {
                if let Some(file) = self.preferences.settings.recent.get(rank) {
                    self.read(file.path.clone());
                }
            }
            Action::Reload => self.reload(),
            Action::OpenPrevious => self.read_previous(),
            Action::StepFrame(by) => self.step_frame(by),
            Action::Screenshot => self.screenshot(event_loop),
            Action::FullScreen => self.screen.switch_full_screen(),
            Action::CopyCamera => self.captures.camera.copy(&mut self.session),
            Action::MouseSpeed(speed) => self.preferences.settings.mouse_speed = speed,
            Action::TextScale(scale) => {
                self.preferences.settings.view.text_scale = scale;
                self.overlay.set_text_scale(scale);
            }
            Action::Panels => self.overlay.switch_panels(),
            Action::Help => {
                self.preferences.settings.knows_keys = true;
                self.overlay.switch_help();
            }
            Action::Escape => self.escape(event_loop),
            // The session executes all others.
            _ => {}
        }
    }

    /// Leaves the innermost state: captured mouse, list, help, selection, editing, window.
    fn escape(&mut self, event_loop: &ActiveEventLoop) {
        if self.pointer.is_captured {
            self.capture_mouse(false);
        } else if self.overlay.close_lists() {
        } else if self.overlay.shows_help() {
            self.overlay.switch_help();
        } else if self.session.drop_selection() {
        } else if self.session.editing().is_on() {
            self.act(event_loop, Action::Edit);
        } else if self.saving.discards(self.session.saver()) {
            // Escape alone, pressed again and again to leave something, must not lose edits.
            self.session
                .say("edits are not saved: Ctrl+S saves them, closing the window discards them");
        } else {
            self.close(event_loop);
        }
    }

    /// Moves the marks to the pointer, and draws a frame if they change. A frame that is requested
    /// moves them anyway: some mice report their place a thousand times a second.
    fn move_marks(&mut self) {
        if !self.screen.awaits_frame() && self.update_marks() {
            self.screen.redraw();
        }
    }

    /// Shows the most useful keys, unless the user has seen the list of keys or reads a line about the
    /// content.
    fn show_hint(&mut self) {
        let shows_line = self.session.messages().line(Instant::now()).is_some();
        if self.benchmark.is_none() && !self.preferences.settings.knows_keys && !shows_line {
            self.session.messages().add(MessageKind::Hint, keys::hint(Host::Window));
        }
    }

    /// Prints what the session has to say.
    fn after_action(&mut self) {
        self.session.take_notes().iter().for_each(|line| output::note(line));
    }

    /// Writes a picture of the scene to a new file.
    fn screenshot(&mut self, event_loop: &ActiveEventLoop) {
        let picture = self.session.still();
        self.overlay.cleared();
        match picture {
            Ok(picture) => picture.into_iter().for_each(|it| self.captures.pictures.write(it)),
            Err(error @ RenderError::Lost { .. }) => self.recover(event_loop, error),
            Err(error) => self.session.say(format!("cannot take a picture: {error}")),
        }
    }

    /// Releases held buttons and the mouse, and shows whether clicks edit.
    fn end_editing(&mut self) {
        self.pointer.release();
        self.capture_mouse(false);
        if let Some(window) = self.screen.window() {
            let is_on = self.session.editing().is_on();
            window.set_cursor(if is_on { CursorIcon::Crosshair } else { CursorIcon::Default });
        }
    }

    /// Returns what the buttons of a free mouse do.
    fn mouse_use(&self) -> MouseUse {
        match self.session.camera().kind() {
            _ if self.session.editing().is_on() => MouseUse::Edit,
            CameraKind::Orbit => MouseUse::Orbit,
            CameraKind::Fly | CameraKind::Walk => MouseUse::Capture,
        }
    }

    fn capture_mouse(&mut self, capture: bool) {
        self.pointer.is_captured = self.screen.capture_pointer(capture);
        if self.pointer.is_captured {
            self.overlay.lose_pointer();
        }
        self.move_marks();
    }
}

impl ApplicationHandler<WindowRequest> for Viewer {
    fn new_events(&mut self, event_loop: &ActiveEventLoop, cause: StartCause) {
        if matches!(cause, StartCause::ResumeTimeReached { .. }) {
            event_loop.set_control_flow(ControlFlow::Wait);
            let now = Instant::now();
            let retries = self.status.retry_at.take_if(|at| *at <= now).is_some();
            if self.screen.is_hidden || retries || self.overlay.wakes(now) {
                self.screen.redraw();
                // A minimised window may draw no frames, but saving has to continue.
                self.retry_saving(event_loop);
            } else {
                self.update_status(event_loop);
            }
        }
    }

    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.screen.window().is_some() {
            return;
        }
        let opened = self.open_window(event_loop).and_then(|()| self.open_first_device(event_loop));
        match opened {
            Ok(()) => self.show_hint(),
            Err(error) => self.stop(event_loop, error),
        }
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(window) = self.screen.window().cloned() else { return };
        let taken = self.overlay.take_event(&window, &event, self.pointer.is_captured);
        if taken.repaint {
            self.screen.redraw();
        }
        if taken.is_taken {
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
                let action = self.pointer.key(&event);
                self.act_and_redraw(event_loop, action);
            }
            WindowEvent::ModifiersChanged(modifiers) => self.pointer.modifiers = modifiers.state(),
            WindowEvent::CursorMoved { position, .. } => {
                let speed = self.preferences.settings.mouse_speed;
                // The frame that an action requests moves the marks too.
                match self.pointer.move_to(position, self.mouse_use(), speed) {
                    Some(action) => self.act_and_redraw(event_loop, Some(action)),
                    None => self.move_marks(),
                }
            }
            WindowEvent::CursorLeft { .. } => {
                self.pointer.is_inside = false;
                self.move_marks();
            }
            WindowEvent::MouseInput { state, button, .. } => {
                let mouse_use = self.mouse_use();
                if (mouse_use, button, state)
                    == (MouseUse::Capture, MouseButton::Left, ElementState::Pressed)
                {
                    self.capture_mouse(true);
                    return;
                }
                let camera = self.session.camera();
                let action = self.pointer.button(button, state, mouse_use, camera);
                self.act_and_redraw(event_loop, action);
            }
            WindowEvent::MouseWheel { delta, .. } => {
                let action = Action::Wheel(notches(delta), self.pointer.place());
                self.act_and_redraw(event_loop, Some(action));
            }
            WindowEvent::Focused(false) => {
                self.pointer.focus = Focus::Elsewhere;
                self.act(event_loop, Action::ReleaseAll);
                self.end_editing();
            }
            WindowEvent::Focused(true) => {
                self.pointer.focus = Focus::New;
                self.screen.redraw();
            }
            WindowEvent::Occluded(false) => self.screen.redraw(),
            WindowEvent::DroppedFile(path) => self.read_dropped(path),
            _ => {}
        }
    }

    fn user_event(&mut self, event_loop: &ActiveEventLoop, request: WindowRequest) {
        match request {
            WindowRequest::End => self.end(event_loop),
            WindowRequest::Message(kind, line) => {
                match kind {
                    MessageKind::Problem => self.session.say(line),
                    MessageKind::Result | MessageKind::Hint => self.session.messages().report(line),
                }
                self.screen.redraw();
            }
            WindowRequest::Read(path) => self.read(path),
            WindowRequest::FileChanged(name) => self.file_changed(&name),
            WindowRequest::Fail(error) => self.stop(event_loop, error),
            WindowRequest::Show(opened) => self.show(event_loop, *opened),
            WindowRequest::NotRead(problem) => {
                self.reader.end_failed(self.options.source.path.as_deref());
                self.session.say(problem);
                self.screen.redraw();
            }
        }
        self.after_action();
    }

    fn device_event(&mut self, event_loop: &ActiveEventLoop, _: DeviceId, event: DeviceEvent) {
        if let (DeviceEvent::MouseMotion { delta }, true) = (event, self.pointer.is_captured) {
            let turn = turn([delta.0, delta.1], self.preferences.settings.mouse_speed);
            self.act_and_redraw(event_loop, Some(turn));
        }
    }

    fn exiting(&mut self, _: &ActiveEventLoop) {
        self.leave();
    }
}

#[cfg(test)]
mod tests;
