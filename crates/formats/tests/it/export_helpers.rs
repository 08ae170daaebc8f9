//! Worlds to export, and exported files as other crates read them.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::path::PathBuf;

use drystone_formats::{ExportFormat, ExportOptions, ExportSummary, ExportVoxels, export_voxels};
use drystone_mesh::Face;
use drystone_testing::Random;
use drystone_voxel::{Material, MaterialKind, MaterialTable, VoxelPos, face_is_visible};

use crate::world::World;

/// A triangle of an exported file.
#[derive(Clone, Debug)]
pub(crate) struct Triangle {
    pub(crate) corners: [[f32; 3]; 3],
    /// Red, green, blue and opacity. All 0 if the format has no colours.
    pub(crate) color: [u8; 4],
}

impl Triangle {
    /// Twice the area, along the normal.
    pub(crate) fn cross(&self) -> [f64; 3] {
        let [a, b, c] = self.corners.map(|corner| corner.map(f64::from));
        let [u, v] = [b, c].map(|end| [0, 1, 2].map(|axis| end[axis] - a[axis]));
        [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
    }

    pub(crate) fn area(&self) -> f64 {
        self.cross().iter().map(|c| c * c).sum::<f64>().sqrt() / 2.0
    }
}

/// Returns a path in the folder of this test.
pub(crate) fn path(test: &str, extension: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(format!("out.{extension}"))
}

/// Exports a world with these options. Returns the bytes of the file.
pub(crate) fn export(
    test: &str,
    world: &World,
    options: &ExportOptions,
) -> (Vec<u8>, ExportSummary) {
    let path = path(test, options.format.extension());
    let voxels = ExportVoxels::of_source(world);
    let mut go_on = |_| ControlFlow::Continue(());
    let summary = export_voxels(voxels, &path, options, &mut go_on).unwrap();
    let files = std::fs::read_dir(path.parent().unwrap()).unwrap().count();
    assert_eq!(files, 1, "temporary files are left");
    (std::fs::read(path).unwrap(), summary)
}

pub(crate) const STONE: Material = Material(1);
pub(crate) const GRASS: Material = Material(2);
pub(crate) const GLASS: Material = Material(3);
pub(crate) const WATER: Material = Material(4);
/// Material with face colours and emission.
pub(crate) const LAMP: Material = Material(5);
pub(crate) const POOL: Material = Material(6);

pub(crate) fn materials() -> MaterialTable {
    let mut table = MaterialTable::new();
    table.insert("dark stone", [120, 110, 100, 255]).unwrap();
    table.insert("grass", [20, 160, 30, 255]).unwrap();
    table.insert("glass", [200, 220, 255, 90]).unwrap();
    table.insert("water", [20, 60, 200, 140]).unwrap();
    let faces = [[9, 8, 7], [20, 60, 200], [9, 8, 7], [90, 80, 70], [50, 40, 0], [1, 2, 3]];
    let lamp = MaterialKind::new("lamp", [20, 60, 200, 255]).with_faces(faces).with_emission(51);
    table.insert_kind(lamp).unwrap();
    let pool = MaterialKind::new("pool", [20, 60, 200, 140]).with_faces(faces);
    table.insert_kind(pool).unwrap();
    table
}

/// Blocks over the borders of chunks, and single voxels around them. Equal seeds give equal worlds.
pub(crate) fn blocks(seed: u64, materials_used: &[Material]) -> World {
    let mut random = Random::new(seed);
    let mut world = World::new("blocks", materials());
    let mut below = |end: usize| random.below(end) as i32;
    for _ in 0..12 {
        let [x, y, z] = [(); 3].map(|()| below(50) - 25);
        let [width, height, depth] = [(); 3].map(|()| 1 + below(20));
        let material = materials_used[below(materials_used.len()) as usize];
        for voxel in 0..width * height * depth {
            let [i, j, k] = [voxel % width, voxel / width % height, voxel / width / height];
            world.set(VoxelPos::new(x + i, y + j, z + k), material);
        }
    }
    for _ in 0..300 {
        let [x, y, z] = [(); 3].map(|()| below(60) - 30);
        world.set(VoxelPos::new(x, y, z), materials_used[below(materials_used.len()) as usize]);
    }
    world
}

/// A visible face of one voxel: the voxel and the direction.
pub(crate) type UnitFace = ([i32; 3], usize);

/// Returns the visible faces of all voxels with their colours, found voxel by voxel.
pub(crate) fn unit_faces(world: &World) -> BTreeMap<UnitFace, [u8; 4]> {
    let mut faces = BTreeMap::new();
    for (at, material) in world.voxels() {
        let at = at.to_array();
        for face in Face::ALL {
            let [x, y, z] = [0, 1, 2].map(|axis| at[axis] + face.normal()[axis]);
            let beyond = world.get(VoxelPos::new(x, y, z));
            if face_is_visible(material, beyond, world.materials()) {
                let color = world.materials().get(material).unwrap().face_color(face);
                faces.insert((at, face.index()), color);
            }
        }
    }
    faces
}

/// Returns the area of each colour, rounded.
pub(crate) fn areas(triangles: &[Triangle]) -> BTreeMap<[u8; 4], i64> {
    let mut areas = BTreeMap::new();
    for triangle in triangles {
        *areas.entry(triangle.color).or_insert(0.0) += triangle.area();
    }
    areas.into_iter().map(|(color, area): (_, f64)| (color, area.round() as i64)).collect()
}

/// Returns the area of each colour, face by face.
pub(crate) fn expected_areas(world: &World) -> BTreeMap<[u8; 4], i64> {
    let mut areas = BTreeMap::new();
    unit_faces(world).into_values().for_each(|color| *areas.entry(color).or_insert(0) += 1);
    areas
}

/// Volume inside a closed surface; positive if fronts point outwards.
pub(crate) fn volume(triangles: &[Triangle]) -> f64 {
    let one = |it: &Triangle| {
        let cross = it.cross();
        let corner = it.corners[0].map(f64::from);
        (0..3).map(|axis| corner[axis] * cross[axis]).sum::<f64>() / 6.0
    };
    triangles.iter().map(one).sum()
}

/// Number of edges that are not used equally often in both directions. Zero for a closed surface.
pub(crate) fn open_edges(triangles: &[Triangle]) -> usize {
    let mut balance: HashMap<[[u32; 3]; 2], i32> = HashMap::new();
    for triangle in triangles {
        for corner in 0..3 {
            let ends = [corner, (corner + 1) % 3];
            // Adding 0 turns -0 into 0.
            let [a, b] = ends.map(|end| triangle.corners[end].map(|c| (c + 0.0).to_bits()));
            assert_ne!(a, b, "a triangle without area");
            *balance.entry(if a < b { [a, b] } else { [b, a] }).or_default() +=
                if a < b { 1 } else { -1 };
        }
    }
    balance.values().filter(|balance| **balance != 0).count()
}

pub(crate) fn of_stl(bytes: &[u8]) -> Vec<Triangle> {
    stl_io::create_stl_reader(&mut std::io::Cursor::new(bytes))
        .unwrap()
        .map(|triangle| {
            let triangle = triangle.unwrap();
            let made = Triangle { corners: triangle.vertices.map(|v| v.0), color: [0; 4] };
            let length = 2.0 * made.area();
            let cross = made.cross();
            (0..3).for_each(|axis| {
                assert!((cross[axis] / length - f64::from(triangle.normal.0[axis])).abs() < 1e-6);
            });
            made
        })
        .collect()
}

pub(crate) fn of_ply(bytes: &[u8]) -> Vec<Triangle> {
    use ply_rs_bw::ply::{DefaultElement, Property};
    let parser = ply_rs_bw::parser::Parser::<DefaultElement>::new();
    let ply = parser.read_ply(&mut std::io::Cursor::new(bytes)).unwrap();
    let vertex = |index: u32| {
        let vertex = &ply.payload["vertex"][index as usize];
        let position = ["x", "y", "z"].map(|name| match vertex[name] {
            Property::Float(number) => number,
            _ => panic!("{name}"),
        });
        let color = ["red", "green", "blue", "alpha"].map(|name| match vertex[name] {
            Property::UChar(number) => number,
            _ => panic!("{name}"),
        });
        (position, color)
    };
    let mut triangles = Vec::new();
    for face in &ply.payload["face"] {
        let Property::ListUInt(corners) = &face["vertex_indices"] else { panic!("no list") };
        // Some readers refuse faces of different lengths.
        let corners = <[u32; 3]>::try_from(corners.as_slice()).unwrap();
        let [a, b, c] = corners.map(vertex);
        assert!(a.1 == b.1 && b.1 == c.1, "a face has one colour");
        triangles.push(Triangle { corners: [a.0, b.0, c.0], color: a.1 });
    }
    triangles
}

/// Reads an `.obj` file by `tobj`. `materials` is the text of its material file. If the file has
/// normals, those of a triangle are its own.
pub(crate) fn of_obj(bytes: &[u8], materials: &str, name: &str) -> Vec<Triangle> {
    let options = tobj::LoadOptions { triangulate: true, ..tobj::LoadOptions::default() };
    let (models, materials) = tobj::load_obj_buf(&mut &bytes[..], &options, |path| {
        assert_eq!(path.to_str(), Some(name));
        tobj::load_mtl_buf(&mut materials.as_bytes())
    })
    .unwrap();
    let materials = materials.unwrap();
    let mut triangles = Vec::new();
    for model in models {
        let material = &materials[model.mesh.material_id.unwrap()];
        let [red, green, blue] = material.diffuse.unwrap();
        let numbers = [red, green, blue, material.dissolve.unwrap()];
        let color = numbers.map(|number| (number * 255.0).round() as u8);
        let of = |numbers: &[f32], index: u32| [0, 1, 2].map(|c| numbers[3 * index as usize + c]);
        for (number, corners) in model.mesh.indices.as_chunks::<3>().0.iter().enumerate() {
            let made = Triangle { corners: corners.map(|at| of(&model.mesh.positions, at)), color };
            if !model.mesh.normals.is_empty() {
                let length = 2.0 * made.area();
                let unit = made.cross().map(|c| (c / length) as f32);
                for index in &model.mesh.normal_indices[3 * number..][..3] {
                    assert_eq!(of(&model.mesh.normals, *index), unit, "a normal of a face");
                }
            }
            triangles.push(made);
        }
    }
    triangles
}

/// A `.glb` file as `gltf` reads and validates it.
pub(crate) struct Glb {
    pub(crate) document: gltf::Gltf,
    pub(crate) triangles: Vec<Triangle>,
    /// Colours of the texture by the texture coordinates of each triangle's corners.
    pub(crate) texels: Vec<[[f32; 2]; 3]>,
    pub(crate) image: Image,
}

/// A texture.
pub(crate) struct Image {
    pub(crate) size: [u32; 2],
    texels: Vec<u8>,
}

impl Image {
    fn parse(png: &[u8]) -> Self {
        let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
        let mut texels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut texels).unwrap();
        Self { size: [info.width, info.height], texels }
    }

