use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::*;
use crate::{Chunk, GreedyMesher, LocalPos, MaterialKind, Shape};

const STONE: Material = Material(1);
const GLASS: Material = Material(2);
const SLAB: Material = Material(3);
const STAIRS: Material = Material(4);
const PLANT: Material = Material(5);
const WATER: Material = Material(6);
const LOW_WATER: Material = Material(7);
const WET_STAIRS: Material = Material(8);
const WET_PLANT: Material = Material(9);
const COUNT: u16 = 9;

fn part(min: [u8; 3], max: [u8; 3]) -> ShapeBox {
    ShapeBox { min, max }
}

fn table() -> MaterialTable {
    let mut table = MaterialTable::new();
    table.insert("stone", [9, 9, 9, 255]).unwrap();
    table.insert("glass", [9, 9, 9, 90]).unwrap();
    let mut insert = |[blue, alpha]: [u8; 2], boxes: &[ShapeBox], kind| {
        let shape = Shape::new(boxes.to_vec(), kind).unwrap();
        let kind = MaterialKind::new("any", [1, 2, blue, alpha]).with_shape(shape);
        table.insert_kind(kind).unwrap()
    };
    let low = part([0; 3], [16, 8, 16]);
    insert([3, 255], &[low], ShapeKind::Opaque);
    insert([4, 255], &[low, part([8, 5, 0], [16, 16, 16])], ShapeKind::Opaque);
    let plates = [part([8, 0, 2], [8, 13, 14]), part([2, 0, 8], [14, 13, 8])];
    insert([5, 150], &plates, ShapeKind::Opaque);
    insert([6, 99], &[part([0; 3], [16, 14, 16])], ShapeKind::Fluid);
    // Of another colour and the same opacity, as in another biome.
    insert([7, 99], &[part([0; 3], [16, 6, 16])], ShapeKind::Fluid);
    for dry in [STAIRS, PLANT] {
        let wet = table.get(dry).unwrap().clone().with_fluid(WATER);
        table.insert_kind(wet).unwrap();
    }
    table
}

fn mesh(chunk: &Chunk) -> ChunkMesh {
    let mut padded = PaddedChunk::new();
    padded.fill(chunk, |_| None);
    mesh_padded(&mut padded)
}

fn mesh_padded(padded: &mut PaddedChunk) -> ChunkMesh {
    let (table, mut mesh) = (table(), ChunkMesh::new());
    let mut shapes = ShapeMesher::new();
    shapes.take(padded, &table);
    GreedyMesher::new().mesh(padded, &table, &mut mesh);
    shapes.add_to(padded, &table, &mut mesh);
    mesh
}

/// Side of a face of one cell: its direction, and its position in cells of the chunk.
type CellFace = (usize, [u32; 3]);

/// Cells and plates of a chunk, without meshing: what each cell of a voxel contains.
struct Twin<'a> {
    padded: &'a PaddedChunk,
    table: MaterialTable,
}

/// A part of what fills a voxel.
struct Body {
    material: Material,
    boxes: Vec<ShapeBox>,
}

const fn is_fluid(material: Material) -> bool {
    matches!(material, WATER | LOW_WATER)
}

impl Body {
    fn contains(&self, cell: [i64; 3]) -> bool {
        let within = cell.map(|c| c.rem_euclid(16) as u8);
        self.boxes
            .iter()
            .any(|part| (0..3).all(|axis| (part.min[axis]..part.max[axis]).contains(&within[axis])))
    }
}

