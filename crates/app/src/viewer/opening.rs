//! Reading of files by threads, while the window keeps drawing. The first file is waited for
//! briefly, so that an error in it appears on the terminal without a window.

use std::{
    fs, mem,
    panic::{self, AssertUnwindSafe},
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use drystone::scene::{ChunkQuads, EditTarget, RendererKind};
use drystone_formats::Source;
use drystone_store::StoredWorld;
use drystone_voxel::MaterialTable;
use drystone_world::World;
use rfd::AsyncFileDialog;
use winit::event_loop::ActiveEventLoop;

use super::{
    Viewer,
    reading::on_reader_threads,
    signals::{WindowRequest, WindowRequests},
    status::Status,
};
use crate::{
    AppError,
    cli::{EditsArgs, Haze, LevelsKind, LookArgs, SaveArgs, SceneOptions},
    commands,
    content::Content,
    progress::Progress,
    settings::{RecentFile, Settings},
};

/// Content of a file, ready to be shown.
pub(super) struct Loaded {
    pub(super) options: SceneOptions,
    pub(super) content: Content,
    pub(super) edit_target: EditTarget,
    pub(super) quads: Vec<ChunkQuads>,
}

impl Loaded {
    /// Reads the content that the options name, from an open source if there is one. Renderer and
    /// ambient occlusion come from `settings` unless the command line sets them, if the content
    /// allows it.
    ///
    /// # Cost
    /// Reading a world and meshing it on all cores, in threads of its own.
    pub(super) fn read(
        request_options: (SceneOptions, Option<Arc<dyn Source>>),
        save: &SaveArgs,
        settings: &Settings,
        progress: &Progress,
    ) -> Result<Self, AppError> {
        on_reader_threads(|| Self::read_here(request_options, save, settings, progress))
    }

    fn read_here(
        (mut options, source): (SceneOptions, Option<Arc<dyn Source>>),
        save: &SaveArgs,
        settings: &Settings,
        progress: &Progress,
    ) -> Result<Self, AppError> {
        let open = || match source {
            Some(source) => Ok(source),
            None => commands::open_to_edit(&options, save).map(Arc::from),
        };
        let (content, edit_target) = Content::open(&options, open, progress)?;
        if !options.is_renderer_explicit {
            options = with_renderer(options, settings.renderer, &content);
        }
        if settings.darkens_corners && matches!(content, Content::World(_)) {
            options = fitting(SceneOptions { ao: true, ..options.clone() }).unwrap_or(options);
        }
        let quads = content.quads(options.meshing(), progress);
        Ok(Self { options, content, edit_target, quads })
    }
}

/// Initial state of the viewer.
pub(super) enum First {
    /// Content to show.
    Ready(Box<Loaded>),
    /// A thread still reads what these options name.
    Later(Box<SceneOptions>, Arc<Progress>, Receiver<Result<Loaded, AppError>>),
}

/// Time to wait for the first file before a window opens. Shorter, its progress bar would only
/// flicker.
const MAX_WAIT: Duration = Duration::from_millis(400);

impl First {
    /// Starts a thread that reads the content, and waits for it briefly.
    ///
    /// # Errors
    /// Errors of reading, if they occur within that time.
    pub(super) fn read(
        options: SceneOptions,
        save: &SaveArgs,
        settings: &Settings,
    ) -> Result<Self, AppError> {
        let (sender, receiver) = mpsc::channel();
        let (request_options, save, settings) = (options.clone(), save.clone(), settings.clone());
        let progress = Arc::new(reading(options.source.path.as_deref()));
        let thread_progress = Arc::clone(&progress);
        thread::spawn(move || {
            // If the program has ended, the content is dropped.
            let _ = sender.send(Loaded::read(
                (request_options, None),
                &save,
                &settings,
                &thread_progress,
            ));
        });
        match receiver.recv_timeout(MAX_WAIT) {
            Ok(read) => Ok(Self::Ready(Box::new(read?))),
            Err(RecvTimeoutError::Timeout) => {
                Ok(Self::Later(Box::new(options), progress, receiver))
            }
            Err(RecvTimeoutError::Disconnected) => Err(AppError::NotRead(READER_FAILED.into())),
        }
    }
}

/// Message after a panic of the reading thread, which has printed its own.
const READER_FAILED: &str = "an internal error occurred; please report it";

/// A dialog that closes faster than this never opened; the dialog library does not report that.
const NO_DIALOG: Duration = Duration::from_millis(400);
const NO_DIALOG_HINT: &str = "no file dialog (it needs the desktop portal or zenity); drop the file \
    on the window, or name it on the command line";

/// Returns a file's name for display.
fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Returns the name of the content for display.
fn shown_name(path: Option<&Path>) -> String {
    path.map_or("the world".into(), name_of)
}

/// Returns progress with the file's name.
fn reading(path: Option<&Path>) -> Progress {
    Progress::new(format!("reading {}", shown_name(path)))
}

/// Returns the options if they go together.
fn fitting(options: SceneOptions) -> Option<SceneOptions> {
    options.conflict().is_none().then_some(options)
}

/// Returns the options with another renderer, if that can draw the content.
fn with_renderer(options: SceneOptions, renderer: RendererKind, content: &Content) -> SceneOptions {
    let is_cubes = matches!(renderer, RendererKind::Instanced(_));
    if is_cubes && !matches!(content, Content::World(_)) {
        return options;
    }
    fitting(SceneOptions { renderer, ..options.clone() }).unwrap_or(options)
}

/// Returns the options that a file was `read` with, updated by the switches that were used in the
/// meantime.
fn switched(read: SceneOptions, shown: &SceneOptions) -> SceneOptions {
    let LookArgs { hour, tint, wire, .. } = shown.air;
    let tint = tint.filter(|_| read.source.model_path().is_none());
    let air = LookArgs { hour, tint, wire, ..read.air.clone() };
    SceneOptions { backend: shown.backend, cull: shown.cull, air, ..read }
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
        ao: false,
        air,
        renderer: RendererKind::Pool,
        is_renderer_explicit: false,
        levels: if is_model { LevelsKind::Auto } else { levels },
        source,
        edits: EditsArgs { edits: file.edits },
        eye: None,
        look: None,
        from: None,
        ..shown.clone()
    }
}

