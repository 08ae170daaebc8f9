use std::path::PathBuf;

use clap::{
    Args, ValueEnum,
    builder::{OsStringValueParser, TypedValueParser},
};

use super::{MemoryOptions, SourceOptions, values::svg_or_png};

/// The pool is filled as the viewer fills its own, with mapped memory and a GPU that is
/// two frames behind; no GPU is needed for it.
#[derive(Debug, Args)]
pub(crate) struct PoolMapOptions {
    #[command(flatten)]
    pub(crate) source: SourceOptions,
    #[command(flatten)]
    pub(crate) memory: MemoryOptions,
    /// The SVG or PNG to write; an SVG also says what each stripe is when pointed at
    #[arg(short, long, value_name = "FILE.svg|FILE.png", value_parser = OsStringValueParser::new().try_map(svg_or_png))]
    pub(crate) output: PathBuf,
    /// How the pool hands out places: ranges of any size, size classes, or equal buckets
    #[arg(long, value_enum, value_name = "KIND", default_value = "ranges")]
    pub(crate) placement: PlacementKind,
    /// How large a buffer may become, in KiB
    #[arg(long, value_name = "KIB", default_value_t = 131_072, value_parser = clap::value_parser!(u32).range(1..=131_072))]
    pub(crate) buffer_kib: u32,
    /// Holes that are dug before, one a frame: the last ones leave places that wait, all
    /// of them leave gaps
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) holes: u32,
    /// Let the pool move meshes together, a little each frame, as the viewer does
    #[arg(long)]
    pub(crate) defragment: bool,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// How a pool hands out places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlacementKind {
    Ranges,
    Classes,
    Buckets,
}
