//! The key table: which key triggers which action, and what it does in words. The window and the
//! web page translate their events by this table, and print their lists of keys from it.

use crate::scene::EditTool;
use crate::{Action, CameraKind, FlightKey, ViewSide};

/// Program that handles keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// The window of the program.
    Window,
    /// A web page.
    Page,
}

/// State of a key in an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyPhase {
    /// Pressed.
    Down,
    /// Still held, and reported again.
    Repeat,
    /// Released.
    Up,
}

/// Row of the key table.
#[derive(Clone, Copy, Debug)]
struct KeyRow {
    /// Keys as labelled on a keyboard.
    keys: &'static str,
    /// Effect in the window, and in a page; `None` where they are not listed.
    help: [Option<&'static str>; 2],
    bound: Bound,
}

/// Actions by chord.
type Bound = &'static [(&'static str, Action)];

impl KeyRow {
    const fn both(keys: &'static str, help: &'static str, bound: Bound) -> Self {
        Self { keys, help: [Some(help), Some(help)], bound }
    }

    const fn window(keys: &'static str, help: &'static str, bound: Bound) -> Self {
        Self { keys, help: [Some(help), None], bound }
    }

    const fn page(keys: &'static str, help: &'static str, bound: Bound) -> Self {
        Self { keys, help: [None, Some(help)], bound }
    }

    /// Returns what the keys do; `None` if the host does not list them.
    fn help(&self, host: Host) -> Option<&'static str> {
        self.help[host as usize]
    }
}

