use std::time::{Duration, Instant};

use drystone::scene::{
    Brush, EditAction, EditError, EditSaver, EditStep, EditTarget, Edited, Editor, MemoryBudget,
    Size, ray_through,
};
use drystone_render::Camera;
use drystone_voxel::{MaterialTable, VoxelPos};
use glam::DVec3;
use winit::{
    dpi::{PhysicalPosition, PhysicalSize},
    event::{ElementState, KeyEvent, MouseButton},
    keyboard::{Key, KeyCode, ModifiersState},
    window::CursorIcon,
};

use super::{Viewer, overlay::EditFacts, saving::Saving, screen::Screen};
use crate::output;

/// Editing with the mouse and keys.
pub(super) struct Editing {
    pub(super) editor: Editor,
    pub(super) saving: Saving,
    /// Whether the mouse edits; if not, it turns the camera.
    is_on: bool,
    pub(super) modifiers: ModifiersState,
    pub(super) focus: Focus,
    pointer: PhysicalPosition<f64>,
    press: Option<Press>,
    /// Number of edits and attempts to save.
    pub(super) changes: u64,
    /// Result of the last action.
    pub(super) message: String,
}

/// Button that is held down.
struct Press {
    button: MouseButton,
    at: PhysicalPosition<f64>,
    /// Camera when it was pressed.
    camera: Camera,
    /// Whether the mouse was dragged: it then turns the camera and does not edit.
    is_drag: bool,
}

/// Keyboard focus of the window, and its start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Focus {
    #[default]
    Elsewhere,
    /// Focused, but no frame has ended since; events may be older than the focus.
    New,
    /// Time when the first frame with focus ended.
    Since(Instant),
}

impl Focus {
    /// Clicks within this time of the focus only focus the window; they do not edit.
    const CLICK: Duration = Duration::from_millis(80);

    pub(super) fn set(&mut self, is_focused: bool) {
        *self = if is_focused { Self::New } else { Self::Elsewhere };
    }

    /// Notes the end of a frame; clicks waited while it was drawn.
    pub(super) fn frame_ended(&mut self, now: Instant) {
        if matches!(self, Self::New) {
            *self = Self::Since(now);
        }
    }

    /// Returns the time from which clicks edit, once it is known.
    fn takes_clicks_at(self) -> Option<Instant> {
        match self {
            Self::Since(since) => Some(since + Self::CLICK),
            Self::Elsewhere | Self::New => None,
        }
    }

    /// Whether a click now edits.
    fn takes_click(self, now: Instant) -> bool {
        self.takes_clicks_at().is_some_and(|at| at <= now)
    }
}

/// Pixels that the pointer may move within a click.
const CLICK_PIXELS: f64 = 4.0;

impl Editing {
    pub(super) fn new(edit_target: EditTarget, budget: MemoryBudget) -> Self {
        Self {
            editor: editor(edit_target, budget),
            saving: Saving::new(),
            is_on: false,
            modifiers: ModifiersState::empty(),
            focus: Focus::default(),
            pointer: PhysicalPosition::new(0.0, 0.0),
            press: None,
            changes: 0,
            message: String::new(),
        }
    }

    /// Resets edits for another world; the brush stays.
    pub(super) fn restart(&mut self, edit_target: EditTarget, budget: MemoryBudget) {
        let brush = Brush { material: Brush::default().material, ..self.editor.brush };
        self.editor = editor(edit_target, budget);
        self.editor.brush = brush;
        (self.saving, self.press, self.is_on) = (Saving::new(), None, false);
        self.message.clear();
    }

    /// Continues with the same world in another scene; the undo history stays.
    pub(super) fn set_target(&mut self, edit_target: EditTarget) {
        self.editor.set_saver(EditSaver::new(edit_target));
        // Earlier warnings about saving still hold.
        self.saving.edited();
        self.press = None;
    }

    pub(super) const fn is_on(&self) -> bool {
        self.is_on
    }

    pub(super) fn release(&mut self) {
        self.press = None;
    }

    /// Returns when the title will change without input.
    pub(super) fn wakes_at(&self) -> Option<Instant> {
        self.focus.takes_clicks_at().filter(|at| self.is_on && *at > Instant::now())
    }

    /// Returns the state of editing for the title; names the brush once clicks edit.
    pub(super) fn title(&mut self, materials: Option<&MaterialTable>) -> String {
        let mut words = String::new();
        let edits = self.is_on && self.focus.takes_click(Instant::now());
        if let (true, Some(materials)) = (edits, materials) {
            words += &format!("edit: {} | ", self.editor.brush.describe(materials));
        }
        if !self.message.is_empty() {
            words += &format!("{} | ", self.message);
        }
        words += &self.saving_title();
        words
    }

