//! What the command line can say.

mod edits;
mod fly;
mod height_map;
mod look;
mod order;
mod pool_map;
mod rules;
#[cfg(test)]
mod tests;
mod values;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    str::FromStr,
};

use clap::{
    Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum, error::ErrorKind,
    parser::ValueSource,
};
use drystone::scene::{BackendKind, MemoryBudget, Meshing, RendererKind, Shade, Side, Size};
use drystone_render::{Atmosphere, Cull};
use drystone_world::{GeneratorConfig, Model, VoxelModel};
use glam::DVec3;

use crate::allocator::AllocatorKind;
pub(crate) use edits::{EditsArgs, SaveArgs};
pub(crate) use fly::{FlyOptions, Way};
pub(crate) use height_map::HeightMapArgs;
pub(crate) use look::{Haze, LookArgs, Tint};
pub(crate) use pool_map::{PlacementKind, PoolMapOptions};
use rules::misused;
pub(crate) use values::point;
use values::{chunks, distance, side};

/// Packs thousands of changing meshes into a few GPU buffers and draws them with one call.
///
/// SOURCE is a MagicaVoxel file (.vox), a Minecraft Java world (.mca, a save folder), a height
/// map (.png, .tif, .hgt) or a polygon model (.obj, .gltf, .glb); without one, a world is
/// generated. Without a command, SOURCE is shown in a window, or where there is no display,
/// drawn to drystone.png.
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
    /// What to show and how, of the commands that show something.
    fn scene_options(&self) -> Option<&SceneOptions> {
        match &self.command {
            Some(Command::View(view)) => Some(&view.scene),
            Some(Command::Shot(shot)) => Some(&shot.scene),
            Some(Command::Fly(fly)) => Some(&fly.scene),
            Some(
                Command::Info(_) | Command::PoolMap(_) | Command::Import(_) | Command::Check(_),
            ) => None,
            None => Some(&self.scene),
        }
    }

    /// The allocator that was asked for.
    pub(crate) fn allocator(&self) -> AllocatorKind {
        match &self.command {
            Some(Command::View(view)) => view.scene.memory.allocator,
            Some(Command::Shot(shot)) => shot.scene.memory.allocator,
            Some(Command::Fly(fly)) => fly.scene.memory.allocator,
            Some(Command::Info(info)) => info.memory.allocator,
            Some(Command::PoolMap(map)) => map.memory.allocator,
            Some(Command::Import(import)) => import.memory.allocator,
            Some(Command::Check(check)) => check.memory.allocator,
            None => self.scene.memory.allocator,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Open a window and fly through SOURCE (keys: H in the window, or --keys)
    View(ViewOptions),
    /// Draw SOURCE to a PNG
    Shot(ShotOptions),
    /// Draw SOURCE from place to place along a way, to a GIF or a PNG each
    Fly(FlyOptions),
    /// Say what SOURCE holds: dimensions, chunks, voxels by material, quads, bytes; or of a
    /// polygon model: polygons, vertices, what sharing them saves, materials, warnings
    Info(InfoOptions),
    /// Copy SOURCE into a stored world, with progress; goes on where it was stopped
    Import(ImportArguments),
    /// Verify every checksum of a stored world
    Check(CheckArguments),
    /// Draw what lies where in the vertex pool to an SVG or PNG: live by mesh, waiting, free; of
    /// a polygon model its vertices and its indices
    PoolMap(PoolMapOptions),
}

/// What to show and how.
#[derive(Clone, Debug, Args)]
pub(crate) struct SceneOptions {
    #[command(flatten)]
    pub(crate) source: SourceOptions,
    #[command(flatten)]
    pub(crate) edits: EditsArgs,
    /// How meshes are kept and drawn: pool, naive or instanced (cube by cube; also
    /// instanced-last-leaf and instanced-oldest, by the place that a cube takes)
    #[arg(long, value_name = "KIND", default_value = "pool", value_parser = RendererKind::from_str)]
    pub(crate) renderer: RendererKind,
    /// Whether the command line says so.
    #[arg(skip)]
    pub(crate) is_renderer_said: bool,
    /// What draws: auto (a GPU, else soft), soft, wgpu, gl, or gl-staged (gl without mapped memory)
    #[arg(long, value_name = "KIND", default_value = "auto", value_parser = BackendKind::from_str)]
    pub(crate) backend: BackendKind,
    /// Who leaves out what cannot be seen: cpu (facings that look away, meshes out of view),
    /// or gpu, where it can (these, and what is hidden behind other meshes)
    #[arg(long, value_name = "WHO", default_value = "cpu", value_parser = Cull::from_str)]
    pub(crate) cull: Cull,
    /// Darken corners of faces by what is near them (ambient occlusion); not with
    /// --renderer instanced, whose cubes have no room for shades, nor of polygon models
    #[arg(long)]
    pub(crate) ao: bool,
    /// How light runs over a polygon model: flat (each polygon by itself) or smooth (with the
    /// file's normals, or the mean of the polygons around)
    #[arg(long, value_name = "HOW", default_value = "smooth", value_parser = Shade::from_str)]
    pub(crate) shade: Shade,
    /// Whether what is far is shown of larger voxels, and voxels are read as they are needed:
    /// auto (in worlds of more than 8,192 chunks), on or off (all is read first)
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    pub(crate) levels: LevelsKind,
    /// MiB of memory that a world shown at levels of detail may take, beside some 64 MiB of the
    /// program: vertices and voxels; where that is not enough, voxels are shown larger
    #[arg(long = "memory", value_name = "MIB", default_value_t = DEFAULT_MIB, value_parser = clap::value_parser!(u32).range(32..=1_048_576))]
    pub(crate) memory_mib: u32,
    #[command(flatten)]
    pub(crate) memory: MemoryOptions,
    /// The picture's or window's size in pixels
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = Size::from_str)]
    pub(crate) size: Size,
    /// Where the eye is, in voxels, or a model's units (default: where the whole scene is seen)
    #[arg(long, value_name = "X,Y,Z", value_parser = point, allow_hyphen_values = true)]
    pub(crate) eye: Option<DVec3>,
    /// What the eye looks at, in the same (default: the scene's middle)
    #[arg(long, value_name = "X,Y,Z", value_parser = point, allow_hyphen_values = true)]
    pub(crate) look: Option<DVec3>,
    /// From which side all of the scene is seen: top, or degrees around it, 0 being where it is
    /// seen from otherwise
    #[arg(long, value_name = "top|DEGREES", value_parser = side, conflicts_with = "eye", allow_hyphen_values = true)]
    pub(crate) from: Option<Side>,
    /// Project in parallel, so that far is as large as near
    #[arg(long)]
    pub(crate) orthographic: bool,
    #[command(flatten)]
    pub(crate) air: LookArgs,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Say what is being done
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

