//! What the viewer remembers from one time to the next: a small file in the folder that the
//! platform has for settings.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use drystone::scene::RendererKind;
use drystone_render::{PlacePolicy, replace_file};
use serde_json::{Value, json};

/// What is remembered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settings {
    /// What draws, where the command line does not say.
    pub(crate) renderer: RendererKind,
    /// Whether corners are darkened, where they can be.
    pub(crate) darkens_corners: bool,
    /// How many times as far as usual the mouse turns, within [`MOUSE_SPEEDS`].
    pub(crate) mouse_speed: f64,
    /// Whether panels are shown.
    pub(crate) shows_panels: bool,
    /// Files that were opened, the last first, at most [`MOST_RECENT`].
    pub(crate) recent: Vec<PathBuf>,
}

/// How many times as far as usual the mouse can turn.
pub(crate) const MOUSE_SPEEDS: [f64; 2] = [0.2, 5.0];
/// So many files are remembered.
pub(crate) const MOST_RECENT: usize = 10;

/// The folder's name, or nothing for none, where it is not the platform's.
const FOLDER: &str = "DRYSTONE_CONFIG";
const FILE: &str = "settings.json";

impl Default for Settings {
    /// Those of who is here for the first time: panels say what there is.
    fn default() -> Self {
        Self {
            renderer: RendererKind::Pool,
            darkens_corners: false,
            mouse_speed: 1.0,
            shows_panels: true,
            recent: Vec::new(),
        }
    }
}

impl Settings {
    /// Puts a file in front of those that were opened.
    pub(crate) fn opened(&mut self, path: &Path) {
        // A name that holds wherever the next viewer is started.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        self.recent.retain(|other| *other != path);
        self.recent.insert(0, path);
        self.recent.truncate(MOST_RECENT);
    }

    fn to_json(&self) -> Value {
        let recent: Vec<_> = self.recent.iter().filter_map(|path| path.to_str()).collect();
        json!({
            "renderer": name_of(self.renderer),
            "darkens_corners": self.darkens_corners,
            "mouse_speed": self.mouse_speed,
            "shows_panels": self.shows_panels,
            "recent": recent,
        })
    }

    /// The settings of a file: what it does not name is as at first.
    fn from_json(text: &str) -> Result<Self, String> {
        let json: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let Value::Object(json) = json else { return Err("it is no object".into()) };
        let mut settings = Self::default();
        for (key, value) in &json {
            let is_set = match (key.as_str(), value) {
                ("renderer", Value::String(name)) => {
                    name.parse().map(|kind| settings.renderer = kind).is_ok()
                }
                ("darkens_corners", Value::Bool(is_on)) => {
                    settings.darkens_corners = *is_on;
                    true
                }
                ("shows_panels", Value::Bool(is_on)) => {
                    settings.shows_panels = *is_on;
                    true
                }
                ("mouse_speed", Value::Number(number)) => {
                    let [slowest, fastest] = MOUSE_SPEEDS;
                    settings.mouse_speed = number.as_f64().unwrap_or(1.0).clamp(slowest, fastest);
                    true
                }
                ("recent", Value::Array(paths)) => {
                    let paths: Option<Vec<_>> = paths.iter().map(Value::as_str).collect();
                    let count = MOST_RECENT;
                    let set = paths.map(|it| it.into_iter().take(count).map(Into::into).collect());
                    set.map(|recent| settings.recent = recent).is_some()
                }
                ("renderer" | "darkens_corners" | "shows_panels" | "mouse_speed" | "recent", _) => {
                    false
                }
                // Of a later version.
                _ => true,
            };
            if !is_set {
                return Err(format!("{key} cannot be {value}"));
            }
        }
        Ok(settings)
    }
}

fn name_of(renderer: RendererKind) -> &'static str {
    match renderer {
        RendererKind::Pool => "pool",
        RendererKind::Naive => "naive",
        RendererKind::Instanced(policy) => PlacePolicy::renderer_name(policy),
    }
}

/// Where settings are kept, and as what they were read.
#[derive(Debug)]
pub(crate) struct SettingsFile {
    /// `None`: nowhere.
    path: Option<PathBuf>,
    kept: Option<Settings>,
}