    /// Returns the data for panels; `None` without voxels.
    pub(super) fn facts<'a>(&mut self, screen: &'a mut Screen) -> Option<EditFacts<'a>> {
        let save_text = self.editor_title();
        let (brush, history) = (self.editor.brush, self.editor.history());
        Some(EditFacts {
            is_on: self.is_on,
            brush,
            can_undo: history.undo_count() > 0,
            can_redo: history.redo_count() > 0,
            save_text,
            materials: screen.materials()?,
        })
    }

    /// Returns the result of the last action and the state of saving.
    fn editor_title(&mut self) -> String {
        let mut words = self.message.clone();
        let saving = self.saving_title();
        if !words.is_empty() && !saving.is_empty() {
            words += " | ";
        }
        words + saving.trim_end_matches(" | ")
    }

    /// Returns corners of the world, extended by its edits.
    pub(super) fn grown(&self, (min, max): (DVec3, DVec3)) -> (DVec3, DVec3) {
        let corner = |voxel: VoxelPos| DVec3::from_array(voxel.to_array().map(f64::from));
        match self.editor.touched() {
            Some(touched) => (min.min(corner(touched.min)), max.max(corner(touched.max))),
            None => (min, max),
        }
    }
}

fn editor(edit_target: EditTarget, budget: MemoryBudget) -> Editor {
    let editor = Editor::new(EditSaver::new(edit_target)).with_history(budget.history());
    editor.with_memory(budget.edit_bytes())
}

/// Message for models.
const NO_VOXELS: &str = "polygon models cannot be edited; import the model with --voxels first";

/// Shortcut with Ctrl.
enum Shortcut {
    Undo,
    Redo,
    Save,
    Open,
}

