use std::collections::BTreeSet;

use drystone_voxel::{ChunkPos, Material, VoxelPos};
use drystone_world::World;

/// A hole's radius, in voxels.
const RADIUS: i32 = 5;

/// Digs a hole into the surface of a chunk that depends on `number` alone. Returns the chunks whose
/// meshes change.
pub(super) fn dig(world: &mut World, number: u64) -> BTreeSet<ChunkPos> {
    let Some(center) = surface(world, number) else { return BTreeSet::new() };
    let along = |axis: i32| axis.saturating_sub(RADIUS)..=axis.saturating_add(RADIUS);
    for x in along(center.x) {
        for y in along(center.y) {
            for z in along(center.z) {
                let voxel = VoxelPos::new(x, y, z);
                if distance_squared(voxel, center) <= i64::from(RADIUS).pow(2) {
                    world.set(voxel, Material::AIR);
                }
            }
        }
    }
    chunks_around(center, world.side())
}

/// Returns the highest voxel of a column; the number selects chunk and column.
fn surface(world: &World, number: u64) -> Option<VoxelPos> {
    let bits = mix(number);
    let position = world.positions().nth((bits % world.chunk_count().max(1) as u64) as usize)?;
    let (origin, side) = (position.origin(world.side()), world.side() as i32);
    let column = |bits: u64| (bits % u64::from(world.side())) as i32;
    let x = origin.x.saturating_add(column(bits >> 32));
    let z = origin.z.saturating_add(column(bits >> 48));
    let at = |y: i32| VoxelPos::new(x, origin.y.saturating_add(y), z);
    let highest = (0..side).rev().map(at).find(|&voxel| !world.get(voxel).is_air());
    Some(highest.unwrap_or_else(|| at(side / 2)))
}

/// Returns the chunks that contain or touch a voxel within the radius.
fn chunks_around(center: VoxelPos, side: u32) -> BTreeSet<ChunkPos> {
    let corner = |by: i32| {
        let moved = |axis: i32| axis.saturating_add(by);
        VoxelPos::new(moved(center.x), moved(center.y), moved(center.z)).split(side).0
    };
    let (low, high) = (corner(-RADIUS - 1), corner(RADIUS + 1));
    let mut chunks = BTreeSet::new();
    for x in low.x..=high.x {
        for y in low.y..=high.y {
            chunks.extend((low.z..=high.z).map(|z| ChunkPos::new(x, y, z)));
        }
    }
    chunks
}

fn distance_squared(a: VoxelPos, b: VoxelPos) -> i64 {
    let axes = a.to_array().into_iter().zip(b.to_array());
    axes.map(|(a, b)| (i64::from(a) - i64::from(b)).pow(2)).sum()
}

/// Steele, Lea and Flood's SplitMix64.
const fn mix(number: u64) -> u64 {
    let mut bits = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ bits >> 31
}

#[cfg(test)]
mod tests {
    use drystone::scene::mesh_chunk;
    use drystone_voxel::{Chunk, MaterialTable};

    use super::*;

    /// Every chunk whose mesh changes is returned.
    #[test]
    fn every_changed_mesh_is_returned() {
        let mut world = World::with_side("block", MaterialTable::new(), 8);
        let chunks = (0..27).map(|n| ChunkPos::new(n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1));
        for position in chunks {
            world.insert(position, Chunk::new(8, Material(1))).unwrap();
        }
        for number in 0..20 {
            let all: BTreeSet<_> = world.positions().collect();
            let mesh = |world: &World, position| {
                let mesh = mesh_chunk(world, position).mesh;
                (mesh.opaque.quads().to_vec(), mesh.translucent.quads().to_vec())
            };
            let before: Vec<_> = all.iter().map(|&position| mesh(&world, position)).collect();
            let solid = world.solid_count();
            let named = dig(&mut world, number);
            let changed = all.iter().zip(before).filter(|(p, old)| mesh(&world, **p) != *old);
            let changed: BTreeSet<_> = changed.map(|(&position, _)| position).collect();
            assert!(changed.is_subset(&named), "{number}: {changed:?} {named:?}");
            assert!(number > 0 || world.solid_count() < solid && !changed.is_empty());
        }
    }

    #[test]
    fn digging_an_empty_world_changes_nothing() {
        let mut world = World::new("empty", MaterialTable::new());
        assert_eq!(dig(&mut world, 3), BTreeSet::new());
    }
}
