use std::collections::BTreeMap;

use drystone_mesh::{Face, Quad};
use drystone_voxel::{
    BoxMesher, ChunkMesh, Error, GreedyMesher, Halo, KeyedMesh, Material, Merging, MesherOptions,
    PaddedChunk, Visibility, Voxel, VoxelArray, VoxelBox, VoxelPos,
};

use super::Bytes;

/// Maximum number of arrays and of boxes in each; more only take time.
const MAX_ARRAYS: usize = 4;
const MAX_BOXES: usize = 16;
/// Maximum number of voxels of an array, halo excluded.
const MAX_VOXELS: u32 = 1 << 13;

/// Meshes the arrays of a program with one mesher, and compares faces and boxes with the voxels.
pub(crate) fn run(program: &[u8]) {
    let mut bytes = Bytes(program);
    let mut meshers = Meshers::default();
    for number in 0..MAX_ARRAYS {
        let (extents, mode, order) = (extents(&mut bytes), bytes.byte(), bytes.byte() % 6);
        let halo = if mode & 1 == 0 { Halo::One } else { Halo::None };
        let gaps = if mode & 2 == 0 { [0; 3] } else { [0; 3].map(|_: u8| bytes.byte() % 4) };
        let layout = Layout::new(extents, halo, order.into(), gaps.map(usize::from));
        let cells = cells(&layout, mode & 4 != 0, &mut bytes);
        let what = format!("array {number}: {extents:?} {halo:?} order {order} gaps {gaps:?}");
        let array = layout.array(&cells);
        meshers.check(&array, &what);
        meshers.check_boxes(&array, &what);
        let merging = [Merging::Greedy, Merging::Conforming, Merging::Unit];
        let merging = merging[usize::from(mode >> 3 & 3) % 3];
        meshers.check_options(&array, merging, mode & 32 == 0, &what);
        if bytes.is_empty() {
            break;
        }
    }
}

/// Reads small extents in most cases. One axis is cut so that the array has at most [`MAX_VOXELS`].
fn extents(bytes: &mut Bytes<'_>) -> [u32; 3] {
    let cut = usize::from(bytes.byte() % 3);
    let mut extents = [0; 3].map(|_: u32| bytes.side());
    let others = extents[(cut + 1) % 3] * extents[(cut + 2) % 3];
    extents[cut] = extents[cut].min((MAX_VOXELS / others).max(1));
    extents
}

/// Creates boxes of one cell each, over one cell everywhere or over four cells at random.
fn cells(layout: &Layout, is_noise: bool, bytes: &mut Bytes<'_>) -> Vec<Cell> {
    let base = [0; 4].map(|_: u8| cell(bytes.byte()));
    let mut boxes = Vec::new();
    while boxes.len() < MAX_BOXES && !bytes.is_empty() {
        let low = layout.extents.map(|n| i32::from(bytes.byte()) % (n as i32 + 2) - 1);
        let high = [0, 1, 2].map(|axis| {
            let n = layout.extents[axis] as i32;
            low[axis] + 1 + i32::from(bytes.byte()) % (n + 2)
        });
        boxes.push((low, high, cell(bytes.byte())));
    }
    let (mut random, seed) = (u32::from(bytes.byte()), 0x9e37_79b9_u32);
    layout.fill(|at| {
        random = random.wrapping_mul(1_664_525).wrapping_add(seed);
        let is_in = |(low, high, _): &&([i32; 3], [i32; 3], Cell)| {
            (0..3).all(|axis| (low[axis]..high[axis]).contains(&at[axis]))
        };
        let found = boxes.iter().rev().find(is_in).map(|it| it.2);
        found.unwrap_or(base[if is_noise { random as usize >> 30 } else { 0 }])
    })
}

/// Returns one of a few cells, so that faces merge. Empty voxels have keys too, which mean nothing.
fn cell(byte: u8) -> Cell {
    let visibility =
        [Visibility::Empty, Visibility::Translucent, Visibility::Opaque, Visibility::CutOut];
    let low = [0, 1, 2, 0xffff][usize::from(byte / 4 % 4)];
    let high = [0, 0, 0, 0, 0x1_0000, 0xffff_0000][usize::from(byte / 16 % 6)];
    Cell { key: low | high, visibility: visibility[usize::from(byte % 4)] }
}

/// Cell with a merge key of its own and padding between its fields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cell {
    pub(crate) key: u32,
    pub(crate) visibility: Visibility,
}

pub(crate) const EMPTY: Cell = Cell { key: 0, visibility: Visibility::Empty };

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
pub(crate) struct Layout {
    extents: [u32; 3],
    strides: [usize; 3],
    halo: Halo,
    len: usize,
}

impl Layout {
    /// Creates a layout with the axes in one of six orders, and with gaps of cells between rows and
    /// slices.
    pub(crate) fn new(extents: [u32; 3], halo: Halo, order: usize, gaps: [usize; 3]) -> Self {
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
    pub(crate) fn fill(&self, mut cell_at: impl FnMut([i32; 3]) -> Cell) -> Vec<Cell> {
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

    pub(crate) fn array<'a, V: Voxel>(&self, cells: &'a [V]) -> VoxelArray<'a, V> {
        VoxelArray::with_strides(cells, self.extents, self.strides, self.halo).unwrap()
    }
}

