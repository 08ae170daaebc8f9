use drystone_alloc::memory::PoolStats;

use self::storage::{Storage, Voxels};
use crate::{LocalPos, Material};

mod storage;
#[cfg(test)]
mod tests;

/// A cube of voxels, 1 to 64 a side.
///
/// # Cost
/// A few bytes while every voxel is of one material, two bytes a voxel from the first
/// that differs. [`get`](Self::get) and [`set`](Self::set) are O(1).
///
/// Voxels of chunks of side 16 and 32 lie in blocks of a [`SharedPool`], one for each side
/// and for all threads: chunks come and go without splitting the heap, and their memory is
/// given back when many have gone.
///
/// [`SharedPool`]: drystone_alloc::memory::SharedPool
///
/// # Examples
/// ```
/// use drystone_voxel::{Chunk, LocalPos, Material};
///
/// let mut chunk = Chunk::new(32, Material::AIR);
/// chunk.set(LocalPos::new(1, 2, 3), Material(7));
/// assert_eq!(chunk.get(LocalPos::new(1, 2, 3)), Material(7));
/// assert_eq!(chunk.solid_count(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct Chunk {
    side: u32,
    solid_count: u32,
    storage: Storage,
}

impl Chunk {
    /// The side that worlds use, in voxels.
    pub const SIDE: u32 = 32;
    /// The largest side.
    pub const MAX_SIDE: u32 = 64;

    /// A chunk of `side` voxels a side (clamped to 1 to 64), all of one material.
    pub fn new(side: u32, fill: Material) -> Self {
        let side = side.clamp(1, Self::MAX_SIDE);
        let solid_count = if fill.is_air() { 0 } else { side * side * side };
        Self { side, solid_count, storage: Storage::Uniform(fill) }
    }

    /// A chunk whose voxel at each place is what `material_at` says.
    pub fn from_fn(side: u32, mut material_at: impl FnMut(LocalPos) -> Material) -> Self {
        let mut chunk = Self::new(side, Material::AIR);
        let n = chunk.side as u8;
        for z in 0..n {
            for y in 0..n {
                for x in 0..n {
                    let local = LocalPos::new(x, y, z);
                    chunk.set(local, material_at(local));
                }
            }
        }
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
    pub const fn uniform(&self) -> Option<Material> {
        match self.storage {
            Storage::Uniform(material) => Some(material),
            Storage::Dense(_) => None,
        }
    }

    /// The voxels with X fastest, then Y, then Z, where they are stored one by one.
    #[inline]
    pub fn dense(&self) -> Option<&[Material]> {
        match &self.storage {
            Storage::Uniform(_) => None,
            Storage::Dense(voxels) => Some(voxels),
        }
    }

    /// The voxel at `local`; air outside the chunk.
    #[inline]
    pub fn get(&self, local: LocalPos) -> Material {
        match (&self.storage, self.index(local)) {
            (_, None) => Material::AIR,
            (Storage::Uniform(material), Some(_)) => *material,
            (Storage::Dense(voxels), Some(index)) => voxels[index],
        }
    }

    /// Sets the voxel at `local` and returns what was there. Outside the chunk nothing
    /// changes and air is returned.
    pub fn set(&mut self, local: LocalPos, material: Material) -> Material {
        let Some(index) = self.index(local) else { return Material::AIR };
        if let Storage::Uniform(fill) = self.storage {
            if fill == material {
                return fill;
            }
            let volume = (self.side * self.side * self.side) as usize;
            self.storage = Storage::Dense(Voxels::filled(volume, fill));
        }
        let Storage::Dense(voxels) = &mut self.storage else { return Material::AIR };
        let old = core::mem::replace(&mut voxels[index], material);
        self.solid_count -= u32::from(!old.is_air());
        self.solid_count += u32::from(!material.is_air());
        old
    }

    /// Every voxel that is not air, with its place.
    pub fn iter_solid(&self) -> impl Iterator<Item = (LocalPos, Material)> {
        let n = if self.is_empty() { 0 } else { self.side as u8 };
        (0..n)
            .flat_map(move |z| (0..n).flat_map(move |y| (0..n).map(move |x| (x, y, z))))
            .map(|(x, y, z)| LocalPos::new(x, y, z))
            .map(|local| (local, self.get(local)))
            .filter(|(_, material)| !material.is_air())
    }

    /// What the voxels of all chunks of a side take, and what is reserved for them; nothing
    /// for sides that have no pool.
    pub fn pool_stats(side: u32) -> PoolStats {
        storage::pool_stats(side)
    }

    /// Bytes of memory that the voxels take.
    pub fn size_bytes(&self) -> usize {
        self.dense().map_or(0, size_of_val)
    }

    #[inline]
    fn index(&self, local: LocalPos) -> Option<usize> {
        let [x, y, z] = [local.x, local.y, local.z].map(u32::from);
        let inside = x < self.side && y < self.side && z < self.side;
        inside.then(|| (x + self.side * (y + self.side * z)) as usize)
    }
}

/// Equal when every voxel is, however it is stored.
impl PartialEq for Chunk {
    fn eq(&self, other: &Self) -> bool {
        self.side == other.side
            && self.solid_count == other.solid_count
            && match (&self.storage, &other.storage) {
                (Storage::Uniform(a), Storage::Uniform(b)) => a == b,
                (Storage::Dense(a), Storage::Dense(b)) => a[..] == b[..],
                (Storage::Uniform(fill), Storage::Dense(voxels))
                | (Storage::Dense(voxels), Storage::Uniform(fill)) => {
                    voxels.iter().all(|voxel| voxel == fill)
                }
            }
    }
}

impl Eq for Chunk {}
