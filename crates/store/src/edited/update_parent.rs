use drystone_voxel::{Chunk, LocalPos, Material, MaterialTable, downsample_block};

/// Updates the voxels of `parent` whose eight smaller voxels in a changed child now downsample to
/// another result. `child` is its index in the parent.
pub(super) fn update_parent(
    parent: &mut Chunk,
    child: usize,
    [before, after]: [&Chunk; 2],
    materials: &MaterialTable,
) {
    let half = (Chunk::SIDE / 2) as u8;
    let corner = [child & 1, child >> 1 & 1, child >> 2].map(|far| far as u8 * half);
    for (z, y) in (0..half).flat_map(|z| (0..half).map(move |y| (z, y))) {
        for x in 0..half {
            let block = |chunk: &Chunk| -> [Material; 8] {
                std::array::from_fn(|i| {
                    let [dx, dy, dz] = [i & 1, i >> 1 & 1, i >> 2].map(|far| far as u8);
                    chunk.get(LocalPos::new(2 * x + dx, 2 * y + dy, 2 * z + dz))
                })
            };
            let (old, new) = (block(before), block(after));
            if old == new {
                continue;
            }
            let [old, new] = [old, new].map(|block| downsample_block(block, materials));
            if old != new {
                parent.set(LocalPos::new(corner[0] + x, corner[1] + y, corner[2] + z), new);
            }
        }
    }
}
