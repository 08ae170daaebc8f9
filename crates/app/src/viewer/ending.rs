//! Start of the event loop, and the end of the viewer.

use std::{
    any::Any,
    mem,
    panic::{self, AssertUnwindSafe},
};

use winit::{error::EventLoopError, event_loop::EventLoop};

use super::{Viewer, signals::WindowRequest};
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

impl Viewer {
    /// Runs the event loop by calling `run`, and saves everything afterwards, even after a panic.
    ///
    /// # Panics
    /// If `run` does, after saving.
    pub(super) fn run(&mut self, run: impl FnOnce(&mut Self) -> Result<(), EventLoopError>) {
        // After a panic only the edits are used, and each of their chunks is consistent.
        let ran = panic::catch_unwind(AssertUnwindSafe(|| run(self)));
        if let Ok(Err(error)) = &ran {
            self.fail(AppError::Window(error.to_string()));
        }
        self.write_all();
        if let Err(payload) = ran {
            self.failure.iter().for_each(|error| output::note(&error.to_string()));
            panic::resume_unwind(payload);
        }
    }

    /// Writes edits, pictures and settings, once. On some platforms the last event of the loop is
    /// the end of the process, on others the loop returns.
    fn write_all(&mut self) {
        if mem::replace(&mut self.is_over, true) {
            return;
        }
        if let Err(error) = self.editing.save_last(&self.options.source) {
            self.fail(AppError::NotSaved(error));
        }
        self.screenshots.finish();
        self.note_source();
        let settings = self.settings();
        let kept = self.settings_file.as_mut().map_or(Ok(()), |file| file.save(&settings));
        kept.unwrap_or_else(|problem| output::note(&problem));
        self.ended.set();
    }

    /// Returns the result of the viewer. An error after a window was shown is not a missing
    /// display.
    pub(super) fn outcome(self) -> Result<(), AppError> {
        match self.failure {
            None => Ok(()),
            Some(AppError::Window(why)) if self.was_shown => Err(AppError::WindowFailed(why)),
            Some(error) => Err(error),
        }
    }

    /// Closes the scene. If the user quits by the macOS menu, the process ends right after this,
    /// and no code after the event loop runs.
    pub(super) fn leave(&mut self) {
        self.finish_editing();
        self.write_all();
        // The device is closed before its window.
        self.screen = None;
    }
}
