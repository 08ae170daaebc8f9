//! A session with one content: what a window and a web page have in common.
//!
//! ```text
//!  events ─► key table ─► Action ─► Session::apply ─┬► camera, editor, switches
//!                                                   └► returned: files, devices, panels
//!  each frame: advance (camera, haze, edits) ─► follow (meshes, changes) ─► draw
//! ```

mod camera;
mod change;
mod costs;
mod editing;
mod messages;
mod moving;
mod options;
mod stage;

pub use camera::CameraControl;
use change::Change;
pub use change::{ChangeTarget, Changed};
use costs::Measurement;
pub use costs::{CostSwitch, Costs};
pub use editing::Editing;
pub use messages::{Message, MessageKind, Messages};
pub use options::SessionOptions;
pub use stage::{Prepared, Stage};

use std::sync::Arc;
use std::time::Duration;

use drystone_render::{Cull, DrawStats, Image, RenderError};
use drystone_voxel::MaterialTable;
use drystone_world::LodData;
use web_time::Instant;

use crate::keys::Host;
use crate::scene::{Brush, EditSaver, EditStep, Editor, OpenDevice, RendererKind, Size};
use crate::{Action, Content, Framed, Progress};

/// Content, camera, editor and switches, with the device that draws them.
///
/// A window or page translates its events into [`Action`]s, and opens devices. It draws frame by
/// frame: [`advance`](Self::advance), [`follow`](Self::follow), [`draw`](Self::draw).
pub struct Session {
    host: Host,
    /// Name of the content.
    name: String,
    /// Scene on a device; `None` while no device is open.
    stage: Option<Stage>,
    /// Content that no scene holds.
    waiting: Option<Content>,
    camera: CameraControl,
    editing: Editing,
    renderer: RendererKind,
    cull: Cull,
    change: Option<Change>,
    measurement: Measurement,
    messages: Messages,
    pace: FramePace,
}

/// Times of frames, and the statistics of the last one.
struct FramePace {
    last: Instant,
    /// Duration of the last frame.
    frame_time: Duration,
    drawn: DrawStats,
}

const NO_VOXELS: &str = "polygon models cannot be edited; import the model as voxels first";

impl Session {
    /// Message for a change that has to wait for another.
    pub const BUSY: &str = "wait until the current change is done";

    /// Creates a session without a device.
    pub fn new(content: Content, options: &SessionOptions) -> Self {
        let SessionOptions { host, view, renderer, cull, max_edit_bytes } = *options;
        let now = Instant::now();
        Self {
            host,
            name: content.name().into(),
            camera: CameraControl::new(Framed::new(&content), view),
            stage: None,
            editing: Editing::new(&content, max_edit_bytes),
            waiting: Some(content),
            renderer,
            cull,
            change: None,
            measurement: Measurement::default(),
            messages: Messages::default(),
            pace: FramePace { last: now, frame_time: Duration::ZERO, drawn: DrawStats::default() },
        }
    }

    /// Shows other content, and returns the session before. The brush keeps form and size.
    pub fn replace(&mut self, content: Content, options: &SessionOptions) -> Self {
        let before = std::mem::replace(self, Self::new(content, options));
        let Brush { material, mirror, .. } = self.editing.editor.brush;
        self.editing.editor.brush = Brush { material, mirror, ..before.editing.editor.brush };
        self.editing.changes = before.editing.changes + 1;
        before
    }

    /// Creates a renderer on a device, for the content that waits for one.
    ///
    /// # Errors
    /// If the device is out of memory, or lost.
    pub fn prepare(&self, device: OpenDevice) -> Result<Prepared, RenderError> {
        Prepared::new(device, self.renderer, self.waiting.as_ref())
    }