impl SceneOptions {
    /// How the source is meshed.
    pub(crate) fn meshing(&self) -> Meshing {
        Meshing { occlusion: self.ao }
    }

    /// What a world shown at levels of detail may take.
    pub(crate) fn memory_budget(&self) -> MemoryBudget {
        MemoryBudget::new(u64::from(self.memory_mib) << 20)
    }

    /// How dark what is near makes corners.
    pub(crate) fn occlusion(&self) -> f32 {
        if self.ao { Atmosphere::OCCLUSION } else { 0.0 }
    }
}

/// Where the program's memory comes from.
#[derive(Clone, Debug, Args)]
pub(crate) struct MemoryOptions {
    /// What the program's memory comes from: system, or small, which keeps small objects
    /// apart and says how many there were
    #[arg(long, value_name = "KIND", default_value = "system", value_parser = AllocatorKind::from_str)]
    pub(crate) allocator: AllocatorKind,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct SourceOptions {
    /// The file to read; none for a generated world
    #[arg(value_name = "SOURCE")]
    pub(crate) path: Option<PathBuf>,
    /// The generated world's seed: the same seed gives the same world
    #[arg(long, value_name = "NUMBER", default_value_t = GeneratorConfig::default().seed, conflicts_with = "path", allow_hyphen_values = true)]
    pub(crate) seed: u64,
    /// The generated world's size in chunks of 32 voxels
    #[arg(long, value_name = "XxYxZ", value_parser = chunks, conflicts_with = "path")]
    pub(crate) chunks: Option<[u32; 3]>,
    /// The generated world's height from the deepest lake to above the highest peak, 16 to
    /// 1024 voxels; hills grow in width with it
    #[arg(long, value_name = "VOXELS", default_value_t = GeneratorConfig::default().relief_voxels, conflicts_with = "path")]
    pub(crate) relief: u32,
    /// Of a polygon model: how far apart corners may be to become one, in the file's unit
    #[arg(long, value_name = "DISTANCE", value_parser = distance, default_value = "0", requires = "path")]
    pub(crate) merge: f32,
    #[command(flatten)]
    pub(crate) height_map: HeightMapArgs,
}

impl SourceOptions {
    /// Those of a file of which nothing is said.
    pub(crate) fn of(path: PathBuf) -> Self {
        let generated = GeneratorConfig::default();
        Self {
            path: Some(path),
            seed: generated.seed,
            chunks: None,
            relief: generated.relief_voxels,
            merge: 0.0,
            height_map: HeightMapArgs::default(),
        }
    }

