//! The viewer in a real window, on a virtual screen.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use drystone_render::Image;
use drystone_world::{CommitPolicy, EditedSource, GeneratedWorld, GeneratorConfig};

use crate::program::{binary, scratch};

const SCREEN: &str = "800x600x24";
const PATIENCE: Duration = Duration::from_secs(60);

/// A virtual screen, gone when dropped.
struct Screen {
    server: Child,
    display: String,
}

impl Screen {
    /// `None` where there is no Xvfb.
    ///
    /// Without `-noreset` the server begins anew when its last client leaves, and refuses whoever
    /// comes meanwhile: here the viewer, right after a search for its window.
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

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env("DISPLAY", &self.display).env_remove("WAYLAND_DISPLAY");
        command
    }

    fn xdotool(&self, words: &[&str]) -> Option<String> {
        let output = self.command("xdotool").args(words).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    fn screenshot(&self, path: &Path) -> Image {
        let mut target = std::ffi::OsString::from("png32:");
        target.push(path);
        let status = self.command("import").args(["-window", "root"]).arg(target).status().unwrap();
        assert!(status.success(), "no screenshot");
        Image::load_png(path).unwrap()
    }

    /// Screenshots until two that follow each other are alike and not blank.
    fn settled(&self, path: &Path) -> Image {
        let start = Instant::now();
        let mut last = self.screenshot(path);
        while start.elapsed() < PATIENCE {
            sleep(Duration::from_millis(400));
            let next = self.screenshot(path);
            let blank = next.rgba().chunks_exact(4).all(|pixel| pixel == &next.rgba()[..4]);
            if !blank && next == last {
                return next;
            }
            last = next;
        }
        panic!("the window never settled: see {}", path.display());
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Kills the viewer when a test fails before it was closed.
struct Viewer(Child);

impl Drop for Viewer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Viewer {
    /// Waits for the viewer to end by itself; whether it did so without a failure.
    fn wait(&mut self) -> bool {
        self.exit_code() == Some(0)
    }

    /// Waits for the viewer to end by itself; `None` if it does not.
    fn exit_code(&mut self) -> Option<i32> {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status.code();
            }
            sleep(Duration::from_millis(50));
        }
        None
    }
}

