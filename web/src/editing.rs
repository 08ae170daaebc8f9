use drystone::scene::{
    EditAction, EditError, EditSaver, EditScene, EditStep, Edited, Editor, KeptBy, Size,
    ray_through,
};
use drystone_render::Camera;
use drystone_voxel::VoxelPos;
use glam::DVec3;

use crate::{opening::EditsFile, saving::Given};

/// Bytes of edits that are kept, and of those that can be taken back.
const MAX_EDIT_BYTES: usize = 128 << 20;

/// What the mouse and some keys do to voxels.
pub(crate) struct Editing {
    pub(crate) editor: Editor,
    pub(crate) file: EditsFile,
    pub(crate) given: Given,
    /// Whether clicks edit.
    pub(crate) is_on: bool,
    /// What the last thing that was tried came to.
    pub(crate) message: String,
}

impl Editing {
    /// Edits wait in memory until somebody saves them, or they are many: then the file has them.
    pub(crate) fn new(kept_by: KeptBy, file: EditsFile) -> Self {
        let editor = Editor::new(EditSaver::new(kept_by)).with_memory(MAX_EDIT_BYTES);
        Self { editor, file, given: Given::default(), is_on: false, message: String::new() }
    }

    /// What a key means; whether it is one of these.
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

    /// A click of this button at a place of the picture, −1 to 1 from left to right and from
    /// bottom to top.
    pub(crate) fn click(
        &mut self,
        scene: &mut dyn EditScene,
        (camera, size): (&Camera, Size),
        button: i16,
        place: [f64; 2],
    ) {
        let action = match button {
            0 => EditAction::Remove,
            1 => EditAction::Pick,
            2 => EditAction::Place,
            _ => return,
        };
        let ray = ray_through(camera, place, size.aspect());
        let done = self.editor.act(scene, action, &ray);
        self.came_to(EditStep::Edit, done);
    }

    /// Takes an edit back, or does it again.
    pub(crate) fn step(&mut self, scene: &mut dyn EditScene, forward: bool) {
        if forward {
            let done = self.editor.redo(scene);
            self.came_to(EditStep::Redo, done);
        } else {
            let done = self.editor.undo(scene);
            self.came_to(EditStep::Undo, done);
        }
    }

    /// Goes on with what takes more than one frame; whether there is more of it.
    pub(crate) fn go_on(&mut self, scene: &mut dyn EditScene) -> bool {
        if let Some((step, done)) = self.editor.update(scene, Editor::FRAME_TIME) {
            self.came_to(step, done);
        }
        self.editor.is_busy()
    }

    fn came_to(&mut self, step: EditStep, done: Result<Edited, EditError>) {
        self.message = match done {
            Ok(done) => done.words(step),
            Err(error @ EditError::Full { .. }) => {
                format!("{error}; Ctrl+S makes room, or says why not")
            }
            Err(error) => error.to_string(),
        };
        self.keep_many();
    }

    /// Whether an edit goes on.
    pub(crate) fn is_busy(&self) -> bool {
        self.editor.is_busy()
    }

    /// What there is to say of it.
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

    /// The corners of a world that edits may have made larger.
    pub(crate) fn grown(&self, (min, max): (DVec3, DVec3)) -> (DVec3, DVec3) {
        let corner = |voxel: VoxelPos| DVec3::from_array(voxel.to_array().map(f64::from));
        match self.editor.touched() {
            Some(touched) => (min.min(corner(touched.min)), max.max(corner(touched.max))),
            None => (min, max),
        }
    }
}
