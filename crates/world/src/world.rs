use std::collections::{BTreeMap, BTreeSet};

use drystone_voxel::{Chunk, ChunkPos, Material, MaterialTable, PaddedChunk, VoxelPos};
use rayon::prelude::*;

use crate::{Edit, Source, VoxelBox, WorldError};

#[cfg(test)]
mod tests;

/// The chunks of a source in memory. Chunks that are all air are not kept.
///
/// # Cost
/// [`get`](Self::get) and [`set`](Self::set) are O(log chunks). A chunk takes what its
/// [storage](Chunk::storage) needs: next to nothing where all its voxels are of one
/// material, at most two bytes a voxel.
///
/// # Examples
/// ```
/// use drystone_voxel::{Material, MaterialTable, VoxelPos};
/// use drystone_world::World;
///
/// let mut materials = MaterialTable::new();
/// let stone = materials.insert("stone", [120, 120, 120, 255]).unwrap();
/// let mut world = World::new("two stones", materials);
/// world.set(VoxelPos::new(-1, 0, 0), stone);
/// world.set(VoxelPos::new(4, 2, 0), stone);
/// assert_eq!(world.solid_count(), 2);
/// assert_eq!(world.bounds().unwrap().size_voxels(), [6, 3, 1]);
/// ```
#[derive(Clone, Debug)]
pub struct World {
    name: String,
    materials: MaterialTable,
    side: u32,
    chunks: BTreeMap<ChunkPos, Chunk>,
    /// Where there is something that could not be read.
    unreadable: BTreeSet<ChunkPos>,
}

impl World {
    /// The most chunks that [`load`](Self::load) takes: 4 GiB where no chunk is of one
    /// material. Larger sources want streaming.
    pub const MAX_CHUNKS: usize = 1 << 16;

    /// An empty world of chunks of side [`Chunk::SIDE`].
    pub fn new(name: &str, materials: MaterialTable) -> Self {
        Self::with_side(name, materials, Chunk::SIDE)
    }

    /// An empty world of chunks of side `side_voxels` (clamped to 1 to 64).
    pub fn with_side(name: &str, materials: MaterialTable, side_voxels: u32) -> Self {
        let side = side_voxels.clamp(1, Chunk::MAX_SIDE);
        let (chunks, unreadable) = (BTreeMap::new(), BTreeSet::new());
        Self { name: name.into(), materials, side, chunks, unreadable }
    }

    /// A world of these chunks, all of one side; of two at one place the later one wins.
    ///
    /// # Errors
    /// [`WorldError::ChunkSide`] when the sides differ.
    pub fn from_chunks(
        name: &str,
        materials: MaterialTable,
        chunks: impl IntoIterator<Item = (ChunkPos, Chunk)>,
    ) -> Result<Self, WorldError> {
        let mut chunks = chunks.into_iter().peekable();
        let side = chunks.peek().map_or(Chunk::SIDE, |(_, chunk)| chunk.side());
        let mut world = Self::with_side(name, materials, side);
        for (position, chunk) in chunks {
            world.insert(position, chunk)?;
        }
        Ok(world)
    }

    /// Makes every chunk of `source`, on all cores.
    ///
    /// # Errors
    /// [`WorldError::TooLarge`] past [`MAX_CHUNKS`](Self::MAX_CHUNKS), before any chunk is
    /// made, and whatever [`Source::chunk`] returns; damaged chunks of a stored world are
    /// [`unreadable`](Self::unreadable), and [`Source::faults`] names them.
    pub fn load(source: &dyn Source) -> Result<Self, WorldError> {
        Self::load_with_progress(source, || {})
    }

