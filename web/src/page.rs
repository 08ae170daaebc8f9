mod quality;
mod saving;
mod screen;

use std::time::Duration;

use drystone::{
    Action, CameraKind, Fit, Session, SessionOptions, ViewOptions,
    keys::{self, Host, KeyPhase},
    scene::{EditAction, EditTool, RendererKind, Size},
};
use drystone_formats::MemoryFile;
use drystone_render::Cull;
use drystone_world::GeneratorConfig;
use wasm_bindgen::prelude::*;
use web_sys::HtmlCanvasElement;
use web_time::Instant;

use crate::model::NamedFiles;
use crate::opening::{EditsFile, Opened};
pub use quality::cost_method;
use saving::SaveProgress;
use screen::{PictureCanvas, Screen};

/// Limit for edits in memory, in bytes, including those that can be undone.
const MAX_EDIT_BYTES: usize = 128 << 20;
/// Time for meshing per frame while the camera moves.
const WORK_MOVING: Duration = Duration::from_millis(6);
/// Time for meshing per frame while the camera is still: missing meshes matter more than a steady
/// frame rate.
const WORK_STILL: Duration = Duration::from_millis(40);

/// Time for meshing per frame in a worker while the camera is still. It delays no events of the page, only
/// their effect. Longer times are for fewer pictures of a part of the world.
const WORK_REMOTE: Duration = Duration::from_millis(100);

/// Bits of [`Page::selection`]: a box is selected; clicks edit.
const SELECTED: u32 = 1;
const EDITS: u32 = 32;

/// A world in a canvas. Positions and sizes are in pixels of the screen.
///
/// A page has no device at first: call [`open_gpu`](Self::open_gpu) or [`open_cpu`](Self::open_cpu).
///
/// # Errors
/// Functions that fail throw a message for the user. After an error of [`frame`](Self::frame) or of
/// an input the device is lost. Then open a device again. Voxels, edits and view are unchanged, even if
/// that fails, so that it can be retried.
#[wasm_bindgen]
pub struct Page {
    pub(crate) session: Session,
    pub(crate) screen: Screen,
    /// File of the edits.
    pub(crate) file: EditsFile,
    pub(crate) progress: SaveProgress,
    /// Message about what the file has and the page does not show; empty if it shows everything.
    notice: String,
    /// Whether the page still has to find out which switches the device affords.
    pub(crate) chooses: bool,
    /// Since when requests of a world at an address have failed.
    pub(crate) failing_since: Option<Instant>,
}

#[wasm_bindgen]
impl Page {
    /// Opens a generated world. `chunks` are the numbers of chunks along each axis. `view` is the camera's
    /// position and the point that it looks at, six numbers, or empty for the whole world.
    pub fn generated(
        width: u32,
        height: u32,
        seed: u64,
        chunks: Vec<u32>,
        relief: u32,
        view: &[f64],
        edits: Option<Edits>,
    ) -> Result<Page, String> {
        log_panics();
        let size_chunks = <[u32; 3]>::try_from(chunks).map_err(|_| "a size is three numbers")?;
        let config = GeneratorConfig::default()
            .with_seed(seed)
            .with_size_chunks(size_chunks)
            .with_relief_voxels(relief);
        let opened = Opened::generated(config, edits.map(|it| it.0))?;
        Ok(Self::of(opened, sized(width, height), view))
    }

    /// Opens a file. A polygon model may name `others`.
    pub fn file(
        width: u32,
        height: u32,
        name: String,
        bytes: Vec<u8>,
        others: &NamedFiles,
        edits: Option<Edits>,
    ) -> Result<Page, String> {
        log_panics();
        let opened = Opened::of_file(&bytes, &name, others, edits.map(|it| it.0))?;
        Ok(Self::of(opened, sized(width, height), &[]))
    }

    /// Begins to open a WebGPU device that draws to the canvas. Call [`is_opening`](Self::is_opening) until it is
    /// open.
    pub fn open_gpu(&mut self, canvas: HtmlCanvasElement) {
        self.session.detach();
        self.screen.open_gpu(self.session.camera().size(), canvas);
    }

    /// Whether the WebGPU device is still being opened.
    pub fn is_opening(&mut self) -> Result<bool, String> {
        self.screen.is_opening(&mut self.session).map_err(|error| error.to_string())
    }

