use std::path::PathBuf;

use clap::{
    Args, ValueEnum,
    builder::{OsStringValueParser, TypedValueParser},
};

use super::{MemoryOptions, SourceOptions, values::svg_or_png};

/// The pool is filled as in the viewer, with mapped memory and a GPU that is two frames behind. No
/// GPU is needed.
#[derive(Debug, Args)]
pub(crate) struct PoolMapOptions {
    #[command(flatten)]
    pub(crate) source: SourceOptions,
    #[command(flatten)]
    pub(crate) memory: MemoryOptions,
    /// SVG or PNG file to write; an SVG has a tooltip for each range
    #[arg(short, long, value_name = "FILE.svg|FILE.png", value_parser = OsStringValueParser::new().try_map(svg_or_png))]
    pub(crate) output: PathBuf,
    /// Allocator of the pool: ranges of any size, size classes, or equal buckets
    #[arg(long, value_enum, value_name = "KIND", default_value = "ranges")]
    pub(crate) placement: PlacementKind,
    /// Maximum size of a buffer in KiB
    #[arg(long, value_name = "KIB", default_value_t = 131_072, value_parser = clap::value_parser!(u32).range(1..=131_072))]
    pub(crate) buffer_kib: u32,
    /// Holes to dig into the world first, one per frame; the meshes that they replace leave waiting
    /// ranges, then gaps
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) holes: u32,
    /// Move meshes together, a few each frame, as the viewer does
    #[arg(long)]
    pub(crate) defragment: bool,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Allocator of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlacementKind {
    Ranges,
    Classes,
    Buckets,
}