/// All keys. A chord is a physical key, named as in the web's `KeyboardEvent.code`, or a letter
/// with Ctrl, such as `Ctrl+z` and `Ctrl+Shift+z`.
const TABLE: &[KeyRow] = &[
    KeyRow::both(
        "W A S D",
        "fly forward, left, back, right",
        &[
            ("KeyW", Action::Hold(FlightKey::Forward)),
            ("KeyA", Action::Hold(FlightKey::Left)),
            ("KeyS", Action::Hold(FlightKey::Back)),
            ("KeyD", Action::Hold(FlightKey::Right)),
        ],
    ),
    KeyRow::both(
        "Space, Q",
        "up, down",
        &[("Space", Action::Hold(FlightKey::Up)), ("KeyQ", Action::Hold(FlightKey::Down))],
    ),
    KeyRow::both(
        "Shift",
        "faster",
        &[
            ("ShiftLeft", Action::Hold(FlightKey::FastLeft)),
            ("ShiftRight", Action::Hold(FlightKey::FastRight)),
        ],
    ),
    KeyRow::window(
        "Ctrl",
        "slower, with keys that have no shortcut with Ctrl",
        &[
            ("ControlLeft", Action::Hold(FlightKey::SlowLeft)),
            ("ControlRight", Action::Hold(FlightKey::SlowRight)),
        ],
    ),
    KeyRow::both(
        "arrows",
        "turn",
        &[
            ("ArrowLeft", Action::Hold(FlightKey::TurnLeft)),
            ("ArrowRight", Action::Hold(FlightKey::TurnRight)),
            ("ArrowUp", Action::Hold(FlightKey::TurnUp)),
            ("ArrowDown", Action::Hold(FlightKey::TurnDown)),
        ],
    ),
    KeyRow::both("wheel", "zoom towards the pointer; when flying, change the speed", &[]),
    KeyRow::both("left button", "drag to turn; when flying, turn with the mouse until Escape", &[]),
    KeyRow::both("middle button", "drag to move sideways; in an orbit, also the right button", &[]),
    KeyRow::both("double click", "in an orbit, centre the point under the pointer", &[]),
    KeyRow::page("one finger", "look around", &[]),
    KeyRow::page("two fingers", "move; spread them to zoom", &[]),
    KeyRow::window(
        "Tab",
        "panel: files, brush, camera, light, performance",
        &[("Tab", Action::Panels)],
    ),
    KeyRow::page("Z", "show or hide the status and the buttons", &[("KeyZ", Action::Panels)]),
    KeyRow::page("Tab", "next button; Enter presses it", &[]),
    KeyRow::both("H", "help: this list of keys", &[("KeyH", Action::Help)]),
    KeyRow::window("R", "renderer: pool, naive, instanced", &[("KeyR", Action::NextRenderer)]),
    KeyRow::page("R", "renderer: pool or naive", &[("KeyR", Action::NextRenderer)]),
    KeyRow::window(
        "K",
        "backend: wgpu, OpenGL, software rasteriser",
        &[("KeyK", Action::NextBackend)],
    ),
    KeyRow::both("M", "mask back faces", &[("KeyM", Action::FaceMask)]),
    KeyRow::both("C", "frustum culling", &[("KeyC", Action::Frustum)]),
    KeyRow::both("O", "sort front to back", &[("KeyO", Action::Sort)]),
    KeyRow::window("G", "cull on the GPU (occlusion too) or on the CPU", &[("KeyG", Action::Cull)]),
    KeyRow::page(
        "G",
        "culling on the GPU: not available, because browsers have no multi-draw",
        &[("KeyG", Action::Cull)],
    ),
    KeyRow::both("X", "ambient occlusion", &[("KeyX", Action::Occlusion)]),
    KeyRow::window("L", "levels of detail on or off", &[("KeyL", Action::Levels)]),
    KeyRow::both("T", "tint levels of detail", &[("KeyT", Action::Tint)]),
    KeyRow::both("N", "wireframe: the edges of quads or triangles", &[("KeyN", Action::Wire)]),
    KeyRow::both("U", "shadows of the sun", &[("KeyU", Action::Shadows)]),
    KeyRow::both("I", "sky light: caves and rooms are dark", &[("KeyI", Action::SkyLight)]),
    KeyRow::both("Y", "bloom: light spreads around lights", &[("KeyY", Action::Bloom)]),
    KeyRow::both("J", "samples in each pixel: 1, 4, 8", &[("KeyJ", Action::NextSamples)]),
    KeyRow::both(
        "V",
        "measure what samples, shadows, sky light, bloom and ambient occlusion cost",
        &[("KeyV", Action::MeasureCosts)],
    ),
    KeyRow::both(
        "1 2 3",
        "camera: orbit around a point, fly, walk",
        &[
            ("Digit1", Action::Camera(CameraKind::Orbit)),
            ("Digit2", Action::Camera(CameraKind::Fly)),
            ("Digit3", Action::Camera(CameraKind::Walk)),
        ],
    ),
    KeyRow::both(
        "keypad 1 3 7",
        "look from the front, the right, above",
        &[
            ("Numpad1", Action::LookFrom(ViewSide::Front)),
            ("Numpad3", Action::LookFrom(ViewSide::Right)),
            ("Numpad7", Action::LookFrom(ViewSide::Top)),
        ],
    ),
    KeyRow::both(
        "keypad 4 6 9",
        "orbit to the left or right by 15°, or to the other side",
        &[
            ("Numpad4", Action::Step([-1, 0])),
            ("Numpad6", Action::Step([1, 0])),
            ("Numpad9", Action::Step([12, 0])),
        ],
    ),
    KeyRow::both(
        "keypad 8 2",
        "orbit up or down by 15°",
        &[("Numpad8", Action::Step([0, -1])), ("Numpad2", Action::Step([0, 1]))],
    ),
    KeyRow::both(
        "keypad 5",
        "perspective or parallel projection",
        &[("Numpad5", Action::Projection)],
    ),
    KeyRow::both(
        "keypad .",
        "fit the scene into the picture, from the same side",
        &[("NumpadDecimal", Action::Fit)],
    ),
    KeyRow::both("F", "walk, with Space to jump; F again to fly", &[("KeyF", Action::Walk)]),
    KeyRow::both("Home", "back to the start", &[("Home", Action::Home)]),
    KeyRow::both(
        "Ctrl+C",
        "copy the selection; without one, the camera, as options for drystone shot",
        &[("Ctrl+c", Action::Copy)],
    ),
    KeyRow::window(
        "Ctrl+O",
        "open a file (or drop it on the window)",
        &[("Ctrl+o", Action::OpenDialog), ("Ctrl+Shift+o", Action::OpenDialog)],
    ),
    KeyRow::window(
        "F5",
        "load the file again, after another program changed it",
        &[("F5", Action::Reload)],
    ),
    KeyRow::window("P", "open the previous file", &[("KeyP", Action::OpenPrevious)]),
    KeyRow::window(
        "PgUp PgDn",
        "previous or next frame of an animated .vox file",
        &[("PageUp", Action::StepFrame(-1)), ("PageDown", Action::StepFrame(1))],
    ),
    KeyRow::window("F11", "full screen, or a window again", &[("F11", Action::FullScreen)]),
    KeyRow::window(
        "F12",
        "save a picture without panels as drystone-N.png in the current folder",
        &[("F12", Action::Screenshot)],
    ),
    KeyRow::both(
        "E",
        "edit: left removes, right places, middle picks, dragging turns; E again to stop",
        &[("KeyE", Action::Edit)],
    ),
    KeyRow::both("B", "brush: voxel, cube, ball", &[("KeyB", Action::NextForm)]),
    KeyRow::both(
        "[ ]",
        "smaller or larger brush",
        &[("BracketLeft", Action::Grow(-1)), ("BracketRight", Action::Grow(1))],
    ),
    KeyRow::both(
        ", .",
        "previous or next material",
        &[("Comma", Action::StepMaterial(-1)), ("Period", Action::StepMaterial(1))],
    ),
    KeyRow::both(
        "Ctrl+B",
        "select a box by two clicks, then [ ] change its height; again for the brush",
        &[("Ctrl+b", Action::Tool(EditTool::Select))],
    ),
    KeyRow::both("Ctrl+X", "cut: copy the selection and remove it", &[("Ctrl+x", Action::Cut)]),
    KeyRow::both(
        "Ctrl+V",
        "place the copy by clicks; , . turn it, [ ] tip it over, B mirrors it",
        &[("Ctrl+v", Action::Tool(EditTool::Paste))],
    ),
    KeyRow::both("Delete", "empty the selection", &[("Delete", Action::EmptySelection)]),
    KeyRow::both(
        "Enter",
        "fill the selection with the material of the brush",
        &[("Enter", Action::FillSelection)],
    ),
    KeyRow::both(
        "Ctrl+H",
        "replace the material of the next clicked voxel in the selection by that of the brush",
        &[("Ctrl+h", Action::Tool(EditTool::Replace))],
    ),
    KeyRow::both(
        "\\",
        "mirror the brush: click the middle; again for the other axis, both, none",
        &[("Backslash", Action::NextMirror)],
    ),
    KeyRow::both("Ctrl+Z", "undo", &[("Ctrl+z", Action::Undo)]),
    KeyRow::both(
        "Ctrl+Y",
        "redo (also Ctrl+Shift+Z)",
        &[("Ctrl+y", Action::Redo), ("Ctrl+Shift+y", Action::Redo), ("Ctrl+Shift+z", Action::Redo)],
    ),
    KeyRow::window(
        "Ctrl+S",
        "save now; creates a file if the edits have none",
        &[("Ctrl+s", Action::Save), ("Ctrl+Shift+s", Action::Save)],
    ),
    KeyRow::page(
        "Ctrl+S",
        "save the edits as a file, also for the viewer; the newest download contains all edits",
        &[("Ctrl+s", Action::Save)],
    ),
    KeyRow::window(
        "Escape",
        "release the mouse, drop the selection, stop editing, or close",
        &[("Escape", Action::Escape)],
    ),
    KeyRow::page(
        "Escape",
        "release the mouse, close a message or this list, or drop the selection",
        &[("Escape", Action::Escape)],
    ),
];

