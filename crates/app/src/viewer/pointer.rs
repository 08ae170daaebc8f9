//! Mouse and keyboard of the window: which actions their events stand for.

use std::time::{Duration, Instant};

use drystone::{
    Action, CameraControl,
    keys::{self, Host, KeyPhase},
    scene::EditAction,
};
use drystone_world::VoxelRay;
use winit::{
    dpi::PhysicalPosition,
    event::{ElementState, KeyEvent, MouseButton, MouseScrollDelta},
    keyboard::{Key, KeyCode, ModifiersState, PhysicalKey},
};

/// State of mouse and modifier keys.
pub(super) struct Pointer {
    pub(super) modifiers: ModifiersState,
    pub(super) focus: Focus,
    /// Whether the mouse is captured and turns the camera.
    pub(super) is_captured: bool,
    at: PhysicalPosition<f64>,
    /// Whether the pointer is over the window.
    pub(super) is_inside: bool,
    press: Option<Press>,
    /// Time and place of the last click.
    clicked: Option<(Instant, PhysicalPosition<f64>)>,
}

/// Effect of the buttons while the mouse is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MouseUse {
    /// Clicks edit voxels.
    Edit,
    /// Double clicks centre a point.
    Orbit,
    /// A click captures the mouse.
    Capture,
}

/// Button that is held down.
struct Press {
    button: MouseButton,
    at: PhysicalPosition<f64>,
    /// Ray through the pointer when it was pressed; `None` if a click has no effect.
    ray: Option<VoxelRay>,
    /// Whether the mouse was dragged: it then turns the camera and does not edit.
    is_drag: bool,
}

/// Pixels that the pointer may move within a click.
const CLICK_PIXELS: f64 = 4.0;
/// Longest time between the two clicks of a double click.
const DOUBLE_CLICK: Duration = Duration::from_millis(400);
/// Scrolled pixels of a touchpad that count as one notch of a wheel.
const NOTCH_PIXELS: f64 = 40.0;

impl Pointer {
    pub(super) fn new() -> Self {
        Self {
            modifiers: ModifiersState::empty(),
            focus: Focus::default(),
            is_captured: false,
            at: PhysicalPosition::new(0.0, 0.0),
            is_inside: false,
            press: None,
            clicked: None,
        }
    }

    /// Returns the place of the pointer, in pixels from the top left.
    pub(super) fn place(&self) -> [f64; 2] {
        [self.at.x, self.at.y]
    }

    /// Returns the place of the pointer if it is over the window.
    pub(super) fn place_inside(&self) -> Option<[f64; 2]> {
        self.is_inside.then(|| self.place())
    }

    /// Forgets a held button.
    pub(super) fn release(&mut self) {
        self.press = None;
    }

    /// Moves the pointer; with a button held, turns or moves the camera.
    pub(super) fn move_to(
        &mut self,
        to: PhysicalPosition<f64>,
        mouse_use: MouseUse,
        speed: f64,
    ) -> Option<Action> {
        let from = std::mem::replace(&mut self.at, to);
        self.is_inside = true;
        let press = self.press.as_mut()?;
        let far = (to.x - press.at.x).abs().max((to.y - press.at.y).abs());
        press.is_drag |= far > CLICK_PIXELS;
        let by = [to.x - from.x, to.y - from.y];
        press.is_drag.then(|| match (press.button, mouse_use) {
            (MouseButton::Middle, _) | (MouseButton::Right, MouseUse::Orbit) => Action::Pan(by),
            _ => turn(by, speed),
        })
    }

    /// Handles a mouse button; a press without a drag is a click.
    pub(super) fn button(
        &mut self,
        button: MouseButton,
        state: ElementState,
        mouse_use: MouseUse,
        camera: &CameraControl,
    ) -> Option<Action> {
        let now = Instant::now();
        if state == ElementState::Pressed {
            let ray = self.focus.takes_click(now).then(|| camera.ray(self.place()));
            self.press = Some(Press { button, at: self.at, ray, is_drag: false });
            return None;
        }
        let press = self.press.take_if(|press| press.button == button)?;
        let ray = press.ray.filter(|_| !press.is_drag)?;
        match (mouse_use, button) {
            (MouseUse::Edit, MouseButton::Left) => Some(Action::Click(EditAction::Remove, ray)),
            (MouseUse::Edit, MouseButton::Right) => Some(Action::Click(EditAction::Place, ray)),
            (MouseUse::Edit, MouseButton::Middle) => Some(Action::Click(EditAction::Pick, ray)),
            (MouseUse::Orbit, MouseButton::Left) => self.click(now),
            _ => None,
        }
    }

    /// Records a click. Returns the action of a double click.
    fn click(&mut self, now: Instant) -> Option<Action> {
        let last = self.clicked.take();
        let is_double = last.is_some_and(|(time, at)| {
            let far = (at.x - self.at.x).abs().max((at.y - self.at.y).abs());
            now.duration_since(time) <= DOUBLE_CLICK && far <= CLICK_PIXELS
        });
        if is_double {
            return Some(Action::Focus(self.place()));
        }
        self.clicked = Some((now, self.at));
        None
    }

