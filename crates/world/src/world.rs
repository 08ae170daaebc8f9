use std::collections::{BTreeMap, BTreeSet};

use drystone_voxel::{
    Chunk, ChunkBox, ChunkPos, Material, MaterialCounts, MaterialTable, PaddedChunk, VoxelBox,
    VoxelPos,
};
use rayon::prelude::*;

use crate::edit::{Edit, VoxelAccess};
use drystone_formats::{MAX_LOADED_CHUNKS, Source, SourceError};

#[cfg(test)]
mod tests;

/// Chunks of a source in memory. Chunks that are all air are not stored.
///
/// # Cost
/// [`get`](Self::get) and [`set`](Self::set) are O(log chunks). The memory of a chunk depends on
/// its [storage](Chunk::storage): almost none if all voxels have one material, at most two bytes
/// per voxel.
///
/// # Examples
/// ```
/// use drystone_voxel::{MaterialCounts, Material, MaterialTable, VoxelPos};
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
    /// Chunks that could not be read.
    unreadable: BTreeSet<ChunkPos>,
}

impl World {
    /// Maximum number of chunks that [`load`](Self::load) accepts. They take at most 4 GiB. Larger
    /// sources have to be streamed.
    pub const MAX_CHUNKS: usize = MAX_LOADED_CHUNKS;

    /// Creates an empty world with chunks of side [`Chunk::SIDE`].
    pub fn new(name: &str, materials: MaterialTable) -> Self {
        Self::with_side(name, materials, Chunk::SIDE)
    }

    /// Creates an empty world with chunks of side `side_voxels`, clamped to 1 to 64.
    pub fn with_side(name: &str, materials: MaterialTable, side_voxels: u32) -> Self {
        let side = side_voxels.clamp(1, Chunk::MAX_SIDE);
        let (chunks, unreadable) = (BTreeMap::new(), BTreeSet::new());
        Self { name: name.into(), materials, side, chunks, unreadable }
    }

    /// Creates a world from chunks of one side. Chunks that are all air are left out. If a position
    /// occurs twice, the later chunk is used.
    ///
    /// # Errors
    /// [`SourceError::ChunkSide`] when the sides differ.
    pub fn from_chunks(
        name: &str,
        materials: MaterialTable,
        chunks: impl IntoIterator<Item = (ChunkPos, Chunk)>,
    ) -> Result<Self, SourceError> {
        let mut chunks = chunks.into_iter().peekable();
        let side = chunks.peek().map_or(Chunk::SIDE, |(_, chunk)| chunk.side());
        let mut world = Self::with_side(name, materials, side);
        for (position, chunk) in chunks {
            world.insert(position, chunk)?;
        }
        Ok(world)
    }

    /// Loads every chunk of `source`, on all cores.
    ///
    /// # Errors
    /// [`SourceError::TooLarge`] beyond [`MAX_CHUNKS`](Self::MAX_CHUNKS), before any chunk is read,
    /// and any error of [`Source::chunk`]. Damaged chunks of a stored world are no error: they are
    /// [`unreadable`](Self::unreadable), and [`Source::faults`] lists them.
    pub fn load(source: &dyn Source) -> Result<Self, SourceError> {
        let made = read_chunks(source, || {})?;
        let unreadable = made.iter().filter(|(_, it)| it.is_none()).map(|&(at, _)| at).collect();
        let chunks = made.into_iter().filter_map(|(at, chunk)| Some((at, chunk?)));
        let world = Self::from_chunks(source.name(), source.materials().clone(), chunks)?;
        Ok(Self { unreadable, ..world })
    }

    /// Returns the display name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the materials that voxels refer to.
    pub fn materials(&self) -> &MaterialTable {
        &self.materials
    }

    /// Returns the side of every chunk, in voxels.
    pub const fn side(&self) -> u32 {
        self.side
    }

