use alloc::sync::Arc;
use alloc::vec;
use core::fmt;

use super::blocks::Block;
use super::bricks::Bricks;
use super::numbered::Numbered;
use super::palette::{Palette, Width};
use super::runs::Runs;
use crate::Material;

/// Kind of storage for a chunk's voxels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StorageKind {
    /// One material for all voxels.
    Uniform,
    /// Numbers of fixed size: 1, 2, 4 or 8 bits index a list of materials; 16 bits are the material
    /// itself.
    Palette {
        /// Bits per voxel.
        bits: u32,
    },
    /// Bricks of 4³ voxels: one material, or a short list of materials with an index of minimum
    /// size per voxel.
    Bricks,
    /// Runs of consecutive voxels of one material.
    Runs,
}

impl fmt::Display for StorageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => f.write_str("uniform"),
            Self::Palette { bits: 1 } => f.write_str("1 bit"),
            Self::Palette { bits } => write!(f, "{bits} bits"),
            Self::Bricks => f.write_str("bricks"),
            Self::Runs => f.write_str("runs"),
        }
    }
}

/// Storage of a chunk's voxels. Clones share it until one of them is written.
#[derive(Clone, Debug)]
pub(super) enum Storage {
    Uniform(Material),
    Palette(Arc<Palette>),
    /// Materials without a palette, if there are too many for one.
    Direct(Arc<Block<Material>>),
    Bricks(Arc<Bricks>),
    Runs(Arc<Runs>),
}

/// Writes one material to voxels of a storage.
pub(super) enum Writer<'a> {
    Uniform(Material),
    Palette(&'a mut Palette, usize),
    Direct(&'a mut [Material], Material),
}

impl Writer<'_> {
    /// Writes a voxel and returns the old material.
    #[inline]
    pub(super) fn put(&mut self, voxel: usize) -> Material {
        match self {
            Self::Uniform(material) => *material,
            Self::Palette(palette, number) => palette.put(voxel, *number),
            Self::Direct(voxels, material) => core::mem::replace(&mut voxels[voxel], *material),
        }
    }
}

impl Storage {
    /// Chooses the smallest storage for these voxels; there must be at least one. Palettes are
    /// faster to read and to edit. So runs are used only at a quarter of the palette's size or
    /// less, and bricks at three quarters or less.
    pub(super) fn of(voxels: &[Material]) -> Self {
        let run_count = 1 + boundary_count(voxels);
        if run_count == 1 {
            return Self::Uniform(voxels.first().copied().unwrap_or_default());
        }
        let runs = || Self::Runs(Arc::new(Runs::new(run_count, runs_in(voxels))));
        let are_short = |packed_bytes| run_count * Runs::RUN_BYTES <= packed_bytes / 4;
        // With so few runs, the materials do not matter.
        if are_short(Width::of(1).map_or(0, |width| width.bytes(voxels.len()))) {
            return runs();
        }
        let numbered = Numbered::of(voxels);
        let width = numbered.as_ref().and_then(|it| Width::of(it.materials.len()));
        let packed_bytes = width.map_or(size_of_val(voxels), |width| width.bytes(voxels.len()));
        if are_short(packed_bytes) {
            return runs();
        }
        match numbered.as_ref().and_then(Bricks::of) {
            Some(bricks) if bricks.len_bytes() <= packed_bytes / 4 * 3 => {
                Self::Bricks(Arc::new(bricks))
            }
            _ => Self::plain(voxels, numbered),
        }
    }

    /// Creates a palette, or direct storage if there are too many materials.
    fn plain(voxels: &[Material], numbered: Option<Numbered>) -> Self {
        match numbered {
            Some(numbered) => Self::Palette(Arc::new(Palette::of(numbered))),
            None => Self::Direct(Arc::new(Block::of(voxels))),
        }
    }

    #[inline]
    pub(super) fn get(&self, voxel: usize) -> Material {
        match self {
            Self::Uniform(material) => *material,
            Self::Palette(palette) => palette.get(voxel),
            Self::Direct(voxels) => voxels[voxel],
            Self::Bricks(bricks) => bricks.get(voxel),
            Self::Runs(runs) => runs.get(voxel),
        }
    }

    /// Returns the only material, if the storage guarantees that there is only one.
    #[inline]
    pub(super) fn only_material(&self) -> Option<Material> {
        match self {
            Self::Uniform(material) => Some(*material),
            Self::Palette(palette) => palette.only_material(),
            Self::Direct(_) | Self::Bricks(_) | Self::Runs(_) => None,
        }
    }

    pub(super) fn kind(&self) -> StorageKind {
        match self {
            Self::Uniform(_) => StorageKind::Uniform,
            Self::Palette(palette) => StorageKind::Palette { bits: palette.width().bits() },
            Self::Direct(_) => StorageKind::Palette { bits: u16::BITS },
            Self::Bricks(_) => StorageKind::Bricks,
            Self::Runs(_) => StorageKind::Runs,
        }
    }