    /// Shows the waiting content on a device. Ends a change of renderer or meshing.
    ///
    /// # Errors
    /// If the device fails. Then [`has_content`](Self::has_content) tells whether the content still
    /// waits or is lost with the device.
    pub fn attach(&mut self, prepared: Prepared) -> Result<(), RenderError> {
        let Some(content) = self.waiting.take() else { return Ok(()) };
        let mut stage = prepared.show(content, self.meshing_for(self.renderer))?;
        match stage.set_cull(self.cull) {
            Ok(refused) => self.note(refused),
            Err(error) => {
                self.waiting = Some(stage.into_content());
                return Err(error);
            }
        }
        self.stage = Some(stage);
        self.show_samples()?;
        if self.change.take().is_some() {
            let has_levels = self.has_levels();
            self.camera.set_edge_haze(has_levels);
        }
        self.show_occlusion();
        self.pace.last = Instant::now();
        Ok(())
    }

    /// Closes the device; the content waits for another. Edits in progress are finished first: they
    /// need no device and must not be left half done.
    pub fn detach(&mut self) {
        self.finish_editing();
        self.measurement = Measurement::default();
        if let Some(stage) = self.stage.take() {
            self.waiting = Some(stage.into_content());
        }
    }

    /// Executes an action of the user, and shows a message if it changes a mode. Returns actions that
    /// concern files, devices and panels.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn apply(&mut self, action: Action) -> Result<Option<Action>, RenderError> {
        let before = self.messages.take_line();
        let rest = self.execute(action)?;
        let mode = messages::mode_text(self, action);
        self.messages.show_mode(before, mode);
        Ok(rest)
    }

    /// Executes an action without a message on the new mode. Returns actions that concern files,
    /// devices and panels.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn execute(&mut self, action: Action) -> Result<Option<Action>, RenderError> {
        match action {
            Action::Hold(key) if self.camera.flight.press(key) => self.pace.last = Instant::now(),
            Action::Release(key) if self.camera.flight.release(key) => {
                self.pace.last = Instant::now();
            }
            Action::Hold(_) | Action::Release(_) => {}
            action if action.is_of_camera() => {
                let corners = self.editing.grown(self.camera.corners());
                let refused = self.camera.move_in(self.stage.as_mut(), corners, action);
                refused.into_iter().for_each(|words| self.say(words));
            }
            Action::FaceMask if self.is_model() => {
                self.say("masking back faces is not available for polygon models");
            }
            Action::Cull => self.switch_cull()?,
            Action::Occlusion => self.switch_occlusion(),
            Action::Levels => self.switch_levels()?,
            Action::Tint if self.is_model() => {
                self.say("polygon models have no levels of detail to tint");
            }
            Action::Samples(samples) => self.set_samples(samples)?,
            Action::NextSamples => self.set_samples(self.camera.next_samples())?,
            Action::MeasureCosts => self.measure_costs(),
            Action::Renderer(kind) => self.switch_renderer(kind)?,
            Action::NextRenderer => self.next_renderer()?,
            Action::Edit => self.switch_editing(),
            Action::Copy if !self.editing.has_selection() => return Ok(Some(Action::CopyCamera)),
            Action::Copy => self.edit(EditStep::Edit, Editor::copy),
            Action::Tool(tool) => self.switch_tool(tool),
            action if action.is_of_brush() => self.change_brush(action),
            Action::Brush(brush) => self.editing.editor.brush = brush,
            Action::Click(edit, ray) => {
                self.edit(EditStep::Edit, |editor, scene| editor.click(scene, edit, &ray));
            }
            Action::Undo => self.edit(EditStep::Undo, Editor::undo),
            Action::Redo => self.edit(EditStep::Redo, Editor::redo),
            Action::History(steps) => self.step_history(steps),
            action => return Ok(self.camera.apply(action)),
        }
        Ok(None)
    }

    /// Advances camera, haze and edits to `now`.
    pub fn advance(&mut self, now: Instant) {
        let time = now.saturating_duration_since(std::mem::replace(&mut self.pace.last, now));
        let corners = self.editing.grown(self.camera.corners());
        let stopped = self.camera.travel(time, self.stage.as_mut(), corners);
        stopped.into_iter().for_each(|words| self.say(words));
        self.messages.watch_connection(self.stage.as_ref().and_then(Stage::data), now);
        self.continue_editing();
    }

    /// Moves voxels that change by themselves, updates the meshes for the view, and continues a change
    /// for about `time`. Returns a completed change.
    ///
    /// # Errors
    /// If the device fails. A change that fails is cancelled instead.
    pub fn follow(&mut self, time: Duration) -> Result<Option<Changed>, RenderError> {
        self.camera.reach(self.editing.grown(self.camera.corners()));
        let is_changing = self.is_changing();
        let Some(stage) = &mut self.stage else { return Ok(None) };
        let (view, size) = (self.camera.view(), self.camera.size());
        let followed = stage.advance().and_then(|()| stage.follow(view, size, time));
        match followed.and_then(|part| self.continue_change(part)) {
            Err(error @ RenderError::Lost { .. }) => Err(error),
            Err(error) if !is_changing => self.show_levels_instead(error).map(|()| None),
            Err(error) => {
                self.cancel_change(&error);
                Ok(None)
            }
            done => done,
        }
    }

    /// Draws a frame; nothing without a device.
    ///
    /// # Errors
    /// If the device is lost or refuses.
    pub fn draw(&mut self) -> Result<DrawStats, RenderError> {
        self.leave_round()?;
        let Some(stage) = &mut self.stage else { return Ok(DrawStats::default()) };
        let drawn = stage.draw(self.camera.view())?;
        let error = stage.renderer().take_culling_error();
        self.note(error);
        self.pace.drawn = drawn;
        Ok(drawn)
    }

    /// Draws a frame and reads it back, for a device that does not present.
    ///
    /// # Errors
    /// Errors of [`draw`](Self::draw).
    pub fn picture(&mut self) -> Result<Option<(Image, DrawStats)>, RenderError> {
        self.leave_round()?;
        let Some(stage) = &mut self.stage else { return Ok(None) };
        let (picture, drawn) = stage.picture(self.camera.view())?;
        self.pace.drawn = drawn;
        Ok(Some((picture, drawn)))
    }

    /// Draws a picture without panels, which have to be set again afterwards.
    ///
    /// # Errors
    /// Errors of [`draw`](Self::draw).
    pub fn still(&mut self) -> Result<Option<Image>, RenderError> {
        let view = *self.camera.view();
        self.stage.as_mut().map(|stage| stage.still(&view)).transpose()
    }

    /// Records the duration of a frame.
    pub const fn frame_ended(&mut self, time: Duration) {
        self.pace.frame_time = time;
    }

    /// Sets the size of pictures, from the next frame on.
    pub const fn set_size(&mut self, size: Size) {
        self.camera.options.size = size;
    }

    /// Changes the size of pictures and of the renderer.
    ///
    /// # Errors
    /// If the device fails.
    pub fn resize(&mut self, size: Size) -> Result<(), RenderError> {
        self.camera.options.size = size;
        match &mut self.stage {
            Some(stage) => stage.renderer().resize(size.width, size.height),
            None => Ok(()),
        }
    }

    /// Sets where the next device culls.
    pub const fn set_cull(&mut self, cull: Cull) {
        self.cull = cull;
    }

    /// Copies the camera of another session.
    pub const fn look_from(&mut self, other: &Self) {
        self.camera.look_from(&other.camera);
    }

    /// Sets the message to a refusal or failure, and logs it.
    pub fn say(&mut self, line: impl Into<String>) {
        self.messages.say(line.into());
    }

    /// Sets the message to a result without logging it.
    pub fn set_message(&mut self, message: String) {
        self.messages.set(message);
    }

    /// Takes the lines for the log.
    pub fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.messages.notes)
    }

    fn note(&mut self, error: Option<RenderError>) {
        self.messages.notes.extend(error.map(|error| error.to_string()));
    }
}