impl Viewer {
    /// Handles a key for editing; returns whether it was one.
    pub(super) fn edit_key(&mut self, event: &KeyEvent, code: KeyCode) -> bool {
        let modifiers = self.editing.modifiers;
        if modifiers.control_key() || modifiers.super_key() {
            match shortcut(letter_of(&event.logical_key, code), modifiers, event.repeat) {
                Some(Shortcut::Undo) => self.step_history(false),
                Some(Shortcut::Redo) => self.step_history(true),
                Some(Shortcut::Save) => self.save(),
                Some(Shortcut::Open) => self.ask_for_file(),
                // With Ctrl, letters do not act as plain keys.
                None => return matches!(event.logical_key, Key::Character(_)),
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

    /// Toggles between editing and turning with the mouse.
    pub(super) fn switch_editing(&mut self) {
        let has_voxels = |screen: &mut Screen| screen.edit_scene().is_some();
        if !self.editing.is_on && !self.screen.as_mut().is_some_and(has_voxels) {
            return self.notify(NO_VOXELS);
        }
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

    /// Handles a mouse button while editing; a press without a drag is a click.
    pub(super) fn edit_button(&mut self, button: MouseButton, state: ElementState) {
        let at = self.editing.pointer;
        if state == ElementState::Pressed {
            if self.editing.focus.takes_click(Instant::now()) {
                let camera = self.view.camera;
                self.editing.press = Some(Press { button, at, camera, is_drag: false });
            }
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
            self.edit_at(&press, action);
        }
    }

    /// Moves the pointer; with a button held, turns the camera.
    pub(super) fn point(&mut self, to: PhysicalPosition<f64>) {
        let from = std::mem::replace(&mut self.editing.pointer, to);
        let Some(press) = &mut self.editing.press else { return };
        let far = |at: PhysicalPosition<f64>| (to.x - at.x).abs().max((to.y - at.y).abs());
        press.is_drag |= far(press.at) > CLICK_PIXELS;
        if press.is_drag {
            let by = [to.x - from.x, to.y - from.y].map(|by| by * self.settings.mouse_speed);
            self.flight.turn(&mut self.view.camera, by);
            self.redraw();
        }
    }

    /// Applies an action to the voxel under the pointer when the button was pressed.
    fn edit_at(&mut self, &Press { at, camera, .. }: &Press, action: EditAction) {
        let (Some(window), Some(screen)) = (&self.window, &mut self.screen) else { return };
        let PhysicalSize { width, height } = window.inner_size();
        let size = Size { width: width.max(1), height: height.max(1) };
        let part = |at: f64, side: u32| 2.0 * at / f64::from(side) - 1.0;
        let ndc = [part(at.x, size.width), -part(at.y, size.height)];
        let ray = ray_through(&camera, ndc, size.aspect());
        let Some(scene) = screen.edit_scene() else { return };
        let done = self.editing.editor.act(scene, action, &ray);
        self.finish_step(EditStep::Edit, done);
    }

    pub(super) fn step_history(&mut self, forward: bool) {
        let Some(scene) = self.screen.as_mut().and_then(|screen| screen.edit_scene()) else {
            return;
        };
        let editor = &mut self.editing.editor;
        if forward {
            let done = editor.redo(scene);
            self.finish_step(EditStep::Redo, done);
        } else {
            let done = editor.undo(scene);
            self.finish_step(EditStep::Undo, done);
        }
    }

    /// Continues an edit that takes several frames.
    pub(super) fn continue_editing(&mut self) {
        let Some(scene) = self.screen.as_mut().and_then(|screen| screen.edit_scene()) else {
            return;
        };
        if let Some((step, done)) = self.editing.editor.update(scene, Editor::FRAME_TIME) {
            self.finish_step(step, done);
        }
        if let Some(screen) = &mut self.screen {
            screen.hold(self.editing.editor.is_busy());
        }
    }

    /// Finishes all edits in progress, before they are saved or the scene is closed.
    pub(super) fn finish_editing(&mut self) {
        if !self.editing.editor.is_busy() {
            return;
        }
        let Some(scene) = self.screen.as_mut().and_then(|screen| screen.edit_scene()) else {
            return;
        };
        if let Some(done) = self.editing.editor.finish(scene).transpose() {
            self.finish_step(EditStep::Edit, done);
        }
    }

    fn finish_step(&mut self, step: EditStep, done: Result<Edited, EditError>) {
        let words = match &done {
            Ok(done) => done.words(step),
            Err(error @ EditError::Full { .. }) => {
                let saver = self.editing.editor.saver();
                let can_save = saver.is_saving_edits() || saver.lacks_file();
                let advice = if can_save {
                    "press Ctrl+S to save them"
                } else {
                    "raise the limit with --memory"
                };
                format!("{error}: {advice}")
            }
            Err(_) => String::new(),
        };
        self.edited(words, done.map(drop));
    }

    /// Shows the result of an edit. A lost device is handled by the next frame.
    pub(super) fn edited(&mut self, message: String, done: Result<(), EditError>) {
        self.editing.message = message;
        self.editing.changes += 1;
        self.editing.saving.edited();
        if let Err(error) = done {
            output::note(&error.to_string());
        }
        let updated = self.screen.as_mut().map_or(Ok(()), Screen::edited);
        if let Err(error) = updated {
            self.cancel_change(&error);
        }
        self.redraw();
    }
}

fn shortcut(letter: Option<char>, modifiers: ModifiersState, repeats: bool) -> Option<Shortcut> {
    match letter? {
        'z' if modifiers.shift_key() => Some(Shortcut::Redo),
        'z' => Some(Shortcut::Undo),
        'y' => Some(Shortcut::Redo),
        's' if !repeats => Some(Shortcut::Save),
        'o' if !repeats => Some(Shortcut::Open),
        _ => None,
    }
}

/// Returns the letter of a shortcut: the one the layout writes if it is Latin, else the one at that
/// position on a US keyboard.
fn letter_of(key: &Key, code: KeyCode) -> Option<char> {
    let Key::Character(written) = key else { return None };
    match written.chars().next()? {
        letter if letter.is_ascii() => Some(letter.to_ascii_lowercase()),
        _ => match code {
            KeyCode::KeyZ => Some('z'),
            KeyCode::KeyY => Some('y'),
            KeyCode::KeyS => Some('s'),
            KeyCode::KeyO => Some('o'),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_click_that_focuses_the_window_does_not_edit() {
        let mut focus = Focus::default();
        let now = Instant::now();
        let later = |ms: u64| now + Duration::from_millis(ms);
        focus.frame_ended(now);
        assert!(!focus.takes_click(later(500)), "it never had the focus");
        focus.set(true);
        // However slow the first frame is.
        assert!(!focus.takes_click(later(10)) && !focus.takes_click(later(900)));
        focus.frame_ended(later(900));
        assert!(!focus.takes_click(later(910)));
        focus.frame_ended(later(1000));
        assert!(focus.takes_click(later(1010)));
        focus.set(false);
        focus.frame_ended(later(1020));
        assert!(!focus.takes_click(later(1900)));
    }

    #[test]
    fn shortcuts_work_on_layouts_without_latin_letters() {
        let letter = |written: &str, code| letter_of(&Key::Character(written.into()), code);
        let (none, shift) = (ModifiersState::empty(), ModifiersState::SHIFT);
        // Cyrillic, Greek, Hebrew.
        for [z, y, s, o] in [["я", "н", "ы", "щ"], ["Ζ", "Υ", "Σ", "Ο"], ["ז", "ט", "ד", "ם"]]
        {
            let of = |written, code, held| shortcut(letter(written, code), held, false);
            assert!(matches!(of(z, KeyCode::KeyZ, none), Some(Shortcut::Undo)));
            assert!(matches!(of(z, KeyCode::KeyZ, shift), Some(Shortcut::Redo)));
            assert!(matches!(of(y, KeyCode::KeyY, none), Some(Shortcut::Redo)));
            assert!(matches!(of(s, KeyCode::KeyS, none), Some(Shortcut::Save)));
            assert!(matches!(of(o, KeyCode::KeyO, none), Some(Shortcut::Open)));
        }
        // Latin letters of the layout count: German keyboards have Z at the position of Y.
        assert_eq!(letter("Z", KeyCode::KeyY), Some('z'));
        assert_eq!(letter("y", KeyCode::KeyZ), Some('y'));
        assert_eq!(letter("ö", KeyCode::Semicolon), None);
        assert!(shortcut(Some('s'), none, true).is_none(), "held down, it saves once");
    }
}
