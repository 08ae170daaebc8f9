//! Covers solid voxels by boxes: each exactly once.

use drystone_voxel::{BoxMesher, Halo, Material, PaddedChunk, VoxelArray, VoxelBox, VoxelPos};

use crate::programs::array::check_cover;
use crate::scenes::{Random, boxes, random};

fn check(
    chunk: &PaddedChunk,
    mesher: &mut BoxMesher,
    is_solid: impl Fn(Material) -> bool,
) -> usize {
    let mut found = vec![VoxelBox::of(VoxelPos::new(9, 9, 9))];
    mesher.mesh(chunk, &is_solid, &mut found);
    check_cover([chunk.side(); 3], |at| is_solid(chunk.get(at.map(|c| c + 1))), &found);
    let mut again = Vec::new();
    BoxMesher::new().mesh(chunk, &is_solid, &mut again);
    assert_eq!(again, found, "boxes depend on earlier chunks");
    found.len()
}

#[test]
fn each_solid_voxel_is_in_exactly_one_box() {
    let mut mesher = BoxMesher::new();
    for side in [1, 2, 5, 16, 31, 32, 33, 64] {
        for percent in [0, 4, 50, 97, 100] {
            let chunk = random(side, percent, 3, u64::from(percent + side));
            let count = check(&chunk, &mut mesher, |material| !material.is_air());
            assert_eq!(percent == 100, count == 1 && percent > 97, "{side} {percent} {count}");
            check(&chunk, &mut mesher, |material| material == Material(2));
        }
        let chunk = boxes(side, 12, 3, u64::from(side));
        let count = check(&chunk, &mut mesher, |material| !material.is_air());
        assert!(count <= 2000, "{count} boxes for 12");
    }
}

#[test]
fn boxes_of_arrays_cover_their_solid_voxels() {
    let mut random = Random::new(8);
    let (mut mesher, mut found) = (BoxMesher::new(), Vec::new());
    for extents in [[1, 1, 1], [64, 1, 3], [3, 64, 1], [7, 5, 64], [20, 32, 11]] {
        for halo in [Halo::None, Halo::One] {
            let width = if halo == Halo::One { 1 } else { 0 };
            let len = extents.map(|extent| extent + 2 * width).iter().product::<u32>();
            let cells: Vec<u8> = (0..len).map(|_| random.below(3) as u8).collect();
            let array = VoxelArray::new(&cells, extents, halo).unwrap();
            mesher.mesh_array(&array, |cell| cell > 1, &mut found);
            let at = |at: [u32; 3]| array.get(at.map(|c| c as i32));
            check_cover(extents, |voxel| at(voxel).is_some_and(|cell| cell > 1), &found);
        }
    }
}
