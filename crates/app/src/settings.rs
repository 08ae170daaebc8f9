//! What the viewer remembers from one time to the next: a small file in the folder that the
//! platform has for settings.

use std::{
    env,
    ffi::OsString,
    fs, io,
    path::{self, Path, PathBuf},
};

use drystone::scene::RendererKind;
use drystone_render::{SlotPolicy, replace_file};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::cli::{HeightMapArgs, SourceOptions};

/// What is remembered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Settings {
    /// What draws, where the command line does not say.
    #[serde(with = "renderer_name")]
    pub(crate) renderer: RendererKind,
    /// Whether corners are darkened, where they can be.
    pub(crate) darkens_corners: bool,
    /// How many times as far as usual the mouse turns, within [`MOUSE_SPEEDS`].
    pub(crate) mouse_speed: f64,
    /// Whether panels are shown.
    pub(crate) shows_panels: bool,
    /// Files that were opened, the last first, at most [`MAX_RECENT`].
    pub(crate) recent: Vec<RecentFile>,
}

/// A file that was opened, and what was said of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Entry", into = "Entry")]
pub(crate) struct RecentFile {
    pub(crate) path: PathBuf,
    /// The file beside it that keeps its edits.
    pub(crate) edits: Option<PathBuf>,
    merge: f32,
    height_map: HeightMapArgs,
}

impl RecentFile {
    /// A file with its options, and with the file that keeps its edits.
    pub(crate) fn new(path: &Path, options: &SourceOptions, edits: Option<&Path>) -> Self {
        // Names that hold wherever the next viewer is started.
        let absolute = |path: &Path| path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let SourceOptions { merge, height_map, .. } = options.clone();
        Self { path: absolute(path), edits: edits.map(absolute), merge, height_map }
    }

    /// A file of which nothing is said.
    pub(crate) fn of(path: PathBuf) -> Self {
        Self { path, edits: None, merge: 0.0, height_map: HeightMapArgs::default() }
    }

    /// The options to open the file with.
    pub(crate) fn source(&self) -> SourceOptions {
        let (merge, height_map) = (self.merge, self.height_map.clone());
        SourceOptions { merge, height_map, ..SourceOptions::of(self.path.clone()) }
    }
}

/// A recent file in the settings file.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Entry {
    /// A file of which nothing is said.
    Path(Name),
    File {
        path: Name,
        #[serde(default)]
        edits: Option<Name>,
        #[serde(default)]
        merge: f32,
        #[serde(default)]
        height_map: HeightMapArgs,
    },
}

impl From<Entry> for RecentFile {
    fn from(entry: Entry) -> Self {
        match entry {
            Entry::Path(path) => Self::of(path.into()),
            Entry::File { path, edits, merge, height_map } => {
                Self { path: path.into(), edits: edits.map(Into::into), merge, height_map }
            }
        }
    }
}

impl From<RecentFile> for Entry {
    fn from(file: RecentFile) -> Self {
        if file == RecentFile::of(file.path.clone()) {
            return Self::Path(file.path.into());
        }
        let RecentFile { path, edits, merge, height_map } = file;
        Self::File { path: path.into(), edits: edits.map(Into::into), merge, height_map }
    }
}

/// A path in the settings file.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Name {
    Text(String),
    /// What is not Unicode.
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

/// How many times as far as usual the mouse can turn.
pub(crate) const MOUSE_SPEEDS: [f64; 2] = [0.2, 5.0];
/// So many files are remembered.
pub(crate) const MAX_RECENT: usize = 10;

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
    pub(crate) fn opened(&mut self, file: RecentFile) {
        self.recent.retain(|other| other.path != file.path);
        self.recent.insert(0, file);
        self.recent.truncate(MAX_RECENT);
    }

    /// Adds the files that another viewer has opened since these settings were as `before`: behind
    /// the one that was opened last.
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

    /// A file as it was opened last; one that was not, without options.
    pub(crate) fn recent_file(&self, path: &Path) -> RecentFile {
        let absolute = path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let known = self.recent.iter().find(|file| file.path == absolute).cloned();
        known.unwrap_or_else(|| RecentFile::of(path.to_path_buf()))
    }

    /// The settings of a file: what it does not name is as at first, and what it names beside
    /// them is of a later version.
    fn from_json(text: &str) -> Result<Self, String> {
        // A list would be taken for the values of the settings in order.
        if !text.trim_start().starts_with('{') {
            return Err("it is no object".into());
        }
        let mut settings: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let [slowest, fastest] = MOUSE_SPEEDS;
        settings.mouse_speed = settings.mouse_speed.clamp(slowest, fastest);
        settings.recent.truncate(MAX_RECENT);
        Ok(settings)
    }
}

/// Renderers by the names that the command line has for them.
mod renderer_name {
    use super::{Deserialize, Deserializer, RendererKind, Serialize, Serializer, SlotPolicy};

    pub(super) fn serialize<S: Serializer>(
        renderer: &RendererKind,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let name = match renderer {
            RendererKind::Pool => "pool",
            RendererKind::Naive => "naive",
            RendererKind::Instanced(policy) => SlotPolicy::renderer_name(*policy),
        };
        name.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<RendererKind, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
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
        let there = fs::read_to_string(path).ok().and_then(|text| Settings::from_json(&text).ok());
        let before = self.kept.take().unwrap_or_default();
        let mut settings = settings.clone();
        settings.add_others(&before, there.unwrap_or_default().recent);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all).map_err(|it| it.to_string());
        let write = |part: &Path| {
            let text =
                serde_json::to_string_pretty(&settings).map_err(|error| error.to_string())?;
            fs::write(part, text + "\n").map_err(|error| error.to_string())
        };
        made.and_then(|()| replace_file(path, write))
            .map_err(|error| format!("{}: settings are not kept: {error}", path.display()))?;
        self.kept = Some(settings);
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
mod tests;