/// State of a session.
impl Session {
    /// Returns the name of the content.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the content still exists. It is lost if a device fails while it is uploaded.
    pub const fn has_content(&self) -> bool {
        self.stage.is_some() || self.waiting.is_some()
    }

    /// Returns the scene on a device; `None` without a device.
    pub const fn stage(&mut self) -> Option<&mut Stage> {
        self.stage.as_mut()
    }

    /// Returns camera, light and air.
    pub const fn camera(&self) -> &CameraControl {
        &self.camera
    }

    /// Returns the editor, and whether clicks edit.
    pub const fn editing(&self) -> &Editing {
        &self.editing
    }

    /// Returns the saver of edits.
    pub const fn saver(&mut self) -> &mut EditSaver {
        self.editing.editor.saver()
    }

    /// Returns the materials of the voxels; `None` for models.
    pub fn materials(&mut self) -> Option<&MaterialTable> {
        Some(self.stage.as_mut()?.voxel_scene()?.data().materials())
    }

    /// Returns the result of the last action, in words.
    pub fn message(&self) -> &str {
        self.messages.text()
    }

    /// Returns the messages.
    pub const fn messages(&mut self) -> &mut Messages {
        &mut self.messages
    }

    /// Returns the renderer.
    pub const fn renderer(&self) -> RendererKind {
        self.renderer
    }

