//! Opening of files in the viewer.

use std::{
    any::Any,
    fs, mem,
    path::{Path, PathBuf},
};

use drystone::{
    CameraKind, Content, Haze, MessageKind, SessionOptions, keys::Host, scene::RendererKind,
};
use drystone_formats::VoxFile;
use drystone_store::{EditedSource, StoredWorld};
use winit::event_loop::ActiveEventLoop;

use super::{
    Opened, Viewer,
    reading::{First, with_renderer},
    saving::Saving,
    signals::WindowRequests,
    status::{Status, file_name},
};
use crate::{
    address,
    cli::{
        CameraArgs, DetailArgs, DrawingArgs, EditsArgs, LevelsKind, LookArgs, OcclusionKind,
        SaveArgs, SavedEdits, SceneOptions,
    },
    settings::{self, RecentFile, Settings},
    source::Note,
};

/// Returns the options that a file was `read` with, updated by the switches that were used in the
/// meantime.
fn switched(read: SceneOptions, shown: &SceneOptions) -> SceneOptions {
    let LookArgs { hour, tint, wire, shadows, sky_light, bloom, .. } = shown.air;
    let tint = tint.filter(|_| read.source.model_path().is_none());
    let air = LookArgs { hour, tint, wire, shadows, sky_light, bloom, ..read.air.clone() };
    let DrawingArgs { backend, cull, samples, .. } = shown.drawing;
    let drawing = DrawingArgs { backend, cull, samples, ..read.drawing };
    SceneOptions { drawing, air, ..read }
}

/// Returns the options for opening another file, or the same file again. Its own earlier options
/// come from `file`. Options that depend on the current content are reset.
pub(super) fn options_for(
    file: RecentFile,
    shown: &SceneOptions,
    levels: LevelsKind,
) -> SceneOptions {
    let source = file.source();
    let is_model = source.model_path().is_some();
    let mut air = shown.air.clone();
    // A model has no levels to tint.
    air.tint = air.tint.filter(|_| !is_model);
    // A haze distance is chosen for the size of one scene.
    air.haze = air.haze.filter(|haze| *haze == Haze::Off);
    SceneOptions {
        air,
        drawing: DrawingArgs {
            renderer: RendererKind::Pool,
            is_renderer_explicit: false,
            ..shown.drawing
        },
        detail: DetailArgs {
            ao: OcclusionKind::Auto,
            levels: if is_model { LevelsKind::Auto } else { levels },
            ..shown.detail
        },
        source,
        edits: EditsArgs { edits: None, saved: SavedEdits::Newest(file.edits) },
        camera: CameraArgs { eye: None, look: None, from: None, ..shown.camera },
        ..shown.clone()
    }
}

/// Returns the options of a session in the window.
pub(super) fn session_options(options: &SceneOptions) -> SessionOptions {
    SessionOptions {
        host: Host::Window,
        view: options.view_options(),
        renderer: options.drawing.renderer,
        cull: options.drawing.cull,
        max_edit_bytes: options.detail.memory_budget().edit_bytes(),
    }
}

/// Whether the options are those of the same file, or of another frame of it.
fn is_same_file(options: &SceneOptions, shown: &SceneOptions) -> bool {
    options.source.path.is_some() && options.source.path == shown.source.path
}

impl Viewer {
    /// Creates a viewer of the first file; empty until that is read.
    pub(super) fn begin(
        first: First,
        save: SaveArgs,
        settings: Settings,
        requests: WindowRequests,
    ) -> Self {
        let (options, loading, receiver) = match first {
            First::Ready(opened, before) => {
                let mut viewer = Self::new(*opened, save, settings, requests);
                viewer.reader.watch(viewer.options.source.path.as_deref(), before);
                return viewer;
            }
            First::Later(options, loading, receiver) => (*options, loading, receiver),
        };
        let content = Content::empty(&loading.name, options.detail.memory_budget().into());
        let mut viewer =
            Self::new(Opened { options, content, note: None }, save, settings, requests);
        viewer.reader.await_first(loading, receiver);
        viewer
    }

    /// Returns the settings to save.
    pub(super) fn settings(&self) -> Settings {
        let settings = self.preferences.settings.clone();
        Settings { shows_panels: self.overlay.shows_panels(), ..settings }
    }

    /// Returns the options as the switches have changed them.
    fn current_options(&self) -> SceneOptions {
        let look = self.session.camera().look();
        let mut options = SceneOptions { air: LookArgs::of(look), ..self.options.clone() };
        options.drawing.renderer = self.session.renderer();
        options.drawing.cull = self.session.cull();
        options.drawing.samples = self.session.camera().samples();
        options.detail.ao = if look.occlusion { OcclusionKind::Auto } else { OcclusionKind::Off };
        options
    }

