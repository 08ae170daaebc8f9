mod ambient_occlusion;
mod array;
mod face_steps;
mod grid;
mod layer;
mod masks;
mod merging;
mod plane;
mod remesher;
mod row;
mod row_bits;
mod steps;
mod translucent;
mod uniform;

use alloc::alloc::handle_alloc_error;
use core::alloc::Layout;

use drystone_memory::{Error, Linear, Region};
use drystone_mesh::QuadSink;

use self::grid::Axes;
use self::masks::{Copied, FindAny, Masks};
use self::merging::mesh_directions;
pub use self::remesher::Remesher;
use self::row::{Memory, Row};
pub(crate) use self::row_bits::push_rows;
use self::uniform::mesh_uniform;
use crate::chunk_mesh::Sink;
use crate::conforming::Conforming;
use crate::mesher_options::{Merging, MesherOptions};
use crate::simd::widest;
use crate::{ChunkMesh, Material, MaterialTable, PaddedChunk, mesh_unit, mesh_unit_shaded};

/// Meshes chunks into few large quads: adjacent faces of equal direction and material become one
/// quad.
///
/// Chunks of this crate are meshed by [`mesh`](Self::mesh), a caller's own arrays by
/// [`mesh_array`](Self::mesh_array). Both build the same masks, and share everything after them.
///
/// A row of voxels is one word of bits. One shift and one AND find the visible faces of a row.
/// Equality of adjacent voxels is compared once per axis, into words of the same form. Merging then
/// works on bits only, and reads one material per quad.
///
/// ```text
///  PaddedChunk ──► Masks: solid, opaque, equal to the previous voxel in X, Y, Z
///                    │ rows along X, by Z ────► layers of ±Z ─┐
///                    ├ same rows, by Y ───────► layers of ±Y ─┼─► Layer ──merge──► Patch ──► Quad
///                    └ transposed, by X ──────► layers of ±X ─┘
/// ```
///
/// A quad grows first along its row (towards Y for ±X, towards X for ±Y and ±Z), then over the
/// following rows. Each added face must be visible, of the same material and not part of another
/// quad. Quads are in the order documented at [`ChunkMesh`].
///
/// # Cost
/// A few operations per row of voxels, and some tens of cycles per quad. A chunk of air is almost
/// free; for a chunk stored as one material, only its border is read.
///
/// Scratch: 18 words for each of (n + 2)² rows, and 6 more for ambient occlusion in a [`Linear`]. A
/// word has 16, 32 or 64 bits, the smallest that holds n. Reuse one mesher per thread: meshing then
/// allocates nothing, and clears no scratch while the side of the chunks stays the same.
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
    /// Masks of the current chunk, or of the last one.
    memory: Memory,
    /// Merge keys of the last caller's array.
    copied: Copied,
    /// Additional scratch for ambient occlusion.
    scratch: Linear<'static>,
    options: MesherOptions,
    conforming: Conforming,
    /// Quads of merging modes that need a whole mesh before it is passed to sinks.
    gathered: ChunkMesh,
}

/// Minimum size of the scratch, in bytes: sufficient for 32³.
const MIN_SCRATCH_BYTES: usize = 1 << 17;

impl GreedyMesher {
    /// Creates a mesher with the default options. It has no scratch; the first mesh allocates it.
    pub fn new() -> Self {
        Self::with_options(MesherOptions::default())
    }

    /// Creates a mesher with these options.
    pub fn with_options(options: MesherOptions) -> Self {
        let scratch = Linear::new(Region::new(&mut []));
        let (conforming, gathered) = (Conforming::default(), ChunkMesh::new());
        let (memory, copied) = (Memory::default(), Copied::default());
        Self { memory, copied, scratch, options, conforming, gathered }
    }

    /// Replaces the content of `mesh` by the quads of `chunk`.
    pub fn mesh(&mut self, chunk: &PaddedChunk, table: &MaterialTable, mesh: &mut ChunkMesh) {
        match self.options.merging {
            Merging::Greedy => {
                mesh.clear();
                self.mesh_greedy(chunk, table, mesh.sinks());
            }
            Merging::Conforming => {
                mesh.clear();
                self.mesh_greedy(chunk, table, mesh.sinks());
                self.conforming.cut(mesh);
            }
            Merging::Unit if self.options.ambient_occlusion => mesh_unit_shaded(chunk, table, mesh),
            Merging::Unit => mesh_unit(chunk, table, mesh),
        }
    }

