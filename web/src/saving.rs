use drystone::scene::{EditScene, SaveState};
use wasm_bindgen::prelude::*;

use crate::{editing::Editing, page::Page};

/// Bytes of edits that wait for who saves them; from there on the file has them.
const MAX_LOOSE_BYTES: usize = 256 << 10;

/// What has left the page.
#[derive(Default)]
pub(crate) struct Given {
    /// How many edits were made when the bytes of the file were asked for last, and when somebody
    /// had them.
    count: u64,
    saved_count: u64,
    /// Whether that was a file that is known to have them, or the browser, which does not say.
    is_known: bool,
    /// What could not be done of the edits that were going on then.
    trouble: Option<String>,
}

#[wasm_bindgen]
impl Page {
    /// Puts all edits so far into their file and returns its bytes, to be kept: who has done that
    /// calls [`saved`](Self::saved) or [`handed_over`](Self::handed_over). Nothing where nothing
    /// was edited.
    ///
    /// # Errors
    /// Throws a line to be shown where they have no room. They are kept as they were.
    pub fn save(&mut self) -> Result<Option<Vec<u8>>, String> {
        self.editing.save(self.shown.edit_scene())
    }

    /// What the file of edits is called.
    pub fn edits_name(&self) -> String {
        self.editing.file.name().into()
    }

    /// What it is called where those that there are cannot be written again.
    pub fn next_name(&self) -> String {
        self.editing.file.next_name()
    }

    /// The file of this name has the bytes that [`save`](Self::save) returned last.
    pub fn saved(&mut self, name: &str) {
        self.editing.tell_given(true, &format!("saved as {name}"));
    }

    /// The browser was asked to keep them as [`next_name`](Self::next_name), and does not say
    /// whether it did.
    pub fn handed_over(&mut self) {
        self.editing.file.go_on();
        let said = format!("handed to the browser as {}", self.editing.file.name());
        self.editing.tell_given(false, &said);
    }

    /// Whether anything was edited since it was saved last: that goes with the page.
    pub fn is_edited(&self) -> bool {
        self.editing.is_unsaved()
    }
}

impl Editing {
    /// Whether edits would be lost now.
    pub(crate) fn is_unsaved(&self) -> bool {
        self.editor.edit_count() != self.given.saved_count || self.editor.is_busy()
    }

    fn save(&mut self, scene: &mut dyn EditScene) -> Result<Option<Vec<u8>>, String> {
        // Half an edit is not saved. What cannot be shown of one is done all the same.
        self.given.trouble = self.editor.finish(scene).err().map(|error| error.to_string());
        self.message = self.given.trouble.clone().unwrap_or_default();
        let saver = self.editor.saver();
        if saver.state() == SaveState::Unedited && self.file.made.is_none() {
            let none = "there are no edits to be saved".to_owned();
            self.message = self.given.trouble.take().unwrap_or(none);
            return Ok(None);
        }
        self.keep()?;
        let Some(file) = &self.file.made else {
            return Err("nothing can keep edits of this world: it has too many materials".into());
        };
        let saver = self.editor.saver();
        saver.save().map_err(|error| error.to_string())?;
        let bytes = file.finished().map_err(|error| error.to_string())?;
        self.given.count = saver.edit_count();
        Ok(Some(bytes))
    }

    /// What was given is where it should be; what could not be done before is told with it.
    fn tell_given(&mut self, is_known: bool, said: &str) {
        (self.given.saved_count, self.given.is_known) = (self.given.count, is_known);
        self.message = match self.given.trouble.take() {
            Some(trouble) => format!("{trouble}; the rest: {said}"),
            None => said.into(),
        };
    }

    /// Has the file keep the edits from now on.
    fn keep(&mut self) -> Result<(), String> {
        let saver = self.editor.saver();
        if self.file.made.is_none() && saver.lacks_file() {
            let file = self.file.make();
            saver.save_in(&file).map_err(|error| error.to_string())?;
            self.file.made = Some(file);
        }
        Ok(())
    }

    /// The same once they take much memory: nothing else takes them from it. Nothing is saved by that.
    pub(crate) fn keep_many(&mut self) {
        if self.editor.saver().held_bytes() > MAX_LOOSE_BYTES
            && let Err(error) = self.keep()
        {
            self.message = error;
        }
    }

    /// What becomes of the edits, in words.
    pub(crate) fn saving_words(&self) -> String {
        match (self.editor.save_state(), self.is_unsaved()) {
            (SaveState::Failed(reason), _) => format!("NOT SAVED: {reason} | "),
            (_, true) => "not saved (Ctrl+S) | ".into(),
            (_, false) if self.given.saved_count == 0 => String::new(),
            (_, false) if self.given.is_known => "saved | ".into(),
            (_, false) => "handed to the browser | ".into(),
        }
    }
}