    /// The same; `on_chunk` is called when a chunk is made, by whichever thread has made it.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_with_progress(
        source: &dyn Source,
        on_chunk: impl Fn() + Sync,
    ) -> Result<Self, WorldError> {
        let count = source.chunk_count();
        if count > Self::MAX_CHUNKS as u64 {
            return Err(WorldError::TooLarge {
                what: source.name().into(),
                found: count,
                limit: Self::MAX_CHUNKS as u64,
                unit: "chunks",
                advice: "take a smaller part of it",
            });
        }
        let made: Vec<(ChunkPos, Option<Chunk>)> = source
            .chunk_positions()
            .into_par_iter()
            .map(|position| (position, source.chunk(position)))
            .inspect(|_| on_chunk())
            .filter_map(|(position, made)| match made {
                Ok(chunk) if chunk.is_empty() => None,
                // The source names it among its faults.
                Err(WorldError::BadStored { .. }) => Some(Ok((position, None))),
                made => Some(made.map(|chunk| (position, Some(chunk)))),
            })
            .collect::<Result<_, WorldError>>()?;
        let unreadable = made.iter().filter(|(_, it)| it.is_none()).map(|&(at, _)| at).collect();
        let chunks = made.into_iter().filter_map(|(at, chunk)| Some((at, chunk?)));
        let world = Self::from_chunks(source.name(), source.materials().clone(), chunks)?;
        Ok(Self { unreadable, ..world })
    }

    /// A name to show.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the voxels' numbers mean.
    pub fn materials(&self) -> &MaterialTable {
        &self.materials
    }

    /// Voxels a side of every chunk.
    pub const fn side(&self) -> u32 {
        self.side
    }

    /// How many chunks hold anything but air.
    pub fn chunk_count(&self) -> usize {
        self.chunks.len()
    }

    /// Whether there is nothing but air.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// The chunk at `position`; `None` where all is air.
    pub fn chunk(&self, position: ChunkPos) -> Option<&Chunk> {
        self.chunks.get(&position)
    }

    /// Every chunk that is not all air, in the order of positions: X, then Y, then Z.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (ChunkPos, &Chunk)> {
        self.chunks.iter().map(|(&position, chunk)| (position, chunk))
    }

    /// The positions of [`iter`](Self::iter).
    pub fn positions(&self) -> impl ExactSizeIterator<Item = ChunkPos> {
        self.chunks.keys().copied()
    }

    /// Where there is something that could not be read when this was [loaded](Self::load): it
    /// looks like air, and voxels are not set there, so that nobody writes air over it.
    pub fn unreadable(&self) -> impl ExactSizeIterator<Item = ChunkPos> {
        self.unreadable.iter().copied()
    }

    /// Whether what is at `position` is known.
    pub(crate) fn is_readable(&self, position: ChunkPos) -> bool {
        !self.unreadable.contains(&position)
    }

    /// Puts a chunk in place of the one at `position`, also of one that could not be read; one
    /// that is all air removes it.
    ///
    /// # Errors
    /// [`WorldError::ChunkSide`] when the chunk's side is not the world's.
    pub fn insert(&mut self, position: ChunkPos, chunk: Chunk) -> Result<(), WorldError> {
        if chunk.side() != self.side {
            return Err(WorldError::ChunkSide { found: chunk.side(), expected: self.side });
        }
        self.unreadable.remove(&position);
        if chunk.is_empty() {
            self.chunks.remove(&position);
        } else {
            self.chunks.insert(position, chunk);
        }
        Ok(())
    }

    /// The voxel at `voxel`; air where nothing is.
    pub fn get(&self, voxel: VoxelPos) -> Material {
        let (position, local) = voxel.split(self.side);
        self.chunks.get(&position).map_or(Material::AIR, |chunk| chunk.get(local))
    }

    /// Sets the voxel at `voxel` and returns what was there; nothing in a chunk that is
    /// [`unreadable`](Self::unreadable).
    pub fn set(&mut self, voxel: VoxelPos, material: Material) -> Material {
        let (position, local) = voxel.split(self.side);
        let is_nothing = material.is_air() && !self.chunks.contains_key(&position);
        if is_nothing || !self.is_readable(position) {
            return Material::AIR;
        }
        let side = self.side;
        let chunk = self.chunks.entry(position).or_insert_with(|| Chunk::new(side, Material::AIR));
        let old = chunk.set(local, material);
        if chunk.is_empty() {
            self.chunks.remove(&position);
        }
        old
    }

    /// Sets what changes; nothing where the edit is of chunks of another side, or what is there
    /// is [`unreadable`](Self::unreadable).
    pub fn apply(&mut self, edit: &Edit) {
        if edit.side() != self.side {
            return;
        }
        for (position, _) in edit.chunks().filter(|&(at, _)| !self.unreadable.contains(&at)) {
            let air = || Chunk::new(self.side, Material::AIR);
            let mut chunk = self.chunks.remove(&position).unwrap_or_else(air);
            edit.apply_to(position, &mut chunk);
            if !chunk.is_empty() {
                self.chunks.insert(position, chunk);
            }
        }
    }

    /// Puts the voxels of every chunk into the smallest storage, on all cores: to be called
    /// when many have been set. Sources make chunks that are so already.
    pub fn compact(&mut self) {
        let chunks: Vec<&mut Chunk> = self.chunks.values_mut().collect();
        chunks.into_par_iter().for_each(Chunk::compact);
    }

    /// Fills `padded` with the chunk at `position` and the border of its 26 neighbours:
    /// all air where there are none. The memory of `padded` is used again.
    pub fn pad(&self, position: ChunkPos, padded: &mut PaddedChunk) {
        let air = Chunk::new(self.side, Material::AIR);
        let center = self.chunks.get(&position).unwrap_or(&air);
        padded.fill(center, |offset| self.chunks.get(&position.offset(offset)?));
    }

    /// The tight box around everything that is not air, or `None` where all is air.
    ///
    /// # Cost
    /// Looks only into chunks on the outside of the world.
    pub fn bounds(&self) -> Option<VoxelBox> {
        let coordinates = |p: ChunkPos| [p.x, p.y, p.z];
        let mut low = [i32::MAX; 3];
        let mut high = [i32::MIN; 3];
        for position in self.positions() {
            for (axis, c) in coordinates(position).into_iter().enumerate() {
                low[axis] = low[axis].min(c);
                high[axis] = high[axis].max(c);
            }
        }
        // No chunk here is all air, so each end of the box lies in an outermost chunk.
        let outermost = |p: ChunkPos| {
            let c = coordinates(p);
            (0..3).any(|axis| c[axis] == low[axis] || c[axis] == high[axis])
        };
        let outer: Vec<_> = self.iter().filter(|&(position, _)| outermost(position)).collect();
        outer
            .into_par_iter()
            .filter_map(|(position, chunk)| chunk_bounds(position, chunk))
            .reduce_with(VoxelBox::union)
    }

    /// How many voxels are not air.
    pub fn solid_count(&self) -> u64 {
        self.chunks.values().map(|chunk| u64::from(chunk.solid_count())).sum()
    }

    /// How many voxels there are of each material but air, by number, most first; those
    /// of which there are none are left out.
    ///
    /// # Cost
    /// Looks at every voxel, on all cores.
    pub fn count_by_material(&self) -> Vec<(Material, u64)> {
        let merge = |mut a: BTreeMap<Material, u64>, b: BTreeMap<Material, u64>| {
            for (material, count) in b {
                *a.entry(material).or_default() += count;
            }
            a
        };
        let chunks: Vec<&Chunk> = self.chunks.values().collect();
        let counts = chunks.into_par_iter().map(count_chunk).reduce(BTreeMap::new, merge);
        let mut counts: Vec<_> = counts.into_iter().filter(|(m, _)| !m.is_air()).collect();
        counts.sort_by_key(|&(material, count)| (std::cmp::Reverse(count), material));
        counts
    }

    /// Bytes of memory that the chunks take.
    pub fn size_bytes(&self) -> u64 {
        let entry = size_of::<(ChunkPos, Chunk)>();
        self.chunks.values().map(|chunk| (chunk.size_bytes() + entry) as u64).sum()
    }
}

