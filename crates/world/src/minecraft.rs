use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use drystone_voxel::{Chunk, ChunkPos, Material, MaterialTable};
use rayon::prelude::*;

use crate::{Source, WorldError, identity};

mod blocks;
mod cache;
mod colors;
mod column;
mod fault;
mod faults;
mod nbt;
mod numbered;
mod region;
mod section;
mod stack;
mod unpack;

use blocks::Blocks;
use cache::Cache;
use faults::Faults;
use region::Region;
use stack::{Heights, LOWEST, Stack, StackSource};

/// A world of Minecraft Java: one region file (`.mca`) or a save folder.
///
/// ```text
///  save folder ─► region files ─► 32 × 32 columns each ─► sections of 16³
///                                                             │ 2 × 2 × 2
///                 chunk of 32³ ◄── cache ◄── stack of chunks ◄┘
/// ```
/// Opening reads no voxels; a chunk's four columns are read when one of their chunks is
/// asked for, and are kept for the next ones. Read are the formats since 1.2 (numbers until
/// 1.12, palettes since, with and without words that voxels span), heights from -2048 to 2047,
/// columns packed by gzip, zlib, LZ4 or not at all, within the region or in a file beside it.
///
/// Every block is one voxel, whatever its shape. Materials are the game's blocks by name,
/// without their properties; blocks that are not known are [`UNKNOWN`](Self::UNKNOWN) and
/// magenta. Kinds of air, barriers and the like are air.
///
/// A column that is damaged is left out, and [`Source::faults`] names it; the others are there.
///
/// # Cost
/// The first [`Source::chunk_positions`] unpacks every column once, some 0.2 ms each on one
/// core, to know how high the world is; making chunks takes some 0.6 ms a column. Memory:
/// [`CACHE_BYTES`](Self::CACHE_BYTES), 16 bytes a chunk's column, and while a column is read
/// what it unpacks to, 64 MiB at most.
#[derive(Debug)]
pub struct MinecraftWorld {
    name: String,
    identity: String,
    materials: MaterialTable,
    blocks: &'static Blocks,
    regions: BTreeMap<[i32; 2], Region>,
    positions: OnceLock<Vec<ChunkPos>>,
    cache: Cache,
    faults: Faults,
}

/// Stacks of chunks a side of a region.
const REGION_STACKS: i32 = 16;
/// Regions lie this far from the origin at the most, so that every voxel has a place.
const MAX_REGION: i32 = 1 << 21;
/// Where a save folder keeps its regions, in the order in which they are looked for.
const REGION_FOLDERS: [&str; 3] = ["region", "dimensions/minecraft/overworld/region", ""];

impl MinecraftWorld {
    /// What voxels of blocks that are not known are called.
    pub const UNKNOWN: &str = "unknown block";

    /// What the chunks that are kept may take.
    pub const CACHE_BYTES: usize = 64 << 20;

    /// Whether `path` is a region file by its name, or a folder.
    pub(crate) fn is_minecraft(path: &Path) -> bool {
        path.extension().is_some_and(|it| it.eq_ignore_ascii_case("mca")) || path.is_dir()
    }

    /// Opens a region file, or a folder: a save, one of its dimensions, or its regions.
    ///
    /// # Errors
    /// A missing or unreadable file, one that ends within its tables, a folder without regions.
    pub fn open(path: &Path) -> Result<Self, WorldError> {
        let unreadable = |problem| WorldError::Unreadable { path: path.into(), problem };
        let name = path.display().to_string();
        if fs::metadata(path).map_err(unreadable)?.is_dir() {
            let regions = regions_in(path)?;
            return Ok(Self::of(name, &folder_name(path), regions));
        }
        let region = Region::file(path, place_of(path).unwrap_or([0, 0]));
        region.open().map_err(unreadable)?;
        let file = identity::file_name(&name);
        Ok(Self::of(name, &file, [region]))
    }

    /// A world of the bytes of one region file, as if it were `r.0.0.mca`; `name` is for messages.
    ///
    /// # Errors
    /// Bytes that end within the region's tables.
    pub fn parse(bytes: &[u8], name: &str) -> Result<Self, WorldError> {
        let region = Region::memory(name, bytes);
        let unreadable = |problem| WorldError::Unreadable { path: name.into(), problem };
        region.open().map_err(unreadable)?;
        Ok(Self::of(name.into(), &identity::file_name(name), [region]))
    }

    /// `file` is the file's or folder's name without those above it.
    fn of(name: String, file: &str, regions: impl IntoIterator<Item = Region>) -> Self {
        let (blocks, materials) = Blocks::vanilla();
        let regions: BTreeMap<_, _> =
            regions.into_iter().map(|region| (region.at, region)).collect();
        // Of what is played on, lengths change; worlds of one name rarely agree in them.
        let bytes: u64 = regions.values().map(Region::size_bytes).sum();
        let count = regions.len();
        Self {
            name,
            identity: format!("Minecraft world \"{file}\" 1, {bytes} bytes in {count} regions"),
            materials,
            blocks,
            regions,
            positions: OnceLock::new(),
            cache: Cache::new(Self::CACHE_BYTES),
            faults: Faults::default(),
        }
    }

