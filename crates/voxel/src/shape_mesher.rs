use alloc::vec::Vec;

use drystone_mesh::{Face, Quad};

use crate::pieces::{Piece, Pieces};
use crate::shape::Mask;
use crate::{ChunkMesh, Material, MaterialKind, MaterialTable, PaddedChunk, ShapeBox, ShapeKind};

/// Meshes voxels whose material has a [`Shape`](crate::Shape), in [fine](Quad::fine) quads of the
/// same 8 bytes.
///
/// ```text
///  PaddedChunk ─ take ─► without shaped voxels ─► GreedyMesher ─► ChunkMesh ─┐
///                 └────► shaped voxels ─────────────────────────── add_to ───┴─► ChunkMesh
/// ```
/// [`take`](Self::take) replaces shaped voxels by air, so other meshers keep the faces of voxels beside
/// them. [`add_to`](Self::add_to) adds the faces of their boxes. It leaves out faces, and parts of
/// faces, that lie in another box of the voxel, that touch an opaque voxel, or that touch a box of the
/// next voxel which is opaque or of the same body. Equal rectangles of adjacent voxels are merged up to
/// 4 voxels. The [fluid](crate::MaterialKind::fluid) around a shape is drawn too, in the colour of a
/// fluid next to it.
///
/// Faces have no ambient occlusion, and shaped voxels darken nothing. Materials of one colour are one
/// body, such as lava of several heights, and so are fluids of
/// [`MaterialTable::is_one_body`], such as water of several biomes.
///
/// # Cost
/// One pass over the voxels of the chunk, if the table has shapes; else nothing. About a microsecond
/// per shaped voxel. Reuse one mesher per thread; it keeps its memory.
///
/// # Examples
/// ```
/// use drystone_voxel::{
///     Chunk, ChunkMesh, GreedyMesher, LocalPos, Material, MaterialKind, MaterialTable,
///     PaddedChunk, Shape, ShapeBox, ShapeKind, ShapeMesher,
/// };
///
/// let lower_half = ShapeBox { min: [0; 3], max: [16, 8, 16] };
/// let slab = Shape::new(vec![lower_half], ShapeKind::Opaque).unwrap();
/// let mut table = MaterialTable::new();
/// let stone = table.insert("stone", [120, 120, 120, 255]).unwrap();
/// let slab = MaterialKind::new("slab", [120, 120, 120, 255]).with_shape(slab);
/// let slab = table.insert_kind(slab).unwrap();
/// let mut chunk = Chunk::new(32, Material::AIR);
/// chunk.set(LocalPos::new(3, 0, 3), stone);
/// chunk.set(LocalPos::new(3, 1, 3), slab);
///
/// let (mut padded, mut mesh) = (PaddedChunk::new(), ChunkMesh::new());
/// padded.fill(&chunk, |_| None);
/// let mut shapes = ShapeMesher::new();
/// shapes.take(&mut padded, &table);
/// GreedyMesher::new().mesh(&padded, &table, &mut mesh);
/// shapes.add_to(&padded, &table, &mut mesh);
/// // Six faces of the stone, and five of the slab: its bottom touches the stone.
/// assert_eq!(mesh.len(), 6 + 5);
/// ```
#[derive(Debug, Default)]
pub struct ShapeMesher {
    /// Shaped voxels of the chunk and its halo by index in the padded chunk, else air. Empty until
    /// the first chunk with shapes.
    shaped: Vec<Material>,
    /// Indices of the shaped voxels, ascending.
    taken: Vec<u32>,
    pieces: Pieces,
}

impl ShapeMesher {
    /// Creates a mesher without memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Moves the shaped voxels of a chunk and its halo to this mesher, and replaces them by air.
    pub fn take(&mut self, chunk: &mut PaddedChunk, table: &MaterialTable) {
        for index in self.taken.drain(..) {
            self.shaped[index as usize] = Material::AIR;
        }
        if !table.any_shaped() {
            return;
        }
        let Self { shaped, taken, .. } = self;
        shaped.resize(chunk.voxels().len(), Material::AIR);
        chunk.replace(
            |material| table.is_shaped(material).then_some(Material::AIR),
            |index, material| {
                shaped[index] = material;
                taken.push(index as u32);
            },
        );
    }