    /// Returns the action of a key.
    pub(super) fn key(&self, event: &KeyEvent) -> Option<Action> {
        let PhysicalKey::Code(code) = event.physical_key else { return None };
        let phase = match (event.state, event.repeat) {
            (ElementState::Released, _) => KeyPhase::Up,
            (ElementState::Pressed, true) => KeyPhase::Repeat,
            (ElementState::Pressed, false) => KeyPhase::Down,
        };
        match phase {
            // A release counts whatever the modifiers are by then.
            KeyPhase::Up => keys::action(Host::Window, &name_of(code), phase),
            KeyPhase::Down | KeyPhase::Repeat => {
                pressed(&event.logical_key, code, self.modifiers, phase)
            }
        }
    }
}

/// Returns the action of a pressed key. Ctrl makes flight slower: with it, keys of flight that have no
/// shortcut act as without.
fn pressed(key: &Key, code: KeyCode, modifiers: ModifiersState, phase: KeyPhase) -> Option<Action> {
    let chord = chord(key, code, modifiers);
    let action = chord.and_then(|chord| keys::action(Host::Window, &chord, phase));
    if action.is_some() || modifiers.super_key() || !modifiers.control_key() {
        return action;
    }
    let shortcut = letter_of(key, code).map(|letter| format!("Ctrl+{letter}"));
    let is_shortcut = |name: &str| keys::action(Host::Window, name, KeyPhase::Down).is_some();
    let plain = keys::action(Host::Window, &name_of(code), phase);
    let is_free = shortcut.is_none_or(|name| !is_shortcut(&name));
    plain.filter(|action| is_free && matches!(action, Action::Hold(_)))
}

/// Returns the turn for a movement of the mouse.
pub(super) fn turn(pixels: [f64; 2], speed: f64) -> Action {
    Action::Turn(pixels.map(|by| by * speed))
}

/// Converts a wheel or touchpad movement to notches.
pub(super) fn notches(delta: MouseScrollDelta) -> f64 {
    match delta {
        MouseScrollDelta::LineDelta(_, y) => f64::from(y),
        MouseScrollDelta::PixelDelta(position) => position.y / NOTCH_PIXELS,
    }
}

/// Returns the name of a physical key in the key table: winit names keys as the web does.
fn name_of(code: KeyCode) -> String {
    format!("{code:?}")
}

/// Returns the chord of a pressed key. With Ctrl, characters do not act as plain keys.
fn chord(key: &Key, code: KeyCode, modifiers: ModifiersState) -> Option<String> {
    if !(modifiers.control_key() || modifiers.super_key()) || !matches!(key, Key::Character(_)) {
        return Some(name_of(code));
    }
    let letter = letter_of(key, code)?;
    let shift = if modifiers.shift_key() { "Shift+" } else { "" };
    Some(format!("Ctrl+{shift}{letter}"))
}

