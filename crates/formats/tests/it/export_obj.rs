//! Exported `.obj` files, read back by this crate and by `tobj`.

use std::ops::ControlFlow;

use drystone_formats::{ExportFormat, Model, ModelOptions, UpAxis, export_model};
use drystone_voxel::{Material, MaterialTable, VoxelPos};

use crate::export_helpers::*;
use crate::model_helpers::beside;
use crate::world::World;

const ALL: [Material; 4] = [STONE, GRASS, GLASS, WATER];

/// Our own importer reads the same areas by material.
#[test]
fn obj_is_read_by_this_crate_too() {
    let world = blocks(9, &ALL);
    let (bytes, summary) = export("export-own", &world, &of(ExportFormat::Obj));
    let text = summary.material_text.unwrap();
    let files = [("materials.mtl", text.as_bytes())];
    let mut files = beside(&files);
    let model = Model::parse_obj(&bytes, "a.obj", &ModelOptions::default(), &mut files).unwrap();
    assert_eq!(model.warnings.iter().count(), 0);
    let path = path("export-own", "ply");
    let mut go_on = |_| ControlFlow::Continue(());
    export_model(&model, &path, &of(ExportFormat::Ply), &mut go_on).unwrap();
    assert_eq!(areas(&of_ply(&std::fs::read(path).unwrap())), expected_areas(&world));
    // The normals that were read are those of the faces: `of_glb` compares them.
    let polygons = model.parts.iter().flat_map(|part| &part.polygons);
    for corner in polygons.flat_map(|&it| model.polygons.corners(it).unwrap()) {
        assert!(corner.data().normal().is_some());
    }
    let path = self::path("export-own", "glb");
    export_model(&model, &path, &of(ExportFormat::Glb), &mut go_on).unwrap();
    assert_eq!(areas(&of_glb(&std::fs::read(path).unwrap()).triangles), expected_areas(&world));
}

/// Readers that smooth faces of shared vertices show flat ones.
#[test]
fn each_voxel_face_of_an_obj_file_has_one_of_six_normals() {
    let world = blocks(9, &ALL);
    for up in [UpAxis::Y, UpAxis::Z] {
        let mut options = of(ExportFormat::Obj);
        (options.up, options.scale) = (up, 0.25);
        let (bytes, summary) = export("export-normals", &world, &options);
        let text = String::from_utf8(bytes.clone()).unwrap();
        assert_eq!(text.lines().filter(|line| line.starts_with("vn ")).count(), 6);
        for line in text.lines().filter(|line| line.starts_with("f ")) {
            assert!(line.split(' ').skip(1).all(|corner| corner.contains("//")), "{line}");
        }
        // `of_obj` compares each normal with the triangle's.
        let read = of_obj(&bytes, &summary.material_text.unwrap(), "materials.mtl");
        assert_eq!(read.len() as u64, summary.triangles);
    }
}

/// Materials and the material file have names that every reader takes, and none twice.
#[test]
fn names_of_materials_are_single_words_and_differ() {
    let mut table = MaterialTable::new();
    for n in 0..3 {
        table.insert("two words\n", [n, 1, 2, 255]).unwrap();
    }
    let mut world = World::new("names", table);
    for n in 0..3 {
        world.set(VoxelPos::new(i32::from(n), 0, 0), Material(n + 1));
    }
    let mut options = of(ExportFormat::Obj);
    options.material_file = "a\nb.mtl".into();
    let (bytes, summary) = export("export-obj-names", &world, &options);
    let text = String::from_utf8(bytes.clone()).unwrap();
    assert_eq!(text.lines().nth(1), Some("mtllib a_b.mtl"));
    for line in text.lines().filter(|line| line.starts_with("usemtl")) {
        assert_eq!(line.split_whitespace().count(), 2, "{line}");
    }
    let read = of_obj(&bytes, &summary.material_text.unwrap(), "a_b.mtl");
    assert_eq!(areas(&read), expected_areas(&world));
}
