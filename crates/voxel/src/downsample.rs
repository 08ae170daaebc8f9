use alloc::vec;

use crate::chunk::{Reader, Table};
use crate::{Chunk, Material, MaterialTable, Shape};

/// Bit for the upper position in an index of a child or voxel: bit 0 is X, bit 1 is Y (up), bit 2
/// is Z.
const UP: usize = 2;

/// Merges eight chunks into one with voxels of twice the size. Child `x + 2 * y + 4 * z` is at
/// chunk offset `x`, `y`, `z`; `None` is air. [`downsample_block`] computes each voxel. Returns
/// `None` unless `side_voxels` is even, 2 to 64, and the side of each child.
///
/// # Cost
/// O(n³): reads each voxel of the children that are not stored as one material.
///
/// # Examples
/// ```
/// use drystone_voxel::{Chunk, LocalPos, Material, MaterialTable, downsample};
///
/// let mut table = MaterialTable::new();
/// let stone = table.insert("stone", [120, 120, 120, 255]).unwrap();
/// let mut child = Chunk::new(32, Material::AIR);
/// child.set(LocalPos::new(31, 0, 4), stone);
/// let mut children = [None; 8];
/// children[1] = Some(&child);
/// let parent = downsample(32, children, &table).unwrap();
/// assert_eq!(parent.get(LocalPos::new(31, 0, 2)), stone);
/// assert_eq!(parent.solid_count(), 1);
/// ```
pub fn downsample(
    side_voxels: u32,
    children: [Option<&Chunk>; 8],
    materials: &MaterialTable,
) -> Option<Chunk> {
    let is_side = (2..=Chunk::MAX_SIDE).contains(&side_voxels) && side_voxels.is_multiple_of(2);
    let are_alike = children.iter().flatten().all(|child| child.side() == side_voxels);
    if !is_side || !are_alike {
        return None;
    }
    if let Some(fill) = only_material(children) {
        return Some(Chunk::new(side_voxels, fill));
    }
    let (n, half) = (side_voxels as usize, side_voxels as usize / 2);
    let mut voxels = vec![Material::AIR; n * n * n];
    let mut two_layers = vec![Material::AIR; 2 * n * n];
    let mut table = Table::new();
    for (i, child) in children.into_iter().enumerate() {
        let Some(child) = child.filter(|child| !child.is_empty()) else { continue };
        let first = [i & 1, i >> 1 & 1, i >> 2].map(|far| far * half);
        let mut octant = Octant { n, first, voxels: &mut voxels };
        if let Some(fill) = child.uniform() {
            octant.fill(fill);
            continue;
        }
        let mut reader: Reader<'_> = child.reader_of_many(n * n * n, &mut table);
        for z in 0..half {
            reader.copy(2 * z * n * n, &mut two_layers);
            octant.put_layer(z, &two_layers, materials);
        }
    }
    Chunk::from_voxels(side_voxels, &voxels)
}

/// Returns the only material of all children, if their storage guarantees it.
fn only_material(children: [Option<&Chunk>; 8]) -> Option<Material> {
    let mut fills = children.map(|child| match child {
        Some(child) if !child.is_empty() => child.uniform(),
        _ => Some(Material::AIR),
    });
    fills.sort_unstable();
    (fills[0] == fills[7]).then_some(fills[0]).flatten()
}

/// Eighth of a chunk that one child covers.
struct Octant<'a> {
    n: usize,
    /// Position of its lowest voxel.
    first: [usize; 3],
    voxels: &'a mut [Material],
}

