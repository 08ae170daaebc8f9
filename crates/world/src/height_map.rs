use std::fs::File;
use std::io::Read;
use std::path::Path;

use drystone_voxel::{Chunk, ChunkPos, MaterialTable};

use crate::source::read_file;
use crate::{Source, WorldError, identity};

mod axis;
mod cover;
mod fault;
mod geo_scale;
mod geo_tiff;
mod grey_png;
mod grid;
mod hgt;
mod options;
mod relief;
mod tags;

use fault::Fault;
use grid::Decoded;
pub use options::{HeightMapOptions, Voids};
use relief::Relief;

/// Heights of the ground, sample by sample: a grey picture (`.png`), a GeoTIFF (`.tif`), or
/// a tile of the Shuttle Radar Topography Mission (`.hgt`).
///
/// ```text
///  bytes ─decode─► heights in metres ─► columns of voxels ─► ground by height and slope
///                  (all that is kept)   (as a chunk is asked for)
/// ```
/// * **Axes.** The first row is the north: X goes east, Z south, Y up. The north-western
///   corner is at X 0, Z 0; Y 0 is 0 metres.
/// * **Scale.** [`HeightMapOptions`] say how far samples are apart and how large a voxel
///   is. Where voxels are smaller than samples, heights between them are worked out in
///   straight lines; where they are larger, a column has the mean of the ground that it
///   covers; where both are alike, a column is a sample. A voxel is solid when the ground
///   reaches its middle.
/// * **Ground.** Solid down to 4 voxels below the lowest point of the map, so that it is a
///   closed body. What lies at or below the sea's level has water on it, at least one
///   voxel.
/// * **Voids.** Where the file knows no height there is a hole down to nothing, or, with
///   [`Voids::Filled`], the mean of what lies beside. [`HeightMapSummary`] counts them.
///
/// What lies on top, sea level at 0 and snow line at 2500 m:
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
/// Slopes are metres of height a metre of way, whatever the vertical scale. With other
/// levels the borders keep their part of the way from the sea to the snow: 1 in 500, a
/// quarter, a half, three quarters. Below that there are three voxels of dirt, then stone.
///
/// # Limits
/// 1 GiB a file; 2²⁷ samples, 4 bytes of memory each, and no more than the file can hold;
/// 2²⁴ voxels a side, 2²⁴ chunks. PNG: one channel of 8 or 16 bits, with or without
/// transparency; a step of grey is a metre. SRTM: tiles of 1201², 3601² and 1801 × 3601.
/// TIFF: the first picture of a file; one channel of integers of 8, 16 or 32 bits or floats
/// of 32 or 64, in metres, as strips or tiles of at most 64 MiB, plain or packed with
/// deflate, LZW or PackBits; scale and void from GeoTIFF's and GDAL's tags, units of length
/// metre and foot; rotations and scales by matrix are passed over.
pub struct HeightMap {
    name: String,
    identity: String,
    summary: HeightMapSummary,
    materials: MaterialTable,
    relief: Relief,
}

/// What a height map holds, and at which scale it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct HeightMapSummary {
    /// What kind of file it is.
    pub format: String,
    /// Samples from west to east and from north to south.
    pub size_samples: [usize; 2],
    /// Metres from one sample to the next, eastwards and southwards.
    pub metres_per_sample: [f64; 2],
    /// The side of a voxel in metres.
    pub metres_per_voxel: f64,
    /// How many times higher than true heights are shown.
    pub vertical_scale: f64,
    /// The lowest and the highest sample in metres; `None` where all are void.
    pub range_metres: Option<[f32; 2]>,
    /// Samples of which the file knows no height.
    pub void_count: u64,
    /// What stands there.
    pub voids: Voids,
}

/// The formats that heights come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Png,
    Tiff,
    Hgt,
}

impl Format {
    /// By the first bytes of the file, or by its name where the format has none of its own.
    fn of(start: &[u8], path: &Path) -> Option<Self> {
        if start.starts_with(grey_png::MAGIC) {
            return Some(Self::Png);
        }
        if geo_tiff::is_tiff(start) {
            return Some(Self::Tiff);
        }
        let extension = path.extension()?;
        extension.eq_ignore_ascii_case("hgt").then_some(Self::Hgt)
    }
}

/// The most bytes that a format's own mark has.
const MARK_BYTES: usize = 8;

impl HeightMap {
    /// The most bytes that a file may have.
    pub const MAX_FILE_BYTES: u64 = 1 << 30;

