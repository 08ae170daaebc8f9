use core::arch::x86_64::{
    __m128i, __m256i, __m512i, _mm_cvtsi32_si128, _mm256_alignr_epi64, _mm256_and_si256,
    _mm256_castsi256_si128, _mm256_cvtepu16_epi32, _mm256_i32gather_epi32, _mm256_loadu_si256,
    _mm256_mask_set1_epi8, _mm256_maskz_compress_epi8, _mm256_or_si256, _mm256_set1_epi32,
    _mm256_setzero_si256, _mm512_add_epi16, _mm512_add_epi64, _mm512_alignr_epi64,
    _mm512_and_si512, _mm512_castsi256_si512, _mm512_castsi512_si128, _mm512_cvtepu8_epi64,
    _mm512_cvtepu16_epi64, _mm512_cvtepu32_epi64, _mm512_inserti64x4, _mm512_loadu_si512,
    _mm512_maskz_compress_epi16, _mm512_mullo_epi16, _mm512_or_si512, _mm512_set1_epi16,
    _mm512_set1_epi64, _mm512_setzero_si512, _mm512_sll_epi16, _mm512_sllv_epi64,
    _mm512_srli_epi16, _mm512_storeu_si512, _mm512_test_epi32_mask,
};

use drystone_mesh::Quad;

use super::rows::{lanes, load, occupied};
use crate::Material;
use crate::simd::{SingleFaces, Word};

/// Number of faces that are selected at a time: two rows, one, or half of one.
const RUN: usize = 32;

/// Numbers of the faces of a run.
static NUMBERS: [u16; RUN] = lanes(0);

/// Properties that all runs have in common.
struct Lanes {
    /// Difference of each face from the quad of the first one, in lanes of 16 bits.
    quads: __m512i,
    /// Distance of each voxel from the first one, in lanes of 16 bits.
    voxels: __m512i,
    /// Largest of these distances.
    last_voxel: usize,
    /// Shifts of materials and of the ambient occlusion, in lanes of 64 bits.
    material_shift: __m512i,
    occlusion_shift: __m512i,
}

impl Lanes {
    /// Returns `None` if a distance needs more than 16 bits.
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt,avx512f,avx512bw,avx512vl,avx512vbmi2")]
    #[inline]
    fn new<W: Word>(faces: &SingleFaces<'_, W>) -> Option<Self> {
        // SAFETY: 32 lanes of 2 bytes are the 64 bytes of an unaligned load.
        let numbers = unsafe { _mm512_loadu_si512(NUMBERS.as_ptr().cast()) };
        let (bits, rows) = match W::ROWS {
            16 => {
                (_mm512_and_si512(numbers, _mm512_set1_epi16(15)), _mm512_srli_epi16::<4>(numbers))
            }
            _ => (numbers, _mm512_setzero_si512()),
        };
        let shifted = |lanes, shift: u32| _mm512_sll_epi16(lanes, _mm_cvtsi32_si128(shift as i32));
        let times =
            |lanes, stride: u16| _mm512_mullo_epi16(lanes, _mm512_set1_epi16(stride as i16));
        let row_stride = if W::ROWS == 16 { faces.row_stride } else { 0 };
        let [bit_stride, row_stride] =
            [u16::try_from(faces.bit_stride).ok()?, u16::try_from(row_stride).ok()?];
        let last_voxel = (W::ROWS.min(RUN) - 1) * usize::from(bit_stride) + usize::from(row_stride);
        u16::try_from(last_voxel).ok()?;
        Some(Self {
            quads: _mm512_or_si512(shifted(bits, faces.bit_shift), shifted(rows, faces.row_shift)),
            voxels: _mm512_add_epi16(times(bits, bit_stride), times(rows, row_stride)),
            last_voxel,
            material_shift: _mm512_set1_epi64(faces.material_shift.into()),
            occlusion_shift: _mm512_set1_epi64(faces.occlusion_shift.into()),
        })
    }
}