    /// Returns the memory in bytes, without the enum itself but with shared memory.
    pub(super) fn size_bytes(&self) -> usize {
        /// Strong and weak count of a shared value.
        const COUNTS: usize = 2 * size_of::<usize>();
        match self {
            Self::Uniform(_) => 0,
            Self::Palette(it) => COUNTS + size_of::<Palette>() + it.size_bytes(),
            Self::Direct(it) => COUNTS + size_of::<Block<Material>>() + size_of_val(&***it),
            Self::Bricks(it) => COUNTS + size_of::<Bricks>() + it.size_bytes(),
            Self::Runs(it) => COUNTS + size_of::<Runs>() + it.size_bytes(),
        }
    }

    /// Returns a writer of `material` for any of the `volume` voxels. Converts the storage if
    /// necessary.
    #[inline]
    pub(super) fn writer(&mut self, volume: usize, material: Material) -> Writer<'_> {
        while !self.is_ready_for(material) {
            self.widen(volume);
        }
        match self {
            Self::Palette(palette) => {
                let palette = Arc::make_mut(palette);
                match palette.number_for(material) {
                    Some(number) => Writer::Palette(palette, number),
                    None => unreachable!("the palette has a free entry"),
                }
            }
            Self::Direct(voxels) => Writer::Direct(&mut *Arc::make_mut(voxels), material),
            Self::Uniform(_) | Self::Bricks(_) | Self::Runs(_) => Writer::Uniform(material),
        }
    }

    /// Returns whether `material` can be written without a conversion.
    #[inline]
    fn is_ready_for(&self, material: Material) -> bool {
        match self {
            Self::Uniform(fill) => *fill == material,
            Self::Palette(palette) => palette.has_number_for(material),
            Self::Direct(_) => true,
            Self::Bricks(_) | Self::Runs(_) => false,
        }
    }

    /// Converts to the next storage that supports more materials, or any edit at all.
    #[cold]
    fn widen(&mut self, volume: usize) {
        *self = match &*self {
            Self::Uniform(fill) => Self::Palette(Arc::new(Palette::uniform(volume, *fill))),
            Self::Bricks(bricks) => {
                let mut voxels = vec![Material::AIR; volume];
                bricks.copy(0, &mut voxels);
                Self::plain(&voxels, Numbered::of(&voxels))
            }
            Self::Runs(runs) => {
                let mut voxels = vec![Material::AIR; volume];
                runs.copy(0, &mut voxels, 0);
                Self::plain(&voxels, Numbered::of(&voxels))
            }
            Self::Palette(palette) => {
                let wider = palette.width().next();
                match wider.and_then(|width| palette.with_width(volume, width)) {
                    Some(wider) => Self::Palette(Arc::new(wider)),
                    None => {
                        let mut voxels = Block::filled(volume, Material::AIR);
                        voxels.iter_mut().enumerate().for_each(|(n, to)| *to = palette.get(n));
                        Self::Direct(Arc::new(voxels))
                    }
                }
            }
            Self::Direct(voxels) => Self::Direct(Arc::clone(voxels)),
        };
    }

    /// Releases memory that edits have left unused. The new palette has capacity for twice the
    /// current materials, so that the next edits do not widen it again.
    pub(super) fn narrow(&mut self, volume: usize) {
        let narrower = match &*self {
            Self::Uniform(_) | Self::Bricks(_) | Self::Runs(_) => None,
            Self::Palette(palette) => match palette.only_material() {
                Some(material) => Some(Self::Uniform(material)),
                None => Width::of(2 * palette.live_count())
                    .filter(|&width| width < palette.width())
                    .and_then(|width| palette.with_width(volume, width))
                    .map(|palette| Self::Palette(Arc::new(palette))),
            },
            Self::Direct(voxels) => Numbered::of(voxels)
                .filter(|numbered| 2 * numbered.materials.len() <= Width::MAX.capacity())
                .map(|numbered| Self::plain(voxels, Some(numbered))),
        };
        if let Some(narrower) = narrower {
            *self = narrower;
        }
    }

    /// Checks all invariants, for tests.
    pub(super) fn validate(&self, volume: usize) -> Result<(), &'static str> {
        match self {
            Self::Uniform(_) => Ok(()),
            Self::Palette(palette) => palette.validate(volume),
            Self::Direct(voxels) if voxels.len() == volume => Ok(()),
            Self::Direct(_) => Err("the number of voxels is wrong"),
            Self::Bricks(bricks) => bricks.validate(volume),
            Self::Runs(runs) => runs.validate(volume),
        }
    }
}

/// Iterates over runs of equal voxels: their length and material.
fn runs_in(voxels: &[Material]) -> impl Iterator<Item = (u32, Material)> + '_ {
    voxels.chunk_by(PartialEq::eq).map(|run| (run.len() as u32, run[0]))
}

/// Counts the voxels that differ from the previous one.
fn boundary_count(voxels: &[Material]) -> usize {
    let pairs = voxels.iter().zip(voxels.get(1..).unwrap_or_default());
    pairs.map(|(a, b)| usize::from(a != b)).sum()
}
