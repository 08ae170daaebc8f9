use std::sync::{PoisonError, RwLock};

use drystone_formats::{Motion, Source, SourceError};
use drystone_voxel::{Chunk, ChunkBox, ChunkPos, Material, MaterialTable};

mod crater;
mod noise;
mod random;

pub use crater::CraterLand;
use crater::CraterVoxels;
use noise::TravellingNoise;
use random::RandomChunks;

/// A world of voxels that changes in every frame, such as the scenes with which N. McDonald measured
/// his vertex pool. Its [`Motion`] moves it to the next frame.
///
/// Equal configurations have the same chunks in the same frame.
///
/// # Cost
/// About 0.1 ms for each chunk.
///
/// # Examples
/// ```
/// use drystone_formats::Source;
/// use drystone_world::{MovingConfig, MovingKind, MovingWorld};
///
/// let world = MovingWorld::new(MovingConfig::new(MovingKind::Random))?;
/// let before = world.chunk_positions().len();
/// let changed = world.motion().map_or(0, |motion| motion.next_frame().len());
/// assert_eq!((before, changed), (64, 50));
/// # Ok::<(), drystone_formats::SourceError>(())
/// ```
pub struct MovingWorld {
    config: MovingConfig,
    name: String,
    materials: MaterialTable,
    frame: RwLock<Frame>,
}

/// Configuration of a moving world.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub struct MovingConfig {
    /// Kind of the changes.
    pub kind: MovingKind,
    /// Seed of all random numbers and noise.
    pub seed: u64,
    /// Size along X, Y and Z in chunks. A [`MovingKind::Crater`] has X chunks along Z too.
    pub size_chunks: [u32; 3],
}

/// Kind of the changes in a moving world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub enum MovingKind {
    /// A tenth of all voxels is filled at random. Fifty chunks are filled again in each frame.
    Random,
    /// Coherent noise that travels by one voxel in each frame, so that all chunks change.
    Noise,
    /// An island over which a crater wanders: a height map that changes in every frame.
    Crater,
}

/// State of a frame.
enum Frame {
    Random(RandomChunks),
    Noise(TravellingNoise),
    Crater(CraterVoxels),
}

impl MovingConfig {
    /// Returns the default seed and size of a kind: 64 to 108 chunks.
    pub const fn new(kind: MovingKind) -> Self {
        let size_chunks = match kind {
            MovingKind::Random => [4, 4, 4],
            MovingKind::Noise => [6, 3, 6],
            MovingKind::Crater => [6, 3, 6],
        };
        Self { kind, seed: 3, size_chunks }
    }

    /// Replaces [`seed`](Self::seed).
    #[must_use]
    pub const fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Replaces [`size_chunks`](Self::size_chunks).
    #[must_use]
    pub const fn with_size_chunks(mut self, size_chunks: [u32; 3]) -> Self {
        self.size_chunks = size_chunks;
        self
    }

    /// Returns the size with at least one chunk along each axis. A crater's land is a square.
    fn whole_size(&self) -> [u32; 3] {
        let [x, y, z] = self.size_chunks.map(|side| side.max(1));
        if self.kind == MovingKind::Crater { [x, y, x] } else { [x, y, z] }
    }
}

impl MovingKind {
    /// Returns the name, as in options.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Noise => "noise",
            Self::Crater => "crater",
        }
    }

    /// Returns the materials: names and colours.
    const fn materials(self) -> &'static [(&'static str, [u8; 4])] {
        match self {
            Self::Random => &random::MATERIALS,
            Self::Noise => &noise::MATERIALS,
            Self::Crater => &crater::MATERIALS,
        }
    }
}

impl MovingWorld {
    /// Maximum number of chunks. The state of so many takes at most 512 MiB.
    pub const MAX_CHUNKS: u64 = 1 << 14;

    /// Creates a world in its first frame.
    ///
    /// # Errors
    /// [`SourceError::TooLarge`] for more than [`MAX_CHUNKS`](Self::MAX_CHUNKS) chunks.
    pub fn new(config: MovingConfig) -> Result<Self, SourceError> {
        let config = MovingConfig { size_chunks: config.whole_size(), ..config };
        let count =
            config.size_chunks.iter().fold(1, |n: u64, &side| n.saturating_mul(side.into()));
        if count > Self::MAX_CHUNKS {
            return Err(SourceError::TooLarge {
                what: format!("scene {}", config.kind.name()),
                found: count,
                limit: Self::MAX_CHUNKS,
                unit: "chunks",
                advice: "use fewer chunks",
            });
        }
        let mut materials = MaterialTable::new();
        for &(name, color) in config.kind.materials() {
            materials.insert(name, color);
        }
        let MovingConfig { kind, seed, size_chunks: size } = config;
        let frame = match kind {
            MovingKind::Random => Frame::Random(RandomChunks::new(seed, size)),
            MovingKind::Noise => Frame::Noise(TravellingNoise::new(seed, size)),
            MovingKind::Crater => Frame::Crater(CraterVoxels::new(size[0])),
        };
        let name = format!("scene {}, seed {seed}", kind.name());
        Ok(Self { config, name, materials, frame: RwLock::new(frame) })
    }

    /// Returns the size along X, Y and Z in chunks.
    fn size(&self) -> [i32; 3] {
        self.config.size_chunks.map(|side| side as i32)
    }
}

impl Source for MovingWorld {
    fn name(&self) -> &str {
        &self.name
    }

    fn materials(&self) -> &MaterialTable {
        &self.materials
    }

    fn chunk_positions(&self) -> Vec<ChunkPos> {
        positions(self.size()).collect()
    }

    fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
        let size = self.size();
        let at = [position.x, position.y, position.z];
        if at.iter().zip(size).any(|(&at, size)| at < 0 || at >= size) {
            return Ok(Chunk::new(Chunk::SIDE, Material::AIR));
        }
        Ok(match &*self.frame.read().unwrap_or_else(PoisonError::into_inner) {
            Frame::Random(random) => random.chunk(at.map(|c| c as u32)),
            Frame::Noise(noise) => noise.chunk(position),
            Frame::Crater(crater) => crater.chunk(position),
        })
    }

    fn extent(&self) -> Option<ChunkBox> {
        let [x, y, z] = self.size();
        let max = ChunkPos::new(x - 1, y - 1, z - 1);
        Some(ChunkBox { min: ChunkPos::new(0, 0, 0), max })
    }

    fn motion(&self) -> Option<&dyn Motion> {
        Some(self)
    }
}

impl Motion for MovingWorld {
    fn next_frame(&self) -> Vec<ChunkPos> {
        let size = self.size();
        match &mut *self.frame.write().unwrap_or_else(PoisonError::into_inner) {
            Frame::Random(random) => random.next_frame(),
            Frame::Noise(noise) => {
                noise.next_frame();
                positions(size).collect()
            }
            Frame::Crater(crater) => crater.next_frame(size[1]),
        }
    }
}

/// Returns all chunk positions of a box at the origin, sorted.
fn positions([x, y, z]: [i32; 3]) -> impl Iterator<Item = ChunkPos> {
    (0..x).flat_map(move |x| (0..y).flat_map(move |y| (0..z).map(move |z| ChunkPos::new(x, y, z))))
}

#[cfg(test)]
mod tests;
