use drystone::scene::{
    EditAction, EditError, EditSaver, EditScene, EditStep, Edited, Editor, EditTarget, Size,
    ray_through,
};
use drystone_render::Camera;
use drystone_voxel::VoxelPos;
use glam::DVec3;

use crate::{opening::EditsFile, saving::SaveProgress};

/// Limit for edits in memory, in bytes, including those that can be undone.
const MAX_EDIT_BYTES: usize = 128 << 20;

/// Editing by mouse and keys.
pub(crate) struct Editing {
    pub(crate) editor: Editor,
    pub(crate) file: EditsFile,
    pub(crate) progress: SaveProgress,
    /// Whether clicks edit.
    pub(crate) is_on: bool,
    /// Result of the last action, as text.
    pub(crate) message: String,
}

impl Editing {
    /// Edits wait in memory until somebody saves them, or they are many: then the file has them.
    pub(crate) fn new(kept_by: EditTarget, file: EditsFile) -> Self {
        let editor = Editor::new(EditSaver::new(kept_by)).with_memory(MAX_EDIT_BYTES);
        Self {
            editor,
            file,
            progress: SaveProgress::default(),
            is_on: false,
            message: String::new(),
        }
    }

    /// Handles a key. Returns whether the key has a function here.
    pub(crate) fn key(&mut self, code: &str, repeat: bool, scene: &mut dyn EditScene) -> bool {
        let brush = &mut self.editor.brush;
        match code {
            "KeyE" if !repeat => {
                self.is_on = !self.is_on;
                self.message.clear();
            }
            _ if !self.is_on => return false,
            "KeyB" if !repeat => brush.next_form(),
            "BracketLeft" => brush.grow(-1),
            "BracketRight" => brush.grow(1),
            "Comma" => brush.step_material(scene.materials(), -1),
            "Period" => brush.step_material(scene.materials(), 1),
            _ => return false,
        }
        true
    }

    /// Handles a click of a button at a position in the picture: −1 to 1 from left to right and from
    /// bottom to top.
    pub(crate) fn click(
        &mut self,
        scene: &mut dyn EditScene,
        (camera, size): (&Camera, Size),
        button: i16,
        position: [f64; 2],
    ) {
        let action = match button {
            0 => EditAction::Remove,
            1 => EditAction::Pick,
            2 => EditAction::Place,
            _ => return,
        };
        let ray = ray_through(camera, position, size.aspect());
        let done = self.editor.act(scene, action, &ray);
        self.set_result(EditStep::Edit, done);
    }

    /// Undoes the last edit, or redoes it if `forward`.
    pub(crate) fn step(&mut self, scene: &mut dyn EditScene, forward: bool) {
        if forward {
            let done = self.editor.redo(scene);
            self.set_result(EditStep::Redo, done);
        } else {
            let done = self.editor.undo(scene);
            self.set_result(EditStep::Undo, done);
        }
    }

    /// Continues edits that take several frames. Returns whether there is more to do.
    pub(crate) fn update(&mut self, scene: &mut dyn EditScene) -> bool {
        if let Some((step, done)) = self.editor.update(scene, Editor::FRAME_TIME) {
            self.set_result(step, done);
        }
        self.editor.is_busy()
    }

    fn set_result(&mut self, step: EditStep, done: Result<Edited, EditError>) {
        self.message = match done {
            Ok(done) => done.words(step),
            Err(error @ EditError::Full { .. }) => {
                format!("{error}; press Ctrl+S to save and free memory")
            }
            Err(error) => error.to_string(),
        };
        self.write_if_large();
    }

    /// Whether an edit is in progress.
    pub(crate) fn is_busy(&self) -> bool {
        self.editor.is_busy()
    }

    /// Describes the brush, the state of saving and the last result.
    pub(crate) fn words(&self, scene: &dyn EditScene) -> String {
        let mut words = String::new();
        if self.is_on {
            words += &format!("edit: {} | ", self.editor.brush.describe(scene.materials()));
        }
        words += &self.saving_words();
        if !self.message.is_empty() {
            words += &format!("{} | ", self.message);
        }
        words
    }

    /// Returns the corners of the world, enlarged by the edits.
    pub(crate) fn grown(&self, (min, max): (DVec3, DVec3)) -> (DVec3, DVec3) {
        let corner = |voxel: VoxelPos| DVec3::from_array(voxel.to_array().map(f64::from));
        match self.editor.touched() {
            Some(touched) => (min.min(corner(touched.min)), max.max(corner(touched.max))),
            None => (min, max),
        }
    }
}
