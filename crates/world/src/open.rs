use std::fmt;
use std::fs;

#[cfg(feature = "minecraft")]
use drystone_formats::MinecraftWorld;
use drystone_formats::{
    Format, HeightMap, HeightMapOptions, Input, MemoryFile, Model, ModelOptions, QbFile, Source,
    SourceError,
};
#[cfg(feature = "vox")]
use drystone_formats::{VoxFile, VoxOptions};
use drystone_store::{PackedWorld, StoreOptions, StoredWorld};

#[cfg(all(test, feature = "vox"))]
mod tests;

/// Options of all formats, for [`open`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct OpenOptions {
    /// Scale and levels of height maps.
    pub height_map: HeightMapOptions,
    /// Limits and merging of polygon models.
    pub model: ModelOptions,
    /// Frame of animated `.vox` files.
    #[cfg(feature = "vox")]
    pub vox: VoxOptions,
}

impl OpenOptions {
    /// Replaces [`height_map`](Self::height_map).
    #[must_use]
    pub fn with_height_map(mut self, height_map: HeightMapOptions) -> Self {
        self.height_map = height_map;
        self
    }

    /// Replaces [`model`](Self::model).
    #[must_use]
    pub fn with_model(mut self, model: ModelOptions) -> Self {
        self.model = model;
        self
    }

    /// Replaces [`vox`](Self::vox).
    #[cfg(feature = "vox")]
    #[must_use]
    pub const fn with_vox(mut self, vox: VoxOptions) -> Self {
        self.vox = vox;
        self
    }
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
/// use drystone_formats::Input;
/// use drystone_world::{OpenOptions, Opened, open};
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
/// # Ok::<(), drystone_formats::SourceError>(())
/// ```
pub fn open<'a>(input: impl Into<Input<'a>>, options: &OpenOptions) -> Result<Opened, SourceError> {
    let input = input.into();
    if let Some(source) = open_format(format_of(input), input, options) {
        return source.map(Opened::Voxels);
    }
    let model = match input {
        Input::Path(path) => Model::open(path, &options.model),
        Input::Bytes { bytes, name } => Model::parse(bytes, name, &options.model),
    };
    model.map(|model| Opened::Model(Box::new(model)))
}

/// Opens like [`open`], but rejects a polygon model before it is read.
///
/// # Errors
/// The errors of [`open`], and [`SourceError::IsModel`] for a polygon model.
pub fn open_voxels<'a>(
    input: impl Into<Input<'a>>,
    options: &OpenOptions,
) -> Result<Box<dyn Source>, SourceError> {
    let input = input.into();
    open_format(format_of(input), input, options).unwrap_or_else(|| {
        Err(unreadable(input).unwrap_or_else(|| SourceError::IsModel { path: input.path().into() }))
    })
}

/// The error of a path that does not exist or cannot be read.
fn unreadable(input: Input<'_>) -> Option<SourceError> {
    let Input::Path(path) = input else { return None };
    let problem = fs::metadata(path).err()?;
    Some(SourceError::Unreadable { path: path.into(), problem })
}

/// The format. An input of no known format is opened as the first one, which reports the error.
fn format_of(input: Input<'_>) -> Format {
    Format::of(input).unwrap_or(Format::MagicaVoxel)
}

/// Opens voxels. `None` for polygon models.
fn open_format(
    format: Format,
    input: Input<'_>,
    options: &OpenOptions,
) -> Option<Result<Box<dyn Source>, SourceError>> {
    let heights = &options.height_map;
    Some(match (format, input) {
        #[cfg(feature = "vox")]
        (Format::MagicaVoxel, Input::Path(path)) => {
            VoxFile::open_with(path, &options.vox).map(boxed)
        }
        #[cfg(feature = "vox")]
        (Format::MagicaVoxel, Input::Bytes { bytes, name }) => {
            VoxFile::parse_with(bytes, name, &options.vox).map(boxed)
        }
        (Format::Qubicle, Input::Path(path)) => QbFile::open(path).map(boxed),
        (Format::Qubicle, Input::Bytes { bytes, name }) => QbFile::parse(bytes, name).map(boxed),
        #[cfg(feature = "minecraft")]
        (Format::Minecraft, Input::Path(path)) => MinecraftWorld::open(path).map(boxed),
        #[cfg(feature = "minecraft")]
        (Format::Minecraft, Input::Bytes { bytes, name }) => {
            MinecraftWorld::parse(bytes, name).map(boxed)
        }
        (Format::HeightMap, Input::Path(path)) => HeightMap::open(path, heights).map(boxed),
        (Format::HeightMap, Input::Bytes { bytes, name }) => {
            HeightMap::parse(bytes, name, heights).map(boxed)
        }
        (Format::Stored, Input::Path(path)) => {
            StoredWorld::open(path, &StoreOptions::read_only()).map(boxed)
        }
        (Format::Stored, Input::Bytes { bytes, name }) => {
            let file = MemoryFile::of_bytes(name, bytes.to_vec(), usize::MAX);
            StoredWorld::open(&file, &StoreOptions::read_only()).map(boxed)
        }
        (Format::Packed, Input::Path(path)) => PackedWorld::open(path).map(boxed),
        (Format::Packed, Input::Bytes { bytes, name }) => {
            PackedWorld::read(Box::new(bytes.to_vec()), name).map(boxed)
        }
        (Format::Model, _) => return None,
        _ => Err(unreadable(input).unwrap_or_else(|| SourceError::Unsupported {
            path: input.path().into(),
            found: "not in a format that this program reads".into(),
        })),
    })
}

fn boxed(source: impl Source) -> Box<dyn Source> {
    Box::new(source)
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Voxels(source) => f.debug_tuple("Voxels").field(&source.name()).finish(),
            Self::Model(model) => f.debug_tuple("Model").field(&model.name).finish(),
        }
    }
}
