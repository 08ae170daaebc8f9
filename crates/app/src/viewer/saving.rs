//! Saving of edits: retries, warnings before edits are lost, and the last save.

use std::time::{Duration, Instant};

use drystone::{
    MessageKind, Session,
    scene::{EditSaver, SaveState},
};
use drystone_formats::SourceError;

use crate::{cli::SourceOptions, output, source::save_in_new_file};

/// State of warnings and retries.
pub(super) struct Saving {
    /// Last state that was reported to the user.
    reported: Reported,
    /// The last warning about lost edits, since the last edit.
    warned: Option<Leaving>,
    /// Time of the last attempt to save.
    tried: Instant,
    /// Whether retries are useless until the user saves.
    is_retry_useless: bool,
    /// Whether the window was closed after a warning: unsaved edits are discarded.
    is_left: bool,
    /// Number of changes of the session at the last look.
    changes: u64,
}

/// State of saving that was reported to the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reported {
    Nothing,
    Problem,
    Saved,
}

/// User action that loses unsaved edits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaving {
    /// Closing the window.
    Close,
    /// Opening another file.
    Open,
}

/// Interval between retries of a failed save.
const RETRY_INTERVAL: Duration = Duration::from_secs(3);

impl Saving {
    pub(super) fn new() -> Self {
        Self {
            reported: Reported::Nothing,
            warned: None,
            tried: Instant::now(),
            is_retry_useless: false,
            is_left: false,
            changes: 0,
        }
    }

    /// Resets the warning after an edit, for a session with this number of changes.
    pub(super) const fn edited(&mut self, changes: u64) {
        if self.changes != changes {
            (self.changes, self.warned) = (changes, None);
        }
    }

    /// Records that the window is closed after a warning.
    pub(super) const fn leave(&mut self) {
        self.is_left = true;
    }

    /// Saves at the user's request. Returns the message for the user, which may be empty.
    ///
    /// # Errors
    /// The message, if the edits are not saved.
    pub(super) fn save_now(
        &mut self,
        saver: &mut EditSaver,
        source: &SourceOptions,
    ) -> Result<String, String> {
        let mut message = String::new();
        let notify = &mut |line: String| {
            output::note(&line);
            message = line;
        };
        let saved = Self::save(saver, source, false, notify);
        // Reported here, with the name of a new file.
        if saver.state() == SaveState::Saved {
            self.reported = Reported::Saved;
        }
        match saved {
            Saved::Silent => Ok(message),
            Saved::Impossible => Err("edits of this source cannot be saved".into()),
            Saved::Failed(_) if saver.is_saving_edits() => {
                // The next frame prints the problem, even if it was printed before.
                self.reported = Reported::Nothing;
                Ok(String::new())
            }
            Saved::Failed(error) => {
                output::note(&error.to_string());
                Err(format!("NOT SAVED: {error}"))
            }
        }
    }

    /// Saves if possible, to a new file if there is none. A failed save is retried and reported
    /// after the window has closed.
    pub(super) fn save_if_possible(saver: &mut EditSaver, source: &SourceOptions) {
        drop(Self::save(saver, source, true, &mut |line| output::note(&line)));
    }

    /// Retries a failed save unless an edit is only partly applied, and prints a new problem.
    pub(super) fn update(&mut self, session: &mut Session, read_only: bool) {
        self.edited(session.editing().changes());
        let is_whole = !session.editing().editor().is_busy();
        let saver = session.saver();
        if is_whole {
            self.retry(saver, Instant::now());
        }
        let before = self.reported;
        let line = self.line(saver, read_only);
        if self.reported == Reported::Saved && before != Reported::Saved {
            session.messages().add(MessageKind::Result, "saved");
        }
        if let Some(line) = line {
            output::note(&line);
            session.messages().show(MessageKind::Problem, line);
        }
    }

    /// Retries a failed save every few seconds.
    fn retry(&mut self, saver: &mut EditSaver, now: Instant) {
        if !matches!(saver.state(), SaveState::Failed(_)) {
            (self.tried, self.is_retry_useless) = (now, false);
        } else if !self.is_retry_useless && now.duration_since(self.tried) >= RETRY_INTERVAL {
            let saved = saver.save();
            self.tried = now;
            // A file that another program has changed stays changed.
            self.is_retry_useless = matches!(saved, Err(SourceError::ChangedElsewhere { .. }));
        }
    }

    /// Saves now. Edits without a file go to a new file; `notify` gets its name as soon as it
    /// exists, even if writing then fails. A new file is also used if another program has the file
    /// open or changed it, and, with `is_last`, if the file cannot be written.
    fn save(
        saver: &mut EditSaver,
        source: &SourceOptions,
        is_last: bool,
        notify: &mut dyn FnMut(String),
    ) -> Saved {
        if saver.lacks_file() && saver.state() == SaveState::NotSaved {
            match save_in_new_file(source, |path| saver.save_at(path)) {
                Ok(path) => notify(format!("edits are saved in {}", path.display())),
                Err(error) => return Saved::Failed(error),
            }
        }
        if !saver.is_saving_edits() && !saver.lacks_file() {
            return Saved::Impossible;
        }
        let error = match saver.save() {
            Ok(()) => return Saved::Silent,
            Err(error) => error,
        };
        if !saver.can_save_elsewhere() || !(is_last || is_in_use(&error)) {
            return Saved::Failed(error);
        }
        let Ok(path) = save_in_new_file(source, |path| saver.save_at(path)) else {
            return Saved::Failed(error);
        };
        let path = path.display();
        notify(format!(
            "{error}. The edits are saved in {path} instead; to load them: --edits {path}"
        ));
        saver.save().map_or_else(Saved::Failed, |()| Saved::Silent)
    }

