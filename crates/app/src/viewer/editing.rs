use drystone::scene::{
    EditAction, EditError, EditKeeper, Edited, Editor, KeptBy, SaveState, Size, ray_through,
};
use drystone_voxel::{MaterialTable, VoxelPos};
use drystone_world::WorldError;
use glam::DVec3;
use winit::{
    dpi::{PhysicalPosition, PhysicalSize},
    event::{ElementState, KeyEvent, MouseButton},
    event_loop::ActiveEventLoop,
    keyboard::{Key, KeyCode, ModifiersState},
    window::CursorIcon,
};

use super::Viewer;
use crate::output;

/// What the mouse and some keys do to voxels.
pub(super) struct Editing {
    editor: Editor,
    /// Whether the mouse edits; else it turns.
    is_on: bool,
    pub(super) modifiers: ModifiersState,
    pointer: PhysicalPosition<f64>,
    press: Option<Press>,
    /// What the last thing that was tried came to.
    message: String,
    /// Whether it was said that edits are not kept, or could not be saved.
    is_told: bool,
    /// Whether it was said that they could not be saved when the window was to be closed.
    is_warned: bool,
}

/// A button that is held.
struct Press {
    button: MouseButton,
    at: PhysicalPosition<f64>,
    /// Whether the mouse was moved: then it turns, and edits nothing.
    is_drag: bool,
}

/// Pixels that a click may tremble by.
const CLICK_PIXELS: f64 = 4.0;

impl Editing {
    pub(super) fn new(kept_by: KeptBy) -> Self {
        Self {
            editor: Editor::new(EditKeeper::new(kept_by)),
            is_on: false,
            modifiers: ModifiersState::empty(),
            pointer: PhysicalPosition::new(0.0, 0.0),
            press: None,
            message: String::new(),
            is_told: false,
            is_warned: false,
        }
    }

    pub(super) const fn is_on(&self) -> bool {
        self.is_on
    }

    /// Whether the title will have something else to say soon.
    pub(super) fn is_saving(&self) -> bool {
        matches!(self.editor.keeper_state(), SaveState::Unsaved(_))
    }

    pub(super) fn release(&mut self) {
        self.press = None;
    }

    /// What the title says of it.
    pub(super) fn title(&self, materials: Option<&MaterialTable>) -> String {
        let mut words = String::new();
        if let (true, Some(materials)) = (self.is_on, materials) {
            words += &format!("edit: {} | ", self.editor.brush.describe(materials));
        }
        if !self.message.is_empty() {
            words += &format!("{} | ", self.message);
        }
        words += &match self.editor.keeper_state() {
            SaveState::Unedited => String::new(),
            SaveState::NotKept => "edits are not kept | ".into(),
            SaveState::Unsaved(chunks) => format!("{chunks} chunks unsaved | "),
            SaveState::Failed(reason) => format!("NOT SAVED: {reason} | "),
            SaveState::Saved => "saved | ".into(),
        };
        words
    }

    /// The corners of a world that edits may have made larger.
    pub(super) fn grown(&self, (min, max): (DVec3, DVec3)) -> (DVec3, DVec3) {
        let corner = |voxel: VoxelPos| DVec3::from_array(voxel.to_array().map(f64::from));
        match self.editor.touched() {
            Some(touched) => (min.min(corner(touched.min)), max.max(corner(touched.max))),
            None => (min, max),
        }
    }

    /// Says once what becomes of edits, if they are not saved: also of those that failed to be
    /// by themselves.
    pub(super) fn tell(&mut self, is_read_only: bool) {
        let line = match self.editor.keeper_state() {
            SaveState::NotKept if is_read_only => {
                "edits are not kept: the world was opened with --read-only".into()
            }
            SaveState::NotKept => {
                "edits are not kept; to keep them, open the source with --edits FILE.drystone"
                    .into()
            }
            SaveState::Failed(reason) => {
                format!("edits are not saved ({reason}); Ctrl+S tries again")
            }
            _ => {
                self.is_told = false;
                return;
            }
        };
        if !std::mem::replace(&mut self.is_told, true) {
            output::note(&line);
        }
    }