    /// Number of chunks that are not all air.
    pub fn chunk_count(&self) -> usize {
        self.chunks.len()
    }

    /// Whether the world is all air.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Returns the chunk at `position`, or `None` if it is all air.
    pub fn chunk(&self, position: ChunkPos) -> Option<&Chunk> {
        self.chunks.get(&position)
    }

    /// Returns every chunk that is not all air, sorted by X, then Y, then Z.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (ChunkPos, &Chunk)> {
        self.chunks.iter().map(|(&position, chunk)| (position, chunk))
    }

    /// Returns the positions of all chunks that are not all air, sorted by X, then Y, then Z.
    pub fn positions(&self) -> impl ExactSizeIterator<Item = ChunkPos> {
        self.chunks.keys().copied()
    }

    /// Returns the chunks that could not be read when the world was [loaded](Self::load). They look
    /// like air. Voxels in them cannot be set, so that saving does not overwrite them with air.
    pub fn unreadable(&self) -> impl ExactSizeIterator<Item = ChunkPos> {
        self.unreadable.iter().copied()
    }

    /// Whether the chunk at `position` could be read.
    pub(crate) fn is_readable(&self, position: ChunkPos) -> bool {
        !self.unreadable.contains(&position)
    }

    /// Replaces the chunk at `position`, even if it could not be read. A chunk that is all air
    /// removes it.
    ///
    /// # Errors
    /// [`SourceError::ChunkSide`] when the chunk's side is not the world's.
    pub fn insert(&mut self, position: ChunkPos, chunk: Chunk) -> Result<(), SourceError> {
        if chunk.side() != self.side {
            return Err(SourceError::ChunkSide { found: chunk.side(), expected: self.side });
        }
        self.unreadable.remove(&position);
        if chunk.is_empty() {
            self.chunks.remove(&position);
        } else {
            self.chunks.insert(position, chunk);
        }
        Ok(())
    }

    /// Returns the voxel at `voxel`, or air if there is no chunk.
    pub fn get(&self, voxel: VoxelPos) -> Material {
        let (position, local) = voxel.split(self.side);
        self.chunks.get(&position).map_or(Material::AIR, |chunk| chunk.get(local))
    }

    /// Sets the voxel at `voxel` and returns the previous one. In an
    /// [`unreadable`](Self::unreadable) chunk, does nothing and returns air.
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

    /// Applies an edit. Does nothing if the edit is for chunks of another side.
    /// [`Unreadable`](Self::unreadable) chunks are skipped.
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

    /// Converts every chunk to its smallest storage, on all cores. Call this after setting many
    /// voxels. Chunks from sources are compact already.
    pub fn compact(&mut self) {
        let chunks: Vec<&mut Chunk> = self.chunks.values_mut().collect();
        chunks.into_par_iter().for_each(Chunk::compact);
    }

    /// Fills `padded` with the chunk at `position` and the border of its 26 neighbours. Missing
    /// chunks are air. The memory of `padded` is reused.
    pub fn pad(&self, position: ChunkPos, padded: &mut PaddedChunk) {
        let air = Chunk::new(self.side, Material::AIR);
        let center = self.chunks.get(&position).unwrap_or(&air);
        padded.fill(center, |offset| self.chunks.get(&position.offset(offset)?));
    }

    /// Returns the tight box around all voxels that are not air, or `None` if there are none.
    ///
    /// # Cost
    /// O(voxels of the outermost chunks), on all cores.
    pub fn bounds(&self) -> Option<VoxelBox> {
        bounds_of(self.iter().collect())
    }

    /// Number of voxels that are not air.
    pub fn solid_count(&self) -> u64 {
        self.chunks.values().map(|chunk| u64::from(chunk.solid_count())).sum()
    }

    /// Returns the number of voxels of each material except air, largest number first. Unused
    /// materials are omitted.
    ///
    /// # Cost
    /// O(voxels), on all cores.
    pub fn count_by_material(&self) -> Vec<(Material, u64)> {
        let add = |mut counts: MaterialCounts, chunk: &Chunk| {
            counts.add_chunk(chunk);
            counts
        };
        let chunks: Vec<&Chunk> = self.chunks.values().collect();
        let counts = chunks.into_par_iter().fold(MaterialCounts::default, add);
        counts.reduce(MaterialCounts::default, MaterialCounts::merged).sorted()
    }

    /// Size of the chunks in memory, in bytes.
    pub fn size_bytes(&self) -> u64 {
        let entry = size_of::<(ChunkPos, Chunk)>();
        self.chunks.values().map(|chunk| (chunk.size_bytes() + entry) as u64).sum()
    }
}

