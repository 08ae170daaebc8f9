use core::array;

use drystone_mesh::{Face, Quad, QuadSink};

use crate::occlusion::occlusion_from;
use crate::{Chunk, ChunkMesh, Material, MaterialTable, MesherOptions, PaddedChunk};

/// Maximum length of a row of a chunk's border.
pub(crate) const MAX: usize = Chunk::MAX_SIDE as usize;

/// Meshes the skirt of a chunk: a vertical strip that closes the gap to a neighbour drawn at
/// another level of detail. It consists of the border faces in direction `face` that a mesher omits
/// because opaque voxels meet in the chunk and in the halo.
///
/// The opaque mesh and the skirt together equal the mesh of a chunk whose neighbour is air.
/// Translucent bodies such as water get no skirt, which would be visible as a sheet inside them.
/// The exception is their rim: voxels on the border with air beside or below them in the plane of
/// the border. Rims close the step between the sides of two bodies at different levels; the skirts of
/// both bodies close all other gaps. Air above makes no rim, because a surface has one height at all
/// levels, see [`downsample_block`](crate::downsample_block).
///
/// With [`MesherOptions::ambient_occlusion`], each face of the skirt has the ambient occlusion that
/// it has in the mesh of a chunk whose neighbour is air: only neighbours across edges and corners
/// darken it, and only at the border of the skirt. Border faces in the chunk's own mesh are also
/// darkened by the neighbour. Skirts are merged greedily, whatever [`MesherOptions::merging`] is.
///
/// # Cost
/// Reads n² pairs of voxels, and the neighbours of translucent ones. Produces greedy quads: few for
/// a skirt of one material. For ambient occlusion the ring of 4 (n + 1) voxels around the skirt is
/// read too. It can cut off the faces at the border.
///
/// # Examples
/// ```
/// use drystone_mesh::Face;
/// use drystone_voxel::{
///     Chunk, ChunkMesh, Material, MaterialTable, MesherOptions, PaddedChunk, mesh_skirt,
/// };
///
/// let stone = Chunk::new(32, Material(1));
/// let mut padded = PaddedChunk::new();
/// padded.fill(&stone, |_| Some(&stone));
/// let (options, table) = (MesherOptions::default(), MaterialTable::new());
/// let mut skirt = ChunkMesh::new();
/// mesh_skirt(&padded, Face::PosX, options, &table, &mut skirt);
/// assert_eq!(skirt.opaque.quads()[0].size(), [32, 32]);
/// ```
pub fn mesh_skirt(
    chunk: &PaddedChunk,
    face: Face,
    options: MesherOptions,
    table: &MaterialTable,
    skirt: &mut ChunkMesh,
) {
    let n = chunk.side() as usize;
    if n == 0 || !chunk.has_solid() || is_closed(chunk, face) {
        return;
    }
    let border = Border { chunk, face, table, options };
    let [u_axis, v_axis] = face.span_axes();
    // Index steps between adjacent voxels of the padded chunk along each axis.
    let steps = [1, n + 2, (n + 2) * (n + 2)];
    let [u_step, v_step, step] = [u_axis, v_axis, face.axis()].map(|axis| steps[axis]);
    let corner = border.position(0, 0);
    let first: usize = (0..3).map(|axis| (corner[axis] as usize + 1) * steps[axis]).sum();
    let beyond = if face.is_positive() { first + step } else { first - step };
    let voxels = chunk.voxels();
    // Faces still to be covered.
    let mut open = NO_FACES;
    let mut rim = None;
    let mut any = false;
    let (mut last, mut joint) = ((Material::AIR, Material::AIR), Joint::None);
    for (v, row) in open.iter_mut().enumerate().take(n) {
        let (row_first, row_beyond) = (first + v * v_step, beyond + v * v_step);
        for (u, cell) in row[..n].iter_mut().enumerate() {
            let at = row_first + u * u_step;
            let pair = (voxels[at], voxels[row_beyond + u * u_step]);
            // Adjacent pairs are often equal.
            if pair != last {
                (last, joint) = (pair, Joint::of(pair, table));
            }
            if joint == Joint::Opaque {
                (*cell, any) = (SkirtFace::new(pair.0), true);
            } else if joint == Joint::Body {
                let neighbors = [at - u_step, at + u_step, at - v_step, at + v_step];
                let above = at + steps[1];
                if neighbors.into_iter().any(|at| at != above && voxels[at].is_air()) {
                    rim.get_or_insert(NO_FACES)[v][u] = SkirtFace::new(pair.0);
                }
            }
        }
    }
    if any {
        border.push_quads(&mut open, &mut skirt.opaque);
    }
    if let Some(rim) = &mut rim {
        border.push_quads(rim, &mut skirt.translucent);
    }
}

