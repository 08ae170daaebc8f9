use alloc::vec::Vec;

use drystone_mesh::{Face, Quad, QuadBuffer, QuadSink};

use crate::material::FIRST_PARTIAL;
use crate::pieces::{MAX_CELLS, Piece, Pieces};
use crate::skirt::{Grid, MAX, cover};
use crate::{ChunkMesh, Material, MaterialTable, PaddedChunk, Shape};

/// Meshes [partial materials](MaterialTable::filled_to) of translucent materials: LOD voxels that are filled up to
/// a height, such as the surface of a lake whose height is no multiple of the LOD voxels.
///
/// ```text
///  PaddedChunk ─ take ─► whole voxels ─► GreedyMesher, mesh_skirt ─► ChunkMesh ─► lower ─► ChunkMesh
///                 └────► heights ──────────────────────────────────────────────────┘
/// ```
/// [`take`](Self::take) replaces them by their whole materials. [`lower`](Self::lower) moves the top of
/// these voxels down to their height, cuts their sides, and adds the strips between two
/// heights of one body. Lowered faces are [fine](Quad::fine) quads of up to 4 × 4 voxels without ambient
/// occlusion. Only surfaces below air are lowered.
///
/// Whole [fluids](crate::ShapeKind::Fluid) have the height of their shape in full detail. At the first
/// levels, where the difference is at least a sixteenth of a voxel, they are lowered too.
///
/// # Cost
/// [`take`](Self::take) reads each voxel once if the table has translucent materials; else nothing. If
/// the chunk has partial materials, [`lower`](Self::lower) reads the voxels of all translucent faces. A
/// surface over a whole chunk takes 64 quads instead of one. Reuse one mesher per thread; it keeps its
/// memory.
///
/// # Examples
/// ```
/// use drystone_voxel::{
///     Chunk, ChunkMesh, GreedyMesher, MaterialTable, PaddedChunk, SurfaceMesher,
/// };
///
/// let mut table = MaterialTable::new();
/// let water = table.insert("water", [40, 80, 200, 90]).unwrap();
/// let half = Chunk::new(32, table.filled_to(water, 8));
/// let (mut padded, mut mesh) = (PaddedChunk::new(), ChunkMesh::new());
/// padded.fill(&half, |_| None);
/// let mut surfaces = SurfaceMesher::new();
/// surfaces.take(&mut padded, &table, 1);
/// GreedyMesher::new().mesh(&padded, &table, &mut mesh);
/// surfaces.lower(&padded, &table, &mut mesh);
/// let tops: Vec<_> = mesh.iter().filter(|(quad, _)| quad.is_fine()).collect();
/// assert!(tops.iter().any(|(quad, _)| quad.positions()[0][1] == 31.5));
/// ```
#[derive(Debug, Default)]
pub struct SurfaceMesher {
    /// Sixteenths by which the voxel at an index of the padded chunk is lowered. Empty until the first
    /// chunk with lowered voxels.
    missing: Vec<u8>,
    /// Indices of the lowered voxels.
    lowered: Vec<u32>,
    pieces: Pieces,
    /// Quads of one face direction.
    quads: Vec<Quad>,
    /// Replaces a buffer of the mesh.
    cut: QuadBuffer,
}

/// Directions of the sides of a voxel.
const SIDES: [Face; 4] = [Face::NegX, Face::NegZ, Face::PosX, Face::PosZ];
const CELLS: u16 = Shape::CELLS as u16;

impl SurfaceMesher {
    /// Creates a mesher without memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns whether a chunk or its halo has partial materials.
    pub(crate) fn has_partials(chunk: &PaddedChunk, table: &MaterialTable) -> bool {
        // A maximum is computed in wide registers, a search is not.
        let highest = chunk.voxels().iter().fold(0, |highest, voxel| voxel.0.max(highest));
        highest >= FIRST_PARTIAL && table.has_partials()
    }