    /// Adds the quads of the shaped voxels that [`take`](Self::take) moved, in the order of
    /// [`ChunkMesh`]. `chunk` is the chunk without them.
    pub fn add_to(&mut self, chunk: &PaddedChunk, table: &MaterialTable, mesh: &mut ChunkMesh) {
        let Self { shaped, taken, pieces } = self;
        let voxels = Voxels { shaped, chunk, table };
        let padded = chunk.side() + 2;
        for &index in &*taken {
            let at = [index % padded, index / padded % padded, index / (padded * padded)];
            if at.iter().all(|&c| (1..=chunk.side()).contains(&c)) {
                voxels.push_pieces(at, pieces);
            }
        }
        pieces.add_to(mesh);
    }
}

/// The voxels of a chunk, with and without shape.
struct Voxels<'a> {
    shaped: &'a [Material],
    chunk: &'a PaddedChunk,
    table: &'a MaterialTable,
}

impl<'a> Voxels<'a> {
    /// Appends the visible rectangles of the shaped voxel at a padded position: of its shape, and of
    /// the fluid around that.
    fn push_pieces(&self, at: [u32; 3], pieces: &mut Pieces) {
        let material = self.shaped_at(at);
        let boxes = self.boxes(at, material);
        self.push_boxes(at, material, [boxes, &[]], pieces);
        if let Some(fluid) = self.fluid_around(at) {
            let covers = if self.is_drawn_opaque(material) { boxes } else { &[] };
            let fluid_boxes = self.boxes(at, fluid);
            self.push_boxes(at, self.beside(at, fluid), [fluid_boxes, covers], pieces);
        }
    }

    /// Appends the visible rectangles of boxes, without those that touch or lie in boxes of `covers`.
    fn push_boxes(
        &self,
        at: [u32; 3],
        material: Material,
        [boxes, covers]: [&[ShapeBox]; 2],
        pieces: &mut Pieces,
    ) {
        let is_translucent = !self.is_drawn_opaque(material);
        for face in Face::ALL {
            let axis = face.axis();
            let plane = |part: &ShapeBox| {
                if face.is_positive() { part.max[axis] } else { part.min[axis] }
            };
            for (i, part) in boxes.iter().enumerate() {
                let at_plane = plane(part);
                if boxes[..i].iter().any(|earlier| plane(earlier) == at_plane) {
                    continue;
                }
                let mut mask = visible_in_voxel(&boxes[i..], boxes, face, at_plane);
                for cover in covers {
                    if (cover.min[axis]..=cover.max[axis]).contains(&at_plane) {
                        mask.remove(cover, face.span_axes());
                    }
                }
                let border = if face.is_positive() { ShapeBox::FULL.max } else { [0; 3] };
                if at_plane == border[axis] {
                    self.remove_touched(material, at, face, &mut mask);
                }
                while let Some([low, size]) = mask.pop_rectangle() {
                    let origin = at.map(|c| (c - 1) * Quad::FINE_CELLS);
                    let [u, v] = face.span_axes();
                    pieces.push(Piece {
                        is_translucent,
                        face: face.index() as u8,
                        plane: origin[axis] as u16 + u16::from(at_plane),
                        material: material.0,
                        low: [origin[u] + low[0], origin[v] + low[1]].map(|c| c as u16),
                        size: size.map(|c| c as u16),
                    });
                }
            }
        }
    }

    /// Removes what touches the next voxel: all of it if that is opaque, else its boxes.
    fn remove_touched(&self, material: Material, at: [u32; 3], face: Face, mask: &mut Mask) {
        let axis = face.axis();
        let mut next = at;
        next[axis] = if face.is_positive() { at[axis] + 1 } else { at[axis] - 1 };
        let beyond = self.shaped_at(next);
        if beyond.is_air() {
            if self.table.covers(self.chunk.get(next)) {
                *mask = Mask::EMPTY;
            }
            return;
        }
        for body in [Some(beyond), self.fluid_around(next)].into_iter().flatten() {
            if !self.is_drawn_opaque(body) && !self.are_one_body(material, body) {
                continue;
            }
            for part in self.boxes(next, body) {
                let touches = match face.is_positive() {
                    true => part.min[axis] == 0,
                    false => part.max[axis] == ShapeBox::FULL.max[axis],
                };
                if touches {
                    mask.remove(part, face.span_axes());
                }
            }
        }
    }