    /// Where chunks may hold anything, sorted.
    fn find_positions(&self) -> Vec<ChunkPos> {
        let rows: Vec<_> = self
            .regions
            .values()
            .flat_map(|region| (0..REGION_STACKS).map(move |x| (region, x)))
            .collect();
        let mut positions: Vec<ChunkPos> = rows
            .into_par_iter()
            .flat_map_iter(|(region, x)| self.row(region, x))
            .flat_map_iter(|([x, z], heights)| {
                let set = (0..Heights::BITS).filter(move |bit| heights >> bit & 1 != 0);
                set.map(move |bit| ChunkPos::new(x, bit as i32 + LOWEST, z))
            })
            .collect();
        positions.sort_unstable();
        positions
    }

    /// The heights of the region's stacks at `x`, in stacks, each with its place in the world.
    fn row(&self, region: &Region, x: i32) -> Vec<([i32; 2], Heights)> {
        let mut faults = Vec::new();
        let mut row = Vec::new();
        match region.open() {
            Err(problem) => {
                faults.push(WorldError::Unreadable { path: region.name.clone().into(), problem });
            }
            Ok(mut open) => row.extend((0..REGION_STACKS).map(|z| {
                let place = StackSource { x: x as usize, z: z as usize };
                let heights = place.heights(&mut open, region, self.blocks, &mut faults);
                let at = region.at.map(|at| at * REGION_STACKS);
                ([at[0] + x, at[1] + z], heights)
            })),
        }
        self.faults.add(&faults);
        row
    }

    /// Reads the stack of chunks at `place`.
    fn read(&self, region: &Region, [x, z]: [i32; 2]) -> Stack {
        let mut faults = Vec::new();
        let [x, z] = [x, z].map(|side| side.rem_euclid(REGION_STACKS) as usize);
        let stack = match region.open() {
            Ok(mut open) => StackSource { x, z }.read(&mut open, region, self.blocks, &mut faults),
            Err(problem) => {
                faults.push(WorldError::Unreadable { path: region.name.clone().into(), problem });
                Stack::default()
            }
        };
        self.faults.add(&faults);
        stack
    }
}

/// The name of the folder that a world's regions are kept for, however it is written.
fn folder_name(path: &Path) -> String {
    let full = fs::canonicalize(path).unwrap_or_else(|_| path.into());
    let folder = if full.ends_with("region") { full.parent().unwrap_or(&full) } else { &full };
    identity::file_name(&folder.to_string_lossy())
}

/// The region files of a folder.
fn regions_in(folder: &Path) -> Result<Vec<Region>, WorldError> {
    for part in REGION_FOLDERS {
        let within = if part.is_empty() { PathBuf::from(folder) } else { folder.join(part) };
        let Ok(entries) = fs::read_dir(&within) else { continue };
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let regions: Vec<Region> =
            paths.filter_map(|path| Some(Region::file(&path, place_of(&path)?))).collect();
        if !regions.is_empty() {
            return Ok(regions);
        }
    }
    let found = "a folder without Minecraft's regions (region/r.X.Z.mca)".into();
    Err(WorldError::Unsupported { path: folder.into(), found })
}

/// The place that a region file's name, `r.X.Z.mca`, tells.
fn place_of(path: &Path) -> Option<[i32; 2]> {
    let name = path.file_name()?.to_str()?;
    let (x, z) = name.strip_prefix("r.")?.strip_suffix(".mca")?.split_once('.')?;
    let place = [x.parse().ok()?, z.parse().ok()?];
    place.iter().all(|side| (-MAX_REGION..MAX_REGION).contains(side)).then_some(place)
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
        if let Some(positions) = self.positions.get() {
            return positions.clone();
        }
        // Not within `get_or_init`: a thread that waits for its part of the work may be given
        // another's, which may ask for the positions too.
        let positions = self.find_positions();
        self.positions.get_or_init(|| positions).clone()
    }

    fn chunk(&self, position: ChunkPos) -> Result<Chunk, WorldError> {
        let place = [position.x, position.z];
        let air = || Chunk::new(Chunk::SIDE, Material::AIR);
        let Some(region) = self.regions.get(&place.map(|side| side.div_euclid(REGION_STACKS)))
        else {
            return Ok(air());
        };
        Ok(self.cache.with(
            place,
            || self.read(region, place),
            |stack| stack.chunks.get(&position.y).cloned().unwrap_or_else(air),
        ))
    }

    fn faults(&self) -> Vec<String> {
        self.faults.all()
    }
}