    /// Saves before the program ends, as [`save`](Self::save) does. Creates no new file if the
    /// window was closed after a warning.
    pub(super) fn save_last(
        &self,
        saver: &mut EditSaver,
        source: &SourceOptions,
        notify: &mut dyn FnMut(String),
    ) -> Result<(), SourceError> {
        if self.is_left {
            return saver.save();
        }
        match Self::save(saver, source, true, notify) {
            Saved::Failed(error) => Err(error),
            Saved::Impossible if saver.state() == SaveState::NotSaved => {
                notify("edits are not saved".into());
                Ok(())
            }
            Saved::Impossible | Saved::Silent => Ok(()),
        }
    }

    /// Saves, and returns a warning if that fails or is not possible. Warns once for each way of
    /// leaving, until the next edit.
    pub(super) fn warning(
        &mut self,
        leaving: Leaving,
        saver: &mut EditSaver,
        (source, read_only): (&SourceOptions, bool),
        notify: &mut dyn FnMut(String),
    ) -> Option<String> {
        // Editing a stored world or naming a file implies saving. For other sources a new file is
        // created only on request.
        let saved = match saver.can_save_elsewhere() {
            true => match Self::save(saver, source, true, notify) {
                Saved::Failed(error) => Err(error),
                Saved::Impossible | Saved::Silent => Ok(()),
            },
            false => saver.save(),
        };
        if self.warned == Some(leaving) {
            return None;
        }
        let why = match saved {
            Err(error) => format!("{error} (Ctrl+S)"),
            Ok(()) if saver.state() != SaveState::NotSaved => return None,
            Ok(()) if saver.lacks_file() => {
                "edits are not saved; Ctrl+S saves them to a new file".into()
            }
            Ok(()) if read_only => "edits are not saved (--read-only)".into(),
            Ok(()) => "edits are not saved".into(),
        };
        self.warned = Some(leaving);
        Some(why)
    }

    /// Whether closing the window now would discard edits, after a warning.
    pub(super) fn discards(&self, saver: &EditSaver) -> bool {
        let is_unsaved = matches!(saver.state(), SaveState::NotSaved | SaveState::Failed(_));
        is_unsaved && self.warned == Some(Leaving::Close)
    }

    /// Returns the state of saving for the title.
    pub(super) fn title(&self, saver: &EditSaver) -> String {
        match saver.state() {
            SaveState::NotSaved | SaveState::Failed(_) if self.warned == Some(Leaving::Close) => {
                " NOT SAVED: close again to discard the edits | ".into()
            }
            SaveState::NotSaved | SaveState::Failed(_) if self.warned == Some(Leaving::Open) => {
                "NOT SAVED: open again to discard the edits | ".into()
            }
            SaveState::NotSaved if saver.lacks_file() => "edits are not saved (Ctrl+S) | ".into(),
            SaveState::NotSaved => "edits are not saved | ".into(),
            SaveState::Unsaved(chunks) => format!("{chunks} chunks unsaved | "),
            SaveState::Failed(reason) => format!("NOT SAVED: {reason} | "),
            SaveState::Saved => "saved | ".into(),
            SaveState::Unedited => String::new(),
        }
    }

    /// Returns the line on unsaved edits, once for each problem.
    fn line(&mut self, saver: &EditSaver, read_only: bool) -> Option<String> {
        let line = match saver.state() {
            SaveState::NotSaved if read_only => {
                "edits are not saved: the world was opened with --read-only".into()
            }
            SaveState::NotSaved if saver.lacks_file() => {
                "edits are not saved: press Ctrl+S to save them to a new file, or start with \
                 --edits FILE.drystone"
                    .into()
            }
            SaveState::NotSaved => "edits are not saved".into(),
            SaveState::Failed(reason) if saver.can_save_elsewhere() => {
                format!("edits are not saved ({reason}); Ctrl+S retries, or saves to another file")
            }
            SaveState::Failed(reason) => {
                format!("edits are not saved ({reason}); Ctrl+S retries")
            }
            state => {
                let is_saved = state == SaveState::Saved;
                self.reported = if is_saved { Reported::Saved } else { Reported::Nothing };
                return None;
            }
        };
        let before = std::mem::replace(&mut self.reported, Reported::Problem);
        (before != Reported::Problem).then_some(line)
    }
}

/// Whether another program has the world open or has changed it.
const fn is_in_use(error: &SourceError) -> bool {
    matches!(error, SourceError::InUse { .. } | SourceError::ChangedElsewhere { .. })
}

/// Result of saving.
enum Saved {
    /// Shown by the title.
    Silent,
    /// Edits cannot be saved.
    Impossible,
    Failed(SourceError),
}

/// Whether the state of saving will change soon.
pub(super) fn is_saving(session: &Session) -> bool {
    let state = session.editing().editor().save_state();
    matches!(state, SaveState::Unsaved(_) | SaveState::Failed(_))
}

#[cfg(test)]
mod tests;