impl Viewer {
    /// Creates a viewer of the first file; empty until that is read.
    pub(super) fn begin(
        first: First,
        save: SaveArgs,
        settings: Settings,
        requests: WindowRequests,
    ) -> Self {
        let (options, progress, receiver) = match first {
            First::Ready(loaded) => return Self::new(*loaded, save, settings, requests),
            First::Later(options, progress, receiver) => (*options, progress, receiver),
        };
        let name = shown_name(options.source.path.as_deref());
        let content = Content::World(Box::new(World::new(&name, MaterialTable::new())));
        let nothing = Loaded { options, content, edit_target: EditTarget::None, quads: Vec::new() };
        let mut viewer = Self::new(nothing, save, settings, requests.clone());
        viewer.overlay.set_progress(Some(progress));
        (viewer.loading, viewer.awaits_first) = (Some(name), true);
        thread::spawn(move || {
            let request = match receiver.recv() {
                Ok(Ok(loaded)) => WindowRequest::Show(Box::new(loaded)),
                Ok(Err(error)) => WindowRequest::Fail(error),
                Err(_) => WindowRequest::Fail(AppError::NotRead(READER_FAILED.into())),
            };
            requests.send(request);
        });
        viewer
    }

    /// Returns the settings to save.
    pub(super) fn settings(&self) -> Settings {
        Settings { shows_panels: self.overlay.shows_panels(), ..self.settings.clone() }
    }

    /// Adds the current file to the recent files, with its options and the file of its edits.
    pub(super) fn note_source(&mut self) {
        let SceneOptions { source, edits, .. } = &self.options;
        let made = self.editing.editor.saver().edits_file();
        if let Some(path) = &source.path {
            let file = RecentFile::new(path, source, made.as_deref().or(edits.edits.as_deref()));
            self.settings.opened(file);
        }
    }

    /// Opens a file dialog in a thread.
    pub(super) fn ask_for_file(&mut self) {
        let requests = self.requests.clone();
        let title = "Open a .vox, .qb, .mca, height map, polygon model or stored world";
        let (dialog, start) = (AsyncFileDialog::new().set_title(title).pick_file(), Instant::now());
        thread::spawn(move || {
            let request = match pollster::block_on(dialog) {
                Some(file) => WindowRequest::Read(file.path().to_path_buf()),
                None if start.elapsed() < NO_DIALOG => {
                    WindowRequest::Message(NO_DIALOG_HINT.into())
                }
                None => return,
            };
            requests.send(request);
        });
    }

    /// Reads the previous file.
    pub(super) fn read_previous(&mut self) {
        let now = self.options.source.path.as_ref();
        let now = now.and_then(|path| std::path::absolute(path).ok());
        let recent = || self.settings.recent.iter().map(|file| &file.path);
        let others = || recent().filter(|path| Some(*path) != now.as_ref());
        // If all are missing, reading one reports the error.
        match others().find(|path| path.exists()).or_else(|| others().next()) {
            Some(path) => self.read(path.clone()),
            None => self.notify("there is no previous file"),
        }
    }

    /// Starts a thread that reads a file; it is shown when complete.
    pub(super) fn read(&mut self, path: PathBuf) {
        self.redraw();
        if let Some(name) = &self.loading {
            let line = format!("wait until {name} is loaded");
            return self.notify(&line);
        }
        // A second reader could not open a world or edits that this program writes.
        let is_written = self.editing.editor.saver().edits_file().is_some();
        if (is_written || StoredWorld::is_stored(&path)) && self.shows(&path) {
            return self.notify("this world is already open");
        }
        if !self.may_leave() {
            return;
        }
        self.note_source();
        let mut file = self.settings.recent_file(&path);
        // With `--read-only`, a file of edits is not created.
        file.edits = file.edits.filter(|edits| !self.save.read_only || edits.exists());
        let options = options_for(file, &self.options, self.requested_levels);
        if let Some(problem) = options.conflict() {
            return self.notify(problem);
        }
        // Current values, whether chosen in the viewer or set on the command line.
        let (renderer, darkens_corners) = (self.options.renderer, self.options.ao);
        let settings = Settings { renderer, darkens_corners, ..self.settings() };
        self.start_reading((options, None), settings);
    }

