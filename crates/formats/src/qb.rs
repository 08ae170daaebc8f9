use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use drystone_voxel::{Chunk, ChunkPos, Material, MaterialTable};

use crate::error::SourceError;
use crate::fault::{Fault, SPLIT};
use crate::file::read_file;
use crate::format::Format;
use crate::identity;
use crate::source::{MAX_LOADED_CHUNKS, Source};

mod decode;
mod matrix;

use matrix::Matrix;

/// A Qubicle Binary `.qb` file: boxes of coloured voxels, called matrices, each at its position.
///
/// ```text
///  bytes ─decode─► matrices: runs of one colour, slice by slice ─► chunk: the runs that cross it
/// ```
/// A matrix is stored as runs, whether the file is compressed or not. A chunk is assembled when it
/// is requested.
///
/// * **Axes.** Y is up. In a left-handed file, Z is mirrored: voxel z becomes −z − 1.
/// * **Overlaps.** Where two matrices overlap, the later one in the file wins. Its invisible voxels
///   hide nothing.
/// * **Colours.** Each distinct colour becomes an opaque material. Where a file has more than
///   65,535 of them, the lowest bits of each channel are dropped until they fit.
/// * **Visibility masks** are ignored: every voxel whose fourth byte is not 0 is solid.
///
/// The format is described in
/// [Qubicle's documentation](https://getqubicle.com/qubicle/documentation/docs/file/qb/).
/// It has no signature, so files are recognised by their name.
///
/// # Limits
/// 128 MiB a file, 2²⁷ solid voxels, matrices with 2³⁰ voxels together (air included),
/// [`MAX_LOADED_CHUNKS`](crate::MAX_LOADED_CHUNKS) chunks, coordinates to ±2²⁴. A file that exceeds a limit is rejected
/// before memory is allocated for it.
///
/// # Cost
/// Opening takes about 5 ns a voxel of an uncompressed file; memory is 12 bytes a run. A chunk
/// takes O(log runs) for each slice of each matrix that touches it, plus O(solid voxels).
///
/// # Examples
/// ```
/// use drystone_formats::{QbFile, Source};
///
/// // One matrix "a" of 1 × 1 × 1 voxel at (4, 0, 0): red, RGBA, right-handed, not compressed.
/// let words = |words: &[u32]| words.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<u8>>();
/// let header = words(&[0x101, 0, 1, 0, 0, 1]);
/// let matrix = words(&[1, 1, 1, 4, 0, 0, 0xff00_00ff]);
/// let bytes = [header, b"\x01a".to_vec(), matrix].concat();
/// let file = QbFile::parse(&bytes, "dot.qb")?;
/// assert_eq!(file.chunk(file.chunk_positions()[0])?.solid_count(), 1);
/// # Ok::<(), drystone_formats::SourceError>(())
/// ```
pub struct QbFile {
    name: String,
    identity: String,
    materials: MaterialTable,
    matrices: Vec<Matrix>,
    /// The matrices that touch each chunk, as indices in the order of the file.
    by_chunk: BTreeMap<ChunkPos, Vec<u32>>,
}

/// Largest number of (chunk, matrix) pairs in which the matrix touches the chunk: 16 MiB.
const MAX_PAIRS: u64 = 1 << 22;

impl QbFile {
    /// Largest size of a file, in bytes.
    pub const MAX_FILE_BYTES: u64 = 128 << 20;

    /// Whether `path` has the extension `.qb`, in any case.
    pub(crate) fn is_qb(path: &Path) -> bool {
        path.extension().is_some_and(|it| it.eq_ignore_ascii_case("qb"))
    }

    /// Reads the file at `path`.
    ///
    /// # Errors
    /// A file that cannot be read, is truncated or damaged, or exceeds a limit. The message names
    /// the file, the byte, and what to do.
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        let bytes = read_file(path, b"", "a .qb file", Self::MAX_FILE_BYTES, SPLIT)?;
        Self::parse(&bytes, &path.display().to_string())
    }

    /// Decodes the bytes of a file. `name` is used in messages.
    ///
    /// # Errors
    /// Bytes that are truncated or damaged, or that exceed a limit.
    pub fn parse(bytes: &[u8], name: &str) -> Result<Self, SourceError> {
        Self::build(bytes, name).map_err(|fault| fault.in_file(Format::Qubicle, name))
    }

    /// Names of the matrices, in the order of the file.
    pub fn matrix_names(&self) -> impl Iterator<Item = &str> {
        self.matrices.iter().map(|matrix| matrix.name.as_str())
    }

    fn build(bytes: &[u8], name: &str) -> Result<Self, Fault> {
        let mut matrices = decode::decode(bytes)?;
        let materials = assign_materials(&mut matrices);
        let mut by_chunk: BTreeMap<ChunkPos, Vec<u32>> = BTreeMap::new();
        let (mut pairs, limit) = (0, MAX_LOADED_CHUNKS);
        for (index, matrix) in (0..).zip(&matrices) {
            let Some(chunks) = matrix.chunks(limit) else {
                return Err(decode::too_much("chunks", limit as u64 + 1, limit as u64));
            };
            pairs += chunks.len() as u64;
            if pairs > MAX_PAIRS {
                return Err(decode::too_much("chunks touched by matrices", pairs, MAX_PAIRS));
            }
            for chunk in chunks {
                by_chunk.entry(chunk).or_default().push(index);
            }
        }
        if by_chunk.len() > limit {
            return Err(decode::too_much("chunks", by_chunk.len() as u64, limit as u64));
        }
        let identity = identity::of_bytes("Qubicle file", name, bytes);
        Ok(Self { name: name.into(), identity, materials, matrices, by_chunk })
    }
}

impl Source for QbFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn materials(&self) -> &MaterialTable {
        &self.materials
    }

    fn chunk_positions(&self) -> Vec<ChunkPos> {
        self.by_chunk.keys().copied().collect()
    }

    fn chunk(&self, position: ChunkPos) -> Result<Chunk, SourceError> {
        let mut chunk = Chunk::new(Chunk::SIDE, Material::AIR);
        for &index in self.by_chunk.get(&position).into_iter().flatten() {
            self.matrices[index as usize].fill(position, &mut chunk);
        }
        chunk.compact();
        Ok(chunk)
    }
}

impl std::fmt::Debug for QbFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QbFile")
            .field("name", &self.name)
            .field("matrices", &self.matrices.len())
            .finish_non_exhaustive()
    }
}

/// Largest number of materials beside air.
const MAX_MATERIALS: usize = u16::MAX as usize;

/// Gives each run the material of its colour. The materials are sorted by colour.
fn assign_materials(matrices: &mut [Matrix]) -> MaterialTable {
    let all = || matrices.iter().flat_map(Matrix::runs).map(|run| run.color);
    let mut colors: BTreeSet<u32> = all().collect();
    let mut mask = u32::MAX;
    for dropped_bits in 1..8 {
        if colors.len() <= MAX_MATERIALS {
            break;
        }
        mask = (0xff_u32 << dropped_bits & 0xff) * 0x01_01_01;
        colors = colors.iter().map(|color| color & mask).collect();
    }
    let mut table = MaterialTable::new();
    let mut materials = BTreeMap::new();
    for color in colors {
        let [_, r, g, b] = color.to_be_bytes();
        // At most MAX_MATERIALS are inserted, which the table can hold.
        let material = table.insert(&format!("color #{color:06x}"), [r, g, b, u8::MAX]);
        materials.insert(color, material.unwrap_or_default());
    }
    for matrix in matrices {
        matrix.set_materials(|color| materials.get(&(color & mask)).copied().unwrap_or_default());
    }
    table
}
