//! Levels of detail on and off while the window goes on.

use drystone::scene::Reread;

use super::{Viewer, opening::Loaded};
use crate::cli::{LevelsKind, SceneOptions};

impl Viewer {
    /// Shows what is far of larger voxels from now on, or everything as it is. The source is read
    /// once more for that, with all edits; meanwhile it is shown as it was. It is not opened once
    /// more: the second to open it would find that another writes it.
    pub(super) fn switch_levels(&mut self) {
        let Some(screen) = &self.screen else { return };
        if screen.is_model() {
            return self.say("polygon models have no levels of detail");
        }
        let levels = match screen.levels() {
            Some(_) => LevelsKind::Off,
            None => LevelsKind::On,
        };
        if self.loading.is_some() || self.change.is_some() {
            return self.say("wait until what is begun is done");
        }
        let mut options =
            SceneOptions { levels, is_renderer_explicit: true, ..self.options.clone() };
        if let Some(problem) = options.conflict() {
            return self.say(problem);
        }
        if !self.may_leave() {
            return;
        }
        let saver = self.editing.editor.saver();
        if let Some(path) = saver.edits_file() {
            options.edits.edits = Some(path);
        }
        let source = saver.shared_source();
        self.is_read_again = true;
        let settings = self.settings();
        self.start_reading((options, source), settings);
        self.redraw();
    }

    /// Shows the same from the same eye, in the other way. What can be taken back stays so, unless
    /// the source lacks edits: these are gone, as was said.
    pub(super) fn show_again(&mut self, loaded: Loaded) {
        self.redraw();
        self.finish_editing();
        let (changes, lacked) = self.before;
        let reread = self.editing.editor.saver().reread(lacked);
        if self.editing.changes != changes || reread == Reread::Outdated {
            // What was edited while it was read, or saved at last, is not in it.
            return self.switch_levels();
        }
        let Loaded { options: read, content, kept_by, quads } = loaded;
        // What was switched since it was asked for stays so.
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
            return self.say(&format!("it stays as it is: {error}"));
        }
        (self.framed, self.clear_air) = (framed, clear_air);
        self.view.atmosphere = framed.view(&options).atmosphere;
        (self.faults_noted, self.lags) = (0, false);
        match reread {
            Reread::Without(_) => self.editing.restart(kept_by, options.memory_budget()),
            Reread::Whole | Reread::Outdated => self.editing.keep_with(kept_by),
        }
        let how = match options.levels {
            LevelsKind::Off => "all is as it is",
            LevelsKind::On | LevelsKind::Auto => "at levels of detail",
        };
        let lost = match reread {
            Reread::Without(1) => {
                ", without the last edits of 1 chunk, which nothing has kept".into()
            }
            Reread::Without(chunks) => {
                format!(", without the last edits of {chunks} chunks, which nothing has kept")
            }
            Reread::Whole | Reread::Outdated => String::new(),
        };
        self.editing.message = format!("{how}{lost}");
        self.options = options;
    }
}