/// Cells of one side of a chunk, by row and column.
pub(crate) type Grid<Cell> = [[Cell; MAX]; MAX];

/// One side of a chunk.
struct Border<'a> {
    chunk: &'a PaddedChunk,
    face: Face,
    table: &'a MaterialTable,
    options: MesherOptions,
}

impl Border<'_> {
    /// Returns the position of the voxel at column `u` and row `v`.
    fn position(&self, u: usize, v: usize) -> [u32; 3] {
        let depth = if self.face.is_positive() { self.chunk.side() - 1 } else { 0 };
        let [u_axis, v_axis] = self.face.span_axes();
        let mut position = [depth; 3];
        position[u_axis] = u as u32;
        position[v_axis] = v as u32;
        position
    }

    /// Covers the faces in `open` with quads.
    fn push_quads(&self, open: &mut Grid<SkirtFace>, quads: &mut impl QuadSink) {
        let n = self.chunk.side() as usize;
        if self.options.ambient_occlusion {
            self.shade(open);
        }
        // A skirt is the side of a step.
        let steps = if self.options.steps { Quad::MAX_STEPS } else { 0 };
        // Adjacent faces share two corners. So equal ones have a constant value where they join.
        cover(open, n, |u, v, size, face| {
            let quad = Quad::new(self.position(u, v), size, self.face, face.material());
            quads.push(quad.with_steps([steps; 2]).with_ambient_occlusion(face.occlusion()));
        });
    }

    /// Sets the ambient occlusion of the faces at the border of the skirt; all others have none.
    fn shade(&self, open: &mut Grid<SkirtFace>) {
        let n = self.chunk.side() as usize;
        let covering = self.covering();
        let mut shade = |u: usize, v: usize| {
            let face = &mut open[v][u];
            let around: [u128; 3] = array::from_fn(|row| covering[v + row] >> u & 0b111);
            if *face != SkirtFace::NONE && around != [0; 3] {
                let around = around.map(|row| [0, 1, 2].map(|bit| row >> bit & 1 != 0));
                *face = face.with_occlusion(occlusion_from(self.face, around));
            }
        };
        for at in 0..n {
            shade(at, 0);
            shade(at, n - 1);
        }
        for v in 1..n.saturating_sub(1) {
            shade(0, v);
            shade(n - 1, v);
        }
    }

    /// Returns the voxels around the side, in the plane in front of it, that darken faces: a bit for
    /// each column from −1 on, by row from −1 on. Bits inside the side are clear.
    fn covering(&self) -> [u128; MAX + 2] {
        let end = self.chunk.side() as usize + 1;
        let front = if self.face.is_positive() { end as u32 } else { 0 };
        let [u_axis, v_axis] = self.face.span_axes();
        let mut covering = [0; MAX + 2];
        let mut read = |u: usize, v: usize| {
            let mut at = [front; 3];
            (at[u_axis], at[v_axis]) = (u as u32, v as u32);
            covering[v] |= u128::from(self.table.covers(self.chunk.get(at))) << u;
        };
        for at in 0..=end {
            read(at, 0);
            read(at, end);
        }
        for at in 1..end {
            read(0, at);
            read(end, at);
        }
        covering
    }
}

/// Material and ambient occlusion of a face; air marks none. One word, so that faces are compared
/// at once.
#[derive(Clone, Copy, Default, PartialEq)]
struct SkirtFace(u32);

/// A side without faces.
const NO_FACES: Grid<SkirtFace> = [[SkirtFace::NONE; MAX]; MAX];

impl SkirtFace {
    const NONE: Self = Self(0);

    const fn new(material: Material) -> Self {
        Self(material.0 as u32)
    }

    const fn with_occlusion(self, occlusion: u8) -> Self {
        Self(self.0 | (occlusion as u32) << 16)
    }

    const fn material(self) -> u16 {
        self.0 as u16
    }

    const fn occlusion(self) -> u8 {
        (self.0 >> 16) as u8
    }
}

