use core::arch::x86_64::{
    __m512i, _mm256_loadu_si256, _mm256_storeu_si256, _mm512_alignr_epi32, _mm512_alignr_epi64,
    _mm512_and_si512, _mm512_andnot_si512, _mm512_castsi512_si256, _mm512_loadu_si512,
    _mm512_or_si512, _mm512_permutexvar_epi16, _mm512_setzero_si512, _mm512_slli_epi16,
    _mm512_slli_epi32, _mm512_slli_epi64, _mm512_srli_epi16, _mm512_srli_epi32, _mm512_srli_epi64,
    _mm512_storeu_si512, _mm512_test_epi16_mask, _mm512_test_epi32_mask, _mm512_test_epi64_mask,
    _mm512_zextsi256_si512,
};

use crate::simd::{Joins, Word};

/// All rows of a layer in registers, without gaps. Registers after the last row are zero.
pub(super) type Rows = [__m512i; 8];

/// Number of registers that hold rows.
const fn register_count<W: Word>() -> usize {
    (W::ROWS * W::ROWS).div_ceil(512)
}

/// Whether a row has as many bits as there are rows. The proofs below depend on it.
const fn is_word<W: Word>() -> bool {
    matches!(W::ROWS, 16 | 32 | 64) && size_of::<W>() * 8 == W::ROWS
}

#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
pub(super) fn load<W: Word>(rows: &[W]) -> Rows {
    let mut all = [_mm512_setzero_si512(); 8];
    assert!(rows.len() >= W::ROWS && is_word::<W>());
    let first: *const __m512i = rows.as_ptr().cast();
    if W::ROWS == 16 {
        // SAFETY: the 16 rows of 2 bytes, asserted above, are the 32 bytes of an unaligned load.
        all[0] = _mm512_zextsi256_si512(unsafe { _mm256_loadu_si256(first.cast()) });
        return all;
    }
    for (i, part) in all.iter_mut().enumerate().take(register_count::<W>()) {
        // SAFETY: the rows, asserted above, are 32 of 4 bytes, 2 times the 64 bytes of an unaligned load,
        // or 64 of 8 bytes, 8 times these.
        *part = unsafe { _mm512_loadu_si512(first.add(i)) };
    }
    all
}

#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn store<W: Word>(from: Rows, rows: &mut W::Slice) {
    let rows = rows.as_mut();
    assert!(rows.len() == W::ROWS && is_word::<W>());
    let first: *mut __m512i = rows.as_mut_ptr().cast();
    if W::ROWS == 16 {
        // SAFETY: the 16 rows of 2 bytes, asserted above, are the 32 bytes of an unaligned store.
        unsafe { _mm256_storeu_si256(first.cast(), _mm512_castsi512_si256(from[0])) };
        return;
    }
    for (i, part) in from.into_iter().enumerate().take(register_count::<W>()) {
        // SAFETY: the rows, asserted above, are 32 of 4 bytes, 2 times the 64 bytes of an unaligned store,
        // or 64 of 8 bytes, 8 times these.
        unsafe { _mm512_storeu_si512(first.add(i), part) };
    }
}

/// Shifts each row to higher bits by one.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn shifted_up<W: Word>(mut rows: Rows) -> Rows {
    for part in rows.iter_mut().take(register_count::<W>()) {
        *part = match W::ROWS {
            16 => _mm512_slli_epi16::<1>(*part),
            32 => _mm512_slli_epi32::<1>(*part),
            _ => _mm512_slli_epi64::<1>(*part),
        };
    }
    rows
}

/// Shifts each row to lower bits by one.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn shifted_down<W: Word>(mut rows: Rows) -> Rows {
    for part in rows.iter_mut().take(register_count::<W>()) {
        *part = match W::ROWS {
            16 => _mm512_srli_epi16::<1>(*part),
            32 => _mm512_srli_epi32::<1>(*part),
            _ => _mm512_srli_epi64::<1>(*part),
        };
    }
    rows
}

/// Order of 16-bit lanes that puts each one after the lane before it.
static BEFORE: [u16; 32] = lanes(31);
/// Order of 16-bit lanes that puts each one before the lane after it.
static AFTER: [u16; 32] = lanes(1);

/// Returns 32 numbers in order, beginning with `first`. After 31 follows 0.
pub(super) const fn lanes(first: u16) -> [u16; 32] {
    let mut lanes = [0; 32];
    let mut i = 0;
    while i < 32 {
        lanes[i] = (i as u16 + first) % 32;
        i += 1;
    }
    lanes
}

