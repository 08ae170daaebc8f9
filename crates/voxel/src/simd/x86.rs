use core::arch::x86_64::{
    __m128i, __m256i, _mm_cmpeq_epi16, _mm_loadu_si128, _mm_movemask_epi8, _mm_packs_epi16,
    _mm_setr_epi8, _mm256_add_epi8, _mm256_broadcastsi128_si256, _mm256_cmpeq_epi16,
    _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_packs_epi16, _mm256_permute4x64_epi64,
    _mm256_permutevar8x32_epi32, _mm256_setr_epi32, _mm256_shuffle_epi8, _mm256_unpackhi_epi32,
    _mm256_unpackhi_epi64, _mm256_unpacklo_epi32, _mm256_unpacklo_epi64,
};

use super::{Instructions, Work};
use crate::Material;

/// What every machine of this kind has.
pub(super) enum Narrow {}

/// AVX2 and what came with it. Only [`run_wide`] may name it.
enum Wide {}

#[inline]
pub(super) fn widest<W: Work>(work: W) -> W::Output {
    #[cfg(feature = "std")]
    if has_wide() {
        // SAFETY: the machine has the instructions.
        return unsafe { run_wide(work) };
    }
    work.run::<Narrow>()
}

#[cfg(feature = "std")]
#[inline]
fn has_wide() -> bool {
    use std::is_x86_feature_detected as has;
    has!("avx2") && has!("bmi1") && has!("bmi2") && has!("popcnt") && has!("lzcnt")
}

#[cfg(feature = "std")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn run_wide<W: Work>(work: W) -> W::Output {
    work.run::<Wide>()
}

impl Instructions for Narrow {
    #[inline(always)]
    fn equal_16(a: &[Material; 16], b: &[Material; 16]) -> u16 {
        let [a, b]: [*const __m128i; 2] = [a.as_ptr().cast(), b.as_ptr().cast()];
        // SAFETY: this is compiled only where SSE2 may be used. Each pointer is to 16 materials
        // of 2 bytes, which are two times the 16 bytes that a load reads, at whatever address.
        let bits = unsafe {
            let low = _mm_cmpeq_epi16(_mm_loadu_si128(a), _mm_loadu_si128(b));
            let high = _mm_cmpeq_epi16(_mm_loadu_si128(a.add(1)), _mm_loadu_si128(b.add(1)));
            _mm_movemask_epi8(_mm_packs_epi16(low, high))
        };
        bits as u16
    }
}

impl Instructions for Wide {
    #[inline(always)]
    fn equal_16(a: &[Material; 16], b: &[Material; 16]) -> u16 {
        Narrow::equal_16(a, b)
    }

    #[inline(always)]
    fn equal_32(a: &[Material; 32], b: &[Material; 32]) -> u32 {
        // SAFETY: `Wide` is named only where the machine has AVX2.
        unsafe { equal_32(a, b) }
    }

    #[inline(always)]
    fn turn_16(rows: &[u16; 16]) -> [u16; 16] {
        // SAFETY: `Wide` is named only where the machine has AVX2.
        unsafe { turn_16(rows) }
    }

    #[inline(always)]
    fn turn_32(rows: &[u32; 32]) -> [u32; 32] {
        // SAFETY: `Wide` is named only where the machine has AVX2.
        unsafe { turn_32(rows) }
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn equal_32(a: &[Material; 32], b: &[Material; 32]) -> u32 {
    let [a, b]: [*const __m256i; 2] = [a.as_ptr().cast(), b.as_ptr().cast()];
    // SAFETY: each pointer is to 32 materials of 2 bytes, which are two times the 32 bytes that
    // a load reads, at whatever address.
    let (low, high) = unsafe {
        (
            _mm256_cmpeq_epi16(_mm256_loadu_si256(a), _mm256_loadu_si256(b)),
            _mm256_cmpeq_epi16(_mm256_loadu_si256(a.add(1)), _mm256_loadu_si256(b.add(1))),
        )
    };
    // Packing goes by halves; the quarters are put in order afterwards.
    let packed = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi16(low, high));
    _mm256_movemask_epi8(packed) as u32
}

/// Gathers the low bytes of all rows and the high ones; then the highest bits of all bytes are
/// two columns.
#[target_feature(enable = "avx2")]
#[inline]
fn turn_16(rows: &[u16; 16]) -> [u16; 16] {
    // SAFETY: 16 rows of 2 bytes are the 32 that a load reads, at whatever address.
    let rows = unsafe { _mm256_loadu_si256(rows.as_ptr().cast()) };
    let by_half = _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
    let halves = _mm256_shuffle_epi8(rows, _mm256_broadcastsi128_si256(by_half));
    let mut columns = _mm256_permute4x64_epi64::<0b11_01_10_00>(halves);
    let mut turned = [0; 16];
    for x in (0..8).rev() {
        let both = _mm256_movemask_epi8(columns) as u32;
        turned[x] = both as u16;
        turned[x + 8] = (both >> 16) as u16;
        columns = _mm256_add_epi8(columns, columns);
    }
    turned
}

/// Gathers the first bytes of all rows, the second and so on; then the highest bits of all bytes
/// of a vector are a column.
#[target_feature(enable = "avx2")]
#[inline]
fn turn_32(rows: &[u32; 32]) -> [u32; 32] {
    let first: *const __m256i = rows.as_ptr().cast();
    let by_byte = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    let by_byte = _mm256_broadcastsi128_si256(by_byte);
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| {
        // SAFETY: 32 rows of 4 bytes are four times the 32 that a load reads, at whatever
        // address.
        let rows = unsafe { _mm256_loadu_si256(first.add(i)) };
        // Four rows a half: their first bytes, their second and so on.
        _mm256_shuffle_epi8(rows, by_byte)
    });
    let [ab, cd] = [_mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d)];
    let [ab_high, cd_high] = [_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d)];
    let bytes = [
        _mm256_unpacklo_epi64(ab, cd),
        _mm256_unpackhi_epi64(ab, cd),
        _mm256_unpacklo_epi64(ab_high, cd_high),
        _mm256_unpackhi_epi64(ab_high, cd_high),
    ];
    let by_row = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    let mut turned = [0; 32];
    for (i, bytes) in bytes.into_iter().enumerate() {
        let mut columns = _mm256_permutevar8x32_epi32(bytes, by_row);
        for x in (0..8).rev() {
            turned[8 * i + x] = _mm256_movemask_epi8(columns) as u32;
            columns = _mm256_add_epi8(columns, columns);
        }
    }
    turned
}
