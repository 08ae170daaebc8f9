//! Commands on files of whole worlds.

use std::path::PathBuf;

use clap::Args;
use drystone_formats::VoxelModel;
use drystone_store::PackPart;
use glam::DVec3;

use super::{EditsArgs, MemoryOptions, SourceOptions, point, values::part};

/// A source that is copied into a file.
#[derive(Debug, Args)]
pub(crate) struct CopyArguments {
    #[command(flatten)]
    pub(crate) source: SourceOptions,
    #[command(flatten)]
    pub(crate) edits: EditsArgs,
    /// Polygon models: voxels along the longest side
    #[arg(long, value_name = "N", requires = "path", value_parser = clap::value_parser!(u32).range(1..=i64::from(VoxelModel::MAX_VOXELS)))]
    pub(crate) voxels: Option<u32>,
    /// Memory limit in MiB, without the memory of the source itself
    #[arg(long = "memory", value_name = "MIB", default_value_t = 256, value_parser = clap::value_parser!(u32).range(64..=1_048_576))]
    pub(crate) memory_mib: u32,
    #[command(flatten)]
    pub(crate) memory: MemoryOptions,
}

impl CopyArguments {
    /// Returns the limit for memory in bytes.
    pub(crate) fn memory_bytes(&self) -> u64 {
        u64::from(self.memory_mib) << 20
    }
}

#[derive(Debug, Args)]
#[command(allow_missing_positional = true)]
pub(crate) struct ImportArguments {
    #[command(flatten)]
    pub(crate) copy: CopyArguments,
    /// Stored world to write, usually named NAME.drystone
    #[arg(value_name = "WORLD")]
    pub(crate) world: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct PackArguments {
    #[command(flatten)]
    pub(crate) copy: CopyArguments,
    /// Packed world to write, a file or an object such as s3://BUCKET/KEY; an older one under this name is replaced
    #[arg(short, long, value_name = "FILE.dsw")]
    pub(crate) output: PathBuf,
    /// Pack only part I of N, from 1; merge joins all parts
    #[arg(long, value_name = "I/N", value_parser = part, alias = "shard")]
    pub(crate) part: Option<PackPart>,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArguments {
    /// All parts of a world, files or addresses, in any order
    #[arg(value_name = "PART.dsw", required = true)]
    pub(crate) parts: Vec<PathBuf>,
    /// Packed world to write, a file or an object such as s3://BUCKET/KEY; an older one under this name is replaced
    #[arg(short, long, value_name = "FILE.dsw")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) memory: MemoryOptions,
}

#[derive(Debug, Args)]
pub(crate) struct PublishArguments {
    #[command(flatten)]
    pub(crate) copy: CopyArguments,
    /// Folder to write; an older site in it is replaced, other files are kept
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: PathBuf,
    /// Title of the page (default: the name of the source)
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// First position of the camera, in voxels (default: chosen by the page)
    #[arg(long, value_name = "X,Y,Z", value_parser = point, allow_hyphen_values = true, requires = "look")]
    pub(crate) eye: Option<DVec3>,
    /// Target point of the first camera
    #[arg(long, value_name = "X,Y,Z", value_parser = point, allow_hyphen_values = true, requires = "eye")]
    pub(crate) look: Option<DVec3>,
    /// Folder of the built page (default: `page` beside this program, or web/dist, where `make web` builds it)
    #[arg(long, value_name = "FOLDER")]
    pub(crate) page: Option<PathBuf>,
}

#[cfg(feature = "remote")]
#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// Packed world, or folder with worlds and pages
    #[arg(value_name = "FILE|FOLDER")]
    pub(crate) path: PathBuf,
    /// Port; 0 takes a free one
    #[arg(long, value_name = "NUMBER", default_value_t = 8000)]
    pub(crate) port: u16,
    /// Address of this machine; 0.0.0.0 serves to the whole network
    #[arg(long, value_name = "ADDRESS", default_value_t = std::net::Ipv4Addr::LOCALHOST.into())]
    pub(crate) host: std::net::IpAddr,
    #[command(flatten)]
    pub(crate) memory: MemoryOptions,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// Stored or packed world to verify
    #[arg(value_name = "WORLD")]
    pub(crate) world: PathBuf,
    /// Replace a stored world by a repaired one without the damaged chunks; the damaged file is kept
    /// under its name with .damaged appended
    #[arg(long)]
    pub(crate) repair: bool,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) memory: MemoryOptions,
}
