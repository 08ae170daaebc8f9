//! The end of the viewer: saving, and the result.

use std::{
    any::Any,
    mem,
    panic::{self, AssertUnwindSafe},
};

use drystone::{MessageKind, scene::SaveState};
use winit::{
    error::EventLoopError,
    event_loop::{ActiveEventLoop, EventLoop},
};

use super::{
    Viewer,
    saving::{Leaving, Saving},
    signals::{Ended, WindowRequest},
};
use crate::{AppError, output};

/// Opens the event loop. winit panics if a library for the keyboard is missing.
pub(super) fn open_event_loop() -> Result<EventLoop<WindowRequest>, AppError> {
    let build = || EventLoop::with_user_event().build();
    let why = match panic::catch_unwind(build) {
        Ok(Ok(event_loop)) => return Ok(event_loop),
        Ok(Err(error)) => error.to_string(),
        Err(payload) => words_of(payload.as_ref()).into(),
    };
    Err(AppError::Window(why))
}

/// Returns the message of a panic.
fn words_of(payload: &(dyn Any + Send)) -> &str {
    let words = payload.downcast_ref::<String>().map(String::as_str);
    words.or_else(|| payload.downcast_ref().copied()).unwrap_or("the window system failed")
}

/// Result of the viewer.
#[derive(Default)]
pub(super) struct Ending {
    pub(super) failure: Option<AppError>,
    /// Whether everything is written to disk.
    is_over: bool,
    pub(super) ended: Ended,
}

impl Ending {
    /// Sets the error of the viewer; prints an earlier one.
    pub(super) fn fail(&mut self, error: AppError) {
        if let Some(earlier) = self.failure.replace(error) {
            output::note(&earlier.to_string());
        }
    }
}

impl Viewer {
    /// Runs the event loop by calling `run`, and saves everything afterwards, even after a panic.
    ///
    /// # Panics
    /// If `run` does, after saving.
    pub(super) fn run(&mut self, run: impl FnOnce(&mut Self) -> Result<(), EventLoopError>) {
        // After a panic only the edits are used, and each of their chunks is consistent.
        let ran = panic::catch_unwind(AssertUnwindSafe(|| run(self)));
        if let Ok(Err(error)) = &ran {
            self.ending.fail(AppError::Window(error.to_string()));
        }
        self.write_all();
        if let Err(payload) = ran {
            self.ending.failure.iter().for_each(|error| output::note(&error.to_string()));
            panic::resume_unwind(payload);
        }
    }

    /// Writes edits, pictures and settings, once. On some platforms the last event of the loop is
    /// the end of the process, on others the loop returns.
    fn write_all(&mut self) {
        if mem::replace(&mut self.ending.is_over, true) {
            return;
        }
        let notify = &mut |line: String| output::note(&line);
        let source = &self.options.source;
        if let Err(error) = self.saving.save_last(self.session.saver(), source, notify) {
            self.ending.fail(AppError::NotSaved(error));
        }
        self.captures.pictures.finish();
        self.note_source();
        let settings = self.settings();
        let kept = self.preferences.file.as_mut().map_or(Ok(()), |file| file.save(&settings));
        kept.unwrap_or_else(|problem| output::note(&problem));
        self.ending.ended.set();
    }

    /// Returns the result of the viewer. An error after a window was shown is not a missing
    /// display.
    pub(super) fn outcome(self) -> Result<(), AppError> {
        match self.ending.failure {
            None => Ok(()),
            Some(AppError::Window(why)) if self.screen.was_shown => {
                Err(AppError::WindowFailed(why))
            }
            Some(error) => Err(error),
        }
    }

    /// Closes the scene. If the user quits by the macOS menu, the process ends right after this,
    /// and no code after the event loop runs.
    pub(super) fn leave(&mut self) {
        self.session.finish_editing();
        self.write_all();
        // The device is closed before its window.
        self.session.detach();
    }

    /// Ends the viewer with an error.
    pub(super) fn stop(&mut self, event_loop: &ActiveEventLoop, error: AppError) {
        self.ending.fail(error);
        event_loop.exit();
    }

    /// Retries a failed save, and prints a new problem.
    pub(super) fn update_saving(&mut self) {
        self.saving.update(&mut self.session, self.reader.save.read_only);
    }

    /// Saves now.
    pub(super) fn save(&mut self) {
        self.session.finish_editing();
        let saved = self.saving.save_now(self.session.saver(), &self.options.source);
        let is_silent = saved.as_ref().is_ok_and(String::is_empty);
        let problem = saved.as_ref().err().cloned();
        self.session.edited(saved.unwrap_or_else(|problem| problem));
        if let Some(problem) = problem {
            self.session.messages().show(MessageKind::Problem, problem);
        }
        let state = match self.session.saver().state() {
            SaveState::Saved => "saved",
            SaveState::Unedited => "there are no edits to save",
            _ => return,
        };
        if is_silent {
            self.session.messages().show(MessageKind::Result, state);
        }
    }

    /// Ends the viewer, and saves if possible.
    pub(super) fn end(&mut self, event_loop: &ActiveEventLoop) {
        self.session.finish_editing();
        Saving::save_if_possible(self.session.saver(), &self.options.source);
        event_loop.exit();
    }

    /// Saves before another file is shown. Returns whether to continue: false once after a failure,
    /// with a warning.
    pub(super) fn may_leave(&mut self) -> bool {
        match self.warning(Leaving::Open) {
            Some(why) => {
                self.session.say(format!("{why}; or open it again to discard the edits"));
                false
            }
            None => true,
        }
    }

    /// Saves and ends. After a failure it warns and stays open; closing again discards the edits.
    pub(super) fn close(&mut self, event_loop: &ActiveEventLoop) {
        match self.warning(Leaving::Close) {
            Some(why) => {
                let line = format!("{why}; or close again to discard the edits");
                output::note(&line);
                self.session.messages().show(MessageKind::Problem, line);
                self.screen.redraw();
            }
            None => {
                self.saving.leave();
                event_loop.exit();
            }
        }
    }

    /// Saves before edits could be lost, and returns a warning if that is not possible.
    fn warning(&mut self, leaving: Leaving) -> Option<String> {
        self.session.finish_editing();
        self.saving.edited(self.session.editing().changes());
        let how = (&self.options.source, self.reader.save.read_only);
        let notify = &mut |line: String| output::note(&line);
        self.saving.warning(leaving, self.session.saver(), how, notify)
    }
}
