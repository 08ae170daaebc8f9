use std::time::Duration;

use drystone::{
    Flight, FlightKey, Walk,
    scene::{self, Meshing, RendererKind, Size},
};
use drystone_render::{Camera, DrawStats, View};
use drystone_store::MemoryFile;
use drystone_world::GeneratorConfig;
use glam::DVec3;
use wasm_bindgen::prelude::*;
use web_sys::HtmlCanvasElement;

use crate::{
    content::Shown,
    editing::Editing,
    opening::{EditsFile, Opened},
};

/// Time for meshing per frame while the camera moves.
const WORK_MOVING: Duration = Duration::from_millis(6);
/// Time for meshing per frame while the camera is still: missing meshes matter more than a steady
/// frame rate.
const WORK_STILL: Duration = Duration::from_millis(40);

/// A world in a canvas. Positions and sizes are in pixels of the canvas.
///
/// # Errors
/// Functions that fail throw a message for the user. After an error of [`frame`](Self::frame) the
/// device is lost. Then call [`reopen`](Self::reopen).
#[wasm_bindgen]
pub struct Page {
    pub(crate) shown: Shown,
    pub(crate) view: View,
    pub(crate) start: Camera,
    pub(crate) editing: Editing,
    name: String,
    corners: (DVec3, DVec3),
    flight: Flight,
    /// State of walking; `None` while flying.
    pub(crate) walk: Option<Walk>,
    size: Size,
    /// The current renderer, which is opened again after a lost device.
    renderer: RendererKind,
    /// Time of the last frame in milliseconds, if the camera is moving.
    last_frame_ms: Option<f64>,
    drawn: DrawStats,
    /// Descriptions of the damaged parts of a file, found when it was read.
    faults: Vec<String>,
}

#[wasm_bindgen]
impl Page {
    /// Opens a generated world. `chunks` are the numbers of chunks along each axis.
    pub async fn generated(
        canvas: HtmlCanvasElement,
        width: u32,
        height: u32,
        seed: u64,
        chunks: Vec<u32>,
        relief: u32,
        edits: Option<Edits>,
    ) -> Result<Page, String> {
        log_panics();
        let size_chunks = <[u32; 3]>::try_from(chunks).map_err(|_| "a size is three numbers")?;
        let config = GeneratorConfig { seed, size_chunks, relief_voxels: relief };
        let opened = Opened::generated(config, edits.map(|it| it.0))?;
        Self::of(opened, canvas, sized(width, height)).await
    }

    /// Opens a file. If that fails before the canvas is used, the previous page can continue to
    /// draw to it.
    pub async fn file(
        canvas: HtmlCanvasElement,
        width: u32,
        height: u32,
        name: String,
        bytes: Vec<u8>,
        edits: Option<Edits>,
    ) -> Result<Page, String> {
        log_panics();
        let opened = Opened::of_file(&bytes, &name, edits.map(|it| it.0))?;
        drop(bytes);
        Self::of(opened, canvas, sized(width, height)).await
    }

    /// Copies the camera of another page.
    pub fn look_from(&mut self, other: &Page) {
        self.view.camera = other.view.camera;
    }

    /// Opens a new device after the old one was lost. Voxels, edits and view are unchanged, even if
    /// it fails, so that it can be retried.
    pub async fn reopen(&mut self, canvas: HtmlCanvasElement) -> Result<(), String> {
        self.open(canvas, self.renderer).await
    }

    /// Switches between the pool renderer and the naive renderer, which has one buffer and several
    /// calls per mesh. If that fails, the current renderer continues.
    pub async fn switch_renderer(&mut self, canvas: HtmlCanvasElement) -> Result<(), String> {
        let other = match self.renderer {
            RendererKind::Pool => RendererKind::Naive,
            RendererKind::Naive | RendererKind::Instanced(_) => RendererKind::Pool,
        };
        self.open(canvas, other).await
    }

    /// Sets the position of the sun by the hour, 0 to 24.
    pub fn set_hour(&mut self, hour: f32) {
        self.view.atmosphere = self.view.atmosphere.with_hour(hour);
    }