impl Twin<'_> {
    /// Content of a voxel at a padded position: nothing if it is air, one box if it is a cube.
    fn bodies(&self, at: [u32; 3]) -> Vec<Body> {
        let material = self.padded.get(at);
        let fluid = self.fluid(at).map(|material| Body { material, boxes: self.fluid_boxes(at) });
        let solid = (!material.is_air() && !is_fluid(material)).then(|| {
            let boxes = self
                .table
                .shape(material)
                .map_or([ShapeBox::FULL].to_vec(), |shape| shape.boxes().to_vec());
            Body { material, boxes }
        });
        solid.into_iter().chain(fluid).collect()
    }

    fn fluid(&self, at: [u32; 3]) -> Option<Material> {
        match self.padded.get(at) {
            fluid @ (WATER | LOW_WATER) => Some(fluid),
            WET_STAIRS | WET_PLANT => Some(WATER),
            _ => None,
        }
    }

    fn fluid_boxes(&self, at: [u32; 3]) -> Vec<ShapeBox> {
        let above_at = [at[0], at[1] + 1, at[2]];
        let n = self.padded.side();
        let is_top = at[1] == n + 1;
        let is_below = !is_top && self.fluid(above_at).is_some();
        // The voxel above is in the halo across an edge, which may not be filled.
        let is_edge = at[1] == n && [at[0], at[2]].iter().any(|&c| c == 0 || c == n + 1);
        let is_unknown = is_edge && self.padded.get(above_at).is_air();
        if is_below || is_unknown {
            return [ShapeBox::FULL].to_vec();
        }
        let material = self.fluid(at).unwrap();
        self.table.shape(material).unwrap().boxes().to_vec()
    }

    /// Whether the cell at padded cells is in a box that hides faces of a body in a voxel.
    fn is_hidden(&self, body: &Body, voxel: [u32; 3], cell: [i64; 3]) -> bool {
        let at = cell.map(|c| c.div_euclid(16) as u32);
        self.bodies(at).iter().any(|other| {
            let hides = match (at == voxel, is_fluid(other.material)) {
                (true, true) => is_fluid(body.material),
                (true, false) => true,
                (false, true) => is_fluid(body.material),
                (false, false) => other.material != GLASS,
            };
            hides && other.contains(cell)
        })
    }

    /// Material in whose colour a body is drawn: a fluid around a shape in that of one beside it.
    fn drawn(&self, body: &Body, [x, y, z]: [u32; 3]) -> Material {
        if !is_fluid(body.material) || is_fluid(self.padded.get([x, y, z])) {
            return body.material;
        }
        let sides = [[x - 1, y, z], [x + 1, y, z], [x, y, z - 1], [x, y, z + 1], [x, y + 1, z]];
        let mut sides = sides.map(|at| self.padded.get(at)).into_iter();
        sides.find(|beside| is_fluid(*beside)).unwrap_or(WATER)
    }

    /// Faces of cells of all shaped voxels, cell by cell.
    fn faces(&self) -> BTreeMap<CellFace, Material> {
        let mut all = BTreeMap::new();
        let n = self.padded.side();
        let range = || 1..=n;
        for voxel in
            range().flat_map(|x| range().flat_map(move |y| range().map(move |z| [x, y, z])))
        {
            if !self.table.is_shaped(self.padded.get(voxel)) {
                continue;
            }
            for body in self.bodies(voxel) {
                let sides = body.boxes.iter().flat_map(|part| Face::ALL.map(|face| (*part, face)));
                for (part, face) in sides {
                    self.add_faces(&body, (voxel, part, face), &mut all);
                }
            }
        }
        all
    }

    /// Adds the visible cells of one side of a body's box.
    fn add_faces(
        &self,
        body: &Body,
        (voxel, part, face): ([u32; 3], ShapeBox, Face),
        all: &mut BTreeMap<CellFace, Material>,
    ) {
        let [u, v] = face.span_axes();
        let plane = if face.is_positive() { part.max } else { part.min }[face.axis()];
        for (a, b) in
            (part.min[u]..part.max[u]).flat_map(|a| (part.min[v]..part.max[v]).map(move |b| (a, b)))
        {
            let mut within = [i64::from(plane); 3];
            (within[u], within[v]) = (a.into(), b.into());
            let beside = |is_behind: bool| {
                [0, 1, 2].map(|axis| {
                    let is_low = axis == face.axis() && face.is_positive() == is_behind;
                    i64::from(voxel[axis]) * 16 + within[axis] - i64::from(is_low)
                })
            };
            // Where a shape is, the fluid around it is not.
            let is_displaced = is_fluid(body.material)
                && self
                    .bodies(voxel)
                    .iter()
                    .any(|other| !is_fluid(other.material) && other.contains(beside(true)));
            if !is_displaced && !self.is_hidden(body, voxel, beside(false)) {
                let position = [0, 1, 2].map(|axis| (voxel[axis] - 1) * 16 + within[axis] as u32);
                all.insert((face.index(), position), self.drawn(body, voxel));
            }
        }
    }
}

