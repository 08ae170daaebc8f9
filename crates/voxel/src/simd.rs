//! Code for which the compiler does not select the best instructions. Each function has a portable
//! reference with equal results; that of joins and of single faces is in the mesher, as its way without them.
//!
//! - Comparing voxels into bits, and transposing squares of bits: compilers do not use the
//!   instruction that gathers the highest bit of each byte.
//! - With AVX-512, joins of faces and quads of single faces: compilers neither keep a layer in registers nor
//!   move selected lanes to the front.
//! - A build targets the oldest supported processor. [`widest`] runs code that is also compiled for
//!   newer ones, if the processor supports it.

mod faces;
mod portable;
#[cfg(test)]
mod tests;
mod transpose;
mod word;
// Newer instructions are used only if `std` detects them at run time.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[cfg_attr(not(feature = "std"), allow(dead_code))]
mod x86;

use drystone_mesh::Quad;

pub(crate) use self::faces::{Joins, SingleFaces, occupied_rows};
pub(crate) use self::portable::Portable;
pub(crate) use self::word::Word;
use crate::Material;

/// Work that is compiled for the baseline processor and for processors with wide instructions.
/// `run` and the functions it spends time in should be `#[inline(always)]`, because other functions
/// are compiled for the baseline only.
pub(crate) trait Work {
    /// Result of the work.
    type Output;

    /// Runs the work.
    fn run<I: Instructions>(self) -> Self::Output;
}

/// Operations for which compilers need intrinsics.
pub(crate) trait Instructions: Sized {
    /// Whether merging is compiled once for each axis. If false, it is a third of the code, and slower.
    const CONSTANT_AXES: bool = true;

    /// Runs the work in a function of its own with these instructions. Functions that are compiled for the
    /// baseline, such as those behind a trait object, call it.
    fn call<W: Work>(work: W) -> W::Output;

    /// Compares pairs of voxels. Bit `i` is set if voxels `i` are equal.
    fn equal_16(a: &[Material; 16], b: &[Material; 16]) -> u16;

    /// Compares pairs of voxels. Bit `i` is set if voxels `i` are equal.
    #[inline(always)]
    fn equal_32(a: &[Material; 32], b: &[Material; 32]) -> u32 {
        let ([a, c], _) = a.as_chunks() else { return 0 };
        let ([b, d], _) = b.as_chunks() else { return 0 };
        u32::from(Self::equal_16(a, b)) | u32::from(Self::equal_16(c, d)) << 16
    }

    /// Compares pairs of voxels. Bit `i` is set if voxels `i` are equal.
    #[inline(always)]
    fn equal_64(a: &[Material; 64], b: &[Material; 64]) -> u64 {
        let ([a, c], _) = a.as_chunks() else { return 0 };
        let ([b, d], _) = b.as_chunks() else { return 0 };
        u64::from(Self::equal_32(a, b)) | u64::from(Self::equal_32(c, d)) << 32
    }

    /// Compares bytes with a value. Bit `i` is set if byte `i` is equal.
    fn equal_bytes_16(bytes: &[u8; 16], value: u8) -> u16;

    /// Compares bytes with a value. Bit `i` is set if byte `i` is equal.
    #[inline(always)]
    fn equal_bytes_32(bytes: &[u8; 32], value: u8) -> u32 {
        let ([low, high], _) = bytes.as_chunks() else { return 0 };
        let [low, high] = [low, high].map(|bytes| u32::from(Self::equal_bytes_16(bytes, value)));
        low | high << 16
    }

    /// Compares bytes with a value. Bit `i` is set if byte `i` is equal.
    #[inline(always)]
    fn equal_bytes_64(bytes: &[u8; 64], value: u8) -> u64 {
        let ([low, high], _) = bytes.as_chunks() else { return 0 };
        let [low, high] = [low, high].map(|bytes| u64::from(Self::equal_bytes_32(bytes, value)));
        low | high << 32
    }

    /// Writes the quads of these bits whose bit of `mask` is set to the front of `to`. The rest of
    /// `to` is unspecified.
    #[inline(always)]
    fn select_4(quads: &[u64; 4], mask: usize, to: &mut [Quad; 4]) {
        portable::select_4(quads, mask, to);
    }

    /// Transposes a square of bits: bit `x` of row `y` goes to bit `y` of word `step * x` of `to`.
    /// Rows past the end of `to` are omitted.
    #[inline(always)]
    fn transpose_16(rows: &[u16; 16], to: &mut [u16], step: usize) {
        portable::transpose_rows(rows, to, step);
    }

    /// Transposes a square of bits: bit `x` of row `y` goes to bit `y` of word `step * x` of `to`.
    /// Rows past the end of `to` are omitted.
    #[inline(always)]
    fn transpose_32(rows: &[u32; 32], to: &mut [u32], step: usize) {
        portable::transpose_rows(rows, to, step);
    }

    /// Transposes a square of bits: bit `x` of row `y` goes to bit `y` of word `step * x` of `to`.
    /// Rows past the end of `to` are omitted.
    #[inline(always)]
    fn transpose_64(rows: &[u64; 64], to: &mut [u64], step: usize) {
        portable::transpose_rows(rows, to, step);
    }

    /// Finds the faces that can join others. The first of `equal` has the voxels with the material of the
    /// previous one in their row, the second those with the material of the one in the previous row. Of
    /// `flat`, if given, the first has the faces that can join others in their row, the second those that
    /// can in other rows. Returns `None` if these instructions have no faster way than a loop.
    #[inline(always)]
    fn join<W: Word>(
        _visible: &W::Slice,
        _equal: [&[W]; 2],
        _flat: Option<&[W::Slice; 2]>,
    ) -> Option<Joins<W>> {
        None
    }

    /// Writes a quad for each face, and at most [`SingleFaces::MAX_SURPLUS`] more after the last. Returns the
    /// number of faces. Returns `None` if these instructions have no fast way, or if there are too few voxels
    /// or too little space; `output` may then be overwritten in part.
    #[inline(always)]
    fn write_single<W: Word>(_: &SingleFaces<'_, W>, _: &mut [Quad]) -> Option<usize> {
        None
    }
}

/// Runs the work with the widest instructions that this processor has.
#[inline]
pub(crate) fn widest<W: Work>(work: W) -> W::Output {
    #[cfg(test)]
    match tests::MAX.get() {
        tests::Limit::All => {}
        tests::Limit::Portable => return work.run::<Portable>(),
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        tests::Limit::Narrow => return work.run::<x86::Narrow>(),
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        tests::Limit::Wide => return x86::wide(work),
    }
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    return x86::widest(work);
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
    work.run::<Portable>()
}
