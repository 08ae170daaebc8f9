use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::grid::{Decoded, Grid};
use super::options::Voids;
use super::place::{Head, Place};
use super::{Format, HeightMap};
use crate::cache::{Cache, SizeBytes};
use crate::error::SourceError;
use crate::fault::Fault;
use crate::identity;

/// Largest distance of a file's samples from those of the first file, in samples.
const MAX_SHIFT: f64 = 0.25;
/// Memory for decoded files, in bytes.
const CACHE_BYTES: usize = 512 << 20;
/// Number of the largest files that are kept at least: a chunk can touch four.
const MIN_FILES: usize = 4;
/// Largest number of samples along an axis, which any scale makes too many voxels.
const MAX_SAMPLES: f64 = (1_u64 << 40) as f64;
const ALIGN: &str = "convert the files to one grid, as gdalwarp does";

/// Files of one map in a folder. Opening reads their heads. They are decoded when they are needed, and cached.
///
/// Of samples in several files, the first file that is not void there counts, in the order of names. Samples in no
/// file are void.
pub(super) struct Mosaic {
    size: [usize; 2],
    /// Position of the north-western sample of all, and distance of samples.
    pub(super) place: Place,
    files: Vec<File>,
    voids: Voids,
    cache: Cache<usize, Grid>,
}

/// A file of a mosaic.
struct File {
    path: PathBuf,
    format: Format,
    size_bytes: u64,
    /// First column and row in the map.
    first: [usize; 2],
    size: [usize; 2],
}

impl SizeBytes for Grid {
    fn size_bytes(&self) -> usize {
        let [width, height] = self.size();
        size_of::<Self>() + width * height * size_of::<f32>()
    }
}

impl Mosaic {
    /// Whether a folder has a file of a mosaic.
    pub(super) fn is_mosaic(folder: &Path) -> bool {
        let Ok(mut entries) = fs::read_dir(folder) else { return false };
        entries.any(|entry| entry.is_ok_and(|entry| format_of(&entry.path()).is_some()))
    }

    /// Reads the heads of all files of a folder.
    ///
    /// # Errors
    /// A file that cannot be read, is damaged, has no position, or does not fit into the grid of the others. No
    /// files.
    pub(super) fn open(folder: &Path, voids: Voids) -> Result<Self, SourceError> {
        let unreadable = |problem| SourceError::Unreadable { path: folder.into(), problem };
        let mut paths = Vec::new();
        for entry in fs::read_dir(folder).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            paths.extend(format_of(&path).map(|format| (path, format)));
        }
        paths.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        let mut placed = Vec::with_capacity(paths.len());
        for (path, format) in paths {
            let size_bytes = fs::metadata(&path).map(|it| it.len());
            let unreadable = |problem| SourceError::Unreadable { path: path.clone(), problem };
            let head = head_of(&path, format)?;
            let Some(place) = head.place else {
                let found = "a height map without a position, which those in a folder need".into();
                return Err(SourceError::Unsupported { path, found });
            };
            let size_bytes = size_bytes.map_err(unreadable)?;
            let file = File { path, format, size_bytes, first: [0, 0], size: head.size };
            placed.push((file, place));
        }
        let Some(&(_, first)) = placed.first() else {
            let found = "a folder without height maps (.hgt, .tif)".into();
            return Err(SourceError::Unsupported { path: folder.into(), found });
        };
        let (mut files, west, north) =
            (Vec::with_capacity(placed.len()), west(&placed), north(&placed));
        let place = Place { first: [west, north], ..first };
        let mut size = [0, 0];
        for (mut file, its) in placed {
            let at = position(&file, its, place).map_err(|fault| {
                fault.in_file(crate::format::Format::HeightMap, &shown(&file.path))
            })?;
            for axis in 0..2 {
                file.first[axis] = at[axis];
                size[axis] = size[axis].max(at[axis] + file.size[axis]);
            }
            files.push(file);
        }
        let mosaic = Self { size, place, files, voids, cache: Cache::new(0) };
        mosaic.limit_memory(CACHE_BYTES);
        Ok(mosaic)
    }

    /// Number of samples from west to east and from north to south.
    pub(super) const fn size(&self) -> [usize; 2] {
        self.size
    }

    /// Descriptions of the file formats, each once.
    pub(super) fn format(&self) -> String {
        let count = self.files.len();
        let kind = |format| match format {
            Format::Hgt => "SRTM",
            #[cfg(feature = "tiff")]
            Format::Tiff => "TIFF",
            #[cfg(feature = "png")]
            Format::Png => "PNG",
        };
        let mut kinds: Vec<_> = self.files.iter().map(|file| kind(file.format)).collect();
        kinds.dedup();
        kinds.sort_unstable();
        kinds.dedup();
        format!("{count} files, {}", kinds.join(" and "))
    }

    /// Returns a text that differs between mosaics of other files; see [`identity`].
    pub(super) fn identity(&self, folder: &str) -> String {
        let (count, name) = (self.files.len(), identity::file_name(folder));
        let bytes: u64 = self.files.iter().map(|file| file.size_bytes).sum();
        let [width, height] = self.size;
        format!(
            "height maps \"{name}\" 1, {bytes} bytes in {count} files, {width} x {height} samples"
        )
    }

    /// Sets the limit for decoded files, in bytes. Four of the largest fit at least.
    pub(super) fn limit_memory(&self, bytes: usize) {
        let samples = |file: &File| file.size[0].saturating_mul(file.size[1]);
        let most = self.files.iter().map(samples).max().unwrap_or(0);
        let file_bytes = most.saturating_mul(size_of::<f32>()) + size_of::<Grid>();
        self.cache.set_budget(bytes.max(MIN_FILES.saturating_mul(file_bytes)));
    }

    /// Whether a file has a sample of these columns and rows.
    pub(super) fn touches(&self, columns: &Range<usize>, rows: &Range<usize>) -> bool {
        self.files.iter().any(|file| file.overlap(columns, rows).is_some())
    }

    /// Reads a part of the map.
    ///
    /// # Errors
    /// A file that cannot be read or is damaged.
    pub(super) fn part(
        &self,
        columns: Range<usize>,
        rows: Range<usize>,
    ) -> Result<Grid, SourceError> {
        let width = columns.len();
        let mut metres = vec![f32::NAN; width * rows.len()];
        for (index, file) in self.files.iter().enumerate() {
            let Some([across, down]) = file.overlap(&columns, &rows) else { continue };
            let grid = self.cache.get(index, || self.decode(file))?;
            let within = across.start - file.first[0]..across.end - file.first[0];
            for row in down {
                let start = (row - rows.start) * width + across.start - columns.start;
                let to = &mut metres[start..start + across.len()];
                for (to, from) in to.iter_mut().zip(grid.row(row - file.first[1], within.clone())) {
                    if to.is_nan() {
                        *to = *from;
                    }
                }
            }
        }
        Ok(Grid::new(width, metres))
    }

    fn decode(&self, file: &File) -> Result<Grid, SourceError> {
        let name = shown(&file.path);
        let bytes = HeightMap::read(&file.path)?;
        let Decoded { mut grid, .. } = file
            .format
            .decode(&bytes, &name)
            .map_err(|fault| fault.in_file(crate::format::Format::HeightMap, &name))?;
        if grid.size() != file.size {
            let problem = "the file was replaced after it was opened";
            let fault = Fault::new("header", problem, "open the folder again");
            return Err(fault.in_file(crate::format::Format::HeightMap, &name));
        }
        if self.voids == Voids::Filled {
            grid.fill_voids();
        }
        Ok(grid)
    }
}