/// Everything that a window test needs; says what is missing.
fn screen(test: &str) -> Option<Screen> {
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
    screen.xdotool(&["keydown", "w"]).unwrap();
    let start = Instant::now();
    sleep(Duration::from_millis(700));
    // Where a frame takes long, none may have been drawn meanwhile.
    let flown = folder.join("flown.png");
    let is_near = |flown: Image| before.difference(&flown, 8).unwrap().pixels < 640 * 480 / 10;
    while is_near(screen.screenshot(&flown)) && start.elapsed() < PATIENCE {
        sleep(Duration::from_millis(100));
    }
    screen.xdotool(&["keyup", "w", "keydown", "Left"]).unwrap();
    sleep(Duration::from_millis(300));
    screen.xdotool(&["keyup", "Left"]).unwrap();
    let after = screen.settled(&folder.join("after.png"));
    let moved = before.difference(&after, 8).unwrap().pixels;
    assert!(moved > 640 * 480 / 10, "only {moved} pixels changed");

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

/// A world that no memory holds: what is shown follows the eye.
#[test]
fn the_viewer_flies_through_a_vast_world() {
    let source = ["--chunks", "2000x4x2000", "--eye", "32000,140,32000"];
    let options = ["--look", "32100,60,32100", "--backend", "wgpu"];
    flies_through("the_viewer_flies_through_a_vast_world", &source, &options);
}

/// A model of hills, on the backends that there are.
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

/// The window of a viewer that was just started.
fn window_of(screen: &Screen, viewer: &mut Viewer) -> String {
    let start = Instant::now();
    loop {
        let found = screen.xdotool(&["search", "--name", "drystone"]);
        if let Some(window) = found.as_deref().and_then(|found| found.lines().next()) {
            return window.to_owned();
        }
        assert!(viewer.0.try_wait().unwrap().is_none(), "the viewer ended by itself");
        assert!(start.elapsed() < PATIENCE, "no window");
        sleep(Duration::from_millis(100));
    }
}

/// Waits until the title says this.
fn wait_for_title(screen: &Screen, window: &str, words: &str) {
    let start = Instant::now();
    loop {
        let title = screen.xdotool(&["getwindowname", window]).unwrap_or_default();
        if title.contains(words) {
            return;
        }
        assert!(start.elapsed() < PATIENCE, "no \"{words}\" in: {title}");
        sleep(Duration::from_millis(100));
    }
}

/// Removes, takes back, places, saves and leaves; opened again, the edit is there.
fn edits(test: &str, options: &[&str]) {
    let Some(screen) = screen(test) else { return };
    let folder = scratch(test);
    let edits = folder.join("edits.drystone");
    let open = || {
        // From above its middle: what is placed there makes the world no larger.
        let view = ["--size", "640x480", "--eye", "48,150,110", "--look", "48,45,48"];
        let mut command = screen.command(binary());
        command
            .args(["view", "--chunks", "3x4x3"])
            .args(view)
            .arg("--edits")
            .arg(&edits)
            .args(options);
        let mut viewer = Viewer(command.spawn().unwrap());
        let window = window_of(&screen, &mut viewer);
        (viewer, window)
    };
    let picture = |name: &str| screen.settled(&folder.join(name));
    let (mut viewer, window) = open();
    let before = picture("before.png");
    let key = |key: &str| drop(screen.xdotool(&["key", key]).expect("a key"));
    let click = |button: &str| {
        let words = ["mousemove", "--window", &window, "320", "240", "click", button];
        screen.xdotool(&words).expect("a click");
    };
    screen.xdotool(&["windowfocus", "--sync", &window]).expect("the window takes the focus");
    ["e", "b", "b", "bracketright"].into_iter().for_each(key);
    wait_for_title(&screen, &window, "edit: ball of 7");
    click("1");
    wait_for_title(&screen, &window, "voxels changed");
    let removed = picture("removed.png");
    assert!(before.difference(&removed, 8).unwrap().pixels > 100, "nothing was removed");
    key("ctrl+z");
    wait_for_title(&screen, &window, "taken back");
    assert!(picture("undone.png") == before, "undone");
    click("2");
    wait_for_title(&screen, &window, "picked");
    click("3");
    wait_for_title(&screen, &window, "voxels changed");
    key("ctrl+s");
    wait_for_title(&screen, &window, "| saved |");
    let after = picture("after.png");
    assert!(before.difference(&after, 8).unwrap().pixels > 100, "nothing was placed");
    // A second viewer of the same edits says who has them, and what to do.
    let mut held = screen.command(binary());
    let held = held.args(["view", "--chunks", "3x4x3", "--edits"]).arg(&edits).output().unwrap();
    let line = String::from_utf8_lossy(&held.stderr).into_owned();
    assert_eq!(held.status.code(), Some(1), "{line}");
    assert!(line.contains("edits.drystone") && line.contains("close it there"), "{line}");
    key("Escape");
    assert!(viewer.wait(), "Escape did not close the viewer");
    let (mut viewer, window) = open();
    assert!(picture("again.png") == after, "opened again");
    screen.xdotool(&["windowfocus", "--sync", &window, "key", "Escape"]).unwrap();
    assert!(viewer.wait());
}

#[test]
fn the_viewer_edits_and_saves() {
    edits("the_viewer_edits_and_saves", &["--backend", "soft"]);
}

/// The same at levels of detail, on the GPU.
#[test]
fn the_viewer_edits_levels_and_saves() {
    edits("the_viewer_edits_levels_and_saves", &["--backend", "wgpu", "--levels", "on"]);
}

/// Where no more can be written, it is said, the window stays once, and the exit code tells.
#[test]
fn the_viewer_does_not_lose_edits_silently() {
    let test = "the_viewer_does_not_lose_edits_silently";
    let Some(screen) = screen(test) else { return };
    let path = scratch(test).join("edits.drystone");
    let config = GeneratorConfig { size_chunks: [2, 4, 2], ..GeneratorConfig::default() };
    let source = Box::new(GeneratedWorld::new(config).unwrap());
    drop(EditedSource::open(source, &path, CommitPolicy::default()).unwrap());
    // Files end after 26 KB (blocks of 512 bytes): enough for pictures of a small window alone.
    let limit = "trap '' XFSZ; ulimit -S -f 52; exec \"$@\"";
    let mut command = screen.command("sh");
    command.args(["-c", limit, "sh"]).arg(binary()).args(["view", "--chunks", "2x4x2", "--edits"]);
    let view = ["--size", "64x48", "--backend", "soft", "--eye", "32,150,90", "--look", "32,45,32"];
    let command = command.arg(&path).args(view).stderr(Stdio::piped());
    let mut viewer = Viewer(command.spawn().unwrap());
    let window = window_of(&screen, &mut viewer);
    wait_for_title(&screen, &window, "commands");
    screen.xdotool(&["windowfocus", "--sync", &window, "key", "e"]).unwrap();
    wait_for_title(&screen, &window, "edit: voxel");
    screen.xdotool(&["mousemove", "--window", &window, "32", "24", "click", "1"]).unwrap();
    wait_for_title(&screen, &window, "NOT SAVED");
    let mut lines = BufReader::new(viewer.0.stderr.take().unwrap()).lines().map_while(Result::ok);
    let line = lines.next().unwrap();
    assert!(line.contains("edits are not saved") && line.contains("edits.drystone"), "{line}");
    screen.xdotool(&["key", "Escape"]).unwrap();
    let line = lines.next().unwrap();
    assert!(line.contains("close again to leave without"), "{line}");
    assert!(viewer.0.try_wait().unwrap().is_none(), "it stays open");
    screen.xdotool(&["key", "Escape"]).unwrap();
    assert_eq!(viewer.exit_code(), Some(1));
    assert!(lines.last().is_some_and(|line| line.contains("not saved")));
}
