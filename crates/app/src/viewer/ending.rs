//! How the event loop is opened, and how the viewer ends.

use std::{
    any::Any,
    mem,
    panic::{self, AssertUnwindSafe},
};

use winit::{error::EventLoopError, event_loop::EventLoop};

use super::{Viewer, signals::WindowRequest};
use crate::{AppError, output};

/// The event loop. winit panics where a library is missing that it needs for the keyboard.
pub(super) fn open_event_loop() -> Result<EventLoop<WindowRequest>, AppError> {
    let build = || EventLoop::with_user_event().build();
    let why = match panic::catch_unwind(build) {
        Ok(Ok(event_loop)) => return Ok(event_loop),
        Ok(Err(error)) => error.to_string(),
        Err(payload) => words_of(payload.as_ref()).into(),
    };
    Err(AppError::Window(why))
}

/// What a panic said.
fn words_of(payload: &(dyn Any + Send)) -> &str {
    let words = payload.downcast_ref::<String>().map(String::as_str);
    words.or_else(|| payload.downcast_ref().copied()).unwrap_or("the window system failed")
}

impl Viewer {
    /// Runs the event loop, which `run` does, and writes what outlives it, however it ends.
    ///
    /// # Panics
    /// When `run` does, once all is written.
    pub(super) fn run(&mut self, run: impl FnOnce(&mut Self) -> Result<(), EventLoopError>) {
        // Nothing is looked at after a panic but the edits, of which each chunk is whole.
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

    /// Writes what is lost otherwise when the program ends: edits, pictures, settings. Once: the
    /// event loop's last event is the last of the program on some platforms, but not on all.
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
        let kept = self.settings_file.as_mut().map_or(Ok(()), |file| file.keep(&settings));
        kept.unwrap_or_else(|problem| output::note(&problem));
        self.ended.set();
    }

    /// What the viewer ends with. Where something was shown, there is a display, whatever the window
    /// failed of later.
    pub(super) fn outcome(self) -> Result<(), AppError> {
        match self.failure {
            None => Ok(()),
            Some(AppError::Window(why)) if self.was_shown => Err(AppError::WindowFailed(why)),
            Some(error) => Err(error),
        }
    }

    /// Ends what the window shows. Where the user quits by the menu of macOS, the process ends
    /// right after this, and nothing that follows the event loop runs.
    pub(super) fn leave(&mut self) {
        self.finish_editing();
        self.write_all();
        // The device goes before the window that it draws to.
        self.screen = None;
    }
}