/// Returns the faces of a run.
#[inline(always)]
fn run_of<W: Word>(rows: &W::Slice, run: usize) -> u32 {
    match W::ROWS {
        16 => rows[2 * run].bits() as u32 | (rows[2 * run + 1].bits() as u32) << 16,
        32 => rows[run].bits() as u32,
        _ => (rows[run / 2].bits() >> (RUN * (run % 2))) as u32,
    }
}

/// Implements [`Instructions::write_single`](crate::simd::Instructions::write_single), for voxels that are
/// adjacent in a row or not, with or without ambient occlusion.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt,avx512f,avx512bw,avx512vl,avx512vbmi2")]
#[inline]
pub(super) fn write<W: Word, const ADJACENT: bool, const SHADED: bool>(
    faces: &SingleFaces<'_, W>,
    output: &mut [Quad],
) -> Option<usize> {
    let all = load::<W>(faces.rows.as_ref());
    let last = match occupied::<W>(all) {
        0 => return Some(0),
        rows => rows.ilog2() as usize,
    };
    let end =
        (last | usize::from(W::ROWS == 16)) * faces.row_stride + (W::ROWS - 1) * faces.bit_stride;
    let lanes = Lanes::new(faces)?;
    // All voxels of the last rows, and one more, because two are read at a time.
    if faces.voxels.len() < end + 2 {
        return None;
    }
    let mut count = 0;
    for first_run in (0..W::ROWS * W::ROWS / RUN).step_by(64) {
        let mut runs = 0;
        for (i, part) in all[first_run / 16..].iter().enumerate().take(4) {
            runs |= u64::from(_mm512_test_epi32_mask(*part, *part)) << (16 * i);
        }
        while runs != 0 {
            let run = first_run + runs.trailing_zeros() as usize;
            runs &= runs - 1;
            let (row, bit) = (run * RUN / W::ROWS, run * RUN % W::ROWS);
            let first =
                faces.first + ((row as u64) << faces.row_shift) + ((bit as u64) << faces.bit_shift);
            let first_voxel = row * faces.row_stride + bit * faces.bit_stride;
            let occlusion = match &faces.occlusion {
                Some(planes) if SHADED => occlusion::<W>(planes, run),
                _ => _mm256_setzero_si256(),
            };
            let of = Run {
                mask: run_of::<W>(faces.rows, run),
                first: _mm512_set1_epi64(first as i64),
                voxels: faces.voxels.get(first_voxel..)?,
                row_stride: faces.row_stride,
                occlusion,
            };
            let output = output.get_mut(count..)?;
            count += write_run::<W, ADJACENT, SHADED>(&lanes, of, output)?;
        }
    }
    Some(count)
}

/// Faces of a run.
struct Run<'a> {
    mask: u32,
    /// Quad of the first face, in lanes of 64 bits.
    first: __m512i,
    /// Voxels from that of the first face on.
    voxels: &'a [Material],
    row_stride: usize,
    /// Ambient occlusion of each face.
    occlusion: __m256i,
}

/// Combines the rows of each bit of the occlusion to a byte for each face.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt,avx512f,avx512bw,avx512vl,avx512vbmi2")]
#[inline]
fn occlusion<W: Word>(planes: &[W::Slice; 8], run: usize) -> __m256i {
    let mut bytes = _mm256_setzero_si256();
    for (bit, rows) in planes.iter().enumerate() {
        let plane = run_of::<W>(rows, run);
        let set = _mm256_mask_set1_epi8(_mm256_setzero_si256(), plane, (1_u8 << bit) as i8);
        bytes = _mm256_or_si256(bytes, set);
    }
    bytes
}

