use core::arch::x86_64::{
    _mm256_cmpeq_epi16_mask, _mm256_loadu_si256, _mm512_cmpeq_epi8_mask, _mm512_cmpeq_epi16_mask,
    _mm512_loadu_si512, _mm512_set1_epi8,
};

use drystone_mesh::Quad;

use super::avx2::{Narrow, Wide};
use super::{rows, run_widest, single_faces};
use crate::Material;
use crate::simd::{Instructions, Joins, SingleFaces, Word, Work};

/// AVX-512 with VBMI2: its masks are rows of voxels, and it moves the selected lanes of a vector to its
/// front. Use it only in [`run_widest`](super::run_widest).
pub(super) enum Widest {}

impl Instructions for Widest {
    #[inline(always)]
    fn call<W: Work>(work: W) -> W::Output {
        // SAFETY: values that call this, with `Widest` in their types, exist only while `run_widest` runs, so
        // the processor has the instructions.
        unsafe { run_widest(work) }
    }

    #[inline(always)]
    fn equal_16(a: &[Material; 16], b: &[Material; 16]) -> u16 {
        // SAFETY: `Widest` is used only in `run_widest`, whose instructions the processor has.
        unsafe { equal_16(a, b) }
    }

    #[inline(always)]
    fn equal_32(a: &[Material; 32], b: &[Material; 32]) -> u32 {
        // SAFETY: `Widest` is used only in `run_widest`, whose instructions the processor has.
        unsafe { equal_32(a, b) }
    }

    #[inline(always)]
    fn equal_bytes_16(bytes: &[u8; 16], value: u8) -> u16 {
        Narrow::equal_bytes_16(bytes, value)
    }

    #[inline(always)]
    fn equal_bytes_32(bytes: &[u8; 32], value: u8) -> u32 {
        Wide::equal_bytes_32(bytes, value)
    }

    #[inline(always)]
    fn equal_bytes_64(bytes: &[u8; 64], value: u8) -> u64 {
        // SAFETY: `Widest` is used only in `run_widest`, whose instructions the processor has.
        unsafe { equal_bytes_64(bytes, value) }
    }

    #[inline(always)]
    fn select_4(quads: &[u64; 4], mask: usize, to: &mut [Quad; 4]) {
        Wide::select_4(quads, mask, to);
    }

    #[inline(always)]
    fn transpose_16(rows: &[u16; 16], to: &mut [u16], step: usize) {
        Wide::transpose_16(rows, to, step);
    }

    #[inline(always)]
    fn transpose_32(rows: &[u32; 32], to: &mut [u32], step: usize) {
        Wide::transpose_32(rows, to, step);
    }

    #[inline(always)]
    fn transpose_64(rows: &[u64; 64], to: &mut [u64], step: usize) {
        Wide::transpose_64(rows, to, step);
    }

    #[inline(always)]
    fn join<W: Word>(
        visible: &W::Slice,
        equal: [&[W]; 2],
        flat: Option<&[W::Slice; 2]>,
    ) -> Option<Joins<W>> {
        // SAFETY: `Widest` is used only in `run_widest`, whose instructions the processor has.
        Some(unsafe { rows::join(visible, equal, flat) })
    }

    #[inline(always)]
    fn write_single<W: Word>(faces: &SingleFaces<'_, W>, output: &mut [Quad]) -> Option<usize> {
        // SAFETY: `Widest` is used only in `run_widest`, whose instructions the processor has.
        unsafe {
            match (faces.bit_stride, &faces.occlusion) {
                (1, None) => single_faces::write::<W, true, false>(faces, output),
                (1, Some(_)) => single_faces::write::<W, true, true>(faces, output),
                (_, None) => single_faces::write::<W, false, false>(faces, output),
                (_, Some(_)) => single_faces::write::<W, false, true>(faces, output),
            }
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
#[inline]
fn equal_16(a: &[Material; 16], b: &[Material; 16]) -> u16 {
    // SAFETY: each pointer is to 16 materials of 2 bytes, the 32 bytes of an unaligned load.
    unsafe {
        let (a, b) = (_mm256_loadu_si256(a.as_ptr().cast()), _mm256_loadu_si256(b.as_ptr().cast()));
        _mm256_cmpeq_epi16_mask(a, b)
    }
}

#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn equal_32(a: &[Material; 32], b: &[Material; 32]) -> u32 {
    // SAFETY: each pointer is to 32 materials of 2 bytes, the 64 bytes of an unaligned load.
    unsafe {
        let (a, b) = (_mm512_loadu_si512(a.as_ptr().cast()), _mm512_loadu_si512(b.as_ptr().cast()));
        _mm512_cmpeq_epi16_mask(a, b)
    }
}

#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn equal_bytes_64(bytes: &[u8; 64], value: u8) -> u64 {
    // SAFETY: the pointer is to the 64 bytes of an unaligned load.
    let bytes = unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
    _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(value as i8))
}
