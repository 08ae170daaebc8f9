//! Compares meshes of callers' arrays with the rule of visibility, face by face.

use std::collections::BTreeMap;

use drystone_mesh::{Face, Quad};
use drystone_voxel::{
    ChunkMesh, Error, GreedyMesher, Halo, KeyedMesh, Material, MaterialTable, Merging,
    MesherOptions, PaddedChunk, Visibility, Voxel, VoxelArray,
};

use crate::scenes::{Random, boxes, random};

/// Cell with a merge key of its own and padding between its fields.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cell {
    key: u32,
    visibility: Visibility,
}

const EMPTY: Cell = Cell { key: 0, visibility: Visibility::Empty };

impl Voxel for Cell {
    fn visibility(self) -> Visibility {
        self.visibility
    }

    fn key(self) -> u32 {
        self.key
    }
}

/// Unit face: whether it is translucent, its direction and its voxel.
type UnitFace = (bool, Face, [u32; 3]);
/// Merge key and ambient occlusion of a face.
type Content = (u32, u8);

/// Cells in a slice, in any layout.
struct Layout {
    extents: [u32; 3],
    strides: [usize; 3],
    halo: Halo,
    len: usize,
}

impl Layout {
    /// Creates a layout with the axes in one of six orders, and with gaps of cells between rows and
    /// slices.
    fn new(extents: [u32; 3], halo: Halo, order: usize, gaps: [usize; 3]) -> Self {
        let axes = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]][order];
        let mut strides = [0; 3];
        let mut len = 1;
        for (axis, gap) in axes.into_iter().zip(gaps) {
            strides[axis] = len + gap;
            let count = extents[axis] as usize + if halo == Halo::One { 2 } else { 0 };
            len += strides[axis] * (count - 1);
        }
        Self { extents, strides, halo, len }
    }

    /// Fills a slice; `cell_at` takes positions from −1. All other cells are opaque and must not be
    /// read.
    fn fill(&self, mut cell_at: impl FnMut([i32; 3]) -> Cell) -> Vec<Cell> {
        let mut cells = vec![Cell { key: 0xbad, visibility: Visibility::Opaque }; self.len];
        let width = i32::from(self.halo == Halo::One);
        let range = |axis: usize| -width..self.extents[axis] as i32 + width;
        for z in range(2) {
            for y in range(1) {
                for x in range(0) {
                    let at = [x, y, z].map(|c| (c + width) as usize);
                    let index: usize =
                        at.iter().zip(self.strides).map(|(c, stride)| c * stride).sum();
                    cells[index] = cell_at([x, y, z]);
                }
            }
        }
        cells
    }

    fn array<'a, V: Voxel>(&self, cells: &'a [V]) -> VoxelArray<'a, V> {
        VoxelArray::with_strides(cells, self.extents, self.strides, self.halo).unwrap()
    }
}

/// Returns the visible faces, voxel by voxel.
fn visible_faces(array: &VoxelArray<'_, Cell>) -> BTreeMap<UnitFace, u32> {
    let [nx, ny, nz] = array.extents().map(|extent| extent as i32);
    let mut faces = BTreeMap::new();
    for (face, at) in
        Face::ALL.into_iter().flat_map(|face| (0..nx * ny * nz).map(move |at| (face, at)))
    {
        let at = [at % nx, at / nx % ny, at / (nx * ny)];
        let cell = array.get(at).unwrap();
        let normal = face.normal();
        let beyond = array.get([0, 1, 2].map(|axis| at[axis] + normal[axis])).unwrap_or(EMPTY);
        let is_translucent = cell.visibility == Visibility::Translucent;
        let is_visible = match beyond.visibility {
            Visibility::Empty => true,
            Visibility::Translucent => !(is_translucent && beyond.key == cell.key),
            Visibility::Opaque => false,
        };
        if is_visible && cell.visibility != Visibility::Empty {
            faces.insert((is_translucent, face, at.map(|c| c as u32)), cell.key);
        }
    }
    faces
}

/// Returns the unit faces of quads. Fails if quads overlap or are not in the order of `ChunkMesh`.
fn unit_faces(
    quads: impl Iterator<Item = (bool, Quad, u32)>,
    faces: &mut BTreeMap<UnitFace, Content>,
) -> usize {
    let mut last = None;
    let mut count = 0;
    for (is_translucent, quad, key) in quads {
        count += 1;
        let face = quad.face().unwrap();
        let layer = quad.position()[face.axis()] as i32;
        let order = (is_translucent, face, if face.is_positive() { layer } else { -layer });
        assert!(last <= Some(order), "{quad:?} is out of order");
        last = Some(order);
        let [width, height] = quad.size();
        for (u, v) in (0..width).flat_map(|u| (0..height).map(move |v| (u, v))) {
            let mut voxel = quad.position();
            voxel[face.span_axes()[0]] += u;
            voxel[face.span_axes()[1]] += v;
            let before =
                faces.insert((is_translucent, face, voxel), (key, quad.ambient_occlusion()));
            assert_eq!(before, None, "{face:?} of {voxel:?} is covered twice");
        }
    }
    count
}

