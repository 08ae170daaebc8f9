use drystone::scene::SaveState;
use drystone_store::StoredWorld;
use wasm_bindgen::prelude::*;

use super::Page;

/// Limit for edits that are only in memory, in bytes. Beyond it they are written to the file of edits.
const MAX_LOOSE_BYTES: usize = 256 << 10;

/// Record of the edits that were saved outside the page.
#[derive(Default)]
pub(crate) struct SaveProgress {
    /// Number of edits in the bytes that were returned last.
    count: u64,
    /// Number of edits in the bytes that were saved last.
    saved_count: u64,
    /// Whether the last save is confirmed. A download is not: the browser does not report it.
    is_confirmed: bool,
    /// Error of the edit that was in progress when the bytes were returned.
    error_text: Option<String>,
}

#[wasm_bindgen]
impl Page {
    /// Writes all edits to their file and returns its bytes, or `None` if there are no edits. After
    /// the caller has saved them, it calls [`saved`](Self::saved) or
    /// [`handed_over`](Self::handed_over).
    ///
    /// # Errors
    /// Throws a message if the edits do not fit into the file. They remain in memory.
    pub fn save(&mut self) -> Result<Option<Vec<u8>>, String> {
        // Finish the edit in progress first. An error of it does not prevent the save.
        self.progress.error_text = self.session.finish_editing();
        self.session.set_message(self.progress.error_text.clone().unwrap_or_default());
        if self.session.saver().state() == SaveState::Unedited && self.file.made.is_none() {
            let none = "no edits to save".to_owned();
            self.session.set_message(self.progress.error_text.take().unwrap_or(none));
            return Ok(None);
        }
        self.create_file()?;
        let Some(file) = &self.file.made else {
            return Err("edits of this world cannot be saved: it has too many materials".into());
        };
        let saver = self.session.saver();
        saver.save().map_err(|error| error.to_string())?;
        let bytes = StoredWorld::finished_bytes(file).map_err(|error| error.to_string())?;
        self.progress.count = saver.edit_count();
        Ok(Some(bytes))
    }

    /// Returns the name of the file of edits.
    pub fn edits_name(&self) -> String {
        self.file.name().into()
    }

    /// Returns the name for a new file, if an existing one cannot be overwritten.
    pub fn next_name(&self) -> String {
        self.file.next_name()
    }

    /// Records that the bytes of the last [`save`](Self::save) were written to the file `name`.
    pub fn saved(&mut self, name: &str) {
        self.record_save(true, &format!("saved as {name}"));
    }

    /// Records that the bytes were downloaded as [`next_name`](Self::next_name). The browser does
    /// not report whether it saved them.
    pub fn handed_over(&mut self) {
        self.file.advance();
        let result = format!("downloading as {}", self.file.name());
        self.record_save(false, &result);
    }

    /// Whether there are edits since the last save. Closing the page loses them.
    pub fn is_edited(&self) -> bool {
        let editor = self.session.editing().editor();
        editor.edit_count() != self.progress.saved_count || editor.is_busy()
    }
}

impl Page {
    /// Records a save and sets the message, together with an earlier error.
    fn record_save(&mut self, is_confirmed: bool, result: &str) {
        (self.progress.saved_count, self.progress.is_confirmed) =
            (self.progress.count, is_confirmed);
        let message = match self.progress.error_text.take() {
            Some(error_text) => format!("{error_text}; all other edits: {result}"),
            None => result.into(),
        };
        self.session.set_message(message);
    }

    /// Creates the file of edits, if necessary, and writes the edits to it from now on.
    fn create_file(&mut self) -> Result<(), String> {
        let saver = self.session.saver();
        if self.file.made.is_none() && saver.lacks_file() {
            let file = self.file.make();
            saver.save_in(&file).map_err(|error| error.to_string())?;
            self.file.made = Some(file);
        }
        Ok(())
    }

    /// Writes edits to the file of edits if they exceed a limit, which frees memory. The file is not
    /// saved by that.
    pub(crate) fn write_if_large(&mut self) {
        if self.session.saver().held_bytes() > MAX_LOOSE_BYTES
            && let Err(error) = self.create_file()
        {
            self.session.set_message(error);
        }
    }

    /// Describes the state of saving.
    pub(crate) fn saving_words(&self) -> String {
        match (self.session.editing().editor().save_state(), self.is_edited()) {
            (SaveState::Failed(reason), _) => format!("NOT SAVED: {reason} | "),
            (_, true) => "not saved (Ctrl+S) | ".into(),
            (_, false) if self.progress.saved_count == 0 => String::new(),
            (_, false) if self.progress.is_confirmed => "saved | ".into(),
            (_, false) => "download started | ".into(),
        }
    }
}
