use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use drystone_voxel::{Chunk, ChunkPos, Material, MaterialTable};
use rayon::prelude::*;

use crate::cache::Cache;
use crate::error::SourceError;
use crate::faults::Faults;
use crate::identity;
use crate::source::{Source, TILE_CHUNKS, Tiles};

mod biomes;
mod blocks;
mod colors;
mod column;
mod files;
mod indices;
mod leaves;
mod looks;
mod nbt;
mod problems;
mod region;
mod section;
mod shapes;
mod stack;
mod tint;
mod unpack;
mod wet;

use blocks::Blocks;
pub use files::RegionFiles;
use problems::BiomeProblems;
use region::Region;
use stack::{Heights, LOWEST, Stack, StackSource};

/// A world of Minecraft Java: one region file (`.mca`) or a save folder.
///
/// ```text
///  save folder ─► region files ─► 32 × 32 columns each ─► sections of 16³
///                                                             │ 2 × 2 × 2
///                 chunk of 32³ ◄── cache ◄── stack of chunks ◄┘
/// ```
/// Opening reads no voxels. The four columns of a chunk are read when one of its chunks is
/// requested, and cached. Supports the formats since 1.2: block numbers until 1.12, and palettes
/// since, with and without voxels that span words. Heights range from -2048 to 2047. Columns can be
/// compressed with gzip, zlib or LZ4 or uncompressed, in the region file or in a file beside it.
///
/// Every block is one voxel. Materials are the game's blocks by name. Blocks that are not cubes have
/// more, named with their state, such as `oak_slab type=top`; these have a
/// [`Shape`](drystone_voxel::Shape). A block in a state that it does not have is shown in its
/// first one, and is listed in [`Source::faults`]. Before 1.13, files do not contain how fences, walls and panes connect: they
/// are posts. Grass, leaves and water have materials for each colour of biomes, such as
/// `water in swamp`; those of plains have the block's name alone. Leaves have a texture with holes, which
/// this crate makes; all other blocks have plain colours. Unknown blocks are magenta and
/// named [`UNKNOWN`](Self::UNKNOWN). Air-like and
/// invisible blocks such as barriers are air.
///
/// Damaged columns are skipped and listed in [`Source::faults`]; the others are readable. A region file that
/// the system cannot read is listed too, and its chunks are errors. Unknown
/// and damaged biomes are counted there, and have the colours of plains.
///
/// # Cost
/// The first [`Source::chunk_positions`] decompresses every column once to find the used heights,
/// at about 0.2 ms per column on one core. Building chunks takes about 0.6 ms per column. Memory:
/// [`CACHE_BYTES`](Self::CACHE_BYTES), 16 bytes for each stack of chunks, and the decompressed
/// column that is being read, at most 64 MiB.
#[derive(Debug)]
pub struct MinecraftWorld {
    name: String,
    identity: String,
    materials: MaterialTable,
    blocks: &'static Blocks,
    regions: BTreeMap<[i32; 2], Region>,
    /// Chunks of each region, once they are found.
    found: BTreeMap<[i32; 2], OnceLock<Found>>,
    cache: Cache<[i32; 2], Stack>,
    faults: Faults,
}

/// Result of the first pass over the columns of a region.
#[derive(Debug, Default)]
struct Found {
    /// Positions of all chunks that can hold voxels.
    positions: Vec<ChunkPos>,
    biomes: BiomeProblems,
}

/// Side of a region, in stacks of chunks.
const REGION_STACKS: i32 = TILE_CHUNKS;
/// Maximum distance of a region from the origin, in regions, so that all voxel coordinates are
/// valid.
const MAX_REGION: i32 = 1 << 21;

impl MinecraftWorld {
    /// Material name of unknown blocks.
    pub const UNKNOWN: &str = "unknown block";

    /// Folders of a save that can hold the regions, in search order.
    pub const REGION_FOLDERS: [&str; 3] = ["region", "dimensions/minecraft/overworld/region", ""];

    /// Memory limit of the cache of chunks, in bytes.
    pub const CACHE_BYTES: usize = 64 << 20;

    /// Whether the shape of a material is that of its block. False if it only resembles it, such as a
    /// leaning torch that is drawn upright, and for unknown blocks.
    pub fn has_block_shape(&self, material: Material) -> bool {
        self.blocks.is_exact(material)
    }

    /// Whether `path` is named like a region file, or is a folder.
    pub(crate) fn is_minecraft(path: &Path) -> bool {
        path.extension().is_some_and(|it| it.eq_ignore_ascii_case("mca")) || path.is_dir()
    }

