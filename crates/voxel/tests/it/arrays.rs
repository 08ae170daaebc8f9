//! Compares meshes of callers' arrays with the rule of visibility, face by face.

use drystone_voxel::{
    ChunkMesh, Error, GreedyMesher, Halo, Material, MaterialKind, MaterialTable, Merging,
    MesherOptions, PaddedChunk, Visibility, Voxel, VoxelArray,
};
use proptest::prelude::*;

use crate::programs;
use crate::programs::array::{Cell, EMPTY, Layout, Meshers, faces, options, visible_faces};
use crate::scenes::{Random, boxes, random};

/// Extents with sides that fill a word, with and without the halo, and flat and thin ones.
const EXTENTS: [[u32; 3]; 16] = [
    [1, 1, 1],
    [64, 1, 1],
    [1, 64, 1],
    [1, 1, 64],
    [2, 3, 5],
    [16, 16, 16],
    [14, 14, 14],
    [17, 4, 9],
    [30, 30, 30],
    [32, 32, 32],
    [31, 32, 8],
    [16, 32, 1],
    [33, 2, 40],
    [64, 64, 3],
    [62, 5, 62],
    [5, 64, 64],
];

fn cell(random: &mut Random, percent: u32, mask: u32) -> Cell {
    let visibility = match random.below(100) {
        roll if roll >= percent => Visibility::Empty,
        _ if mask & 1 == 0 => Visibility::Opaque,
        roll if roll % 3 == 0 => Visibility::Translucent,
        roll if mask & 4 != 0 && roll % 3 == 1 => Visibility::CutOut,
        _ => Visibility::Opaque,
    };
    // Few keys, so that faces merge. Empty voxels have keys too, which mean nothing.
    let key = [0, 1, 0xffff, 2][random.below(4) as usize];
    let high = if mask & 2 == 0 { 0 } else { [0, 0x1_0000, 0xffff_0000][random.below(3) as usize] };
    Cell { key: key | high, visibility }
}

#[test]
fn random_arrays_in_every_layout_cover_exactly_the_visible_faces() {
    let mut meshers = Meshers::default();
    let (mut case, mut merged) = (0, 0);
    for extents in EXTENTS {
        for halo in [Halo::None, Halo::One] {
            for order in 0..6 {
                case += 1;
                let gaps = [[0; 3], [0, 3, 7], [0, 0, 5], [2, 1, 0]][case % 4];
                let layout = Layout::new(extents, halo, order, gaps);
                let mut random = Random::new(case as u64);
                let (percent, mask) = ([5, 40, 90][case % 3], (case / 2 % 8) as u32);
                let cells = layout.fill(|_| cell(&mut random, percent, mask));
                let what = format!("{extents:?} {halo:?} order {order} gaps {gaps:?} mask {mask}");
                let [quads, faces] = meshers.check(&layout.array(&cells), &what);
                merged += usize::from(quads < faces);
                if case % 5 == 0 {
                    meshers.check_options(&layout.array(&cells), Merging::Greedy, true, &what);
                }
            }
        }
    }
    assert!(merged > 100, "only {merged} cases merge faces");
}

#[test]
fn boxes_in_every_layout_cover_exactly_the_visible_faces() {
    let mut meshers = Meshers::default();
    for (case, extents) in EXTENTS.into_iter().enumerate().filter(|(_, e)| e.iter().all(|&n| n > 1))
    {
        for order in 0..6 {
            let halo = [Halo::One, Halo::None][(case + order) % 2];
            let mut random = Random::new((case * 6 + order) as u64);
            let boxes: Vec<([i32; 3], [i32; 3], Cell)> = (0..12)
                .map(|_| {
                    let low = extents.map(|n| random.below(n + 2) as i32 - 1);
                    let high = [0, 1, 2].map(|i| low[i] + 1 + random.below(extents[i]) as i32);
                    (low, high, cell(&mut random, 80, 7))
                })
                .collect();
            let layout =
                Layout::new(extents, halo, order, [[0; 3], [0, 1, 0], [1, 0, 0]][order % 3]);
            let cells = layout.fill(|at| {
                let is_in = |(low, high): (&[i32; 3], &[i32; 3])| {
                    (0..3).all(|axis| (low[axis]..high[axis]).contains(&at[axis]))
                };
                boxes.iter().rev().find(|it| is_in((&it.0, &it.1))).map_or(EMPTY, |it| it.2)
            });
            let what = format!("boxes, {extents:?} {halo:?} order {order}");
            let [quads, faces] = meshers.check(&layout.array(&cells), &what);
            assert!(quads == 0 || faces < 64 || quads < faces, "{what}: nothing merges");
            meshers.check_options(&layout.array(&cells), Merging::Greedy, true, &what);
        }
    }
}