/// Returns the visible faces, voxel by voxel.
pub(crate) fn visible_faces(array: &VoxelArray<'_, Cell>) -> BTreeMap<UnitFace, u32> {
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
            Visibility::Empty | Visibility::CutOut => true,
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

pub(crate) fn faces(mesh: &ChunkMesh) -> BTreeMap<UnitFace, Content> {
    let mut faces = BTreeMap::new();
    let quads = mesh.iter().map(|(quad, clear)| (clear, quad, u32::from(quad.material())));
    unit_faces(quads, &mut faces);
    faces
}

/// Returns the error of the first voxel whose key a quad cannot carry.
fn wide_key(array: &VoxelArray<'_, Cell>) -> Option<Error> {
    let [nx, ny, nz] = array.extents();
    let mut positions = (0..nx * ny * nz).map(|at| [at % nx, at / nx % ny, at / (nx * ny)]);
    positions.find_map(|position| {
        let Cell { key, visibility } = array.get(position.map(|c| c as i32))?;
        let is_wide = visibility != Visibility::Empty && key > 0xffff;
        is_wide.then_some(Error::KeyOutOfRange { key, position })
    })
}

pub(crate) fn options(merging: Merging, ambient_occlusion: bool) -> MesherOptions {
    let options = MesherOptions::default().with_merging(merging);
    if ambient_occlusion { options.with_ambient_occlusion() } else { options }
}

/// Meshers and their scratch, reused for all arrays.
#[derive(Default)]
pub(crate) struct Meshers {
    greedy: GreedyMesher,
    shaded: Option<GreedyMesher>,
    keyed: KeyedMesh,
    mesh: ChunkMesh,
    boxes: BoxMesher,
    found: Vec<VoxelBox>,
}

impl Meshers {
    /// Meshes an array in every way, and compares with single faces. Returns the number of greedy
    /// quads and of faces.
    pub(crate) fn check(&mut self, array: &VoxelArray<'_, Cell>, what: &str) -> [usize; 2] {
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
                assert_eq!((self.mesh.len(), wide_key(array)), (count, None), "{what}");
                let actual = faces(&self.mesh);
                assert!(actual.iter().all(|(face, (key, _))| expected[face] == *key), "{what}");
                assert_eq!(actual.len(), expected.len(), "{what}");
            }
            Err(error) => {
                assert_eq!(Some(error), wide_key(array), "{what}");
                assert!(self.mesh.is_empty(), "{what}");
            }
        }
        [count, expected.len()]
    }

    /// Compares a mesh with unit quads.
    pub(crate) fn check_options(
        &mut self,
        array: &VoxelArray<'_, Cell>,
        merging: Merging,
        ambient_occlusion: bool,
        what: &str,
    ) {
        let with = |merging| GreedyMesher::with_options(options(merging, ambient_occlusion));
        let mut other = with(merging);
        let is_kept = merging == Merging::Greedy && ambient_occlusion;
        let mesher = if is_kept { self.shaded.get_or_insert(other) } else { &mut other };
        mesher.mesh_array_keyed(array, &mut self.keyed);
        let mut units = KeyedMesh::new();
        with(Merging::Unit).mesh_array_keyed(array, &mut units);
        let [(_, actual), (_, expected)] = [&self.keyed, &units].map(keyed_faces);
        assert!(actual == expected, "{what}: {merging:?} differs, AO {ambient_occlusion}");
        let visible = visible_faces(array);
        assert!(visible.keys().eq(expected.keys()), "{what}: unit quads differ from the rule");
    }

    /// Compares boxes with the voxels, and those of a cube with the boxes of a chunk.
    fn check_boxes(&mut self, array: &VoxelArray<'_, Cell>, what: &str) {
        let is_solid = |cell: Cell| cell.visibility != Visibility::Empty;
        let at = |at: [u32; 3]| array.get(at.map(|c| c as i32)).is_some_and(is_solid);
        self.boxes.mesh_array(array, is_solid, &mut self.found);
        check_cover(array.extents(), at, &self.found);
        let corners = |it: &VoxelBox| (it.min.z, it.min.y, it.min.x);
        assert!(self.found.is_sorted_by_key(corners), "{what}: boxes are out of order");
        let [side, y, z] = array.extents();
        if side == y && y == z {
            let inner = |padded: [u32; 3]| at(padded.map(|c| c.wrapping_sub(1)));
            let chunk = PaddedChunk::from_fn(side, |at| Material(inner(at).into()));
            let mut found = Vec::new();
            self.boxes.mesh(&chunk, |material| !material.is_air(), &mut found);
            assert_eq!(found, self.found, "{what}: boxes of a chunk");
        }
    }
}

/// Fails unless each solid voxel is in exactly one box, and no other voxel in any.
pub(crate) fn check_cover(
    extents: [u32; 3],
    is_solid: impl Fn([u32; 3]) -> bool,
    found: &[VoxelBox],
) {
    let [nx, ny, nz] = extents;
    let mut counts = vec![0; (nx * ny * nz) as usize];
    for each in found {
        let [min, max] = [each.min, each.max].map(VoxelPos::to_array);
        assert!((0..3).all(|axis| min[axis] < max[axis]), "{each:?} is empty");
        assert!(min.iter().all(|&c| c >= 0), "{each:?} begins outside");
        for (z, y) in (min[2]..max[2]).flat_map(|z| (min[1]..max[1]).map(move |y| (z, y))) {
            for at in (min[0]..max[0]).map(|x| [x, y, z].map(|c| c as u32)) {
                assert!((0..3).all(|axis| at[axis] < extents[axis]), "{each:?} ends outside");
                counts[(at[0] + nx * (at[1] + ny * at[2])) as usize] += 1;
            }
        }
    }
    for (index, count) in counts.into_iter().enumerate() {
        let index = index as u32;
        let at = [index % nx, index / nx % ny, index / (nx * ny)];
        assert_eq!(count, u32::from(is_solid(at)), "{at:?} of {extents:?}");
    }
}
