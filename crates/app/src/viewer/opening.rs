//! Files are read by threads. The window that shows another goes on meanwhile; the first is
//! waited for a moment, so that a wrong file is an error on the terminal and no window.

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

use drystone::scene::{ChunkQuads, KeptBy, RendererKind};
use drystone_voxel::MaterialTable;
use drystone_world::{Source, StoredWorld, World};
use rfd::AsyncFileDialog;
use winit::event_loop::ActiveEventLoop;

use super::{
    Viewer,
    reading::beside_the_window,
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

/// What was read of a file, ready to be shown.
pub(super) struct Loaded {
    pub(super) options: SceneOptions,
    pub(super) content: Content,
    pub(super) kept_by: KeptBy,
    pub(super) quads: Vec<ChunkQuads>,
}

impl Loaded {
    /// Reads what the options name, from a source of it that is open already, if there is one; what
    /// they do not say is as `settings` have it, as far as such content can be shown so.
    ///
    /// # Cost
    /// Reading a world, and meshing it on all cores, by threads that nothing else waits for.
    pub(super) fn read(
        asked: (SceneOptions, Option<Arc<dyn Source>>),
        save: &SaveArgs,
        settings: &Settings,
        progress: &Progress,
    ) -> Result<Self, AppError> {
        beside_the_window(|| Self::read_here(asked, save, settings, progress))
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
        let (content, kept_by) = Content::open(&options, open, progress)?;
        if !options.is_renderer_explicit {
            options = with_renderer(options, settings.renderer, &content);
        }
        if settings.darkens_corners && matches!(content, Content::World(_)) {
            options = fitting(SceneOptions { ao: true, ..options.clone() }).unwrap_or(options);
        }
        let quads = content.quads(options.meshing(), progress);
        Ok(Self { options, content, kept_by, quads })
    }
}

/// What the viewer begins with.
pub(super) enum First {
    /// Something to show.
    Ready(Box<Loaded>),
    /// A thread still reads what these options name.
    Later(Box<SceneOptions>, Arc<Progress>, Receiver<Result<Loaded, AppError>>),
}

/// A window that opened sooner would show a bar that nobody has time to read.
const PATIENCE: Duration = Duration::from_millis(400);

impl First {
    /// Has a thread read what the options name, and waits for it a moment.
    ///
    /// # Errors
    /// Those of the file, where they are found so soon.
    pub(super) fn read(
        options: SceneOptions,
        save: &SaveArgs,
        settings: &Settings,
    ) -> Result<Self, AppError> {
        let (sender, receiver) = mpsc::channel();
        let (asked, save, settings) = (options.clone(), save.clone(), settings.clone());
        let progress = Arc::new(reading(options.source.path.as_deref()));
        let told = Arc::clone(&progress);
        thread::spawn(move || {
            // Whoever ended meanwhile waits no more.
            let _ = sender.send(Loaded::read((asked, None), &save, &settings, &told));
        });
        match receiver.recv_timeout(PATIENCE) {
            Ok(read) => Ok(Self::Ready(Box::new(read?))),
            Err(RecvTimeoutError::Timeout) => {
                Ok(Self::Later(Box::new(options), progress, receiver))
            }
            Err(RecvTimeoutError::Disconnected) => Err(AppError::NotRead(READER_FAILED.into())),
        }
    }
}

/// A thread that panicked has said where.
const READER_FAILED: &str = "the program failed; please report it";

/// Nobody closes a dialog as fast as that: there was none. What shows them does not say so.
const NO_DIALOG: Duration = Duration::from_millis(400);
const NO_DIALOG_HINT: &str = "no file dialog here (it takes the desktop's portal, or zenity): drop \
    the file on the window, or name it on the command line";

/// A file's name to be shown.
fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// The name of what is read.
fn shown_name(path: Option<&Path>) -> String {
    path.map_or("the world".into(), name_of)
}

/// That it is being read.
fn reading(path: Option<&Path>) -> Progress {
    Progress::new(format!("reading {}", shown_name(path)))
}

/// The options, if they go together.
fn fitting(options: SceneOptions) -> Option<SceneOptions> {
    options.conflict().is_none().then_some(options)
}

/// The options with another renderer, if that can draw the content.
fn with_renderer(options: SceneOptions, renderer: RendererKind, content: &Content) -> SceneOptions {
    let is_cubes = matches!(renderer, RendererKind::Instanced(_));
    if is_cubes && !matches!(content, Content::World(_)) {
        return options;
    }
    fitting(SceneOptions { renderer, ..options.clone() }).unwrap_or(options)
}

/// The options that a file was `read` with, and what was switched meanwhile in what is `shown`.
fn switched(read: SceneOptions, shown: &SceneOptions) -> SceneOptions {
    let LookArgs { hour, tint, wire, .. } = shown.air;
    let tint = tint.filter(|_| read.source.model_path().is_none());
    let air = LookArgs { hour, tint, wire, ..read.air.clone() };
    SceneOptions { backend: shown.backend, cull: shown.cull, air, ..read }
}

/// The options for another file than is shown, or for the same once more: how it was opened before
/// is part of `file`, what is said of the one that is shown is not said of it, and how it is drawn
/// depends on what it is.
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
    // A distance suits the size of one scene: in a larger one it would hide everything.
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
    /// A viewer of what was read; where that is not yet done, of nothing until it is.
    pub(super) fn begin(
        first: First,
        save: SaveArgs,
        settings: Settings,
        wishes: WindowRequests,
    ) -> Self {
        let (options, progress, receiver) = match first {
            First::Ready(loaded) => return Self::new(*loaded, save, settings, wishes),
            First::Later(options, progress, receiver) => (*options, progress, receiver),
        };
        let name = shown_name(options.source.path.as_deref());
        let content = Content::World(Box::new(World::new(&name, MaterialTable::new())));
        let nothing = Loaded { options, content, kept_by: KeptBy::Nobody, quads: Vec::new() };
        let mut viewer = Self::new(nothing, save, settings, wishes.clone());
        viewer.overlay.set_progress(Some(progress));
        (viewer.loading, viewer.awaits_first) = (Some(name), true);
        thread::spawn(move || {
            let wish = match receiver.recv() {
                Ok(Ok(loaded)) => WindowRequest::Show(Box::new(loaded)),
                Ok(Err(error)) => WindowRequest::Fail(error),
                Err(_) => WindowRequest::Fail(AppError::NotRead(READER_FAILED.into())),
            };
            wishes.send(wish);
        });
        viewer
    }

    /// What is to be remembered.
    pub(super) fn settings(&self) -> Settings {
        Settings { shows_panels: self.overlay.shows_panels(), ..self.settings.clone() }
    }

    /// Remembers the file that is shown, with its options and with the file that keeps its edits,
    /// which may have been made since it was opened.
    pub(super) fn note_source(&mut self) {
        let SceneOptions { source, edits, .. } = &self.options;
        let made = self.editing.editor.saver().edits_file();
        if let Some(path) = &source.path {
            let file = RecentFile::new(path, source, made.as_deref().or(edits.edits.as_deref()));
            self.settings.opened(file);
        }
    }

    /// Asks for a file, while the window goes on.
    pub(super) fn ask_for_file(&mut self) {
        let wishes = self.wishes.clone();
        let title = "A .vox, .mca, height map, polygon model or stored world";
        let (asked, start) = (AsyncFileDialog::new().set_title(title).pick_file(), Instant::now());
        thread::spawn(move || {
            let wish = match pollster::block_on(asked) {
                Some(file) => WindowRequest::Read(file.path().to_path_buf()),
                None if start.elapsed() < NO_DIALOG => WindowRequest::Say(NO_DIALOG_HINT.into()),
                None => return,
            };
            wishes.send(wish);
        });
    }

    /// Reads the file that was open before this one.
    pub(super) fn read_previous(&mut self) {
        let now = self.options.source.path.as_ref();
        let now = now.and_then(|path| std::path::absolute(path).ok());
        let recent = || self.settings.recent.iter().map(|file| &file.path);
        let others = || recent().filter(|path| Some(*path) != now.as_ref());
        // Where all are gone, reading tells what is wrong with one.
        match others().find(|path| path.exists()).or_else(|| others().next()) {
            Some(path) => self.read(path.clone()),
            None => self.say("no other file was open before"),
        }
    }

    /// Has a thread read a file, which is shown when that is done.
    pub(super) fn read(&mut self, path: PathBuf) {
        self.redraw();
        if let Some(name) = &self.loading {
            let line = format!("wait until {name} is read");
            return self.say(&line);
        }
        // Its edits would be another program's to the second reader.
        let is_written = self.editing.editor.saver().edits_file().is_some();
        if (is_written || StoredWorld::is_stored(&path)) && self.shows(&path) {
            return self.say("that world is shown");
        }
        if !self.may_leave() {
            return;
        }
        self.note_source();
        let mut file = self.settings.recent_file(&path);
        // Nothing makes the file of edits where nothing is edited.
        file.edits = file.edits.filter(|edits| !self.save.read_only || edits.exists());
        let options = options_for(file, &self.options, self.levels_said);
        if let Some(problem) = options.conflict() {
            return self.say(problem);
        }
        // As it is now, whether that was chosen or said.
        let (renderer, darkens_corners) = (self.options.renderer, self.options.ao);
        let settings = Settings { renderer, darkens_corners, ..self.settings() };
        self.start_reading((options, None), settings);
    }

    /// Has a thread read what the options name, from a source that is open already, if there is
    /// one, and send it.
    pub(super) fn start_reading(
        &mut self,
        asked: (SceneOptions, Option<Arc<dyn Source>>),
        settings: Settings,
    ) {
        let path = asked.0.source.path.as_deref();
        let progress = Arc::new(reading(path));
        self.overlay.set_progress(Some(Arc::clone(&progress)));
        self.loading = Some(shown_name(path));
        // Before the thread looks: what the source takes from now on may be in it or not.
        self.before = (self.editing.changes, self.editing.editor.saver().lacked_count());
        let (save, wishes) = (self.save.clone(), self.wishes.clone());
        thread::spawn(move || {
            // With what is shown it shares the source alone, which may be asked on after that: as
            // `Source` demands. All else the thread has to itself.
            let read = AssertUnwindSafe(|| Loaded::read(asked, &save, &settings, &progress));
            let wish = match panic::catch_unwind(read) {
                Ok(Ok(loaded)) => WindowRequest::Show(Box::new(loaded)),
                Ok(Err(error)) => WindowRequest::NotRead(error.to_string()),
                Err(_) => {
                    WindowRequest::NotRead(AppError::NotRead(READER_FAILED.into()).to_string())
                }
            };
            wishes.send(wish);
        });
    }

    /// Whether it is the file that is shown.
    fn shows(&self, path: &Path) -> bool {
        let real = |path: &Path| fs::canonicalize(path).ok();
        let shown = self.options.source.path.as_deref();
        shown.is_some_and(|shown| real(shown).is_some() && real(shown) == real(path))
    }

    /// Shows what was read instead of what is shown.
    pub(super) fn show(&mut self, event_loop: &ActiveEventLoop, loaded: Loaded) {
        self.loading = None;
        let is_first = mem::replace(&mut self.awaits_first, false);
        self.overlay.set_progress(None);
        let is_read_again = mem::take(&mut self.is_read_again);
        // What was edited while it was read.
        if !self.may_leave() {
            return self.redraw();
        }
        if is_read_again {
            return self.show_again(loaded);
        }
        let Loaded { options, content, kept_by, quads } = loaded;
        let mut options = switched(options, &self.options);
        if !is_first {
            // Before, the one that draws nothing yet says nothing.
            options = with_renderer(options, self.wanted_renderer(), &content);
        }
        // The device goes before another comes to the same window.
        self.screen = None;
        (self.framed, self.clear_air) = (content.framed(), content.clear_air(&options));
        (self.view, self.walk) = (self.framed.view(&options), None);
        self.flight = self.framed.flight();
        self.status = Status::new(content.name());
        (self.options, self.content, self.quads) = (options, Some(content), Some(quads));
        (self.faults_noted, self.lags) = (0, false);
        self.editing.restart(kept_by, self.options.memory_budget());
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

    /// What is said of voxels is not said of the model that is opened after them; what is said of
    /// all voxels is said of others.
    #[test]
    fn files_have_no_options_that_they_cannot_have() {
        let words = ["drystone", "a.vox", "--tint", "levels", "--levels", "on"];
        let Ok(asked) = cli::parse(words.map(Into::into)) else { panic!("options") };
        let shown = SceneOptions { ao: true, ..asked.scene };
        let [model, voxels] = ["b.obj", "b.vox"].map(|name| {
            let options = options_for(RecentFile::of(name.into()), &shown, LevelsKind::On);
            assert_eq!(options.conflict(), None, "{name}");
            options
        });
        assert_eq!((model.air.tint, model.levels), (None, LevelsKind::Auto));
        assert_eq!((voxels.air.tint, voxels.levels), (Some(Tint::Levels), LevelsKind::On));
    }

    /// Keys work while a file is read, and what they did stays when it appears.
    #[test]
    fn what_is_switched_while_a_file_is_read_stays() {
        let Ok(asked) = cli::parse(["drystone", "a.vox"].map(Into::into)) else { panic!() };
        let mut shown = asked.scene;
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

    /// A haze distance belongs to the scene that it was chosen for; a larger one would vanish in it.
    #[test]
    fn another_file_has_the_haze_of_its_own_size() {
        for (haze, expected) in [(Haze::Distance(50.0), None), (Haze::Off, Some(Haze::Off))] {
            let Ok(asked) = cli::parse(["drystone", "a.vox"].map(Into::into)) else { panic!() };
            let mut shown = asked.scene;
            shown.air.haze = Some(haze);
            let options = options_for(RecentFile::of("b.vox".into()), &shown, LevelsKind::Auto);
            assert_eq!(options.air.haze, expected);
        }
    }
}
