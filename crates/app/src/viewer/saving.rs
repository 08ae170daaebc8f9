//! What becomes of edits: saved, tried again, or asked about before they are lost.

use std::time::{Duration, Instant};

use drystone::scene::{EditKeeper, SaveState};
use drystone_world::WorldError;
use winit::event_loop::ActiveEventLoop;

use super::{Viewer, editing::Editing};
use crate::{
    AppError,
    cli::{SaveArgs, SourceOptions},
    commands, output,
};

/// What is said of edits that are not on disk, and when it is tried again.
pub(super) struct Saving {
    /// Whether it was said that edits are not kept, or could not be saved.
    is_told: bool,
    /// Whether it was said, since something was done last, that they are lost if the window is closed.
    is_warned: bool,
    /// When it was last tried to save what failed to be.
    tried: Instant,
    /// Whether trying again is of no use until the user asks for it.
    is_futile: bool,
}

/// How long to wait before saving is tried again that failed.
const RETRY_INTERVAL: Duration = Duration::from_secs(3);

impl Saving {
    pub(super) fn new() -> Self {
        Self { is_told: false, is_warned: false, tried: Instant::now(), is_futile: false }
    }

    /// Something was done: who closes the window is warned again.
    pub(super) const fn edited(&mut self) {
        self.is_warned = false;
    }

    /// Tries again, every few seconds, to save what failed to be.
    fn retry(&mut self, keeper: &mut EditKeeper, now: Instant) {
        if !matches!(keeper.state(), SaveState::Failed(_)) {
            (self.tried, self.is_futile) = (now, false);
        } else if !self.is_futile && now.duration_since(self.tried) >= RETRY_INTERVAL {
            let saved = keeper.save();
            self.tried = now;
            // What another has changed stays changed.
            self.is_futile = matches!(saved, Err(WorldError::ChangedElsewhere { .. }));
        }
    }

    /// Saves now: to a new file where nothing keeps the edits but one could. What to say of it.
    fn save(&mut self, keeper: &mut EditKeeper, source: &SourceOptions) -> Saved {
        if keeper.lacks_file() && keeper.state() == SaveState::NotKept {
            return match commands::keep_in_new_file(source, |path| keeper.keep_at(path)) {
                Ok(path) => Saved::Note(format!("edits are kept in {}", path.display())),
                Err(error) => Saved::Failed(error),
            };
        }
        if !keeper.is_keeping() && !keeper.lacks_file() {
            return Saved::Nowhere;
        }
        match keeper.save() {
            Ok(()) => Saved::Silent,
            Err(error) => Saved::Failed(error),
        }
    }

    /// What is said to who closes the window, where edits would be lost: once, until something else is done.
    fn warning(&mut self, keeper: &mut EditKeeper, read_only: bool) -> Option<String> {
        let saved = keeper.save();
        if self.is_warned {
            return None;
        }
        let why = match saved {
            Err(error) => format!("{error} (Ctrl+S)"),
            Ok(()) if keeper.state() != SaveState::NotKept => return None,
            Ok(()) if keeper.lacks_file() => {
                "nothing keeps the edits: Ctrl+S saves them to a new file".into()
            }
            Ok(()) if read_only => "edits are not kept (--read-only)".into(),
            Ok(()) => "edits are not kept".into(),
        };
        self.is_warned = true;
        Some(format!("{why}; or close again to leave without"))
    }

    /// What the title says of it.
    fn title(&self, keeper: &EditKeeper) -> String {
        match keeper.state() {
            SaveState::NotKept | SaveState::Failed(_) if self.is_warned => {
                "NOT SAVED: close again to leave without | ".into()
            }
            SaveState::NotKept if keeper.lacks_file() => "edits are not kept (Ctrl+S) | ".into(),
            SaveState::NotKept => "edits are not kept | ".into(),
            SaveState::Unsaved(chunks) => format!("{chunks} chunks unsaved | "),
            SaveState::Failed(reason) => format!("NOT SAVED: {reason} | "),
            SaveState::Saved => "saved | ".into(),
            SaveState::Unedited => String::new(),
        }
    }

    /// The line that is said once of edits that are not saved, those too that failed to be by
    /// themselves.
    fn line(&mut self, keeper: &EditKeeper, read_only: bool) -> Option<String> {
        let line = match keeper.state() {
            SaveState::NotKept if read_only => {
                "edits are not kept: the world was opened with --read-only".into()
            }
            SaveState::NotKept if keeper.lacks_file() => {
                "nothing keeps the edits: Ctrl+S saves them to a new file, and so does --edits \
                 FILE.drystone from the start"
                    .into()
            }
            SaveState::NotKept => "edits are not kept".into(),
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

/// What came of saving.
enum Saved {
    /// The title says it.
    Silent,
    Note(String),
    /// Nothing can keep edits.
    Nowhere,
    Failed(WorldError),
}

impl Editing {
    /// Whether the title will have something else to say soon.
    pub(super) fn is_saving(&self) -> bool {
        matches!(self.editor.keeper_state(), SaveState::Unsaved(_) | SaveState::Failed(_))
    }

    /// What time brings: saving that is tried again; what is not saved is said once.
    pub(super) fn look_after(&mut self, args: &SaveArgs) {
        let keeper = self.editor.keeper();
        self.saving.retry(keeper, Instant::now());
        if let Some(line) = self.saving.line(keeper, args.read_only) {
            output::note(&line);
        }
    }

    /// What the title says of saving.
    pub(super) fn saving_title(&mut self) -> String {
        self.saving.title(self.editor.keeper())
    }

    /// Saves what is not saved yet.
    pub(super) fn save(&mut self) -> Result<(), WorldError> {
        self.editor.keeper().save()
    }
}

impl Viewer {
    /// Saves now.
    pub(super) fn save(&mut self) {
        let Editing { saving, editor, .. } = &mut self.editing;
        let message = match saving.save(editor.keeper(), &self.options.source) {
            Saved::Silent => String::new(),
            Saved::Note(line) => {
                output::note(&line);
                line
            }
            Saved::Nowhere => "nothing keeps edits".into(),
            Saved::Failed(error) if editor.keeper().is_keeping() => {
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
    /// made.
    pub(super) fn end(&mut self, event_loop: &ActiveEventLoop) {
        let Editing { saving, editor, .. } = &mut self.editing;
        match saving.save(editor.keeper(), &self.options.source) {
            Saved::Note(line) => output::note(&line),
            // Else it is tried once more, and said, when the window is gone.
            Saved::Failed(error) if !editor.keeper().is_keeping() => {
                self.failure = Some(AppError::NotSaved(error));
            }
            Saved::Nowhere if editor.keeper_state() == SaveState::NotKept => {
                output::note("edits are not kept");
            }
            Saved::Silent | Saved::Nowhere | Saved::Failed(_) => {}
        }
        event_loop.exit();
    }

    /// Ends when all is saved. When that fails, or nothing keeps the edits, it is said, and the
    /// window stays: who closes it once more leaves without.
    pub(super) fn close(&mut self, event_loop: &ActiveEventLoop) {
        let Editing { saving, editor, .. } = &mut self.editing;
        match saving.warning(editor.keeper(), self.save.read_only) {
            Some(line) => {
                output::note(&line);
                self.redraw();
            }
            None => event_loop.exit(),
        }
    }
}
