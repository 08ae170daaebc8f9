//! Exported `.vox` files, read back by this crate and by `dot_vox`.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use drystone_formats::{ExportFormat, ExportProgress, ExportVoxels, VoxFile, export_voxels};
use drystone_testing::Random;
use drystone_voxel::{Material, MaterialTable, VoxelPos};

use crate::export_helpers::{GLASS, LAMP, POOL, STONE, WATER, blocks, export, materials, of, path};
use crate::world::World;

/// Returns every voxel with its colour.
fn colors(world: &World) -> BTreeMap<VoxelPos, [u8; 4]> {
    let color = |material| world.materials().get(material).unwrap().color;
    world.voxels().map(|(at, material)| (at, color(material))).collect()
}

/// Returns every voxel that emits light, with its emission.
fn emissions(world: &World) -> BTreeMap<VoxelPos, u8> {
    let emission = |material| world.materials().get(material).unwrap().emission;
    let all = world.voxels().map(|(at, material)| (at, emission(material)));
    all.filter(|(_, emission)| *emission > 0).collect()
}

#[test]
fn the_same_voxels_are_read_back() {
    for seed in 0..4 {
        let world = blocks(seed, &[STONE, GLASS, WATER, LAMP, POOL]);
        let (bytes, summary) = export("vox-same", &world, &of(ExportFormat::Vox));
        assert_eq!(summary.voxels, world.solid_count());
        let read = World::load(&VoxFile::parse(&bytes, "out.vox").unwrap()).unwrap();
        assert!(colors(&read) == colors(&world), "{seed}");
        assert!(emissions(&read) == emissions(&world), "{seed}");
        // MAIN is the rest of the file. Translucent colours are of glass, and one emits light; water
        // and pool are of one colour.
        assert_eq!(
            u32::from_le_bytes(*bytes[16..].first_chunk().unwrap()),
            bytes.len() as u32 - 20
        );
        let glass = bytes.windows(4).filter(|window| window == b"MATL");
        assert_eq!(glass.count(), 3);
    }
}

/// Models have at most 256 voxels a side, so that a larger world is several.
#[test]
fn worlds_larger_than_a_model_are_split() {
    let mut random = Random::new(9);
    let mut world = World::new("wide", materials());
    // A bar through three blocks of 256³, and voxels in their corners.
    for x in -300..290 {
        world.set(VoxelPos::new(x, 255, -1), STONE);
    }
    for _ in 0..200 {
        let [x, y, z] = [(); 3].map(|()| random.below(900) - 450);
        world.set(VoxelPos::new(x, y, z), GLASS);
    }
    for corner in [-257, -256, -1, 0, 255, 256] {
        world.set(VoxelPos::new(corner, corner, corner), WATER);
    }
    let (bytes, _) = export("vox-split", &world, &of(ExportFormat::Vox));
    let file = VoxFile::parse(&bytes, "out.vox").unwrap();
    assert!(colors(&World::load(&file).unwrap()) == colors(&world));
    let theirs = dot_vox::load_bytes(&bytes).unwrap();
    let voxels: usize = theirs.models.iter().map(|model| model.voxels.len()).sum();
    assert_eq!(voxels as u64, world.solid_count());
    assert!(theirs.models.len() > 8 && theirs.models.len() == file.summary().instance_count);
    for model in &theirs.models {
        let size = [model.size.x, model.size.y, model.size.z];
        assert!(size.iter().all(|side| (1..=256).contains(side)));
        // The box is tight.
        for (axis, side) in size.into_iter().enumerate() {
            let at = |voxel: &dot_vox::Voxel| u32::from([voxel.x, voxel.y, voxel.z][axis]);
            assert_eq!(model.voxels.iter().map(at).min(), Some(0));
            assert_eq!(model.voxels.iter().map(at).max(), Some(side - 1));
        }
    }
    assert!(theirs.scenes.len() == 2 + 2 * theirs.models.len());
}

/// Colours that are used most stay, others become similar ones.
#[test]
fn more_colours_than_the_format_has_are_replaced() {
    let mut table = MaterialTable::new();
    for n in 0..=299_u16 {
        table.insert("", [(n / 2) as u8, (n % 2) as u8, 0, 255]).unwrap();
    }
    let mut world = World::new("rainbow", table);
    for n in 0..300_i32 {
        // Higher numbers occur more often.
        for z in 0..=n {
            world.set(VoxelPos::new(n, 0, z), Material(n as u16 + 1));
        }
    }
    let path = path("vox-colours", "vox");
    let mut last = ExportProgress::default();
    let mut each = |progress| {
        last = progress;
        ControlFlow::Continue(())
    };
    let voxels = ExportVoxels::of_source(&world);
    let summary = export_voxels(voxels, &path, &of(ExportFormat::Vox), &mut each).unwrap();
    let bytes = std::fs::read(path).unwrap();
    assert_eq!(summary.changed_colors, 45);
    // Chunks are counted first, and written then.
    let steps = 2 * world.chunk_count() as u64;
    assert_eq!((last.done, last.total), (steps, steps));
    let read = World::load(&VoxFile::parse(&bytes, "out.vox").unwrap()).unwrap();
    let (read, world) = (colors(&read), colors(&world));
    assert!(read.keys().eq(world.keys()));
    let changed = world.iter().filter(|(at, color)| read[at] != **color);
    assert!(changed.clone().count() > 0 && changed.clone().all(|(at, _)| at.x < 45));
}
