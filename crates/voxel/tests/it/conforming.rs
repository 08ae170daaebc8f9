use std::collections::BTreeSet;

use drystone_mesh::{Face, Quad};
use drystone_voxel::{
    ChunkMesh, GreedyMesher, MaterialTable, Merging, MesherOptions, PaddedChunk, mesh_unit,
};
use proptest::prelude::*;

use crate::rasterised::Rasterised;
use crate::scenes::{boxes, padded, random, table};

/// Iterates over the grid points strictly inside an edge of the quad.
fn inside_edges(quad: Quad) -> impl Iterator<Item = [u32; 3]> {
    let face = quad.face().unwrap();
    let [u_axis, v_axis] = face.span_axes();
    let [width, height] = quad.size();
    let point = move |u, v| {
        let mut point = quad.position();
        point[face.axis()] += u32::from(face.is_positive());
        point[u_axis] += u;
        point[v_axis] += v;
        point
    };
    let along_u = (1..width).flat_map(move |u| [point(u, 0), point(u, height)]);
    along_u.chain((1..height).flat_map(move |v| [point(0, v), point(width, v)]))
}

/// Number of corners of quads strictly inside an edge of a quad.
fn t_junctions(mesh: &ChunkMesh) -> usize {
    let corners: BTreeSet<[u32; 3]> =
        mesh.iter().flat_map(|(quad, _)| [0, 1, 2, 3].map(|corner| quad.corner(corner))).collect();
    mesh.iter().flat_map(|(quad, _)| inside_edges(quad)).filter(|at| corners.contains(at)).count()
}

/// Builds a mesh without T-junctions. Checks this, and that the faces follow the rule of
/// visibility.
fn check(chunk: &PaddedChunk, table: &MaterialTable) -> ChunkMesh {
    let (mut mesh, mut expected) = (ChunkMesh::new(), ChunkMesh::new());
    let options = MesherOptions::default().with_merging(Merging::Conforming);
    GreedyMesher::with_options(options).mesh(chunk, table, &mut mesh);
    mesh_unit(chunk, table, &mut expected);
    let side = chunk.side();
    let difference = Rasterised::new(&mesh, side).difference(&Rasterised::new(&expected, side));
    assert_eq!(difference, None, "side {side}");
    assert_eq!(t_junctions(&mesh), 0, "side {side}");
    mesh
}

#[test]
fn no_corner_is_inside_an_edge() {
    for side in [1, 2, 3, 7, 16, 17, 31, 32, 33, 63, 64] {
        for translucent in [0, 0b1010] {
            check(&boxes(side, 10, 4, u64::from(side)), &table(translucent));
        }
    }
    for percent in [5, 50, 95] {
        check(&random(20, percent, 3, 1), &table(0b100));
    }
}

#[test]
fn quads_without_t_junctions_are_not_cut() {
    let solid = padded(32, |voxel| u16::from(voxel.iter().all(|c| (0..32).contains(c))));
    assert_eq!(check(&solid, &table(0)).len(), 6);
}

#[test]
fn a_t_junction_is_cut_across() {
    // A wide slab with a small one on top: the greedy mesh has T-junctions along the edge between
    // them.
    let chunk = padded(8, |[x, y, z]| {
        let inside = (0..8).contains(&x) && (0..8).contains(&z);
        u16::from(inside && (y == 0 || y == 1 && (2..4).contains(&x) && (5..6).contains(&z)))
    });
    let mut greedy = ChunkMesh::new();
    GreedyMesher::new().mesh(&chunk, &table(0), &mut greedy);
    assert!(t_junctions(&greedy) > 0, "the greedy mesh must have T-junctions");
    let mesh = check(&chunk, &table(0));
    assert!(mesh.len() > greedy.len());
    assert!(mesh.opaque.count(Face::PosY) < 64, "fewer than one quad per face");
}

#[test]
fn unit_merging_equals_the_unit_mesher() {
    let chunk = random(9, 40, 4, 5);
    let (mut mesh, mut expected) = (ChunkMesh::new(), ChunkMesh::new());
    let options = MesherOptions::default().with_merging(Merging::Unit);
    GreedyMesher::with_options(options).mesh(&chunk, &table(0b10), &mut mesh);
    mesh_unit(&chunk, &table(0b10), &mut expected);
    assert!(!mesh.is_empty() && mesh.iter().eq(expected.iter()));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn small_chunks_have_no_t_junctions(
        side in 1_u32..=5,
        translucent in 0_u32..32,
        voxels in prop::collection::vec(prop_oneof![2 => Just(0_u16), 3 => 1_u16..=4], 343),
    ) {
        let p = side as i32 + 2;
        let at = |[x, y, z]: [i32; 3]| voxels[(x + 1 + p * (y + 1 + p * (z + 1))) as usize];
        check(&padded(side, at), &table(translucent));
    }
}