/// Iterates over the keys that a host lists, with what they do.
pub fn rows(host: Host) -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLE.iter().filter_map(move |row| Some((row.keys, row.help(host)?)))
}

/// Returns the list of keys as text.
pub fn text(host: Host) -> String {
    rows(host).map(|(keys, help)| format!("{keys:<13}{help}\n")).collect()
}

/// Iterates over the keys that a host lists, with what they do, where either contains `query`.
/// Letters match in upper and lower case.
pub fn search(host: Host, query: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let query = query.trim().to_lowercase();
    rows(host)
        .filter(move |row| [row.0, row.1].iter().any(|words| words.to_lowercase().contains(&query)))
}

/// Returns what the key of an action does in short words, up to the first punctuation mark, such as
/// `shadows of the sun`. `None` if no key does it.
pub fn name(host: Host, action: Action) -> Option<&'static str> {
    let is_it = |row: &&KeyRow| row.bound.iter().any(|(_, bound)| *bound == action);
    TABLE.iter().filter(is_it).find_map(|row| row.help(host)).map(first_words)
}

/// Returns the most useful keys in one line, for a first look.
pub fn hint(host: Host) -> String {
    let row = |key| rows(host).find(|(keys, _)| *keys == key);
    let shown = ["H", "Tab", "left button"].into_iter().filter_map(row);
    let hints: Vec<_> =
        shown.map(|(keys, what)| format!("{keys}: {}", first_words(what))).collect();
    hints.join("   ")
}

