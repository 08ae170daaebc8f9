use std::path::Path;
use std::{fs, slice};

use drystone_voxel::{Chunk, ChunkPos, MaterialTable};
use rayon::prelude::*;

use crate::error::SourceError;
use crate::fault::Fault;
use crate::faults::Faults;
use crate::file::read_file;
use crate::identity;
use crate::source::{Source, Tiles};

mod axis;
mod cover;
#[cfg(feature = "tiff")]
mod geo_tiff;
#[cfg(feature = "png")]
mod grey_png;
mod grid;
mod hgt;
mod mosaic;
mod options;
mod place;
mod relief;
mod samples;
mod square;
#[cfg(feature = "tiff")]
mod tags;

use grid::Decoded;
use mosaic::Mosaic;
pub use options::{HeightMapOptions, Voids};
use relief::Relief;
use samples::Samples;

/// A height map: a grey picture (`.png`), a GeoTIFF (`.tif`), a tile of the Shuttle Radar
/// Topography Mission (`.hgt`), or a folder of such GeoTIFFs and tiles.
///
/// ```text
///  bytes ─decode─► heights in metres ─► columns of voxels ─► ground by height and slope
///                  (kept in memory)     (for each requested chunk)
/// ```
/// * **Folders.** Files of one grid are one map of any size. Their positions are read from tags of GeoTIFFs and from
///   the names of tiles, when the folder is opened. A file is decoded when its samples are needed, and kept while the
///   [limit](Source::limit_memory) permits. Several programs import parts of such a map by its [`Tiles`].
/// * **Axes.** The first row is the north: X points east, Z south, Y up. The north-western corner
///   is at X 0, Z 0; Y 0 is 0 metres.
/// * **Scale.** [`HeightMapOptions`] defines the distance of samples and the size of voxels. If
///   voxels are smaller than samples, heights between samples are interpolated linearly. If they
///   are larger, a column has the mean height of the ground that it covers. If both are equal, a
///   column is one sample. A voxel is solid if the ground reaches its middle.
/// * **Ground.** Solid down to 4 voxels below the lowest point of the map, which closes the body. In a folder, of each
///   square of 16 × 16 chunks.
///   Ground at or below sea level has at least one voxel of water on it.
/// * **Voids.** Columns without a height are holes, or with [`Voids::Filled`] have the mean height
///   of their neighbours in their file, where no other file of a folder has a height. [`HeightMapSummary`] counts the voids.
///
/// Surface material for a sea level of 0 m and a snow line of 2500 m:
///
/// | height | flat | steeper than 0.6 | steeper than 1 |
/// |---|---|---|---|
/// | up to 0 m | sand under water | rock | rock |
/// | 0 to 5 m | sand | rock | rock |
/// | 5 to 625 m | grass | rock | rock |
/// | 625 to 1250 m | forest | rock | rock |
/// | 1250 to 1875 m | alpine meadow | rock | rock |
/// | 1875 to 2500 m | scree | rock | rock |
/// | from 2500 m | snow | snow | rock |
///
/// The slope is in metres of height per metre, regardless of the vertical scale. With other levels,
/// the limits keep their fractions of the range from sea to snow: 1 in 500, a quarter, a half,
/// three quarters. Below the surface are three voxels of dirt, then stone.
///
/// # Limits
/// * 1 GiB per file; 2²⁷ samples of 4 bytes of memory each, and no more than the file can hold;
///   2²⁴ voxels per side; 2²⁴ chunks. A folder: 2²² squares of 512² columns, 2²⁰ chunks in each.
/// * PNG: one channel of 8 or 16 bits, with or without transparency. One step of grey is 1 m.
/// * SRTM: tiles of 1201², 3601² and 1801 × 3601 samples.
/// * TIFF: the first picture of a file. One channel of integers with 8, 16 or 32 bits or floats
///   with 32 or 64 bits, in metres. Strips or tiles of at most 64 MiB, uncompressed or with
///   deflate, LZW or PackBits. Scale and void value are read from GeoTIFF and GDAL tags, with
///   metres and feet as units. Rotations and scales by matrix are ignored.
pub struct HeightMap {
    name: String,
    identity: String,
    summary: HeightMapSummary,
    materials: MaterialTable,
    relief: Relief,
    faults: Faults,
}

