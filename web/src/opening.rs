use std::time::Duration;

use drystone::{Content, LevelsFor, LoadError, LoadOptions, LodLimits, Progress, scene::Shade};
use drystone_formats::{Input, MemoryFile, Source, WorldFile};
use drystone_store::{CommitPolicy, EditOptions, EditedSource, PackedWorld, StoredWorld};
use drystone_world::{
    self as world, GeneratedWorld, GeneratorConfig, LodConfig, OpenOptions, open_voxels,
};

use crate::model::{NamedFiles, is_model, read_model};
use crate::threads;

/// Largest number of chunks that are read whole and shown in full detail. Larger sources are shown
/// with levels of detail.
const CHUNKS_IN_MEMORY: u64 = 1_024;
/// Limit for what a world at an address keeps because it was received or read, in bytes.
const MAX_SOURCE_BYTES: usize = 112 << 20;
/// Cache for voxels of levels of detail, in bytes.
const LEVELS_CACHE_BYTES: usize = 128 << 20;
/// Limit for vertices on the GPU, in bytes. Browsers do not report the size of GPU memory.
const MAX_VERTEX_BYTES: u64 = 256 << 20;
/// Limit for edits, in bytes: about 70,000 chunks of land, without compression.
const MAX_EDITS_BYTES: usize = 256 << 20;
/// Limit for the file of edits, in bytes. The file grows by doubling, from a little above 1 MiB, so
/// that this limit fits [`MAX_EDITS_BYTES`].
const MAX_FILE_BYTES: usize = MAX_EDITS_BYTES + (2 << 20);
/// Limit for a file of edits that the user opens, in bytes. Such a file may exceed [`MAX_FILE_BYTES`] by
/// one doubling. The result can be opened again, but does not grow further.
const LARGEST_FILE_BYTES: usize = MemoryFile::doubled(MAX_FILE_BYTES);
/// Memory for LOD voxels above edited chunks, in bytes.
const COARSE_BYTES: usize = 16 << 20;
/// Commit policy of a page, which has no thread that commits. Edits wait until the user saves them,
/// or until they exceed four times `max_bytes`. Then the next write commits them within a frame. A
/// write contains all edits since the last one: usually the chunks of one brush, but hundreds of
/// chunks if earlier writes failed. Sixteen edits of the largest brush take about 20 ms.
const POLICY: CommitPolicy =
    CommitPolicy::DEFAULT.with_max_delay(Duration::MAX).with_max_bytes(64 << 10);

/// A world or model that was read, and the file of its edits.
pub(crate) struct Opened {
    pub(crate) content: Content,
    pub(crate) file: EditsFile,
    /// Message about what is not shown, and what to do; empty if everything is.
    pub(crate) notice: String,
}

impl Opened {
    /// Opens a generated world with levels of detail.
    pub(crate) fn generated(
        config: GeneratorConfig,
        edits: Option<MemoryFile>,
    ) -> Result<Self, String> {
        let file = EditsFile::of(edits, &format!("generated-{}", config.seed));
        let source = GeneratedWorld::new(config).map_err(|error| error.to_string())?;
        Self::read(Box::new(source), file, LevelsFor::All)
    }

    /// Opens the packed world at an address with levels of detail.
    pub(crate) fn remote(
        world: PackedWorld,
        address: &str,
        edits: Option<MemoryFile>,
    ) -> Result<Self, String> {
        let path = address.split(['?', '#']).next().unwrap_or(address);
        let name = path.rsplit('/').next().unwrap_or(path);
        let file = EditsFile::of(edits, name);
        Self::read(Box::new(world), file, LevelsFor::All)
    }

    /// Opens the world or model in the bytes of a file. A model may name `others`.
    pub(crate) fn of_file(
        bytes: &[u8],
        name: &str,
        others: &NamedFiles,
        edits: Option<MemoryFile>,
    ) -> Result<Self, String> {
        if is_model(bytes, name) {
            if edits.is_some() {
                return Err(format!("{name}: a polygon model has no edits. Open it alone"));
            }
            let opened = read_model(bytes, name, others)?;
            let model = world::Opened::Model(Box::new(opened.model));
            let content =
                Content::read(model, &load_options(LevelsFor::None), &Progress::default())
                    .map_err(|error| format!("{name}: {error}"))?;
            return Ok(Self { content, file: EditsFile::of(None, name), notice: opened.notice });
        }
        let input = Input::Bytes { bytes, name };
        let source =
            open_voxels(input, &OpenOptions::default()).map_err(|error| error.to_string())?;
        let levels = LevelsFor::MoreChunksThan(CHUNKS_IN_MEMORY);
        Self::read(source, EditsFile::of(edits, name), levels)
    }

