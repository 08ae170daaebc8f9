use drystone_mesh::Face;
use drystone_voxel::{
    Chunk, ChunkMesh, GreedyMesher, Material, MaterialTable, PaddedChunk, face_is_visible,
    mesh_unit,
};
use proptest::prelude::*;

use crate::programs;
use crate::rasterised::Rasterised;
use crate::scenes::{Random, boxes, padded, random, table};

/// Sides up to 32, and those that fill a word with and without the halo.
fn sides() -> impl Iterator<Item = u32> {
    (1..=32).chain([33, 61, 62, 63, 64])
}

/// Both meshers and their scratch, reused for all chunks.
#[derive(Default)]
struct Meshers {
    greedy: GreedyMesher,
    actual: ChunkMesh,
    expected: ChunkMesh,
}

impl Meshers {
    /// Meshes with both and compares face by face. Returns the numbers of quads.
    fn compare(
        &mut self,
        chunk: &PaddedChunk,
        table: &MaterialTable,
    ) -> Result<[usize; 2], String> {
        self.greedy.mesh(chunk, table, &mut self.actual);
        mesh_unit(chunk, table, &mut self.expected);
        let actual = Rasterised::new(&self.actual, chunk.side());
        let expected = Rasterised::new(&self.expected, chunk.side());
        if let Some(difference) = actual.difference(&expected) {
            return Err(format!("side {}: {difference}", chunk.side()));
        }
        let counts = [self.actual.len(), self.expected.len()];
        if counts[0] > counts[1] {
            return Err(format!("{} quads for {} faces", counts[0], counts[1]));
        }
        Ok(counts)
    }

    fn check(&mut self, chunk: &PaddedChunk, table: &MaterialTable, what: &str) -> [usize; 2] {
        match self.compare(chunk, table) {
            Ok(counts) => counts,
            Err(message) => panic!("{what}: {message}"),
        }
    }
}

/// Large sides are slow, so each is used only in some cases.
fn is_due(side: u32, case: u32) -> bool {
    side <= 33 || (side + case).is_multiple_of(4)
}

#[test]
fn random_fills_at_every_side() {
    let mut meshers = Meshers::default();
    let mut case = 0;
    for percent in [3, 10, 50, 90] {
        for (material_count, translucent) in
            [(1, 0), (4, 0), (2, 0b10), (4, 0b1_1000), (3, 0b1110), (4, 1 << 10 | 0b1000)]
        {
            case += 1;
            for side in sides().filter(|&side| is_due(side, case)) {
                let chunk = random(side, percent, material_count, u64::from(case * 100 + side));
                let what = format!("{percent} % of {material_count}, {translucent:b}");
                meshers.check(&chunk, &table(translucent), &what);
            }
        }
    }
}

#[test]
fn boxes_at_every_side() {
    let mut meshers = Meshers::default();
    for (case, translucent) in [0, 0b100, 0b1_0010].into_iter().enumerate() {
        for side in sides().filter(|&side| is_due(side, case as u32)) {
            let chunk = boxes(side, 12, 4, u64::from(side));
            meshers.check(&chunk, &table(translucent), &format!("boxes, {translucent:b}"));
        }
    }
}

#[test]
fn solid_chunks_take_six_quads_and_empty_ones_none() {
    let mut meshers = Meshers::default();
    for translucent in [0, 0b10] {
        let table = table(translucent);
        for side in sides() {
            let inside = |voxel: [i32; 3]| voxel.iter().all(|c| (0..side as i32).contains(c));
            // Without summary flags, and stored as one material: two paths through the mesher.
            let uniform = padded(side, |voxel| u16::from(inside(voxel)));
            let dense = PaddedChunk::from_fn(side, |at| uniform.get(at));
            let mut uniform = PaddedChunk::new();
            uniform.fill(&Chunk::new(side, Material(1)), |_| None);
            assert!(dense.uniform().is_none() && uniform.uniform().is_some());
            for chunk in [&dense, &uniform] {
                let counts = meshers.check(chunk, &table, "solid");
                assert_eq!(counts, [6, 6 * (side * side) as usize]);
            }
            // Surrounded by the same material, nothing is visible.
            let shut_in = padded(side, |_| 1);
            assert_eq!(meshers.check(&shut_in, &table, "surrounded")[0], 0);
            let around = padded(side, |voxel| u16::from(!inside(voxel)));
            assert_eq!(meshers.check(&around, &table, "empty")[0], 0);
        }
    }
}

/// Between two cut-out voxels both faces are visible: two quads for each pair of slices, and the outside.
#[test]
fn all_faces_within_cut_out_voxels_are_visible() {
    let mut meshers = Meshers::default();
    let table = table(1 << 9);
    for side in sides() {
        let mut uniform = PaddedChunk::new();
        uniform.fill(&Chunk::new(side, Material(1)), |_| None);
        let dense = PaddedChunk::from_fn(side, |at| uniform.get(at));
        for chunk in [&dense, &uniform] {
            let counts = meshers.check(chunk, &table, "leaves");
            assert_eq!(counts, [6 * side as usize, 6 * side.pow(3) as usize]);
        }
    }
}