/// Splits fine quads into faces of cells.
fn faces(mesh: &ChunkMesh) -> BTreeMap<CellFace, Material> {
    let mut all = BTreeMap::new();
    for (quad, is_translucent) in mesh.iter().filter(|(quad, _)| quad.is_fine()) {
        let material = Material(quad.material());
        assert_eq!(is_translucent, [WATER, LOW_WATER].contains(&material));
        let face = quad.face().unwrap();
        let [u, v] = face.span_axes();
        let [width, height] = quad.size();
        for (a, b) in (0..width).flat_map(|a| (0..height).map(move |b| (a, b))) {
            let mut position = quad.position();
            position[face.axis()] += u32::from(face.is_positive());
            position[u] += a;
            position[v] += b;
            let old = all.insert((face.index(), position), material);
            assert!(old.is_none(), "{face:?} {position:?} twice");
        }
    }
    all
}

fn faces_of_water(mesh: &ChunkMesh) -> BTreeMap<CellFace, Material> {
    let mut all = faces(mesh);
    all.retain(|_, material| is_fluid(*material));
    all
}

fn random_padded(side: u32, seed: u32, fill: u32) -> PaddedChunk {
    PaddedChunk::from_fn(side, |[x, y, z]| {
        let mixed = (x * 73 + y * 179 + z * 283 + seed * 7_919).wrapping_mul(2_654_435_761);
        let dice = mixed >> 16;
        if dice % 256 < fill {
            Material((1 + dice / 256 % u32::from(COUNT)) as u16)
        } else {
            Material::AIR
        }
    })
}

#[test]
fn fine_quads_cover_each_visible_cell_of_shapes_once() {
    let mut count = 0;
    for (seed, (side, fills)) in [
        (1, [60, 255]),
        (2, [60, 255]),
        (5, [140, 255]),
        (8, [60, 255]),
        (32, [1, 7]),
        (64, [1, 1]),
    ]
    .into_iter()
    .enumerate()
    {
        for fill in fills {
            let padded = random_padded(side, seed as u32, fill);
            let expected = Twin { padded: &padded, table: table() }.faces();
            let mut without = padded.clone();
            let mesh = mesh_padded(&mut without);
            assert_eq!(faces(&mesh), expected, "side {side} fill {fill}");
            count += expected.len();
        }
    }
    assert!(count > 30_000, "{count}");
}

/// Cubes have the faces that they have beside air.
#[test]
fn cubes_beside_shapes_keep_their_faces() {
    let (padded, table) = (random_padded(16, 3, 180), table());
    let mut mesh_of_cubes = ChunkMesh::new();
    let cubes = PaddedChunk::from_fn(16, |at| {
        let material = padded.get(at);
        if table.is_shaped(material) { Material::AIR } else { material }
    });
    GreedyMesher::new().mesh(&cubes, &table, &mut mesh_of_cubes);
    let mesh = mesh_padded(&mut padded.clone());
    assert_eq!(mesh.opaque.quads(), mesh_of_cubes.opaque.quads());
    let of_cubes = |mesh: &ChunkMesh| -> Vec<Quad> {
        mesh.translucent.quads().iter().filter(|quad| !quad.is_fine()).copied().collect()
    };
    assert_eq!(of_cubes(&mesh), of_cubes(&mesh_of_cubes));
}

#[test]
fn translucent_layers_are_sorted_back_to_front() {
    let mesh = mesh_padded(&mut random_padded(16, 5, 200));
    let mut rest = mesh.translucent.quads();
    let mut fine_count = 0;
    for face in Face::ALL {
        let (own, others) = rest.split_at(mesh.translucent.count(face) as usize);
        rest = others;
        let plane = |quad: &Quad| quad.positions()[0][face.axis()];
        let is_sorted = match face.is_positive() {
            true => own.is_sorted_by(|a, b| plane(a) <= plane(b)),
            false => own.is_sorted_by(|a, b| plane(a) >= plane(b)),
        };
        assert!(is_sorted, "{face:?}");
        fine_count += own.iter().filter(|quad| quad.is_fine()).count();
    }
    assert!(fine_count > 100 && fine_count < mesh.translucent.len());
}

#[test]
fn a_surface_of_water_is_one_quad_per_four_by_four_voxels() {
    let mesh = mesh(&Chunk::new(32, WATER));
    assert!(mesh.opaque.is_empty() && mesh.shapes.is_empty());
    assert_eq!(mesh.translucent.counts(), [64; 6]);
    let top = mesh.translucent.quads().iter().find(|quad| quad.face() == Some(Face::PosY));
    assert_eq!(top.map(|quad| quad.positions()[0][1]), Some(31.875));
}