    /// Opens the software rasteriser, which draws on the CPU and passes its pictures to `canvas`.
    pub fn open_cpu(&mut self, canvas: PictureCanvas) -> Result<(), String> {
        self.session.detach();
        self.screen.open_cpu(&mut self.session, canvas).map_err(|error| error.to_string())
    }

    /// Copies the camera of another page.
    pub fn look_from(&mut self, other: &Page) {
        self.session.look_from(&other.session);
    }

    /// Draws a frame. Returns whether another frame should follow immediately.
    pub fn frame(&mut self) -> Result<bool, String> {
        let was_editing = self.session.editing().editor().is_busy();
        self.session.advance(Instant::now());
        if was_editing {
            self.write_if_large();
        }
        self.choose()?;
        let moves = self.session.camera().is_moving();
        let time = match moves || self.screen.has_waited() {
            true => WORK_MOVING,
            false if self.screen.is_remote() => WORK_REMOTE,
            false => WORK_STILL,
        };
        let begun = Instant::now();
        self.session.follow(time).map_err(|error| error.to_string())?;
        if self.screen.waits(begun.elapsed()) {
            return Ok(true);
        }
        let is_shown = self.screen.draw(&mut self.session).map_err(|error| error.to_string())?;
        Ok(self.session.is_active() || !is_shown)
    }

    /// Sets the size of the picture. Costs nothing if it is the current size.
    pub fn resize(&mut self, width: u32, height: u32) -> Result<(), String> {
        let resized = self.screen.resize(&mut self.session, sized(width, height));
        resized.map_err(|error| error.to_string())
    }

    /// Handles a key: a chord of the key table, and `down`, `repeat` or `up`.
    pub fn key(&mut self, chord: &str, phase: &str) -> Result<(), String> {
        match keys::action(Host::Page, chord, phase_of(phase)) {
            Some(action) if action.is_of_brush() && !self.is_editing() => {}
            Some(Action::Escape) => {
                self.session.drop_selection();
            }
            Some(action) => self.apply(action)?,
            None => {}
        }
        Ok(())
    }

    /// Releases all keys.
    pub fn release_all(&mut self) -> Result<(), String> {
        self.apply(Action::ReleaseAll)
    }

    /// Moves the camera by a movement of the mouse, in CSS pixels with `scale` pixels of the screen on a
    /// side. `button` is held, or -1: the middle button pans, in an orbit the right one too, all others turn.
    pub fn mouse(&mut self, button: i16, x: f64, y: f64, scale: f64) -> Result<(), String> {
        let pans = button == 1 || (button == 2 && self.is_orbiting() && !self.is_editing());
        self.apply(if pans { Action::Pan([x * scale, y * scale]) } else { Action::Turn([x, y]) })
    }

    /// Turns the camera by a movement of one finger, which the scene follows.
    pub fn drag(&mut self, x: f64, y: f64) -> Result<(), String> {
        self.apply(Action::Drag([x, y]))
    }

    /// Moves the camera by two fingers with their centre at a position: `x` and `y` are their
    /// movement, `spread` is the factor by which their distance changed.
    pub fn fingers(
        &mut self,
        at_x: f64,
        at_y: f64,
        x: f64,
        y: f64,
        spread: f64,
    ) -> Result<(), String> {
        self.apply(Action::Pan([x, y]))?;
        self.apply(Action::Zoom(spread, [at_x, at_y]))
    }

    /// Handles the wheel at a position. Positive `notches` are upwards.
    pub fn wheel(&mut self, notches: f64, x: f64, y: f64) -> Result<(), String> {
        self.apply(Action::Wheel(notches, [x, y]))
    }

    /// Handles a double click at a position, which centres it in an orbit. While editing, clicks edit.
    pub fn focus(&mut self, x: f64, y: f64) -> Result<(), String> {
        if self.is_editing() || !self.is_orbiting() {
            return Ok(());
        }
        self.apply(Action::Focus([x, y]))
    }

    /// Whether the camera orbits. If not, a click captures the mouse.
    pub fn is_orbiting(&self) -> bool {
        self.session.camera().kind() == CameraKind::Orbit
    }

