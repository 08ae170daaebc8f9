//! The viewer in a real window, on a virtual screen.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use drystone_render::Image;
use x11rb::{
    connection::Connection,
    errors::ReplyError,
    protocol::{
        Event,
        xproto::{ChangeWindowAttributesAux, ClientMessageEvent, ConnectionExt as _, EventMask},
    },
};

use crate::program::{binary, scratch};

const SCREEN: &str = "800x600x24";
/// Time limit of a wait. Far longer than waits take, also while other programs use the processors.
pub(crate) const MAX_WAIT: Duration = Duration::from_secs(240);

/// Virtual screen, closed when dropped.
pub(crate) struct Screen {
    server: Child,
    display: String,
}

impl Screen {
    /// Starts Xvfb; `None` if it is not installed.
    ///
    /// Without `-noreset` the server restarts when its last client leaves, and refuses clients
    /// meanwhile: here the viewer, right after a search for its window.
    fn open() -> Option<Self> {
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-noreset", "-screen", "0", SCREEN, "-nolisten", "tcp"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut line = String::new();
        BufReader::new(server.stdout.take()?).read_line(&mut line).ok()?;
        Some(Self { server, display: format!(":{}", line.trim()) })
    }

    pub(crate) fn display(&self) -> &str {
        &self.display
    }

    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env("DISPLAY", &self.display).env_remove("WAYLAND_DISPLAY");
        // Settings of the user are neither read nor written.
        command.env("DRYSTONE_CONFIG", "");
        // Messages are read from the title, and do not change the pictures that are compared.
        command.env("DRYSTONE_FEEDBACK", "title");
        command
    }

    pub(crate) fn xdotool(&self, words: &[&str]) -> Option<String> {
        let output = self.command("xdotool").args(words).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Asks a window to close, as its button does.
    pub(crate) fn quit(&self, window: &str) {
        let (connection, _) = x11rb::connect(Some(self.display())).expect("a connection");
        send(&connection, window, "WM_DELETE_WINDOW").expect("an open window");
    }

    pub(crate) fn screenshot(&self, path: &Path) -> Image {
        let mut target = std::ffi::OsString::from("png32:");
        target.push(path);
        let status = self.command("import").args(["-window", "root"]).arg(target).status().unwrap();
        assert!(status.success(), "no screenshot");
        Image::load_png(path).unwrap()
    }

    /// Takes screenshots until the viewer is at rest, and two in a row are equal and not blank.
    pub(crate) fn settled(&self, path: &Path) -> Image {
        self.settled_where(path, |_| true)
    }

    /// Takes screenshots until the viewer is at rest, and two in a row are equal and differ from
    /// `before`.
    pub(crate) fn settled_unlike(&self, before: &Image, path: &Path) -> Image {
        self.settled_where(path, |next| next != before)
    }

    /// Waits until a tenth of the pixels has changed.
    fn wait_for_change(&self, before: &Image, path: &Path) {
        let (start, most) = (Instant::now(), 640 * 480 / 10);
        while before.difference(&self.screenshot(path), 8).unwrap().pixels < most {
            assert!(
                start.elapsed() < MAX_WAIT,
                "the picture does not change: see {}",
                path.display()
            );
            sleep(Duration::from_millis(100));
        }
    }

    fn settled_where(&self, path: &Path, is_it: impl Fn(&Image) -> bool) -> Image {
        let start = Instant::now();
        // While clicks edit, what is under the pointer is outlined.
        self.xdotool(&["mousemove", "799", "599"]).unwrap();
        let mut last = None;
        while start.elapsed() < MAX_WAIT {
            sleep(Duration::from_millis(200));
            if !self.is_at_rest() {
                last = None;
                continue;
            }
            let next = self.screenshot(path);
            let blank = next.rgba().chunks_exact(4).all(|pixel| pixel == &next.rgba()[..4]);
            if !blank && last.as_ref() == Some(&next) && is_it(&next) {
                return next;
            }
            last = Some(next);
        }
        panic!("the window never settled: see {}", path.display());
    }

    /// Whether the viewer has handled all input, and its title reports that no frame follows. A title
    /// without statistics reports nothing, and counts as rest.
    fn is_at_rest(&self) -> bool {
        let Some(window) = self.xdotool(&["search", "--name", "drystone"]) else { return false };
        let window = window.lines().next().unwrap_or_default();
        // The second answer comes after the frame that input before the first one requests.
        (0..2).all(|_| self.is_answered(window))
            && self.xdotool(&["getwindowname", window]).is_some_and(|title| {
                !title.starts_with("drystone |") || title.ends_with("| at rest")
            })
    }

    /// Sends a ping to a window, as window managers do, and waits for the answer. A window answers after
    /// it has handled earlier input.
    fn is_answered(&self, window: &str) -> bool {
        let (connection, number) = x11rb::connect(Some(self.display())).expect("a connection");
        let root = connection.setup().roots[number].root;
        let listen = ChangeWindowAttributesAux::new().event_mask(EventMask::SUBSTRUCTURE_NOTIFY);
        connection.change_window_attributes(root, &listen).unwrap().check().unwrap();
        // The window may have closed.
        let Ok(question) = send(&connection, window, "_NET_WM_PING") else { return false };
        let start = Instant::now();
        while start.elapsed() < MAX_WAIT {
            match connection.poll_for_event().unwrap() {
                Some(Event::ClientMessage(answer)) if answer.data.as_data32() == question => {
                    return true;
                }
                Some(_) => {}
                None => sleep(Duration::from_millis(5)),
            }
        }
        false
    }
}

