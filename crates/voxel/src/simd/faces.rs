use super::Word;
use crate::Material;

/// Faces of one layer, as rows of bits, and which of them can join others.
#[repr(align(64))]
pub(crate) struct Joins<W: Word> {
    /// Faces that can join any of their four neighbours.
    pub visible: W::Slice,
    /// Faces that can join the previous face in their row.
    pub joined: W::Slice,
    /// Faces that can join the face in the previous row.
    pub continued: W::Slice,
    /// Faces that cannot join any other.
    pub single: W::Slice,
    /// Bit `r`: row `r` has faces that can join others.
    pub occupied: u64,
}

impl<W: Word> Joins<W> {
    pub(crate) const EMPTY: Self = Self {
        visible: W::EMPTY,
        joined: W::EMPTY,
        continued: W::EMPTY,
        single: W::EMPTY,
        occupied: 0,
    };
}

/// Faces of a layer to write as quads of one face, row by row.
pub(crate) struct SingleFaces<'a, W: Word> {
    /// Bit `b` of row `r`: there is a face.
    pub rows: &'a W::Slice,
    /// Quad of a face at bit 0 of row 0, with the bits of material 0.
    pub first: u64,
    /// Shifts of the numbers of bit, row and material, and of the ambient occlusion, in a quad.
    pub bit_shift: u32,
    pub row_shift: u32,
    pub material_shift: u32,
    pub occlusion_shift: u32,
    /// Ambient occlusion: rows for each of its bits.
    pub occlusion: Option<[W::Slice; 8]>,
    /// Voxels from that of bit 0 of row 0 on, and the distances between voxels of adjacent bits and rows.
    pub voxels: &'a [Material],
    pub bit_stride: usize,
    pub row_stride: usize,
}

/// Returns a word with one bit for each row that is not zero.
#[inline(always)]
pub(crate) fn occupied_rows<W: Word>(rows: &[W]) -> u64 {
    rows.iter().enumerate().fold(0, |bits, (row, &any)| bits | u64::from(any != W::ZERO) << row)
}