/// A map whose scale is not chosen yet.
struct Read {
    samples: Samples,
    format: String,
    /// Distance of samples eastwards and southwards, in metres.
    scale: Option<[f64; 2]>,
    identity: String,
}

/// Metadata and scale of a height map.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HeightMapSummary {
    /// Description of the file format.
    pub format: String,
    /// Number of samples from west to east and from north to south.
    pub size_samples: [usize; 2],
    /// Distance of samples eastwards and southwards, in metres.
    pub metres_per_sample: [f64; 2],
    /// Side of a voxel, in metres.
    pub metres_per_voxel: f64,
    /// Factor by which heights are exaggerated.
    pub vertical_scale: f64,
    /// Lowest and highest sample, in metres; `None` if all are void, and of a folder, whose files are not read yet.
    pub range_metres: Option<[f32; 2]>,
    /// Number of samples without a height. `None` of a folder.
    pub void_count: Option<u64>,
    /// Treatment of voids.
    pub voids: Voids,
}

/// Supported file formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    #[cfg(feature = "png")]
    Png,
    #[cfg(feature = "tiff")]
    Tiff,
    Hgt,
}

impl Format {
    /// Detects the format by the first bytes, or by the file name for formats without a signature.
    #[cfg_attr(
        not(any(feature = "png", feature = "tiff")),
        expect(unused_variables, reason = "tiles have no signature")
    )]
    fn of(start: &[u8], path: &Path) -> Option<Self> {
        #[cfg(feature = "png")]
        if start.starts_with(grey_png::MAGIC) {
            return Some(Self::Png);
        }
        #[cfg(feature = "tiff")]
        if geo_tiff::is_tiff(start) {
            return Some(Self::Tiff);
        }
        let extension = path.extension()?;
        extension.eq_ignore_ascii_case("hgt").then_some(Self::Hgt)
    }
}

impl Format {
    fn decode(self, bytes: &[u8], name: &str) -> Result<Decoded, Fault> {
        match self {
            #[cfg(feature = "png")]
            Self::Png => grey_png::decode(bytes),
            #[cfg(feature = "tiff")]
            Self::Tiff => geo_tiff::decode(bytes),
            Self::Hgt => hgt::decode(bytes, name),
        }
    }
}

/// Advice for a picture that is no height map.
const CONVERT: &str = "save it as one channel of grey, 8 or 16 bits per sample";

impl HeightMap {
    /// Maximum size of a file, in bytes.
    pub const MAX_FILE_BYTES: u64 = 1 << 30;

    /// Whether a file with this name and these first bytes is a height map, or a folder is one.
    pub(crate) fn is_height_map(head: &[u8], name: &Path) -> bool {
        if head.is_empty() && name.is_dir() {
            Mosaic::is_mosaic(name)
        } else {
            Format::of(head, name).is_some()
        }
    }

    /// Opens and reads a file, or opens a folder of `.hgt` and `.tif` files.
    ///
    /// # Errors
    /// A file that cannot be read, is no height map, is too large or damaged, or options for which
    /// the result is too large. The message names the file, the location in it if known, and what
    /// to do. In a folder, also files that do not belong to one map.
    pub fn open(path: &Path, options: &HeightMapOptions) -> Result<Self, SourceError> {
        let name = path.display().to_string();
        if path.is_dir() {
            options
                .check()
                .map_err(|fault| fault.in_file(crate::format::Format::HeightMap, &name))?;
            let files = Mosaic::open(path, options.voids)?;
            let folder = fs::canonicalize(path).unwrap_or_else(|_| path.into());
            let (identity, format) =
                (files.identity(&folder.display().to_string()), files.format());
            let scale = files.place.metres_per_sample(files.size()[1]);
            let read = Read { samples: Samples::Files(files), format, scale, identity };
            return Self::build(read, &name, options)
                .map_err(|fault| fault.in_file(crate::format::Format::HeightMap, &name));
        }
        Self::parse(&Self::read(path)?, &name, options)
    }

    /// Reads the bytes of a file.
    fn read(path: &Path) -> Result<Vec<u8>, SourceError> {
        let kind = "a height map (.png, .tif, .hgt)";
        // The decoders check the signature, since there are several.
        read_file(path, b"", kind, Self::MAX_FILE_BYTES, "take a smaller part of it")
    }