    /// Handles a click at a position, measured from the top left. It has an effect only while editing.
    pub fn click(&mut self, button: i16, x: f64, y: f64) -> Result<(), String> {
        let edit = match button {
            _ if !self.is_editing() => return Ok(()),
            0 => EditAction::Remove,
            1 => EditAction::Pick,
            2 => EditAction::Place,
            _ => return Ok(()),
        };
        self.apply(Action::Click(edit, self.session.camera().ray([x, y])))
    }

    /// Returns the outlines of the selection and of what a click at a position would change; at NaN, of the
    /// selection alone. Each line is five numbers: both ends in pixels from the top left, and its kind, the
    /// rank in `OutlinePart`, with one half added if voxels hide it.
    pub fn outline(&mut self, x: f64, y: f64) -> Vec<f32> {
        let at = (!x.is_nan()).then_some([x, y]);
        let lines = self.session.outline(at);
        let numbers = lines.iter().flat_map(|line| {
            let [[x, y], [to_x, to_y]] = line.ends;
            let kind = f32::from(line.part as u8) + if line.is_hidden { 0.5 } else { 0.0 };
            [x, y, to_x, to_y, kind]
        });
        numbers.collect()
    }

    /// Returns the sum of: 1 if a box is selected, 2 if voxels are copied, and 4 while clicks place them,
    /// 8 while they select, 16 while they replace, 32 while they edit at all, 64 if there are voxels to edit.
    pub fn selection(&self) -> u32 {
        let selection = &self.session.editing().editor().selection;
        let is_it = |tool| selection.tool() == tool;
        let [places, selects, replaces] =
            [EditTool::Paste, EditTool::Select, EditTool::Replace].map(is_it);
        let (is_selected, is_copied) =
            (selection.bounds().is_some(), selection.clipboard().is_some());
        let (is_editing, has_voxels) = (self.is_editing(), !self.session.is_model());
        let bits = [is_selected, is_copied, places, selects, replaces, is_editing, has_voxels];
        (0..).zip(bits).map(|(bit, is_set)| u32::from(is_set) << bit).sum()
    }

    /// Sets the position of the sun by the hour, 0 to 24.
    pub fn set_hour(&mut self, hour: f32) -> Result<(), String> {
        self.apply(Action::Hour(Some(hour)))
    }

    /// Returns the camera as options of the program.
    pub fn camera_options(&self) -> String {
        self.session.camera().as_options().to_string()
    }

    /// Undoes the last edit.
    pub fn undo(&mut self) -> Result<(), String> {
        self.apply(Action::Undo)
    }

    /// Whether clicks edit. If not, dragging turns the camera.
    pub fn is_editing(&self) -> bool {
        self.session.editing().is_on()
    }

    /// Returns a message about what the file has and the page does not show, and what to do. Empty if it
    /// shows everything.
    pub fn notice(&self) -> String {
        self.notice.clone()
    }

    /// Describes the damage found so far, if any. Damaged parts are left out.
    pub fn damage(&self) -> Option<String> {
        let faults = self.session.faults();
        let first = faults.first()?;
        Some(match faults.len() {
            1 => format!("1 damaged part is left out: {first}"),
            count => format!("{count} damaged parts are left out. First: {first}"),
        })
    }

    /// Whether the world is shown with levels of detail.
    pub fn has_levels(&self) -> bool {
        self.session.has_levels()
    }

    /// Whether all meshes of the view are shown and no edit is in progress.
    pub fn is_settled(&self) -> bool {
        self.session.is_settled()
    }

    /// Returns name and state, for the status line.
    pub fn state(&mut self) -> String {
        let editing = self.session.editing();
        let brush = editing.is_on().then(|| editing.editor().brush);
        let mut words = format!("{} | ", self.session.name());
        if self.session.lags() {
            words += "loading | ";
        }
        words += &self.session.camera().movement_text();
        if let (Some(brush), Some(materials)) = (brush, self.session.materials()) {
            words += &format!("edit: {} | ", brush.describe(materials));
        }
        words += &self.saving_words();
        words += self.session.message();
        words.trim_end_matches(" | ").into()
    }

    /// Returns draw commands, meshes, memory and device, for the status line.
    pub fn statistics(&mut self) -> String {
        let drawn = self.session.drawn();
        let Some(stage) = self.session.stage() else { return String::new() };
        let renderer = stage.renderer();
        let (held, name, backend) =
            (renderer.held(), renderer.name(), renderer.output().describe());
        let mib = held.used_bytes as f64 / f64::from(1 << 20);
        let (commands, meshes, all, size) =
            (drawn.commands, drawn.meshes, held.meshes, self.screen.words());
        format!(
            "{commands} commands for {meshes} of {all} meshes | {mib:.1} MiB of vertices | {name} on {backend}{size}"
        )
    }
}

