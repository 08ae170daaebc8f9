use alloc::vec::Vec;
use core::ops::Range;

use drystone_alloc::memory::PoolStats;

pub(crate) use self::reader::{Reader, Rows};
use self::storage::Storage;
pub(crate) use self::table::Table;
use crate::{LocalPos, Material};

mod blocks;
mod bricks;
mod from_runs;
mod iter;
mod kind;
mod numbered;
mod palette;
mod reader;
mod runs;
mod storage;
mod table;
#[cfg(test)]
mod tests;

pub use iter::Voxels;
pub use kind::StorageKind;

/// A cube of voxels, 1 to 64 a side, in the storage that suits them.
///
/// ```text
///  one material ──edit──► 1 bit ─► 2 ─► 4 ─► 8 bits a voxel ─► 16 bits, the materials themselves
///       ▲                   ▲ edits: as materials come, and (later) go
///       └──── compact ──────┴─► bricks or runs, where they are smaller ──edit──► bits again
/// ```
///
/// A clone is a [snapshot](Self::snapshot): it shares the voxels until either is changed.
///
/// # Cost
/// Nothing beside the struct for a chunk made of one material or [compacted](Self::compact)
/// to one; else what
/// [`size_bytes`](Self::size_bytes) says. [`get`](Self::get) is O(1), of runs O(log runs).
/// [`set`](Self::set) is O(1) in the long run: a material that the palette has no number
/// for, and the first change of bricks, of runs or of a snapshot that is shared, take O(n³); what edits
/// leave unused is looked for every n³ edits.
///
/// Arrays of voxels lie in blocks of [`SharedPool`]s for all threads: chunks come and go
/// without splitting the heap, and their memory is given back when many have gone.
///
/// [`SharedPool`]: drystone_alloc::memory::SharedPool
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
/// // A mesher reads what was, while edits go on.
/// let snapshot = chunk.snapshot();
/// chunk.set(LocalPos::new(1, 2, 3), Material(9));
/// assert_eq!(snapshot.get(LocalPos::new(1, 2, 3)), Material(7));
/// ```
#[derive(Clone, Debug)]
pub struct Chunk {
    side: u32,
    solid_count: u32,
    /// Edits until it is looked whether a smaller storage would do.
    edits_to_go: u32,
    storage: Storage,
}

impl Chunk {
    /// The side that worlds use, in voxels.
    pub const SIDE: u32 = 32;
    /// The largest side.
    pub const MAX_SIDE: u32 = 64;
    /// Edits after which a smaller storage is looked for, at least.
    const LEAST_EDITS: u32 = 64;

    /// A chunk of `side` voxels a side (clamped to 1 to 64), all of one material.
    pub fn new(side: u32, fill: Material) -> Self {
        let side = side.clamp(1, Self::MAX_SIDE);
        let volume = side * side * side;
        let solid_count = if fill.is_air() { 0 } else { volume };
        let edits_to_go = volume.max(Self::LEAST_EDITS);
        Self { side, solid_count, edits_to_go, storage: Storage::Uniform(fill) }
    }

    /// A chunk whose voxel at each place is what `material_at` says, in the smallest
    /// storage.
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

    /// A chunk of these voxels, X fastest, then Y, then Z, in the smallest storage; `None`
    /// unless `side` is 1 to 64 and there are `side`³ of them.
    ///
    /// # Cost
    /// O(n³): a few nanoseconds a voxel where they differ from one to the next, below one
    /// where they do not.
    pub fn from_voxels(side: u32, voxels: &[Material]) -> Option<Self> {
        let fits = (1..=Self::MAX_SIDE).contains(&side) && voxels.len() == side.pow(3) as usize;
        fits.then(|| Self::of(side, voxels))
    }

    fn of(side: u32, voxels: &[Material]) -> Self {
        let mut chunk = Self::new(side, Material::AIR);
        chunk.storage = Storage::of(voxels);
        chunk.solid_count = voxels.iter().map(|voxel| u32::from(!voxel.is_air())).sum();
        chunk
    }

    /// Voxels a side.
    #[inline]
    pub const fn side(&self) -> u32 {
        self.side
    }

    /// How many voxels are not air.
    #[inline]
    pub const fn solid_count(&self) -> u32 {
        self.solid_count
    }