/// Writes the quads of a run eight at a time; up to seven more follow the last one. Returns the number of
/// faces.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt,avx512f,avx512bw,avx512vl,avx512vbmi2")]
#[inline]
fn write_run<W: Word, const ADJACENT: bool, const SHADED: bool>(
    lanes: &Lanes,
    run: Run<'_>,
    output: &mut [Quad],
) -> Option<usize> {
    let mask = run.mask;
    let mut offsets = _mm512_maskz_compress_epi16(mask, lanes.quads);
    // Materials, or where they are.
    let mut voxels = if ADJACENT {
        _mm512_maskz_compress_epi16(mask, materials::<W>(run.voxels, run.row_stride)?)
    } else {
        _mm512_maskz_compress_epi16(mask, lanes.voxels)
    };
    let mut occlusion = _mm256_maskz_compress_epi8(mask, run.occlusion);
    let count = mask.count_ones() as usize;
    let mut chunks = output.chunks_exact_mut(8);
    for _ in (0..count).step_by(8) {
        let material = if ADJACENT {
            _mm512_cvtepu16_epi64(_mm512_castsi512_si128(voxels))
        } else {
            // SAFETY: the indices are lanes of `lanes.voxels`, which are at most `last_voxel`, or 0.
            unsafe { gathered(run.voxels, _mm512_castsi512_si128(voxels), lanes.last_voxel) }?
        };
        let material = _mm512_sllv_epi64(material, lanes.material_shift);
        let quads = _mm512_cvtepu16_epi64(_mm512_castsi512_si128(offsets));
        let mut quads = _mm512_add_epi64(_mm512_add_epi64(quads, run.first), material);
        if SHADED {
            let shade = _mm512_cvtepu8_epi64(_mm256_castsi256_si128(occlusion));
            quads = _mm512_add_epi64(quads, _mm512_sllv_epi64(shade, lanes.occlusion_shift));
            occlusion = _mm256_alignr_epi64::<1>(_mm256_setzero_si256(), occlusion);
        }
        let to = chunks.next()?;
        // SAFETY: 8 quads of 8 bytes are the 64 bytes of an unaligned store. The low word of a quad
        // comes first on this processor, as in its bits.
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), quads) };
        offsets = _mm512_alignr_epi64::<2>(_mm512_setzero_si512(), offsets);
        voxels = _mm512_alignr_epi64::<2>(_mm512_setzero_si512(), voxels);
    }
    Some(count)
}

/// Reads the materials of a run of adjacent voxels, in lanes of 16 bits.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt,avx512f,avx512bw,avx512vl,avx512vbmi2")]
#[inline]
fn materials<W: Word>(voxels: &[Material], row_stride: usize) -> Option<__m512i> {
    if W::ROWS == 16 {
        let rows: [&[Material; 16]; 2] =
            [voxels.first_chunk()?, voxels.get(row_stride..)?.first_chunk()?];
        // SAFETY: 16 materials of 2 bytes are the 32 bytes of an unaligned load.
        let [low, high] = unsafe {
            [
                _mm256_loadu_si256(rows[0].as_ptr().cast()),
                _mm256_loadu_si256(rows[1].as_ptr().cast()),
            ]
        };
        return Some(_mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high));
    }
    let run: &[Material; RUN] = voxels.first_chunk()?;
    // SAFETY: 32 materials of 2 bytes are the 64 bytes of an unaligned load.
    Some(unsafe { _mm512_loadu_si512(run.as_ptr().cast()) })
}

/// Reads eight materials whose indices are at most `last`, and returns them in lanes of 64 bits.
///
/// # Safety
/// No index may be larger than `last`.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt,avx512f,avx512bw,avx512vl,avx512vbmi2")]
#[inline]
unsafe fn gathered(voxels: &[Material], indices: __m128i, last: usize) -> Option<__m512i> {
    if voxels.len() < last + 2 {
        return None;
    }
    let indices = _mm256_cvtepu16_epi32(indices);
    // SAFETY: two materials, 4 bytes, are read at each index. It is at most `last`, and the material after
    // that exists, as tested above.
    let pairs = unsafe { _mm256_i32gather_epi32::<2>(voxels.as_ptr().cast(), indices) };
    Some(_mm512_cvtepu32_epi64(_mm256_and_si256(pairs, _mm256_set1_epi32(0xffff))))
}
