//! What becomes of edits: saved, tried again, or asked about before they are lost.

use std::time::{Duration, Instant};

use drystone::scene::{EditSaver, SaveState};
use drystone_world::WorldError;
use winit::event_loop::ActiveEventLoop;

use super::{Viewer, editing::Editing};
use crate::{
    cli::{SaveArgs, SourceOptions},
    commands, output,
};

/// What is said of edits that are not on disk, and when it is tried again.
pub(super) struct Saving {
    /// Whether it was said that edits are not kept, or could not be saved.
    is_told: bool,
    /// How it was said, since something was done last, that they would be lost.
    warned: Option<Leaving>,
    /// When it was last tried to save what failed to be.
    tried: Instant,
    /// Whether trying again is of no use until the user asks for it.
    is_futile: bool,
    /// Whether the window was closed: who was warned leaves without what nothing keeps.
    is_left: bool,
}

/// How edits would be lost that are not saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaving {
    /// The window is closed.
    Close,
    /// Something else is opened in it.
    Open,
}

/// How long to wait before saving is tried again that failed.
const RETRY_INTERVAL: Duration = Duration::from_secs(3);

impl Saving {
    pub(super) fn new() -> Self {
        Self {
            is_told: false,
            warned: None,
            tried: Instant::now(),
            is_futile: false,
            is_left: false,
        }
    }

    /// Something was done: who closes the window is warned again.
    pub(super) const fn edited(&mut self) {
        self.warned = None;
    }

    /// Tries again, every few seconds, to save what failed to be.
    fn retry(&mut self, saver: &mut EditSaver, now: Instant) {
        if !matches!(saver.state(), SaveState::Failed(_)) {
            (self.tried, self.is_futile) = (now, false);
        } else if !self.is_futile && now.duration_since(self.tried) >= RETRY_INTERVAL {
            let saved = saver.save();
            self.tried = now;
            // What another has changed stays changed.
            self.is_futile = matches!(saved, Err(WorldError::ChangedElsewhere { .. }));
        }
    }

    /// Saves now: to a new file where nothing keeps the edits but one could, which `say` is told
    /// as soon as it is made, whether or not it can be written then. So too where another has taken
    /// the file that keeps them, and where that cannot be written for another reason and this is the
    /// `last` time.
    fn save(
        saver: &mut EditSaver,
        source: &SourceOptions,
        is_last: bool,
        say: &mut dyn FnMut(String),
    ) -> Saved {
        if saver.lacks_file() && saver.state() == SaveState::NotKept {
            match commands::save_in_new_file(source, |path| saver.save_at(path)) {
                Ok(path) => say(format!("edits are kept in {}", path.display())),
                Err(error) => return Saved::Failed(error),
            }
        }
        if !saver.is_saving_edits() && !saver.lacks_file() {
            return Saved::NotPersisted;
        }
        let error = match saver.save() {
            Ok(()) => return Saved::Silent,
            Err(error) => error,
        };
        if !saver.can_save_elsewhere() || !(is_last || is_taken(&error)) {
            return Saved::Failed(error);
        }
        let Ok(path) = commands::save_in_new_file(source, |path| saver.save_at(path)) else {
            return Saved::Failed(error);
        };
        let path = path.display();
        say(format!("{error}. What was edited is kept in {path}; to have it: --edits {path}"));
        saver.save().map_or_else(Saved::Failed, |()| Saved::Silent)
    }

    /// Saves what would be lost when the program ends now: as [`save`](Self::save), but who
    /// closed the window and was warned gets no new file.
    fn save_last(
        &self,
        saver: &mut EditSaver,
        source: &SourceOptions,
        say: &mut dyn FnMut(String),
    ) -> Result<(), WorldError> {
        if self.is_left {
            return saver.save();
        }
        match Self::save(saver, source, true, say) {
            Saved::Failed(error) => Err(error),
            Saved::NotPersisted if saver.state() == SaveState::NotKept => {
                say("edits are not kept".into());
                Ok(())
            }
            Saved::NotPersisted | Saved::Silent => Ok(()),
        }
    }

    /// What is said to who leaves, where edits would be lost: once for each way, until something
    /// else is done.
    fn warning(
        &mut self,
        leaving: Leaving,
        saver: &mut EditSaver,
        (source, read_only): (&SourceOptions, bool),
        say: &mut dyn FnMut(String),
    ) -> Option<String> {
        // Who edits a world, or names a file, wants it saved; one that nobody has named is asked for.
        let saved = match saver.can_save_elsewhere() {
            true => match Self::save(saver, source, true, say) {
                Saved::Failed(error) => Err(error),
                Saved::NotPersisted | Saved::Silent => Ok(()),
            },
            false => saver.save(),
        };
        if self.warned == Some(leaving) {
            return None;
        }
        let why = match saved {
            Err(error) => format!("{error} (Ctrl+S)"),
            Ok(()) if saver.state() != SaveState::NotKept => return None,
            Ok(()) if saver.lacks_file() => {
                "nothing keeps the edits: Ctrl+S saves them to a new file".into()
            }
            Ok(()) if read_only => "edits are not kept (--read-only)".into(),
            Ok(()) => "edits are not kept".into(),
        };
        self.warned = Some(leaving);
        Some(why)
    }

