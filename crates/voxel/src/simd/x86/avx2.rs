use core::arch::x86_64::{
    __m128i, __m256i, _mm_cmpeq_epi8, _mm_cmpeq_epi16, _mm_loadu_si128, _mm_movemask_epi8,
    _mm_packs_epi16, _mm_set1_epi8, _mm_setr_epi8, _mm256_add_epi8, _mm256_broadcastsi128_si256,
    _mm256_cmpeq_epi8, _mm256_cmpeq_epi16, _mm256_loadu_si256, _mm256_movemask_epi8,
    _mm256_packs_epi16, _mm256_permute4x64_epi64, _mm256_permutevar8x32_epi32, _mm256_set1_epi8,
    _mm256_setr_epi32, _mm256_setr_m128i, _mm256_shuffle_epi8, _mm256_storeu_si256,
    _mm256_unpackhi_epi16, _mm256_unpackhi_epi32, _mm256_unpackhi_epi64, _mm256_unpacklo_epi16,
    _mm256_unpacklo_epi32, _mm256_unpacklo_epi64,
};

use drystone_mesh::Quad;

use super::run_wide;
use crate::Material;
use crate::simd::{Instructions, Work};

/// Baseline instructions of the architecture: SSE2.
pub(in super::super) enum Narrow {}

/// AVX2 and the extensions that accompany it. Use it only in [`run_wide`](super::run_wide) and
/// [`run_widest`](super::run_widest).
pub(super) enum Wide {}

impl Instructions for Narrow {
    // With `std`, only processors without AVX2 run this code, and they are rare. Without `std`, all do.
    const CONSTANT_AXES: bool = cfg!(not(feature = "std"));

    #[inline(never)]
    fn call<W: Work>(work: W) -> W::Output {
        work.run::<Self>()
    }

    #[inline(always)]
    fn equal_16(a: &[Material; 16], b: &[Material; 16]) -> u16 {
        let [a, b]: [*const __m128i; 2] = [a.as_ptr().cast(), b.as_ptr().cast()];
        // SAFETY: this is compiled only if SSE2 is available. Each pointer is to 16 materials of 2
        // bytes, which are two times the 16 bytes of an unaligned load.
        let bits = unsafe {
            let low = _mm_cmpeq_epi16(_mm_loadu_si128(a), _mm_loadu_si128(b));
            let high = _mm_cmpeq_epi16(_mm_loadu_si128(a.add(1)), _mm_loadu_si128(b.add(1)));
            _mm_movemask_epi8(_mm_packs_epi16(low, high))
        };
        bits as u16
    }

    #[inline(always)]
    fn equal_bytes_16(bytes: &[u8; 16], value: u8) -> u16 {
        // SAFETY: this is compiled only if SSE2 is available. The pointer is to the 16 bytes of an
        // unaligned load.
        let bits = unsafe {
            let bytes = _mm_loadu_si128(bytes.as_ptr().cast());
            _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(value as i8)))
        };
        bits as u16
    }
}

impl Instructions for Wide {
    #[inline(always)]
    fn call<W: Work>(work: W) -> W::Output {
        // SAFETY: values that call this, with `Wide` in their types, exist only while `run_wide` runs, so the
        // processor has the instructions.
        unsafe { run_wide(work) }
    }

    #[inline(always)]
    fn equal_16(a: &[Material; 16], b: &[Material; 16]) -> u16 {
        Narrow::equal_16(a, b)
    }

    #[inline(always)]
    fn equal_bytes_16(bytes: &[u8; 16], value: u8) -> u16 {
        Narrow::equal_bytes_16(bytes, value)
    }

    #[inline(always)]
    fn equal_bytes_32(bytes: &[u8; 32], value: u8) -> u32 {
        // SAFETY: `Wide` is used only if the processor has AVX2.
        unsafe { equal_bytes_32(bytes, value) }
    }

    #[inline(always)]
    fn equal_32(a: &[Material; 32], b: &[Material; 32]) -> u32 {
        // SAFETY: `Wide` is used only if the processor has AVX2.
        unsafe { equal_32(a, b) }
    }