    /// Saves what is not saved yet.
    pub(super) fn save(&mut self) -> Result<(), WorldError> {
        self.editor.keeper().save()
    }
}

/// What a key with Ctrl does.
enum Shortcut {
    Undo,
    Redo,
    Save,
}

impl Viewer {
    /// What a key means for editing; whether it was one of these.
    pub(super) fn edit_key(&mut self, event: &KeyEvent, code: KeyCode) -> bool {
        let modifiers = self.editing.modifiers;
        if modifiers.control_key() || modifiers.super_key() {
            let Some(shortcut) = shortcut(event, modifiers) else { return false };
            match shortcut {
                Shortcut::Undo => self.step_history(false),
                Shortcut::Redo => self.step_history(true),
                Shortcut::Save => self.save(),
            }
            return true;
        }
        match code {
            KeyCode::KeyE if !event.repeat => self.switch_editing(),
            _ if !self.editing.is_on => return false,
            KeyCode::KeyB if !event.repeat => self.editing.editor.brush.next_form(),
            KeyCode::BracketLeft => self.editing.editor.brush.grow(-1),
            KeyCode::BracketRight => self.editing.editor.brush.grow(1),
            KeyCode::Comma => self.step_material(-1),
            KeyCode::Period => self.step_material(1),
            _ => return false,
        }
        true
    }

    /// From now on the mouse edits, or turns again.
    fn switch_editing(&mut self) {
        self.editing.is_on = !self.editing.is_on;
        self.editing.message.clear();
        self.editing.release();
        self.capture_mouse(false);
        if let Some(window) = &self.window {
            let icon = if self.editing.is_on { CursorIcon::Crosshair } else { CursorIcon::Default };
            window.set_cursor(icon);
        }
    }

    fn step_material(&mut self, by: i32) {
        let Some(screen) = &mut self.screen else { return };
        if let Some(scene) = screen.edit_scene() {
            self.editing.editor.brush.step_material(scene.materials(), by);
        }
    }

    /// A button of the mouse, while it edits: what was not dragged is a click.
    pub(super) fn edit_button(&mut self, button: MouseButton, state: ElementState) {
        let at = self.editing.pointer;
        if state == ElementState::Pressed {
            self.editing.press = Some(Press { button, at, is_drag: false });
            return;
        }
        let Some(press) = self.editing.press.take_if(|press| press.button == button) else {
            return;
        };
        let action = match button {
            MouseButton::Left => EditAction::Remove,
            MouseButton::Right => EditAction::Place,
            MouseButton::Middle => EditAction::Pick,
            _ => return,
        };
        if !press.is_drag {
            self.edit_at(press.at, action);
        }
    }

    /// The pointer is elsewhere: with a button held, that turns.
    pub(super) fn point(&mut self, to: PhysicalPosition<f64>) {
        let from = std::mem::replace(&mut self.editing.pointer, to);
        let Some(press) = &mut self.editing.press else { return };
        let far = |at: PhysicalPosition<f64>| (to.x - at.x).abs().max((to.y - at.y).abs());
        press.is_drag |= far(press.at) > CLICK_PIXELS;
        if press.is_drag {
            self.flight.turn(&mut self.view.camera, (to.x - from.x, to.y - from.y));
            self.redraw();
        }
    }

