//! The two places where the compiler's own choice of instructions is not enough, each with
//! a portable twin that gives the same.
//!
//! - Comparing voxels and packing the answers into bits: compilers do not find the two
//!   instructions that pack.
//! - Which instructions a build may use is settled for the oldest machine that it is to run
//!   on; [`widest`] runs code that was also compiled for newer ones where it meets one.

use crate::Material;

/// Voxels that are compared at once.
pub(crate) const BLOCK: usize = 16;

/// Work that is compiled once for every machine and once for those with wide instructions.
/// `run` and all that it spends time in should be `#[inline(always)]`: what is called is
/// compiled for every machine only.
pub(crate) trait Work {
    /// What comes out.
    type Output;

    /// Does it.
    fn run(self) -> Self::Output;
}

/// Does the work with the widest instructions that this machine has.
#[inline]
pub(crate) fn widest<W: Work>(work: W) -> W::Output {
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    if has_wide() {
        // SAFETY: the machine has the instructions.
        return unsafe { run_wide(work) };
    }
    work.run()
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[inline]
fn has_wide() -> bool {
    use std::is_x86_feature_detected as has;
    has!("avx2") && has!("bmi1") && has!("bmi2") && has!("popcnt") && has!("lzcnt")
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn run_wide<W: Work>(work: W) -> W::Output {
    work.run()
}

/// Sixteen answers as bits, the first lowest: whether both voxels are the same.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[inline(always)]
pub(crate) fn equal_bits(a: &[Material; BLOCK], b: &[Material; BLOCK]) -> u64 {
    use core::arch::x86_64::{
        __m128i, _mm_cmpeq_epi16, _mm_loadu_si128, _mm_movemask_epi8, _mm_packs_epi16,
    };
    let [a, b]: [*const __m128i; 2] = [a.as_ptr().cast(), b.as_ptr().cast()];
    // SAFETY: this is compiled only where SSE2 may be used. Each pointer is to 16 materials of 2 bytes, which
    // are two times the 16 bytes that a load reads, at whatever address.
    let bits = unsafe {
        let low = _mm_cmpeq_epi16(_mm_loadu_si128(a), _mm_loadu_si128(b));
        let high = _mm_cmpeq_epi16(_mm_loadu_si128(a.add(1)), _mm_loadu_si128(b.add(1)));
        _mm_movemask_epi8(_mm_packs_epi16(low, high))
    };
    u64::from(bits as u16)
}

#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
pub(crate) use portable::equal_bits;

/// The twins: what other machines run, and what ours are tested against.
#[cfg(any(test, not(all(target_arch = "x86_64", target_feature = "sse2"))))]
mod portable {
    use super::{BLOCK, Material};

    #[inline(always)]
    pub(crate) fn equal_bits(a: &[Material; BLOCK], b: &[Material; BLOCK]) -> u64 {
        let mut bits = 0;
        for (lane, (a, b)) in a.iter().zip(b).enumerate() {
            bits |= u16::from(a == b) << lane;
        }
        u64::from(bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_answers_are_those_of_the_twin() {
        let mut seed = 1_u64;
        let mut next = || {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            Material([0, 1, 0x7fff, 0x8000, 0xff00, 0xffff][(seed >> 33) as usize % 6])
        };
        for _ in 0..1000 {
            let a: [Material; BLOCK] = core::array::from_fn(|_| next());
            let b: [Material; BLOCK] = core::array::from_fn(|_| next());
            assert_eq!(equal_bits(&a, &b), portable::equal_bits(&a, &b), "{a:?} {b:?}");
            assert_eq!(equal_bits(&a, &a), 0xffff);
        }
    }

    #[test]
    fn wide_instructions_change_nothing() {
        struct Mix(u64);
        impl Work for Mix {
            type Output = [u64; 4];

            #[inline(always)]
            fn run(self) -> [u64; 4] {
                let Self(x) = self;
                let zeros = [x.leading_zeros(), x.trailing_zeros(), x.count_ones()];
                let mixed = (0..64).map(|shift| x.rotate_left(shift) & x).fold(0, |a, b| a ^ b);
                let [a, b, c] = zeros.map(u64::from);
                [a, b, c, mixed]
            }
        }
        for x in [0, 1, u64::MAX, 0x8000_0000_0000_0000, 0x1234_5678_9abc_def0] {
            assert_eq!(widest(Mix(x)), Mix(x).run());
        }
    }
}