    #[inline(always)]
    fn select_4(quads: &[u64; 4], mask: usize, to: &mut [Quad; 4]) {
        // SAFETY: `Wide` is used only if the processor has AVX2.
        unsafe { select_4(quads, mask, to) }
    }

    #[inline(always)]
    fn transpose_16(rows: &[u16; 16], to: &mut [u16], step: usize) {
        // SAFETY: `Wide` is used only if the processor has AVX2.
        unsafe { transpose_16(rows, to, step) }
    }

    #[inline(always)]
    fn transpose_32(rows: &[u32; 32], to: &mut [u32], step: usize) {
        // SAFETY: `Wide` is used only if the processor has AVX2.
        unsafe { transpose_32(rows, to, step) }
    }

    #[inline(always)]
    fn transpose_64(rows: &[u64; 64], to: &mut [u64], step: usize) {
        // SAFETY: `Wide` is used only if the processor has AVX2.
        unsafe { transpose_64(rows, to, step) }
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn equal_32(a: &[Material; 32], b: &[Material; 32]) -> u32 {
    let [a, b]: [*const __m256i; 2] = [a.as_ptr().cast(), b.as_ptr().cast()];
    // SAFETY: each pointer is to 32 materials of 2 bytes, which are two times the 32 bytes of an
    // unaligned load.
    let (low, high) = unsafe {
        (
            _mm256_cmpeq_epi16(_mm256_loadu_si256(a), _mm256_loadu_si256(b)),
            _mm256_cmpeq_epi16(_mm256_loadu_si256(a.add(1)), _mm256_loadu_si256(b.add(1))),
        )
    };
    // Packing works on each half separately; the quarters are reordered afterwards.
    let packed = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi16(low, high));
    _mm256_movemask_epi8(packed) as u32
}

#[target_feature(enable = "avx2")]
#[inline]
fn equal_bytes_32(bytes: &[u8; 32], value: u8) -> u32 {
    // SAFETY: the pointer is to the 32 bytes of an unaligned load.
    let bytes = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
    _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(value as i8))) as u32
}

/// Indices of the halves of quads that each mask selects, then of others.
const SELECTED: [[i32; 8]; 16] = selected();

const fn selected() -> [[i32; 8]; 16] {
    let mut all = [[0; 8]; 16];
    let mut mask = 0;
    while mask < 16 {
        let (mut quad, mut count) = (0, 0);
        while quad < 4 {
            if mask >> quad & 1 != 0 {
                all[mask][2 * count] = 2 * quad;
                all[mask][2 * count + 1] = 2 * quad + 1;
                count += 1;
            }
            quad += 1;
        }
        mask += 1;
    }
    all
}

#[target_feature(enable = "avx2")]
#[inline]
fn select_4(quads: &[u64; 4], mask: usize, to: &mut [Quad; 4]) {
    let indices = &SELECTED[mask & 15];
    // SAFETY: quads are 8 bytes, as are their bits: the low word comes first on this processor. Each
    // pointer is to the 32 bytes of an unaligned load or store.
    unsafe {
        let quads = _mm256_loadu_si256(quads.as_ptr().cast());
        let indices = _mm256_loadu_si256(indices.as_ptr().cast());
        let selected = _mm256_permutevar8x32_epi32(quads, indices);
        _mm256_storeu_si256(to.as_mut_ptr().cast(), selected);
    }
}

/// Sets a word if it exists.
#[inline(always)]
fn put<W>(to: &mut [W], at: usize, word: W) {
    if let Some(word_at) = to.get_mut(at) {
        *word_at = word;
    }
}

/// Gathers the low bytes of all rows and then the high bytes. The highest bits of all bytes are
/// then two columns.
#[target_feature(enable = "avx2")]
#[inline]
fn transpose_16(rows: &[u16; 16], to: &mut [u16], step: usize) {
    // SAFETY: 16 rows of 2 bytes are the 32 bytes of an unaligned load.
    let rows = unsafe { _mm256_loadu_si256(rows.as_ptr().cast()) };
    let by_half = _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
    let halves = _mm256_shuffle_epi8(rows, _mm256_broadcastsi128_si256(by_half));
    let mut columns = _mm256_permute4x64_epi64::<0b11_01_10_00>(halves);
    for x in (0..8).rev() {
        let both = _mm256_movemask_epi8(columns) as u32;
        put(to, step * x, both as u16);
        put(to, step * (x + 8), (both >> 16) as u16);
        columns = _mm256_add_epi8(columns, columns);
    }
}

