//! The command line: commands, options and their help texts.

mod edits;
mod export;
mod fly;
mod height_map;
mod pool_map;
mod rules;
mod scene;
#[cfg(test)]
mod tests;
mod values;
mod worlds;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    str::FromStr,
};

use clap::{
    Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum, error::ErrorKind,
    parser::ValueSource,
};
use drystone::keys::{self, Host};
use drystone_formats::{Model, ModelOptions, VoxOptions};
use drystone_world::{GeneratorConfig, MovingConfig, MovingKind, OpenOptions};

use crate::allocator::AllocatorKind;
pub(crate) use edits::{EditsArgs, SaveArgs, SavedEdits};
pub(crate) use export::ExportArguments;
pub(crate) use fly::{CameraPathKind, FlyOptions};
pub(crate) use height_map::HeightMapArgs;
pub(crate) use pool_map::{PlacementKind, PoolMapOptions};
use rules::conflict;
#[cfg(all(test, feature = "window"))]
pub(crate) use scene::Tint;
#[cfg(feature = "window")]
pub(crate) use scene::{CameraArgs, DetailArgs, DrawingArgs, LookArgs};
pub(crate) use scene::{LevelsKind, OcclusionKind, SceneOptions};
pub(crate) use values::{Up, point};
use values::{chunks, distance};
#[cfg(feature = "remote")]
pub(crate) use worlds::ServeArguments;
pub(crate) use worlds::{
    CheckArguments, CopyArguments, ImportArguments, MergeArguments, PackArguments, PublishArguments,
};

/// Packs thousands of changing meshes into a few GPU buffers and draws them with one call.
///
/// SOURCE is a MagicaVoxel file (.vox), a Qubicle file (.qb), a Minecraft Java world (.mca, a save
/// folder), a height map (.png, .tif, .hgt), a stored world (.drystone), a packed world (.dsw) or a
/// polygon model (.obj, .gltf, .glb).
/// Without SOURCE, a world is generated. Without a command, SOURCE is shown in a window, or drawn to
/// drystone.png if there is no display.
#[derive(Debug, Parser)]
#[command(name = "drystone", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Options {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) scene: SceneOptions,
    #[command(flatten)]
    pub(crate) save: SaveArgs,
}

impl Options {
    /// Returns the scene options of the commands that draw.
    fn scene_options(&self) -> Option<&SceneOptions> {
        match &self.command {
            Some(Command::View(view)) => Some(&view.scene),
            Some(Command::Shot(shot)) => Some(&shot.scene),
            Some(Command::Fly(fly)) => Some(&fly.scene),
            Some(
                Command::Info(_)
                | Command::PoolMap(_)
                | Command::Import(_)
                | Command::Pack(_)
                | Command::Merge(_)
                | Command::Publish(_)
                | Command::Export(_)
                | Command::Check(_),
            ) => None,
            #[cfg(feature = "remote")]
            Some(Command::Serve(_)) => None,
            None => Some(&self.scene),
        }
    }