    /// Parses the bytes of a file. `name` is used in messages. Its extension identifies `.hgt`
    /// files, and its coordinates give their latitude.
    ///
    /// # Errors
    /// See [`open`](Self::open).
    ///
    /// # Examples
    /// ```
    /// use drystone_formats::{HeightMap, HeightMapOptions};
    ///
    /// // A plain at 100 m, samples 3 arc seconds apart.
    /// let tile = [0, 100].repeat(1201 * 1201);
    /// let map = HeightMap::parse(&tile, "N47E011.hgt", &HeightMapOptions::default())?;
    /// let [east, south] = map.summary().metres_per_sample;
    /// assert_eq!((east.round(), south.round()), (63.0, 93.0));
    /// # Ok::<(), drystone_formats::SourceError>(())
    /// ```
    pub fn parse(
        bytes: &[u8],
        name: &str,
        options: &HeightMapOptions,
    ) -> Result<Self, SourceError> {
        let Some(format) = Format::of(bytes, Path::new(name)) else {
            let start = bytes[..bytes.len().min(4)].escape_ascii();
            return Err(SourceError::Unsupported {
                path: name.into(),
                found: format!("not a height map: it begins with \"{start}\""),
            });
        };
        let build = || {
            let Decoded { mut grid, format, metres_per_sample: scale } =
                format.decode(bytes, name)?;
            let (range_metres, void_count) = (grid.range(), grid.void_count());
            if options.voids == Voids::Filled {
                grid.fill_voids();
            }
            let identity = identity::of_bytes("height map", name, bytes);
            let read = Read { samples: Samples::Image(grid), format, scale, identity };
            let mut map = Self::build(read, name, options)?;
            (map.summary.range_metres, map.summary.void_count) = (range_metres, Some(void_count));
            Ok(map)
        };
        options
            .check()
            .and_then(|()| build())
            .map_err(|fault: Fault| fault.in_file(crate::format::Format::HeightMap, name))
    }

    fn build(read: Read, name: &str, options: &HeightMapOptions) -> Result<Self, Fault> {
        let Read { samples, format, scale, identity } = read;
        let default = [HeightMapOptions::METRES_PER_SAMPLE; 2];
        let metres_per_sample = options.metres_per_sample.or(scale).unwrap_or(default);
        let [east, south] = metres_per_sample;
        let metres_per_voxel = options.metres_per_voxel.unwrap_or(east.min(south));
        let summary = HeightMapSummary {
            format,
            size_samples: samples.size(),
            metres_per_sample,
            metres_per_voxel,
            vertical_scale: options.vertical_scale,
            range_metres: None,
            void_count: None,
            voids: options.voids,
        };
        let mut materials = MaterialTable::new();
        let relief = Relief::new(
            name,
            samples,
            metres_per_sample,
            metres_per_voxel,
            options,
            &mut materials,
        )?;
        let identity = format!("{identity}, {}", options.identity());
        Ok(Self {
            name: name.into(),
            identity,
            summary,
            materials,
            relief,
            faults: Faults::default(),
        })
    }

    /// Metadata and scale of the file.
    pub fn summary(&self) -> &HeightMapSummary {
        &self.summary
    }
}

impl Source for HeightMap {
    fn name(&self) -> &str {
        &self.name
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn materials(&self) -> &MaterialTable {
        &self.materials
    }

    /// Unreadable parts of a folder are omitted and added to the faults.
    fn chunk_positions(&self) -> Vec<ChunkPos> {
        let squares = self.relief.squares().into_par_iter();
        let read = |at| {
            self.relief
                .positions_in(at)
                .inspect_err(|error| self.faults.add(slice::from_ref(error)))
        };
        let mut positions: Vec<_> = squares.filter_map(|at| read(at).ok()).flatten_iter().collect();
        positions.sort_unstable();
        positions
    }

    /// Builds the chunk at `position` from the samples of its columns.
    fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
        self.relief.chunk(position)
    }

    fn limit_memory(&self, bytes: usize) {
        self.relief.limit_memory(bytes);
    }

    fn tiles(&self) -> Option<&dyn Tiles> {
        Some(self)
    }

    fn faults(&self) -> Vec<String> {
        self.faults.all()
    }
}

/// Squares of the map.
impl Tiles for HeightMap {
    fn tile_positions(&self) -> Vec<[i32; 2]> {
        self.relief.squares()
    }

    fn chunk_positions_in(&self, tile: [i32; 2]) -> Result<Vec<ChunkPos>, SourceError> {
        self.relief.positions_in(tile)
    }
}
