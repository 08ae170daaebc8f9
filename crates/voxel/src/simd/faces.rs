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

/// Faces that become quads of one face each, row by row. Only AVX-512 has a fast way to write them.
#[cfg_attr(not(all(target_arch = "x86_64", target_feature = "sse2")), allow(dead_code))]
pub(crate) struct SingleFaces<'a, W: Word> {
    /// Bit `b` of row `r`: there is a face.
    pub rows: &'a W::Slice,
    /// Quad of a face at bit 0 of row 0, with the bits of material 0.
    pub first: u64,
    /// Place of a face's bit in its quad, as a shift.
    pub bit_shift: u32,
    /// Place of a face's row in its quad, as a shift.
    pub row_shift: u32,
    /// Place of the material in a quad, as a shift.
    pub material_shift: u32,
    /// Place of the ambient occlusion in a quad, as a shift.
    pub occlusion_shift: u32,
    /// Rows for each bit of the ambient occlusion.
    pub occlusion: Option<[W::Slice; 8]>,
    /// Voxels from that of bit 0 of row 0 on.
    pub voxels: &'a [Material],
    /// Distance between the voxels of adjacent bits.
    pub bit_stride: usize,
    /// Distance between the voxels of adjacent rows.
    pub row_stride: usize,
}

impl<W: Word> SingleFaces<'_, W> {
    /// Largest number of quads that are written after the last one.
    pub(crate) const MAX_SURPLUS: usize = 7;
}

/// Returns a word with one bit for each row that is not zero.
#[inline(always)]
pub(crate) fn occupied_rows<W: Word>(rows: &[W]) -> u64 {
    rows.iter().enumerate().fold(0, |bits, (row, &any)| bits | u64::from(any != W::ZERO) << row)
}