    /// Returns the options of the program's own allocator.
    pub(crate) fn memory(&self) -> &MemoryOptions {
        match &self.command {
            Some(Command::View(view)) => &view.scene.memory,
            Some(Command::Shot(shot)) => &shot.scene.memory,
            Some(Command::Fly(fly)) => &fly.scene.memory,
            Some(Command::Info(info)) => &info.memory,
            Some(Command::PoolMap(map)) => &map.memory,
            Some(Command::Import(import)) => &import.copy.memory,
            Some(Command::Pack(pack)) => &pack.copy.memory,
            Some(Command::Merge(merge)) => &merge.memory,
            Some(Command::Publish(publish)) => &publish.copy.memory,
            Some(Command::Export(export)) => &export.memory,
            Some(Command::Check(check)) => &check.memory,
            #[cfg(feature = "remote")]
            Some(Command::Serve(serve)) => &serve.memory,
            None => &self.scene.memory,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Open a window and fly through SOURCE (keys: H in the window, or drystone view --keys)
    View(ViewArguments),
    /// Draw SOURCE to a PNG
    Shot(ShotOptions),
    /// Draw SOURCE along a camera path, to a GIF or to a folder of PNGs
    Fly(FlyOptions),
    /// Print statistics of SOURCE: dimensions, chunks, voxels by material, quads, bytes. For a
    /// polygon model: polygons, vertices, memory saved by sharing them, materials, warnings
    Info(InfoOptions),
    /// Copy SOURCE into a stored world; an interrupted import continues where it stopped
    Import(ImportArguments),
    /// Write SOURCE as a packed world: one file that viewers read in parts, from a disk or a web server;
    /// an interrupted run continues where it stopped
    Pack(PackArguments),
    /// Join the parts of a world that pack --part wrote, on any machines, to one packed world
    Merge(MergeArguments),
    /// Write SOURCE as a packed world together with the web page that shows it, in a folder for any web server
    Publish(PublishArguments),
    /// Write SOURCE as a mesh or voxel file for other programs: .glb, .obj, .ply, .stl, .vox
    Export(ExportArguments),
    /// Verify every checksum of a stored or packed world
    Check(CheckArguments),
    /// Serve a packed world or a folder to viewers and browsers, for trying them on this machine
    #[cfg(feature = "remote")]
    Serve(ServeArguments),
    /// Draw the layout of the vertex pool to an SVG or PNG: live ranges by mesh, waiting and free
    /// ranges. For a polygon model: vertices and indices
    PoolMap(PoolMapOptions),
}

/// Options of the program's own allocator.
#[derive(Clone, Debug, Args)]
pub(crate) struct MemoryOptions {
    /// Allocator of the program: system, small (size classes for small objects, with statistics), or
    /// record (system; in the end, prints on standard error how often each size was allocated, and
    /// proposes size classes)
    #[arg(long, value_name = "KIND", default_value = "system", value_parser = AllocatorKind::from_str)]
    pub(crate) allocator: AllocatorKind,
    /// Draw the sizes and the proposed classes of --allocator record to this file
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) record_svg: Option<PathBuf>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct SourceOptions {
    /// File to read; a world is generated if omitted
    #[arg(value_name = "SOURCE")]
    pub(crate) path: Option<PathBuf>,
    /// Seed of the generated world; equal seeds give equal worlds
    #[arg(long, value_name = "NUMBER", default_value_t = GeneratorConfig::default().seed, conflicts_with = "path", allow_hyphen_values = true)]
    pub(crate) seed: u64,
    /// Scene that changes in every frame, instead of a generated world: random (voxels at random; fifty
    /// chunks change), noise (which travels), or crater (which wanders over a height map)
    #[arg(long, value_enum, value_name = "NAME", conflicts_with_all = ["path", "relief"])]
    pub(crate) scene: Option<SceneKind>,
    /// Size of the generated world or the scene in chunks of 32 voxels
    #[arg(long, value_name = "XxYxZ", value_parser = chunks, conflicts_with = "path")]
    pub(crate) chunks: Option<[u32; 3]>,
    /// Height of the generated world from the deepest lake to the highest peak, 16 to 1024 voxels;
    /// hills grow in width with it
    #[arg(long, value_name = "VOXELS", default_value_t = GeneratorConfig::default().relief_voxels, conflicts_with = "path")]
    pub(crate) relief: u32,
    /// Polygon models: vertices at most this far apart are merged, in the file's unit
    #[arg(long, value_name = "DISTANCE", value_parser = distance, default_value = "0", requires = "path")]
    pub(crate) merge: f32,
    /// Polygon models: axis of the file that points up (default: y, or as the comments of an .obj file
    /// tell)
    #[arg(long = "up", value_enum, value_name = "AXIS", requires = "path")]
    pub(crate) source_up: Option<Up>,
    /// Animated .vox files: frame, counted from 0
    #[arg(long, value_name = "N", default_value_t = 0, requires = "path")]
    pub(crate) frame: u32,
    #[command(flatten)]
    pub(crate) height_map: HeightMapArgs,
}

/// Values of `--scene`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SceneKind {
    Random,
    Noise,
    Crater,
}

impl From<SceneKind> for MovingKind {
    fn from(kind: SceneKind) -> Self {
        match kind {
            SceneKind::Random => Self::Random,
            SceneKind::Noise => Self::Noise,
            SceneKind::Crater => Self::Crater,
        }
    }
}

impl SourceOptions {
    /// Returns the default options for a file.
    pub(crate) fn of(path: PathBuf) -> Self {
        let generated = GeneratorConfig::default();
        Self {
            path: Some(path),
            seed: generated.seed,
            scene: None,
            chunks: None,
            relief: generated.relief_voxels,
            merge: 0.0,
            source_up: None,
            frame: 0,
            height_map: HeightMapArgs::default(),
        }
    }

    /// Returns the options for opening the file.
    pub(crate) fn open_options(&self) -> OpenOptions {
        let up = self.source_up.map(Up::axis);
        let model = ModelOptions::default().with_merge_tolerance(self.merge).with_up(up);
        let vox = VoxOptions::default().with_frame(self.frame);
        let heights = self.height_map.options();
        OpenOptions::default().with_height_map(heights).with_model(model).with_vox(vox)
    }

    /// Returns the scene that changes in every frame; `None` without `--scene`.
    pub(crate) fn moving(&self) -> Option<MovingConfig> {
        let config = MovingConfig::new(self.scene?.into()).with_seed(self.seed);
        let size_chunks = self.chunks.unwrap_or(config.size_chunks);
        Some(config.with_size_chunks(size_chunks))
    }