    /// The file, if it is a polygon model.
    pub(crate) fn model_path(&self) -> Option<&Path> {
        self.path.as_deref().filter(|path| Model::is_model(path))
    }
}

#[derive(Debug, Args)]
#[command(after_help = crate::viewer::keys_help())]
pub(crate) struct ViewOptions {
    #[command(flatten)]
    pub(crate) scene: SceneOptions,
    #[command(flatten)]
    pub(crate) save: SaveArgs,
    /// Print the keys and stop
    #[arg(long)]
    pub(crate) keys: bool,
    /// Draw so many frames while the eye turns, half of them under panels, print as JSON the time
    /// of whole frames (wall_ms) and what of it the window's thread computed (thread_ms), and stop
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(4..=1_000_000))]
    pub(crate) frames: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct ShotOptions {
    #[command(flatten)]
    pub(crate) scene: SceneOptions,
    /// The PNG to write
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

/// When a world is shown at levels of detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LevelsKind {
    Auto,
    On,
    Off,
}

#[derive(Debug, Args)]
#[command(allow_missing_positional = true)]
pub(crate) struct ImportArguments {
    #[command(flatten)]
    pub(crate) source: SourceOptions,
    #[command(flatten)]
    pub(crate) edits: EditsArgs,
    /// The stored world to write, by custom NAME.drystone
    #[arg(value_name = "WORLD")]
    pub(crate) world: PathBuf,
    /// Of a polygon model: voxels along its longest side
    #[arg(long, value_name = "N", requires = "path", value_parser = clap::value_parser!(u32).range(1..=i64::from(VoxelModel::MAX_VOXELS)))]
    pub(crate) voxels: Option<u32>,
    /// MiB of memory that the import may take, beside what the source takes itself
    #[arg(long = "memory", value_name = "MIB", default_value_t = 256, value_parser = clap::value_parser!(u32).range(64..=1_048_576))]
    pub(crate) memory_mib: u32,
    #[command(flatten)]
    pub(crate) memory: MemoryOptions,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// The stored world
    #[arg(value_name = "WORLD")]
    pub(crate) world: PathBuf,
    /// Put what is whole into a new file in its place; the damaged one is kept, with .damaged
    /// behind its name
    #[arg(long)]
    pub(crate) repair: bool,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) memory: MemoryOptions,
}

/// The memory that is divided if nothing else is said.
const DEFAULT_MIB: u32 = (MemoryBudget::DEFAULT_BYTES >> 20) as u32;

/// Why there is nothing to run.
pub(crate) enum Stop {
    /// Help or version was asked for.
    Text(String),
    /// The words do not fit, in one line.
    Usage(String),
}

/// Reads the command line.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Options, Stop> {
    let parsed = read(order::names_last(arguments)).map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Stop::Text(error.render().to_string())
        }
        _ => Stop::Usage(first_paragraph(&error.render().to_string())),
    })?;
    match misused(&parsed) {
        Some(line) => Err(Stop::Usage(line.into())),
        None => Ok(parsed),
    }
}

/// Reads the words, and which of the viewer's they said.
fn read(words: Vec<OsString>) -> Result<Options, clap::Error> {
    const RENDERER: &str = "renderer";
    let matches = Options::command().try_get_matches_from(words)?;
    let read = Options::from_arg_matches(&matches);
    let mut options = read.map_err(|error| error.format(&mut Options::command()))?;
    let words = matches.subcommand().map_or(&matches, |(_, words)| words);
    let is_said = words.ids().any(|id| id == RENDERER)
        && words.value_source(RENDERER) == Some(ValueSource::CommandLine);
    match &mut options.command {
        Some(Command::View(view)) => view.scene.is_renderer_said = is_said,
        None => options.scene.is_renderer_said = is_said,
        Some(_) => {}
    }
    Ok(options)
}

/// The first paragraph of clap's message, in one line and without its prefix: the rest
/// repeats the usage.
fn first_paragraph(message: &str) -> String {
    let lines = message.lines().map(str::trim).take_while(|line| !line.is_empty());
    let line = lines.collect::<Vec<_>>().join(" ");
    line.strip_prefix("error: ").unwrap_or(&line).to_owned()
}
