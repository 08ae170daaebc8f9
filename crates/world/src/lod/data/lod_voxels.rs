use drystone_voxel::{Chunk, LocalPos, Material, MaterialTable, downsample_block};

use super::span::{Block, Span};

/// Number of voxels up to which they are read one by one. For more, the whole chunk is unpacked.
const FEW_VOXELS: usize = 1_024;
const SIDE: usize = Chunk::SIDE as usize;

/// Read access to the voxels of a chunk. If many are read, the chunk is unpacked first.
pub(super) enum Lookup<'a> {
    Few(&'a Chunk),
    Many(Vec<Material>),
    Uniform(Material),
}

impl<'a> Lookup<'a> {
    /// Creates a lookup for `count` reads.
    pub(super) fn of(chunk: &'a Chunk, count: usize) -> Self {
        match chunk.uniform() {
            Some(material) => Self::Uniform(material),
            None if count > FEW_VOXELS => Self::Many(rows_of(chunk)),
            None => Self::Few(chunk),
        }
    }

    pub(super) fn get(&self, at: LocalPos) -> Material {
        match self {
            Self::Few(chunk) => chunk.get(at),
            Self::Many(voxels) => voxels.get(index(at)).copied().unwrap_or_default(),
            Self::Uniform(material) => *material,
        }
    }

    /// Returns the LOD voxel of a block.
    pub(super) fn lod_voxel(&self, block: Block, materials: &MaterialTable) -> Material {
        self.downsampled(self.block(block), materials)
    }

    fn block(&self, block: Block) -> [Material; 8] {
        match self {
            Self::Few(chunk) => voxels_of(block, |at| chunk.get(at)),
            Self::Many(voxels) => voxels_of(block, |at| voxels[index(at)]),
            Self::Uniform(material) => [*material; 8],
        }
    }

    /// Returns the LOD voxel of eight voxels of this chunk. Equal voxels downsample to themselves.
    fn downsampled(&self, voxels: [Material; 8], materials: &MaterialTable) -> Material {
        match self {
            Self::Uniform(material) => *material,
            _ => downsample_block(voxels, materials),
        }
    }
}

/// Index of a voxel in the unpacked chunk.
fn index(at: LocalPos) -> usize {
    usize::from(at.x) + SIDE * (usize::from(at.y) + SIDE * usize::from(at.z))
}

/// Returns the chunk with some voxels set.
pub(super) fn with_voxels_set(
    old: &Chunk,
    voxels: impl ExactSizeIterator<Item = (LocalPos, Material)>,
) -> Chunk {
    if voxels.len() <= FEW_VOXELS {
        let mut new = old.clone();
        for (at, material) in voxels {
            new.set(at, material);
        }
        return new;
    }
    let mut all = rows_of(old);
    for (at, material) in voxels {
        if let Some(voxel) = all.get_mut(index(at)) {
            *voxel = material;
        }
    }
    Chunk::from_voxels(Chunk::SIDE, &all).unwrap_or_else(|| old.clone())
}

/// Calls `report` for each block that touches `span` and whose LOD voxel has changed, with the new
/// LOD voxel.
pub(super) fn for_each_change(
    [before, after]: [&Chunk; 2],
    span: Span,
    materials: &MaterialTable,
    mut report: impl FnMut(Block, Material),
) {
    let chunks = [before, after].map(|chunk| Lookup::of(chunk, span.volume()));
    for_each_block(span, |block| {
        let voxels = chunks.each_ref().map(|chunk| chunk.block(block));
        if voxels[0] != voxels[1] {
            let after = chunks[1].downsampled(voxels[1], materials);
            if chunks[0].downsampled(voxels[0], materials) != after {
                report(block, after);
            }
        }
    });
}

fn for_each_block(span: Span, mut each: impl FnMut(Block)) {
    if span.is_empty() {
        return;
    }
    let [x, y, z] = std::array::from_fn(|axis| span.low[axis] / 2..=span.high[axis] / 2);
    for z in z {
        for y in y.clone() {
            x.clone().for_each(|x| each(Block { x, y, z }));
        }
    }
}

#[inline]
fn voxels_of(block: Block, get: impl Fn(LocalPos) -> Material) -> [Material; 8] {
    std::array::from_fn(|i| {
        let [dx, dy, dz] = [i & 1, i >> 1 & 1, i >> 2].map(|far| far as u8);
        get(LocalPos::new(2 * block.x + dx, 2 * block.y + dy, 2 * block.z + dz))
    })
}

fn rows_of(chunk: &Chunk) -> Vec<Material> {
    let mut voxels = Vec::with_capacity(SIDE.pow(3));
    chunk.for_each_row(|_, _, row| voxels.extend_from_slice(row));
    voxels
}