    /// Passes the quads of `chunk` to two sinks, in the order of [`ChunkMesh`]. Use it to write
    /// them where they are needed, such as mapped GPU memory, without a [`ChunkMesh`] in between.
    ///
    /// # Cost
    /// Cost of [`mesh`](Self::mesh), and two indirect calls for each layer with faces. Modes other
    /// than [`Merging::Greedy`] make a whole mesh first, and copy it to the sinks.
    ///
    /// # Examples
    /// ```
    /// use drystone_mesh::QuadBuffer;
    /// use drystone_voxel::{Chunk, GreedyMesher, Material, MaterialTable, PaddedChunk};
    ///
    /// let mut padded = PaddedChunk::new();
    /// padded.fill(&Chunk::new(32, Material(1)), |_| None);
    /// let (mut opaque, mut translucent) = (QuadBuffer::new(), QuadBuffer::new());
    /// let table = MaterialTable::new();
    /// GreedyMesher::new().mesh_into(&padded, &table, &mut opaque, &mut translucent);
    /// assert_eq!((opaque.len(), translucent.len()), (6, 0));
    /// ```
    pub fn mesh_into(
        &mut self,
        chunk: &PaddedChunk,
        table: &MaterialTable,
        opaque: &mut dyn QuadSink,
        translucent: &mut dyn QuadSink,
    ) {
        if self.options.merging == Merging::Greedy {
            let sinks = [Sink::Other(opaque), Sink::Other(translucent)];
            return self.mesh_greedy(chunk, table, sinks);
        }
        let mut mesh = core::mem::take(&mut self.gathered);
        self.mesh(chunk, table, &mut mesh);
        mesh.opaque.copy_to(opaque);
        mesh.translucent.copy_to(translucent);
        self.gathered = mesh;
    }

    fn mesh_greedy(
        &mut self,
        chunk: &PaddedChunk,
        table: &MaterialTable,
        mut sinks: [Sink<'_>; 2],
    ) {
        if !chunk.has_solid() {
            return;
        }
        // All faces within a chunk of one cut-out material are visible.
        let has_border_only =
            |it: &Material| !self.options.ambient_occlusion && !table.is_cut_out(*it);
        if let Some(material) = chunk.uniform().filter(has_border_only) {
            let sink = usize::from(table.is_translucent(material));
            let steps = self.options.steps && sink == 0;
            mesh_uniform(chunk, material, (table, steps), &mut sinks[sink]);
            return;
        }
        if !chunk.is_exact() && !widest(FindAny(chunk.voxels())) {
            return;
        }
        // Masks are built before quads, so insufficient scratch is detected while there are no
        // quads.
        loop {
            let scratch = (&self.scratch, &mut self.memory);
            if mesh_any(scratch, chunk, table, self.options, &mut sinks).is_ok() {
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

/// Allocates scratch of twice the size. Aborts like a `Vec` if the memory is exhausted.
#[cold]
fn larger(scratch: &Linear<'_>) -> Linear<'static> {
    let size_bytes = (2 * scratch.capacity()).max(MIN_SCRATCH_BYTES);
    match Region::heap(size_bytes) {
        Ok(region) => Linear::new(region),
        Err(_) => {
            handle_alloc_error(Layout::array::<u8>(size_bytes).unwrap_or(Layout::new::<u64>()))
        }
    }
}

/// Meshes a chunk that may have several materials. The length of rows is one of three constants,
/// which makes the code twice as fast.
fn mesh_any(
    scratch: (&Linear<'_>, &mut Memory),
    chunk: &PaddedChunk,
    table: &MaterialTable,
    options: MesherOptions,
    sinks: &mut [Sink<'_>; 2],
) -> Result<(), Error> {
    match chunk.side() {
        ..=16 => mesh_masked::<u16>(scratch, chunk, table, options, sinks),
        17..=32 => mesh_masked::<u32>(scratch, chunk, table, options, sinks),
        _ => mesh_masked::<u64>(scratch, chunk, table, options, sinks),
    }
}

/// Meshes a chunk of several materials. Returns an error without quads if `scratch` is too small.
fn mesh_masked<W: Row>(
    (scratch, memory): (&Linear<'_>, &mut Memory),
    chunk: &PaddedChunk,
    table: &MaterialTable,
    options: MesherOptions,
    sinks: &mut [Sink<'_>; 2],
) -> Result<(), Error> {
    let shaded = options.ambient_occlusion;
    let masks = Masks::<W>::new(chunk, table, shaded, scratch, W::words(memory))?;
    mesh_directions(&masks, chunk.voxels(), (Axes::SAME, options), sinks);
    Ok(())
}
