use std::{fs, path::PathBuf};

use drystone_formats::{Source, SourceError};
use drystone_store::{ImportOptions, PackOptions, StoreOptions, StoredWorld, import, pack};
use drystone_voxel::{Chunk, ChunkPos};
use drystone_world::{GeneratedWorld, GeneratorConfig, World};

use crate::{Failure, Random};

/// A file that is deleted on drop.
pub(super) struct Scratch(pub(super) PathBuf);

impl Scratch {
    pub(super) fn new(name: &str) -> Self {
        let file = format!("drystone-bench-{name}-{}.drystone", std::process::id());
        let path = std::env::temp_dir().join(file);
        // A killed run may have left this file.
        let _ = fs::remove_file(&path);
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// A generated world that was imported into a compacted file, and packed into another.
pub(super) struct Input {
    pub(super) path: PathBuf,
    pub(super) packed_path: PathBuf,
    pub(super) chunk_count: u64,
    pub(super) solid_count: u64,
    /// Checksum of all voxels of the source.
    pub(super) checksum: u64,
    _files: [Scratch; 2],
}

impl Input {
    pub(super) fn new(size_chunks: [u32; 3]) -> Result<Self, Failure> {
        let file = Scratch::new("world");
        let config = GeneratorConfig::default().with_size_chunks(size_chunks);
        let source = GeneratedWorld::new(config)?;
        let solid_count = World::load(&source)?.solid_count();
        let checksum = checksum(&source)?;
        let (world, _) = import(&source, &file.0, &ImportOptions::default(), &mut |_| {})?;
        let chunk_count = world.chunk_count();
        world.close().map_err(|failed| failed.error)?;
        StoredWorld::compact(&file.0)?;
        let packed = Scratch::new("packed");
        pack(&source, &packed.0, &PackOptions::default(), &mut |_| {})?;
        let (path, packed_path) = (file.0.clone(), packed.0.clone());
        let _files = [file, packed];
        Ok(Self { path, packed_path, chunk_count, solid_count, checksum, _files })
    }

    pub(super) fn open(&self) -> Result<StoredWorld, SourceError> {
        StoredWorld::open(&self.path, &StoreOptions::read_only())
    }
}

/// Returns a checksum that depends on every voxel of a source and its position.
pub(super) fn checksum(source: &dyn Source) -> Result<u64, SourceError> {
    let mut chunks = source.chunk_positions().into_iter().map(|at| Ok((at, source.chunk(at)?)));
    chunks.try_fold(0, |sum: u64, chunk: Result<_, SourceError>| {
        let (at, chunk) = chunk?;
        Ok(sum.wrapping_add(checksum_of(at, &chunk)))
    })
}

/// Returns the checksum of one chunk. That of a world is the sum. Air adds 0.
pub(super) fn checksum_of(at: ChunkPos, chunk: &Chunk) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |sum: u64, next: u64| (sum ^ next).wrapping_mul(FACTOR).rotate_left(29);
    let mut sum = [at.x, at.y, at.z].iter().fold(1, |sum, c| mix(sum, u64::from(*c as u32)));
    chunk.for_each_row(|_, _, row| {
        sum = row.iter().fold(sum, |sum, voxel| mix(sum, voxel.0.into()));
    });
    if chunk.is_empty() { 0 } else { sum }
}

/// The chunks of a world in another random order each time.
pub(super) struct Shuffled {
    positions: Vec<ChunkPos>,
    random: Random,
}

impl Shuffled {
    pub(super) fn new(input: &Input) -> Self {
        let positions = input.open().map(|world| world.chunk_positions()).unwrap_or_default();
        Self { positions, random: Random::new(3) }
    }

    pub(super) fn next(&mut self) -> &[ChunkPos] {
        self.random.shuffle(&mut self.positions);
        &self.positions
    }
}
