//! Reading of files by threads, while the window keeps drawing. The first file is waited for
//! briefly, so that an error in it appears on the terminal without a window.

use std::{
    panic::{self, AssertUnwindSafe},
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use drystone::{Content, MessageKind, Progress, scene::RendererKind};
use drystone_store::StoredWorld;
use rayon::ThreadPoolBuilder;
use rfd::AsyncFileDialog;

use super::Opened;
use super::{
    signals::{WindowRequest, WindowRequests},
    watch::{FileWatch, Stamp},
};
use crate::{
    AppError, address,
    cli::{LevelsKind, OcclusionKind, SaveArgs, SceneOptions},
    settings::Settings,
    source,
};

impl Opened {
    /// Reads the content that the options name. Renderer and ambient occlusion come from `settings`
    /// unless the command line sets them, if the content allows it.
    ///
    /// # Cost
    /// Reading a world on all cores, in threads of its own.
    fn read(
        options: SceneOptions,
        save: &SaveArgs,
        settings: &Settings,
        progress: &Progress,
    ) -> Result<Self, AppError> {
        on_reader_threads(|| {
            let (opened, note) = source::open_to_edit(&options, save)?;
            Ok(Self { note, ..Self::read_opened(opened, options, settings, progress)? })
        })
    }

    fn read_opened(
        opened: drystone_world::Opened,
        mut options: SceneOptions,
        settings: &Settings,
        progress: &Progress,
    ) -> Result<Self, AppError> {
        let content = source::read(opened, &options, progress)?.in_pieces();
        if !options.drawing.is_renderer_explicit {
            options = with_renderer(options, settings.renderer, &content);
        }
        if options.detail.ao == OcclusionKind::Auto && !settings.ambient_occlusion {
            options.detail.ao = OcclusionKind::Off;
        }
        Ok(Self { options, content, note: None })
    }
}

/// Runs `read` on a thread pool of its own, one thread per core, and waits for it.
///
/// The window's thread edits on rayon's global threads. If files were read there,
/// a millisecond of its work could wait for a whole file.
///
/// # Errors
/// If the system cannot start threads.
fn on_reader_threads<T: Send>(
    read: impl FnOnce() -> Result<T, AppError> + Send,
) -> Result<T, AppError> {
    let threads = ThreadPoolBuilder::new().thread_name(|number| format!("read-{number}")).build();
    let no_threads = |error| AppError::NotRead(format!("cannot start threads: {error}"));
    threads.map_err(no_threads)?.install(read)
}

/// Returns the options if they go together.
fn fitting(options: SceneOptions) -> Option<SceneOptions> {
    options.conflict().is_none().then_some(options)
}

/// Returns the options with another renderer, if that can draw the content.
pub(super) fn with_renderer(
    options: SceneOptions,
    renderer: RendererKind,
    content: &Content,
) -> SceneOptions {
    let is_cubes = matches!(renderer, RendererKind::Instanced(_));
    if is_cubes && !matches!(content, Content::Voxels(_, limits) if !limits.has_levels()) {
        return options;
    }
    let mut with_renderer = options.clone();
    with_renderer.drawing.renderer = renderer;
    fitting(with_renderer).unwrap_or(options)
}

/// Initial state of the viewer.
pub(super) enum First {
    /// Content to show, and its file before it was read.
    Ready(Box<Opened>, Option<Stamp>),
    /// A thread still reads what these options name.
    Later(Box<SceneOptions>, Loading, Receiver<Result<Opened, AppError>>),
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
        let (thread_options, save, settings) = (options.clone(), save.clone(), settings.clone());
        let loading = Loading::begin(options.source.path.as_deref());
        let thread_progress = Arc::clone(&loading.progress);
        thread::spawn(move || {
            let read = Opened::read(thread_options, &save, &settings, &thread_progress);
            // If the program has ended, the content is dropped.
            let _ = sender.send(read);
        });
        match receiver.recv_timeout(MAX_WAIT) {
            Ok(read) => Ok(Self::Ready(Box::new(read?), loading.before)),
            Err(RecvTimeoutError::Timeout) => Ok(Self::Later(Box::new(options), loading, receiver)),
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

/// Starts threads that read files and send them to the viewer.
pub(super) struct Reader {
    /// Options for saving edits of what is read.
    pub(super) save: SaveArgs,
    /// Requested levels of detail, for the next files.
    pub(super) levels: LevelsKind,
    requests: WindowRequests,
    /// File that a thread reads.
    loading: Option<Loading>,
    /// Watches the file that is shown.
    watch: FileWatch,
    /// Whether the first file is still being read and nothing is shown.
    pub(super) awaits_first: bool,
}

/// File that a thread reads.
pub(super) struct Loading {
    pub(super) name: String,
    progress: Arc<Progress>,
    path: Option<PathBuf>,
    /// The file before it was read.
    before: Option<Stamp>,
}

impl Loading {
    /// Describes the file, before a thread reads it.
    fn begin(path: Option<&Path>) -> Self {
        let name = shown_name(path);
        let progress = Arc::new(Progress::new(format!("reading {name}")));
        Self { name, progress, path: path.map(Into::into), before: path.and_then(Stamp::of) }
    }
}

impl Reader {
    pub(super) fn new(save: SaveArgs, levels: LevelsKind, requests: WindowRequests) -> Self {
        Self {
            save,
            levels,
            requests,
            loading: None,
            watch: FileWatch::default(),
            awaits_first: false,
        }
    }

    /// Sends the first file to the viewer once it is read.
    pub(super) fn await_first(
        &mut self,
        loading: Loading,
        receiver: Receiver<Result<Opened, AppError>>,
    ) {
        self.loading = Some(loading);
        self.awaits_first = true;
        let requests = self.requests.clone();
        thread::spawn(move || {
            let request = match receiver.recv() {
                Ok(Ok(opened)) => WindowRequest::Show(Box::new(opened)),
                Ok(Err(error)) => WindowRequest::Fail(error),
                Err(_) => WindowRequest::Fail(AppError::NotRead(READER_FAILED.into())),
            };
            requests.send(request);
        });
    }

    /// Starts a thread that reads the content and sends it to the viewer.
    pub(super) fn start(&mut self, options: SceneOptions, settings: Settings) {
        let loading = Loading::begin(options.source.path.as_deref());
        let progress = Arc::clone(&loading.progress);
        self.loading = Some(loading);
        let (save, requests) = (self.save.clone(), self.requests.clone());
        thread::spawn(move || {
            // The thread shares only its progress with the viewer.
            let read = AssertUnwindSafe(|| Opened::read(options, &save, &settings, &progress));
            let request = match panic::catch_unwind(read) {
                Ok(Ok(opened)) => WindowRequest::Show(Box::new(opened)),
                Ok(Err(error)) => WindowRequest::NotRead(error.to_string()),
                Err(_) => {
                    WindowRequest::NotRead(AppError::NotRead(READER_FAILED.into()).to_string())
                }
            };
            requests.send(request);
        });
    }

    /// Records that the file was read. Returns its state before.
    pub(super) fn end(&mut self) -> Option<Stamp> {
        self.loading.take().and_then(|loading| loading.before)
    }

    /// Records that reading failed. The file that is still shown is watched again if it was that one;
    /// a watch ends with its report.
    pub(super) fn end_failed(&mut self, shown: Option<&Path>) {
        if let Some(loading) = self.loading.take().filter(|it| it.path.as_deref() == shown) {
            self.watch(shown, loading.before);
        }
    }

    /// Watches a file that is shown now, in place of the last one, for changes since the state `before`
    /// it was read. Stored worlds are not watched: this program writes them itself. A file at an address
    /// that changes is reported by its source.
    pub(super) fn watch(&mut self, path: Option<&Path>, before: Option<Stamp>) {
        let path = path.filter(|path| address::of(path).is_none() && !StoredWorld::is_stored(path));
        let requests = self.requests.clone();
        self.watch = path.map_or_else(FileWatch::default, |path| {
            let name = name_of(path);
            FileWatch::start(path.into(), before, FileWatch::INTERVAL, move || {
                requests.send(WindowRequest::FileChanged(name));
            })
        });
    }

    /// Opens a file dialog in a thread.
    pub(super) fn ask_for_file(&self) {
        let requests = self.requests.clone();
        let title = "Open a .vox, .qb, .mca, height map, polygon model, stored or packed world";
        let (dialog, start) = (AsyncFileDialog::new().set_title(title).pick_file(), Instant::now());
        thread::spawn(move || {
            let request = match pollster::block_on(dialog) {
                Some(file) => WindowRequest::Read(PathBuf::from(file.path())),
                None if start.elapsed() < NO_DIALOG => {
                    WindowRequest::Message(MessageKind::Problem, NO_DIALOG_HINT.into())
                }
                None => return,
            };
            requests.send(request);
        });
    }

    /// Returns the name of the file that a thread reads.
    pub(super) fn loading(&self) -> Option<&str> {
        self.loading.as_ref().map(|loading| loading.name.as_str())
    }

    /// Returns the progress of reading.
    pub(super) fn progress(&self) -> Option<&Arc<Progress>> {
        self.loading.as_ref().map(|loading| &loading.progress)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            Arc, Condvar, Mutex,
            mpsc::{self, Sender},
        },
        thread,
        time::Duration,
    };

    use drystone::{Progress, scene};
    use drystone_formats::{Source, SourceError};
    use drystone_voxel::{Chunk, ChunkPos, MaterialTable};
    use drystone_world::{GeneratedWorld, GeneratorConfig, World};

    use super::{Opened, on_reader_threads};
    use crate::{cli, settings::Settings};

    const MAX_WAIT: Duration = Duration::from_secs(20);

    /// Source whose chunks can be read once the gate opens.
    struct Gated {
        source: GeneratedWorld,
        is_open: Arc<(Mutex<bool>, Condvar)>,
        /// Reports each waiting chunk.
        waits: Mutex<Sender<()>>,
    }

    impl Source for Gated {
        fn name(&self) -> &str {
            self.source.name()
        }

        fn materials(&self) -> &MaterialTable {
            self.source.materials()
        }

        fn chunk_positions(&self) -> Vec<ChunkPos> {
            self.source.chunk_positions()
        }

        fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
            let _ = self.waits.lock().unwrap().send(());
            let (is_open, opened) = &*self.is_open;
            drop(opened.wait_while(is_open.lock().unwrap(), |is_open| !*is_open).unwrap());
            self.source.chunk(position)
        }
    }

    /// All reading threads block, and the window still meshes a world.
    #[test]
    fn the_window_works_while_a_file_is_read() {
        let config = GeneratorConfig::default().with_size_chunks([4, 4, 4]);
        let source = GeneratedWorld::new(config).unwrap();
        let shown = World::load(&source).unwrap();
        let (waits, waiting) = mpsc::channel();
        let is_open = Arc::new((Mutex::new(false), Condvar::new()));
        let gated = Gated { source, is_open: Arc::clone(&is_open), waits: Mutex::new(waits) };
        let reader = thread::spawn(move || {
            let words = ["drystone", "--levels", "off"].map(Into::into);
            let Ok(parsed) = cli::parse(words) else { panic!("options") };
            let opened = drystone_world::Opened::Voxels(Box::new(gated));
            let (settings, progress) = (Settings::default(), Progress::default());
            on_reader_threads(|| Opened::read_opened(opened, parsed.scene, &settings, &progress))
                .is_ok()
        });
        for thread in 0..rayon::current_num_threads() {
            assert!(waiting.recv_timeout(MAX_WAIT).is_ok(), "{thread} threads read");
        }
        let (done, is_done) = mpsc::channel();
        thread::spawn(move || done.send(scene::mesh_world(&shown).len()));
        let meshed = is_done.recv_timeout(MAX_WAIT);
        // The file is read to its end, whatever the result of the meshing.
        *is_open.0.lock().unwrap() = true;
        is_open.1.notify_all();
        assert!(reader.join().unwrap());
        assert!(meshed.is_ok_and(|count| count > 0), "the window waited for the file");
    }
}
