use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::format::Format;
#[cfg(feature = "height-map")]
use crate::height_map::HeightMap;
#[cfg(feature = "minecraft")]
use crate::minecraft::MinecraftWorld;
#[cfg(feature = "model")]
use crate::model::Model;
#[cfg(feature = "qb")]
use crate::qb::QbFile;
#[cfg(feature = "vox")]
use crate::vox::VoxFile;

/// A file or folder, or the bytes of a file.
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

    /// The path, or the name of the bytes.
    pub fn path(self) -> &'a Path {
        match self {
            Self::Path(path) => path,
            Self::Bytes { name, .. } => Path::new(name),
        }
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

impl Format {
    /// The format of `input`: by its first bytes, and by its extension for formats without a
    /// signature. A picture with the extension of a polygon model counts as a model. `None` if the
    /// format is unknown or not [enabled](Self::is_enabled), or the file cannot be read.
    pub fn of(input: Input<'_>) -> Option<Self> {
        let (head, path) = (input.head(), input.path());
        let by_content = Self::ALL.into_iter().find(|format| format.has_signature(&head, path));
        by_content.or_else(|| Self::ALL.into_iter().find(|format| format.has_name(path)))
    }

    fn has_signature(self, head: &[u8], path: &Path) -> bool {
        match self {
            #[cfg(feature = "vox")]
            Self::MagicaVoxel => VoxFile::has_signature(head),
            #[cfg(feature = "height-map")]
            Self::HeightMap => !Self::Model.has_name(path) && HeightMap::is_height_map(head, path),
            Self::Stored => head.starts_with(&Self::STORED_SIGNATURE),
            Self::Packed => head.starts_with(&Self::PACKED_SIGNATURE),
            _ => {
                let _ = path;
                false
            }
        }
    }

    fn has_name(self, path: &Path) -> bool {
        match self {
            #[cfg(feature = "qb")]
            Self::Qubicle => QbFile::is_qb(path),
            #[cfg(feature = "minecraft")]
            Self::Minecraft => MinecraftWorld::is_minecraft(path),
            #[cfg(feature = "model")]
            Self::Model => Model::is_model(path),
            _ => {
                let _ = path;
                false
            }
        }
    }
}
