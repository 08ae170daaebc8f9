use alloc::vec::Vec;

use super::*;

#[test]
fn the_solid_count_is_right_after_every_edit() {
    let mut chunk = Chunk::new(3, Material(4));
    assert_eq!(chunk.solid_count(), 27);
    assert_eq!(chunk.set(LocalPos::new(2, 2, 2), Material::AIR), Material(4));
    assert_eq!(chunk.set(LocalPos::new(2, 2, 2), Material::AIR), Material::AIR);
    assert_eq!(chunk.solid_count(), 26);
    assert_eq!(chunk.iter_solid().count(), 26);
    assert_eq!(chunk.uniform(), None);
    chunk.set(LocalPos::new(2, 2, 2), Material(4));
    assert_eq!(chunk, Chunk::new(3, Material(4)));
}

#[test]
fn outside_is_air_and_cannot_be_set() {
    let mut chunk = Chunk::new(2, Material(1));
    assert_eq!(chunk.get(LocalPos::new(2, 0, 0)), Material::AIR);
    assert_eq!(chunk.set(LocalPos::new(0, 255, 0), Material(9)), Material::AIR);
    assert_eq!(chunk.uniform(), Some(Material(1)));
}

#[test]
fn sides_are_clamped() {
    assert_eq!(Chunk::new(0, Material::AIR).side(), 1);
    assert_eq!(Chunk::new(1000, Material(1)).solid_count(), 64 * 64 * 64);
}

#[test]
fn voxel_arrays_are_allocated_in_the_pool_of_their_size() {
    // Other tests create chunks at the same time, but fewer.
    const COUNT: usize = 2000;
    for (side, block_bytes) in [(16, 512), (32, 4096), (64, 32_768)] {
        let make = |i: u32| {
            let mut chunk = Chunk::new(side, Material::AIR);
            chunk.set(LocalPos::new(0, 0, 0), Material(i as u16 + 1));
            chunk
        };
        let chunks: Vec<Chunk> = (0..COUNT as u32).map(make).collect();
        let peak = Chunk::pool_stats(block_bytes);
        assert!(peak.used_count >= COUNT);
        assert_eq!(peak.block_bytes, block_bytes);
        let copies: Vec<Chunk> = chunks[..10].to_vec();
        drop(chunks);
        assert!(copies.iter().enumerate().all(|(i, copy)| *copy == make(i as u32)));
        let rest = Chunk::pool_stats(block_bytes);
        assert!(rest.used_count < COUNT / 2 && rest.reserved_bytes < peak.reserved_bytes / 2);
    }
    assert_eq!(Chunk::pool_stats(5), PoolStats::default());
}

#[test]
fn only_complete_cubes_are_chunks() {
    assert_eq!(Chunk::from_voxels(2, &[Material(1); 7]), None);
    assert_eq!(Chunk::from_voxels(0, &[]), None);
    assert_eq!(Chunk::from_voxels(65, &[Material(1); 65 * 65 * 65]), None);
    let chunk = Chunk::from_voxels(2, &[Material(1); 8]);
    assert_eq!(chunk, Some(Chunk::new(2, Material(1))));
}

#[test]
fn boxes_are_clipped_to_the_chunk() {
    let mut chunk = Chunk::new(8, Material(1));
    chunk.fill_box(LocalPos::new(6, 7, 200), [9, 9, 9], Material(2));
    assert_eq!(chunk.uniform(), Some(Material(1)));
    chunk.fill_box(LocalPos::new(6, 7, 0), [u32::MAX, 9, 3], Material::AIR);
    assert_eq!(chunk.solid_count(), 512 - 2 * 3);
    chunk.fill_box(LocalPos::new(0, 0, 0), [8; 3], Material(4));
    assert_eq!(chunk.storage(), StorageKind::Uniform);
}

/// Forwards and backwards, and one row twice.
#[test]
fn rows_are_read_in_any_order() {
    let voxels: Vec<Material> = (0..8 * 8 * 8).map(|voxel| Material(1 + voxel / 100)).collect();
    let chunk = Chunk::from_voxels(8, &voxels).unwrap();
    assert_eq!(chunk.storage(), StorageKind::Runs);
    let mut reader = chunk.reader();
    for first in [0, 0, 70, 90, 150, 120, 380, 199, 199, 200] {
        let mut row = [Material::AIR; 120];
        reader.copy(first, &mut row);
        assert_eq!(row, voxels[first..first + 120], "{first}");
    }
}