    /// Returns the boxes of a material in the voxel at a padded position.
    fn boxes(&self, at: [u32; 3], material: Material) -> &'a [ShapeBox] {
        let Some(shape) = self.table.shape(material) else { return &[] };
        if shape.kind() == ShapeKind::Fluid {
            let above_at = [at[0], at[1] + 1, at[2]];
            let above = self.table.fluid(self.shaped_at(above_at));
            let is_below = above.is_some_and(|above| self.are_one_body(material, above));
            if is_below || self.is_unknown(above_at) {
                return &[ShapeBox::FULL];
            }
        }
        shape.boxes()
    }

    /// Returns the fluid around the shape of the voxel at a padded position.
    fn fluid_around(&self, at: [u32; 3]) -> Option<Material> {
        let material = self.shaped_at(at);
        self.table.fluid(material).filter(|fluid| *fluid != material)
    }

    /// Returns the material of a fluid next to a padded position that is of one body with `fluid`; else
    /// `fluid`. So the water around a plant has the colour of its lake.
    fn beside(&self, [x, y, z]: [u32; 3], fluid: Material) -> Material {
        let sides = [[x - 1, y, z], [x + 1, y, z], [x, y, z - 1], [x, y, z + 1], [x, y + 1, z]];
        let mut sides = sides.map(|at| self.shaped_at(at)).into_iter();
        let is_it =
            |it: &Material| self.table.fluid(*it) == Some(*it) && self.are_one_body(fluid, *it);
        sides.find(is_it).unwrap_or(fluid)
    }

    /// Whether a voxel above the halo of a side may be another than the air that it looks like: that halo
    /// is filled only for ambient occlusion. Fluids below it count as full, so that no face is drawn
    /// within a body of fluid.
    fn is_unknown(&self, [x, y, z]: [u32; 3]) -> bool {
        let beyond = self.chunk.side() + 1;
        let is_halo = |c: u32| c == 0 || c == beyond;
        let is_edge = y == beyond && (is_halo(x) || is_halo(z));
        is_edge && self.shaped_at([x, y, z]).is_air() && self.chunk.get([x, y, z]).is_air()
    }

    /// Returns the shaped voxel at a padded position; air if there is none.
    fn shaped_at(&self, [x, y, z]: [u32; 3]) -> Material {
        let padded = self.chunk.side() + 2;
        if [x, y, z].iter().any(|&c| c >= padded) {
            return Material::AIR;
        }
        let index = x + padded * (y + padded * z);
        self.shaped.get(index as usize).copied().unwrap_or(Material::AIR)
    }

    fn is_drawn_opaque(&self, material: Material) -> bool {
        self.table.get(material).is_some_and(MaterialKind::is_shape_opaque)
    }

    fn are_one_body(&self, a: Material, b: Material) -> bool {
        let color = |material| self.table.get(material).map(|kind| kind.color);
        let is_fluid = |material| {
            self.table.shape(material).is_some_and(|shape| shape.kind() == ShapeKind::Fluid)
        };
        color(a) == color(b) || is_fluid(a) && is_fluid(b) && self.table.is_one_body(a, b)
    }
}

/// Cells of all boxes that end at a plane in direction `face`, except those within another box of the
/// voxel.
fn visible_in_voxel(ending: &[ShapeBox], boxes: &[ShapeBox], face: Face, plane: u8) -> Mask {
    let (axis, axes) = (face.axis(), face.span_axes());
    let mut mask = Mask::EMPTY;
    for part in ending {
        let end = if face.is_positive() { part.max[axis] } else { part.min[axis] };
        if end == plane {
            mask.add(part, axes);
        }
    }
    for part in boxes {
        let (min, max) = (part.min[axis], part.max[axis]);
        let is_within = match face.is_positive() {
            true => min <= plane && plane < max,
            false => min < plane && plane <= max,
        };
        if is_within {
            mask.remove(part, axes);
        }
    }
    mask
}

#[cfg(test)]
mod tests;