    /// Replaces partial materials in a chunk and its halo by their whole materials, and stores their heights.
    /// `level` is the level of detail of the chunk.
    pub fn take(&mut self, chunk: &mut PaddedChunk, table: &MaterialTable, level: u8) {
        let Self { missing, lowered, .. } = self;
        for index in lowered.drain(..) {
            missing[index as usize] = 0;
        }
        if !table.any_translucent() {
            return;
        }
        missing.resize(chunk.voxels().len(), 0);
        if Self::has_partials(chunk, table) {
            let whole = |partial| Some(table.whole(partial)).filter(|&whole| whole != partial);
            chunk.replace(whole, |index, partial| {
                missing[index] = Shape::CELLS - table.fill_cells(partial);
                lowered.push(index as u32);
            });
        }
        if table.any_shaped() {
            Self::take_fluids(chunk, table, level, |index, cells| {
                if missing[index] == 0 {
                    missing[index] = cells;
                    lowered.push(index as u32);
                }
            });
        }
        let padded = chunk.side() + 2;
        lowered.retain(|&index| {
            let above = index + padded;
            let is_top = index / padded % padded + 1 == padded;
            let is_surface = !is_top && chunk.voxels()[above as usize].is_air();
            if !is_surface {
                missing[index as usize] = 0;
            }
            is_surface
        });
    }

    /// Calls `each` with the index of each translucent fluid, and the sixteenths by which it is lowered
    /// at a level.
    fn take_fluids(
        chunk: &PaddedChunk,
        table: &MaterialTable,
        level: u8,
        mut each: impl FnMut(usize, u8),
    ) {
        let (mut last, mut cells) = (Material::AIR, 0);
        let n = chunk.side() as usize;
        for (index, &voxel) in chunk.voxels().iter().enumerate() {
            if voxel != last {
                let missing = Shape::CELLS - table.fill_cells(voxel);
                cells = if table.is_translucent(voxel) { missing >> level.min(7) } else { 0 };
                last = voxel;
            }
            if cells == 0 {
                continue;
            }
            // The voxel above the edge of the halo may be unknown.
            let [x, y, z] = [index % (n + 2), index / (n + 2) % (n + 2), index / (n + 2) / (n + 2)];
            let is_edge = y == n && [x, z].iter().any(|&c| c == 0 || c == n + 1);
            if !is_edge {
                each(index, cells);
            }
        }
    }

    /// Lowers the faces of a chunk's mesh. `chunk` is the chunk after [`take`](Self::take).
    pub fn lower(&mut self, chunk: &PaddedChunk, table: &MaterialTable, mesh: &mut ChunkMesh) {
        if self.lowered.is_empty() {
            return;
        }
        self.cut(chunk, &mut mesh.translucent);
        self.push_strips(chunk, table);
        self.pieces.add_to(mesh);
    }

    /// Lowers the faces of a chunk's skirt. `chunk` is the chunk after [`take`](Self::take).
    pub fn lower_skirt(&mut self, chunk: &PaddedChunk, skirt: &mut ChunkMesh) {
        if !self.lowered.is_empty() && !skirt.translucent.is_empty() {
            self.cut(chunk, &mut skirt.translucent);
            self.pieces.add_to(skirt);
        }
    }

    /// Replaces the faces of lowered voxels in quads by pieces.
    fn cut(&mut self, chunk: &PaddedChunk, buffer: &mut QuadBuffer) {
        let Self { missing, pieces, quads, cut, .. } = self;
        let heights = Heights { missing, side: chunk.side() };
        let mut rest = buffer.quads();
        cut.clear();
        for face in Face::ALL {
            let (own, others) = rest.split_at(buffer.count(face) as usize);
            rest = others;
            quads.clear();
            for &quad in own {
                if face == Face::NegY || !heights.any(quad, face) {
                    quads.push(quad);
                } else {
                    heights.split(quad, face, quads, pieces);
                }
            }
            cut.append(face, quads);
        }
        core::mem::swap(cut, buffer);
    }