    /// Adds the current file to the recent files, with its options and the file of its edits.
    pub(super) fn note_source(&mut self) {
        let SceneOptions { source, edits, .. } = &self.options;
        let made = self.session.saver().edits_file();
        let known = match &edits.saved {
            SavedEdits::Newest(known) => known.as_deref(),
            SavedEdits::Ignored => None,
        };
        if let Some(path) = &source.path {
            let edits = made.as_deref().or(edits.edits.as_deref()).or(known);
            let file = RecentFile::new(path, source, edits);
            self.preferences.settings.opened(file);
        }
    }

    /// Reads the previous file.
    pub(super) fn read_previous(&mut self) {
        let now = self.options.source.path.as_ref();
        let now = now.map(|path| settings::absolute(path));
        let recent = || self.preferences.settings.recent.iter().map(|file| &file.path);
        let others = || recent().filter(|path| Some(*path) != now.as_ref());
        // If all are missing, reading one reports the error.
        let is_there = |path: &&PathBuf| address::of(path).is_some() || path.exists();
        match others().find(is_there).or_else(|| others().next()) {
            Some(path) => self.read(path.clone()),
            None => self.session.say("there is no previous file"),
        }
    }

    /// Says that another program has changed the file.
    pub(super) fn file_changed(&mut self, name: &str) {
        let advice = match self.session.saver().edits_file() {
            None => ": F5 loads it again",
            Some(_) => "; the edits belong to what is shown",
        };
        self.session.say(format!("{name} has changed on disk{advice}"));
        self.screen.redraw();
    }

    /// Starts a thread that reads the file again; it is shown from the same camera.
    pub(super) fn reload(&mut self) {
        if self.options.source.path.is_none() {
            return self.session.say("this world comes from no file");
        }
        if let Some(name) = self.reader.loading() {
            return self.session.say(format!("wait until {name} is loaded"));
        }
        if self.options.source.path.as_deref().is_some_and(StoredWorld::is_stored) {
            return self.session.say("this world is already open");
        }
        // Edits belong to the content that they were made in.
        if let Some(edits) = self.session.saver().edits_file() {
            let edits = edits.display();
            let line = format!("not loaded again: the edits in {edits} belong to what is shown");
            return self.session.say(line);
        }
        if self.may_leave() {
            self.reader.start(self.current_options(), self.settings());
        }
    }

    /// Starts a thread that reads another frame of the file; it is shown from the same camera. The
    /// last frame is before the first one.
    pub(super) fn step_frame(&mut self, by: i32) {
        let count = self.session.stage().and_then(|stage| stage.data()).map_or(1, |data| {
            let source: &dyn Any = data.source();
            let below: &dyn Any =
                source.downcast_ref::<EditedSource>().map_or(source, |it| it.source());
            below.downcast_ref::<VoxFile>().map_or(1, |vox| vox.summary().frame_count)
        });
        if count < 2 {
            return self.session.say("only animated .vox files have frames");
        }
        if self.session.saver().edits_file().is_some() || self.options.edits.edits.is_some() {
            return self
                .session
                .say("this frame has edits; --frame N --no-edits opens another one");
        }
        if self.reader.loading().is_some() || !self.may_leave() {
            return;
        }
        let frame = i64::from(self.options.source.frame) + i64::from(by);
        let mut options = self.current_options();
        options.source.frame = frame.rem_euclid(i64::from(count)) as u32;
        // A frame with edits could not be left by steps.
        options.edits.saved = SavedEdits::Ignored;
        self.reader.start(options, self.settings());
    }

    /// Starts a thread that reads a file; it is shown when complete.
    pub(super) fn read(&mut self, path: PathBuf) {
        self.screen.redraw();
        if let Some(name) = self.reader.loading() {
            let line = format!("wait until {name} is loaded");
            return self.session.say(line);
        }
        // A second reader could not open a world or edits that this program writes.
        let is_written = self.session.saver().edits_file().is_some();
        if (is_written || StoredWorld::is_stored(&path)) && self.shows(&path) {
            return self.session.say("this world is already open");
        }
        if !self.may_leave() {
            return;
        }
        self.note_source();
        let file = self.preferences.settings.recent_file(&path);
        let shown = self.current_options();
        let options = options_for(file, &shown, self.reader.levels);
        if let Some(problem) = options.conflict() {
            return self.session.say(problem);
        }
        // Current values, whether chosen in the viewer or set on the command line.
        let (renderer, ambient_occlusion) = (shown.drawing.renderer, shown.detail.ao.is_used());
        let settings = Settings { renderer, ambient_occlusion, ..self.settings() };
        self.reader.start(options, settings);
    }

    /// Reads a dropped file. Of several, which arrive one by one, the first is read.
    pub(super) fn read_dropped(&mut self, path: PathBuf) {
        match self.reader.loading() {
            Some(name) => {
                let line = format!("one file is opened at a time; reading {name}");
                self.session.messages().add(MessageKind::Result, line);
            }
            None => self.read(path),
        }
        self.after_action();
    }

    /// Shows a line about the content, in place of the hint at the start.
    pub(super) fn show_note(&mut self, note: Option<Note>) {
        note.into_iter().for_each(|(kind, line)| self.session.messages().show(kind, line));
    }