impl File {
    /// Returns the columns and rows of a part that are in this file. `None` if there are none.
    fn overlap(&self, columns: &Range<usize>, rows: &Range<usize>) -> Option<[Range<usize>; 2]> {
        let part = |range: &Range<usize>, axis: usize| {
            let (first, size) = (self.first[axis], self.size[axis]);
            let both = range.start.max(first)..range.end.min(first + size);
            (!both.is_empty()).then_some(both)
        };
        Some([part(columns, 0)?, part(rows, 1)?])
    }
}

fn west(placed: &[(File, Place)]) -> f64 {
    placed.iter().map(|(_, place)| place.first[0]).fold(f64::INFINITY, f64::min)
}

fn north(placed: &[(File, Place)]) -> f64 {
    placed.iter().map(|(_, place)| place.first[1]).fold(f64::NEG_INFINITY, f64::max)
}

/// Returns the first column and row of a file in the grid of `all`.
fn position(file: &File, its: Place, all: Place) -> Result<[usize; 2], Fault> {
    if its.unit != all.unit {
        return Err(Fault::new("header", "its unit is not that of the other files", ALIGN));
    }
    let mut at = [0; 2];
    for (axis, at) in at.iter_mut().enumerate() {
        let (step, samples) = (all.step[axis], file.size[axis] as f64);
        let is_equal = (its.step[axis] - step).abs() * samples <= MAX_SHIFT * step;
        if !is_equal {
            let problem =
                format!("its samples are {} apart, those of the first file {step}", its.step[axis]);
            return Err(Fault::new("header", problem, ALIGN));
        }
        let exact = (its.first[axis] - all.first[axis]).abs() / step;
        let is_aligned = (exact - exact.round()).abs() <= MAX_SHIFT && exact < MAX_SAMPLES;
        if !is_aligned {
            let problem =
                format!("it begins {exact:.2} samples from the first one, between samples");
            return Err(Fault::new("header", problem, ALIGN));
        }
        *at = exact.round() as usize;
    }
    Ok(at)
}

/// Returns the format of a file that belongs to a mosaic, by its extension. Pictures without a position do not.
fn format_of(path: &Path) -> Option<Format> {
    let extension = path.extension()?;
    let is = |text| extension.eq_ignore_ascii_case(text);
    match () {
        () if is("hgt") => Some(Format::Hgt),
        #[cfg(feature = "tiff")]
        () if is("tif") || is("tiff") => Some(Format::Tiff),
        () => None,
    }
}

fn head_of(path: &Path, format: Format) -> Result<Head, SourceError> {
    let unreadable = |problem| SourceError::Unreadable { path: path.into(), problem };
    let file = fs::File::open(path).map_err(unreadable)?;
    let size_bytes = file.metadata().map_err(unreadable)?.len();
    let head = match format {
        #[cfg(feature = "tiff")]
        Format::Tiff => super::geo_tiff::head(std::io::BufReader::new(file), size_bytes),
        _ => super::hgt::head(size_bytes, &shown(path)),
    };
    head.map_err(|fault| fault.in_file(crate::format::Format::HeightMap, &shown(path)))
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
