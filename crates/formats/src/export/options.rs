use crate::up_axis::UpAxis;
use std::path::Path;

/// File formats that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExportFormat {
    /// Binary glTF 2.0, `.glb`: colours as a texture, normals, one or many nodes.
    Glb,
    /// Wavefront `.obj` with a material file. Voxel faces have normals.
    Obj,
    /// Binary Stanford `.ply`: vertices with colours.
    Ply,
    /// Binary `.stl`: one solid without colours.
    Stl,
    /// MagicaVoxel `.vox`: voxels, in models of at most 256³.
    Vox,
}

impl ExportFormat {
    /// Every format.
    pub const ALL: [Self; 5] = [Self::Glb, Self::Obj, Self::Ply, Self::Stl, Self::Vox];

    /// Returns the format of a file by its extension, in any case; `None` if no format has it.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?;
        Self::ALL.into_iter().find(|it| extension.eq_ignore_ascii_case(it.extension()))
    }

    /// Returns the extension, without a dot.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Glb => "glb",
            Self::Obj => "obj",
            Self::Ply => "ply",
            Self::Stl => "stl",
            Self::Vox => "vox",
        }
    }
}

/// Nodes of an exported glTF file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExportNodes {
    /// One node with a mesh for each chunk that has faces, or for each part of a model.
    #[default]
    Chunks,
    /// One node with one mesh.
    Joined,
}

/// Storage of the colours of a glTF file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaceColors {
    /// A texture with one texel for each material. Faces of one material are merged.
    #[default]
    Palette,
    /// A texture with one texel for each voxel face, except in rectangles of one colour. All opaque
    /// faces are merged. Voxels only.
    Baked,
}

/// Options of an export.
///
/// # Examples
/// ```
/// use drystone_formats::{ExportFormat, ExportOptions, UpAxis};
///
/// // Voxels of 2.5 mm for a printer.
/// let mut options = ExportOptions::new(ExportFormat::Stl);
/// options.scale = 2.5;
/// options.up = UpAxis::Z;
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExportOptions {
    /// Format of the file.
    pub format: ExportFormat,
    /// Factor on all coordinates of a mesh. Default: 1.
    pub scale: f64,
    /// Axis that points up in a mesh. Default: Y.
    pub up: UpAxis,
    /// Nodes of a glTF file.
    pub nodes: ExportNodes,
    /// Colours of a glTF file.
    pub colors: FaceColors,
    /// Name of the material file that an `.obj` file refers to. Control characters, such as a line
    /// feed, are written as `_`. Default: `materials.mtl`.
    pub material_file: String,
    /// Memory of the export in bytes, without that of the source. Default: 192 MiB.
    pub memory_bytes: u64,
}

impl ExportOptions {
    /// Creates the default options of a format.
    pub fn new(format: ExportFormat) -> Self {
        Self {
            format,
            scale: 1.0,
            up: UpAxis::Y,
            nodes: ExportNodes::Chunks,
            colors: FaceColors::Palette,
            material_file: "materials.mtl".into(),
            memory_bytes: 192 << 20,
        }
    }
}