    /// Returns the nearest texel.
    pub(crate) fn at(&self, [u, v]: [f32; 2]) -> [u8; 4] {
        let [x, y] = [(u, 0), (v, 1)]
            .map(|(c, axis)| (f64::from(c) * f64::from(self.size[axis])).floor() as usize);
        let at = 4 * (x + y * self.size[0] as usize);
        [0, 1, 2, 3].map(|channel| self.texels[at + channel])
    }
}

/// Reads a `.glb` file. The colour of a triangle is that of the texture in its middle.
pub(crate) fn of_glb(bytes: &[u8]) -> Glb {
    let document = gltf::Gltf::from_slice(bytes).unwrap();
    let json_len = u32::from_le_bytes(*bytes[12..].first_chunk().unwrap());
    assert!(json_len.is_multiple_of(4) && bytes.len().is_multiple_of(4), "chunks are aligned");
    let blob = document.blob.clone().unwrap();
    let image = document.images().next().unwrap();
    let gltf::image::Source::View { view, mime_type } = image.source() else { panic!("a file") };
    assert_eq!(mime_type, "image/png");
    let image = Image::parse(&blob[view.offset()..][..view.length()]);
    let (mut triangles, mut texels) = (Vec::new(), Vec::new());
    let meshes = document.default_scene().unwrap().nodes().map(|node| node.mesh().unwrap());
    for primitive in meshes.flat_map(|mesh| mesh.primitives().collect::<Vec<_>>()) {
        let reader = primitive.reader(|_| Some(&blob));
        let positions: Vec<_> = reader.read_positions().unwrap().collect();
        let normals: Vec<_> = reader.read_normals().unwrap().collect();
        let uvs: Vec<_> = reader.read_tex_coords(0).unwrap().into_f32().collect();
        let indices: Vec<_> = reader.read_indices().unwrap().into_u32().collect();
        let is_blended = primitive.material().alpha_mode() == gltf::material::AlphaMode::Blend;
        for corners in indices.as_chunks::<3>().0.iter().map(|it| it.map(|at| at as usize)) {
            let coordinates = corners.map(|at| uvs[at]);
            let middle =
                [0, 1].map(|axis| coordinates.iter().map(|uv| uv[axis]).sum::<f32>() / 3.0);
            let color = image.at(middle);
            assert_eq!(color[3] < 255, is_blended, "the material of {color:?}");
            let made = Triangle { corners: corners.map(|at| positions[at]), color };
            let length = 2.0 * made.area();
            for at in corners {
                let along = made.cross().into_iter().zip(normals[at]);
                let cosine = along.map(|(a, b)| a / length * f64::from(b)).sum::<f64>();
                assert!((cosine - 1.0).abs() < 1e-6, "a normal of a face");
            }
            triangles.push(made);
            texels.push(coordinates);
        }
    }
    Glb { document, triangles, texels, image }
}

/// Options of a format.
pub(crate) fn of(format: ExportFormat) -> ExportOptions {
    ExportOptions::new(format)
}