    /// What the title says of it.
    fn title(&self, saver: &EditSaver) -> String {
        match saver.state() {
            SaveState::NotKept | SaveState::Failed(_) if self.warned == Some(Leaving::Close) => {
                "NOT SAVED: close again to leave without | ".into()
            }
            SaveState::NotKept | SaveState::Failed(_) if self.warned == Some(Leaving::Open) => {
                "NOT SAVED: open again to go on without | ".into()
            }
            SaveState::NotKept if saver.lacks_file() => "edits are not kept (Ctrl+S) | ".into(),
            SaveState::NotKept => "edits are not kept | ".into(),
            SaveState::Unsaved(chunks) => format!("{chunks} chunks unsaved | "),
            SaveState::Failed(reason) => format!("NOT SAVED: {reason} | "),
            SaveState::Saved => "saved | ".into(),
            SaveState::Unedited => String::new(),
        }
    }

    /// The line that is said once of edits that are not saved, those too that failed to be by
    /// themselves.
    fn line(&mut self, saver: &EditSaver, read_only: bool) -> Option<String> {
        let line = match saver.state() {
            SaveState::NotKept if read_only => {
                "edits are not kept: the world was opened with --read-only".into()
            }
            SaveState::NotKept if saver.lacks_file() => {
                "nothing keeps the edits: Ctrl+S saves them to a new file, and so does --edits \
                 FILE.drystone from the start"
                    .into()
            }
            SaveState::NotKept => "edits are not kept".into(),
            SaveState::Failed(reason) if saver.can_save_elsewhere() => {
                format!(
                    "edits are not saved ({reason}); Ctrl+S tries again, or saves them elsewhere"
                )
            }
            SaveState::Failed(reason) => {
                format!("edits are not saved ({reason}); Ctrl+S tries again")
            }
            _ => {
                self.is_told = false;
                return None;
            }
        };
        (!std::mem::replace(&mut self.is_told, true)).then_some(line)
    }
}

/// Whether another has the world, so that it is not to be had while this program looks at it.
const fn is_taken(error: &WorldError) -> bool {
    matches!(error, WorldError::InUse { .. } | WorldError::ChangedElsewhere { .. })
}

/// What came of saving.
enum Saved {
    /// The title says it.
    Silent,
    /// Nothing can keep edits.
    NotPersisted,
    Failed(WorldError),
}

impl Editing {
    /// Whether the title will have something else to say soon.
    pub(super) fn is_saving(&self) -> bool {
        matches!(self.editor.save_state(), SaveState::Unsaved(_) | SaveState::Failed(_))
    }

    /// What time brings: saving that is tried again; what is not saved is said once.
    pub(super) fn look_after(&mut self, args: &SaveArgs) {
        // Half an edit is not saved.
        let is_whole = !self.editor.is_busy();
        let saver = self.editor.saver();
        if is_whole {
            self.saving.retry(saver, Instant::now());
        }
        if let Some(line) = self.saving.line(saver, args.read_only) {
            output::note(&line);
        }
    }

    /// What the title says of saving.
    pub(super) fn saving_title(&mut self) -> String {
        self.saving.title(self.editor.saver())
    }

    /// Saves what would be lost when the program ends now, but for what was left on purpose.
    ///
    /// # Errors
    /// What cannot be written, or has no file because none can be made.
    pub(super) fn save_last(&mut self, source: &SourceOptions) -> Result<(), WorldError> {
        let saver = self.editor.saver();
        self.saving.save_last(saver, source, &mut |line| output::note(&line))
    }
}

impl Viewer {
    /// Saves now.
    pub(super) fn save(&mut self) {
        self.finish_editing();
        let Editing { saving, editor, .. } = &mut self.editing;
        let mut said = String::new();
        let say = &mut |line: String| {
            output::note(&line);
            said = line;
        };
        let message = match Saving::save(editor.saver(), &self.options.source, false, say) {
            Saved::Silent => said,
            Saved::NotPersisted => "nothing keeps edits".into(),
            Saved::Failed(error) if editor.saver().is_saving_edits() => {
                // Said by the next frame, even if it was said before.
                saving.is_told = false;
                drop(error);
                String::new()
            }
            Saved::Failed(error) => {
                output::note(&error.to_string());
                format!("NOT SAVED: {error}")
            }
        };
        self.edited(message, Ok(()));
    }

    /// Ends, whatever becomes of edits: those that nothing keeps get a new file, if one can be
    /// made. What fails is tried once more, and said, when the window is gone.
    pub(super) fn end(&mut self, event_loop: &ActiveEventLoop) {
        self.finish_editing();
        let saver = self.editing.editor.saver();
        let say = &mut |line: String| output::note(&line);
        drop(Saving::save(saver, &self.options.source, true, say));
        event_loop.exit();
    }

    /// Saves what would be lost when something else is shown; whether that may be. Where it fails,
    /// that is said, once: who tries again goes on without.
    pub(super) fn may_leave(&mut self) -> bool {
        self.finish_editing();
        let Editing { saving, editor, .. } = &mut self.editing;
        let how = (&self.options.source, self.save.read_only);
        match saving.warning(Leaving::Open, editor.saver(), how, &mut |line| output::note(&line)) {
            Some(why) => {
                self.say(&format!("{why}; or open it again to go on without"));
                false
            }
            None => true,
        }
    }

    /// Ends when all is saved. When that fails, or nothing keeps the edits, it is said, and the
    /// window stays: who closes it once more leaves without.
    pub(super) fn close(&mut self, event_loop: &ActiveEventLoop) {
        self.finish_editing();
        let Editing { saving, editor, .. } = &mut self.editing;
        let how = (&self.options.source, self.save.read_only);
        match saving.warning(Leaving::Close, editor.saver(), how, &mut |line| output::note(&line)) {
            Some(why) => {
                output::note(&format!("{why}; or close again to leave without"));
                self.redraw();
            }
            None => {
                saving.is_left = true;
                event_loop.exit();
            }
        }
    }
}

#[cfg(test)]
mod tests;