/// Returns the words before the first punctuation mark.
fn first_words(what: &str) -> &str {
    what.split([':', ';', ',']).next().unwrap_or(what)
}

/// Iterates over the chords of a host, with their actions.
pub fn bindings(host: Host) -> impl Iterator<Item = (&'static str, Action)> {
    let rows = TABLE.iter().filter(move |row| row.help(host).is_some());
    rows.flat_map(|row| row.bound).copied()
}

/// Returns the action of a key; `None` if it has none now. Releases are given by the physical key.
pub fn action(host: Host, chord: &str, phase: KeyPhase) -> Option<Action> {
    let (_, action) = bindings(host).find(|(bound, _)| *bound == chord)?;
    match (phase, action) {
        (KeyPhase::Up, Action::Hold(key)) => Some(Action::Release(key)),
        (KeyPhase::Up, _) => None,
        (KeyPhase::Repeat, action) => action.repeats().then_some(action),
        (KeyPhase::Down, action) => Some(action),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashSet};

    use super::*;

    /// Terminals have at least 100 columns.
    #[test]
    fn every_key_has_a_line_that_fits() {
        for host in [Host::Window, Host::Page] {
            for line in text(host).lines() {
                assert!(line.len() < 100 && !line.contains("  \n"), "{line}");
            }
            let (mut keys, mut chords) = (BTreeSet::new(), BTreeSet::new());
            assert!(rows(host).all(|(named, _)| keys.insert(named)), "{host:?}");
            assert!(bindings(host).all(|(chord, _)| chords.insert(chord)), "{host:?}");
        }
    }

    #[test]
    fn keys_are_found_by_label_and_by_words() {
        let found = |query: &str| search(Host::Window, query).map(|row| row.0).collect::<Vec<_>>();
        assert_eq!(found("BALL"), ["B"]);
        assert_eq!(found(" ctrl+c"), ["Ctrl+C"]);
        assert_eq!(found("").len(), rows(Host::Window).count());
        assert!(found("no such key").is_empty());
    }

    #[test]
    fn hints_and_names_are_words_of_the_table() {
        let hint = hint(Host::Window);
        assert_eq!(hint, "H: help   Tab: panel   left button: drag to turn");
        assert_eq!(name(Host::Window, Action::Shadows), Some("shadows of the sun"));
        assert_eq!(name(Host::Page, Action::NextBackend), None);
        assert_eq!(
            name(Host::Window, Action::Cull),
            Some("cull on the GPU (occlusion too) or on the CPU")
        );
    }

    #[test]
    fn key_codes_map_to_flight_keys() {
        let codes = ["KeyW", "KeyA", "KeyS", "KeyD", "KeyQ", "Space", "ShiftLeft", "ShiftRight"];
        let arrows = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];
        for host in [Host::Window, Host::Page] {
            let held = |code: &&str| match action(host, code, KeyPhase::Down) {
                Some(Action::Hold(key)) => Some(key),
                _ => None,
            };
            let keys: HashSet<_> = codes.iter().chain(&arrows).filter_map(held).collect();
            assert_eq!(keys.len(), codes.len() + arrows.len());
            assert_eq!(held(&"KeyE"), None);
        }
    }

    #[test]
    fn held_keys_are_released_and_only_steps_repeat() {
        let of = |chord, phase| action(Host::Window, chord, phase);
        let forward = FlightKey::Forward;
        assert_eq!(of("KeyW", KeyPhase::Down), Some(Action::Hold(forward)));
        assert_eq!(of("KeyW", KeyPhase::Up), Some(Action::Release(forward)));
        assert_eq!(of("KeyM", KeyPhase::Repeat), None);
        assert_eq!(of("KeyM", KeyPhase::Up), None);
        assert_eq!(of("Ctrl+z", KeyPhase::Repeat), Some(Action::Undo));
        assert_eq!(of("Ctrl+s", KeyPhase::Repeat), None, "held down, it saves once");
        assert_eq!(of("Ctrl+m", KeyPhase::Down), None);
        assert_eq!(action(Host::Page, "KeyK", KeyPhase::Down), None);
    }
}
