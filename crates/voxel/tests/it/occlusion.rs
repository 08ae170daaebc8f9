use std::collections::BTreeMap;

use drystone_mesh::{Face, Quad};
use drystone_voxel::{
    Chunk, ChunkMesh, GreedyMesher, Material, MaterialTable, Merging, MesherOptions, PaddedChunk,
    mesh_skirt, mesh_unit_shaded,
};

use crate::rasterised::Rasterised;
use crate::scenes::{boxes, padded, random, table};

/// Returns the ambient occlusion of each unit face, by face direction and voxel.
fn occlusions(mesh: &ChunkMesh) -> BTreeMap<(Face, [u32; 3]), u8> {
    let mut occlusions = BTreeMap::new();
    for (quad, _) in mesh.iter() {
        let face = quad.face().unwrap();
        let [width, height] = quad.size();
        check_edges(quad, face);
        for (u, v) in (0..width).flat_map(|u| (0..height).map(move |v| (u, v))) {
            let mut voxel = quad.position();
            voxel[face.span_axes()[0]] += u;
            voxel[face.span_axes()[1]] += v;
            occlusions.insert((face, voxel), quad.ambient_occlusion());
        }
    }
    occlusions
}

/// Checks that each quad edge longer than one face has a constant value.
fn check_edges(quad: Quad, face: Face) {
    let occlusion = |corner: u32| quad.ambient_occlusion() >> (2 * corner) & 3;
    let position = |corner: u32| quad.corner(corner);
    for (axis, length) in face.span_axes().into_iter().zip(quad.size()) {
        for (a, b) in [(0, 1), (0, 2), (1, 3), (2, 3)] {
            if length > 1 && position(a)[axis] != position(b)[axis] {
                assert_eq!(occlusion(a), occlusion(b), "{quad:?} {:08b}", quad.ambient_occlusion());
            }
        }
    }
}

fn check(chunk: &PaddedChunk, table: &MaterialTable, merging: Merging) -> ChunkMesh {
    let (mut mesh, mut expected) = (ChunkMesh::new(), ChunkMesh::new());
    let options = MesherOptions::default().with_merging(merging).with_ambient_occlusion();
    GreedyMesher::with_options(options).mesh(chunk, table, &mut mesh);
    mesh_unit_shaded(chunk, table, &mut expected);
    let side = chunk.side();
    let difference = Rasterised::new(&mesh, side).difference(&Rasterised::new(&expected, side));
    assert_eq!(difference, None, "side {side}");
    let (actual, expected) = (occlusions(&mesh), occlusions(&expected));
    for (position, expected) in expected {
        assert_eq!(actual[&position], expected, "side {side}, {position:?}");
    }
    mesh
}

#[test]
fn merged_faces_have_the_occlusion_of_unit_faces_at_every_side() {
    for side in (1..=17).chain([31, 32, 33, 61, 62, 63, 64]) {
        for translucent in [0, 0b1010, 0b1010 | 1 << 9, 1 << 10 | 1 << 12] {
            let table = table(translucent);
            check(&boxes(side, 14, 4, u64::from(side)), &table, Merging::Greedy);
            check(&random(side, 20, 3, u64::from(side)), &table, Merging::Greedy);
        }
    }
    check(&boxes(20, 14, 4, 7), &table(0b10), Merging::Conforming);
    check(&boxes(20, 14, 4, 7), &table(0b10), Merging::Unit);
}

#[test]
fn a_block_on_a_floor_darkens_the_floor_around_it() {
    let chunk = padded(8, |[x, y, z]| {
        let inside = (0..8).contains(&x) && (0..8).contains(&z);
        u16::from(inside && y == 0 || [x, y, z] == [3, 1, 3])
    });
    let mesh = check(&chunk, &table(0), Merging::Greedy);
    let occlusions = occlusions(&mesh);
    // Corners 1 and 3 are towards +Z, corners 2 and 3 towards +X.
    assert_eq!(occlusions[&(Face::PosY, [0, 0, 0])], 0);
    assert_eq!(occlusions[&(Face::PosY, [2, 0, 3])], 0b01_01_00_00);
    assert_eq!(occlusions[&(Face::PosY, [2, 0, 2])], 0b01_00_00_00);
    // An empty floor is a single quad.
    assert_eq!(mesh.opaque.count(Face::NegY), 1);
}

