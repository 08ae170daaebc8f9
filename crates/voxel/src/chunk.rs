use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use drystone_memory::PoolStats;

use self::bricks::Bricks;
pub(crate) use self::reader::Reader;
use self::storage::Storage;
pub(crate) use self::table::Table;
use crate::{LocalPos, Material};

mod blocks;
mod bricks;
mod from_runs;
mod iter;
mod numbered;
mod palette;
mod reader;
mod runs;
mod storage;
mod table;
#[cfg(test)]
mod tests;

pub use iter::Voxels;
pub use storage::StorageKind;

/// Positions of the rows of a box in an array.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    /// First voxel of the first row.
    pub(crate) first: usize,
    /// Distance between rows along Y.
    pub(crate) row_step: usize,
    /// Distance between rows along Z.
    pub(crate) layer_step: usize,
}

/// Cube of voxels with 1 to 64 voxels per side, in compact storage.
///
/// ```text
///  one material ──edit──► 1 bit ─► 2 ─► 4 ─► 8 bits per voxel ─► 16 bits: the materials themselves
///       ▲                   ▲ edits: with the number of materials, which can also decrease
///       └──── compact ──────┴─► bricks or runs, if they are smaller ──edit──► bits again
/// ```
///
/// A clone is a [snapshot](Self::snapshot): it shares the voxels until either copy changes.
///
/// # Cost
/// - Memory: the struct only, for a chunk created with one material or [compacted](Self::compact)
///   to one; else [`size_bytes`](Self::size_bytes) in addition.
/// - [`get`](Self::get) is O(1), or O(log runs) in runs.
/// - [`set`](Self::set) is amortised O(1). A material beyond the capacity of the palette costs
///   O(n³), and so does the first change of bricks, runs or a shared snapshot. Every n³ edits,
///   unused memory is searched and released.
///
/// Voxel arrays are in blocks of global [`SharedPool`]s, for all threads. Chunks do not fragment
/// the heap, and the pools release memory after many chunks are dropped.
///
/// [`SharedPool`]: drystone_memory::SharedPool
///
/// # Examples
/// ```
/// use drystone_voxel::{Chunk, LocalPos, Material, StorageKind};
///
/// let mut chunk = Chunk::new(32, Material::AIR);
/// chunk.fill_box(LocalPos::new(0, 0, 0), [32, 8, 32], Material(7));
/// assert_eq!(chunk.get(LocalPos::new(1, 2, 3)), Material(7));
/// assert_eq!(chunk.solid_count(), 32 * 8 * 32);
/// assert_eq!(chunk.storage(), StorageKind::Palette { bits: 1 });
///
/// // A mesher reads the old state while edits continue.
/// let snapshot = chunk.snapshot();
/// chunk.set(LocalPos::new(1, 2, 3), Material(9));
/// assert_eq!(snapshot.get(LocalPos::new(1, 2, 3)), Material(7));
/// ```
#[derive(Clone, Debug)]
pub struct Chunk {
    side: u32,
    solid_count: u32,
    /// Number of edits until a search for a smaller storage.
    edits_to_search: u32,
    storage: Storage,
}

impl Chunk {
    /// Default side of a chunk, in voxels.
    pub const SIDE: u32 = 32;
    /// Maximum side of a chunk, in voxels.
    pub const MAX_SIDE: u32 = 64;
    /// Minimum number of edits between two searches for a smaller storage.
    const MIN_EDITS: u32 = 64;

    /// Creates a chunk of one material. `side` is clamped to 1 to 64 voxels.
    pub fn new(side: u32, fill: Material) -> Self {
        let side = side.clamp(1, Self::MAX_SIDE);
        let volume = side * side * side;
        let solid_count = if fill.is_air() { 0 } else { volume };
        let edits_to_search = volume.max(Self::MIN_EDITS);
        Self { side, solid_count, edits_to_search, storage: Storage::Uniform(fill) }
    }

    /// Creates a chunk in the smallest storage; `material_at` returns the material for each
    /// position. `side` is clamped to 1 to 64 voxels.
    pub fn from_fn(side: u32, mut material_at: impl FnMut(LocalPos) -> Material) -> Self {
        let n = side.clamp(1, Self::MAX_SIDE) as u8;
        let mut voxels = Vec::with_capacity(usize::from(n).pow(3));
        for z in 0..n {
            for y in 0..n {
                voxels.extend((0..n).map(|x| material_at(LocalPos::new(x, y, z))));
            }
        }
        Self::of(n.into(), &voxels)
    }