    /// Adds the sides of voxels that are higher than the lowered voxel beside them.
    fn push_strips(&mut self, chunk: &PaddedChunk, table: &MaterialTable) {
        let Self { missing, lowered, pieces, .. } = self;
        let (n, padded) = (chunk.side(), chunk.side() + 2);
        for &index in &*lowered {
            let at = [index % padded, index / padded % padded, index / (padded * padded)];
            let low = missing[index as usize];
            for face in SIDES {
                let mut higher_at = at;
                let c = &mut higher_at[face.axis()];
                *c = if face.is_positive() { c.wrapping_sub(1) } else { *c + 1 };
                if !higher_at.iter().all(|c| (1..=n).contains(c)) {
                    continue;
                }
                let [x, y, z] = higher_at;
                let high = missing[(x + padded * (y + padded * z)) as usize];
                let material = chunk.get(higher_at);
                if high >= low || !table.is_one_body(material, chunk.get(at)) {
                    continue;
                }
                let mut piece =
                    Piece::of_voxels(higher_at.map(|c| c - 1), [1, 1], face, material.0);
                let up = usize::from(face.span_axes()[1] == 1);
                piece.low[up] += CELLS - u16::from(low);
                piece.size[up] = u16::from(low - high);
                pieces.push(piece);
            }
        }
    }
}

impl Piece {
    /// Creates a piece that covers the faces of translucent voxels.
    fn of_voxels(position: [u32; 3], size: [u32; 2], face: Face, material: u16) -> Self {
        let cells = |voxels: u32| voxels as u16 * CELLS;
        Self {
            is_translucent: true,
            face: face.index() as u8,
            plane: cells(position[face.axis()] + u32::from(face.is_positive())),
            material,
            low: face.span_axes().map(|axis| cells(position[axis])),
            size: size.map(cells),
        }
    }
}

/// Heights of the voxels of a chunk.
struct Heights<'a> {
    missing: &'a [u8],
    side: u32,
}

impl Heights<'_> {
    /// Sixteenths by which a voxel of the chunk is lowered.
    fn missing(&self, position: [u32; 3]) -> u8 {
        let ([x, y, z], padded) = (position.map(|c| c + 1), self.side + 2);
        self.missing.get((x + padded * (y + padded * z)) as usize).copied().unwrap_or(0)
    }

    /// Voxel of a quad at a column and a row.
    fn voxel(quad: Quad, face: Face, [u, v]: [u32; 2]) -> [u32; 3] {
        let mut position = quad.position();
        let [u_axis, v_axis] = face.span_axes();
        position[u_axis] += u;
        position[v_axis] += v;
        position
    }

    /// Whether a quad has faces of lowered voxels.
    fn any(&self, quad: Quad, face: Face) -> bool {
        let [width, height] = quad.size();
        let mut cells = (0..height).flat_map(|v| (0..width).map(move |u| [u, v]));
        cells.any(|cell| self.missing(Self::voxel(quad, face, cell)) > 0)
    }

    /// Splits a quad into quads of voxels that are not lowered, and pieces of those that are.
    fn split(&self, quad: Quad, face: Face, quads: &mut Vec<Quad>, pieces: &mut Pieces) {
        let [width, height] = quad.size();
        // Sixteenths by which voxels are lowered, plus one.
        let mut open: Grid<u8> = [[0; MAX]; MAX];
        for (v, u) in (0..height).flat_map(|v| (0..width).map(move |u| (v, u))) {
            open[v as usize][u as usize] = 1 + self.missing(Self::voxel(quad, face, [u, v]));
        }
        cover(&mut open, width.max(height) as usize, |u, v, size, cell| {
            let position = Self::voxel(quad, face, [u as u32, v as u32]);
            if cell == 1 {
                quads.push(quad.with_rectangle(position, size));
                return;
            }
            let missing = u16::from(cell - 1);
            let most = u32::from(MAX_CELLS / CELLS);
            let [columns, rows] = size.map(|length| (0..length).step_by(most as usize));
            for (v, u) in rows.flat_map(|v| columns.clone().map(move |u| (v, u))) {
                let size = [size[0] - u, size[1] - v].map(|length| length.min(most));
                let mut at = position;
                let axes = face.span_axes();
                at[axes[0]] += u;
                at[axes[1]] += v;
                let mut piece = Piece::of_voxels(at, size, face, quad.material());
                match face {
                    Face::PosY => piece.plane -= missing,
                    _ => piece.size[usize::from(axes[1] == 1)] -= missing,
                }
                pieces.push(piece);
            }
        });
    }
}

#[cfg(test)]
mod tests;