/// The halo across edges is air without ambient occlusion; deep water has no faces there.
#[test]
fn water_that_goes_on_in_all_neighbours_has_no_faces() {
    let water = Chunk::new(32, WATER);
    let mut padded = PaddedChunk::new();
    // Across faces only, and across edges and corners too.
    for count in [6, 26] {
        let filled = &PaddedChunk::NEIGHBORS[..count];
        padded.fill(&water, |offset| filled.contains(&offset).then_some(&water));
        assert!(mesh_padded(&mut padded).is_empty());
    }
}

#[test]
fn a_mesher_is_reusable_and_thin_voxels_become_air() {
    let (table, mut chunk) = (table(), Chunk::new(8, Material::AIR));
    for (x, material) in [(0, SLAB), (2, PLANT), (4, STONE), (6, STAIRS)] {
        chunk.set(LocalPos::new(x, 0, 0), material);
    }
    let (mut padded, mut shapes) = (PaddedChunk::new(), ShapeMesher::new());
    let mut meshes = [ChunkMesh::new(), ChunkMesh::new()];
    for (turn, mesh) in meshes.iter_mut().enumerate() {
        padded.fill(&Chunk::new(8, [WATER, STAIRS][turn]), |_| None);
        shapes.take(&mut padded, &table);
        assert!(!padded.has_solid());
        padded.fill(&chunk, |_| None);
        shapes.take(&mut padded, &table);
        shapes.add_to(&padded, &table, mesh);
    }
    assert_eq!(meshes[0].shapes.quads(), meshes[1].shapes.quads());
    // Six faces of a slab, both sides of two plates, and eight faces of stairs.
    assert_eq!(meshes[0].shapes.len(), 6 + 4 + 8 + 2);
    padded.fill(&chunk, |_| None);
    padded.remove_thin(&table);
    let left: Vec<Material> = (1..9).map(|x| padded.get([x, 1, 1])).collect();
    assert_eq!(left.iter().filter(|it| !it.is_air()).count(), 3);
    assert!(left[2].is_air() && table.is_thin(PLANT) && !table.is_thin(SLAB));
}

/// Plants in a lake: the water has the quads that it has without them, and so has a side of it.
#[test]
fn plants_leave_no_hole_in_their_water() {
    let lake = |plants: &[[u8; 3]]| {
        let mut chunk = Chunk::from_fn(8, |at| if at.y < 3 { WATER } else { Material::AIR });
        for &[x, y, z] in plants {
            chunk.set(LocalPos::new(x, y, z), WET_PLANT);
        }
        mesh(&chunk)
    };
    let (plain, planted) = (lake(&[]), lake(&[[3, 1, 3], [3, 2, 3], [0, 2, 5], [7, 0, 7]]));
    assert_eq!(faces_of_water(&planted), faces_of_water(&plain));
    assert_eq!(planted.shapes.len(), plain.shapes.len() + 4 * 4);
}

/// The water around a slab or stairs ends where these begin, and takes the colour of its lake.
#[test]
fn fluids_around_shapes_have_the_colour_beside_them_and_end_at_opaque_boxes() {
    let mut chunk = Chunk::new(8, Material::AIR);
    for (x, material) in [(3, LOW_WATER), (4, WET_STAIRS)] {
        chunk.set(LocalPos::new(x, 1, 4), material);
    }
    let of_water = faces_of_water(&mesh(&chunk));
    assert!(of_water.values().all(|material| *material == LOW_WATER));
    let in_stairs = |face: Face| {
        let cells = of_water.keys().filter(|(index, _)| *index == face.index());
        cells.filter(|(_, [x, ..])| (64..80).contains(x)).map(|(_, at)| *at).collect::<Vec<_>>()
    };
    // Beside the upper half of the stairs, from 8 to 14 sixteenths.
    let tops = in_stairs(Face::PosY);
    assert!(tops.len() == 8 * 16 && tops.iter().all(|[x, y, _]| *x < 72 && *y == 16 + 14));
    let sides = in_stairs(Face::PosZ);
    assert!(sides.len() == 8 * 6 && sides.iter().all(|[x, y, _]| *x < 72 && *y >= 24), "{sides:?}");
    assert!(in_stairs(Face::NegY).is_empty());
}