#[test]
fn neighbours_darken_a_chunk_of_one_material() {
    let mut chunk = PaddedChunk::new();
    let (solid, other) = (Chunk::new(6, Material(1)), Chunk::new(6, Material(2)));
    chunk.fill(&solid, |offset| (offset == [1, 1, 0]).then_some(&other));
    let mesh = check(&chunk, &table(0), Merging::Greedy);
    assert!(mesh.iter().any(|(quad, _)| quad.ambient_occlusion() != 0));
}

const SHADED: MesherOptions = MesherOptions::DEFAULT.with_ambient_occlusion();

/// Returns a skirt with these options.
fn skirt(
    chunk: &PaddedChunk,
    face: Face,
    options: MesherOptions,
    table: &MaterialTable,
) -> ChunkMesh {
    let mut skirt = ChunkMesh::new();
    mesh_skirt(chunk, face, options, table, &mut skirt);
    skirt
}

/// Returns a copy of a chunk whose neighbour on one side is air. Neighbours across edges and corners
/// stay.
fn opened(chunk: &PaddedChunk, face: Face) -> PaddedChunk {
    let n = chunk.side();
    let depth = if face.is_positive() { n + 1 } else { 0 };
    PaddedChunk::from_fn(n, |at| {
        let is_between = face.span_axes().into_iter().all(|axis| (1..=n).contains(&at[axis]));
        let is_neighbor = at[face.axis()] == depth && is_between;
        if is_neighbor { Material::AIR } else { chunk.get(at) }
    })
}

/// Each face of a skirt has the ambient occlusion that it has if the neighbour on that side is air.
/// The faces are those of a skirt without ambient occlusion.
#[test]
fn skirts_are_shaded_as_if_the_neighbour_were_air() {
    // Skirts, and rims of translucent voxels.
    let mut shaded_counts = [0; 2];
    for (seed, side) in (1..).zip([1, 2, 4, 8, 16, 31, 32, 33, 64]) {
        for translucent in [0, 0b1010, 0b1110, 0b1010 | 1 << 9] {
            let table = table(translucent);
            let fills = [20, 60, 95].map(|percent| random(side, percent, 4, seed));
            for chunk in fills.into_iter().chain([boxes(side, 14, 4, seed)]) {
                for face in Face::ALL {
                    let plain = skirt(&chunk, face, MesherOptions::default(), &table);
                    let shaded = skirt(&chunk, face, SHADED, &table);
                    let [left, right] = [&plain, &shaded].map(|it| Rasterised::new(it, side));
                    assert_eq!(left.difference(&right), None, "side {side}, {face:?}");
                    assert!(plain.iter().all(|(quad, _)| quad.ambient_occlusion() == 0));
                    let mut open = ChunkMesh::new();
                    mesh_unit_shaded(&opened(&chunk, face), &table, &mut open);
                    let expected = occlusions(&open);
                    for (at, occlusion) in occlusions(&shaded) {
                        assert_eq!(occlusion, expected[&at], "side {side}, {at:?}");
                    }
                    for (quad, is_rim) in shaded.iter() {
                        let is_shaded = quad.ambient_occlusion() != 0;
                        shaded_counts[usize::from(is_rim)] += usize::from(is_shaded);
                    }
                }
            }
        }
    }
    assert!(shaded_counts[0] > 5_000 && shaded_counts[1] > 300, "{shaded_counts:?}");
}

/// Neighbours across edges and corners cut a skirt into nine quads: its middle, four edges and four
/// corners.
#[test]
fn a_skirt_is_cut_only_where_its_shading_changes() {
    let table = table(0);
    let (stone, mut alone, mut inside) =
        (Chunk::new(8, Material(1)), PaddedChunk::new(), PaddedChunk::new());
    inside.fill(&stone, |_| Some(&stone));
    for face in Face::ALL {
        alone.fill(&stone, |offset| (offset == face.normal()).then_some(&stone));
        assert_eq!(skirt(&alone, face, SHADED, &table).len(), 1);
        assert_eq!(skirt(&inside, face, MesherOptions::default(), &table).len(), 1);
        assert_eq!(skirt(&inside, face, SHADED, &table).len(), 9);
    }
}