/// A translucent voxel and an empty or opaque neighbour can have equal keys.
#[test]
fn equal_keys_of_different_visibility_are_not_equal_voxels() {
    for order in 0..6 {
        let layout = Layout::new([3, 3, 3], Halo::One, order, [0; 3]);
        for (at, visibility) in (0..27).flat_map(|at| {
            [Visibility::Empty, Visibility::Translucent, Visibility::Opaque, Visibility::CutOut]
                .map(|it| (at, it))
        }) {
            let odd = [at % 3, at / 3 % 3, at / 9];
            let cells = layout.fill(|voxel| {
                let visibility = if voxel == odd { visibility } else { Visibility::Translucent };
                Cell { key: 7, visibility }
            });
            Meshers::default().check(&layout.array(&cells), &format!("{odd:?} {visibility:?}"));
        }
    }
}

/// Meshes the voxels of padded chunks as arrays, and expects the quads of the chunks.
fn check_plain<V: Voxel>(chunk: &PaddedChunk, of: impl Fn(Material) -> V) {
    check_quads((chunk, &MaterialTable::new()), of, MesherOptions::default());
}

fn check_quads<V: Voxel>(
    (chunk, table): (&PaddedChunk, &MaterialTable),
    of: impl Fn(Material) -> V,
    options: MesherOptions,
) {
    let mut mesher = GreedyMesher::with_options(options);
    let (mut expected, mut actual) = (ChunkMesh::new(), ChunkMesh::new());
    mesher.mesh(chunk, table, &mut expected);
    let cells: Vec<V> = chunk.voxels().iter().map(|&material| of(material)).collect();
    let array = VoxelArray::new(&cells, [chunk.side(); 3], Halo::One).unwrap();
    mesher.mesh_array(&array, &mut actual).unwrap();
    assert!(actual.iter().eq(expected.iter()), "side {} {options:?}", chunk.side());
}

#[test]
fn arrays_of_numbers_have_the_quads_of_their_chunk() {
    for side in [1, 2, 14, 16, 20, 30, 32, 33, 62, 64] {
        for chunk in [random(side, 20, 3, 5), boxes(side, 12, 4, 6)] {
            check_plain(&chunk, |material| material);
            check_plain(&chunk, |material| material.0 as u8);
            check_plain(&chunk, |material| material.0);
            check_plain(&chunk, |material| u32::from(material.0));
        }
        let chunk = random(side, 30, 1, 7);
        check_plain(&chunk, |material| !material.is_air());
    }
}

/// A conforming mesh has more quads than a greedy one, so that equal faces do not suffice.
#[test]
fn every_mode_has_the_quads_of_its_chunk() {
    let all = [Merging::Greedy, Merging::Conforming, Merging::Unit];
    for (merging, ambient_occlusion) in all.into_iter().flat_map(|it| [(it, false), (it, true)]) {
        let options = options(merging, ambient_occlusion).with_steps();
        for chunk in [random(16, 60, 2, 5), boxes(31, 12, 4, 6)] {
            check_quads((&chunk, &MaterialTable::new()), |material| material, options);
        }
    }
}