fn keyed_faces(mesh: &KeyedMesh) -> (usize, BTreeMap<UnitFace, Content>) {
    let mut faces = BTreeMap::new();
    let lists = [(false, mesh.opaque()), (true, mesh.translucent())];
    let quads = lists
        .into_iter()
        .flat_map(|(is_clear, list)| list.iter().map(move |it| (is_clear, it.quad, it.key)));
    (unit_faces(quads, &mut faces), faces)
}

fn faces(mesh: &ChunkMesh) -> BTreeMap<UnitFace, Content> {
    let mut faces = BTreeMap::new();
    let quads = mesh.iter().map(|(quad, clear)| (clear, quad, u32::from(quad.material())));
    unit_faces(quads, &mut faces);
    faces
}

#[derive(Default)]
struct Meshers {
    greedy: GreedyMesher,
    shaded: Option<GreedyMesher>,
    keyed: KeyedMesh,
    mesh: ChunkMesh,
}

impl Meshers {
    /// Meshes an array in every way, and compares with single faces. Returns the number of greedy
    /// quads and of faces.
    fn check(&mut self, array: &VoxelArray<'_, Cell>, what: &str) -> [usize; 2] {
        let expected = visible_faces(array);
        self.greedy.mesh_array_keyed(array, &mut self.keyed);
        let (count, actual) = keyed_faces(&self.keyed);
        let actual: BTreeMap<_, _> =
            actual.into_iter().map(|(face, (key, _))| (face, key)).collect();
        let difference = expected.iter().find(|(face, key)| actual.get(face) != Some(key));
        assert_eq!(difference, None, "{what}: missing or wrong");
        assert_eq!(actual.len(), expected.len(), "{what}: too many faces");
        match self.greedy.mesh_array(array, &mut self.mesh) {
            Ok(()) => {
                assert_eq!(self.mesh.len(), count, "{what}");
                let actual = faces(&self.mesh);
                assert!(actual.iter().all(|(face, (key, _))| expected[face] == *key), "{what}");
                assert_eq!(actual.len(), expected.len(), "{what}");
            }
            Err(Error::KeyOutOfRange { key, position }) => {
                assert!(key > 0xffff && self.mesh.is_empty(), "{what}");
                assert_eq!(array.get(position.map(|c| c as i32)).unwrap().key, key, "{what}");
            }
            Err(error) => panic!("{what}: {error}"),
        }
        [count, expected.len()]
    }

    /// Compares shaded meshes with shaded unit quads.
    fn check_shaded(&mut self, array: &VoxelArray<'_, Cell>, what: &str) {
        let with = |merging| {
            GreedyMesher::with_options(MesherOptions { merging, ambient_occlusion: true })
        };
        let shaded = self.shaded.get_or_insert_with(|| with(Merging::Greedy));
        shaded.mesh_array_keyed(array, &mut self.keyed);
        let mut units = KeyedMesh::new();
        with(Merging::Unit).mesh_array_keyed(array, &mut units);
        let [(_, actual), (_, expected)] = [&self.keyed, &units].map(keyed_faces);
        assert!(actual == expected, "{what}: shading differs");
        let visible = visible_faces(array);
        assert!(visible.keys().eq(expected.keys()), "{what}: unit quads differ from the rule");
    }
}

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
                let (percent, mask) = ([5, 40, 90][case % 3], (case / 2 % 4) as u32);
                let cells = layout.fill(|_| cell(&mut random, percent, mask));
                let what = format!("{extents:?} {halo:?} order {order} gaps {gaps:?} mask {mask}");
                let [quads, faces] = meshers.check(&layout.array(&cells), &what);
                merged += usize::from(quads < faces);
                if case % 5 == 0 {
                    meshers.check_shaded(&layout.array(&cells), &what);
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
                    (low, high, cell(&mut random, 80, 3))
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
            meshers.check_shaded(&layout.array(&cells), &what);
        }
    }
}

/// A translucent voxel and an empty or opaque neighbour can have equal keys.
#[test]
fn equal_keys_of_different_visibility_are_not_equal_voxels() {
    for order in 0..6 {
        let layout = Layout::new([3, 3, 3], Halo::One, order, [0; 3]);
        for (at, visibility) in (0..27).flat_map(|at| {
            [Visibility::Empty, Visibility::Translucent, Visibility::Opaque].map(|it| (at, it))
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
    let (mut expected, mut actual) = (ChunkMesh::new(), ChunkMesh::new());
    GreedyMesher::new().mesh(chunk, &MaterialTable::new(), &mut expected);
    let cells: Vec<V> = chunk.voxels().iter().map(|&material| of(material)).collect();
    let array = VoxelArray::new(&cells, [chunk.side(); 3], Halo::One).unwrap();
    GreedyMesher::new().mesh_array(&array, &mut actual).unwrap();
    assert!(actual.iter().eq(expected.iter()), "side {}", chunk.side());
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
        let options = MesherOptions { merging, ..MesherOptions::default() };
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
        let options = MesherOptions { merging, ..MesherOptions::default() };
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