    fn read(source: Box<dyn Source>, file: EditsFile, levels: LevelsFor) -> Result<Self, String> {
        let source = file.over(source)?;
        let content = Content::read_voxels(source, &load_options(levels), &Progress::default());
        let content = content.map_err(|error| match error {
            LoadError::AllDamaged { first, .. } => first,
            error => error.to_string(),
        })?;
        Ok(Self { content, file, notice: String::new() })
    }
}

fn load_options(levels: LevelsFor) -> LoadOptions {
    let config =
        LodConfig::default().with_threads(threads::for_meshes()).with_waiting_bytes(16 << 20);
    let (vertex_bytes, cache_bytes) = (MAX_VERTEX_BYTES, LEVELS_CACHE_BYTES);
    let source_bytes = MAX_SOURCE_BYTES;
    let limits = LodLimits { config, vertex_bytes, cache_bytes, source_bytes };
    LoadOptions { levels, limits, shade: Shade::default() }
}

/// The file of edits of a world, in memory. The user opened it, or it is created on the first save.
pub(crate) struct EditsFile {
    name: String,
    /// Name of the world, to which the number of the last file of edits belongs.
    series: String,
    number: u32,
    pub(crate) made: Option<MemoryFile>,
}

impl EditsFile {
    /// Returns the opened file, or a new one that is named after `world` as in the viewer.
    fn of(opened: Option<MemoryFile>, world: &str) -> Self {
        let Some(name) = opened.as_ref().and_then(|it| it.name().to_str()) else {
            let name = numbered(world, 1);
            return Self { name, series: world.into(), number: 0, made: opened };
        };
        let (series, number) = parse_name(name);
        Self { name: name.into(), series: series.into(), number, made: opened }
    }

    /// Creates a file in memory from the bytes of a file that the user opened.
    ///
    /// # Errors
    /// If there are more than [`LARGEST_FILE_BYTES`].
    pub(crate) fn of_bytes(name: &str, bytes: Vec<u8>) -> Result<MemoryFile, String> {
        // A file that a page saved can always be opened.
        if bytes.len() > LARGEST_FILE_BYTES {
            let (len, max) = (bytes.len().div_ceil(1 << 20), LARGEST_FILE_BYTES >> 20);
            return Err(format!(
                "{name}: {len} MiB of edits, at most {max} MiB are supported here. Use the viewer: --edits {name}"
            ));
        }
        Ok(MemoryFile::of_bytes(name, bytes, MAX_FILE_BYTES))
    }

    /// Returns the name of the next file of edits, as the viewer would name it.
    pub(crate) fn next_name(&self) -> String {
        numbered(&self.series, self.number.saturating_add(1))
    }

    /// Advances to the next name, after a file was saved under it.
    pub(crate) fn advance(&mut self) {
        self.name = self.next_name();
        self.number = self.number.saturating_add(1);
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Creates an empty file.
    pub(crate) fn make(&self) -> MemoryFile {
        MemoryFile::new(&self.name, MAX_FILE_BYTES)
    }

    /// Wraps a source, so that it shows the edits and can be edited.
    fn over(&self, source: Box<dyn Source>) -> Result<Box<dyn Source>, String> {
        // Without a free material number for emptied voxels, the source cannot be edited.
        if self.made.is_none() && source.materials().len() > usize::from(u16::MAX) {
            return Ok(source);
        }
        let options = EditOptions::default()
            .with_file(self.made.as_ref().map(WorldFile::Memory))
            .with_policy(POLICY)
            .with_coarse_bytes(Some(COARSE_BYTES));
        let edited = EditedSource::open(source, &options);
        edited.map(|it| Box::new(it) as Box<dyn Source>).map_err(|error| error.to_string())
    }
}

/// Returns the name of a world's file of edits with this number, from 1.
fn numbered(world: &str, number: u32) -> String {
    let number = if number > 1 { format!("-{number}") } else { String::new() };
    format!("{world}.edits{number}.{}", StoredWorld::EXTENSION)
}

/// Parses the name of a file of edits into the world's name and a number, 0 if there is none.
fn parse_name(name: &str) -> (&str, u32) {
    let extension = StoredWorld::EXTENSION;
    let stem = name.strip_suffix(extension).and_then(|it| it.strip_suffix('.')).unwrap_or(name);
    // A browser numbers repeated downloads: "a.edits (1)".
    let stem = match stem.strip_suffix(')').and_then(|it| it.rsplit_once(" (")) {
        Some((stem, again)) if again.parse::<u32>().is_ok() => stem,
        _ => stem,
    };
    match stem.rsplit_once(".edits") {
        Some((world, "")) => (world, 1),
        Some((world, number)) => {
            let number = number.strip_prefix('-').and_then(|it| it.parse().ok());
            number.map_or((stem, 0), |number| (world, number))
        }
        None => (stem, 0),
    }
}