/// Only a world whose chunks have the side [`Chunk::SIDE`] is a source: reading another returns
/// [`SourceError::ChunkSide`]. [`Unreadable`](World::unreadable) chunks are read as air.
impl Source for World {
    fn name(&self) -> &str {
        self.name()
    }

    fn materials(&self) -> &MaterialTable {
        self.materials()
    }

    fn chunk_positions(&self) -> Vec<ChunkPos> {
        self.positions().collect()
    }

    fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
        if self.side != Chunk::SIDE {
            return Err(SourceError::ChunkSide { found: self.side, expected: Chunk::SIDE });
        }
        let air = || Chunk::new(Chunk::SIDE, Material::AIR);
        Ok(self.chunk(position).map_or_else(air, Chunk::snapshot))
    }
}

impl VoxelAccess for World {
    fn side(&self) -> u32 {
        self.side()
    }

    fn chunk_at(&self, position: ChunkPos) -> Option<Chunk> {
        let air = || Chunk::new(self.side(), Material::AIR);
        let chunk = || self.chunk(position).map_or_else(air, Chunk::snapshot);
        self.is_readable(position).then(chunk)
    }
}

/// Reads every chunk of a source, on all cores, and calls `on_chunk` after each. Returns them sorted
/// by position, and `None` for each damaged chunk of a stored world.
///
/// # Errors
/// The errors of [`World::load`].
pub(crate) fn read_chunks(
    source: &dyn Source,
    on_chunk: impl Fn() + Sync,
) -> Result<Vec<(ChunkPos, Option<Chunk>)>, SourceError> {
    let count = source.chunk_count();
    if count > World::MAX_CHUNKS as u64 {
        return Err(SourceError::TooLarge {
            what: source.name().into(),
            found: count,
            limit: World::MAX_CHUNKS as u64,
            unit: "chunks",
            advice: "take a smaller part of it",
        });
    }
    source
        .chunk_positions()
        .into_par_iter()
        .map(|position| (position, source.chunk(position)))
        .inspect(|_| on_chunk())
        .map(|(position, made)| match made {
            // The source lists it in its faults.
            Err(SourceError::BadStored { .. } | SourceError::BadPacked { .. }) => {
                Ok((position, None))
            }
            made => made.map(|chunk| (position, Some(chunk))),
        })
        .collect()
}

/// Returns the tight box around the voxels of these chunks that are not air. No chunk is all air.
pub(crate) fn bounds_of(mut chunks: Vec<(ChunkPos, &Chunk)>) -> Option<VoxelBox> {
    let around = ChunkBox::around(chunks.iter().map(|&(position, _)| position))?;
    // Each end of the box of voxels lies in an outermost chunk.
    let is_outermost = |p: ChunkPos| {
        let ends = [around.min, around.max];
        ends.iter().any(|end| p.x == end.x || p.y == end.y || p.z == end.z)
    };
    chunks.retain(|&(position, _)| is_outermost(position));
    chunks
        .into_par_iter()
        .filter_map(|(position, chunk)| chunk_bounds(position, chunk))
        .reduce_with(VoxelBox::union)
}

/// Returns the tight box around the voxels of a chunk that are not air.
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