/// Relation of a voxel at the border to the one beyond.
#[derive(Clone, Copy, PartialEq)]
enum Joint {
    /// There is no face, or it is in the mesh of the chunk.
    None,
    /// Both are opaque, and hide the face between them.
    Opaque,
    /// Both are part of one translucent body.
    Body,
}

impl Joint {
    fn of((voxel, beyond): (Material, Material), table: &MaterialTable) -> Self {
        let is_opaque = |it: Material| !it.is_air() && !table.is_translucent(it);
        if is_opaque(voxel) {
            let is_hidden = is_opaque(beyond) && !table.is_cut_out(beyond);
            if is_hidden { Self::Opaque } else { Self::None }
        } else if table.is_one_body(voxel, beyond) {
            Self::Body
        } else {
            Self::None
        }
    }
}

/// Covers `n` rows of `n` cells with rectangles of equal cells, of maximum width and then of maximum
/// height. Default cells, such as air, are not covered.
pub(crate) fn cover<Cell: Copy + Default + PartialEq>(
    open: &mut Grid<Cell>,
    n: usize,
    mut put: impl FnMut(usize, usize, [u32; 2], Cell),
) {
    let none = Cell::default();
    for v in 0..n {
        let mut u = 0;
        while u < n {
            let cell = open[v][u];
            if cell == none {
                u += 1;
                continue;
            }
            let width = open[v][u..n].iter().take_while(|&&it| it == cell).count();
            let (row, below) = open[v..n].split_at_mut(1);
            let covered = &mut row[0][u..u + width];
            let height = 1 + below.iter().take_while(|row| row[u..u + width] == *covered).count();
            covered.fill(none);
            for row in &mut below[..height - 1] {
                row[u..u + width].fill(none);
            }
            put(u, v, [width as u32, height as u32], cell);
            u += width;
        }
    }
}

