mod facing;
mod find;
mod layer;
mod masks;
mod memory;
mod merging;
mod plane;
mod remesher;
mod row;
mod row_bits;
mod shade;
mod translucent;
pub(crate) mod transpose;
mod turn;
mod uniform;

use alloc::alloc::handle_alloc_error;
use core::alloc::Layout;

use drystone_alloc::Error;
use drystone_alloc::memory::{Linear, Region};

use self::find::FindAny;
use self::memory::Memory;
use self::merging::mesh_masked;
pub use self::remesher::Remesher;
use self::uniform::mesh_uniform;
use crate::conforming::Conforming;
use crate::simd::widest;
use crate::{ChunkMesh, MaterialTable, PaddedChunk, mesh_unit, mesh_unit_shaded};

/// Meshes chunks into few large quads: neighbouring faces of one facing and one material
/// become one quad.
///
/// The idea: a row of voxels is a word of bits. One shift and one AND find the visible
/// faces of a whole row; whether voxels are of one material is compared once per axis
/// into words of the same shape; then merging is only a matter of bits, and a material is
/// looked at once a quad.
///
/// ```text
///  PaddedChunk ──► Masks: solid, opaque, same as the one before in X, Y, Z
///                    │ rows along X, by Z ────► layers of ±Z ─┐
///                    ├ the same rows, by Y ───► layers of ±Y ─┼─► Layer ──merge──► Patch ──► Quad
///                    └ turned over, by X ─────► layers of ±X ─┘
/// ```
///
/// A quad grows first along its row (towards Y for ±X, X for ±Y and ±Z), then over
/// following rows, for as long as every face is visible, of its material and not in
/// another quad. Quads come in the order that [`ChunkMesh`] states.
///
/// # Cost
/// A few operations a row of voxels and some tens of cycles a quad; nothing to speak of
/// for a chunk of air and, where the chunk knows that it is of one material, no more than
/// a look at its border. Scratch is 18 words for each of (n + 2)² rows, n being 16, 32
/// or 64 bits, whichever holds the side, and for shades 6 more in a [`Linear`]: use one mesher
/// a thread again and again, then meshing allocates nothing, and for chunks of one side after
/// another no scratch is cleared.
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
    /// The masks of the chunk in work, and of the last one.
    memory: Memory,
    /// What else shades need.
    scratch: Linear<'static>,
    merging: Merging,
    occlusion: bool,
    conforming: Conforming,
}

/// Which faces a mesher makes into one quad.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Merging {
    /// All that lie together as a rectangle of one material. Quads meet in T-junctions.
    #[default]
    Greedy,
    /// As `Greedy`, then cut until no corner of a quad of the chunk lies inside an edge of
    /// another, opaque or translucent, of whatever facing. Says nothing of corners of
    /// neighbouring chunks.
    Conforming,
    /// None: one quad a face, as [`mesh_unit`] makes them.
    Unit,
}

/// The least scratch: enough for 32³.
const LEAST_SCRATCH_BYTES: usize = 1 << 17;

impl GreedyMesher {
    /// A mesher without scratch; the first mesh makes it.
    pub fn new() -> Self {
        Self::with_merging(Merging::default())
    }

    /// A mesher that merges in this way.
    pub fn with_merging(merging: Merging) -> Self {
        let scratch = Linear::new(Region::new(&mut []));
        let memory = Memory::default();
        Self { memory, scratch, merging, occlusion: false, conforming: Conforming::default() }
    }

    /// The same mesher, which darkens corners of faces by the opaque voxels around them
    /// ([`Quad::ambient_occlusion`](drystone_mesh::Quad::ambient_occlusion)), or does not, as a new one. Faces
    /// are merged only where a quad shades as they would: each edge of a quad that is longer
    /// than a face has one shade.
    #[must_use]
    pub fn ambient_occlusion(mut self, occlusion: bool) -> Self {
        self.occlusion = occlusion;
        self
    }

    /// Replaces what is in `mesh` by the quads of `chunk`.
    pub fn mesh(&mut self, chunk: &PaddedChunk, table: &MaterialTable, mesh: &mut ChunkMesh) {
        match self.merging {
            Merging::Greedy => self.mesh_greedy(chunk, table, mesh),
            Merging::Conforming => {
                self.mesh_greedy(chunk, table, mesh);
                self.conforming.cut(mesh);
            }
            Merging::Unit if self.occlusion => mesh_unit_shaded(chunk, table, mesh),
            Merging::Unit => mesh_unit(chunk, table, mesh),
        }
    }

    fn mesh_greedy(&mut self, chunk: &PaddedChunk, table: &MaterialTable, mesh: &mut ChunkMesh) {
        mesh.clear();
        if !chunk.has_solid() {
            return;
        }
        if let Some(material) = chunk.uniform().filter(|_| !self.occlusion) {
            mesh_uniform(chunk, material, table, mesh);
            return;
        }
        if !chunk.is_known() && !widest(FindAny(chunk.voxels())) {
            return;
        }
        // Masks come before quads, so that too little scratch shows while there are none.
        loop {
            let scratch = (&self.scratch, &mut self.memory);
            if mesh_any(scratch, chunk, table, self.occlusion, mesh).is_ok() {
                break;
            }
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

/// Meshes a chunk that is not known to be of one material. What the compiler knows the
/// length of goes twice as fast: rows are of one of three lengths.
fn mesh_any(
    scratch: (&Linear<'_>, &mut Memory),
    chunk: &PaddedChunk,
    table: &MaterialTable,
    occlusion: bool,
    mesh: &mut ChunkMesh,
) -> Result<(), Error> {
    match chunk.side() {
        ..=16 => mesh_masked::<u16>(scratch, chunk, table, occlusion, mesh),
        17..=32 => mesh_masked::<u32>(scratch, chunk, table, occlusion, mesh),
        _ => mesh_masked::<u64>(scratch, chunk, table, occlusion, mesh),
    }
}
