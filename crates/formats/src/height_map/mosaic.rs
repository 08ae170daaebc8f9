use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use twox_hash::XxHash3_64;

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
/// Side of the blocks by which files are found, in samples.
const BLOCK_SAMPLES: usize = 4096;
/// Length of the parts of a file that a checksum covers, in bytes.
const SAMPLED_BYTES: u64 = 4096;
const ALIGN: &str = "convert the files to one grid, as gdalwarp does";

/// Files of one map in a folder. Opening reads their heads. They are decoded when they are needed, and cached.
///
/// Of samples in several files, the first file that is not void there counts, in the order of names. A void of all is
/// filled from its neighbours in a file, or stays void.
pub(super) struct Mosaic {
    size: [usize; 2],
    /// Position of the north-western sample of all, and distance of samples.
    pub(super) place: Place,
    files: Vec<File>,
    /// Files that reach into each block of samples, in order.
    by_block: BTreeMap<[usize; 2], Vec<usize>>,
    /// Checksum of names, lengths and some content.
    checksum: u64,
    voids: Voids,
    cache: Cache<usize, DecodedFile>,
}

/// Samples of a decoded file.
struct DecodedFile {
    grid: Grid,
    /// Samples with filled voids.
    filled: Option<Grid>,
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

impl SizeBytes for DecodedFile {
    fn size_bytes(&self) -> usize {
        let [width, height] = self.grid.size();
        let grids = 1 + usize::from(self.filled.is_some());
        size_of::<Self>() + grids * width * height * size_of::<f32>()
    }
}

impl Mosaic {
    /// Whether a folder has a file of a mosaic. Those of Minecraft's worlds do not count.
    pub(super) fn is_mosaic(folder: &Path) -> bool {
        if folder.join("level.dat").exists() || folder.join("region").is_dir() {
            return false;
        }
        let Ok(entries) = fs::read_dir(folder) else { return false };
        let paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        let is_region = |path: &PathBuf| path.extension().is_some_and(|it| it == "mca");
        paths.iter().any(|path| format_of(path).is_some()) && !paths.iter().any(is_region)
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
        let Some(&(_, of_first)) = placed.first() else {
            let found = "a folder without height maps (.hgt, .tif)".into();
            return Err(SourceError::Unsupported { path: folder.into(), found });
        };
        let mut files = Vec::with_capacity(placed.len());
        let mut lowest = [0; 2];
        let mut at = Vec::with_capacity(placed.len());
        for (file, its) in placed {
            let offset =
                offset(file.size, its, of_first).map_err(|fault| named(fault, &file.path))?;
            lowest = [lowest[0].min(offset[0]), lowest[1].min(offset[1])];
            at.push(offset);
            files.push(file);
        }
        let mut size = [0, 0];
        let mut by_block = BTreeMap::<_, Vec<usize>>::new();
        for (index, (file, offset)) in files.iter_mut().zip(at).enumerate() {
            for axis in 0..2 {
                file.first[axis] = (offset[axis] - lowest[axis]) as usize;
                size[axis] = size[axis].max(file.first[axis] + file.size[axis]);
            }
            let [columns, rows] = file.ranges();
            blocks(&columns, &rows).for_each(|at| by_block.entry(at).or_default().push(index));
        }
        let [east, south] = of_first.step;
        let first = [
            of_first.first[0] + lowest[0] as f64 * east,
            of_first.first[1] - lowest[1] as f64 * south,
        ];
        let place = Place { first, ..of_first };
        let checksum = checksum_of(&files)?;
        let cache = Cache::new(0);
        let mosaic = Self { size, place, files, by_block, checksum, voids, cache };
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
        let kinds: BTreeSet<_> = self.files.iter().map(|file| kind(file.format)).collect();
        format!("{count} files, {}", Vec::from_iter(kinds).join(" and "))
    }

    /// Returns a text that differs between mosaics of other files; see [`identity`].
    pub(super) fn identity(&self, folder: &str) -> String {
        let (count, name) = (self.files.len(), identity::file_name(folder));
        let bytes: u64 = self.files.iter().map(|file| file.size_bytes).sum();
        let ([width, height], checksum) = (self.size, self.checksum);
        format!(
            "height maps \"{name}\" 1, {bytes} bytes in {count} files, {width} x {height} samples, {checksum:016x}"
        )
    }

    /// Sets the limit for decoded files, in bytes. Four of the largest fit at least.
    pub(super) fn limit_memory(&self, bytes: usize) {
        let samples = |file: &File| file.size[0].saturating_mul(file.size[1]);
        let most = self.files.iter().map(samples).max().unwrap_or(0);
        let grids = if self.voids == Voids::Filled { 2 } else { 1 };
        let file_bytes = most.saturating_mul(grids * size_of::<f32>()) + size_of::<DecodedFile>();
        self.cache.set_budget(bytes.max(MIN_FILES.saturating_mul(file_bytes)));
    }

