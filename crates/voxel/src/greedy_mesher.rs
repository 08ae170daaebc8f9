mod layer;
mod row_bits;
mod row_masks;
mod transpose;
mod turned_masks;
mod uniform;

use alloc::alloc::handle_alloc_error;
use core::alloc::Layout;

use drystone_alloc::Error;
use drystone_alloc::memory::{Linear, Region};
use drystone_mesh::{Face, Quad, QuadSink};

use self::layer::{Layer, Lines, Patch};
use self::row_masks::RowMasks;
use self::turned_masks::TurnedMasks;
use self::uniform::mesh_uniform;
use crate::{ChunkMesh, Material, MaterialTable, PaddedChunk};

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
/// a look at its border. Scratch is about twelve words for each of (n + 2)² rows, in a
/// [`Linear`] that is reset after each chunk and kept: use one mesher a thread again and
/// again, then meshing allocates nothing.
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
#[derive(Debug)]
pub struct GreedyMesher {
    /// The masks of the chunk in work.
    scratch: Linear<'static>,
}

/// The least scratch: enough for 32³.
const LEAST_SCRATCH_BYTES: usize = 1 << 17;

impl GreedyMesher {
    /// A mesher without scratch; the first mesh makes it.
    pub fn new() -> Self {
        Self { scratch: Linear::new(Region::new(&mut [])) }
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
        // Masks come before quads, so that too little scratch shows while there are none.
        while mesh_masked(&self.scratch, chunk, table, mesh).is_err() {
            self.scratch = larger(&self.scratch);
        }
        self.scratch.reset();
    }
}

impl Default for GreedyMesher {
    fn default() -> Self {
        Self::new()
    }
}

/// Scratch of twice the size. Where there is no memory, it ends as a vector would.
#[cold]
fn larger(scratch: &Linear<'_>) -> Linear<'static> {
    let size_bytes = (2 * scratch.capacity()).max(LEAST_SCRATCH_BYTES);
    match Region::heap(size_bytes) {
        Ok(region) => Linear::new(region),
        Err(_) => {
            handle_alloc_error(Layout::array::<u8>(size_bytes).unwrap_or(Layout::new::<u64>()))
        }
    }
}

/// What one chunk's meshing works on, in the mesher's scratch.
struct Masks<'s> {
    rows: RowMasks<'s>,
    turned: TurnedMasks<'s>,
    /// The visible faces of the facing in work.
    visible: &'s mut [u64],
}

/// Meshes a chunk of several materials. An error if `scratch` has too little room; no quad
/// was made then.
fn mesh_masked(
    scratch: &Linear<'_>,
    chunk: &PaddedChunk,
    table: &MaterialTable,
    mesh: &mut ChunkMesh,
) -> Result<(), Error> {
    let rows = RowMasks::new(chunk, table, scratch)?;
    let turned = TurnedMasks::new(&rows, scratch)?;
    let visible = scratch.alloc_slice_with(rows.stride() * rows.stride(), |_| 0)?;
    let mut masks = Masks { rows, turned, visible };
    let kinds: &[bool] = if masks.rows.has_see_through() { &[false, true] } else { &[false] };
    for &see_through in kinds {
        let sink = mesh.sink(see_through);
        for face in Face::ALL {
            masks.rows.visible(face, see_through, masks.visible);
            if face.axis() == 0 {
                masks.turned.take_visible(&masks.rows, masks.visible);
            }
            // The facing as a constant makes its part of every quad one, too.
            match face {
                Face::NegX => masks.mesh_facing::<0>(chunk, sink),
                Face::NegY => masks.mesh_facing::<1>(chunk, sink),
                Face::NegZ => masks.mesh_facing::<2>(chunk, sink),
                Face::PosX => masks.mesh_facing::<3>(chunk, sink),
                Face::PosY => masks.mesh_facing::<4>(chunk, sink),
                Face::PosZ => masks.mesh_facing::<5>(chunk, sink),
            }
        }
    }
    Ok(())
}

impl Masks<'_> {
    /// Meshes the facing `Face::ALL[FACE]`, whose visible faces are at hand, layer by layer
    /// from the back.
    fn mesh_facing<const FACE: usize>(&self, chunk: &PaddedChunk, sink: &mut impl QuadSink) {
        let face = const { Face::ALL[FACE] };
        let side = self.rows.side();
        let mut layer = Layer::new();
        for step in 0..side {
            let at = if face.is_positive() { step } else { side - 1 - step };
            let lines = self.lines(face.axis(), at);
            layer.load(side, &lines);
            layer.merge(side, &lines, |patch| {
                let position = position(face.axis(), at as u32, patch.row, patch.bit);
                sink.push(quad(face, position, patch, chunk.inner(position)));
            });
        }
    }

    /// The rows of bits of the layer at `at` perpendicular to `axis`: rows by Z and bits by
    /// Y for X, rows by Z and bits by X for Y, rows by Y and bits by X for Z.
    #[inline]
    fn lines(&self, axis: usize, at: usize) -> Lines<'_> {
        let Self { rows, turned, visible } = self;
        let [same_x, same_y, same_z] = rows.same();
        let (visible, along, across, first, step) = match axis {
            0 => (&*turned.visible, &*turned.same_y, &*turned.same_z, at, rows.side()),
            1 => (&**visible, same_x, same_z, rows.row(at, 0), rows.stride()),
            _ => (&**visible, same_x, same_y, rows.row(0, at), 1),
        };
        Lines { visible, along, across, first, step }
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
fn quad(face: Face, position: [u32; 3], patch: Patch, material: Material) -> Quad {
    let Patch { row_count, bit_count, .. } = patch;
    // `Face::span_axes` of ±Y are Z and X: there the width runs over rows.
    let size = if face.axis() == 1 { [row_count, bit_count] } else { [bit_count, row_count] };
    Quad::new(position, size, face, material.0)
}
