use std::{ffi::OsString, path::PathBuf};

use clap::{
    Args,
    builder::{OsStringValueParser, TypedValueParser},
};
use drystone_formats::{ExportFormat, ExportNodes, ExportOptions, FaceColors, VoxelModel};
use drystone_voxel::{NodePos, VoxelBox, VoxelPos};

use super::{EditsArgs, MemoryOptions, SourceOptions, Up, values::voxel_box};

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    #[command(flatten)]
    pub(crate) source: SourceOptions,
    #[command(flatten)]
    pub(crate) edits: EditsArgs,
    /// File to write: .glb (binary glTF), .obj (with a .mtl beside it), .ply, .stl (binary) or .vox
    /// (MagicaVoxel)
    #[arg(short, long, value_name = "FILE", value_parser = OsStringValueParser::new().try_map(exported))]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) mesh: MeshArgs,
    #[command(flatten)]
    pub(crate) part: PartArgs,
    /// Polygon models: convert to voxels first, this many along the longest side
    #[arg(long, value_name = "N", requires = "path", value_parser = clap::value_parser!(u32).range(1..=i64::from(VoxelModel::MAX_VOXELS)))]
    pub(crate) voxels: Option<u32>,
    /// Memory limit of the export in MiB, without the memory of the source itself and 12 bytes for
    /// each of its chunks
    #[arg(long = "memory", value_name = "MIB", default_value_t = 256, value_parser = clap::value_parser!(u32).range(64..=1_048_576))]
    pub(crate) memory_mib: u32,
    #[command(flatten)]
    pub(crate) memory: MemoryOptions,
}

/// Options of mesh formats.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct MeshArgs {
    /// Factor on all coordinates (not for .vox)
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = scale)]
    pub(crate) scale: f64,
    /// Axis that points up (not for .vox, where it is always Z)
    #[arg(long, value_enum, value_name = "AXIS", default_value = "y")]
    pub(crate) up: Up,
    /// One node with one mesh, instead of one for each chunk or part (.glb only)
    #[arg(long)]
    pub(crate) join: bool,
    /// Merge faces of different colours; the colours go into a texture with one texel for each face
    /// (.glb only, not for polygon models)
    #[arg(long)]
    pub(crate) bake: bool,
}

/// Options that select a part of a voxel source.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct PartArgs {
    /// Level of detail: a voxel of level N is 2^N units long (not for polygon models)
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=i64::from(NodePos::MAX_LEVEL)))]
    pub(crate) level: u8,
    /// Only the voxels of a box, named by two opposite voxels (not for polygon models)
    #[arg(long = "box", value_name = "X,Y,Z,X,Y,Z", value_parser = voxel_box, allow_hyphen_values = true)]
    pub(crate) bounds: Option<[VoxelPos; 2]>,
}

impl ExportArguments {
    /// Returns the format, which the extension of the file decides.
    pub(crate) fn format(&self) -> ExportFormat {
        ExportFormat::of(&self.output).unwrap_or(ExportFormat::Glb)
    }

    /// Whether polygons are exported, and not voxels.
    pub(crate) fn is_of_polygons(&self) -> bool {
        self.source.model_path().is_some() && self.voxels.is_none()
    }

    /// Returns the options of the library. A quarter of the memory is for recently used chunks.
    pub(crate) fn export_options(&self) -> ExportOptions {
        let MeshArgs { scale, up, join, bake } = self.mesh;
        let mut options = ExportOptions::new(self.format());
        options.scale = scale;
        options.up = up.axis();
        options.nodes = if join { ExportNodes::Joined } else { ExportNodes::Chunks };
        options.colors = if bake { FaceColors::Baked } else { FaceColors::Palette };
        options.memory_bytes = self.memory_bytes() - self.cache_bytes();
        options
    }

    /// Returns the limit for recently used chunks, in bytes.
    pub(crate) fn cache_bytes(&self) -> u64 {
        self.memory_bytes() / 4
    }

    fn memory_bytes(&self) -> u64 {
        u64::from(self.memory_mib) << 20
    }
}

impl PartArgs {
    /// Returns the box of `--box`, which contains both voxels.
    pub(crate) fn bounds(&self) -> Option<VoxelBox> {
        self.bounds.map(|[a, b]| VoxelBox::of(a).union(VoxelBox::of(b)))
    }
}

fn exported(text: OsString) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if ExportFormat::of(&path).is_some() {
        return Ok(path);
    }
    Err("name a file that ends in .glb, .obj, .ply, .stl or .vox".into())
}

fn scale(text: &str) -> Result<f64, String> {
    /// Coordinates stay in the range of `f32`.
    const RANGE: std::ops::RangeInclusive<f64> = 1e-9..=1e9;
    match text.parse() {
        Ok(scale) if RANGE.contains(&scale) => Ok(scale),
        _ => Err("a scale is a number from 1e-9 to 1e9, such as 0.1".into()),
    }
}