    /// Opens a region file, or a folder: a save, one of its dimensions, or its regions.
    ///
    /// # Errors
    /// A missing or unreadable file, a file that ends within its tables, or a folder without
    /// regions.
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        let unreadable = |problem| SourceError::Unreadable { path: path.into(), problem };
        let name = path.display().to_string();
        if fs::metadata(path).map_err(unreadable)?.is_dir() {
            let regions = regions_in(path)?;
            return Ok(Self::of(name, &folder_name(path), regions));
        }
        let region = Region::file(path, region_position(path).unwrap_or([0, 0]));
        region.open().map_err(unreadable)?;
        let file = identity::file_name(&name);
        Ok(Self::of(name, &file, [region]))
    }

    /// Opens a world whose region files are elsewhere, in one of [`REGION_FOLDERS`](Self::REGION_FOLDERS). `name`
    /// is its display name, and ends with the save's name, which [`Source::identity`] contains.
    ///
    /// # Errors
    /// No region file in the list.
    pub fn open_files(
        name: &str,
        folder: &str,
        files: Arc<dyn RegionFiles>,
    ) -> Result<Self, SourceError> {
        let shown = [name.trim_end_matches('/'), folder].join("/");
        let region = |file: (String, u64)| {
            let at = region_position(Path::new(&file.0))?;
            // Nothing else may be in a name that comes from elsewhere.
            let is_plain = file.0 == format!("r.{}.{}.mca", at[0], at[1]);
            is_plain.then(|| Region::elsewhere(&files, &shown, file, at))
        };
        let regions: Vec<Region> = files.list().into_iter().filter_map(region).collect();
        if regions.is_empty() {
            return Err(no_regions(Path::new(name)));
        }
        let folder = name.trim_end_matches('/').trim_end_matches("/region");
        Ok(Self::of(name.into(), &identity::file_name(folder), regions))
    }

    /// Parses the bytes of one region file as `r.0.0.mca`. `name` is used in messages.
    ///
    /// # Errors
    /// Bytes that end within the region's tables.
    pub fn parse(bytes: &[u8], name: &str) -> Result<Self, SourceError> {
        let region = Region::memory(name, bytes);
        let unreadable = |problem| SourceError::Unreadable { path: name.into(), problem };
        region.open().map_err(unreadable)?;
        Ok(Self::of(name.into(), &identity::file_name(name), [region]))
    }

    /// `file` is the name of the file or folder, without its parent folders.
    fn of(name: String, file: &str, regions: impl IntoIterator<Item = Region>) -> Self {
        let (blocks, materials) = Blocks::vanilla();
        let regions: BTreeMap<_, _> =
            regions.into_iter().map(|region| (region.at, region)).collect();
        // The total length changes when a world is played, and rarely equals another world's.
        let bytes: u64 = regions.values().map(Region::size_bytes).sum();
        let count = regions.len();
        let found = regions.keys().map(|&at| (at, OnceLock::new())).collect();
        Self {
            name,
            identity: format!("Minecraft world \"{file}\" 1, {bytes} bytes in {count} regions"),
            materials,
            blocks,
            regions,
            found,
            cache: Cache::new(Self::CACHE_BYTES),
            faults: Faults::default(),
        }
    }

    /// Returns the chunks of a region. `None` if there is no region.
    ///
    /// # Errors
    /// A region file that the system cannot read. The next call tries again.
    fn find(&self, at: [i32; 2]) -> Result<Option<&Found>, SourceError> {
        let (Some(region), Some(found)) = (self.regions.get(&at), self.found.get(&at)) else {
            return Ok(None);
        };
        if let Some(found) = found.get() {
            return Ok(Some(found));
        }
        // One thread finds out that the file cannot be read, not one for each row.
        drop(region.open_undamaged(&mut Vec::new())?);
        // Not inside `get_or_init`: a thread that waits for parallel work can be given other work,
        // which may request the positions too and would deadlock.
        let rows = (0..REGION_STACKS).into_par_iter().map(|x| self.row(region, x));
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        let mut all = Found::default();
        for (stacks, problems) in rows {
            all.biomes.merge(problems);
            for ([x, z], heights) in stacks {
                let set = (0..Heights::BITS).filter(|bit| heights >> bit & 1 != 0);
                let positions = set.map(|bit| ChunkPos::new(x, bit as i32 + LOWEST, z));
                all.positions.extend(positions);
            }
        }
        Ok(Some(found.get_or_init(|| all)))
    }

    /// The chunks of all regions. Unreadable ones are omitted and added to the faults.
    fn find_all(&self) -> Vec<&Found> {
        let regions: Vec<_> = self.regions.keys().copied().collect();
        let find = |at| {
            self.find(at).unwrap_or_else(|problem| {
                self.faults.add(&[problem]);
                None
            })
        };
        regions.into_par_iter().filter_map(find).collect()
    }

    /// Used heights of a region's stacks at `x`, each with the stack's position in the world, and
    /// problems with their biomes.
    fn row(&self, region: &Region, x: i32) -> Result<Row, SourceError> {
        let (mut faults, mut biomes) = (Vec::new(), BiomeProblems::default());
        let mut row = Vec::new();
        if let Some(mut open) = region.open_undamaged(&mut faults)? {
            for z in 0..REGION_STACKS {
                let source = StackSource { x: x as usize, z: z as usize };
                let heights =
                    source.heights(&mut open, region, self.blocks, &mut faults, &mut biomes)?;
                let at = region.at.map(|at| at * REGION_STACKS);
                row.push(([at[0] + x, at[1] + z], heights));
            }
        }
        self.faults.add(&faults);
        Ok((row, biomes))
    }

    /// Reads the stack of chunks at `x`, `z`.
    fn read(&self, region: &Region, [x, z]: [i32; 2]) -> Result<Stack, SourceError> {
        let mut faults = Vec::new();
        let [x, z] = [x, z].map(|side| side.rem_euclid(REGION_STACKS) as usize);
        let stack = match region.open_undamaged(&mut faults)? {
            Some(mut open) => {
                StackSource { x, z }.read(&mut open, region, self.blocks, &mut faults)?
            }
            None => Stack::default(),
        };
        self.faults.add(&faults);
        Ok(stack)
    }
}

