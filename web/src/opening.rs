use std::{sync::Arc, time::Duration};

use drystone::scene::KeptBy;
use drystone_world::{
    CommitPolicy, EditedSource, GeneratedWorld, GeneratorConfig, LodData, MemoryFile, Source,
    StoredWorld, World, WorldError, parse_source,
};

use crate::content::Content;

/// Sources of more chunks than this are shown at levels of detail: fewer are read and meshed in
/// a second or two.
const CHUNKS_IN_MEMORY: u64 = 1_024;
/// Bytes of voxels that are kept for levels of detail.
const LEVELS_CACHE_BYTES: usize = 128 << 20;
/// Bytes of edits that are kept: some 70,000 chunks of land, which are not packed here.
const MAX_EDITS_BYTES: usize = 256 << 20;
/// The file grows by doubling what it has, which begins a little above 1 MiB: room for all of them.
const MAX_FILE_BYTES: usize = MAX_EDITS_BYTES + (2 << 20);
/// A file that is brought may grow beyond that once. What that makes of it can be brought again, and
/// only grows no more.
const LARGEST_FILE_BYTES: usize = MemoryFile::doubled(MAX_FILE_BYTES);
/// Bytes for larger voxels above edited chunks.
const COARSE_BYTES: usize = 16 << 20;
/// A page has no thread that commits. What is put waits for somebody to save it, until that is four times so
/// many bytes: then the next put writes it before, within a frame. One put is all that was edited
/// since the last: as a rule the chunks of a brush, but where nothing was kept yet, or was refused for
/// a while, hundreds. All of sixteen edits of the largest brush are written in some 20 ms.
const POLICY: CommitPolicy = CommitPolicy { max_delay: Duration::MAX, max_bytes: 64 << 10 };

/// A world that was read, and what keeps edits of it.
pub(crate) struct Opened {
    pub(crate) content: Content,
    pub(crate) kept_by: KeptBy,
    pub(crate) file: EditsFile,
    /// What of the world is damaged and left out.
    pub(crate) faults: Vec<String>,
}

impl Opened {
    /// A generated world, at levels of detail.
    pub(crate) fn generated(
        config: GeneratorConfig,
        edits: Option<MemoryFile>,
    ) -> Result<Self, String> {
        let file = EditsFile::of(edits, &format!("generated-{}", config.seed));
        let source = GeneratedWorld::new(config).map_err(|error| error.to_string())?;
        Ok(Self::at_levels(file.over(Box::new(source))?, file))
    }

    /// What the bytes of a file hold.
    pub(crate) fn of_file(
        bytes: &[u8],
        name: &str,
        edits: Option<MemoryFile>,
    ) -> Result<Self, String> {
        let source = parse_source(bytes, name).map_err(|error| match error {
            WorldError::IsModel { .. } => {
                format!("{name}: a polygon model; this page shows voxels, `drystone {name}` it")
            }
            error => error.to_string(),
        })?;
        let file = EditsFile::of(edits, name);
        let source = file.over(source)?;
        if source.chunk_count() > CHUNKS_IN_MEMORY {
            return Ok(Self::at_levels(source, file));
        }
        let world = World::load(source.as_ref()).map_err(|error| error.to_string())?;
        let faults = source.faults();
        match faults.first() {
            Some(first) if world.is_empty() => Err(first.clone()),
            _ => {
                let content = Content::World(Box::new(world));
                Ok(Self { content, kept_by: KeptBy::Source(source.into()), file, faults })
            }
        }
    }

    fn at_levels(source: Box<dyn Source>, file: EditsFile) -> Self {
        let data = Arc::new(LodData::new(source, LEVELS_CACHE_BYTES));
        let kept_by = KeptBy::Levels(Arc::clone(&data));
        Self { content: Content::Levels(data), kept_by, file, faults: Vec::new() }
    }
}

/// The file of edits of a world, in memory: one that was brought, or one to be made.
pub(crate) struct EditsFile {
    name: String,
    /// Of files of edits that are there, the last one's place in the series of the world's.
    series: String,
    number: u32,
    pub(crate) made: Option<MemoryFile>,
}

impl EditsFile {
    /// The file that was brought, or one beside `world` as the viewer names it.
    fn of(brought: Option<MemoryFile>, world: &str) -> Self {
        let Some(name) = brought.as_ref().and_then(|it| it.name().to_str()) else {
            let name = numbered(world, 1);
            return Self { name, series: world.into(), number: 0, made: brought };
        };
        let (series, number) = place_in_series(name);
        Self { name: name.into(), series: series.into(), number, made: brought }
    }

    /// The bytes of a file that was brought.
    ///
    /// # Errors
    /// More than a page keeps.
    pub(crate) fn brought(name: &str, bytes: Vec<u8>) -> Result<MemoryFile, String> {
        // What a page saved can always be brought.
        if bytes.len() > LARGEST_FILE_BYTES {
            let (len, most) = (bytes.len().div_ceil(1 << 20), LARGEST_FILE_BYTES >> 20);
            return Err(format!(
                "{name}: {len} MiB of edits, at most {most} are taken here; the viewer takes all: --edits {name}"
            ));
        }
        Ok(MemoryFile::of_bytes(name, bytes, MAX_FILE_BYTES))
    }

    /// What another beside those that are there is called, as the viewer would call it.
    pub(crate) fn next_name(&self) -> String {
        numbered(&self.series, self.number.saturating_add(1))
    }

    /// There is such another now.
    pub(crate) fn go_on(&mut self) {
        self.name = self.next_name();
        self.number = self.number.saturating_add(1);
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// A new one, empty.
    pub(crate) fn make(&self) -> MemoryFile {
        MemoryFile::new(&self.name, MAX_FILE_BYTES)
    }

    /// The source with the edits, or so that it can be edited.
    fn over(&self, source: Box<dyn Source>) -> Result<Box<dyn Source>, String> {
        // One that has no number left for what is emptied is shown without edits.
        if self.made.is_none() && source.materials().len() > usize::from(u16::MAX) {
            return Ok(source);
        }
        let edited = match &self.made {
            Some(file) => EditedSource::open_in(source, file, POLICY),
            None => EditedSource::without_file(source, POLICY),
        };
        let edited = edited.map(|it| it.with_coarse_bytes(COARSE_BYTES));
        edited.map(|it| Box::new(it) as Box<dyn Source>).map_err(|error| error.to_string())
    }
}

/// The name of the files of edits of a world that has this number, the first one's 1.
fn numbered(world: &str, number: u32) -> String {
    let number = if number > 1 { format!("-{number}") } else { String::new() };
    format!("{world}.edits{number}.{}", StoredWorld::EXTENSION)
}

/// Of which world a file is by its name, and which of its; 0 of none.
fn place_in_series(name: &str) -> (&str, u32) {
    let extension = StoredWorld::EXTENSION;
    let stem = name.strip_suffix(extension).and_then(|it| it.strip_suffix('.')).unwrap_or(name);
    // A browser numbers what it downloads again in its own way: "a.edits (1)".
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
