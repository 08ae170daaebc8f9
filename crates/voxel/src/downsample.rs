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
/// flower is dropped. [Thin](MaterialTable::is_thin) voxels count as air.
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
        true => block.map(|voxel| if materials.is_thin(voxel) { Material::AIR } else { voxel }),
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
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::{LocalPos, MaterialKind, ShapeBox, ShapeKind};

    /// Downsamples a block of four lower and four upper voxels.
    fn block_of(low: [Material; 4], high: [Material; 4], table: &MaterialTable) -> Material {
        let [a, b, c, d] = low;
        let [e, f, g, h] = high;
        downsample_block([a, b, e, f, c, d, g, h], table)
    }

    fn table() -> (MaterialTable, [Material; 4]) {
        let mut table = MaterialTable::new();
        let mut insert = |name: &str, alpha| table.insert(name, [9, 9, 9, alpha]).unwrap();
        let kinds =
            [insert("dirt", 255), insert("grass", 255), insert("flower", 255), insert("water", 90)];
        (table, kinds)
    }

    #[test]
    fn the_upper_material_wins_but_a_single_flower_does_not() {
        let (table, [dirt, grass, flower, water]) = table();
        let air = Material::AIR;
        let block = |low, high| block_of(low, high, &table);
        assert_eq!(block([dirt; 4], [grass; 4]), grass);
        assert_eq!(block([grass; 4], [flower, air, air, air]), grass);
        assert_eq!(block([air; 4], [air, air, flower, air]), flower);
        assert_eq!(block([dirt; 4], [air; 4]), dirt);
        assert_eq!(block([dirt, air, air, air], [water; 4]), dirt);
        assert_eq!(block([water, air, air, air], [air; 4]), table.filled_to(water, 8));
        assert_eq!(block([air; 4], [air; 4]), air);
    }

    /// A fluid up to the top of a block stays whole, because it is lowered only below air.
    #[test]
    fn fluids_are_lowered_within_a_block() {
        let surface = ShapeBox { min: [0; 3], max: [16, 14, 16] };
        let shape = Shape::new(vec![surface], ShapeKind::Fluid).unwrap();
        let mut table = MaterialTable::new();
        let water = MaterialKind::new("water", [40, 80, 200, 90]).with_shape(shape);
        let water = table.insert_kind(water).unwrap();
        let air = Material::AIR;
        let block = |low, high| block_of(low, high, &table);
        assert_eq!(block([water; 4], [water; 4]), water);
        assert_eq!(block([water; 4], [water, air, air, water]), water);
        assert_eq!(block([water; 4], [air; 4]), table.filled_to(water, 7));
    }

    /// A lake of any depth has one height at all levels.
    #[test]
    fn the_surface_of_a_lake_keeps_its_height() {
        let (table, [.., water]) = table();
        for top in 1..=64_u32 {
            let voxel = |y: u32| if y < top { water } else { Material::AIR };
            let mut column: Vec<Material> = (0..128).map(voxel).collect();
            for level in 1..=7 {
                column = column
                    .chunks(2)
                    .map(|pair| {
                        let block = core::array::from_fn(|i| pair[usize::from(i & UP != 0)]);
                        downsample_block(block, &table)
                    })
                    .collect();
                let filled = column.iter().take_while(|voxel| !voxel.is_air()).count();
                assert!(column[..filled - 1].iter().all(|&voxel| voxel == water));
                assert!(column[filled..].iter().all(|voxel| voxel.is_air()));
                let cells = 16 * (filled - 1) + usize::from(table.fill_cells(column[filled - 1]));
                let apart = cells as f64 / 16.0 * f64::from(1 << level) - f64::from(top);
                let limit = if level <= 4 { 0.0 } else { f64::from(1 << level) / 16.0 };
                assert!((0.0..=limit).contains(&apart), "{apart} of {top} at level {level}");
            }
        }
    }

    /// Compares with a voxel by voxel computation, for every storage and several sides.
    #[test]
    fn every_voxel_is_the_downsampled_block() {
        let (table, kinds) = table();
        for side in [2, 4, 6, 16, 32, 62, 64] {
            let child = |seed: u32, fill: u32| {
                Chunk::from_fn(side, |at| {
                    let dice = (u32::from(at.x) * 7
                        + u32::from(at.y) * 131
                        + u32::from(at.z) * 911
                        + seed)
                        .wrapping_mul(2_654_435_761)
                        >> 24;
                    if dice < fill { kinds[(dice % 4) as usize] } else { Material::AIR }
                })
            };
            let flat = Chunk::from_fn(side, |at| if at.y < 3 { kinds[0] } else { Material::AIR });
            let made = [child(1, 3), child(2, 99), child(3, 255), flat, Chunk::new(side, kinds[1])];
            let children = [
                Some(&made[0]),
                Some(&made[1]),
                None,
                Some(&made[2]),
                Some(&made[3]),
                None,
                Some(&made[4]),
                Some(&made[0]),
            ];
            let parent = downsample(side, children, &table).unwrap();
            for (at, found) in &parent {
                let block: [Material; 8] = core::array::from_fn(|i| {
                    let fine: [u32; 3] = [(at.x, i & 1), (at.y, i >> 1 & 1), (at.z, i >> 2)]
                        .map(|(c, far)| 2 * u32::from(c) + far as u32);
                    let far = fine.map(|c| usize::from(c >= side));
                    let [x, y, z] = fine.map(|c| (c % side) as u8);
                    children[far[0] + 2 * far[1] + 4 * far[2]]
                        .map_or(Material::AIR, |child| child.get(LocalPos::new(x, y, z)))
                });
                assert_eq!(found, downsample_block(block, &table), "side {side} at {at:?}");
            }
            parent.validate().unwrap();
        }
    }

    #[test]
    fn children_of_wrong_size_give_none() {
        let (table, [stone, ..]) = table();
        let [odd, even, other] = [5, 6, 8].map(|side| Chunk::new(side, stone));
        assert!(downsample(5, [Some(&odd); 8], &table).is_none());
        assert!(downsample(0, [None; 8], &table).is_none());
        assert!(downsample(66, [None; 8], &table).is_none());
        let mut children = [Some(&even); 8];
        children[3] = Some(&other);
        assert!(downsample(6, children, &table).is_none());
        assert_eq!(downsample(6, [Some(&even); 8], &table).unwrap().uniform(), Some(stone));
        assert!(downsample(6, [None; 8], &table).unwrap().is_empty());
    }
}
