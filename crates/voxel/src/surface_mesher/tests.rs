use alloc::collections::BTreeMap;
use alloc::vec;

use super::*;
use crate::{
    GreedyMesher, MaterialKind, MesherOptions, ShapeBox, ShapeKind, ShapeMesher, mesh_skirt,
};

/// Materials: stone, water, ice, and the water of another biome.
fn table() -> (MaterialTable, [Material; 4]) {
    let mut table = MaterialTable::new();
    let mut insert = |alpha| table.insert("any", [9, 9, 9, alpha]).unwrap();
    let all = [insert(255), insert(90), insert(120), insert(90)];
    (table, all)
}

/// A chunk of random columns, whose translucent voxels below air are partial.
fn random(side: u32, seed: u32, partial: bool) -> PaddedChunk {
    let (table, all) = table();
    let dice = |at: [u32; 3]| {
        let mixed = at[0] * 73 + at[1] * 179 + at[2] * 283 + seed * 997;
        mixed.wrapping_mul(2_654_435_761) >> 20
    };
    let voxel = |at: [u32; 3]| match dice(at) % 16 {
        0..6 => Material::AIR,
        6..8 => all[0],
        8..13 => all[1],
        13 => all[2],
        _ => all[3],
    };
    PaddedChunk::from_fn(side, |at| {
        let [x, y, z] = at;
        let is_edge = y >= side && [x, z].iter().any(|&c| c == 0 || c > side);
        let is_surface = y <= side && voxel([x, y + 1, z]).is_air() && !is_edge;
        match voxel(at) {
            whole if partial && is_surface => {
                table.filled_to(whole, (1 + dice(at) / 16 % 16) as u8)
            }
            whole => whole,
        }
    })
}

/// Counts the faces of sixteenths: face direction, plane and position, material.
fn cells(buffer: &QuadBuffer) -> BTreeMap<(usize, [u32; 3], u16), u32> {
    let mut all = BTreeMap::new();
    for &quad in buffer.quads() {
        let face = quad.face().unwrap();
        let scale = if quad.is_fine() { 1 } else { Quad::FINE_CELLS };
        let mut low = quad.position().map(|c| c * scale);
        low[face.axis()] = (quad.position()[face.axis()] + u32::from(face.is_positive())) * scale;
        let [width, height] = quad.size().map(|c| c * scale);
        let [u_axis, v_axis] = face.span_axes();
        for (u, v) in (0..width).flat_map(|u| (0..height).map(move |v| (u, v))) {
            let mut at = low;
            at[u_axis] += u;
            at[v_axis] += v;
            *all.entry((face.index(), at, quad.material())).or_default() += 1;
        }
    }
    all
}

/// Checks that quads are in the order of face directions, and back to front.
fn check_order(buffer: &QuadBuffer) {
    let depth = |quad: &Quad| {
        let face = quad.face().unwrap();
        let plane = quad.positions()[0][face.axis()];
        (face.index(), (if face.is_positive() { plane } else { -plane } * 16.0) as i32)
    };
    assert!(buffer.quads().is_sorted_by_key(depth));
}

