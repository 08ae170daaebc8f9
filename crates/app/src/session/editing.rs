use drystone_voxel::VoxelPos;
use drystone_world::EditHistory;
use glam::DVec3;

use super::{MessageKind, NO_VOXELS, Session, Stage};
use crate::Action;
use crate::Content;
use crate::keys::Host;
use crate::scene::{
    Brush, EditError, EditSaver, EditStep, Edited, Editor, OutlineLine, VoxelScene,
};

/// Editor of a session, and whether clicks edit.
pub struct Editing {
    pub(super) editor: Editor,
    /// Whether the mouse edits; if not, it turns the camera.
    pub(super) is_on: bool,
    /// Number of edits and attempts to save.
    pub(super) changes: u64,
}

impl Editing {
    /// Creates an editor of the content; a model cannot be edited.
    pub(super) fn new(content: &Content, max_bytes: usize) -> Self {
        let saver = content.voxels().cloned().map_or_else(EditSaver::default, EditSaver::new);
        let editor = Editor::new(saver);
        let mut editor = editor.with_history(EditHistory::new(max_bytes)).with_memory(max_bytes);
        if let Some(data) = content.voxels() {
            editor.brush = Brush::of(data.materials());
        }
        Self { editor, is_on: false, changes: 0 }
    }

    /// Returns the editor.
    pub const fn editor(&self) -> &Editor {
        &self.editor
    }

    /// Whether clicks edit.
    pub const fn is_on(&self) -> bool {
        self.is_on
    }

    /// Returns the number of edits and attempts to save. It differs after each of them.
    pub const fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns corners of the world, extended by its edits.
    pub(super) fn grown(&self, (min, max): (DVec3, DVec3)) -> (DVec3, DVec3) {
        let corner = |voxel: VoxelPos| DVec3::from_array(voxel.to_array().map(f64::from));
        match self.editor.touched() {
            Some(touched) => (min.min(corner(touched.min)), max.max(corner(touched.max))),
            None => (min, max),
        }
    }

    /// Returns the message about a failed edit for the user. The message is empty if the error is
    /// only logged.
    pub(super) fn words(&mut self, error: &EditError, host: Host) -> String {
        let saver = self.editor.saver();
        match (error, host) {
            (EditError::Full { .. }, Host::Page) => {
                format!("{error}; press Ctrl+S to save and free memory")
            }
            (EditError::Full { .. }, Host::Window) => {
                let can_save = saver.is_saving_edits() || saver.lacks_file();
                let advice =
                    if can_save { "press Ctrl+S to save them" } else { "raise the memory limit" };
                format!("{error}: {advice}")
            }
            (_, Host::Page) => error.to_string(),
            (_, Host::Window) => String::new(),
        }
    }
}

impl Session {
    /// Toggles between editing and turning with the mouse.
    pub(super) fn switch_editing(&mut self) {
        let has_voxels = self.stage.as_mut().and_then(Stage::voxel_scene).is_some();
        if !self.editing.is_on && !has_voxels {
            return self.say(NO_VOXELS);
        }
        self.editing.is_on = !self.editing.is_on;
        self.set_message(String::new());
    }

    /// Returns the outlines of the voxel under a point of the picture, in pixels from the top left,
    /// and of the brush around it. Empty while clicks do not edit.
    ///
    /// # Cost
    /// That of [`Editor::outline`].
    pub fn outline(&mut self, at: [f64; 2]) -> Vec<OutlineLine> {
        let Some(scene) = self.stage.as_mut().and_then(Stage::voxel_scene) else {
            return Vec::new();
        };
        if !self.editing.is_on {
            return Vec::new();
        }
        let (camera, view) = (&self.camera, self.camera.view());
        self.editing.editor.outline(scene, &camera.ray(at), (&view.camera, camera.size()))
    }

    /// Changes the brush while editing.
    pub(super) fn change_brush(&mut self, action: Action) {
        let brush = &mut self.editing.editor.brush;
        match action {
            _ if !self.editing.is_on => {}
            Action::NextForm => brush.next_form(),
            Action::Grow(by) => brush.grow(by),
            Action::StepMaterial(by) => {
                if let Some(scene) = self.stage.as_mut().and_then(Stage::voxel_scene) {
                    brush.step_material(scene.data().materials(), by);
                }
            }
            _ => {}
        }
    }

    /// Edits the voxels of the scene, if there are any.
    pub(super) fn edit(
        &mut self,
        step: EditStep,
        run: impl FnOnce(&mut Editor, &mut VoxelScene) -> Result<Edited, EditError>,
    ) {
        if let Some(scene) = self.stage.as_mut().and_then(Stage::voxel_scene) {
            let done = run(&mut self.editing.editor, scene);
            self.finish_step(step, done);
        }
    }

    /// Continues an edit that takes several frames.
    pub(super) fn continue_editing(&mut self) {
        let Some(scene) = self.stage.as_mut().and_then(Stage::voxel_scene) else { return };
        if let Some((step, done)) = self.editing.editor.update(scene, Editor::FRAME_TIME) {
            self.finish_step(step, done);
        }
        if let Some(stage) = &mut self.stage {
            stage.hold(self.editing.editor.is_busy());
        }
    }

    /// Finishes all edits in progress, before they are saved or the scene is closed. Returns the
    /// error of one that failed.
    pub fn finish_editing(&mut self) -> Option<String> {
        if !self.editing.editor.is_busy() {
            return None;
        }
        let scene = self.stage.as_mut().and_then(Stage::voxel_scene)?;
        let done = self.editing.editor.finish(scene).transpose()?;
        let error = done.as_ref().err().map(EditError::to_string);
        self.finish_step(EditStep::Edit, done);
        error
    }

    /// Shows the result of an edit or of saving.
    pub fn edited(&mut self, message: String) {
        self.set_message(message);
        self.editing.changes += 1;
    }

    pub(super) fn finish_step(&mut self, step: EditStep, done: Result<Edited, EditError>) {
        let words = match &done {
            Ok(done) => done.words(step),
            Err(error) => self.editing.words(error, self.host),
        };
        self.edited(words.clone());
        if done.is_err() && !words.is_empty() {
            self.messages.show(MessageKind::Problem, words);
        }
        let is_shown = matches!(done, Ok(Edited::Voxels(_)) | Err(EditError::Render(_)));
        let restarted = match &mut self.stage {
            Some(stage) if is_shown => stage.edited(),
            _ => Ok(()),
        };
        if let Err(error) = restarted {
            self.cancel_change(&error);
        }
        if let Err(error) = done {
            // A lost device is handled by the next frame.
            self.messages.notes.push(error.to_string());
        }
    }
}
