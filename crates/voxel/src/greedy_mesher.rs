mod layer;
mod row_bits;
mod row_masks;
mod transpose;
mod turned_masks;

use alloc::vec::Vec;

use drystone_mesh::{Face, Quad, QuadSink};

use self::layer::{Layer, Patch};
use self::row_bits::low_bits;
use self::row_masks::RowMasks;
use self::turned_masks::TurnedMasks;
use crate::{ChunkMesh, Material, MaterialTable, PaddedChunk, face_is_visible};

/// Meshes chunks into few large quads: neighbouring faces of one facing and one material
/// become one quad.
///
/// The idea: a row of voxels is a word of bits. One shift and one AND find the visible
/// faces of a whole row; whether voxels are of one material is compared once per axis
/// into words of the same shape; then merging is only a matter of bits, and a material is
/// looked at once a quad.
///
/// ```text
///  PaddedChunk ──► RowMasks: solid, opaque, same as the one before in X, Y, Z
///                     │ rows along X serve the facings ±Y and ±Z as they are
///                     ├──────────────► Layer ──merge──► Patch ──► Quad
///                     └─► TurnedMasks ─►┘  rows along Y serve ±X
/// ```
///
/// A quad grows first along its row (towards Y for ±X, X for ±Y and ±Z), then over
/// following rows, for as long as every face is visible, of its material and not in
/// another quad. Quads come in the order that [`ChunkMesh`] states.
///
/// # Cost
/// A few operations a row of voxels and some tens of cycles a quad; nothing to speak of
/// for a chunk of air and, where the chunk knows that it is of one material, no more than
/// a look at its border. Scratch is about ten words for each of (n + 2)² rows and is kept:
/// use one mesher a thread again and again, then meshing allocates nothing.
///
/// # Examples
/// ```
/// use drystone_voxel::{Chunk, ChunkMesh, GreedyMesher, Material, MaterialTable, PaddedChunk};
///
/// let mut padded = PaddedChunk::new();
/// padded.fill(&Chunk::new(32, Material(1)), |_| None);
/// let mut mesh = ChunkMesh::new();
/// GreedyMesher::new().mesh(&padded, &MaterialTable::new(), &mut mesh);
/// assert_eq!(mesh.len(), 6);
/// ```
#[derive(Debug, Default)]
pub struct GreedyMesher {
    rows: RowMasks,
    turned: TurnedMasks,
    /// The visible faces of the facing in work.
    visible: Vec<u64>,
}

impl GreedyMesher {
    /// A mesher without scratch; the first mesh makes it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces what is in `mesh` by the quads of `chunk`.
    pub fn mesh(&mut self, chunk: &PaddedChunk, table: &MaterialTable, mesh: &mut ChunkMesh) {
        mesh.clear();
        if !chunk.has_solid() {
            return;
        }
        if let Some(material) = chunk.uniform() {
            mesh_uniform(chunk, material, table, mesh);
            return;
        }
        self.rows.fill(chunk, table);
        self.turned.fill(&self.rows);
        let kinds: &[bool] = if self.rows.has_see_through() { &[false, true] } else { &[false] };
        for &see_through in kinds {
            let sink = mesh.sink(see_through);
            for face in Face::ALL {
                self.rows.visible(face, see_through, &mut self.visible);
                match face.axis() {
                    0 => {
                        self.turned.take_visible(&self.rows, &self.visible);
                        self.mesh_facing::<0>(chunk, face, sink);
                    }
                    1 => self.mesh_facing::<1>(chunk, face, sink),
                    _ => self.mesh_facing::<2>(chunk, face, sink),
                }
            }
        }
    }

    /// Meshes one facing, perpendicular to `AXIS`, layer by layer from the back.
    fn mesh_facing<const AXIS: usize>(
        &self,
        chunk: &PaddedChunk,
        face: Face,
        sink: &mut impl QuadSink,
    ) {
        let side = self.rows.side();
        let mut layer = Layer::new();
        for step in 0..side {
            let at = if face.is_positive() { step } else { side - 1 - step };
            if self.load::<AXIS>(&mut layer, at) {
                layer.merge(side, |patch| {
                    let position = position(AXIS, at as u32, patch.row, patch.bit);
                    sink.push(quad(AXIS, face, position, patch, chunk.inner(position)));
                });
            }
        }
    }

    /// Loads the layer at `at` of a facing. False, and nothing to merge, if no face of it
    /// is visible.
    #[inline]
    fn load<const AXIS: usize>(&self, layer: &mut Layer, at: usize) -> bool {
        let Self { rows, turned, visible } = self;
        let side = rows.side();
        let [same_x, same_y, same_z] = rows.same();
        match AXIS {
            0 => layer.load(
                side,
                |z| turned.visible[at + side * z],
                |z| [turned.same_y[at + side * z], turned.same_z[at + side * z]],
            ),
            1 => layer.load(
                side,
                |z| visible[rows.row(at, z)],
                |z| [same_x[rows.row(at, z)], same_z[rows.row(at, z)]],
            ),
            _ => layer.load(
                side,
                |y| visible[rows.row(y, at)],
                |y| [same_x[rows.row(y, at)], same_y[rows.row(y, at)]],
            ),
        }
    }
}

/// Meshes a chunk of one material: only its border can show, and nothing of the chunk
/// itself needs a look.
fn mesh_uniform(
    chunk: &PaddedChunk,
    material: Material,
    table: &MaterialTable,
    mesh: &mut ChunkMesh,
) {
    let sink = mesh.sink(table.is_see_through(material));
    let n = chunk.side();
    let mut layer = Layer::new();
    for face in Face::ALL {
        let at = if face.is_positive() { n - 1 } else { 0 };
        let shows = |halo| face_is_visible(material, halo, table);
        let row_bits = |row: usize| match chunk.uniform_beyond(face) {
            Some(halo) if shows(halo) => low_bits(n as usize),
            Some(_) => 0,
            None => (0..n).rev().fold(0, |bits, bit| {
                let halo = chunk.beyond(position(face.axis(), at, row as u32, bit), face);
                bits << 1 | u64::from(shows(halo))
            }),
        };
        if layer.load(n as usize, row_bits, |_| [u64::MAX; 2]) {
            layer.merge(n as usize, |patch| {
                let position = position(face.axis(), at, patch.row, patch.bit);
                sink.push(quad(face.axis(), face, position, patch, material));
            });
        }
    }
}

/// The voxel at a row and bit of the layer at `at` perpendicular to `axis`.
#[inline]
fn position(axis: usize, at: u32, row: u32, bit: u32) -> [u32; 3] {
    match axis {
        0 => [at, bit, row],
        1 => [bit, at, row],
        _ => [bit, row, at],
    }
}

/// The quad of a patch whose first voxel lies at `position`.
#[inline]
fn quad(axis: usize, face: Face, position: [u32; 3], patch: Patch, material: Material) -> Quad {
    let Patch { row_count, bit_count, .. } = patch;
    // The spans of ±Y are Z and X: there rows come first.
    let size = if axis == 1 { [row_count, bit_count] } else { [bit_count, row_count] };
    Quad::new(position, size, face, material.0)
}