    /// Creates a chunk from its voxels, in the smallest storage. X is fastest, then Y, then Z.
    /// Returns `None` if `side` is not 1 to 64, or the number of voxels is not `side`³.
    ///
    /// # Cost
    /// O(n³): a few nanoseconds per voxel if adjacent voxels differ, else less than one.
    pub fn from_voxels(side: u32, voxels: &[Material]) -> Option<Self> {
        let fits = (1..=Self::MAX_SIDE).contains(&side) && voxels.len() == side.pow(3) as usize;
        fits.then(|| Self::of(side, voxels))
    }

    /// Creates a chunk from runs of voxels: pairs of length and index into `materials`. X is
    /// fastest, then Y, then Z. The result has the given storage, which should be the
    /// [`storage`](Self::storage) of the chunk that the runs came from.
    ///
    /// Returns `None` in these cases:
    /// - `side` is not 1 to 64, or the runs do not cover exactly its voxels.
    /// - A run is empty, or two adjacent runs have equal materials.
    /// - A material is listed twice, or `storage` does not support the number of materials.
    ///
    /// # Cost
    /// A few nanoseconds per run, and one write of the storage's memory.
    ///
    /// # Examples
    /// ```
    /// use drystone_voxel::{Chunk, LocalPos, Material, StorageKind};
    ///
    /// let kinds = [Material::AIR, Material(9)];
    /// let bits = StorageKind::Palette { bits: 1 };
    /// let chunk = Chunk::from_runs(2, &kinds, [(3, 0), (5, 1)], bits).unwrap();
    /// assert_eq!(chunk.get(LocalPos::new(1, 1, 0)), Material(9));
    /// assert_eq!(chunk.solid_count(), 5);
    /// assert!(Chunk::from_runs(2, &kinds, [(3, 0), (6, 1)], bits).is_none());
    /// ```
    pub fn from_runs(
        side: u32,
        materials: &[Material],
        runs: impl IntoIterator<Item = (u32, usize)>,
        storage: StorageKind,
    ) -> Option<Self> {
        let mut chunk = Self::new(side, Material::AIR);
        (chunk.storage, chunk.solid_count) = from_runs::read(side, materials, runs, storage)?;
        Some(chunk)
    }

    /// Reads a chunk written by [`write_bricks`](Self::write_bricks). Returns `None` if the bytes
    /// are invalid or too many.
    ///
    /// # Cost
    /// A few nanoseconds per brick of 4³ voxels. Memory: that of the chunk, and scratch of about
    /// the size of `bytes`.
    ///
    /// # Examples
    /// ```
    /// use drystone_voxel::{Chunk, Material, StorageKind};
    ///
    /// let chunk = Chunk::from_fn(32, |at| Material(1 + u16::from((at.x ^ at.y) / 9)));
    /// assert_eq!(chunk.storage(), StorageKind::Bricks);
    /// let mut bytes = Vec::new();
    /// assert!(chunk.write_bricks(&mut bytes));
    /// assert_eq!(Chunk::from_bricks(32, &bytes), Some(chunk));
    /// assert_eq!(Chunk::from_bricks(32, &bytes[1..]), None);
    /// ```
    pub fn from_bricks(side: u32, bytes: &[u8]) -> Option<Self> {
        let (bricks, solid_count) = Bricks::read(side as usize, bytes)?;
        let mut chunk = Self::new(side, Material::AIR);
        (chunk.storage, chunk.solid_count) = (Storage::Bricks(Arc::new(bricks)), solid_count);
        Some(chunk)
    }

    fn of(side: u32, voxels: &[Material]) -> Self {
        let mut chunk = Self::new(side, Material::AIR);
        chunk.storage = Storage::of(voxels);
        chunk.solid_count = voxels.iter().map(|voxel| u32::from(!voxel.is_air())).sum();
        chunk
    }

    /// Side of the chunk, in voxels.
    #[inline]
    pub const fn side(&self) -> u32 {
        self.side
    }

    /// Number of voxels that are not air.
    #[inline]
    pub const fn solid_count(&self) -> u32 {
        self.solid_count
    }