impl SettingsFile {
    /// The platform's, or that in the folder that the environment names.
    pub(crate) fn of_user() -> Self {
        let path = folder(|name| env::var_os(name).map(PathBuf::from));
        Self { path: path.map(|folder| folder.join(FILE)), kept: None }
    }

    /// Reads the settings; says what is wrong with them. A file that cannot be understood is put
    /// aside, with `.bad` behind its name; one that cannot be read, for want of rights or otherwise,
    /// stays as it is, and nothing is kept. Where none are kept on purpose, panels are hidden.
    pub(crate) fn read(&mut self) -> (Settings, Option<String>) {
        let Some(path) = &self.path else {
            return (Settings { shows_panels: false, ..Settings::default() }, None);
        };
        let problem = match fs::read_to_string(path) {
            Ok(text) => match Settings::from_json(&text) {
                Ok(settings) => {
                    self.kept = Some(settings.clone());
                    return (settings, None);
                }
                Err(problem) => problem,
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return (Settings::default(), None);
            }
            // It is no text.
            Err(error) if error.kind() == io::ErrorKind::InvalidData => error.to_string(),
            Err(error) => {
                let line = format!("{}: {error}; settings are not kept", path.display());
                self.path = None;
                return (Settings::default(), Some(line));
            }
        };
        let name = path.display();
        let aside = put_aside(path);
        let line = match aside {
            Ok(aside) => format!("{name}: {problem}; it is put aside as {}", aside.display()),
            Err(error) => {
                // What cannot be put aside is not written over.
                let line = format!("{name}: {problem}; settings are not kept ({error})");
                self.path = None;
                line
            }
        };
        (Settings::default(), Some(line))
    }

    /// Keeps the settings, if they are others than before.
    ///
    /// # Errors
    /// Why they cannot be written, with the file's name.
    pub(crate) fn keep(&mut self, settings: &Settings) -> Result<(), String> {
        let Some(path) = self.path.as_ref().filter(|_| self.kept.as_ref() != Some(settings)) else {
            return Ok(());
        };
        let text = format!("{:#}\n", settings.to_json());
        let written = path.parent().map_or(Ok(()), fs::create_dir_all).map_err(|it| it.to_string());
        let write = |part: &Path| fs::write(part, &text).map_err(|error| error.to_string());
        written
            .and_then(|()| replace_file(path, write))
            .map_err(|error| format!("{}: settings are not kept: {error}", path.display()))?;
        self.kept = Some(settings.clone());
        Ok(())
    }
}

/// Gives a file another name, that of no other file, and returns it.
fn put_aside(path: &Path) -> io::Result<PathBuf> {
    let mut number = 1_u32;
    loop {
        let ending = if number == 1 { "json.bad".into() } else { format!("json.bad-{number}") };
        let aside = path.with_extension(ending);
        if aside.symlink_metadata().is_err() {
            return fs::rename(path, &aside).map(|()| aside);
        }
        number += 1;
    }
}