/// Sends a window a message of window managers. Returns its data, which an answer repeats.
fn send(connection: &impl Connection, window: &str, message: &str) -> Result<[u32; 5], ReplyError> {
    let [protocols, message] = ["WM_PROTOCOLS", message]
        .map(|name| connection.intern_atom(false, name.as_bytes()).unwrap().reply().unwrap().atom);
    let window: u32 = window.parse().unwrap();
    let data = [message, x11rb::CURRENT_TIME, window, 0, 0];
    let event = ClientMessageEvent::new(32, window, protocols, data);
    connection.send_event(false, window, EventMask::NO_EVENT, event)?.check()?;
    Ok(data)
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Kills the viewer if a test fails before it was closed.
pub(crate) struct Viewer(pub(crate) Child);

impl Drop for Viewer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Viewer {
    /// Waits for the viewer to end; returns whether it succeeded.
    pub(crate) fn wait(&mut self) -> bool {
        self.exit_code() == Some(0)
    }

    /// Waits for the viewer to end; `None` if it does not.
    pub(crate) fn exit_code(&mut self) -> Option<i32> {
        let start = Instant::now();
        while start.elapsed() < MAX_WAIT {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status.code();
            }
            sleep(Duration::from_millis(50));
        }
        None
    }
}

/// Opens a virtual screen; prints a note if a tool is missing.
pub(crate) fn screen(test: &str) -> Option<Screen> {
    let screen = Screen::open();
    let missing = match &screen {
        None => "Xvfb",
        Some(screen) if screen.xdotool(&["version"]).is_none() => "xdotool",
        Some(screen) if screen.command("import").arg("-version").output().is_err() => {
            "import (ImageMagick)"
        }
        Some(_) => return screen,
    };
    println!("skipped: {test}: {missing} is not installed");
    None
}

/// Opens the viewer, flies, resizes, and closes it; the picture must have moved.
fn flies(test: &str, options: &[&str]) {
    flies_through(test, &["--chunks", "3x4x3"], options);
}

fn flies_through(test: &str, source: &[&str], options: &[&str]) {
    let Some(screen) = screen(test) else { return };
    let folder = scratch(test);
    let words = [&["view", "--size", "640x480"], source, options].concat();
    let mut viewer = Viewer(screen.command(binary()).args(words).spawn().unwrap());
    let window = window_of(&screen, &mut viewer);
    let before = screen.settled(&folder.join("before.png"));
    screen.xdotool(&["windowfocus", "--sync", &window]).expect("the window takes the focus");
    // Backwards, since the view ahead may be empty.
    screen.xdotool(&["keydown", "s"]).unwrap();
    screen.wait_for_change(&before, &folder.join("flying.png"));
    screen.xdotool(&["keyup", "s"]).unwrap();
    let flown = screen.settled(&folder.join("flown.png"));
    screen.xdotool(&["keydown", "Left"]).unwrap();
    screen.wait_for_change(&flown, &folder.join("turning.png"));
    screen.xdotool(&["keyup", "Left"]).unwrap();
    let after = screen.settled(&folder.join("after.png"));

    let title = screen.xdotool(&["getwindowname", &window]).unwrap();
    for word in ["ms", "commands", "vertices"] {
        assert!(title.contains(word), "{title}");
    }
    screen.xdotool(&["windowsize", "--sync", &window, "400", "300"]).unwrap();
    let small = screen.settled(&folder.join("small.png"));
    assert!(after.difference(&small, 8).unwrap().pixels > 10_000, "the window kept its size");
    screen.xdotool(&["windowfocus", "--sync", &window, "key", "Escape"]).unwrap();
    assert!(viewer.wait(), "Escape did not close the viewer");
}

