//! Exported parts of a world: levels, boxes, and exports without content.

use std::ops::ControlFlow;

use drystone_formats::{
    ExportFormat, ExportProgress, ExportVoxels, Source, SourceError, VoxFile, export_voxels,
};
use drystone_voxel::{Chunk, ChunkPos, Material, NodePos, VoxelBox, VoxelPos};

use crate::export_helpers::*;
use crate::export_meshes::rasterised;
use crate::world::World;

/// Voxels of level 1 that touch a box of level 0 are exported; other chunks are not read.
#[test]
fn a_box_cuts_the_voxels_of_a_level() {
    // Chunks of level 1: the box ends on the border of one along Y, and inside a voxel along X.
    let world = blocks(31, &[STONE, GRASS]);
    let bounds = VoxelBox { min: VoxelPos::new(-21, -64, 33), max: VoxelPos::new(17, 0, 51) };
    let mut inside = World::new("inside", materials());
    for (x, y) in (-11..9).flat_map(|x| (-32..0).map(move |y| (x, y))) {
        for at in (16..26).map(|z| VoxelPos::new(x, y, z)) {
            inside.set(at, world.get(at));
        }
    }
    assert!(inside.solid_count() > 100);
    let chunks = world.chunk_positions();
    let read = |node: NodePos| {
        assert_eq!(node.level, 1);
        let ChunkPos { x, y, z } = node.chunk;
        assert!((-1..=0).contains(&x) && y == -1 && z == 0, "{node:?} is outside");
        Source::chunk(&world, node.chunk)
    };
    for format in [ExportFormat::Glb, ExportFormat::Vox] {
        let path = path("export-level", format.extension());
        let materials = world.materials();
        let (level, bounds, chunks) = (1, Some(bounds), chunks.clone());
        let voxels = ExportVoxels { materials, level, chunks, bounds, read: Box::new(read) };
        let mut options = of(format);
        options.scale = 0.5;
        let mut last = ExportProgress::default();
        let mut each = |progress| {
            last = progress;
            ControlFlow::Continue(())
        };
        let summary = export_voxels(voxels, &path, &options, &mut each).unwrap();
        assert_eq!((last.done, last.total), (2, 2), "chunks outside are steps");
        let bytes = std::fs::read(&path).unwrap();
        if format == ExportFormat::Glb {
            assert!(rasterised(&of_glb(&bytes)) == unit_faces(&inside));
        } else {
            assert_eq!(summary.voxels, inside.solid_count());
            let read = World::load(&VoxFile::parse(&bytes, "out.vox").unwrap()).unwrap();
            assert!(unit_faces(&read) == unit_faces(&inside));
        }
    }
}

/// LOD voxels that their material fills up to a height are exported as whole ones.
#[test]
fn partial_materials_fill_their_voxels() {
    let world = blocks(11, &[STONE, WATER, GLASS]);
    let materials = world.materials();
    for format in [ExportFormat::Glb, ExportFormat::Obj, ExportFormat::Vox, ExportFormat::Ply] {
        let [whole, partial] = [16, 5].map(|cells| {
            let path = path("export-partial", format.extension());
            let read = |node: NodePos| {
                let chunk = Source::chunk(&world, node.chunk)?;
                Ok(Chunk::from_fn(Chunk::SIDE, |at| materials.filled_to(chunk.get(at), cells)))
            };
            let (level, bounds, chunks) = (1, None, world.chunk_positions());
            let voxels = ExportVoxels { materials, level, chunks, bounds, read: Box::new(read) };
            let each = &mut |_| ControlFlow::Continue(());
            export_voxels(voxels, &path, &of(format), each).unwrap();
            let texts = [path.clone(), path.with_extension("mtl")].map(std::fs::read);
            texts.map(Result::unwrap_or_default)
        });
        assert!(whole == partial && !whole[0].is_empty(), "{format:?}");
    }
}

/// Corners of the chunk before are not corners of the next one.
#[test]
fn each_chunk_has_its_own_corners() {
    let mut world = blocks(2, &[STONE]);
    let before = world.chunk_count();
    for voxel in 0..5 * 5 * 5 {
        world.set(VoxelPos::new(70 + voxel % 5, 5 + voxel / 5 % 5, 5 + voxel / 25), STONE);
    }
    assert_eq!(world.chunk_count(), before + 1);
    let mut options = of(ExportFormat::Stl);
    // One chunk at a time.
    options.memory_bytes = 0;
    let triangles = of_stl(&export("export-corners", &world, &options).0);
    let count = triangles.iter().filter(|it| it.corners[0][0] >= 70.0).count();
    assert_eq!(count, 12);
}

/// A file without a voxel is an error in each format.
#[test]
fn nothing_to_export_is_an_error() {
    let empty = World::new("empty", materials());
    let chunks = vec![ChunkPos::new(0, 0, 0)];
    for format in ExportFormat::ALL {
        let path = path("export-nothing", format.extension());
        let voxels = ExportVoxels { chunks: chunks.clone(), ..ExportVoxels::of_source(&empty) };
        let mut go_on = |_| ControlFlow::Continue(());
        let error = export_voxels(voxels, &path, &of(format), &mut go_on).unwrap_err();
        assert!(matches!(error, SourceError::Empty { .. }), "{format:?}: {error}");
    }
}

/// Coordinates beyond the range of `f32` are the largest ones, not infinite.
#[test]
fn coordinates_are_finite_with_any_scale() {
    let mut world = World::new("far", materials());
    world.set(VoxelPos::new(1 << 20, 5, -(1 << 20)), Material(1));
    for format in [ExportFormat::Ply, ExportFormat::Obj, ExportFormat::Glb] {
        let mut options = of(format);
        options.scale = 1e38;
        let path = path("export-far", format.extension());
        let voxels = ExportVoxels::of_source(&world);
        let mut go_on = |_| ControlFlow::Continue(());
        export_voxels(voxels, &path, &options, &mut go_on).unwrap();
        let bytes = std::fs::read(path).unwrap();
        if format == ExportFormat::Ply {
            let first = |at: usize| f32::from_le_bytes(*bytes[at..].first_chunk().unwrap());
            assert_eq!([512, 520].map(first), [f32::MAX, f32::MIN]);
        }
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("inf") && !text.contains("NaN"), "{format:?}");
    }
}