/// The tight box around what is not air in the chunk at `position`.
fn chunk_bounds(position: ChunkPos, chunk: &Chunk) -> Option<VoxelBox> {
    let mut low = [u8::MAX; 3];
    let mut high = [0; 3];
    for (local, _) in chunk.iter_solid() {
        for (axis, c) in [local.x, local.y, local.z].into_iter().enumerate() {
            low[axis] = low[axis].min(c);
            high[axis] = high[axis].max(c);
        }
    }
    let origin = position.origin(chunk.side());
    let at = |l: [u8; 3]| {
        VoxelPos::new(
            origin.x.saturating_add(l[0].into()),
            origin.y.saturating_add(l[1].into()),
            origin.z.saturating_add(l[2].into()),
        )
    };
    (!chunk.is_empty()).then(|| VoxelBox::of(at(low)).union(VoxelBox::of(at(high))))
}

/// How many voxels a chunk has of each material, air included or not.
pub(crate) fn count_chunk(chunk: &Chunk) -> BTreeMap<Material, u64> {
    let mut counts = BTreeMap::new();
    if let Some(fill) = chunk.uniform() {
        counts.insert(fill, u64::from(chunk.solid_count()));
        return counts;
    }
    chunk.for_each_row(|_y, _z, row| {
        // Runs of one material are long, so a run is looked up once.
        for run in row.chunk_by(PartialEq::eq) {
            *counts.entry(run[0]).or_default() += run.len() as u64;
        }
    });
    counts
}