    /// Whether `path` is the current file.
    fn shows(&self, path: &Path) -> bool {
        let real = |path: &Path| fs::canonicalize(path).ok();
        let shown = self.options.source.path.as_deref();
        shown.is_some_and(|shown| real(shown).is_some() && real(shown) == real(path))
    }

    /// Shows loaded content in place of the current one.
    pub(super) fn show(&mut self, event_loop: &ActiveEventLoop, opened: Opened) {
        let before = self.reader.end();
        let is_first = mem::replace(&mut self.reader.awaits_first, false);
        // Edits made while it was read.
        if !self.may_leave() {
            return self.screen.redraw();
        }
        let Opened { options, content, note } = opened;
        let mut options = switched(options, &self.current_options());
        if !is_first {
            // For the first file, no renderer was chosen in the viewer.
            options = with_renderer(options, self.session.requested_renderer(), &content);
        }
        self.status = Status::new(content.name());
        // The old device is closed first: a window has one device at a time.
        let last = self.session.replace(content, &session_options(&options));
        let is_same = is_same_file(&options, &self.options) && !is_first;
        let walks = last.camera().kind() == CameraKind::Walk;
        if is_same {
            self.session.look_from(&last);
        }
        drop(last);
        (self.options, self.saving) = (options, Saving::new());
        self.end_editing();
        self.note_source();
        self.reader.watch(self.options.source.path.as_deref(), before);
        let opened = self.open_device(event_loop);
        match (&opened, is_same) {
            (Ok(()), false) => self.restore_camera(),
            (Ok(()), true) => self.restore_flight(walks.then_some(CameraKind::Walk)),
            (Err(_), _) => {}
        }
        self.overlay.content_changed();
        match opened {
            Ok(()) if is_first => self.show_hint(),
            Ok(()) => {
                let name = format!("opened {}", file_name(self.session.name()));
                self.session.messages().add(MessageKind::Result, name);
            }
            Err(error) => self.stop(event_loop, error),
        }
        self.show_note(note);
    }
}

#[cfg(test)]
mod tests {
    use drystone::{Content, scene::BackendKind};
    use drystone_render::Cull;

    use super::*;
    use crate::cli::{self, Tint};

    /// Options for voxels are not applied to a model that is opened next; options for all voxels
    /// are kept.
    #[test]
    fn options_of_voxels_are_not_applied_to_models() {
        let words = ["drystone", "a.vox", "--tint", "levels", "--levels", "on"];
        let Ok(request_options) = cli::parse(words.map(Into::into)) else { panic!("options") };
        let mut shown = request_options.scene;
        shown.detail.ao = OcclusionKind::On;
        let [model, voxels] = ["b.obj", "b.vox"].map(|name| {
            let options = options_for(RecentFile::of(name.into()), &shown, LevelsKind::On);
            assert_eq!(options.conflict(), None, "{name}");
            options
        });
        assert_eq!((model.air.tint, model.detail.levels), (None, LevelsKind::Auto));
        assert_eq!((voxels.air.tint, voxels.detail.levels), (Some(Tint::Levels), LevelsKind::On));
    }

    /// Switches used while a file is read stay when it appears.
    #[test]
    fn switches_used_while_a_file_is_read_stay() {
        let Ok(request_options) = cli::parse(["drystone", "a.vox"].map(Into::into)) else {
            panic!()
        };
        let mut shown = request_options.scene;
        let [voxels, model] = ["b.vox", "b.obj"]
            .map(|name| options_for(RecentFile::of(name.into()), &shown, LevelsKind::Auto));
        (shown.drawing.backend, shown.drawing.cull) = (BackendKind::Gl, Cull::Gpu);
        (shown.air.wire, shown.air.tint, shown.air.hour) = (true, Some(Tint::Levels), Some(6.5));
        for (read, tint) in [(voxels, Some(Tint::Levels)), (model, None)] {
            let read = switched(read, &shown);
            assert_eq!((read.drawing.backend, read.drawing.cull), (BackendKind::Gl, Cull::Gpu));
            assert_eq!((read.air.wire, read.air.tint, read.air.hour), (true, tint, Some(6.5)));
            assert_eq!(read.conflict(), None);
            let content = Content::empty("b", read.detail.memory_budget().into());
            let read = with_renderer(read, RendererKind::Naive, &content);
            assert_eq!(read.drawing.renderer, RendererKind::Naive);
        }
    }

    /// A haze distance is dropped with its scene; a larger scene would vanish in it.
    #[test]
    fn a_haze_distance_is_not_applied_to_another_file() {
        for (haze, expected) in [(Haze::Distance(50.0), None), (Haze::Off, Some(Haze::Off))] {
            let Ok(request_options) = cli::parse(["drystone", "a.vox"].map(Into::into)) else {
                panic!()
            };
            let mut shown = request_options.scene;
            shown.air.haze = Some(haze);
            let options = options_for(RecentFile::of("b.vox".into()), &shown, LevelsKind::Auto);
            assert_eq!(options.air.haze, expected);
        }
    }
}