/// Returns the row before each row. Before the first one is an empty row.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn rows_before<W: Word>(rows: Rows) -> Rows {
    let mut before = [_mm512_setzero_si512(); 8];
    if W::ROWS == 16 {
        // The last lane is zero.
        // SAFETY: 32 lanes of 2 bytes are the 64 bytes of an unaligned load.
        let order = unsafe { _mm512_loadu_si512(BEFORE.as_ptr().cast()) };
        before[0] = _mm512_permutexvar_epi16(order, rows[0]);
        return before;
    }
    let mut previous = _mm512_setzero_si512();
    for i in 0..register_count::<W>() {
        before[i] = match W::ROWS {
            32 => _mm512_alignr_epi32::<15>(rows[i], previous),
            _ => _mm512_alignr_epi64::<7>(rows[i], previous),
        };
        previous = rows[i];
    }
    before
}

/// Returns the row after each row. After the last one is an empty row.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn rows_after<W: Word>(rows: Rows) -> Rows {
    let mut after = [_mm512_setzero_si512(); 8];
    if W::ROWS == 16 {
        // The lane after the last row is zero.
        // SAFETY: 32 lanes of 2 bytes are the 64 bytes of an unaligned load.
        let order = unsafe { _mm512_loadu_si512(AFTER.as_ptr().cast()) };
        after[0] = _mm512_permutexvar_epi16(order, rows[0]);
        return after;
    }
    let mut next = _mm512_setzero_si512();
    for i in (0..register_count::<W>()).rev() {
        after[i] = match W::ROWS {
            32 => _mm512_alignr_epi32::<1>(next, rows[i]),
            _ => _mm512_alignr_epi64::<1>(next, rows[i]),
        };
        next = rows[i];
    }
    after
}

/// Returns a bit for each row that has bits.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
pub(super) fn occupied<W: Word>(rows: Rows) -> u64 {
    let mut occupied = 0;
    for (i, part) in rows.into_iter().enumerate().take(register_count::<W>()) {
        occupied |= match W::ROWS {
            16 => u64::from(_mm512_test_epi16_mask(part, part)),
            32 => u64::from(_mm512_test_epi32_mask(part, part)) << (16 * i),
            _ => u64::from(_mm512_test_epi64_mask(part, part)) << (8 * i),
        };
    }
    occupied
}

#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
pub(super) fn join<W: Word>(
    visible: &W::Slice,
    [along, across]: [&[W]; 2],
    flat: Option<&[W::Slice; 2]>,
) -> Joins<W> {
    let mut visible = load::<W>(visible.as_ref());
    let (mut in_row, mut in_column) = (visible, visible);
    if let Some([along, across]) = flat {
        let (along, across) = (load::<W>(along.as_ref()), load::<W>(across.as_ref()));
        for i in 0..register_count::<W>() {
            in_row[i] = _mm512_and_si512(in_row[i], along[i]);
            in_column[i] = _mm512_and_si512(in_column[i], across[i]);
        }
    }
    let (mut joined, mut continued) = (shifted_up::<W>(in_row), rows_before::<W>(in_column));
    let (along, across) = (load::<W>(along), load::<W>(across));
    for i in 0..register_count::<W>() {
        joined[i] = _mm512_and_si512(_mm512_and_si512(joined[i], in_row[i]), along[i]);
        continued[i] = _mm512_and_si512(_mm512_and_si512(continued[i], in_column[i]), across[i]);
    }
    let (behind, below) = (shifted_down::<W>(joined), rows_after::<W>(continued));
    let mut single = visible;
    for i in 0..register_count::<W>() {
        let in_row = _mm512_or_si512(joined[i], behind[i]);
        let joins = _mm512_or_si512(_mm512_or_si512(continued[i], below[i]), in_row);
        single[i] = _mm512_andnot_si512(joins, visible[i]);
        visible[i] = _mm512_and_si512(joins, visible[i]);
    }
    let mut joins = Joins { occupied: occupied::<W>(visible), ..Joins::EMPTY };
    store::<W>(visible, &mut joins.visible);
    store::<W>(joined, &mut joins.joined);
    store::<W>(continued, &mut joins.continued);
    store::<W>(single, &mut joins.single);
    joins
}
