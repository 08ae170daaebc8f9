use drystone::scene::{EditScene, SaveState};
use wasm_bindgen::prelude::*;

use crate::{editing::Editing, page::Page};

/// Bytes of edits that wait unpacked for who saves them: packing these takes a moment.
const MOST_LOOSE_BYTES: usize = 256 << 10;

#[wasm_bindgen]
impl Page {
    /// Puts all edits so far into their file and returns its bytes, for the browser to keep: who has
    /// done that calls [`saved`](Self::saved). Nothing where nothing was edited.
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

    /// The browser has the bytes that [`save`](Self::save) returned last.
    pub fn saved(&mut self) {
        self.editing.saved_count = self.editing.given_count;
        self.editing.message = format!("saved as {}", self.editing.file.name());
    }

    /// Whether anything was edited since it was saved last: that goes with the page.
    pub fn is_edited(&self) -> bool {
        self.editing.is_unsaved()
    }
}

impl Editing {
    /// Whether edits would be lost now.
    pub(crate) fn is_unsaved(&self) -> bool {
        self.editor.edit_count() != self.saved_count || self.editor.is_busy()
    }

    fn save(&mut self, scene: &mut dyn EditScene) -> Result<Option<Vec<u8>>, String> {
        // Half an edit is not saved. What cannot be shown of one is done all the same.
        if let Err(error) = self.editor.finish(scene) {
            self.message = error.to_string();
        }
        let keeper = self.editor.keeper();
        if keeper.state() == SaveState::Unedited && self.file.made.is_none() {
            self.message = "there are no edits to be saved".into();
            return Ok(None);
        }
        self.keep()?;
        let Some(file) = &self.file.made else {
            return Err("nothing can keep edits of this world: it has too many materials".into());
        };
        let keeper = self.editor.keeper();
        keeper.save().map_err(|error| error.to_string())?;
        let bytes = file.finished().map_err(|error| error.to_string())?;
        self.given_count = keeper.edit_count();
        Ok(Some(bytes))
    }

    /// Has the file keep the edits from now on.
    fn keep(&mut self) -> Result<(), String> {
        let keeper = self.editor.keeper();
        if self.file.made.is_none() && keeper.lacks_file() {
            let file = self.file.make();
            keeper.keep_in(&file).map_err(|error| error.to_string())?;
            self.file.made = Some(file);
        }
        Ok(())
    }

    /// The same once they take much memory: packed they take little of it. Nothing is saved by that.
    pub(crate) fn keep_many(&mut self) {
        if self.editor.keeper().held_bytes() > MOST_LOOSE_BYTES
            && let Err(error) = self.keep()
        {
            self.message = error;
        }
    }

    /// What becomes of the edits, in words.
    pub(crate) fn saving_words(&self) -> String {
        match (self.editor.keeper_state(), self.is_unsaved()) {
            (SaveState::Failed(reason), _) => format!("NOT SAVED: {reason} | "),
            (_, true) => "not saved (Ctrl+S) | ".into(),
            (_, false) if self.saved_count > 0 => "saved | ".into(),
            (_, false) => String::new(),
        }
    }
}