impl Page {
    pub(crate) fn of(opened: Opened, size: Size, view: &[f64]) -> Self {
        let Opened { content, file, notice } = opened;
        let point = |at: usize| Some(<[f64; 3]>::try_from(view.get(at..at + 3)?).ok()?.into());
        let (eye, target) = (point(0), point(3));
        let options = SessionOptions {
            host: Host::Page,
            view: ViewOptions { eye, target, fit: Fit::Fill, ..ViewOptions::new(size) },
            renderer: RendererKind::default(),
            cull: Cull::Cpu,
            max_edit_bytes: MAX_EDIT_BYTES,
        };
        let session = Session::new(content, &options);
        let (screen, progress) = (Screen::default(), SaveProgress::default());
        Self { session, screen, file, progress, notice, chooses: false, failing_since: None }
    }

    /// Executes an action. Has no effect for actions that the script executes.
    fn apply(&mut self, action: Action) -> Result<(), String> {
        // The user has chosen.
        self.chooses &= !matches!(
            action,
            Action::Samples(_) | Action::NextSamples | Action::Shadows | Action::Occlusion
        );
        self.session.apply(action).map_err(|error| error.to_string())?;
        self.write_if_large();
        // A page has no log; the message says the same.
        self.session.take_notes();
        Ok(())
    }
}

/// Returns the keys of the page and what they do, one after the other.
#[wasm_bindgen]
pub fn key_list() -> Vec<String> {
    keys::rows(Host::Page).flat_map(|(keys, help)| [keys.into(), help.into()]).collect()
}

/// Returns the chords that the script handles itself, each followed by what it does.
#[wasm_bindgen]
pub fn script_keys() -> Vec<String> {
    let named = keys::bindings(Host::Page)
        .filter_map(|(chord, action)| Some([chord.to_owned(), script_name(action)?.to_owned()]));
    named.flatten().collect()
}

/// Returns the name of an action that the script executes.
const fn script_name(action: Action) -> Option<&'static str> {
    Some(match action {
        Action::Save => "save",
        Action::Help => "help",
        Action::Panels => "panels",
        Action::Copy => "copy",
        Action::Escape => "escape",
        _ => return None,
    })
}

/// Whether a page with this [`selection`](Page::selection) handles a key of [`Page::key`], so that the browser
/// must not.
#[wasm_bindgen]
pub fn handles_key(chord: &str, phase: &str, selection: u32) -> bool {
    let is_set = |bits| selection & bits == bits;
    keys::action(Host::Page, chord, phase_of(phase)).is_some_and(|action| match action {
        Action::Copy => is_set(EDITS | SELECTED),
        action if action.is_of_brush() => is_set(EDITS),
        action => script_name(action).is_none(),
    })
}

fn phase_of(name: &str) -> KeyPhase {
    match name {
        "down" => KeyPhase::Down,
        "repeat" => KeyPhase::Repeat,
        _ => KeyPhase::Up,
    }
}

/// Returns the compiled program, with which a worker starts.
#[wasm_bindgen]
pub fn module() -> JsValue {
    wasm_bindgen::module()
}

/// A file of edits that was opened together with a world.
#[wasm_bindgen]
pub struct Edits(pub(crate) MemoryFile);

#[wasm_bindgen]
impl Edits {
    /// Creates it from the bytes of a file. They are not validated until a world is opened with them.
    ///
    /// # Errors
    /// Throws a message if there are more bytes than a page supports.
    #[wasm_bindgen(constructor)]
    pub fn new(name: &str, bytes: Vec<u8>) -> Result<Edits, String> {
        EditsFile::of_bytes(name, bytes).map(Self)
    }
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console, js_name = error)]
    fn log_error(text: &str);
}

/// Logs panics to the console. A panic ends the program.
pub(crate) fn log_panics() {
    std::panic::set_hook(Box::new(|info| log_error(&info.to_string())));
}

/// Returns a size of at least one pixel. A canvas that is not laid out yet has no size.
pub(crate) fn sized(width: u32, height: u32) -> Size {
    Size { width: width.max(1), height: height.max(1) }
}