    /// Does something with the voxel that is seen at a place of the window.
    fn edit_at(&mut self, at: PhysicalPosition<f64>, action: EditAction) {
        let (Some(window), Some(screen)) = (&self.window, &mut self.screen) else { return };
        let PhysicalSize { width, height } = window.inner_size();
        let size = Size { width: width.max(1), height: height.max(1) };
        let part = |at: f64, side: u32| 2.0 * at / f64::from(side) - 1.0;
        let place = [part(at.x, size.width), -part(at.y, size.height)];
        let ray = ray_through(&self.view.camera, place, size.aspect());
        let Some(scene) = screen.edit_scene() else {
            return output::note("polygon models are not edited; import one with --voxels first");
        };
        let done = self.editing.editor.act(scene, action, &ray);
        let message = match &done {
            Ok(Edited::Voxels(1)) => "1 voxel changed".into(),
            Ok(Edited::Voxels(count)) => format!("{count} voxels changed"),
            Ok(Edited::Picked(_)) => "picked".into(),
            Ok(Edited::OutOfReach) => "no voxel within reach".into(),
            Ok(Edited::Nothing) => "nothing changed: so already, or outside of the world".into(),
            Err(_) => String::new(),
        };
        // Who goes on after a warning is warned again.
        self.editing.is_warned &= !matches!(done, Ok(Edited::Voxels(_)));
        self.edited(message, done.map(drop));
    }

    fn step_history(&mut self, forward: bool) {
        let Some(scene) = self.screen.as_mut().and_then(|screen| screen.edit_scene()) else {
            return;
        };
        let editor = &mut self.editing.editor;
        let done = if forward { editor.redo(scene) } else { editor.undo(scene) };
        let what = if forward { "done again" } else { "taken back" };
        let message = match &done {
            Ok(0) => format!("nothing to be {what}"),
            Ok(count) => format!("{count} voxels {what}"),
            Err(_) => String::new(),
        };
        self.edited(message, done.map(drop));
    }

    /// Says what came of an edit. A device that is lost is noticed by the next frame.
    fn edited(&mut self, message: String, done: Result<(), EditError>) {
        self.editing.message = message;
        if let Err(error) = done {
            output::note(&error.to_string());
        }
        self.redraw();
    }

    fn save(&mut self) {
        if !self.editing.editor.keeper().is_keeping() {
            return self.edited("nothing keeps edits".into(), Ok(()));
        }
        match self.editing.save() {
            Ok(()) => self.editing.is_warned = false,
            // Said by the next frame, even if it was said before.
            Err(_) => self.editing.is_told = false,
        }
        self.edited(String::new(), Ok(()));
    }

    /// Ends when all is saved. When that fails, or nothing keeps the edits, it is said, and the
    /// window stays: who closes it once more leaves without.
    pub(super) fn close(&mut self, event_loop: &ActiveEventLoop) {
        let saved = self.editing.save();
        let state = self.editing.editor.keeper().state();
        match reason_to_stay(saved.err(), &state) {
            Some(reason) if !self.editing.is_warned => {
                self.editing.is_warned = true;
                output::note(&format!("{reason}, or close again to leave without"));
                self.editing.message = "NOT SAVED: close again to leave without".into();
                self.redraw();
            }
            _ => event_loop.exit(),
        }
    }
}

/// Why closing would lose edits.
fn reason_to_stay(failure: Option<impl std::fmt::Display>, state: &SaveState) -> Option<String> {
    match failure {
        Some(failure) => Some(format!("{failure} (Ctrl+S)")),
        None if *state == SaveState::NotKept => {
            Some("nothing keeps these edits: start with --edits FILE.drystone for that".into())
        }
        None => None,
    }
}

fn shortcut(event: &KeyEvent, modifiers: ModifiersState) -> Option<Shortcut> {
    // By the letter, not by its place: keyboards differ.
    let Key::Character(letter) = &event.logical_key else { return None };
    match letter.to_lowercase().as_str() {
        "z" if modifiers.shift_key() => Some(Shortcut::Redo),
        "z" => Some(Shortcut::Undo),
        "y" => Some(Shortcut::Redo),
        "s" if !event.repeat => Some(Shortcut::Save),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_not_left_behind_without_a_word() {
        let reason = |failure: Option<&str>, state| reason_to_stay(failure, &state);
        assert!(reason(None, SaveState::NotKept).is_some_and(|it| it.contains("--edits")));
        let full = reason(Some("the disk is full"), SaveState::Failed("full".into()));
        assert!(full.is_some_and(|it| it.contains("the disk is full")));
        assert_eq!(reason(None, SaveState::Unedited), None);
        assert_eq!(reason(None, SaveState::Saved), None);
    }
}