    /// Returns where culling runs.
    pub const fn cull(&self) -> Cull {
        self.cull
    }

    /// Returns the current renderer, or the one that a change leads to.
    pub const fn requested_renderer(&self) -> RendererKind {
        match &self.change {
            Some(Change { to: ChangeTarget::Renderer(kind), .. }) => *kind,
            _ => self.renderer,
        }
    }

    /// Whether any change is in progress.
    pub const fn is_changing(&self) -> bool {
        self.change.is_some()
    }

    /// Returns the progress of a change or edit that takes long enough to be shown.
    pub fn progress(&self) -> Option<&Arc<Progress>> {
        let of_change = self.change.as_ref().and_then(Change::visible_progress);
        of_change.or_else(|| self.editing.visible_progress())
    }

    /// Returns the statistics of the last frame.
    pub const fn drawn(&self) -> DrawStats {
        self.pace.drawn
    }

    /// Returns the duration of the last frame.
    pub const fn frame_time(&self) -> Duration {
        self.pace.frame_time
    }

    /// Returns descriptions of the parts that could not be read so far, which are left out.
    pub fn faults(&self) -> Vec<String> {
        self.stage.as_ref().and_then(Stage::data).map_or_else(Vec::new, LodData::faults)
    }

    /// Whether the world is shown at levels of detail.
    pub fn has_levels(&self) -> bool {
        self.stage.as_ref().is_some_and(Stage::has_levels)
    }

    /// Whether the meshes lag behind the camera.
    pub fn lags(&self) -> bool {
        self.stage.as_ref().is_some_and(Stage::lags)
    }

    /// Whether a polygon model is shown.
    pub fn is_model(&self) -> bool {
        self.stage.as_ref().is_some_and(Stage::is_model)
    }

    /// Whether the next frame differs without input: something moves, or is still being made.
    pub fn is_active(&self) -> bool {
        let is_active = |stage: &Stage| stage.is_active(self.messages.has_said_end());
        let is_active = self.stage.as_ref().is_some_and(is_active) || self.is_measuring();
        let is_active = is_active || self.change.is_some() || self.editing.editor().is_busy();
        is_active || self.camera.is_moving() || self.camera.is_haze_moving()
    }

    /// Whether all meshes of the view are shown, and no edit or change is in progress.
    pub fn is_settled(&self) -> bool {
        !self.lags() && self.change.is_none() && !self.editing.editor().is_busy()
    }
}

#[cfg(test)]
mod tests;
