use std::time::Duration;

use drystone::{
    Flight, FlightKey, Walk,
    scene::{self, Meshing, RendererKind, Size},
};
use drystone_render::{Camera, DrawStats, View};
use drystone_world::{GeneratorConfig, MemoryFile};
use glam::DVec3;
use wasm_bindgen::prelude::*;
use web_sys::HtmlCanvasElement;

use crate::{
    content::Shown,
    editing::Editing,
    opening::{EditsFile, Opened},
};

/// Time that a frame makes meshes for while something moves …
const WORK_MOVING: Duration = Duration::from_millis(6);
/// … and while nothing does: then what is missing is missed more than smoothness.
const WORK_STILL: Duration = Duration::from_millis(40);

/// A world in a canvas. Places and sizes are in pixels of the canvas.
///
/// # Errors
/// All functions that can fail throw a line to be shown. After one that [`frame`](Self::frame)
/// throws, the device is gone: [`reopen`](Self::reopen) brings the page back.
#[wasm_bindgen]
pub struct Page {
    pub(crate) shown: Shown,
    pub(crate) view: View,
    pub(crate) start: Camera,
    pub(crate) editing: Editing,
    name: String,
    corners: (DVec3, DVec3),
    flight: Flight,
    /// Somebody who walks, where nobody flies.
    pub(crate) walk: Option<Walk>,
    size: Size,
    /// What draws, and after a lost device draws again.
    renderer: RendererKind,
    /// When the last frame was drawn, in milliseconds, if what moves moved since.
    last_frame_ms: Option<f64>,
    drawn: DrawStats,
    /// What of a file was damaged when it was read.
    faults: Vec<String>,
}

#[wasm_bindgen]
impl Page {
    /// A generated world of so many chunks.
    pub async fn generated(
        canvas: HtmlCanvasElement,
        width: u32,
        height: u32,
        seed: u64,
        chunks: Vec<u32>,
        relief: u32,
        edits: Option<Edits>,
    ) -> Result<Page, String> {
        tell_panics();
        let size_chunks = <[u32; 3]>::try_from(chunks).map_err(|_| "a size is three numbers")?;
        let config = GeneratorConfig { seed, size_chunks, relief_voxels: relief };
        let opened = Opened::generated(config, edits.map(|it| it.0))?;
        Self::of(opened, canvas, sized(width, height)).await
    }

    /// What a file holds. When that fails before the canvas was touched, another page can go on
    /// drawing to it.
    pub async fn file(
        canvas: HtmlCanvasElement,
        width: u32,
        height: u32,
        name: String,
        bytes: Vec<u8>,
        edits: Option<Edits>,
    ) -> Result<Page, String> {
        tell_panics();
        let opened = Opened::of_file(&bytes, &name, edits.map(|it| it.0))?;
        drop(bytes);
        Self::of(opened, canvas, sized(width, height)).await
    }

    /// Looks from where another does.
    pub fn look_from(&mut self, other: &Page) {
        self.view.camera = other.view.camera;
    }

    /// Goes on with a new device, after the old one was lost: voxels, edits and view stay, and
    /// also when it fails, so that it can be tried again.
    pub async fn reopen(&mut self, canvas: HtmlCanvasElement) -> Result<(), String> {
        self.open(canvas, self.renderer).await
    }

    /// Goes on with the other renderer: naive, one buffer and some calls a mesh, after the pool, and
    /// back. When that fails, what is shown stays.
    pub async fn switch_renderer(&mut self, canvas: HtmlCanvasElement) -> Result<(), String> {
        let other = match self.renderer {
            RendererKind::Pool => RendererKind::Naive,
            RendererKind::Naive | RendererKind::Instanced(_) => RendererKind::Pool,
        };
        self.open(canvas, other).await
    }

    /// Has the sun stand as at this hour, 0 to 24.
    pub fn set_hour(&mut self, hour: f32) {
        self.view.atmosphere = self.view.atmosphere.with_hour(hour);
    }

    /// Draws a picture, at this time in milliseconds; whether another should follow at once.
    pub fn frame(&mut self, now_ms: f64) -> Result<bool, String> {
        let passed_ms = self.last_frame_ms.map_or(0.0, |last| (now_ms - last).max(0.0));
        self.travel(Duration::from_secs_f64(passed_ms / 1e3));
        let falls = self.walk.is_some_and(|walk| !walk.is_on_ground());
        let moves = self.flight.is_moving() || falls;
        self.last_frame_ms = moves.then_some(now_ms);
        let edits = self.editing.go_on(self.shown.edit_scene());
        let (min, max) = self.editing.grown(self.corners);
        scene::reach(&mut self.view.camera, min, max);
        let work = if moves { WORK_MOVING } else { WORK_STILL };
        let view = self.hazy_view();
        let followed = self.shown.follow(&view, self.size, work);
        let drawn = followed.and_then(|()| self.shown.draw(&view));
        self.drawn = drawn.map_err(|error| error.to_string())?;
        Ok(moves || edits || self.shown.lags() || !self.drawn.shown)
    }