/// The folder of settings, by the environment; `None` where there is none.
fn folder(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    if let Some(named) = variable(FOLDER) {
        return (!named.as_os_str().is_empty()).then_some(named);
    }
    let set = |name| variable(name).filter(|path| path.is_absolute());
    let folder = if cfg!(windows) {
        set("APPDATA")?
    } else if cfg!(target_os = "macos") {
        set("HOME")?.join("Library/Application Support")
    } else {
        set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")))?
    };
    Some(folder.join("drystone"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(test: &str) -> (PathBuf, SettingsFile) {
        let name = format!("drystone-settings-{test}-{}", std::process::id());
        let folder = env::temp_dir().join(name).join("new");
        let _ = fs::remove_dir_all(&folder);
        (folder.clone(), SettingsFile { path: Some(folder.join(FILE)), kept: None })
    }

    fn settings() -> Settings {
        let mut settings = Settings {
            renderer: RendererKind::Naive,
            darkens_corners: true,
            mouse_speed: 2.5,
            shows_panels: false,
            recent: Vec::new(),
        };
        for path in ["/a/castle.vox", "/b\"ö/r.0.0.mca", "/a/castle.vox"] {
            settings.opened(path.as_ref());
        }
        settings
    }

    #[test]
    fn settings_come_back() {
        let (folder, mut file) = file("back");
        assert_eq!(file.read(), (Settings::default(), None));
        let settings = settings();
        assert_eq!(settings.recent.len(), 2, "one file is named once");
        file.keep(&settings).unwrap();
        let mut again = SettingsFile { path: file.path.clone(), kept: None };
        assert_eq!(again.read(), (settings.clone(), None));
        // What has not changed is not written.
        fs::remove_file(folder.join(FILE)).unwrap();
        again.keep(&settings).unwrap();
        assert!(!folder.join(FILE).exists());
        again.keep(&Settings::default()).unwrap();
        assert_eq!(file.read(), (Settings::default(), None));
        fs::remove_dir_all(folder.parent().unwrap()).unwrap();
    }

    #[test]
    fn what_cannot_be_understood_is_told_and_kept() {
        let (folder, mut file) = file("bad");
        fs::create_dir_all(&folder).unwrap();
        let bad = ["{", "[]", "{\"renderer\": \"fast\"}", "{\"mouse_speed\": true}", "\u{0}"];
        let bad = bad.map(str::as_bytes).into_iter().chain([&[0xff, 0xfe][..]]);
        for (number, text) in bad.enumerate() {
            fs::write(folder.join(FILE), text).unwrap();
            let (read, told) = file.read();
            assert_eq!(read, Settings::default());
            let ending = if number == 0 { String::new() } else { format!("-{}", number + 1) };
            let aside = folder.join(format!("settings.json.bad{ending}"));
            assert!(told.unwrap().contains(aside.to_str().unwrap()), "{text:?}");
            assert_eq!(fs::read(aside).unwrap(), text);
            assert!(!folder.join(FILE).exists());
        }
        // What a later version may add is no fault, nor is a mouse that is too fast.
        fs::write(folder.join(FILE), "{\"later\": 7, \"mouse_speed\": 1e9}").unwrap();
        let [_, fastest] = MOUSE_SPEEDS;
        let expected = Settings { mouse_speed: fastest, ..Settings::default() };
        assert_eq!(file.read(), (expected, None));
        fs::remove_dir_all(folder.parent().unwrap()).unwrap();
    }

    /// A folder stands for whatever cannot be read: those who may read everything have no other.
    #[test]
    fn what_cannot_be_read_is_left_alone() {
        let (folder, mut file) = file("unread");
        let path = folder.join(FILE);
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("mine"), "mine").unwrap();
        let (read, told) = file.read();
        let told = told.unwrap();
        assert_eq!(read, Settings::default());
        assert!(told.contains(path.to_str().unwrap()) && told.ends_with("not kept"), "{told}");
        assert!(file.keep(&settings()).is_ok());
        assert_eq!(fs::read_to_string(path.join("mine")).unwrap(), "mine");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(folder.parent().unwrap()).unwrap();
    }

    #[test]
    fn the_environment_says_where() {
        let of = |set: &[(&str, &str)]| {
            folder(|name| set.iter().find(|(it, _)| *it == name).map(|(_, path)| path.into()))
        };
        assert_eq!(of(&[(FOLDER, "here")]), Some("here".into()));
        assert_eq!(of(&[(FOLDER, ""), ("HOME", "/home/a"), ("APPDATA", "C:\\a")]), None);
        assert_eq!(of(&[]), None);
        if cfg!(target_os = "linux") {
            assert_eq!(of(&[("HOME", "/home/a")]), Some("/home/a/.config/drystone".into()));
            let both = [("HOME", "/home/a"), ("XDG_CONFIG_HOME", "/etc/a")];
            assert_eq!(of(&both), Some("/etc/a/drystone".into()));
            assert_eq!(of(&[("XDG_CONFIG_HOME", "relative")]), None);
        }
        let (mut none, settings) = (SettingsFile { path: None, kept: None }, settings());
        assert!(!none.read().0.shows_panels && none.keep(&settings).is_ok());
    }
}
