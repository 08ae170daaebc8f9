use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use drystone_testing::Random;

use super::super::storage::Storage;
use super::bytes::{to_column_order, to_row_order};
use super::*;
use crate::{Chunk, LocalPos, StorageKind};

/// Creates `boxes` overlapping boxes of `kinds` materials.
fn scene(side: usize, kinds: u64, boxes: usize, dice: &mut Random) -> (Vec<Material>, Vec<u8>) {
    let materials: Vec<Material> = (0..kinds).map(|n| Material(n as u16 * 7)).collect();
    let mut numbers = vec![dice.below(kinds) as u8; side.pow(3)];
    for _ in 0..boxes {
        let low = [(); 3].map(|()| dice.below(side as u64) as usize);
        let size = [(); 3].map(|()| 1 + dice.below(9) as usize);
        let number = dice.below(kinds) as u8;
        let [xs, ys, zs] = [0, 1, 2].map(|i| low[i]..(low[i] + size[i]).min(side));
        for (z, y) in zs.flat_map(|z| ys.clone().map(move |y| (z, y))) {
            numbers[side * (y + side * z)..][xs.clone()].fill(number);
        }
    }
    (materials, numbers)
}

fn scenes() -> Vec<(usize, Vec<Material>, Vec<u8>)> {
    let mut dice = Random::new(5);
    let mut scenes = Vec::new();
    for side in [8, 16, 32, 64] {
        for (kinds, boxes) in [(1, 0), (2, 9), (3, 40), (5, 300), (40, 900), (256, 3000)] {
            let (materials, numbers) = scene(side, kinds, boxes, &mut dice);
            scenes.push((side, materials, numbers));
        }
    }
    // Bricks with as many materials as voxels, and with every smaller number.
    let (materials, mut numbers) = scene(32, 256, 0, &mut dice);
    for (n, number) in numbers.iter_mut().enumerate() {
        *number = (n % (1 + n / 500)) as u8 % 251 + n as u8 % 4;
    }
    scenes.push((32, materials, numbers));
    scenes
}

#[test]
fn bricks_equal_the_voxels_they_were_made_from() {
    for (side, materials, numbers) in scenes() {
        let Some(bricks) = Bricks::of_numbers(&materials, &numbers) else {
            assert!(side == 64, "heads must support a whole chunk of side {side}");
            continue;
        };
        bricks.validate(side.pow(3)).unwrap();
        let voxels: Vec<Material> = numbers.iter().map(|n| materials[usize::from(*n)]).collect();
        let mut copied = vec![Material(9999); voxels.len()];
        bricks.copy(0, &mut copied);
        assert!(copied == voxels);
        assert!((0..voxels.len()).all(|voxel| bricks.get(voxel) == voxels[voxel]));
        let mut dice = Random::new(side as u64);
        for _ in 0..60 {
            let first = dice.below(voxels.len() as u64) as usize;
            let len = 1 + dice.below((voxels.len() - first).min(5000) as u64) as usize;
            let mut row = vec![Material(9999); len];
            bricks.copy(first, &mut row);
            assert!(row == voxels[first..first + len], "{len} from {first}");
        }
        boxes_are_copied(&bricks, &voxels, side, &mut dice);
    }
}

/// Copies into the middle of another array, whose other voxels must not change.
fn boxes_are_copied(bricks: &Bricks, voxels: &[Material], side: usize, dice: &mut Random) {
    for _ in 0..60 {
        let low = [(); 3].map(|()| dice.below(side as u64) as usize);
        let size = low.map(|low| 1 + dice.below((side - low).min(11) as u64) as usize);
        let mut to = vec![Material(9999); 13 * 13 * 13];
        let from = low[0] + side * (low[1] + side * low[2]);
        let rows = Rows { first: 1 + 13 + 169, row_step: 13, layer_step: 169 };
        bricks.copy_box(size, from, &mut to, rows);
        for (n, found) in to.iter().enumerate() {
            let at = [n % 13, n / 13 % 13, n / 169].map(|c| c.wrapping_sub(1));
            let is_inside = at.iter().zip(size).all(|(c, size)| *c < size);
            let [x, y, z] = [0, 1, 2].map(|axis| low[axis].wrapping_add(at[axis]));
            let expected =
                if is_inside { voxels[x + side * (y + side * z)] } else { Material(9999) };
            assert_eq!(*found, expected, "{low:?} {size:?} {at:?}");
        }
    }
}

/// Creates a chunk in bricks, even if other storage would be smaller.
fn chunk_of(bricks: Bricks, materials: &[Material], numbers: &[u8]) -> Chunk {
    let mut chunk = Chunk::new(bricks.side() as u32, Material::AIR);
    let is_solid = |number: &&u8| !materials[usize::from(**number)].is_air();
    chunk.solid_count = numbers.iter().filter(is_solid).count() as u32;
    chunk.storage = Storage::Bricks(Arc::new(bricks));
    chunk.validate().unwrap();
    chunk
}

#[test]
fn written_bricks_are_read_back() {
    for (side, materials, numbers) in scenes() {
        let Some(bricks) = Bricks::of_numbers(&materials, &numbers) else { continue };
        let chunk = chunk_of(bricks, &materials, &numbers);
        let mut bytes = Vec::new();
        assert!(chunk.write_bricks(&mut bytes));
        let read = Chunk::from_bricks(side as u32, &bytes).unwrap();
        read.validate().unwrap();
        assert!(read == chunk && read.storage() == StorageKind::Bricks);
        let mut again = Vec::new();
        read.write_bricks(&mut again);
        assert!(again == bytes);
    }
}

#[test]
fn any_bytes_give_a_valid_chunk_or_none() {
    let (materials, numbers) = scene(8, 5, 9, &mut Random::new(3));
    let bricks = Bricks::of_numbers(&materials, &numbers).unwrap();
    let mut chunk = chunk_of(bricks, &materials, &numbers);
    let mut bytes = Vec::new();
    chunk.write_bricks(&mut bytes);
    for len in 0..bytes.len() {
        assert!(Chunk::from_bricks(8, &bytes[..len]).is_none(), "{len}");
    }
    for at in 0..bytes.len() {
        for change in [1, 2, 4, 0x80, 0xff] {
            let mut wrong = bytes.clone();
            wrong[at] ^= change;
            if let Some(read) = Chunk::from_bricks(8, &wrong) {
                read.validate().unwrap();
            }
        }
    }
    assert!(
        [0, 4, 7, 9, 16, 128, u32::MAX]
            .iter()
            .all(|&side| Chunk::from_bricks(side, &bytes).is_none())
    );
    bytes.push(0);
    assert!(Chunk::from_bricks(8, &bytes).is_none());
    // After an edit, the storage is no longer bricks.
    chunk.set(LocalPos::new(1, 2, 3), Material(999));
    assert!(!chunk.write_bricks(&mut bytes));
}

#[test]
fn converting_planes_is_reversible() {
    let mut dice = Random::new(1);
    for _ in 0..1000 {
        let bits = dice.below(1 << 31) << 33 ^ dice.below(1 << 31) << 13 ^ dice.below(1 << 31);
        let reordered = (0..64).fold(0, |reordered, n| {
            let [x, y, z] = [n & 3, n >> 2 & 3, n >> 4];
            reordered | (bits >> n & 1) << (y | z << 2 | x << 4)
        });
        assert_eq!(to_column_order(bits), reordered);
        assert_eq!(to_row_order(reordered), bits);
    }
}
