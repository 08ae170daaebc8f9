//! Settings that the viewer saves in a small file, in the platform's folder for settings.

use std::{
    env,
    ffi::OsString,
    fs, io,
    path::{self, Path, PathBuf},
};

use drystone::scene::RendererKind;
use drystone_render::replace_file;
use serde::{Deserialize, Serialize};

use crate::{
    address,
    cli::{HeightMapArgs, SavedEdits, SceneOptions, SourceOptions, Up},
    folders::user_folder,
};

mod by_name;
mod last_view;

pub(crate) use last_view::LastView;
#[cfg(feature = "window")]
pub(crate) use last_view::WindowState;

/// Saved settings of the viewer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Settings {
    /// Renderer, if the command line sets none.
    #[serde(with = "by_name")]
    pub(crate) renderer: RendererKind,
    /// Whether ambient occlusion is used where available. Earlier versions saved it as
    /// `darkens_corners`, false by default; that key is ignored.
    pub(crate) ambient_occlusion: bool,
    /// Factor of the mouse speed, within [`MOUSE_SPEEDS`].
    pub(crate) mouse_speed: f64,
    /// Whether panels are shown.
    pub(crate) shows_panels: bool,
    /// Whether the list of keys was ever shown. Until then, each start shows a hint.
    pub(crate) knows_keys: bool,
    /// Choices for the next start.
    pub(crate) view: LastView,
    /// Recently opened files, the last one first, at most [`MAX_RECENT`].
    pub(crate) recent: Vec<RecentFile>,
}

/// Recently opened file with its options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "StoredFile", into = "StoredFile")]
pub(crate) struct RecentFile {
    pub(crate) path: PathBuf,
    /// File of its edits.
    pub(crate) edits: Option<PathBuf>,
    merge: f32,
    up: Option<Up>,
    height_map: HeightMapArgs,
}

impl RecentFile {
    /// Creates an entry with the file's options and the file of its edits.
    pub(crate) fn new(path: &Path, options: &SourceOptions, edits: Option<&Path>) -> Self {
        let SourceOptions { merge, source_up: up, height_map, .. } = options.clone();
        Self { path: absolute(path), edits: edits.map(absolute), merge, up, height_map }
    }

    /// Creates an entry without options.
    pub(crate) fn of(path: PathBuf) -> Self {
        Self { path, edits: None, merge: 0.0, up: None, height_map: HeightMapArgs::default() }
    }

    /// Returns the options to open the file with.
    pub(crate) fn source(&self) -> SourceOptions {
        let (merge, source_up) = (self.merge, self.up);
        let height_map = self.height_map.clone();
        SourceOptions { merge, source_up, height_map, ..SourceOptions::of(self.path.clone()) }
    }
}

/// Recent file in the settings file.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum StoredFile {
    /// File without options.
    Path(Name),
    File {
        path: Name,
        #[serde(default)]
        edits: Option<Name>,
        #[serde(default)]
        merge: f32,
        #[serde(default)]
        up: Option<Up>,
        #[serde(default)]
        height_map: HeightMapArgs,
    },
}

impl From<StoredFile> for RecentFile {
    fn from(entry: StoredFile) -> Self {
        match entry {
            StoredFile::Path(path) => Self::of(path.into()),
            StoredFile::File { path, edits, merge, up, height_map } => {
                Self { path: path.into(), edits: edits.map(Into::into), merge, up, height_map }
            }
        }
    }
}

impl From<RecentFile> for StoredFile {
    fn from(file: RecentFile) -> Self {
        if file == RecentFile::of(file.path.clone()) {
            return Self::Path(file.path.into());
        }
        let RecentFile { path, edits, merge, up, height_map } = file;
        Self::File { path: path.into(), edits: edits.map(Into::into), merge, up, height_map }
    }
}

/// Path in the settings file.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Name {
    Text(String),
    /// Path that is not valid Unicode.
    Raw(OsString),
}

impl From<Name> for PathBuf {
    fn from(name: Name) -> Self {
        match name {
            Name::Text(text) => text.into(),
            Name::Raw(raw) => raw.into(),
        }
    }
}

impl From<PathBuf> for Name {
    fn from(path: PathBuf) -> Self {
        path.into_os_string().into_string().map_or_else(Self::Raw, Self::Text)
    }
}

/// Range of the factor of the mouse speed.
pub(crate) const MOUSE_SPEEDS: [f64; 2] = [0.2, 5.0];
/// Number of recent files that are stored.
pub(crate) const MAX_RECENT: usize = 10;

/// Environment variable with the folder of the settings; empty to save no settings.
const FOLDER: &str = "DRYSTONE_CONFIG";
const FILE: &str = "settings.json";

impl Default for Settings {
    /// Settings for the first start, with panels.
    fn default() -> Self {
        Self {
            renderer: RendererKind::Pool,
            ambient_occlusion: true,
            mouse_speed: 1.0,
            shows_panels: true,
            knows_keys: false,
            view: LastView::default(),
            recent: Vec::new(),
        }
    }
}

impl Settings {
    /// Adds a file in front of the recent files.
    pub(crate) fn opened(&mut self, file: RecentFile) {
        self.recent.retain(|other| other.path != file.path);
        self.recent.insert(0, file);
        self.recent.truncate(MAX_RECENT);
    }