    /// Returns the path of the source if it is a polygon model.
    pub(crate) fn model_path(&self) -> Option<&Path> {
        self.path.as_deref().filter(|path| Model::is_model(path))
    }
}

#[derive(Debug, Args)]
#[command(after_help = keys_help())]
pub(crate) struct ViewArguments {
    #[command(flatten)]
    pub(crate) scene: SceneOptions,
    #[command(flatten)]
    pub(crate) save: SaveArgs,
    /// Print the keys and exit
    #[arg(long)]
    pub(crate) keys: bool,
    /// Benchmark: draw N frames while the camera turns, half of them with panels, and exit. Prints
    /// as JSON the time of whole frames (wall_ms) and the CPU time of the window's thread
    /// (thread_ms)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(4..=1_000_000))]
    pub(crate) frames: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct ShotOptions {
    #[command(flatten)]
    pub(crate) scene: SceneOptions,
    /// PNG to write
    #[arg(short, long, value_name = "FILE.png")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct InfoOptions {
    #[command(flatten)]
    pub(crate) source: SourceOptions,
    #[command(flatten)]
    pub(crate) edits: EditsArgs,
    #[command(flatten)]
    pub(crate) memory: MemoryOptions,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Returns the list of keys as it stands below the options.
fn keys_help() -> String {
    format!("Keys:\n{}", keys::text(Host::Window).trim_end())
}

/// Reason to exit without running a command.
pub(crate) enum Stop {
    /// Help or version was requested.
    Text(String),
    /// Usage error, in one line.
    Usage(String),
}

/// Reads the command line.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Options, Stop> {
    let parsed =
        read(with_values(operands_last(arguments))).map_err(|error| match error.kind() {
            ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                Stop::Text(error.render().to_string())
            }
            _ => Stop::Usage(first_paragraph(&error.render().to_string())),
        })?;
    match conflict(&parsed) {
        Some(line) => Err(Stop::Usage(line.into())),
        None => Ok(parsed),
    }
}

/// The commands and options. In `export`, `--up` is the axis of the file that is written.
fn command() -> clap::Command {
    let of_source = |up: clap::Arg| up.long("source-up");
    Options::command().mut_subcommand("export", |export| export.mut_arg("source_up", of_source))
}

/// Parses the arguments, and notes which of the options that the viewer remembers were named.
fn read(arguments: Vec<OsString>) -> Result<Options, clap::Error> {
    let matches = command().try_get_matches_from(arguments)?;
    let read = Options::from_arg_matches(&matches);
    let mut options = read.map_err(|error| error.format(&mut command()))?;
    let matches = matches.subcommand().map_or(&matches, |(_, matches)| matches);
    let is_explicit = |name: &str| {
        matches.ids().any(|id| id == name)
            && matches.value_source(name) == Some(ValueSource::CommandLine)
    };
    let scene = match &mut options.command {
        Some(Command::View(view)) => &mut view.scene,
        None => &mut options.scene,
        Some(_) => return Ok(options),
    };
    scene.drawing.is_renderer_explicit = is_explicit("renderer");
    scene.drawing.is_backend_explicit = is_explicit("backend");
    scene.camera.is_size_explicit = is_explicit("size");
    Ok(options)
}

/// Moves the operands of `drystone import` behind its options. If the first of two operands is
/// optional, clap takes an operand before an option for the last one.
fn operands_last(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut words = words.into_iter();
    let mut sorted: Vec<OsString> = words.by_ref().take(2).collect();
    if sorted.get(1).is_none_or(|word| word != "import") {
        sorted.extend(words);
        return sorted;
    }
    let options = command();
    let import = options.find_subcommand("import");
    let mut operands = Vec::new();
    while let Some(word) = words.next() {
        match word.to_str() {
            // All that follows are operands; clap reads only the last one after `--`.
            Some("--") => {
                operands.extend(words.by_ref());
                operands.insert(operands.len().saturating_sub(1), word);
            }
            Some(text) if text.starts_with('-') && text.len() > 1 => {
                let has_value = import.is_some_and(|import| takes_next(import, text));
                sorted.push(word);
                sorted.extend(words.by_ref().take(usize::from(has_value)));
            }
            _ => operands.push(word),
        }
    }
    sorted.extend(operands);
    sorted
}

/// Writes `--ao` without a value as `--ao=on`. It had no value once, and then `--ao FILE` must not take
/// the file as one.
fn with_values(mut words: Vec<OsString>) -> Vec<OsString> {
    let is_value = |word: &OsString| ["auto", "on", "off"].iter().any(|value| word == value);
    let options = words.iter().take_while(|word| *word != "--").count();
    for at in 0..options {
        if words[at] == "--ao" && !words.get(at + 1).is_some_and(is_value) {
            words[at] = "--ao=on".into();
        }
    }
    words
}

/// Whether the argument after the option `text` is its value.
fn takes_next(command: &clap::Command, text: &str) -> bool {
    let argument = command.get_arguments().find(|argument| {
        let is_long = argument.get_long().is_some_and(|long| text.strip_prefix("--") == Some(long));
        let mut short = text.strip_prefix('-').unwrap_or_default().chars();
        is_long || (short.next() == argument.get_short() && short.next().is_none())
    });
    argument.is_some_and(|argument| argument.get_action().takes_values())
}

/// The first paragraph of clap's message, in one line and without its prefix: the rest
/// repeats the usage.
fn first_paragraph(message: &str) -> String {
    let lines = message.lines().map(str::trim).take_while(|line| !line.is_empty());
    let line = lines.collect::<Vec<_>>().join(" ");
    line.strip_prefix("error: ").unwrap_or(&line).to_owned()
}