#[test]
fn the_viewer_flies_on_wgpu() {
    flies("the_viewer_flies_on_wgpu", &["--backend", "wgpu"]);
}

#[test]
fn the_viewer_flies_where_the_gpu_culls() {
    let options = ["--backend", "wgpu", "--cull", "gpu"];
    flies("the_viewer_flies_where_the_gpu_culls", &options);
}

#[test]
fn the_viewer_flies_on_gl() {
    flies("the_viewer_flies_on_gl", &["--backend", "gl"]);
}

#[test]
fn the_viewer_flies_on_soft() {
    flies("the_viewer_flies_on_soft", &["--backend", "soft"]);
}

/// A world larger than memory: the meshes follow the camera.
#[test]
fn the_viewer_flies_through_a_vast_world() {
    let source = ["--chunks", "2000x4x2000", "--eye", "32000,140,32000"];
    let options = ["--look", "32100,60,32100", "--backend", "soft"];
    flies_through("the_viewer_flies_through_a_vast_world", &source, &options);
}

/// A model of hills, on the available backends.
#[test]
fn the_viewer_flies_around_a_model() {
    let folder = scratch("the_viewer_flies_around_a_model");
    let mut text = String::new();
    for (x, z) in (0..20).flat_map(|x| (0..20).map(move |z| (x, z))) {
        let height = (f64::from(x) * 0.7).sin() + (f64::from(z) * 0.5).cos();
        text += &format!("v {x} {height} {z}\n");
    }
    for (x, z) in (0..19).flat_map(|x| (1..20).map(move |z| (x, z))) {
        let first = x * 20 + z;
        text += &format!("f {} {} {} {}\n", first, first + 1, first + 21, first + 20);
    }
    let model = folder.join("hills.obj");
    std::fs::write(&model, text).unwrap();
    let source = [model.to_str().unwrap()];
    for backend in ["wgpu", "gl", "soft"] {
        let test = format!("the_viewer_flies_around_a_model_on_{backend}");
        flies_through(&test, &source, &["--backend", backend]);
    }
}

/// winit panics without the keyboard library, which is replaced by an invalid file here.
#[test]
fn without_the_keyboard_library_a_picture_is_drawn() {
    let test = "without_a_library_of_the_keyboard_a_picture_is_drawn";
    let Some(screen) = screen(test) else { return };
    let folder = scratch(test);
    let picture = folder.join("drystone.png");
    let _ = std::fs::remove_file(&picture);
    for name in ["libxkbcommon-x11.so.0", "libxkbcommon-x11.so"] {
        std::fs::write(folder.join(name), "no library").unwrap();
    }
    let mut command = screen.command(binary());
    command.args(["--chunks", "2x4x2", "--size", "64x48", "--backend", "soft"]);
    command.env("LD_LIBRARY_PATH", &folder).current_dir(&folder);
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !error.contains("panicked"), "{error}");
    assert!(
        error.contains("cannot open a window") && error.contains("libxkbcommon-x11.so"),
        "{error}"
    );
    assert_eq!(Image::load_png(&picture).unwrap().width(), 64);
}

/// Returns the window of a viewer that was just started.
pub(crate) fn window_of(screen: &Screen, viewer: &mut Viewer) -> String {
    let start = Instant::now();
    loop {
        let found = screen.xdotool(&["search", "--name", "drystone"]);
        if let Some(window) = found.as_deref().and_then(|found| found.lines().next()) {
            return window.to_owned();
        }
        assert!(viewer.0.try_wait().unwrap().is_none(), "the viewer ended by itself");
        assert!(start.elapsed() < MAX_WAIT, "no window");
        sleep(Duration::from_millis(100));
    }
}

/// Waits until the title contains these words.
pub(crate) fn wait_for_title(screen: &Screen, window: &str, words: &str) {
    let start = Instant::now();
    loop {
        let title = screen.xdotool(&["getwindowname", window]).unwrap_or_default();
        if title.contains(words) {
            return;
        }
        assert!(start.elapsed() < MAX_WAIT, "no \"{words}\" in: {title}");
        sleep(Duration::from_millis(100));
    }
}