/// Returns whether one side of the border is certainly only air.
fn is_closed(chunk: &PaddedChunk, face: Face) -> bool {
    [chunk.uniform(), chunk.uniform_beyond(face)].contains(&Some(Material::AIR))
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;
    use alloc::vec::Vec;

    use super::*;
    use crate::occlusion::face_occlusion;
    use crate::{MaterialKind, mesh_unit};

    /// Splits the quads of one face direction into single faces.
    fn faces(quads: &[Quad], face: Face) -> BTreeSet<([u32; 3], u16)> {
        let mut all = BTreeSet::new();
        for quad in quads.iter().filter(|quad| quad.face() == Some(face)) {
            for at in cells(quad, face) {
                assert!(all.insert((at, quad.material())), "{face:?} {at:?} twice");
            }
        }
        all
    }

    /// Returns the positions of the faces that a quad covers.
    fn cells(quad: &Quad, face: Face) -> impl Iterator<Item = [u32; 3]> {
        let ([u_axis, v_axis], [width, height]) = (face.span_axes(), quad.size());
        let position = quad.position();
        (0..width).flat_map(move |u| (0..height).map(move |v| [u, v])).map(move |[u, v]| {
            let mut at = position;
            (at[u_axis], at[v_axis]) = (at[u_axis] + u, at[v_axis] + v);
            at
        })
    }

    #[test]
    fn faces_have_the_occlusion_of_a_mesh_with_a_neighbour_of_air() {
        let mut table = MaterialTable::new();
        for _ in 0..3 {
            table.insert("any", [255; 4]).unwrap();
        }
        let options = MesherOptions { ambient_occlusion: true, ..MesherOptions::default() };
        let mut dark = BTreeSet::new();
        for (side, face) in
            [1, 2, 5, 16, 32, 64].into_iter().flat_map(|it| Face::ALL.map(|face| (it, face)))
        {
            let voxel = |at: [u32; 3]| {
                let mixed =
                    (at[0] * 73 + at[1] * 179 + at[2] * 283 + side).wrapping_mul(2_654_435_761);
                Material(if mixed >> 24 < 150 { 1 + (at[0] / 7 % 3) as u16 } else { 0 })
            };
            let plane = if face.is_positive() { side + 1 } else { 0 };
            let is_neighbor = |at: [u32; 3]| {
                at[face.axis()] == plane
                    && face.span_axes().iter().all(|&axis| (1..=side).contains(&at[axis]))
            };
            let padded = PaddedChunk::from_fn(side, voxel);
            let without = |at| if is_neighbor(at) { Material::AIR } else { voxel(at) };
            let open = PaddedChunk::from_fn(side, without);
            let mut skirt = ChunkMesh::new();
            mesh_skirt(&padded, face, options, &table, &mut skirt);
            for (quad, at) in
                skirt.opaque.quads().iter().flat_map(|it| cells(it, face).map(move |at| (it, at)))
            {
                let expected = face_occlusion(&open, &table, at, face);
                assert_eq!(quad.ambient_occlusion(), expected, "{face:?} {at:?} of {side}");
                dark.insert(expected);
            }
        }
        assert!(dark.len() > 20, "{dark:?}");
    }

    /// Mesh and skirt together equal the mesh of a chunk whose neighbour is air.
    #[test]
    fn mesh_and_skirt_equal_the_mesh_with_a_neighbour_of_air() {
        let mut rim_count = 0;
        let mut table = MaterialTable::new();
        for alpha in [255, 255, 90, 90, 120] {
            table.insert("any", [5, 5, 5, alpha]).unwrap();
        }
        let leaves = MaterialKind::new("leaves", [5, 9, 5, 255]).with_cut_out();
        table.insert_kind(leaves).unwrap();
        for (seed, side) in [1, 2, 4, 5, 8, 16, 31, 32, 64].into_iter().enumerate() {
            for fill in [40, 150, 250] {
                let voxel = |at: [u32; 3]| {
                    let mixed = (at[0] / 3 * 73 + at[1] / 2 * 179 + at[2] / 5 * 283 + seed as u32)
                        .wrapping_mul(2_654_435_761);
                    let dice = mixed >> 24;
                    Material(if dice < fill { (1 + dice % 6) as u16 } else { 0 })
                };
                let padded = PaddedChunk::from_fn(side, voxel);
                let mut mesh = ChunkMesh::new();
                mesh_unit(&padded, &table, &mut mesh);
                for face in Face::ALL {
                    let mut skirt = ChunkMesh::new();
                    mesh_skirt(&padded, face, MesherOptions::default(), &table, &mut skirt);
                    assert_eq!(skirt.opaque.count(face) as usize, skirt.opaque.len());
                    let rim = faces(skirt.translucent.quads(), face);
                    assert_eq!(rim, rim_of(&padded, face, &table), "{face:?}");
                    rim_count += rim.len();
                    let border = if face.is_positive() { side + 1 } else { 0 };
                    let open = PaddedChunk::from_fn(side, |at| {
                        if at[face.axis()] == border { Material::AIR } else { voxel(at) }
                    });
                    let mut closed = ChunkMesh::new();
                    mesh_unit(&open, &table, &mut closed);
                    let both: Vec<Quad> =
                        mesh.opaque.quads().iter().chain(skirt.opaque.quads()).copied().collect();
                    let expected = faces(closed.opaque.quads(), face);
                    assert_eq!(faces(&both, face), expected, "side {side} fill {fill} {face:?}");
                }
            }
        }
        assert!(rim_count > 1_000, "{rim_count}");
    }

    /// Computes the rim voxel by voxel: translucent, one body with the voxel beyond, air on one of
    /// four sides, or of three without the upper one.
    fn rim_of(
        padded: &PaddedChunk,
        face: Face,
        table: &MaterialTable,
    ) -> BTreeSet<([u32; 3], u16)> {
        let n = padded.side();
        let (depth, beyond) = if face.is_positive() { (n, n + 1) } else { (1, 0) };
        let mut rim = BTreeSet::new();
        let [u_axis, v_axis] = face.span_axes();
        for (u, v) in (1..=n).flat_map(|u| (1..=n).map(move |v| (u, v))) {
            let at = |depth: u32, u: u32, v: u32| {
                let mut at = [depth; 3];
                (at[u_axis], at[v_axis]) = (u, v);
                at
            };
            let voxel = padded.get(at(depth, u, v));
            let around = [(u - 1, v), (u + 1, v), (u, v - 1), (u, v + 1)];
            let height = at(depth, u, v)[1];
            let mut beside = around.iter().map(|&(u, v)| at(depth, u, v));
            let is_open = beside.any(|at| at[1] <= height && padded.get(at).is_air());
            let is_like = table.is_one_body(padded.get(at(beyond, u, v)), voxel);
            if table.is_translucent(voxel) && is_like && is_open {
                rim.insert((at(depth, u, v).map(|c| c - 1), voxel.0));
            }
        }
        rim
    }
}