#[test]
fn one_material_in_a_random_halo() {
    let mut meshers = Meshers::default();
    for (translucent, side) in [0, 0b110, 0b110 | 1 << 11, 1 << 9]
        .into_iter()
        .flat_map(|bits| sides().map(move |n| (bits, n)))
    {
        let center = Chunk::new(side, Material(1));
        let mut random = Random::new(u64::from(side));
        let around = Chunk::from_fn(side.min(64), |_| Material(random.below(5) as u16));
        let all_glass = Chunk::new(side, Material(2));
        let mut chunk = PaddedChunk::new();
        chunk.fill(&center, |offset| match offset {
            [1, 0, 0] => None,
            [0, -1, 0] => Some(&all_glass),
            [0, 0, 1] => Some(&center),
            _ => Some(&around),
        });
        meshers.check(&chunk, &table(translucent), "one material");
    }
}

#[test]
fn patterns_at_every_side() {
    let mut meshers = Meshers::default();
    let table = table(0b100);
    for side in sides().filter(|&side| side <= 33 || side >= 63) {
        let n = side as i32;
        let checker = padded(side, |[x, y, z]| ((x + y + z) & 1) as u16);
        let [quads, faces] = meshers.check(&checker, &table, "checkerboard");
        assert_eq!(quads, faces, "a checkerboard has no merged faces");
        let colors = padded(side, |[x, y, z]| 1 + ((x + y + z) & 1) as u16);
        meshers.check(&colors, &table, "checkerboard of stone and glass");
        let slabs = padded(side, |[_, y, _]| if y.rem_euclid(3) == 0 { 1 } else { 0 });
        meshers.check(&slabs, &table, "slabs");
        for corner in [[0, 0, 0], [n - 1, 0, 0], [0, n - 1, n - 1], [n - 1; 3], [n / 2; 3]] {
            let single = padded(side, |voxel| u16::from(voxel == corner));
            assert_eq!(meshers.check(&single, &table, "single"), [6, 6]);
            let hole = padded(side, |voxel| u16::from(voxel != corner));
            let inner = meshers.check(&hole, &table, "hole")[1];
            // A hole at the border shows no face of the neighbour, which belongs to the neighbour's
            // mesh.
            let beside_halo = corner.iter().map(|&c| usize::from(c == 0) + usize::from(c == n - 1));
            assert_eq!(inner, 6 - beside_halo.sum::<usize>());
        }
    }
}

#[test]
fn a_greedy_quad_has_maximum_size() {
    // An L of two bars: the first row is used over its whole length, the rest is one quad.
    let chunk = padded(8, |[x, y, z]| {
        u16::from(
            y == 0 && (0..8).contains(&x) && z == 0 || y == 0 && x == 3 && (0..8).contains(&z),
        )
    });
    let mut meshers = Meshers::default();
    meshers.check(&chunk, &table(0), "an L");
    let up = meshers.actual.opaque.quads().iter().filter(|quad| quad.face() == Some(Face::PosY));
    let sizes: Vec<[u32; 2]> = up.map(|quad| quad.size()).collect();
    // The width of ±Y is along Z, the height along X.
    assert_eq!(sizes, [[1, 8], [7, 1]]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Voxel by voxel, so that a failure shrinks to the relevant voxels.
    #[test]
    fn small_chunks_of_any_content(
        side in 1_u32..=5,
        translucent in 0_u32..32,
        cut_out in 0_u32..32,
        voxels in prop::collection::vec(prop_oneof![2 => Just(0_u16), 3 => 1_u16..=5], 343),
    ) {
        let p = side as i32 + 2;
        let chunk = padded(side, |[x, y, z]| voxels[(x + 1 + p * (y + 1 + p * (z + 1))) as usize]);
        let result = Meshers::default().compare(&chunk, &table(translucent | cut_out << 8));
        prop_assert!(result.is_ok(), "{result:?}");
    }

    #[test]
    fn chunks_of_any_side(
        side in 6_u32..=40,
        percent in 0_u32..=100,
        material_count in 1_u32..=4,
        translucent in 0_u32..32,
        cut_out in 0_u32..32,
        seed: u64,
    ) {
        let chunk = random(side, percent, material_count, seed);
        let result = Meshers::default().compare(&chunk, &table(translucent | cut_out << 8));
        prop_assert!(result.is_ok(), "{result:?}");
    }
}

#[test]
fn the_unit_mesher_follows_the_rule_of_visibility() {
    let chunk = random(7, 60, 4, 1);
    let table = table(0b1_0100 | 1 << 9);
    let mut mesh = ChunkMesh::new();
    mesh_unit(&chunk, &table, &mut mesh);
    let mut expected = 0;
    for face in Face::ALL {
        for index in 0..7 * 7 * 7 {
            let voxel = [index % 7 + 1, index / 7 % 7 + 1, index / 49 + 1];
            let mut beyond: [u32; 3] = voxel;
            let axis = face.axis();
            beyond[axis] = beyond[axis].wrapping_add_signed(face.normal()[axis]);
            expected += usize::from(face_is_visible(chunk.get(voxel), chunk.get(beyond), &table));
        }
    }
    assert_eq!(mesh.len(), expected);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    /// Every side and way of merging, with and without ambient occlusion.
    #[test]
    fn every_mode_covers_the_same_faces_as_unit_quads(program in prop::collection::vec(any::<u8>(), 0..150)) {
        programs::mesher::run(&program);
    }
}