/// Each sixteenth of each visible face is covered once: as if water were a shape of its height.
#[test]
fn lowered_meshes_equal_those_of_fluids_with_shapes() {
    let (table, [stone, water, ice, other]) = table();
    let mut shaped = MaterialTable::new();
    let mut fluids = BTreeMap::new();
    for whole in [stone, water, ice, other] {
        let kind = table.get(whole).unwrap();
        for height in 1..=16 {
            if whole == stone && height < 16 {
                continue;
            }
            let part = ShapeBox { min: [0; 3], max: [16, height, 16] };
            let shape = Shape::new(vec![part], ShapeKind::Fluid).unwrap();
            let kind = MaterialKind::new("any", kind.color);
            let kind = if whole == stone { kind } else { kind.with_shape(shape) };
            fluids.insert(table.filled_to(whole, height), shaped.insert_kind(kind).unwrap());
        }
    }
    let (mut surfaces, mut shapes) = (SurfaceMesher::new(), ShapeMesher::new());
    let mut greedy = GreedyMesher::new();
    let mut lowered = 0;
    for (side, seed) in [(3, 1), (5, 2), (8, 3), (5, 4), (7, 5)] {
        let parts = random(side, seed, true);
        let mut expected = ChunkMesh::new();
        let mut chunk = PaddedChunk::from_fn(side, |at| {
            fluids.get(&parts.get(at)).copied().unwrap_or_default()
        });
        shapes.take(&mut chunk, &shaped);
        greedy.mesh(&chunk, &shaped, &mut expected);
        shapes.add_to(&chunk, &shaped, &mut expected);
        let mut expected = cells(&expected.translucent);
        // Materials of the other table stand for their whole material.
        let wholes: BTreeMap<u16, u16> =
            fluids.iter().map(|(&part, fluid)| (fluid.0, table.whole(part).0)).collect();
        expected = expected.into_iter().map(|((f, at, m), n)| ((f, at, wholes[&m]), n)).collect();

        let (mut chunk, mut mesh) = (parts.clone(), ChunkMesh::new());
        surfaces.take(&mut chunk, &table, 1);
        assert_eq!(chunk.voxels(), random(side, seed, false).voxels());
        greedy.mesh(&chunk, &table, &mut mesh);
        surfaces.lower(&chunk, &table, &mut mesh);
        lowered += mesh.translucent.quads().iter().filter(|quad| quad.is_fine()).count();
        assert!(mesh.shapes.is_empty());
        check_order(&mesh.translucent);
        let found = cells(&mesh.translucent);
        assert!(found.values().all(|&count| count == 1), "side {side}");
        assert!(found == expected, "side {side}");
    }
    assert!(lowered > 300, "{lowered}");
}

/// A chunk without partial materials keeps its mesh.
#[test]
fn whole_voxels_are_not_lowered() {
    let (table, _) = table();
    let chunk = random(9, 7, false);
    let (mut surfaces, mut greedy) = (SurfaceMesher::new(), GreedyMesher::new());
    let mut mesh = ChunkMesh::new();
    surfaces.take(&mut random(9, 7, true), &table, 1);
    let mut taken = chunk.clone();
    surfaces.take(&mut taken, &table, 1);
    assert_eq!(taken.voxels(), chunk.voxels());
    greedy.mesh(&chunk, &table, &mut mesh);
    let before = mesh.clone();
    surfaces.lower(&chunk, &table, &mut mesh);
    assert_eq!(mesh.translucent.quads(), before.translucent.quads());
    assert!(mesh.translucent.len() > 100);
}

/// The rim of a skirt ends at the height of the surface.
#[test]
fn rims_are_cut() {
    let (table, [_, water, ..]) = table();
    let part = table.filled_to(water, 6);
    let mut chunk = PaddedChunk::from_fn(4, |[_, y, z]| match y {
        _ if z > 2 => Material::AIR,
        0..=1 => water,
        2 => part,
        _ => Material::AIR,
    });
    let mut surfaces = SurfaceMesher::new();
    surfaces.take(&mut chunk, &table, 3);
    let mut skirt = ChunkMesh::new();
    mesh_skirt(&chunk, Face::PosX, MesherOptions::default(), &table, &mut skirt);
    surfaces.lower_skirt(&chunk, &mut skirt);
    let tops = skirt.translucent.quads().iter().map(|quad| quad.positions()[3][1]);
    let highest = tops.fold(0.0, f32::max);
    assert_eq!(highest, 1.0 + 6.0 / 16.0);
}

/// Whole fluids below air have the height of their shape at the first levels.
#[test]
fn fluids_are_lowered_by_their_shape() {
    let mut table = MaterialTable::new();
    let part = ShapeBox { min: [0; 3], max: [16, 14, 16] };
    let shape = Shape::new(vec![part], ShapeKind::Fluid).unwrap();
    let kind = MaterialKind::new("water", [9, 9, 9, 90]).with_shape(shape);
    let water = table.insert_kind(kind).unwrap();
    for (level, missing) in [(1, 1), (2, 0), (3, 0), (31, 0)] {
        let mut chunk =
            PaddedChunk::from_fn(4, |[_, y, _]| if y < 3 { water } else { Material::AIR });
        let (mut surfaces, mut mesh) = (SurfaceMesher::new(), ChunkMesh::new());
        surfaces.take(&mut chunk, &table, level);
        GreedyMesher::new().mesh(&chunk, &table, &mut mesh);
        surfaces.lower(&chunk, &table, &mut mesh);
        let quads = mesh.translucent.quads();
        assert_eq!(quads.len(), 1, "level {level}");
        assert_eq!(quads[0].positions()[0][1], 2.0 - missing as f32 / 16.0, "level {level}");
    }
}