    /// Draws a frame at a time in milliseconds. Returns whether another frame should follow
    /// immediately.
    pub fn frame(&mut self, now_ms: f64) -> Result<bool, String> {
        let passed_ms = self.last_frame_ms.map_or(0.0, |last| (now_ms - last).max(0.0));
        self.travel(Duration::from_secs_f64(passed_ms / 1e3));
        let falls = self.walk.is_some_and(|walk| !walk.is_on_ground());
        let moves = self.flight.is_moving() || falls;
        self.last_frame_ms = moves.then_some(now_ms);
        let edits = self.editing.update(self.shown.edit_scene());
        let (min, max) = self.editing.grown(self.corners);
        scene::reach(&mut self.view.camera, min, max);
        let work = if moves { WORK_MOVING } else { WORK_STILL };
        let view = self.hazy_view();
        let followed = self.shown.follow(&view, self.size, work);
        let drawn = followed.and_then(|()| self.shown.draw(&view));
        self.drawn = drawn.map_err(|error| error.to_string())?;
        Ok(moves || edits || self.shown.lags() || !self.drawn.shown)
    }

    /// Sets the size of the picture.
    pub fn resize(&mut self, width: u32, height: u32) -> Result<(), String> {
        self.size = sized(width, height);
        let Size { width, height } = self.size;
        self.shown.renderer().resize(width, height).map_err(|error| error.to_string())
    }

    /// Handles a key that was pressed or released, by its browser code. Returns whether the key has
    /// a function.
    pub fn key(&mut self, code: &str, pressed: bool, repeat: bool) -> Result<bool, String> {
        if pressed && self.editing.key(code, repeat, self.shown.edit_scene()) {
            return Ok(true);
        }
        if let Some(key) = FlightKey::of_code(code) {
            self.flight.key(key, pressed);
            return Ok(true);
        }
        if !pressed || repeat {
            return Ok(false);
        }
        self.switch(code).map_err(|error| error.to_string())
    }

    /// Releases all keys.
    pub fn release_all(&mut self) {
        self.flight.release_all();
    }

    /// Turns the camera by a movement of the mouse or one finger.
    pub fn turn(&mut self, x: f64, y: f64) {
        self.flight.turn(&mut self.view.camera, [x, y]);
    }

    /// Moves the camera by two fingers: `x` and `y` are their movement, `spread` is the factor by
    /// which their distance changed.
    pub fn fingers(&mut self, x: f64, y: f64, spread: f64) {
        let height = f64::from(self.size.height);
        self.flight.slide(&mut self.view.camera, [x / height, y / height]);
        self.flight.pinch(&mut self.view.camera, spread);
    }

    /// Handles the wheel. Positive `notches` are upwards.
    pub fn wheel(&mut self, notches: f64) {
        self.flight.wheel(notches);
    }

    /// Handles a click at a position, measured from the top left.
    pub fn click(&mut self, button: i16, x: f64, y: f64) {
        let part = |at: f64, side: u32| 2.0 * at / f64::from(side) - 1.0;
        let position = [part(x, self.size.width), -part(y, self.size.height)];
        let camera = (&self.view.camera, self.size);
        self.editing.click(self.shown.edit_scene(), camera, button, position);
    }

    /// Undoes the last edit.
    pub fn undo(&mut self) {
        self.editing.step(self.shown.edit_scene(), false);
    }

    /// Redoes the last edit that was undone.
    pub fn redo(&mut self) {
        self.editing.step(self.shown.edit_scene(), true);
    }

    /// Whether clicks edit. If not, dragging turns the camera.
    pub fn is_editing(&self) -> bool {
        self.editing.is_on
    }

    /// Describes the damage found so far, if any. Damaged parts are left out.
    pub fn damage(&self) -> Option<String> {
        let faults = self.shown.faults().unwrap_or_else(|| self.faults.clone());
        let first = faults.first()?;
        Some(match faults.len() {
            1 => format!("1 damaged part is left out: {first}"),
            count => format!("{count} damaged parts are left out. First: {first}"),
        })
    }