    /// Returns the columns and rows of each file.
    pub(super) fn ranges(&self) -> impl Iterator<Item = [Range<usize>; 2]> {
        self.files.iter().map(File::ranges)
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
        let touched = blocks(&columns, &rows).filter_map(|at| self.by_block.get(&at));
        let touched: BTreeSet<usize> = touched.flatten().copied().collect();
        let mut read = Vec::new();
        for index in touched {
            let file = &self.files[index];
            if let Some(both) = file.overlap(&columns, &rows) {
                read.push((file, both, self.cache.get(index, || self.decode(file))?));
            }
        }
        let width = columns.len();
        let mut metres = vec![f32::NAN; width * rows.len()];
        let mut copy = |file: &File, [across, down]: &[Range<usize>; 2], grid: &Grid| {
            let within = across.start - file.first[0]..across.end - file.first[0];
            for row in down.clone() {
                let start = (row - rows.start) * width + across.start - columns.start;
                let to = &mut metres[start..start + across.len()];
                for (to, from) in to.iter_mut().zip(grid.row(row - file.first[1], within.clone())) {
                    if to.is_nan() {
                        *to = *from;
                    }
                }
            }
        };
        read.iter().for_each(|(file, both, samples)| copy(file, both, &samples.grid));
        // What another file has is better than what is made from neighbours.
        for (file, both, samples) in &read {
            if let Some(filled) = &samples.filled {
                copy(file, both, filled);
            }
        }
        Ok(Grid::new(width, metres))
    }

    fn decode(&self, file: &File) -> Result<DecodedFile, SourceError> {
        let name = shown(&file.path);
        let bytes = HeightMap::read(&file.path)?;
        let Decoded { grid, .. } =
            file.format.decode(&bytes, &name).map_err(|fault| named(fault, &file.path))?;
        if grid.size() != file.size {
            let problem = "the file was replaced after it was opened";
            let fault = Fault::new("header", problem, "open the folder again");
            return Err(named(fault, &file.path));
        }
        let filled = (self.voids == Voids::Filled).then(|| {
            let mut filled = grid.clone();
            filled.fill_voids();
            filled
        });
        Ok(DecodedFile { grid, filled })
    }
}

impl File {
    /// Returns its columns and rows.
    fn ranges(&self) -> [Range<usize>; 2] {
        [0, 1].map(|axis| self.first[axis]..self.first[axis] + self.size[axis])
    }

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

/// Blocks of samples that a range of columns and rows touches.
fn blocks(columns: &Range<usize>, rows: &Range<usize>) -> impl Iterator<Item = [usize; 2]> + use<> {
    let [across, down] =
        [columns, rows].map(|range| range.start / BLOCK_SAMPLES..range.end.div_ceil(BLOCK_SAMPLES));
    across.flat_map(move |x| down.clone().map(move |z| [x, z]))
}

/// Returns the column and row of a file of `size` samples, counted from those of the first file.
fn offset(size: [usize; 2], its: Place, first: Place) -> Result<[i64; 2], Fault> {
    let is_other = its.system.zip(first.system).is_some_and(|(its, first)| its != first);
    if its.unit != first.unit || is_other {
        let problem = "its coordinates are not those of the first file";
        return Err(Fault::new("header", problem, ALIGN));
    }
    let mut at = [0; 2];
    for (axis, at) in at.iter_mut().enumerate() {
        let (step, samples) = (first.step[axis], size[axis] as f64);
        let is_equal = (its.step[axis] - step).abs() * samples <= MAX_SHIFT * step;
        if !is_equal {
            let problem =
                format!("its samples are {} apart, those of the first file {step}", its.step[axis]);
            return Err(Fault::new("header", problem, ALIGN));
        }
        let forward = if axis == 0 { 1.0 } else { -1.0 };
        let exact = forward * (its.first[axis] - first.first[axis]) / step;
        let is_aligned = (exact - exact.round()).abs() <= MAX_SHIFT && exact.abs() < MAX_SAMPLES;
        if !is_aligned {
            let problem =
                format!("it begins {exact:.2} samples from the first file, between samples");
            return Err(Fault::new("header", problem, ALIGN));
        }
        *at = exact.round() as i64;
    }
    Ok(at)
}

/// Returns a checksum of the names and lengths of files, and of the begin, middle and end of each.
fn checksum_of(files: &[File]) -> Result<u64, SourceError> {
    let mut sum = 0;
    let mut add = |bytes: &[u8]| sum = XxHash3_64::oneshot_with_seed(sum, bytes);
    for file in files {
        let unreadable = |problem| SourceError::Unreadable { path: file.path.clone(), problem };
        add(file.path.file_name().unwrap_or_default().as_encoded_bytes());
        add(&file.size_bytes.to_le_bytes());
        let mut open = fs::File::open(&file.path).map_err(unreadable)?;
        let end = file.size_bytes.saturating_sub(SAMPLED_BYTES);
        for start in [0, end / 2, end] {
            open.seek(SeekFrom::Start(start)).map_err(unreadable)?;
            let mut bytes = Vec::new();
            (&open).take(SAMPLED_BYTES).read_to_end(&mut bytes).map_err(unreadable)?;
            add(&bytes);
        }
    }
    Ok(sum)
}

fn named(fault: Fault, path: &Path) -> SourceError {
    fault.in_file(crate::format::Format::HeightMap, &shown(path))
}

/// Returns the format of a file that belongs to a mosaic, by its extension. Pictures without a position do not.
fn format_of(path: &Path) -> Option<Format> {
    let is_hidden = path.file_name()?.as_encoded_bytes().starts_with(b".");
    let extension = path.extension().filter(|_| !is_hidden && path.is_file())?;
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
    if size_bytes > HeightMap::MAX_FILE_BYTES {
        let limit = HeightMap::MAX_FILE_BYTES;
        let (what, unit, advice) = (shown(path), "bytes", "divide it into several files");
        return Err(SourceError::TooLarge { what, found: size_bytes, limit, unit, advice });
    }
    let head = match format {
        #[cfg(feature = "tiff")]
        Format::Tiff => super::geo_tiff::head(std::io::BufReader::new(file), size_bytes),
        _ => super::hgt::head(size_bytes, &shown(path)),
    };
    head.map_err(|fault| named(fault, path))
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
