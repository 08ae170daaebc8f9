//! Exported meshes, read back by other crates.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use drystone_formats::{
    ExportFormat, ExportNodes, ExportProgress, ExportVoxels, FaceColors, Model, ModelOptions,
    SourceError, UpAxis, export_model, export_voxels,
};
use drystone_mesh::Face;
use drystone_testing::Random;
use drystone_voxel::{Material, MaterialTable, VoxelBox, VoxelPos};

use crate::export_helpers::*;
use crate::model_helpers::{Files, beside};
use crate::world::World;

const OPAQUE: [Material; 2] = [STONE, GRASS];
const ALL: [Material; 6] = [STONE, GRASS, GLASS, WATER, LAMP, POOL];

/// Exports a world to each mesh format and reads it back.
fn exported(test: &str, world: &World) -> [(ExportFormat, Vec<Triangle>); 4] {
    [ExportFormat::Stl, ExportFormat::Ply, ExportFormat::Obj, ExportFormat::Glb].map(|format| {
        let (bytes, summary) = export(test, world, &of(format));
        let triangles = match format {
            ExportFormat::Stl => of_stl(&bytes),
            ExportFormat::Ply => of_ply(&bytes),
            ExportFormat::Obj => of_obj(&bytes, &summary.material_text.unwrap(), "materials.mtl"),
            _ => of_glb(&bytes).triangles,
        };
        assert_eq!(triangles.len() as u64, summary.triangles, "{format:?}");
        (format, triangles)
    })
}

/// Every unit face is covered once, by its colour.
#[test]
fn surfaces_have_the_area_of_each_material() {
    for seed in 0..6 {
        let world = blocks(seed, &ALL);
        let expected = expected_areas(&world);
        for (format, triangles) in exported("export-areas", &world) {
            if format != ExportFormat::Stl {
                assert_eq!(areas(&triangles), expected, "{format:?} {seed}");
            }
        }
    }
}

/// The border between two materials is inside, and chunks meet without gaps.
#[test]
fn surfaces_of_opaque_voxels_are_closed_over_chunks() {
    for seed in 10..16 {
        let world = blocks(seed, &OPAQUE);
        for (format, triangles) in exported("export-closed", &world) {
            assert_eq!(open_edges(&triangles), 0, "{format:?} {seed}");
            let volume = volume(&triangles);
            assert!((volume - world.solid_count() as f64).abs() < 1e-3, "{format:?} {volume}");
        }
    }
}

/// An STL file has no colours, so that all materials are one solid.
#[test]
fn stl_is_one_closed_solid_of_all_materials() {
    let world = blocks(3, &ALL);
    let (bytes, _) = export("export-solid", &world, &of(ExportFormat::Stl));
    let triangles = of_stl(&bytes);
    assert_eq!(open_edges(&triangles), 0);
    assert!((volume(&triangles) - world.solid_count() as f64).abs() < 1e-3);
    // One cube of two materials.
    let mut world = World::new("two", materials());
    world.set(VoxelPos::new(0, 0, 0), STONE);
    world.set(VoxelPos::new(1, 0, 0), GLASS);
    assert_eq!(export("export-solid", &world, &of(ExportFormat::Stl)).1.triangles, 12);
}

/// Merged quads stay merged: a corner is only added where it is needed.
#[test]
fn a_box_has_no_needless_corners() {
    let mut world = World::new("box", materials());
    for voxel in 0..20 * 20 * 20 {
        world.set(VoxelPos::new(voxel % 20 - 30, voxel / 20 % 20, voxel / 400), STONE);
    }
    for format in [ExportFormat::Stl, ExportFormat::Ply, ExportFormat::Obj, ExportFormat::Glb] {
        let (_, summary) = export("export-box", &world, &of(format));
        assert_eq!(summary.triangles, 12, "{format:?}");
        assert_eq!(summary.vertices, if format == ExportFormat::Glb { 24 } else { 8 });
    }
}

