use std::borrow::Cow;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use crate::{
    HeightMap, HeightMapOptions, MinecraftWorld, Model, ModelOptions, QbFile, Source, StoredWorld,
    VoxFile, WorldError,
};

/// File formats that [`open`] reads.
///
/// A format consists of its own module, its lines in this enum, and its section in the manual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// MagicaVoxel `.vox`: [`VoxFile`].
    MagicaVoxel,
    /// Qubicle Binary `.qb`: [`QbFile`].
    Qubicle,
    /// A region file, or a folder with regions: [`MinecraftWorld`].
    Minecraft,
    /// Heights as PNG, GeoTIFF or SRTM tile: [`HeightMap`].
    HeightMap,
    /// A world in this project's own format: [`StoredWorld`].
    Stored,
    /// Wavefront OBJ or glTF: [`Model`].
    Model,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 6] = [
        Self::MagicaVoxel,
        Self::Qubicle,
        Self::Minecraft,
        Self::HeightMap,
        Self::Stored,
        Self::Model,
    ];

    /// Name and extensions, in the plural, for messages.
    pub const fn description(self) -> &'static str {
        match self {
            Self::MagicaVoxel => "MagicaVoxel files (.vox)",
            Self::Qubicle => "Qubicle files (.qb)",
            Self::Minecraft => "Minecraft Java worlds (.mca, save folders)",
            Self::HeightMap => "height maps (.png, .tif, .hgt)",
            Self::Stored => "stored worlds (.drystone)",
            Self::Model => "polygon models (.obj, .gltf, .glb)",
        }
    }

    /// The format of `input`: by its first bytes, and by its extension for formats without a
    /// signature. `None` if it is unknown or the file cannot be read.
    pub fn of(input: Input<'_>) -> Option<Self> {
        let head = input.head();
        let path = input.path();
        let by_content = Self::ALL.into_iter().find(|format| format.has_signature(&head, path));
        by_content.or_else(|| Self::ALL.into_iter().find(|format| format.has_name(path)))
    }

    fn has_signature(self, head: &[u8], path: &Path) -> bool {
        match self {
            Self::MagicaVoxel => VoxFile::has_signature(head),
            Self::HeightMap => HeightMap::is_height_map(head, path),
            Self::Stored => StoredWorld::has_signature(head),
            Self::Qubicle | Self::Minecraft | Self::Model => false,
        }
    }

    fn has_name(self, path: &Path) -> bool {
        match self {
            Self::Qubicle => QbFile::is_qb(path),
            Self::Minecraft => MinecraftWorld::is_minecraft(path),
            Self::Model => Model::is_model(path),
            Self::MagicaVoxel | Self::HeightMap | Self::Stored => false,
        }
    }

    /// Opens voxels. `None` for polygon models.
    fn open_voxels(
        self,
        input: Input<'_>,
        options: &OpenOptions,
    ) -> Option<Result<Box<dyn Source>, WorldError>> {
        let heights = &options.height_map;
        Some(match (self, input) {
            (Self::MagicaVoxel, Input::Path(path)) => VoxFile::open(path).map(boxed),
            (Self::MagicaVoxel, Input::Bytes { bytes, name }) => {
                VoxFile::parse(bytes, name).map(boxed)
            }
            (Self::Qubicle, Input::Path(path)) => QbFile::open(path).map(boxed),
            (Self::Qubicle, Input::Bytes { bytes, name }) => QbFile::parse(bytes, name).map(boxed),
            (Self::Minecraft, Input::Path(path)) => MinecraftWorld::open(path).map(boxed),
            (Self::Minecraft, Input::Bytes { bytes, name }) => {
                MinecraftWorld::parse(bytes, name).map(boxed)
            }
            (Self::HeightMap, Input::Path(path)) => HeightMap::open(path, heights).map(boxed),
            (Self::HeightMap, Input::Bytes { bytes, name }) => {
                HeightMap::parse(bytes, name, heights).map(boxed)
            }
            (Self::Stored, Input::Path(path)) => StoredWorld::open_read_only(path).map(boxed),
            (Self::Stored, Input::Bytes { bytes, name }) => {
                StoredWorld::parse(bytes, name).map(boxed)
            }
            (Self::Model, _) => return None,
        })
    }
}

fn boxed(source: impl Source) -> Box<dyn Source> {
    Box::new(source)
}

/// Decodes a model without the files that it names, which count as missing.
fn parse_model(bytes: &[u8], name: &str, options: &ModelOptions) -> Result<Model, WorldError> {
    let mut missing = |file: &str, _| {
        let problem = io::ErrorKind::NotFound.into();
        Err(WorldError::Unreadable { path: file.into(), problem })
    };
    match Model::is_obj(Path::new(name)) {
        true => Model::parse_obj(bytes, name, options, &mut missing),
        false => Model::parse_gltf(bytes, name, options, &mut missing),
    }
}

/// All formats, as messages list them.
pub(crate) struct SupportedFormats;