    /// Whether the world is shown with levels of detail.
    pub fn has_levels(&self) -> bool {
        matches!(self.shown, Shown::Levels(_))
    }

    /// Whether all meshes of the view are shown and no edit is in progress.
    pub fn is_settled(&self) -> bool {
        !self.shown.lags() && !self.editing.is_busy()
    }

    /// Returns the status line: name, state, draw commands, meshes and memory.
    pub fn words(&mut self) -> String {
        let held = self.shown.renderer().held();
        let backend = self.shown.renderer().output().describe();
        let edits = self.editing.words(self.shown.edit_scene());
        let loading = if self.shown.lags() { "loading | " } else { "" };
        let walks = if self.walk.is_some() { "walking | " } else { "" };
        let mib = held.used_bytes as f64 / f64::from(1 << 20);
        let renderer = match self.renderer {
            RendererKind::Pool => "pool",
            RendererKind::Naive => "naive",
            RendererKind::Instanced(policy) => policy.renderer_name(),
        };
        format!(
            "{} | {loading}{walks}{edits}{} commands for {} of {} meshes | {mib:.1} MiB of vertices | {renderer} on {backend}",
            self.name, self.drawn.commands, self.drawn.meshes, held.meshes,
        )
    }
}

impl Page {
    async fn of(opened: Opened, canvas: HtmlCanvasElement, size: Size) -> Result<Self, String> {
        let Opened { content, kept_by, file, faults } = opened;
        let (name, corners, view) =
            (content.name().to_owned(), content.corners(), content.view(size));
        let renderer = RendererKind::default();
        let shown = content.show(renderer, canvas, size).await;
        let shown = shown.map_err(|error| error.to_string())?;
        Ok(Self {
            shown,
            view,
            start: view.camera,
            editing: Editing::new(kept_by, file),
            name,
            corners,
            flight: Flight::new((corners.1 - corners.0).max_element()),
            walk: None,
            faults,
            size,
            renderer,
            last_frame_ms: None,
            drawn: DrawStats::default(),
        })
    }
}

impl Page {
    /// Opens a device with this renderer for the current world.
    async fn open(&mut self, canvas: HtmlCanvasElement, kind: RendererKind) -> Result<(), String> {
        let shown = self.shown.content().show(kind, canvas, self.size).await;
        self.shown = shown.map_err(|error| error.to_string())?;
        (self.renderer, self.last_frame_ms) = (kind, None);
        if self.view.atmosphere.ambient_occlusion == 0.0 {
            return Ok(());
        }
        let shaded = self.shown.remesh(Meshing { occlusion: true });
        shaded.map(|_| ()).map_err(|error| error.to_string())
    }

    /// Returns the view with haze that hides the edge of a large world.
    fn hazy_view(&self) -> View {
        let View { camera, atmosphere, .. } = &self.view;
        let atmosphere = match self.shown {
            Shown::World(_) => *atmosphere,
            Shown::Levels(_) => scene::edge_haze(*atmosphere, camera, self.corners),
        };
        View { atmosphere, ..self.view }
    }

    /// Moves the camera by the held keys for `time`.
    fn travel(&mut self, time: Duration) {
        let camera = &mut self.view.camera;
        let Some(walk) = &mut self.walk else { return self.flight.step(camera, time) };
        let floor = self.corners.0.y;
        walk.travel(camera, &self.flight, self.shown.edit_scene(), floor, time);
    }
}

/// A file of edits that was opened together with a world.
#[wasm_bindgen]
pub struct Edits(MemoryFile);

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
fn log_panics() {
    std::panic::set_hook(Box::new(|info| log_error(&info.to_string())));
}

/// Returns a size of at least one pixel. A canvas that is not laid out yet has no size.
fn sized(width: u32, height: u32) -> Size {
    Size { width: width.max(1), height: height.max(1) }
}