/// Returns the letter of a shortcut: the one the layout writes if it is Latin, else the one at that
/// position on a US keyboard.
fn letter_of(key: &Key, code: KeyCode) -> Option<char> {
    let Key::Character(written) = key else { return None };
    match written.chars().next()? {
        letter if letter.is_ascii() => Some(letter.to_ascii_lowercase()),
        _ => match name_of(code).strip_prefix("Key")?.chars().next()? {
            letter if letter.is_ascii_uppercase() => Some(letter.to_ascii_lowercase()),
            _ => None,
        },
    }
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

    /// Notes the end of a frame; clicks waited while it was drawn.
    pub(super) fn frame_ended(&mut self, now: Instant) {
        if matches!(self, Self::New) {
            *self = Self::Since(now);
        }
    }

    /// Returns the time from which clicks edit, once it is known.
    pub(super) fn takes_clicks_at(self) -> Option<Instant> {
        match self {
            Self::Since(since) => Some(since + Self::CLICK),
            Self::Elsewhere | Self::New => None,
        }
    }

    /// Whether a click now edits.
    pub(super) fn takes_click(self, now: Instant) -> bool {
        self.takes_clicks_at().is_some_and(|at| at <= now)
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
        focus = Focus::New;
        // However slow the first frame is.
        assert!(!focus.takes_click(later(10)) && !focus.takes_click(later(900)));
        focus.frame_ended(later(900));
        assert!(!focus.takes_click(later(910)));
        focus.frame_ended(later(1000));
        assert!(focus.takes_click(later(1010)));
        focus = Focus::Elsewhere;
        focus.frame_ended(later(1020));
        assert!(!focus.takes_click(later(1900)));
    }

    #[test]
    fn shortcuts_work_on_layouts_without_latin_letters() {
        let (control, shift) = (ModifiersState::CONTROL, ModifiersState::SHIFT);
        // Cyrillic, Greek, Hebrew.
        for [z, y, s, o] in [["я", "н", "ы", "щ"], ["Ζ", "Υ", "Σ", "Ο"], ["ז", "ט", "ד", "ם"]]
        {
            let of = |written: &str, code, held| {
                let chord = chord(&Key::Character(written.into()), code, held | control).unwrap();
                keys::action(Host::Window, &chord, KeyPhase::Down)
            };
            let none = ModifiersState::empty();
            assert_eq!(of(z, KeyCode::KeyZ, none), Some(Action::Undo));
            assert_eq!(of(z, KeyCode::KeyZ, shift), Some(Action::Redo));
            assert_eq!(of(y, KeyCode::KeyY, none), Some(Action::Redo));
            assert_eq!(of(s, KeyCode::KeyS, none), Some(Action::Save));
            assert_eq!(of(o, KeyCode::KeyO, none), Some(Action::OpenDialog));
        }
        let letter = |written: &str, code| letter_of(&Key::Character(written.into()), code);
        // Latin letters of the layout count: German keyboards have Z at the position of Y.
        assert_eq!(letter("Z", KeyCode::KeyY), Some('z'));
        assert_eq!(letter("y", KeyCode::KeyZ), Some('y'));
        assert_eq!(letter("ö", KeyCode::Semicolon), None);
        // With Ctrl, keys that write nothing act as without.
        let tab = Key::Named(winit::keyboard::NamedKey::Tab);
        assert_eq!(chord(&tab, KeyCode::Tab, control).as_deref(), Some("Tab"));
    }

    /// Ctrl makes flight slower, and its shortcuts do not move the camera.
    #[test]
    fn shortcuts_do_not_move_the_camera() {
        let (control, shift) = (ModifiersState::CONTROL, ModifiersState::SHIFT);
        let of = |letter: char, code, held, phase| {
            pressed(&Key::Character(letter.to_string().into()), code, held, phase)
        };
        let shortcuts = keys::bindings(Host::Window).filter_map(|(chord, _)| {
            chord.strip_prefix("Ctrl+").and_then(|name| name.chars().last())
        });
        let shortcuts: Vec<char> = shortcuts.collect();
        assert!(shortcuts.contains(&'s') && shortcuts.contains(&'c'));
        let keys = [('w', KeyCode::KeyW), ('a', KeyCode::KeyA), ('s', KeyCode::KeyS)];
        let others = [('d', KeyCode::KeyD), ('q', KeyCode::KeyQ), ('c', KeyCode::KeyC)];
        for (letter, code) in keys.into_iter().chain(others) {
            for held in [control, control | shift] {
                for phase in [KeyPhase::Down, KeyPhase::Repeat] {
                    let moves = matches!(of(letter, code, held, phase), Some(Action::Hold(_)));
                    assert_eq!(moves, !shortcuts.contains(&letter), "{letter} {held:?} {phase:?}");
                }
            }
        }
        // The command key of macOS, and switches.
        assert_eq!(of('w', KeyCode::KeyW, ModifiersState::SUPER, KeyPhase::Down), None);
        assert_eq!(of('m', KeyCode::KeyM, control, KeyPhase::Down), None);
        let space = Key::Named(winit::keyboard::NamedKey::Space);
        let up = pressed(&space, KeyCode::Space, control, KeyPhase::Down);
        assert!(matches!(up, Some(Action::Hold(_))), "{up:?}");
    }

    /// The key table and winit name keys alike.
    #[test]
    fn every_physical_key_of_the_table_exists() {
        let mut names: Vec<String> = [
            KeyCode::ArrowLeft,
            KeyCode::ArrowRight,
            KeyCode::ArrowUp,
            KeyCode::ArrowDown,
            KeyCode::ShiftLeft,
            KeyCode::ShiftRight,
            KeyCode::ControlLeft,
            KeyCode::ControlRight,
            KeyCode::BracketLeft,
            KeyCode::BracketRight,
            KeyCode::Comma,
            KeyCode::Period,
            KeyCode::Space,
            KeyCode::Home,
            KeyCode::PageUp,
            KeyCode::PageDown,
            KeyCode::Tab,
            KeyCode::Escape,
            KeyCode::F5,
            KeyCode::Enter,
            KeyCode::Delete,
            KeyCode::Backslash,
            KeyCode::F11,
            KeyCode::F12,
            KeyCode::NumpadDecimal,
        ]
        .map(name_of)
        .into();
        assert_eq!(
            (name_of(KeyCode::Digit2), name_of(KeyCode::Numpad9)),
            ("Digit2".into(), "Numpad9".into())
        );
        names.extend((0..=9).flat_map(|n| [format!("Digit{n}"), format!("Numpad{n}")]));
        assert_eq!(name_of(KeyCode::KeyW), "KeyW");
        names.extend(('A'..='Z').map(|letter| format!("Key{letter}")));
        for (chord, _) in keys::bindings(Host::Window).filter(|(chord, _)| !chord.contains('+')) {
            assert!(names.iter().any(|name| name == chord), "{chord}");
        }
    }
}