impl fmt::Display for SupportedFormats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, format) in Format::ALL.into_iter().enumerate() {
            f.write_str(if index > 0 { ", " } else { "" })?;
            f.write_str(format.description())?;
        }
        Ok(())
    }
}

/// Input of [`open`].
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// A file or a folder.
    Path(&'a Path),
    /// The bytes of a file, where there is no file system, as in a web page.
    Bytes {
        /// The whole file.
        bytes: &'a [u8],
        /// The file's name with its extension.
        name: &'a str,
    },
}

impl<'a, P: AsRef<Path> + ?Sized> From<&'a P> for Input<'a> {
    fn from(path: &'a P) -> Self {
        Self::Path(path.as_ref())
    }
}

impl<'a> Input<'a> {
    /// Number of bytes by which formats are recognised.
    const HEAD_BYTES: usize = 16;

    fn path(self) -> &'a Path {
        match self {
            Self::Path(path) => path,
            Self::Bytes { name, .. } => Path::new(name),
        }
    }

    /// The format. An input of no known format is opened as the first one, which reports the error.
    fn format(self) -> Format {
        Format::of(self).unwrap_or(Format::MagicaVoxel)
    }

    /// The first bytes, at most [`HEAD_BYTES`](Self::HEAD_BYTES). Empty if they cannot be read.
    fn head(self) -> Cow<'a, [u8]> {
        match self {
            Self::Bytes { bytes, .. } => bytes.get(..Self::HEAD_BYTES).unwrap_or(bytes).into(),
            // Reading from a pipe could block, and would consume what is read.
            Self::Path(path) if path.is_file() => {
                let mut head = Vec::new();
                let file = File::open(path).map(|file| file.take(Self::HEAD_BYTES as u64));
                // What cannot be read has no signature; opening it reports the error.
                match file.and_then(|mut file| file.read_to_end(&mut head)) {
                    Ok(_) => head.into(),
                    Err(_) => Cow::default(),
                }
            }
            Self::Path(_) => Cow::default(),
        }
    }
}

/// Options of all formats, for [`open`].
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// Scale and levels of height maps.
    pub height_map: HeightMapOptions,
    /// Limits and merging of polygon models.
    pub model: ModelOptions,
}

/// The content of a file.
pub enum Opened {
    /// Voxels. Each chunk is decoded when it is requested.
    Voxels(Box<dyn Source>),
    /// A polygon model.
    Model(Box<Model>),
}

/// Opens a file, a folder or the bytes of a file. The format is found by [`Format::of`].
///
/// A stored world is opened for reading only.
///
/// # Errors
/// A file that is missing, unreadable, of an unknown format, damaged, or larger than its format's
/// limits. The message names the file and what to do.
///
/// # Examples
/// ```
/// use drystone_world::{Input, OpenOptions, Opened, open};
///
/// // A plain at 100 m, samples 3 arc seconds apart.
/// let bytes = [0, 100].repeat(1201 * 1201);
/// let input = Input::Bytes { bytes: &bytes, name: "N47E011.hgt" };
/// match open(input, &OpenOptions::default())? {
///     Opened::Voxels(source) => assert!(source.chunk_count() > 0),
///     Opened::Model(_) => unreachable!("a height map has voxels"),
/// }
/// let input = Input::Bytes { bytes: b"some words", name: "notes.txt" };
/// assert!(open(input, &OpenOptions::default()).is_err());
/// # Ok::<(), drystone_world::WorldError>(())
/// ```
pub fn open<'a>(input: impl Into<Input<'a>>, options: &OpenOptions) -> Result<Opened, WorldError> {
    let input = input.into();
    if let Some(source) = input.format().open_voxels(input, options) {
        return source.map(Opened::Voxels);
    }
    let model = match input {
        Input::Path(path) => Model::open(path, &options.model),
        Input::Bytes { bytes, name } => parse_model(bytes, name, &options.model),
    };
    model.map(|model| Opened::Model(Box::new(model)))
}

/// Opens like [`open`], but rejects a polygon model before it is read.
///
/// # Errors
/// The errors of [`open`], and [`WorldError::IsModel`] for a polygon model.
pub fn open_voxels<'a>(
    input: impl Into<Input<'a>>,
    options: &OpenOptions,
) -> Result<Box<dyn Source>, WorldError> {
    let input = input.into();
    input.format().open_voxels(input, options).unwrap_or_else(|| {
        let path = input.path();
        match input {
            Input::Path(path) => fs::metadata(path).map(drop),
            Input::Bytes { .. } => Ok(()),
        }
        .map_err(|problem| WorldError::Unreadable { path: path.into(), problem })?;
        Err(WorldError::IsModel { path: path.into() })
    })
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Voxels(source) => f.debug_tuple("Voxels").field(&source.name()).finish(),
            Self::Model(model) => f.debug_tuple("Model").field(&model.name).finish(),
        }
    }
}