#[test]
fn cut_out_cells_have_the_quads_of_a_chunk() {
    let mut table = MaterialTable::new();
    let leaves = MaterialKind::new("leaves", [40, 90, 20, 255]).with_cut_out();
    table.insert("stone", [128, 128, 128, 255]).unwrap();
    let leaves = table.insert_kind(leaves).unwrap();
    let of = |material: Material| {
        let visibility = match material {
            Material::AIR => Visibility::Empty,
            cut_out if cut_out == leaves => Visibility::CutOut,
            _ => Visibility::Opaque,
        };
        Cell { key: material.0.into(), visibility }
    };
    for (merging, ambient_occlusion) in [(Merging::Greedy, false), (Merging::Conforming, true)] {
        let options = options(merging, ambient_occlusion).with_steps();
        for side in [16, 31, 32, 64] {
            for chunk in [random(side, 60, 2, 5), boxes(side, 12, 3, 6)] {
                check_quads((&chunk, &table), of, options);
            }
        }
    }
}

/// Arrays whose cells lie along other axes than those of a chunk.
#[test]
fn steps_are_those_of_the_faces_beside_edges_in_all_orders_of_axes() {
    for order in 0..6 {
        let layout = Layout::new([20, 9, 32], Halo::One, order, [0; 3]);
        let mut random = Random::new(5);
        let cells = layout.fill(|[x, y, z]| match (x / 4 + y / 3 + z / 5) % 3 {
            0 => EMPTY,
            _ => cell(&mut random, 90, 1),
        });
        let mut mesh = ChunkMesh::new();
        let options = MesherOptions::default().with_steps();
        GreedyMesher::with_options(options).mesh_array(&layout.array(&cells), &mut mesh).unwrap();
        programs::mesher::check_steps(&mesh, [20, 9, 32]);
        assert!(mesh.opaque.quads().iter().any(|quad| quad.steps()[0] != quad.steps()[1]));
    }
}

#[test]
fn modes_without_greedy_merging_cover_the_same_faces() {
    let layout = Layout::new([20, 9, 32], Halo::One, 4, [0, 2, 0]);
    let mut random = Random::new(3);
    let cells = layout.fill(|[x, y, z]| {
        let rough = cell(&mut random, 90, 1);
        if (x / 5 + y / 4 + z / 6) % 2 == 0 { EMPTY } else { Cell { key: 3, ..rough } }
    });
    let array = layout.array(&cells);
    let expected = visible_faces(&array);
    for merging in [Merging::Conforming, Merging::Unit] {
        let options = MesherOptions::default().with_merging(merging);
        let mut mesh = ChunkMesh::new();
        GreedyMesher::with_options(options).mesh_array(&array, &mut mesh).unwrap();
        let actual = faces(&mesh);
        assert!(actual.keys().eq(expected.keys()), "{merging:?}");
        assert!(actual.iter().all(|(face, (key, _))| expected[face] == *key), "{merging:?}");
    }
}

#[test]
fn a_key_above_16_bits_is_an_error_only_where_a_quad_could_carry_it() {
    let layout = Layout::new([4, 4, 4], Halo::One, 0, [0; 3]);
    let wide = |at: [i32; 3], visibility| {
        layout.fill(|voxel| match voxel == at {
            true => Cell { key: 0x1_0000, visibility },
            false => Cell { key: 9, visibility: Visibility::Opaque },
        })
    };
    let mut mesh = ChunkMesh::new();
    for merging in [Merging::Greedy, Merging::Unit] {
        let options = MesherOptions::default().with_merging(merging);
        let mut mesher = GreedyMesher::with_options(options);
        let cells = wide([3, 0, 2], Visibility::Translucent);
        let result = mesher.mesh_array(&layout.array(&cells), &mut mesh);
        assert_eq!(result, Err(Error::KeyOutOfRange { key: 0x1_0000, position: [3, 0, 2] }));
        assert!(mesh.is_empty());
        for (at, visibility) in
            [([3, 0, 2], Visibility::Empty), ([3, 0, 4], Visibility::Translucent)]
        {
            let cells = wide(at, visibility);
            assert_eq!(mesher.mesh_array(&layout.array(&cells), &mut mesh), Ok(()));
            assert!(!mesh.is_empty());
            assert!(mesh.opaque.quads().iter().all(|quad| quad.material() == 9));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    /// Arrays of any layout in one mesher, one after the other.
    #[test]
    fn every_array_has_its_visible_faces_and_boxes(program in prop::collection::vec(any::<u8>(), 0..150)) {
        programs::array::run(&program);
    }
}
