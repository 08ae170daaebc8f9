use std::sync::Arc;

use drystone_voxel::{Material, VoxelPos};
use drystone_world::{Axis, EditHistory};
use glam::DVec3;
use web_time::Instant;

use super::{MessageKind, NO_VOXELS, Session, Stage, change::BAR_AFTER, messages};
use crate::Action;
use crate::keys::Host;
use crate::scene::{
    Brush, EditError, EditSaver, EditStep, EditTool, Edited, Editor, OutlineLine, VoxelScene,
};
use crate::{Content, Progress};

/// Editor of a session, and whether clicks edit.
pub struct Editing {
    pub(super) editor: Editor,
    /// Whether the mouse edits; if not, it turns the camera.
    pub(super) is_on: bool,
    /// Number of edits and attempts to save.
    pub(super) changes: u64,
    /// Progress of an edit that takes several frames, and its start.
    progress: Option<(Arc<Progress>, Instant)>,
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
        Self { editor, is_on: false, changes: 0, progress: None }
    }

    /// Returns the progress of an edit that takes long enough to be shown.
    pub(super) fn visible_progress(&self) -> Option<&Arc<Progress>> {
        let (progress, begun) = self.progress.as_ref()?;
        (begun.elapsed() > BAR_AFTER).then_some(progress)
    }

    /// Records the progress of the edit.
    fn note_progress(&mut self) {
        let Some(fraction) = self.editor.fraction() else { return self.progress = None };
        let begin = || (Arc::new(Progress::new("editing")), Instant::now());
        self.progress.get_or_insert_with(begin).0.set_fraction(fraction);
    }

    /// Returns the editor.
    pub const fn editor(&self) -> &Editor {
        &self.editor
    }

    /// Whether clicks edit.
    pub const fn is_on(&self) -> bool {
        self.is_on
    }

    /// Whether clicks edit, and a box is selected.
    pub(super) const fn has_selection(&self) -> bool {
        self.is_on && self.editor.selection.bounds().is_some()
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
            (EditError::Render(_), Host::Window) => String::new(),
            _ => error.to_string(),
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
        self.editing.editor.selection.set_tool(EditTool::Brush);
        self.set_message(String::new());
    }

    /// Returns the outlines of the selection, of the voxel under a point of the picture, in pixels from the
    /// top left, and of what a click changes there. Empty while clicks do not edit.
    ///
    /// # Cost
    /// That of [`Editor::outline`].
    pub fn outline(&mut self, at: Option<[f64; 2]>) -> Vec<OutlineLine> {
        let Some(scene) = self.stage.as_mut().and_then(Stage::voxel_scene) else {
            return Vec::new();
        };
        if !self.editing.is_on {
            return Vec::new();
        }
        let (camera, view) = (&self.camera, self.camera.view());
        let ray = at.map(|at| camera.ray(at));
        self.editing.editor.outline(scene, ray.as_ref(), (&view.camera, camera.size()))
    }

    /// Changes what clicks do. Selecting and placing begin to edit.
    pub(super) fn switch_tool(&mut self, tool: EditTool) {
        let selection = &self.editing.editor.selection;
        let begins = tool == EditTool::Select
            || (tool == EditTool::Paste && selection.clipboard().is_some());
        if !self.editing.is_on && begins {
            self.switch_editing();
        }
        if self.editing.is_on {
            let done = self.editing.editor.switch_tool(tool);
            self.set_words(&done);
        }
    }

    /// Leaves the tool of the selection, or else drops the selection. Returns whether there was any of
    /// both.
    pub fn drop_selection(&mut self) -> bool {
        let was_any = self.editing.is_on && self.editing.editor.selection.cancel();
        if was_any {
            self.set_words(&Edited::Tool(EditTool::Brush));
        }
        was_any
    }

    /// Shows the result of a change of tool, brush or selection.
    fn set_words(&mut self, done: &Edited) {
        let words = match done {
            Edited::Tool(EditTool::Brush) => messages::brush_text(self),
            _ => None,
        };
        let words = words.map(|brush| format!("brush: {brush}"));
        self.set_message(words.unwrap_or_else(|| done.words(EditStep::Edit)));
    }

    /// Changes brush, selection or copy while editing. With the tools of the selection, keys of the brush
    /// change what that tool shows.
    pub(super) fn change_brush(&mut self, action: Action) {
        if !self.editing.is_on {
            return;
        }
        let selection = &self.editing.editor.selection;
        let action = match (selection.tool(), action) {
            (EditTool::Paste, Action::NextForm) => Action::MirrorCopy(Axis::X),
            (EditTool::Paste, Action::Grow(by)) => Action::TurnCopy(Axis::X, by),
            (EditTool::Paste, Action::StepMaterial(by)) => Action::TurnCopy(Axis::Y, by),
            (_, action) => action,
        };
        let material = self.editing.editor.brush.material;
        match action {
            Action::Cut => self.edit(EditStep::Cut, Editor::cut),
            Action::FillSelection => {
                self.edit(EditStep::Edit, |editor, scene| editor.fill_selection(scene, material));
            }
            Action::EmptySelection => self
                .edit(EditStep::Edit, |editor, scene| editor.fill_selection(scene, Material::AIR)),
            Action::NextMirror => {
                let done = self.editing.editor.next_mirror();
                self.set_words(&done);
            }
            Action::Grow(by) if selection.tool() == EditTool::Select => {
                let done = self.editing.editor.raise_selection(by);
                self.set_words(&done);
            }
            Action::TurnCopy(..) | Action::MirrorCopy(_) | Action::PasteAir(_) => {
                self.change_copy(action);
            }
            action => self.change_form(action),
        }
    }

    /// Turns or mirrors the copied voxels, or sets what their air does.
    fn change_copy(&mut self, action: Action) {
        let selection = &mut self.editing.editor.selection;
        match action {
            Action::TurnCopy(axis, quarter_turns) => selection.turn(axis, quarter_turns),
            Action::MirrorCopy(axis) => selection.mirror(axis),
            Action::PasteAir(air) => selection.air = air,
            _ => {}
        }
        let words = match selection.paste_size() {
            Some([x, y, z]) => format!("copy of {x} x {y} x {z} voxels: click to place"),
            None => Edited::NothingCopied.words(EditStep::Edit),
        };
        self.set_message(words);
    }

    /// Changes form, size or material of the brush.
    fn change_form(&mut self, action: Action) {
        let brush = &mut self.editing.editor.brush;
        match action {
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

    /// Undoes a negative number of edits, or redoes a positive one.
    pub(super) fn step_history(&mut self, steps: i32) {
        // The list on the screen may be older than the edits in progress.
        if self.editing.editor.is_busy() {
            return self.say("wait until the edit is done");
        }
        for _ in 0..steps.unsigned_abs() {
            match steps < 0 {
                true => self.edit(EditStep::Undo, Editor::undo),
                false => self.edit(EditStep::Redo, Editor::redo),
            }
        }
    }

    /// Continues an edit that takes several frames.
    pub(super) fn continue_editing(&mut self) {
        let Some(scene) = self.stage.as_mut().and_then(Stage::voxel_scene) else { return };
        if let Some((step, done)) = self.editing.editor.update(scene, Editor::FRAME_TIME) {
            self.finish_step(step, done);
        }
        self.editing.note_progress();
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
        self.editing.note_progress();
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
            Ok(done @ Edited::Tool(_)) => return self.set_words(done),
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
