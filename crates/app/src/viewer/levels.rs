//! Switching of levels of detail while the window keeps drawing.

use drystone::scene::Reread;

use super::{Viewer, opening::Loaded};
use crate::cli::{LevelsKind, SceneOptions};

impl Viewer {
    /// Toggles levels of detail. The content is read again from its open source, with all edits,
    /// while the current scene is still drawn. Opening the source a second time would fail, since
    /// this program writes it.
    pub(super) fn switch_levels(&mut self) {
        let Some(screen) = &self.screen else { return };
        if screen.is_model() {
            return self.notify("polygon models have no levels of detail");
        }
        let levels = match screen.levels() {
            Some(_) => LevelsKind::Off,
            None => LevelsKind::On,
        };
        if self.loading.is_some() || self.change.is_some() {
            return self.notify(super::change::BUSY);
        }
        let mut options =
            SceneOptions { levels, is_renderer_explicit: true, ..self.options.clone() };
        if let Some(problem) = options.conflict() {
            return self.notify(problem);
        }
        if !self.may_leave() {
            return;
        }
        let saver = self.editing.editor.saver();
        if let Some(path) = saver.edits_file() {
            options.edits.edits = Some(path);
        }
        let source = saver.shared_source();
        self.is_reread = true;
        let settings = self.settings();
        self.start_reading((options, source), settings);
        self.redraw();
    }

    /// Shows content that was read again, with the same camera. The undo history stays, unless
    /// edits are missing in the source; these are lost.
    pub(super) fn show_again(&mut self, loaded: Loaded) {
        self.redraw();
        self.finish_editing();
        let (changes, lacked) = self.before;
        let reread = self.editing.editor.saver().reread(lacked);
        if self.editing.changes != changes || reread == Reread::Outdated {
            // Edits made or saved in the meantime are missing in it.
            return self.switch_levels();
        }
        let Loaded { options: read, content, edit_target, quads } = loaded;
        // Switches used in the meantime stay.
        let SceneOptions { levels, edits, ao, .. } = read;
        let options = SceneOptions { levels, edits, ao, ..self.options.clone() };
        if let Some(screen) = &mut self.screen {
            screen.stop_change();
        }
        self.end_change();
        let (framed, clear_air) = (content.framed(), content.clear_air(&options));
        let Some(screen) = &mut self.screen else { return };
        let how = (options.meshing(), options.renderer, options.cull);
        if let Err(error) = screen.show_instead(content, &quads, how) {
            return self.notify(&format!("nothing was changed: {error}"));
        }
        (self.framed, self.clear_air) = (framed, clear_air);
        self.view.atmosphere = framed.view(&options).atmosphere;
        (self.faults_noted, self.lags) = (0, false);
        match reread {
            Reread::Without(_) => self.editing.restart(edit_target, options.memory_budget()),
            Reread::Whole | Reread::Outdated => self.editing.set_target(edit_target),
        }
        let how = match options.levels {
            LevelsKind::Off => "levels of detail off",
            LevelsKind::On | LevelsKind::Auto => "levels of detail on",
        };
        let lost = match reread {
            Reread::Without(1) => "; unsaved edits of 1 chunk were lost".into(),
            Reread::Without(chunks) => {
                format!("; unsaved edits of {chunks} chunks were lost")
            }
            Reread::Whole | Reread::Outdated => String::new(),
        };
        self.editing.message = format!("{how}{lost}");
        self.options = options;
    }
}
