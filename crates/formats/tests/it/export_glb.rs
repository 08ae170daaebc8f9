//! Details of exported `.glb` files.

use std::ops::ControlFlow;

use drystone_formats::{
    ExportFormat, ExportSummary, ExportVoxels, FaceColors, Model, SourceError, UpAxis,
    export_model, export_voxels,
};
use drystone_testing::Random;
use drystone_voxel::{Material, MaterialTable, VoxelPos};

use crate::export_helpers::*;
use crate::export_meshes::rasterised;
use crate::model_helpers::obj;
use crate::world::World;

const ALL: [Material; 4] = [STONE, GRASS, GLASS, WATER];

fn export_of(model: &Model, test: &str, format: ExportFormat) -> (Vec<u8>, ExportSummary) {
    let path = path(test, format.extension());
    let mut options = of(format);
    options.up = UpAxis::Z;
    let mut go_on = |_| ControlFlow::Continue(());
    let summary = export_model(model, &path, &options, &mut go_on).unwrap();
    (std::fs::read(path).unwrap(), summary)
}

/// Readers use the bounds of a mesh without reading its vertices.
#[test]
fn the_bounds_of_each_mesh_are_those_of_its_vertices() {
    let world = blocks(4, &ALL);
    let glb = of_glb(&export("glb-bounds", &world, &of(ExportFormat::Glb)).0);
    let blob = glb.document.blob.as_ref().unwrap();
    for mesh in glb.document.meshes() {
        let primitive = mesh.primitives().next().unwrap();
        let positions: Vec<_> =
            primitive.reader(|_| Some(blob)).read_positions().unwrap().collect();
        let bound = |of: fn(f32, f32) -> f32| {
            let merge = |a: [f32; 3], b: &[f32; 3]| [0, 1, 2].map(|axis| of(a[axis], b[axis]));
            positions.iter().fold(positions[0], merge)
        };
        let bounds = primitive.bounding_box();
        assert_eq!((bounds.min, bounds.max), (bound(f32::min), bound(f32::max)));
    }
}

/// Colours are not mixed at the borders of texels.
#[test]
fn textures_are_sampled_by_the_nearest_texel() {
    use gltf::texture::{MagFilter, MinFilter};
    let glb = of_glb(&export("glb-sampler", &blocks(4, &ALL), &of(ExportFormat::Glb)).0);
    let samplers: Vec<_> = glb.document.samplers().collect();
    assert_eq!(samplers.len(), 1);
    assert_eq!(samplers[0].mag_filter(), Some(MagFilter::Nearest));
    assert_eq!(samplers[0].min_filter(), Some(MinFilter::Nearest));
}

/// Names with characters that end a string or a line.
#[test]
fn names_of_nodes_are_valid_json() {
    let text = "o a\"b\\c\u{7}d\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\no e\nf 1 3 2\n";
    let (bytes, _) = export_of(&obj(text, &[]), "glb-names", ExportFormat::Glb);
    let glb = of_glb(&bytes);
    let names: Vec<_> = glb.document.nodes().map(|it| it.name().unwrap().to_owned()).collect();
    assert_eq!(names, ["a\"b\\cd", "e"]);
}

/// Corners keep the normals of the model, turned like its positions.
#[test]
fn normals_of_models_are_kept() {
    let text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nvn 1 0 0\nvn 0 1 0\nvn 0 0 1\n\
                f 1//1 2//2 3//3\nf 3//3 2//1 4//2\n";
    let (bytes, _) = export_of(&obj(text, &[]), "glb-normals", ExportFormat::Glb);
    let document = gltf::Gltf::from_slice(&bytes).unwrap();
    let primitive = document.meshes().next().unwrap().primitives().next().unwrap();
    let reader = primitive.reader(|_| document.blob.as_deref());
    let [positions, normals]: [Vec<_>; 2] =
        [reader.read_positions().unwrap().collect(), reader.read_normals().unwrap().collect()];
    let indices = reader.read_indices().unwrap().into_u32().map(|it| it as usize);
    let corners: Vec<_> = indices.map(|it| (positions[it], normals[it])).collect();
    // (x, y, z) becomes (x, −z, y).
    let [x, y, z] = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]];
    let mut turned: Vec<_> = corners.iter().map(|(_, normal)| *normal).collect();
    turned[3..].sort_by(|a, b| b.partial_cmp(a).unwrap());
    assert_eq!(turned, [x, y, z, x, y, z]);
    // Corner 2 has two normals, so that it is two vertices; corner 3 is one.
    assert_eq!(positions.len(), 5);
}

/// Only opaque materials are merged, with any order of materials in the table.
#[test]
fn a_translucent_first_material_is_not_baked() {
    let mut table = MaterialTable::new();
    for color in [[9, 9, 250, 90], [200, 3, 3, 255], [3, 200, 3, 255]] {
        table.insert("", color).unwrap();
    }
    let mut world = World::new("first", table);
    let mut random = Random::new(6);
    for voxel in 0..6 * 6 * 6 {
        let at = VoxelPos::new(voxel % 6, voxel / 6 % 6, voxel / 36);
        world.set(at, Material(1 + random.below(3_u16)));
    }
    let mut options = of(ExportFormat::Glb);
    options.colors = FaceColors::Baked;
    let (bytes, _) = export("glb-first", &world, &options);
    assert!(rasterised(&of_glb(&bytes)) == unit_faces(&world));
}

/// A baked texture is limited by the memory of the options.
#[test]
fn a_baked_texture_beyond_the_memory_is_an_error() {
    let mut table = MaterialTable::new();
    (0..200).for_each(|n| assert!(table.insert("", [n, 255 - n, 7, 255]).is_some()));
    let mut world = World::new("colours", table);
    for (x, z) in (0..30).flat_map(|x| (0..30).map(move |z| (x, z))) {
        world.set(VoxelPos::new(x, 0, z), Material(1 + ((x * 7 + z * 11) % 200) as u16));
    }
    let mut options = of(ExportFormat::Glb);
    options.colors = FaceColors::Baked;
    options.memory_bytes = 16 << 10;
    let path = path("glb-memory", "glb");
    let voxels = ExportVoxels::of_source(&world);
    let mut go_on = |_| ControlFlow::Continue(());
    let error = export_voxels(voxels, &path, &options, &mut go_on).unwrap_err();
    let is_full = matches!(error, SourceError::TooLarge { unit: "rows of the texture", .. });
    assert!(is_full, "{error}");
}
