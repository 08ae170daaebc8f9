//! A chunk has the same voxels and the same mesh in every storage.

use std::collections::BTreeSet;
use std::thread;

use drystone_mesh::Quad;
use drystone_voxel::{
    Chunk, ChunkMesh, GreedyMesher, LocalPos, Material, MaterialTable, PaddedChunk, StorageKind,
};
use proptest::{collection::vec, prelude::*, test_runner::Config};

use crate::programs;
use crate::scenes::{Random, table};

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::with_cases(1000) })]

    #[test]
    fn chunks_behave_like_flat_arrays(program in vec(any::<u8>(), 0..300)) {
        programs::chunk::run(&program);
    }
}

/// Creates materials by layers, in boxes or at random, to suit each storage.
fn voxels(side: u32, materials: u32, pattern: u32, seed: u64) -> Vec<Material> {
    let mut random = Random::new(seed);
    let n = side as usize;
    (0..n.pow(3))
        .map(|voxel| {
            let [x, y, z] = [voxel % n, voxel / n % n, voxel / n / n];
            let number = match pattern {
                0 => 0,
                1 => (y * materials as usize / n) as u32,
                2 => ((x / 3 + y / 4 + z / 5) % materials as usize) as u32,
                _ => random.below(materials),
            };
            Material(number as u16)
        })
        .collect()
}

/// Returns the same voxels in every kind of storage.
fn storages(side: u32, voxels: &[Material]) -> Vec<Chunk> {
    let n = side as usize;
    let at = |voxel: usize| {
        LocalPos::new((voxel % n) as u8, (voxel / n % n) as u8, (voxel / n / n) as u8)
    };
    let set_all = |chunk: &mut Chunk| {
        voxels.iter().enumerate().for_each(|(voxel, &material)| {
            chunk.set(at(voxel), material);
        });
    };
    let smallest = Chunk::from_voxels(side, voxels).unwrap();
    let mut edited = smallest.clone();
    edited.set(at(0), Material(60_000));
    edited.set(at(0), voxels[0]);
    let mut all = vec![smallest, edited];
    // Palettes that were wide before, with too few edits for a search for smaller storage.
    for materials in [3, 5, 17, 257] {
        let mut chunk = Chunk::new(side, Material(0));
        for voxel in 0..voxels.len().min(materials) {
            chunk.set(at(voxel), Material(1000 + voxel as u16));
        }
        set_all(&mut chunk);
        all.push(chunk);
    }
    all
}

/// Creates a padded chunk with the same chunk on all sides.
fn padded(chunk: &Chunk) -> PaddedChunk {
    let mut padded = PaddedChunk::new();
    padded.fill(chunk, |_| Some(chunk));
    padded
}

fn mesh(padded: &PaddedChunk, table: &MaterialTable) -> [Vec<Quad>; 2] {
    let mut mesh = ChunkMesh::new();
    GreedyMesher::new().mesh(padded, table, &mut mesh);
    [mesh.opaque.quads().to_vec(), mesh.translucent.quads().to_vec()]
}

#[test]
fn a_mesh_does_not_depend_on_the_storage() {
    let table = table(0b1100);
    let mut kinds = BTreeSet::new();
    for side in [1, 2, 3, 7, 16, 31, 32, 33, 62, 64] {
        for (materials, pattern) in
            [(1, 0), (4, 1), (2, 2), (2, 3), (4, 3), (12, 2), (16, 3), (60, 3), (256, 3), (400, 3)]
        {
            let voxels = voxels(side, materials, pattern, u64::from(side * materials));
            let chunks = storages(side, &voxels);
            let first = padded(&chunks[0]);
            let quads = mesh(&first, &table);
            for chunk in &chunks {
                assert_eq!(chunk.validate(), Ok(()));
                assert_eq!(*chunk, chunks[0]);
                let other = padded(chunk);
                assert!(other.voxels() == first.voxels(), "{side} {materials} {pattern}");
                assert_eq!(mesh(&other, &table), quads, "{side} {materials} {pattern}");
                kinds.insert(chunk.storage());
            }
        }
    }
    let palettes = [1, 2, 4, 8, 16].map(|bits| StorageKind::Palette { bits });
    let every =
        [StorageKind::Uniform, StorageKind::Bricks, StorageKind::Runs].into_iter().chain(palettes);
    assert_eq!(kinds, every.collect());
}