    /// Whether the file is a height map: by its content, `.hgt` by its name. What cannot be
    /// read is none.
    pub fn is_height_map(path: &Path) -> bool {
        Self::format_of(path).is_some()
    }

    /// The same of a file's bytes, and its name.
    pub(crate) fn is_height_map_of(bytes: &[u8], name: &Path) -> bool {
        Format::of(bytes, name).is_some()
    }

    fn format_of(path: &Path) -> Option<Format> {
        // A pipe would wait for a writer, and what is read of it is gone.
        if !path.metadata().is_ok_and(|metadata| metadata.is_file()) {
            return None;
        }
        let mut start = Vec::new();
        File::open(path).ok()?.take(MARK_BYTES as u64).read_to_end(&mut start).ok()?;
        Format::of(&start, path)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// A file that cannot be read, is no height map, is too large or damaged, and options
    /// that make too much of it. The message names the file, the place in it where that is
    /// known, and what to do.
    pub fn open(path: &Path, options: &HeightMapOptions) -> Result<Self, WorldError> {
        let kind = "a height map (.png, .tif, .hgt)";
        // The mark is one of several, or none: `parse` looks at it.
        let bytes = read_file(path, b"", kind, Self::MAX_FILE_BYTES)?;
        Self::parse(&bytes, &path.display().to_string(), options)
    }

    /// Reads the bytes of a file; `name` stands in messages, tells `.hgt` from other files,
    /// and where on Earth that lies.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    ///
    /// # Examples
    /// ```
    /// use drystone_world::{HeightMap, HeightMapOptions};
    ///
    /// // A plain at 100 m, samples 3 arc seconds apart.
    /// let tile = [0, 100].repeat(1201 * 1201);
    /// let map = HeightMap::parse(&tile, "N47E011.hgt", &HeightMapOptions::default())?;
    /// let [east, south] = map.summary().metres_per_sample;
    /// assert_eq!((east.round(), south.round()), (63.0, 93.0));
    /// # Ok::<(), drystone_world::WorldError>(())
    /// ```
    pub fn parse(bytes: &[u8], name: &str, options: &HeightMapOptions) -> Result<Self, WorldError> {
        let Some(format) = Format::of(bytes, Path::new(name)) else {
            let start = bytes[..bytes.len().min(4)].escape_ascii();
            return Err(WorldError::Unsupported {
                path: name.into(),
                found: format!("not a height map: it begins with \"{start}\""),
            });
        };
        Self::build(bytes, format, name, options).map_err(|fault| fault.in_file(name))
    }

    fn build(
        bytes: &[u8],
        format: Format,
        name: &str,
        options: &HeightMapOptions,
    ) -> Result<Self, Fault> {
        options.check()?;
        let Decoded { mut grid, format, metres_per_sample } = match format {
            Format::Png => grey_png::decode(bytes)?,
            Format::Tiff => geo_tiff::decode(bytes)?,
            Format::Hgt => hgt::decode(bytes, name)?,
        };
        let default = [HeightMapOptions::METRES_PER_SAMPLE; 2];
        let metres_per_sample = options.metres_per_sample.or(metres_per_sample).unwrap_or(default);
        let [east, south] = metres_per_sample;
        let metres_per_voxel = options.metres_per_voxel.unwrap_or(east.min(south));
        let summary = HeightMapSummary {
            format,
            size_samples: grid.size(),
            metres_per_sample,
            metres_per_voxel,
            vertical_scale: options.vertical_scale,
            range_metres: grid.range(),
            void_count: grid.void_count(),
            voids: options.voids,
        };
        if options.voids == Voids::Filled {
            grid.fill_voids();
        }
        let mut materials = MaterialTable::new();
        let relief =
            Relief::new(grid, metres_per_sample, metres_per_voxel, options, &mut materials)?;
        let identity = identity::of_bytes("height map", name, bytes);
        let (name, identity) = (name.into(), format!("{identity}, {}", options.identity()));
        Ok(Self { name, identity, summary, materials, relief })
    }

    /// What the file holds, and at which scale it is shown.
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

    fn chunk_positions(&self) -> Vec<ChunkPos> {
        self.relief.chunk_positions()
    }

    /// The chunk at `position`; looks at the samples that its columns are made of.
    fn chunk(&self, position: ChunkPos) -> Result<Chunk, WorldError> {
        Ok(self.relief.chunk(position))
    }
}
