use std::{fs, path::PathBuf};

use drystone_voxel::ChunkPos;
use drystone_world::{
    GeneratedWorld, GeneratorConfig, ImportOptions, Source, StoredWorld, World, WorldError, import,
};

use crate::Random;

/// A file that is gone when it is not needed any more.
pub(super) struct Scratch(pub(super) PathBuf);

impl Scratch {
    pub(super) fn new(name: &str) -> Self {
        let file = format!("drystone-bench-{name}-{}.drystone", std::process::id());
        let path = std::env::temp_dir().join(file);
        // One that a killed run has left.
        let _ = fs::remove_file(&path);
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// A generated world that was imported, and its file compacted.
pub(super) struct Input {
    pub(super) path: PathBuf,
    pub(super) chunk_count: u64,
    pub(super) solid_count: u64,
    _file: Scratch,
}

impl Input {
    pub(super) fn new(size_chunks: [u32; 3]) -> Result<Self, String> {
        let text = |error: WorldError| error.to_string();
        let file = Scratch::new("world");
        let config = GeneratorConfig { size_chunks, ..GeneratorConfig::default() };
        let source = GeneratedWorld::new(config).map_err(text)?;
        let solid_count = World::load(&source).map_err(text)?.solid_count();
        let (world, _) =
            import(&source, &file.0, &ImportOptions::default(), &mut |_| {}).map_err(text)?;
        let chunk_count = world.chunk_count();
        world.close().map_err(|it| text(it.error))?;
        StoredWorld::compact(&file.0).map_err(text)?;
        Ok(Self { path: file.0.clone(), chunk_count, solid_count, _file: file })
    }

    pub(super) fn open(&self) -> Result<StoredWorld, String> {
        StoredWorld::open_read_only(&self.path).map_err(|error| error.to_string())
    }
}

/// The world's chunks in another order each time.
pub(super) struct Shuffled {
    places: Vec<ChunkPos>,
    random: Random,
}

impl Shuffled {
    pub(super) fn new(input: &Input) -> Self {
        let places = input.open().map(|world| world.chunk_positions()).unwrap_or_default();
        Self { places, random: Random::new(3) }
    }

    pub(super) fn next(&mut self) -> &[ChunkPos] {
        for n in (1..self.places.len()).rev() {
            self.places.swap(n, self.random.below(n + 1));
        }
        &self.places
    }
}