    /// Whether every voxel is air.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.solid_count == 0
    }

    /// The one material of all voxels, where the chunk knows that there is only one.
    #[inline]
    pub fn uniform(&self) -> Option<Material> {
        if self.is_empty() { Some(Material::AIR) } else { self.storage.only_material() }
    }

    /// The voxel at `local`; air outside the chunk.
    #[inline]
    pub fn get(&self, local: LocalPos) -> Material {
        self.index(local).map_or(Material::AIR, |voxel| self.storage.get(voxel))
    }

    /// Sets the voxel at `local` and returns what was there. Outside the chunk nothing
    /// changes and air is returned.
    pub fn set(&mut self, local: LocalPos, material: Material) -> Material {
        let Some(voxel) = self.index(local) else { return Material::AIR };
        let old = self.storage.get(voxel);
        // What does not change must not cost a shared chunk its copy.
        if old != material {
            self.storage.writer(self.volume(), material).put(voxel);
            self.solid_count -= u32::from(!old.is_air());
            self.solid_count += u32::from(!material.is_air());
            self.edited(1);
        }
        old
    }

    /// Sets the voxels of a box from `low` on; what lies outside the chunk is left out.
    ///
    /// # Cost
    /// O(the box's voxels), some nanoseconds each.
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
        // Voxels that were air are air no more, or the other way round.
        self.solid_count -= edits - air_count;
        self.solid_count += if material.is_air() { 0 } else { edits };
        self.edited(edits);
    }

    /// The chunk as it is now, whatever becomes of this one: for a thread that reads while
    /// another edits. The first of the two that is changed copies the voxels.
    ///
    /// # Cost
    /// An atomic count.
    #[must_use]
    pub fn snapshot(&self) -> Self {
        self.clone()
    }

    /// Puts the voxels into the smallest storage: to be called when many have been set.
    ///
    /// # Cost
    /// As [`from_voxels`](Self::from_voxels); nothing where they are known to be of one
    /// material, in bricks or in runs.
    pub fn compact(&mut self) {
        self.edits_to_go = self.edits_full();
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

    /// How the voxels are kept.
    pub fn storage(&self) -> StorageKind {
        self.storage.kind()
    }

    /// Bytes of memory that the voxels take, beside the struct itself. What snapshots share
    /// counts for each of them.
    pub fn size_bytes(&self) -> usize {
        self.storage.size_bytes()
    }

    /// What the arrays of all chunks that lie in blocks of `block_bytes` take, and what is
    /// reserved for them; nothing for lengths of blocks that there are none of (there are
    /// those of multiples of 512 bytes up to 8 KiB, and of 16, 32 and 64 KiB).
    pub fn pool_stats(block_bytes: usize) -> PoolStats {
        blocks::pool_stats(block_bytes)
    }

    /// Walks all voxels and says what is wrong with how they are kept, for tests.
    ///
    /// # Errors
    /// The invariant that does not hold.
    pub fn check(&self) -> Result<(), &'static str> {
        self.storage.check(self.volume())?;
        let solid_count = self.iter_solid().count();
        if solid_count != self.solid_count as usize {
            return Err("the voxels that are not air are miscounted");
        }
        Ok(())
    }

    /// Copies few voxels out.
    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader::new(&self.storage)
    }

    /// Copies rows out: some `count` voxels in all. The table is for what a palette means.
    pub(crate) fn reader_of_many<'a>(&'a self, count: usize, table: &'a mut Table) -> Reader<'a> {
        Reader::of_many(&self.storage, count, table)
    }

    const fn volume(&self) -> usize {
        (self.side * self.side * self.side) as usize
    }

    fn edits_full(&self) -> u32 {
        (self.volume() as u32).max(Self::LEAST_EDITS)
    }

    /// As many edits as there are voxels pay for a look at all of them.
    #[inline]
    fn edited(&mut self, count: u32) {
        self.edits_to_go = self.edits_to_go.saturating_sub(count);
        if self.edits_to_go == 0 {
            self.edits_to_go = self.edits_full();
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

/// The voxels of a row along X.
fn row_of(side: u32, y: u32, z: u32) -> Range<usize> {
    let start = (side * (y + side * z)) as usize;
    start..start + side as usize
}

/// Equal when every voxel is, however it is stored.
impl PartialEq for Chunk {
    fn eq(&self, other: &Self) -> bool {
        self.side == other.side
            && self.solid_count == other.solid_count
            && self.iter().eq(other.iter())
    }
}

impl Eq for Chunk {}
