use alloc::sync::Arc;
use alloc::vec;

use super::blocks::Block;
use super::bricks::Bricks;
use super::numbered::Numbered;
use super::palette::{Palette, Width};
use super::runs::Runs;
use crate::{Material, StorageKind};

/// Where a chunk keeps its voxels. Copies share until one of them is written.
#[derive(Clone, Debug)]
pub(super) enum Storage {
    Uniform(Material),
    Palette(Arc<Palette>),
    /// The materials themselves: more than a palette numbers.
    Direct(Arc<Block<Material>>),
    Bricks(Arc<Bricks>),
    Runs(Arc<Runs>),
}

/// Takes one material for any of a storage's voxels.
pub(super) enum Writer<'a> {
    Uniform(Material),
    Palette(&'a mut Palette, usize),
    Direct(&'a mut [Material], Material),
}

impl Writer<'_> {
    /// Writes a voxel and returns what was there.
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
    /// The smallest for these voxels, of which there is at least one: runs where they take
    /// at most a quarter of what numbers do, and bricks where they take at most three quarters,
    /// since these are quicker to get at and to change.
    pub(super) fn of(voxels: &[Material]) -> Self {
        let run_count = 1 + boundary_count(voxels);
        if run_count == 1 {
            return Self::Uniform(voxels.first().copied().unwrap_or_default());
        }
        let runs = || Self::Runs(Arc::new(Runs::new(run_count, runs_in(voxels))));
        let are_short = |packed_bytes| run_count * Runs::RUN_BYTES <= packed_bytes / 4;
        // As few as this and it does not matter of what they are.
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

    /// Bits for each voxel.
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

    /// What is known to be the one material of all.
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

    /// Bytes beside the storage itself, those that copies share included.
    pub(super) fn size_bytes(&self) -> usize {
        /// Two counts of a shared value.
        const COUNTS: usize = 2 * size_of::<usize>();
        match self {
            Self::Uniform(_) => 0,
            Self::Palette(it) => COUNTS + size_of::<Palette>() + it.size_bytes(),
            Self::Direct(it) => COUNTS + size_of::<Block<Material>>() + size_of_val(&***it),
            Self::Bricks(it) => COUNTS + size_of::<Bricks>() + it.size_bytes(),
            Self::Runs(it) => COUNTS + size_of::<Runs>() + it.size_bytes(),
        }
    }

    /// What writes `material` to any of the `volume` voxels; makes room for it first.
    #[inline]
    pub(super) fn writer(&mut self, volume: usize, material: Material) -> Writer<'_> {
        while !self.is_ready_for(material) {
            self.make_room(volume);
        }
        match self {
            Self::Palette(palette) => {
                let palette = Arc::make_mut(palette);
                match palette.number_for(material) {
                    Some(number) => Writer::Palette(palette, number),
                    None => unreachable!("it has room"),
                }
            }
            Self::Direct(voxels) => Writer::Direct(&mut *Arc::make_mut(voxels), material),
            Self::Uniform(_) | Self::Bricks(_) | Self::Runs(_) => Writer::Uniform(material),
        }
    }

    /// Whether a voxel of `material` can be written as it is.
    #[inline]
    fn is_ready_for(&self, material: Material) -> bool {
        match self {
            Self::Uniform(fill) => *fill == material,
            Self::Palette(palette) => palette.has_room_for(material),
            Self::Direct(_) => true,
            Self::Bricks(_) | Self::Runs(_) => false,
        }
    }

    /// The next that takes more materials, or any change at all.
    #[cold]
    fn make_room(&mut self, volume: usize) {
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

    /// Gives back what edits have left unused: of a palette only where there would be room
    /// for twice the materials that there are, so that the next edits do not take it again;
    /// of materials themselves where a palette has room for twice as many.
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

    /// Says what is wrong with it, for tests.
    pub(super) fn check(&self, volume: usize) -> Result<(), &'static str> {
        match self {
            Self::Uniform(_) => Ok(()),
            Self::Palette(palette) => palette.check(volume),
            Self::Direct(voxels) if voxels.len() == volume => Ok(()),
            Self::Direct(_) => Err("there are not as many voxels as there should be"),
            Self::Bricks(bricks) => bricks.check(volume),
            Self::Runs(runs) => runs.check(volume),
        }
    }
}

/// Voxels of one material beside each other, with their number.
fn runs_in(voxels: &[Material]) -> impl Iterator<Item = (u32, Material)> + '_ {
    voxels.chunk_by(PartialEq::eq).map(|run| (run.len() as u32, run[0]))
}

/// How often a voxel is of another material than the one before it.
fn boundary_count(voxels: &[Material]) -> usize {
    let pairs = voxels.iter().zip(voxels.get(1..).unwrap_or_default());
    pairs.map(|(a, b)| usize::from(a != b)).sum()
}