/// Stacks with their used heights, and problems with their biomes.
type Row = (Vec<([i32; 2], Heights)>, BiomeProblems);

/// Name of the save folder that contains the regions, independent of how the path is written.
fn folder_name(path: &Path) -> String {
    let full = fs::canonicalize(path).unwrap_or_else(|_| path.into());
    let folder = if full.ends_with("region") { full.parent().unwrap_or(&full) } else { &full };
    identity::file_name(&folder.to_string_lossy())
}

/// The region files in a folder.
fn regions_in(folder: &Path) -> Result<Vec<Region>, SourceError> {
    for part in MinecraftWorld::REGION_FOLDERS {
        let within = if part.is_empty() { PathBuf::from(folder) } else { folder.join(part) };
        let unreadable = |problem| SourceError::Unreadable { path: within.clone(), problem };
        let entries = match fs::read_dir(&within) {
            Ok(entries) => entries,
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                continue;
            }
            Err(error) => return Err(unreadable(error)),
        };
        let mut regions = Vec::new();
        for entry in entries {
            let path = entry.map_err(unreadable)?.path();
            regions.extend(region_position(&path).map(|at| Region::file(&path, at)));
        }
        if !regions.is_empty() {
            return Ok(regions);
        }
    }
    Err(no_regions(folder))
}

fn no_regions(folder: &Path) -> SourceError {
    let found = "a folder without Minecraft's regions (region/r.X.Z.mca) or height maps".into();
    SourceError::Unsupported { path: folder.into(), found }
}

/// Position of a region according to its file name, `r.X.Z.mca`.
fn region_position(path: &Path) -> Option<[i32; 2]> {
    let name = path.file_name()?.to_str()?;
    let (x, z) = name.strip_prefix("r.")?.strip_suffix(".mca")?.split_once('.')?;
    let position = [x.parse().ok()?, z.parse().ok()?];
    position.iter().all(|side| (-MAX_REGION..MAX_REGION).contains(side)).then_some(position)
}

impl Source for MinecraftWorld {
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
        let found = self.find_all();
        let mut positions: Vec<_> = found.iter().flat_map(|it| &it.positions).copied().collect();
        positions.sort_unstable();
        positions
    }

    fn chunk_count(&self) -> u64 {
        self.find_all().iter().map(|it| it.positions.len() as u64).sum()
    }

    fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
        let stack_at = [position.x, position.z];
        let air = || Chunk::new(Chunk::SIDE, Material::AIR);
        let Some(region) = self.regions.get(&stack_at.map(|side| side.div_euclid(REGION_STACKS)))
        else {
            return Ok(air());
        };
        let stack = self.cache.get(stack_at, || self.read(region, stack_at))?;
        Ok(stack.chunks.get(&position.y).cloned().unwrap_or_else(air))
    }

    fn faults(&self) -> Vec<String> {
        let mut faults = self.faults.all();
        let mut biomes = BiomeProblems::default();
        let found = self.found.values().filter_map(OnceLock::get);
        found.for_each(|it| biomes.merge(it.biomes.clone()));
        faults.extend(biomes.messages(&self.name));
        faults
    }

    fn limit_memory(&self, bytes: usize) {
        self.cache.set_budget(bytes.min(Self::CACHE_BYTES));
    }

    fn tiles(&self) -> Option<&dyn Tiles> {
        Some(self)
    }
}

/// Each region is a tile.
impl Tiles for MinecraftWorld {
    fn tile_positions(&self) -> Vec<[i32; 2]> {
        self.regions.keys().copied().collect()
    }

    fn chunk_positions_in(&self, tile: [i32; 2]) -> Result<Vec<ChunkPos>, SourceError> {
        Ok(self.find(tile)?.map(|it| it.positions.clone()).unwrap_or_default())
    }
}