    /// Returns whether every voxel is air.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.solid_count == 0
    }

    /// Returns the only material of the chunk, if the storage guarantees that there is only one.
    #[inline]
    pub fn uniform(&self) -> Option<Material> {
        if self.is_empty() { Some(Material::AIR) } else { self.storage.only_material() }
    }

    /// Returns the voxel at `local`, or air outside the chunk.
    #[inline]
    pub fn get(&self, local: LocalPos) -> Material {
        self.index(local).map_or(Material::AIR, |voxel| self.storage.get(voxel))
    }

    /// Sets the voxel at `local` and returns the old material. Outside the chunk it changes nothing
    /// and returns air.
    pub fn set(&mut self, local: LocalPos, material: Material) -> Material {
        let Some(voxel) = self.index(local) else { return Material::AIR };
        let old = self.storage.get(voxel);
        // An edit without effect must not copy a shared chunk.
        if old != material {
            self.storage.writer(self.volume(), material).put(voxel);
            self.solid_count -= u32::from(!old.is_air());
            self.solid_count += u32::from(!material.is_air());
            self.count_edits(1);
        }
        old
    }

    /// Sets the voxels of a box that starts at `low`. Voxels outside the chunk are ignored.
    ///
    /// # Cost
    /// O(voxels in the box), a few nanoseconds each.
    pub fn fill_box(&mut self, low: LocalPos, size_voxels: [u32; 3], material: Material) {
        let n = self.side;
        let span = |low: u8, size: u32| {
            let low = u32::from(low).min(n);
            low..low.saturating_add(size).min(n)
        };
        let [across, up, along] =
            [(low.x, 0), (low.y, 1), (low.z, 2)].map(|(low, axis)| span(low, size_voxels[axis]));
        if [&across, &up, &along].iter().any(|span| span.is_empty()) {
            return;
        }
        if [&across, &up, &along].iter().all(|span| span.len() == n as usize) {
            *self = Self::new(n, material);
            return;
        }
        let volume = self.volume();
        let mut writer = self.storage.writer(volume, material);
        let (mut air_count, mut edits) = (0, 0);
        for (z, y) in along.flat_map(|z| up.clone().map(move |y| (z, y))) {
            let row = row_of(n, y, z);
            for voxel in row.start + across.start as usize..row.start + across.end as usize {
                let old = writer.put(voxel);
                air_count += u32::from(old.is_air());
                edits += 1;
            }
        }
        // Counts the voxels that were not air, then those that are set.
        self.solid_count -= edits - air_count;
        self.solid_count += if material.is_air() { 0 } else { edits };
        self.count_edits(edits);
    }

    /// Iterates over all voxels with their positions: X fastest, then Y, then Z.
    pub fn iter(&self) -> Voxels<'_> {
        Voxels::new(self)
    }

    /// Iterates over all voxels that are not air, with their positions.
    pub fn iter_solid(&self) -> impl Iterator<Item = (LocalPos, Material)> {
        let all = if self.is_empty() { None } else { Some(self.iter()) };
        all.into_iter().flatten().filter(|(_, material)| !material.is_air())
    }

    /// Calls `each` with Y, Z and the voxels of each row along X, in order.
    ///
    /// # Examples
    /// ```
    /// use drystone_voxel::{Chunk, Material};
    ///
    /// let mut rows = 0;
    /// Chunk::new(16, Material(1)).for_each_row(|_y, _z, row| {
    ///     assert_eq!(row, [Material(1); 16]);
    ///     rows += 1;
    /// });
    /// assert_eq!(rows, 16 * 16);
    /// ```
    pub fn for_each_row(&self, mut each: impl FnMut(u32, u32, &[Material])) {
        let mut table = Table::new();
        let mut reader = self.reader_of_many(self.volume(), &mut table);
        // Reads whole layers, to share lookups between rows.
        let mut layer = [Material::AIR; (Self::MAX_SIDE * Self::MAX_SIDE) as usize];
        let n = self.side as usize;
        for z in 0..self.side {
            let layer = &mut layer[..n * n];
            reader.copy(row_of(self.side, 0, z).start, layer);
            for (y, row) in (0..).zip(layer.chunks_exact(n)) {
                each(y, z, row);
            }
        }
    }

    /// Returns a copy that later edits do not change, for threads that read during edits. The first
    /// of the two that changes copies the voxels.
    ///
    /// # Cost
    /// One atomic increment.
    #[must_use]
    pub fn snapshot(&self) -> Self {
        self.clone()
    }

    /// Converts the voxels to the smallest storage. Call it after many edits.
    ///
    /// # Cost
    /// O(n³), as for [`from_voxels`](Self::from_voxels). Nothing if the storage is one material,
    /// bricks or runs.
    pub fn compact(&mut self) {
        self.edits_to_search = self.search_interval();
        match self.storage.kind() {
            StorageKind::Uniform | StorageKind::Bricks | StorageKind::Runs => {}
            StorageKind::Palette { .. } => {
                let mut voxels = Vec::new();
                voxels.resize(self.volume(), Material::AIR);
                self.reader_of_many(voxels.len(), &mut Table::new()).copy(0, &mut voxels);
                self.storage = Storage::of(&voxels);
            }
        }
    }

    /// Appends a chunk in [`StorageKind::Bricks`](crate::StorageKind::Bricks) to `bytes`, in a form
    /// suited for compression. Returns `false` without writing for any other storage.
    ///
    /// A *set* is the list of materials of a brick. Most bricks share a few sets.
    ///
    /// | bytes | content |
    /// |---|---|
    /// | 1 | number of materials − 1 |
    /// | 2 per material | the materials, low byte first |
    /// | 2 | number of sets − 1 |
    /// | 1 + 1 per material | for each set: the number of materials, then their indices in ascending order |
    /// | 1 per brick | low byte of the index of its set; X fastest, then Y, then Z |
    /// | 1 per brick | high byte, if there are more than 256 sets |
    /// | 8 per plane | for each brick with several materials: one plane per bit of a voxel's index in the set, low bit first; one bit per voxel, Y fastest, then Z, then X |
    ///
    /// # Cost
    /// Some tens of nanoseconds per brick of 4³ voxels.
    pub fn write_bricks(&self, bytes: &mut Vec<u8>) -> bool {
        let Storage::Bricks(bricks) = &self.storage else { return false };
        bricks.write(bytes);
        true
    }

    /// Returns the kind of storage.
    pub fn storage(&self) -> StorageKind {
        self.storage.kind()
    }

    /// Returns the memory of the voxels in bytes, without the struct. Shared memory counts for each
    /// snapshot.
    pub fn size_bytes(&self) -> usize {
        self.storage.size_bytes()
    }

    /// Returns statistics of all chunks' arrays with this block size. Block sizes are multiples of
    /// 512 bytes up to 8 KiB, and 16, 32 and 64 KiB. Other sizes return empty statistics.
    pub fn pool_stats(block_bytes: usize) -> PoolStats {
        blocks::pool_stats(block_bytes)
    }

    /// Checks the invariants of the storage, for tests.
    ///
    /// # Errors
    /// Description of the first violated invariant.
    pub fn validate(&self) -> Result<(), &'static str> {
        self.storage.validate(self.volume())?;
        let solid_count = self.iter_solid().count();
        if solid_count != self.solid_count as usize {
            return Err("the count of solid voxels is wrong");
        }
        Ok(())
    }

    /// Returns a reader for few voxels.
    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader::new(&self.storage)
    }

    /// Returns a reader for rows with about `count` voxels in total. `table` is scratch for the
    /// palette.
    pub(crate) fn reader_of_many<'a>(&'a self, count: usize, table: &'a mut Table) -> Reader<'a> {
        Reader::of_many(&self.storage, count, table)
    }

    const fn volume(&self) -> usize {
        (self.side * self.side * self.side) as usize
    }

    fn search_interval(&self) -> u32 {
        (self.volume() as u32).max(Self::MIN_EDITS)
    }

    /// Counts edits. After n³ edits, a search over all voxels for a smaller storage pays off.
    #[inline]
    fn count_edits(&mut self, count: u32) {
        self.edits_to_search = self.edits_to_search.saturating_sub(count);
        if self.edits_to_search == 0 {
            self.edits_to_search = self.search_interval();
            self.storage.narrow(self.volume());
        }
    }

    #[inline]
    fn index(&self, local: LocalPos) -> Option<usize> {
        let [x, y, z] = [local.x, local.y, local.z].map(u32::from);
        let inside = x < self.side && y < self.side && z < self.side;
        inside.then(|| (x + self.side * (y + self.side * z)) as usize)
    }
}

/// Returns the indices of a row along X.
fn row_of(side: u32, y: u32, z: u32) -> Range<usize> {
    let start = (side * (y + side * z)) as usize;
    start..start + side as usize
}

/// Chunks are equal if all voxels are equal, independent of the storage.
impl PartialEq for Chunk {
    fn eq(&self, other: &Self) -> bool {
        self.side == other.side
            && self.solid_count == other.solid_count
            && self.iter().eq(other.iter())
    }
}

impl Eq for Chunk {}