#[test]
fn scale_and_up_axis_move_all_vertices() {
    let mut world = World::new("bar", materials());
    (0..5).for_each(|x| world.set(VoxelPos::new(x, 7, -3), STONE));
    for format in [ExportFormat::Stl, ExportFormat::Ply, ExportFormat::Glb] {
        let mut options = of(format);
        options.scale = 0.5;
        options.up = UpAxis::Z;
        let (bytes, _) = export("export-scale", &world, &options);
        let triangles = match format {
            ExportFormat::Stl => of_stl(&bytes),
            ExportFormat::Ply => of_ply(&bytes),
            _ => of_glb(&bytes).triangles,
        };
        let corners = || triangles.iter().flat_map(|it| it.corners);
        let low = corners().fold([f32::MAX; 3], |a, b| [0, 1, 2].map(|axis| a[axis].min(b[axis])));
        let high = corners().fold([f32::MIN; 3], |a, b| [0, 1, 2].map(|axis| a[axis].max(b[axis])));
        // (x, y, z) becomes (x, −z, y).
        assert_eq!((low, high), ([0.0, 1.0, 3.5], [2.5, 1.5, 4.0]), "{format:?}");
        assert_eq!(volume(&triangles), 5.0 / 8.0, "it is not mirrored");
    }
}

#[test]
fn glb_has_a_node_for_each_chunk_or_one() {
    let world = blocks(4, &ALL);
    let split = of_glb(&export("export-nodes", &world, &of(ExportFormat::Glb)).0);
    assert_eq!(split.document.nodes().count(), world.chunk_count());
    let names: Vec<_> = split.document.nodes().filter_map(|it| it.name()).collect();
    assert!(names.contains(&"chunk -1 0 0"), "{names:?}");
    let mut options = of(ExportFormat::Glb);
    options.nodes = ExportNodes::Joined;
    let joined = of_glb(&export("export-nodes", &world, &options).0);
    assert_eq!((joined.document.nodes().count(), joined.document.meshes().count()), (1, 1));
    assert_eq!(areas(&joined.triangles), areas(&split.triangles));
    assert_eq!(joined.document.materials().count(), 2);
    assert!(!joined.document.materials().any(|it| it.double_sided()));
    let modes: Vec<_> = joined.document.materials().map(|it| it.alpha_mode()).collect();
    assert_eq!(modes, [gltf::material::AlphaMode::Opaque, gltf::material::AlphaMode::Blend]);
}

/// Returns the colour of the texture on each unit face that the triangles cover.
pub(crate) fn rasterised(glb: &Glb) -> BTreeMap<UnitFace, [u8; 4]> {
    // A point that lies on no edge between points of the grid.
    sampled(glb, [0.513_71, 0.507_23])
}

