use std::collections::BTreeMap;

use drystone_mesh::Face;
use drystone_voxel::{
    Chunk, ChunkMesh, GreedyMesher, LocalPos, Material, MaterialKind, MaterialTable, Merging,
    MesherOptions, PaddedChunk, mesh_unit, mesh_unit_shaded,
};

use super::Bytes;

/// Number of materials in the table, without air.
const MATERIALS: u8 = 5;
/// Maximum number of boxes; more only take time.
const MAX_BOXES: usize = 64;

/// Content of a face: its material and ambient occlusion.
type Content = (u16, u8);

/// Unit face: whether it is translucent, its direction and its voxel.
type UnitFace = (bool, Face, [u32; 3]);

/// Meshes the chunk of a program in one of the modes, and compares it face by face with unit quads.
pub(crate) fn run(program: &[u8]) {
    let mut bytes = Bytes(program);
    let side = bytes.side();
    let table = table(bytes.byte());
    let mode = bytes.byte();
    let merging = [Merging::Greedy, Merging::Conforming, Merging::Unit][usize::from(mode % 3)];
    let (is_shaded, is_exact, has_steps) = (mode & 8 != 0, mode & 16 != 0, mode & 32 != 0);
    let chunk = chunk(side, is_exact, &mut bytes);
    let (mut mesh, mut expected) = (ChunkMesh::new(), ChunkMesh::new());
    let mut options = MesherOptions::default().with_merging(merging);
    (options.ambient_occlusion, options.steps) = (is_shaded, has_steps);
    GreedyMesher::with_options(options).mesh(&chunk, &table, &mut mesh);
    if is_shaded {
        mesh_unit_shaded(&chunk, &table, &mut expected);
    } else {
        mesh_unit(&chunk, &table, &mut expected);
    }
    let (faces, expected_faces) = (faces(&mesh), faces(&expected));
    assert!(mesh.len() <= expected.len(), "{} quads for {} faces", mesh.len(), expected.len());
    let mut lacking = expected_faces.iter().filter(|(face, shown)| faces.get(face) != Some(shown));
    let found = lacking.next().map(|(face, shown)| (face, shown, faces.get(face)));
    assert_eq!(found, None, "side {side}, {merging:?}: a face is missing or wrong");
    assert_eq!(faces.len(), expected_faces.len(), "side {side}, {merging:?}: too many faces");
    if merging == Merging::Greedy {
        check_steps(&mesh, if has_steps { [side; 3] } else { [0; 3] });
    }
}

/// Compares the steps of quads with the unit faces beside their edges, in a chunk of these extents; with
/// 0, checks that there are none.
pub(crate) fn check_steps(mesh: &ChunkMesh, extents: [u32; 3]) {
    let faces = faces(mesh);
    for (quad, is_translucent) in mesh.iter() {
        let face = quad.face().unwrap();
        let [u, v] = face.span_axes();
        let part = |axis: usize, other: usize, [length, width]: [u32; 2]| {
            let low = quad.position();
            let ends = [low[axis].checked_sub(1), Some(low[axis] + length)];
            let (mut open, mut all) = (0, 0);
            for end in ends.into_iter().flatten().filter(|end| *end < extents[axis]) {
                for along in 0..width {
                    let mut beside = low;
                    (beside[axis], beside[other]) = (end, low[other] + along);
                    open += u32::from(!faces.contains_key(&(false, face, beside)));
                    all += 1;
                }
            }
            // To the nearest third; a half is rounded up.
            (6 * open + all).checked_div(2 * all).unwrap_or(0)
        };
        let [width, height] = quad.size();
        let expected = [part(u, v, [width, height]), part(v, u, [height, width])];
        let expected = if is_translucent { [0; 2] } else { expected };
        assert_eq!(quad.steps(), expected, "{quad:?} in {extents:?}");
    }
}

/// Creates a table; bits 1 to 5 select the translucent materials, bits 6 and 7 make the first two and
/// the last one cut-outs.
fn table(bits: u8) -> MaterialTable {
    let mut table = MaterialTable::new();
    for id in 1..=MATERIALS {
        // Some form one body.
        let opacity = if bits >> id & 1 != 0 { 100 + 20 * (id / 2) } else { 255 };
        let mut kind = MaterialKind::new("material", [90, 90, 90, opacity]);
        kind.cut_out = id <= 2 && bits >> 6 & 1 != 0 || id == MATERIALS && bits >> 7 != 0;
        table.insert_kind(kind).unwrap();
    }
    table
}

/// Creates boxes of one material each: with a halo, or from a chunk with exact summary flags.
fn chunk(side: u32, is_exact: bool, bytes: &mut Bytes<'_>) -> PaddedChunk {
    let padded = side + 2;
    let mut voxels = vec![Material::AIR; padded.pow(3) as usize];
    for _ in 0..MAX_BOXES {
        if bytes.is_empty() {
            break;
        }
        let low = [0; 3].map(|_: u32| u32::from(bytes.byte()) % padded);
        let size = [0; 3].map(|_: u32| 1 + u32::from(bytes.byte()) % padded);
        let material = Material(u16::from(bytes.byte() % (MATERIALS + 1)));
        let [xs, ys, zs] = [0, 1, 2].map(|i| low[i]..(low[i] + size[i]).min(padded));
        for z in zs {
            for y in ys.clone() {
                for x in xs.clone() {
                    voxels[(x + padded * (y + padded * z)) as usize] = material;
                }
            }
        }
    }
    let at = |[x, y, z]: [u32; 3]| voxels[(x + padded * (y + padded * z)) as usize];
    if !is_exact {
        return PaddedChunk::from_fn(side, at);
    }
    let mut inner = Chunk::from_fn(side, |LocalPos { x, y, z }| {
        at([x, y, z].map(|coordinate| u32::from(coordinate) + 1))
    });
    inner.compact();
    let mut uniform = PaddedChunk::new();
    uniform.fill(&inner, |_| None);
    uniform
}

/// Returns the content of every unit face of a mesh; fails if one is covered twice.
fn faces(mesh: &ChunkMesh) -> BTreeMap<UnitFace, Content> {
    let mut faces = BTreeMap::new();
    for (quads, translucent) in [(&mesh.opaque, false), (&mesh.translucent, true)] {
        for quad in quads.quads() {
            let face = quad.face().unwrap();
            let [width, height] = quad.size();
            for (u, v) in (0..width).flat_map(|u| (0..height).map(move |v| (u, v))) {
                let mut voxel = quad.position();
                voxel[face.span_axes()[0]] += u;
                voxel[face.span_axes()[1]] += v;
                let shown = (quad.material(), quad.ambient_occlusion());
                let before = faces.insert((translucent, face, voxel), shown);
                assert_eq!(before, None, "{face:?} of {voxel:?} is covered twice");
            }
        }
    }
    faces
}
