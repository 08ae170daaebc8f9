use drystone::scene::{
    EditAction, EditError, EditKeeper, EditScene, Edited, Editor, KeptBy, SaveState, Size,
    ray_through,
};
use drystone_render::Camera;
use drystone_voxel::VoxelPos;
use glam::DVec3;

/// What the mouse and some keys do to voxels.
pub(crate) struct Editing {
    editor: Editor,
    /// Whether clicks edit.
    pub(crate) is_on: bool,
    /// What the last thing that was tried came to.
    pub(crate) message: String,
}

impl Editing {
    /// Nothing keeps the edits: a page has no files.
    pub(crate) fn new() -> Self {
        let editor = Editor::new(EditKeeper::new(KeptBy::Nobody));
        Self { editor, is_on: false, message: String::new() }
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
        self.message = match self.editor.act(scene, action, &ray) {
            Ok(Edited::Voxels(1)) => "1 voxel changed".into(),
            Ok(Edited::Voxels(count)) => format!("{count} voxels changed"),
            Ok(Edited::Picked(_)) => "picked".into(),
            Ok(Edited::OutOfReach) => "no voxel within reach".into(),
            Ok(Edited::TooFar) => "too far: fly nearer".into(),
            Ok(Edited::Nothing) => "nothing changed: so already, or outside of the world".into(),
            Err(error) => error.to_string(),
        };
    }

    /// Takes an edit back, or does it again.
    pub(crate) fn step(&mut self, scene: &mut dyn EditScene, forward: bool) {
        let editor = &mut self.editor;
        let done: Result<u64, EditError> =
            if forward { editor.redo(scene) } else { editor.undo(scene) };
        let what = if forward { "done again" } else { "taken back" };
        self.message = match done {
            Ok(0) => format!("nothing to be {what}"),
            Ok(count) => format!("{count} voxels {what}"),
            Err(error) => error.to_string(),
        };
    }

    /// Whether anything was edited.
    pub(crate) fn is_edited(&self) -> bool {
        self.editor.keeper_state() != SaveState::Unedited
    }

    /// What there is to say of it.
    pub(crate) fn words(&self, scene: &dyn EditScene) -> String {
        let mut words = String::new();
        if self.is_on {
            words += &format!("edit: {} | ", self.editor.brush.describe(scene.materials()));
        }
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