    /// Starts a thread that reads the content, from an open source if there is one, and sends it to
    /// the viewer.
    pub(super) fn start_reading(
        &mut self,
        request_options: (SceneOptions, Option<Arc<dyn Source>>),
        settings: Settings,
    ) {
        let path = request_options.0.source.path.as_deref();
        let progress = Arc::new(reading(path));
        self.overlay.set_progress(Some(Arc::clone(&progress)));
        self.loading = Some(shown_name(path));
        // Noted before the thread starts: later edits may be missing in what it reads.
        self.before = (self.editing.changes, self.editing.editor.saver().lacked_count());
        let (save, requests) = (self.save.clone(), self.requests.clone());
        thread::spawn(move || {
            // The thread shares only the source with the viewer, and `Source` allows reading it
            // concurrently. All other data is its own.
            let read =
                AssertUnwindSafe(|| Loaded::read(request_options, &save, &settings, &progress));
            let request = match panic::catch_unwind(read) {
                Ok(Ok(loaded)) => WindowRequest::Show(Box::new(loaded)),
                Ok(Err(error)) => WindowRequest::NotRead(error.to_string()),
                Err(_) => {
                    WindowRequest::NotRead(AppError::NotRead(READER_FAILED.into()).to_string())
                }
            };
            requests.send(request);
        });
    }

    /// Whether `path` is the current file.
    fn shows(&self, path: &Path) -> bool {
        let real = |path: &Path| fs::canonicalize(path).ok();
        let shown = self.options.source.path.as_deref();
        shown.is_some_and(|shown| real(shown).is_some() && real(shown) == real(path))
    }

    /// Shows loaded content in place of the current one.
    pub(super) fn show(&mut self, event_loop: &ActiveEventLoop, loaded: Loaded) {
        self.loading = None;
        let is_first = mem::replace(&mut self.awaits_first, false);
        self.overlay.set_progress(None);
        let is_reread = mem::take(&mut self.is_reread);
        // Edits made while it was read.
        if !self.may_leave() {
            return self.redraw();
        }
        if is_reread {
            return self.show_again(loaded);
        }
        let Loaded { options, content, edit_target, quads } = loaded;
        let mut options = switched(options, &self.options);
        if !is_first {
            // For the first file, no renderer was chosen in the viewer.
            options = with_renderer(options, self.requested_renderer(), &content);
        }
        // The old device is closed first: a window has one device at a time.
        self.screen = None;
        (self.framed, self.clear_air) = (content.framed(), content.clear_air(&options));
        (self.view, self.walk) = (self.framed.view(&options), None);
        self.flight = self.framed.flight();
        self.status = Status::new(content.name());
        (self.options, self.content, self.quads) = (options, Some(content), Some(quads));
        (self.faults_noted, self.lags) = (0, false);
        self.editing.restart(edit_target, self.options.memory_budget());
        self.capture_mouse(false);
        self.note_source();
        let Some(window) = self.window.clone() else { return };
        if let Err(error) = self.open_screen(event_loop, window) {
            self.stop(event_loop, error);
        }
    }
}

#[cfg(test)]
mod tests {
    use drystone::scene::BackendKind;
    use drystone_render::Cull;

    use super::*;
    use crate::cli::{self, Tint};

    /// Options for voxels are not applied to a model that is opened next; options for all voxels
    /// are kept.
    #[test]
    fn options_of_voxels_are_not_applied_to_models() {
        let words = ["drystone", "a.vox", "--tint", "levels", "--levels", "on"];
        let Ok(request_options) = cli::parse(words.map(Into::into)) else { panic!("options") };
        let shown = SceneOptions { ao: true, ..request_options.scene };
        let [model, voxels] = ["b.obj", "b.vox"].map(|name| {
            let options = options_for(RecentFile::of(name.into()), &shown, LevelsKind::On);
            assert_eq!(options.conflict(), None, "{name}");
            options
        });
        assert_eq!((model.air.tint, model.levels), (None, LevelsKind::Auto));
        assert_eq!((voxels.air.tint, voxels.levels), (Some(Tint::Levels), LevelsKind::On));
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
        (shown.backend, shown.cull) = (BackendKind::Gl, Cull::Gpu);
        (shown.air.wire, shown.air.tint, shown.air.hour) = (true, Some(Tint::Levels), Some(6.5));
        for (read, tint) in [(voxels, Some(Tint::Levels)), (model, None)] {
            let read = switched(read, &shown);
            assert_eq!((read.backend, read.cull), (BackendKind::Gl, Cull::Gpu));
            assert_eq!((read.air.wire, read.air.tint, read.air.hour), (true, tint, Some(6.5)));
            assert_eq!(read.conflict(), None);
            let content = Content::World(Box::new(World::new("b", MaterialTable::new())));
            let read = with_renderer(read, RendererKind::Naive, &content);
            assert_eq!(read.renderer, RendererKind::Naive);
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
