use std::{path::Path, sync::Arc, time::Duration};

use drystone::scene::KeptBy;
use drystone_world::{
    CommitPolicy, EditedSource, GeneratedWorld, GeneratorConfig, LevelData, MemoryFile, Source,
    StoredWorld, World, WorldError, parse_source,
};

use crate::content::Content;

/// Sources of more chunks than this are shown at levels of detail: fewer are read and meshed in
/// a second or two.
const CHUNKS_IN_MEMORY: u64 = 1_024;
/// Bytes of voxels that are kept for levels of detail.
const LEVELS_CACHE_BYTES: usize = 128 << 20;
/// Bytes that a file of edits may have: packed, some 150,000 chunks.
const MOST_FILE_BYTES: usize = 256 << 20;
/// A page has no thread that commits. Four times so many bytes wait for somebody to save them; then they
/// are packed at once, within a frame, which should hardly be felt.
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
                Ok(Self { content, kept_by: KeptBy::Source(source), file, faults })
            }
        }
    }

    fn at_levels(source: Box<dyn Source>, file: EditsFile) -> Self {
        let data = Arc::new(LevelData::new(source, LEVELS_CACHE_BYTES));
        let kept_by = KeptBy::Levels(Arc::clone(&data));
        Self { content: Content::Levels(data), kept_by, file, faults: Vec::new() }
    }
}

/// The file of edits of a world, in memory: one that was brought, or one to be made.
pub(crate) struct EditsFile {
    name: String,
    pub(crate) made: Option<MemoryFile>,
}

impl EditsFile {
    /// The file that was brought, or one beside `world` as the viewer names it.
    fn of(brought: Option<MemoryFile>, world: &str) -> Self {
        let name = match brought.as_ref().and_then(|it| Path::new(it.name()).to_str()) {
            Some(name) => name.into(),
            None => format!("{world}.edits.{}", StoredWorld::EXTENSION),
        };
        Self { name, made: brought }
    }

    /// The bytes of a file that was brought.
    pub(crate) fn brought(name: &str, bytes: Vec<u8>) -> MemoryFile {
        MemoryFile::of_bytes(name, bytes, MOST_FILE_BYTES)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// A new one, empty.
    pub(crate) fn make(&self) -> MemoryFile {
        MemoryFile::new(&self.name, MOST_FILE_BYTES)
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
        edited.map(|it| Box::new(it) as Box<dyn Source>).map_err(|error| error.to_string())
    }
}