    /// From now on draws pictures of this size.
    pub fn resize(&mut self, width: u32, height: u32) -> Result<(), String> {
        self.size = sized(width, height);
        let Size { width, height } = self.size;
        self.shown.renderer().resize(width, height).map_err(|error| error.to_string())
    }

    /// A key was pressed or let go, named as browsers do; whether it means anything.
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

    /// No key is held any more.
    pub fn release_all(&mut self) {
        self.flight.release_all();
    }

    /// The mouse, or one finger, moved.
    pub fn turn(&mut self, x: f64, y: f64) {
        self.flight.turn(&mut self.view.camera, [x, y]);
    }

    /// Two fingers moved so far, and are so many times farther from each other than before.
    pub fn fingers(&mut self, x: f64, y: f64, spread: f64) {
        let height = f64::from(self.size.height);
        self.flight.slide(&mut self.view.camera, [x / height, y / height]);
        self.flight.pinch(&mut self.view.camera, spread);
    }

    /// The wheel was turned by so many notches, upwards.
    pub fn wheel(&mut self, notches: f64) {
        self.flight.wheel(notches);
    }

    /// A button was clicked at a place, counted from the top left.
    pub fn click(&mut self, button: i16, x: f64, y: f64) {
        let part = |at: f64, side: u32| 2.0 * at / f64::from(side) - 1.0;
        let place = [part(x, self.size.width), -part(y, self.size.height)];
        let seen = (&self.view.camera, self.size);
        self.editing.click(self.shown.edit_scene(), seen, button, place);
    }

    /// Takes the last edit back.
    pub fn undo(&mut self) {
        self.editing.step(self.shown.edit_scene(), false);
    }

    /// Does again what was taken back last.
    pub fn redo(&mut self) {
        self.editing.step(self.shown.edit_scene(), true);
    }

    /// Whether clicks edit; else they turn.
    pub fn is_editing(&self) -> bool {
        self.editing.is_on
    }

    /// What was found damaged so far and is left out, in words.
    pub fn damage(&self) -> Option<String> {
        let faults = self.shown.faults().unwrap_or_else(|| self.faults.clone());
        let first = faults.first()?;
        Some(match faults.len() {
            1 => format!("A place is damaged and left out: {first}"),
            count => format!("{count} places are damaged and left out; the first: {first}"),
        })
    }

    /// Whether the world is shown at levels of detail.
    pub fn has_levels(&self) -> bool {
        matches!(self.shown, Shown::Levels(_))
    }

    /// Whether all is shown that should be.
    pub fn is_settled(&self) -> bool {
        !self.shown.lags() && !self.editing.is_busy()
    }

    /// What is seen and what it takes, in words.
    pub fn words(&mut self) -> String {
        let held = self.shown.renderer().held();
        let backend = self.shown.renderer().backend();
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
    /// Opens a device with this renderer for what is shown.
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

    /// The view, in which haze hides where a vast land ends ahead.
    fn hazy_view(&self) -> View {
        let View { camera, atmosphere, .. } = &self.view;
        let atmosphere = match self.shown {
            Shown::World(_) => *atmosphere,
            Shown::Levels(_) => scene::edge_haze(*atmosphere, camera, self.corners),
        };
        View { atmosphere, ..self.view }
    }

    /// Moves the eye by the keys held for `time`.
    fn travel(&mut self, time: Duration) {
        let camera = &mut self.view.camera;
        let Some(walk) = &mut self.walk else { return self.flight.step(camera, time) };
        let floor = self.corners.0.y;
        walk.travel(camera, &self.flight, self.shown.edit_scene(), floor, time);
    }
}

/// A file of edits that was brought along with a world.
#[wasm_bindgen]
pub struct Edits(MemoryFile);

#[wasm_bindgen]
impl Edits {
    /// Of the bytes of such a file, which are looked at when they are opened.
    ///
    /// # Errors
    /// Throws a line to be shown where they are more than a page keeps.
    #[wasm_bindgen(constructor)]
    pub fn new(name: &str, bytes: Vec<u8>) -> Result<Edits, String> {
        EditsFile::brought(name, bytes).map(Self)
    }
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console, js_name = error)]
    fn tell(text: &str);
}

/// A panic ends the program; what it was about stands in the console.
fn tell_panics() {
    std::panic::set_hook(Box::new(|info| tell(&info.to_string())));
}

/// A canvas that is not laid out yet has no size.
fn sized(width: u32, height: u32) -> Size {
    Size { width: width.max(1), height: height.max(1) }
}