impl Octant<'_> {
    fn row(&mut self, y: usize, z: usize) -> &mut [Material] {
        let [x0, y0, z0] = self.first;
        let start = x0 + self.n * (y0 + y + self.n * (z0 + z));
        &mut self.voxels[start..start + self.n / 2]
    }

    fn fill(&mut self, material: Material) {
        let half = self.n / 2;
        for (z, y) in (0..half).flat_map(|z| (0..half).map(move |y| (z, y))) {
            self.row(y, z).fill(material);
        }
    }

    /// Writes layer `z` of the octant from the two layers of the child that it covers.
    fn put_layer(&mut self, z: usize, two_layers: &[Material], materials: &MaterialTable) {
        let n = self.n;
        let row = |y: usize, z: usize| &two_layers[n * (y + n * z)..][..n];
        for y in 0..n / 2 {
            let [a, b] = [0, 1]
                .map(|dz| row(2 * y, dz).chunks_exact(2).zip(row(2 * y + 1, dz).chunks_exact(2)));
            for (voxel, ((near, near_up), (far, far_up))) in self.row(y, z).iter_mut().zip(a.zip(b))
            {
                let block = [
                    near[0], near[1], near_up[0], near_up[1], far[0], far[1], far_up[0], far_up[1],
                ];
                *voxel = downsample_block(block, materials);
            }
        }
    }
}

/// Merges a block of 2 × 2 × 2 voxels into one. The voxel at `x`, `y`, `z` has index `x + 2 * y + 4
/// * z`.
///
/// The result is opaque if any of the eight voxels is opaque. So an LOD voxel covers everything
/// that its voxels cover, and thin objects still hide what is behind them. It is translucent if the
/// block has only translucent voxels and air. The most frequent material of that kind wins, and
/// voxels with free space above count three times. So grass above dirt stays green, and a single
/// flower is dropped. [Thin](MaterialTable::is_thin) voxels count as air, or as the fluid around them.
///
/// A translucent result is filled up to the highest of the eight voxels, in sixteenths of the result,
/// rounded up: a [partial material](MaterialTable::filled_to) of its material. So the surface of a lake keeps its
/// height at every level, within a sixteenth of a voxel.
#[inline]
pub fn downsample_block(block: [Material; 8], materials: &MaterialTable) -> Material {
    if block.iter().all(|voxel| *voxel == block[0]) {
        return block[0];
    }
    vote(block, materials)
}

fn vote(block: [Material; 8], materials: &MaterialTable) -> Material {
    let block = match materials.any_shaped() {
        true => block.map(|voxel| materials.without_thin(voxel)),
        false => block,
    };
    let partial = block;
    let block = block.map(|voxel| materials.whole(voxel));
    let is_opaque = block.map(|voxel| !voxel.is_air() && !materials.is_translucent(voxel));
    let any_opaque = is_opaque.contains(&true);
    let weight = |i: usize| match () {
        () if block[i].is_air() || is_opaque[i] != any_opaque => 0,
        () if i & UP != 0 || !is_opaque[i | UP] => 3,
        () => 1,
    };
    let weights: [u32; 8] = core::array::from_fn(weight);
    let total = |material: Material| -> u32 {
        block
            .iter()
            .zip(weights)
            .map(|(voxel, weight)| if *voxel == material { weight } else { 0 })
            .sum()
    };
    let mut best = (0, Material::AIR);
    for voxel in block {
        let weight = total(voxel);
        if weight > best.0 {
            best = (weight, voxel);
        }
    }
    if any_opaque { best.1 } else { materials.filled_to(best.1, fill_cells(partial, materials)) }
}

/// Returns the height of the highest surface in a block of translucent voxels and air, in sixteenths
/// of the block, rounded up.
fn fill_cells(block: [Material; 8], materials: &MaterialTable) -> u8 {
    let column = |low: usize| match block[low | UP] {
        upper if upper.is_air() && block[low].is_air() => 0,
        upper if upper.is_air() => materials.fill_cells(block[low]),
        // Whether a whole fluid is lowered depends on the voxel above the block.
        upper if materials.whole(upper) == upper => 2 * Shape::CELLS,
        upper => Shape::CELLS + materials.fill_cells(upper),
    };
    let columns = (0..block.len()).filter(|i| i & UP == 0).map(column);
    columns.max().unwrap_or(0).div_ceil(2)
}

#[cfg(test)]
mod tests;