    /// Merges files that another viewer has opened since `before`, after the most recent file.
    fn add_others(&mut self, before: &Self, theirs: Vec<RecentFile>) {
        let is_new = |file: &RecentFile| {
            let is_known = |other: &RecentFile| other.path == file.path;
            !self.recent.iter().chain(&before.recent).any(is_known)
        };
        let new: Vec<_> = theirs.into_iter().filter(is_new).collect();
        let first = self.recent.len().min(1);
        self.recent.splice(first..first, new);
        self.recent.truncate(MAX_RECENT);
    }

    /// Sets the choices of the last window in the options, unless the command line sets them, and the
    /// file that had the edits of their source.
    pub(crate) fn set_options(&self, options: &mut SceneOptions) {
        self.view.set_options(options);
        let known = options.source.path.as_deref().map(|path| self.recent_file(path));
        options.edits.saved = SavedEdits::Newest(known.and_then(|file| file.edits));
    }

    /// Returns the entry of a file, or a new one without options.
    pub(crate) fn recent_file(&self, path: &Path) -> RecentFile {
        let path_known = absolute(path);
        let known = self.recent.iter().find(|file| file.path == path_known).cloned();
        known.unwrap_or_else(|| RecentFile::of(path.to_path_buf()))
    }

    /// Parses the settings file. Missing keys have their defaults; unknown keys, from later
    /// versions, are ignored.
    fn from_json(text: &str) -> Result<Self, String> {
        // serde would accept an array of values in field order.
        if !text.trim_start().starts_with('{') {
            return Err("not a JSON object".into());
        }
        let mut settings: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let [slowest, fastest] = MOUSE_SPEEDS;
        settings.mouse_speed = settings.mouse_speed.clamp(slowest, fastest);
        settings.view.limit();
        settings.recent.truncate(MAX_RECENT);
        Ok(settings)
    }
}

/// File of the settings, and their state when it was read.
#[derive(Debug)]
pub(crate) struct SettingsFile {
    /// `None` if settings are not saved.
    path: Option<PathBuf>,
    saved: Option<Settings>,
}

impl SettingsFile {
    /// Returns the file in the platform's folder, or in the folder that the environment names.
    pub(crate) fn of_user() -> Self {
        let path = folder(|name| env::var_os(name).map(PathBuf::from));
        Self { path: path.map(|folder| folder.join(FILE)), saved: None }
    }

    /// Reads the settings, and returns a message if something is wrong. A file that cannot be
    /// parsed is renamed, with `.bad` appended. A file that cannot be read stays, and settings are
    /// not saved. If saving is disabled, panels are hidden.
    pub(crate) fn read(&mut self) -> (Settings, Option<String>) {
        let Some(path) = &self.path else {
            return (Settings { shows_panels: false, ..Settings::default() }, None);
        };
        let problem = match fs::read_to_string(path) {
            Ok(text) => match Settings::from_json(&text) {
                Ok(settings) => {
                    self.saved = Some(settings.clone());
                    return (settings, None);
                }
                Err(problem) => problem,
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return (Settings::default(), None);
            }
            // The file is not text.
            Err(error) if error.kind() == io::ErrorKind::InvalidData => error.to_string(),
            Err(error) => {
                let line = format!("{}: {error}; settings will not be saved", path.display());
                self.path = None;
                return (Settings::default(), Some(line));
            }
        };
        let name = path.display();
        let aside = rename_aside(path);
        let line = match aside {
            Ok(aside) => format!("{name}: {problem}; the file was renamed to {}", aside.display()),
            Err(error) => {
                // The file is not overwritten if it cannot be renamed.
                let line = format!("{name}: {problem}; settings will not be saved ({error})");
                self.path = None;
                line
            }
        };
        (Settings::default(), Some(line))
    }

    /// Saves the settings if they have changed.
    ///
    /// # Errors
    /// The reason they cannot be written, with the file's name.
    pub(crate) fn save(&mut self, settings: &Settings) -> Result<(), String> {
        let Some(path) = self.path.as_ref().filter(|_| self.saved.as_ref() != Some(settings))
        else {
            return Ok(());
        };
        let there = fs::read_to_string(path).ok().and_then(|text| Settings::from_json(&text).ok());
        let before = self.saved.take().unwrap_or_default();
        let mut settings = settings.clone();
        settings.add_others(&before, there.unwrap_or_default().recent);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all).map_err(|it| it.to_string());
        let write = |part: &Path| {
            let text =
                serde_json::to_string_pretty(&settings).map_err(|error| error.to_string())?;
            fs::write(part, text + "\n").map_err(|error| error.to_string())
        };
        made.and_then(|()| replace_file(path, write))
            .map_err(|error| format!("{}: settings were not saved: {error}", path.display()))?;
        self.saved = Some(settings);
        Ok(())
    }
}

/// Renames a file to an unused name, and returns that.
fn rename_aside(path: &Path) -> io::Result<PathBuf> {
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

/// Returns a path that does not depend on the folder of the next start. Addresses stay as they are.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    let is_file = address::of(path).is_none();
    let absolute = is_file.then(|| path::absolute(path).ok()).flatten();
    absolute.unwrap_or_else(|| path.to_path_buf())
}

/// Returns the folder of settings; `None` to save none.
fn folder(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let mac = "Library/Application Support";
    user_folder(variable, [FOLDER, "APPDATA", mac, "XDG_CONFIG_HOME", ".config"])
}

#[cfg(test)]
mod tests;