/// Gathers the first bytes of all rows, then the second bytes, and so on. The highest bits of all
/// bytes of a vector are then a column.
#[target_feature(enable = "avx2")]
#[inline]
fn transpose_32(rows: &[u32; 32], to: &mut [u32], step: usize) {
    let first: *const __m256i = rows.as_ptr().cast();
    let by_byte = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    let by_byte = _mm256_broadcastsi128_si256(by_byte);
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| {
        // SAFETY: 32 rows of 4 bytes are four times the 32 bytes of an unaligned load.
        let rows = unsafe { _mm256_loadu_si256(first.add(i)) };
        // Four rows per half: their first bytes, their second bytes and so on.
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
    for (i, bytes) in bytes.into_iter().enumerate() {
        let mut columns = _mm256_permutevar8x32_epi32(bytes, by_row);
        for x in (0..8).rev() {
            put(to, step * (8 * i + x), _mm256_movemask_epi8(columns) as u32);
            columns = _mm256_add_epi8(columns, columns);
        }
    }
}

/// Gathers the bytes of 32 rows at a time. The highest bits of all bytes of two vectors are then a
/// column.
#[target_feature(enable = "avx2")]
#[inline]
fn transpose_64(rows: &[u64; 64], to: &mut [u64], step: usize) {
    let ([low, high], _) = rows.as_chunks() else { return };
    let [low, high] = [bytes_of_32(low), bytes_of_32(high)];
    for (i, (mut low, mut high)) in low.into_iter().zip(high).enumerate() {
        for x in (0..8).rev() {
            let [rows, rows_behind] = [low, high].map(|rows| _mm256_movemask_epi8(rows) as u32);
            let row = u64::from(rows) | u64::from(rows_behind) << 32;
            put(to, step * (8 * i + x), row);
            low = _mm256_add_epi8(low, low);
            high = _mm256_add_epi8(high, high);
        }
    }
}

/// Returns the first bytes of all rows, the second bytes and so on.
#[target_feature(enable = "avx2")]
#[inline]
fn bytes_of_32(rows: &[u64; 32]) -> [__m256i; 8] {
    let first: *const __m128i = rows.as_ptr().cast();
    let by_byte = _mm_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
    let by_byte = _mm256_broadcastsi128_si256(by_byte);
    // Two rows per half: their first bytes, their second bytes and so on. The halves are 16 rows
    // apart.
    let twos: [__m256i; 8] = core::array::from_fn(|i| {
        // SAFETY: 32 rows of 8 bytes are 16 times the 16 bytes of an unaligned load.
        let halves = unsafe { [_mm_loadu_si128(first.add(i)), _mm_loadu_si128(first.add(i + 8))] };
        _mm256_shuffle_epi8(_mm256_setr_m128i(halves[0], halves[1]), by_byte)
    });
    // Bytes 0 to 3 of four rows and bytes 4 to 7; then two bytes of each of eight rows; then one
    // byte of all rows.
    let fours: [[__m256i; 2]; 4] = core::array::from_fn(|i| {
        let [a, b] = [twos[2 * i], twos[2 * i + 1]];
        [_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b)]
    });
    let eights: [[__m256i; 4]; 2] = core::array::from_fn(|i| {
        let [[a, c], [b, d]] = [fours[2 * i], fours[2 * i + 1]];
        [
            _mm256_unpacklo_epi32(a, b),
            _mm256_unpackhi_epi32(a, b),
            _mm256_unpacklo_epi32(c, d),
            _mm256_unpackhi_epi32(c, d),
        ]
    });
    core::array::from_fn(|byte| {
        let [a, b] = [eights[0][byte / 2], eights[1][byte / 2]];
        if byte % 2 == 0 { _mm256_unpacklo_epi64(a, b) } else { _mm256_unpackhi_epi64(a, b) }
    })
}