#[test]
fn palettes_widen_with_materials_and_narrow_after_many_edits() {
    let mut chunk = Chunk::new(16, Material::AIR);
    let at = |n: u32| LocalPos::new((n % 16) as u8, (n / 16 % 16) as u8, (n / 256) as u8);
    let mut widths = Vec::new();
    for n in 0..300 {
        chunk.set(at(n), Material(n as u16 + 1));
        if widths.last() != Some(&chunk.storage()) {
            widths.push(chunk.storage());
        }
    }
    assert_eq!(widths, [1, 2, 4, 8, 16].map(|bits| StorageKind::Palette { bits }));
    // After n³ edits, the palette has few materials again.
    for n in 0..4096 {
        chunk.set(at(n), Material(1 + (n % 3) as u16));
    }
    for n in 0..4096 {
        chunk.set(at(n), Material(2 + (n % 3) as u16));
    }
    assert_eq!(chunk.storage(), StorageKind::Palette { bits: 2 });
    for n in 0..4096 {
        chunk.set(at(n), Material(7));
    }
    assert_eq!(chunk.uniform(), Some(Material(7)));
    chunk.compact();
    assert_eq!((chunk.storage(), chunk.size_bytes()), (StorageKind::Uniform, 0));
}

/// A material that is added and removed repeatedly must not convert the chunk each time.
#[test]
fn repeated_edits_rarely_change_the_storage() {
    for others in [0, 1, 3, 15, 255] {
        let mut chunk = Chunk::new(16, Material::AIR);
        for n in 0..others {
            chunk.set(LocalPos::new((n % 16) as u8, (n / 16) as u8, 0), Material(n + 1));
        }
        let (mut last, mut changes) = (chunk.storage(), 0);
        for _ in 0..20_000 {
            for material in [Material(5000), Material::AIR] {
                chunk.set(LocalPos::new(15, 15, 15), material);
                changes += u32::from(chunk.storage() != last);
                last = chunk.storage();
            }
        }
        // 40,000 edits of 4,096 voxels: at most two conversions per search.
        assert!(changes <= 20, "{others} others: {changes}");
    }
}

#[test]
fn a_snapshot_can_be_read_during_edits() {
    let mut chunk = Chunk::from_voxels(32, &voxels(32, 4, 3, 9)).unwrap();
    for round in 0..20 {
        let snapshot = chunk.snapshot();
        let copy: Vec<_> = chunk.iter().collect();
        thread::scope(|scope| {
            let reader = scope.spawn(move || {
                let meshes = [(); 3].map(|()| mesh(&padded(&snapshot), &table(0)));
                (meshes, snapshot.iter().eq(copy))
            });
            for n in 0..2000u32 {
                let at = LocalPos::new((n % 32) as u8, (n / 7 % 32) as u8, (n / 50 % 32) as u8);
                chunk.set(at, Material((n + round) as u16 % 300));
            }
            let (meshes, same) = reader.join().unwrap();
            assert!(same && meshes[0] == meshes[1] && meshes[1] == meshes[2]);
        });
        assert_eq!(chunk.validate(), Ok(()));
    }
}

#[test]
fn edits_without_effect_do_not_copy_a_snapshot() {
    let chunk = Chunk::from_voxels(32, &voxels(32, 4, 3, 1)).unwrap();
    let used = || Chunk::pool_stats(8192).used_count;
    let before = used();
    let mut copies: Vec<Chunk> = (0..500).map(|_| chunk.snapshot()).collect();
    for copy in &mut copies {
        let corner = copy.get(LocalPos::new(3, 4, 5));
        copy.set(LocalPos::new(3, 4, 5), corner);
    }
    // Other tests create chunks at the same time, but fewer.
    assert!(used() < before + 250);
    for copy in &mut copies {
        let corner = copy.get(LocalPos::new(3, 4, 5));
        copy.set(LocalPos::new(3, 4, 5), Material(1 - corner.0.min(1)));
    }
    assert!(used() > before + 250);
}
