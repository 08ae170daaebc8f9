//! The viewer on a desktop of Wayland with two monitors of different scale.

use std::{
    ffi::OsString,
    fs,
    os::unix::{
        fs::{MetadataExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use drystone_render::Image;
use tempfile::TempDir;

use crate::{
    pictures::STRAY,
    program::{binary, drystone, scratch},
    window::{MAX_WAIT, Viewer},
};

/// Two monitors of the same size in points. Xwayland would take a display of X11.
const MONITORS: &str = "\
    xwayland disable\n\
    output HEADLESS-1 resolution 400x300 position 0 0 scale 1\n\
    output HEADLESS-2 resolution 800x600 position 400 0 scale 2\n\
    default_border none\n";
/// User and group of the compositor, which does not run as root.
const OTHER_USER: u32 = 65_534;

/// The compositor sway without a real screen, ended when dropped.
struct Desktop {
    server: Child,
    folder: TempDir,
}

impl Desktop {
    /// Starts the compositor, as another user instead of root.
    ///
    /// # Errors
    /// The reason, if root cannot hand files over to another user.
    fn open() -> Result<Self, String> {
        // A path in the target folder may be too long for a socket.
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("config");
        fs::write(&config, MONITORS).unwrap();
        let mut command = Command::new("sway");
        command.arg("-c").arg(&config);
        command.env("XDG_RUNTIME_DIR", folder.path()).env("HOME", folder.path());
        for name in ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "SWAYSOCK"] {
            command.env_remove(name);
        }
        command.env("WLR_BACKENDS", "headless").env("WLR_HEADLESS_OUTPUTS", "2");
        command.env("WLR_RENDERER", "pixman").env("WLR_LIBINPUT_NO_DEVICES", "1");
        let log = folder.path().join("log");
        command.stdout(Stdio::null()).stderr(fs::File::create(&log).unwrap());
        if fs::metadata(folder.path()).unwrap().uid() == 0 {
            for path in [folder.path(), &config] {
                chown(path, Some(OTHER_USER), Some(OTHER_USER))
                    .map_err(|error| error.to_string())?;
            }
            command.uid(OTHER_USER).gid(OTHER_USER);
        }
        let mut desktop = Self { server: command.spawn().unwrap(), folder };
        let start = Instant::now();
        while desktop.sway(&["-t", "get_outputs"]).is_none() {
            let ended = desktop.server.try_wait().unwrap();
            let text = || fs::read_to_string(&log).unwrap_or_default();
            assert!(ended.is_none() && start.elapsed() < MAX_WAIT, "{ended:?}: {}", text());
            sleep(Duration::from_millis(50));
        }
        Ok(desktop)
    }

    /// Returns the path of the socket whose name starts with `beginning`.
    fn socket(&self, beginning: &str) -> Option<PathBuf> {
        let mut paths = fs::read_dir(self.folder.path()).unwrap().map(|it| it.unwrap().path());
        paths.find(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(beginning) && !name.ends_with(".lock")
        })
    }

    fn command(&self, program: impl Into<OsString>) -> Command {
        let mut command = Command::new(program.into());
        command.env("XDG_RUNTIME_DIR", self.folder.path()).env_remove("DISPLAY");
        command.env("WAYLAND_DISPLAY", self.socket("wayland-").unwrap_or_default());
        command.env("SWAYSOCK", self.socket("sway-ipc").unwrap_or_default());
        command
    }

    /// Executes a command of the compositor, and returns its answer; `None` if it fails.
    fn sway(&self, words: &[&str]) -> Option<String> {
        let output = self.command("swaymsg").args(words).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Executes a command of the compositor for the viewer's window.
    fn window(&self, words: &str) {
        self.sway(&[&format!("[app_id=\"drystone\"] {words}")]).expect(words);
    }

    /// Takes pictures of a monitor until the viewer is at rest, two in a row are equal, and `is_it` accepts
    /// them.
    fn settle(
        &self,
        viewer: &mut Viewer,
        (monitor, path): (&str, &Path),
        is_it: impl Fn(&Image) -> bool,
    ) {
        let (start, mut last) = (Instant::now(), None);
        while start.elapsed() < MAX_WAIT {
            sleep(Duration::from_millis(200));
            let ended = viewer.0.try_wait().unwrap();
            assert!(ended.is_none(), "the viewer has ended: {ended:?}");
            let tree = self.sway(&["-t", "get_tree"]).unwrap_or_default();
            let taken = self.command("grim").args(["-o", monitor]).arg(path).status().unwrap();
            if !tree.contains("| at rest") || !taken.success() {
                continue;
            }
            let next = Image::load_png(path).unwrap();
            if last.as_ref() == Some(&next) && is_it(&next) {
                return;
            }
            last = Some(next);
        }
        panic!("the window never settled: see {}", path.display());
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn desktop(test: &str) -> Option<Desktop> {
    let missing = ["sway", "swaymsg", "grim"].into_iter().find(|name| {
        Command::new(name).arg("-h").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err()
    });
    let reason = match missing {
        Some(missing) => format!("{missing} is not installed"),
        None => match Desktop::open() {
            Ok(desktop) => return Some(desktop),
            Err(reason) => reason,
        },
    };
    println!("skipped: {test}: {reason}");
    None
}

/// Moves a window of a backend between monitors. Every picture has all pixels of its monitor, and is that of
/// `drystone shot`.
fn moves_between_monitors(test: &str, backend: &str) {
    let Some(desktop) = desktop(test) else { return };
    let folder = scratch(test);
    fs::write(folder.join("settings.json"), r#"{ "shows_panels": false }"#).unwrap();
    let scene =
        ["--chunks", "3x4x3", "--eye", "48,150,110", "--look", "48,45,48", "--samples", "1"];
    let [small, large] = ["400x300", "800x600"].map(|size| {
        let path = folder.join(format!("{size}.png"));
        // As in a window on a software device.
        let drawing = ["--backend", "soft", "--shadows", "off", "--sky-light", "off"];
        let mut shot = drystone(&["shot", "--size", size]);
        let output = shot.args(drawing).args(scene).arg("-o").arg(&path).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Image::load_png(&path).unwrap()
    });
    let mut command = desktop.command(binary());
    command.args(["view", "--size", "320x200", "--backend", backend]).args(scene);
    command.env("DRYSTONE_CONFIG", &folder).env("DRYSTONE_FEEDBACK", "title");
    // The compositor does not share memory with a GPU.
    command.env("LIBGL_ALWAYS_SOFTWARE", "1");
    desktop.sway(&["focus output HEADLESS-1"]).expect("a first monitor");
    let mut viewer = Viewer(command.current_dir(&folder).spawn().unwrap());
    let mut shows = |name: &str, monitor: &str, expected: &Image| {
        let alike = |picture: &Image| {
            let is_same_size = picture.width() == expected.width();
            is_same_size
                && picture.difference(expected, 8).is_some_and(|difference| {
                    let pixels = f64::from(picture.width()) * f64::from(picture.height());
                    f64::from(difference.away_from_edges) <= STRAY * pixels
                })
        };
        desktop.settle(&mut viewer, (monitor, &folder.join(format!("{name}.png"))), alike);
    };
    shows("1-small", "HEADLESS-1", &small);
    desktop.window("move container to output HEADLESS-2");
    shows("2-large", "HEADLESS-2", &large);
    desktop.window("move container to output HEADLESS-1");
    shows("3-small", "HEADLESS-1", &small);
    desktop.window("kill");
    assert!(viewer.wait());
}

#[test]
fn soft_moves_between_monitors() {
    moves_between_monitors("soft_moves_between_monitors", "soft");
}

#[test]
fn gl_moves_between_monitors() {
    moves_between_monitors("gl_moves_between_monitors", "gl");
}

#[test]
fn wgpu_moves_between_monitors() {
    moves_between_monitors("wgpu_moves_between_monitors", "wgpu");
}