/// Returns the colour of the texture at one point of each unit face that the triangles cover.
fn sampled(glb: &Glb, point: [f64; 2]) -> BTreeMap<UnitFace, [u8; 4]> {
    let mut faces = BTreeMap::new();
    for (triangle, texels) in glb.triangles.iter().zip(&glb.texels) {
        let cross = triangle.cross();
        let axis = (0..3).find(|axis| cross[*axis] != 0.0).unwrap();
        let [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
        let corners = triangle.corners.map(|at| [f64::from(at[u]), f64::from(at[v])]);
        let range = |along: usize| {
            let ends = corners.map(|at| at[along] as i32);
            ends.into_iter().min().unwrap()..ends.into_iter().max().unwrap()
        };
        for (i, j) in range(0).flat_map(|i| range(1).map(move |j| (i, j))) {
            let at = [f64::from(i) + point[0], f64::from(j) + point[1]];
            let turn = |a: [f64; 2], b: [f64; 2]| {
                (a[0] - at[0]) * (b[1] - at[1]) - (a[1] - at[1]) * (b[0] - at[0])
            };
            let [a, b, c] = corners;
            let weights = [turn(b, c), turn(c, a), turn(a, b)].map(|it| it / cross[axis]);
            if weights.iter().any(|weight| *weight < 0.0) {
                continue;
            }
            let uv = [0, 1].map(|axis| {
                let sum = weights.iter().zip(texels).map(|(w, uv)| w * f64::from(uv[axis]));
                sum.sum::<f64>() as f32
            });
            let is_positive = cross[axis] > 0.0;
            let mut voxel = [0; 3];
            voxel[axis] = triangle.corners[0][axis] as i32 - i32::from(is_positive);
            (voxel[u], voxel[v]) = (i, j);
            let face = Face::ALL[axis + 3 * usize::from(is_positive)];
            let old = faces.insert((voxel, face.index()), glb.image.at(uv));
            assert_eq!(old, None, "two triangles on one face");
        }
    }
    faces
}

#[test]
fn every_unit_face_is_covered_once_by_its_colour() {
    for seed in 20..23 {
        let world = blocks(seed, &ALL);
        let expected = unit_faces(&world);
        for colors in [FaceColors::Palette, FaceColors::Baked] {
            let mut options = of(ExportFormat::Glb);
            options.colors = colors;
            let glb = of_glb(&export("export-unit", &world, &options).0);
            assert!(rasterised(&glb) == expected, "{colors:?} {seed}");
        }
    }
}

/// Colours go into the texture, and faces merge over them.
#[test]
fn a_baked_box_of_many_colours_is_twelve_triangles() {
    let mut random = Random::new(5);
    let mut table = MaterialTable::new();
    for n in 0..200 {
        table.insert("", [n, 255 - n, 7, 255]).unwrap();
    }
    let mut world = World::new("box", table);
    for voxel in 0..10 * 8 * 6 {
        let at = VoxelPos::new(5 + voxel % 10, 9 + voxel / 10 % 8, -20 + voxel / 80);
        world.set(at, Material(1 + random.below(200) as u16));
    }
    let mut options = of(ExportFormat::Glb);
    assert!(export("export-baked", &world, &options).1.triangles > 500);
    options.colors = FaceColors::Baked;
    let (bytes, summary) = export("export-baked", &world, &options);
    assert_eq!((summary.triangles, summary.vertices), (12, 24));
    assert!(rasterised(&of_glb(&bytes)) == unit_faces(&world));
}

/// Rounding at the edges of faces never selects a texel of another face.
#[test]
fn colours_at_the_edges_of_baked_faces_are_those_of_the_face() {
    const NEAR: f64 = 1e-9;
    let mut table = MaterialTable::new();
    for n in 0..480_u16 {
        table.insert("", [(n % 200) as u8, (n / 200) as u8, 7, 255]).unwrap();
    }
    let mut world = World::new("box", table);
    for voxel in 0..10 * 8 * 6 {
        let at = VoxelPos::new(5 + voxel % 10, 9 + voxel / 10 % 8, 3 + voxel / 80);
        world.set(at, Material(1 + voxel as u16));
    }
    let mut options = of(ExportFormat::Glb);
    options.colors = FaceColors::Baked;
    let glb = of_glb(&export("export-edges", &world, &options).0);
    let expected = unit_faces(&world);
    for point in [NEAR, 1.0 - NEAR].into_iter().flat_map(|c| [[c, 0.3187], [0.3187, c]]) {
        let found = sampled(&glb, point);
        assert!(found.keys().eq(expected.keys()), "{point:?}");
        for ((voxel, face), color) in found {
            // The vertices are inset, so that the texel beside it may be selected.
            let is_near = |(other, direction): &UnitFace| {
                *direction == face && (0..3).all(|axis| voxel[axis].abs_diff(other[axis]) <= 1)
            };
            let mut near = expected.iter().filter(|(at, _)| is_near(at));
            assert!(near.any(|(_, it)| *it == color), "{point:?} {voxel:?} {face} {color:?}");
        }
    }
}

#[test]
fn a_box_cuts_the_voxels_outside() {
    let world = blocks(7, &OPAQUE);
    let bounds = VoxelBox { min: VoxelPos::new(-9, -33, -1), max: VoxelPos::new(17, 5, 12) };
    let mut inside = World::new("inside", materials());
    for x in bounds.min.x..bounds.max.x {
        for y in bounds.min.y..bounds.max.y {
            for z in bounds.min.z..bounds.max.z {
                inside.set(VoxelPos::new(x, y, z), world.get(VoxelPos::new(x, y, z)));
            }
        }
    }
    assert!(inside.solid_count() > 100);
    let path = path("export-cut", "glb");
    let voxels = |bounds| ExportVoxels { bounds, ..ExportVoxels::of_source(&world) };
    let mut go_on = |_| ControlFlow::Continue(());
    export_voxels(voxels(Some(bounds)), &path, &of(ExportFormat::Glb), &mut go_on).unwrap();
    let glb = of_glb(&std::fs::read(&path).unwrap());
    assert!(rasterised(&glb) == unit_faces(&inside));
    assert_eq!(open_edges(&glb.triangles), 0);

    let nothing = voxels(Some(VoxelBox { min: bounds.max, max: bounds.min }));
    let error = export_voxels(nothing, &path, &of(ExportFormat::Glb), &mut go_on).unwrap_err();
    assert!(matches!(error, SourceError::Empty { .. }), "{error}");
}

#[test]
fn progress_is_reported_and_can_stop_the_export() {
    let world = blocks(8, &OPAQUE);
    let voxels = || ExportVoxels::of_source(&world);
    for format in ExportFormat::ALL {
        let path = path("export-stopped", format.extension());
        let mut calls = Vec::new();
        let mut options = of(format);
        // One chunk at a time.
        options.memory_bytes = 0;
        let mut all = |progress| {
            calls.push(progress);
            ControlFlow::Continue(())
        };
        export_voxels(voxels(), &path, &options, &mut all).unwrap();
        // While the file is completed, the last number is repeated.
        calls.dedup();
        assert_eq!(calls.len(), world.chunk_count());
        assert!(calls.last().is_some_and(|last| last.done == last.total));
        let mut count = 0;
        let mut stop = |_| {
            count += 1;
            if count == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let error = export_voxels(voxels(), &path, &options, &mut stop).unwrap_err();
        assert!(matches!(error, SourceError::Stopped { .. }) && count == 2, "{error}");
    }
}

/// The call after the last step stops the export while data are copied.
#[test]
fn the_completion_of_a_file_can_be_stopped() {
    let world = blocks(8, &OPAQUE);
    for format in [ExportFormat::Ply, ExportFormat::Glb] {
        let path = path("export-stopped-late", format.extension());
        let mut count = 0;
        let mut stop = |progress: ExportProgress| {
            count += usize::from(progress.done == progress.total);
            if count == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let voxels = ExportVoxels::of_source(&world);
        let error = export_voxels(voxels, &path, &of(format), &mut stop).unwrap_err();
        assert!(matches!(error, SourceError::Stopped { .. }) && count == 2, "{error}");
    }
}

/// A part of a model may have more triangles than are in memory at once.
#[test]
fn large_parts_are_one_object_in_pieces() {
    const SIDE: usize = 200;
    let mut text = String::from("o field\n");
    for at in 0..(SIDE + 1) * (SIDE + 1) {
        text += &format!("v {} 0 {}\n", at % (SIDE + 1), at / (SIDE + 1));
    }
    for (x, z) in (0..SIDE).flat_map(|z| (0..SIDE).map(move |x| (x, z))) {
        let [a, b] = [1 + x + (SIDE + 1) * z, 1 + x + (SIDE + 1) * (z + 1)];
        text += &format!("f {a} {b} {} {}\n", b + 1, a + 1);
    }
    let options = ModelOptions::default();
    let model = Model::parse_obj(text.as_bytes(), "m.obj", &options, &mut beside(&[])).unwrap();
    let path = |format: ExportFormat| path("export-pieces", format.extension());
    let calls = Cell::new(0);
    let mut each = |_| {
        calls.set(calls.get() + 1);
        ControlFlow::Continue(())
    };
    let file = path(ExportFormat::Obj);
    let summary = export_model(&model, &file, &of(ExportFormat::Obj), &mut each).unwrap();
    assert_eq!(summary.triangles, 80_000);
    assert!(calls.get() >= 3, "two pieces and a part: {calls:?}");
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text.lines().filter(|line| line.starts_with("o ")).count(), 1);
    let file = path(ExportFormat::Glb);
    export_model(&model, &file, &of(ExportFormat::Glb), &mut each).unwrap();
    let glb = of_glb(&std::fs::read(&file).unwrap());
    assert_eq!((glb.document.nodes().count(), glb.document.meshes().count()), (1, 1));
    assert_eq!(areas(&glb.triangles).into_values().sum::<i64>(), 40_000);
}

/// A device that is always full.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    let world = blocks(8, &OPAQUE);
    let voxels = || ExportVoxels::of_source(&world);
    for format in [ExportFormat::Stl, ExportFormat::Obj, ExportFormat::Vox] {
        let mut go_on = |_| ControlFlow::Continue(());
        let full = export_voxels(voxels(), "/dev/full".as_ref(), &of(format), &mut go_on);
        let error = full.unwrap_err();
        assert!(matches!(error, SourceError::Unwritable { .. }), "{error}");
        assert!(error.to_string().starts_with("/dev/full: cannot be written"), "{error}");
    }
}

/// Triangles of a model: areas by material are those of the file.
#[test]
fn models_keep_their_triangles_and_materials() {
    let text = "mtllib m.mtl\no a\nv 0 0 0\nv 4 0 0\nv 4 2 0\nv 0 2 0\nv 2 5 0\nv 1 1 3\n\
                usemtl red\nf 1 2 3 4\nusemtl glass\nf 4 3 5\nusemtl red\nf 1 6 2\n";
    let mtl = b"newmtl red\nKd 1 0 0\nnewmtl glass\nKd 0 0 1\nd 0.2\n";
    let options = ModelOptions::default();
    let files: Files = &[("m.mtl", mtl)];
    let mut files = beside(files);
    let model = Model::parse_obj(text.as_bytes(), "m.obj", &options, &mut files).unwrap();
    let bits = |triangle: &Triangle| (triangle.color, (1e3 * triangle.area()).round() as i64);
    let mut expected = vec![
        ([255, 0, 0, 255], 4_000),
        ([255, 0, 0, 255], 4_000),
        ([0, 0, 255, 51], 6_000),
        ([255, 0, 0, 255], 6_325),
    ];
    expected.sort_unstable();
    for format in [ExportFormat::Stl, ExportFormat::Ply, ExportFormat::Obj, ExportFormat::Glb] {
        let path = path("export-model", format.extension());
        let mut go_on = |_| ControlFlow::Continue(());
        let summary = export_model(&model, &path, &of(format), &mut go_on).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let read = match format {
            ExportFormat::Stl => of_stl(&bytes),
            ExportFormat::Ply => of_ply(&bytes),
            ExportFormat::Obj => of_obj(&bytes, &summary.material_text.unwrap(), "materials.mtl"),
            _ => {
                let glb = of_glb(&bytes);
                // Surfaces of models may be open.
                assert!(glb.document.materials().all(|it| it.double_sided()));
                glb.triangles
            }
        };
        let mut found: Vec<_> = read.iter().map(bits).collect();
        found.sort_unstable();
        let colorless = expected.iter().map(|(_, area)| ([0; 4], *area));
        let mut expected = expected.clone();
        if format == ExportFormat::Stl {
            expected = colorless.collect();
            expected.sort_unstable();
        }
        assert_eq!(found, expected, "{format:?}");
    }
    let path = path("export-model", "vox");
    let vox = export_model(&model, &path, &of(ExportFormat::Vox), &mut |_| ControlFlow::Break(()));
    assert!(matches!(vox, Err(SourceError::IsModel { .. })));
}
