//! The places where the compiler's own choice of instructions is not enough, each with a
//! portable twin that gives the same.
//!
//! - Comparing voxels and packing the answers into bits, and turning squares of bits over:
//!   compilers do not find the instructions that gather the highest bit of each byte.
//! - Which instructions a build may use is settled for the oldest machine that it is to run
//!   on; [`widest`] runs code that was also compiled for newer ones where it meets one.

mod portable;
#[cfg(test)]
mod tests;
// What needs AVX2 is used only where `std` finds it at run time.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[cfg_attr(not(feature = "std"), allow(dead_code))]
mod x86;

use crate::Material;

/// Work that is compiled once for every machine and once for those with wide instructions.
/// `run` and all that it spends time in should be `#[inline(always)]`: what is called is
/// compiled for every machine only.
pub(crate) trait Work {
    /// What comes out.
    type Output;

    /// Does it.
    fn run<I: Instructions>(self) -> Self::Output;
}

/// What compilers do not find.
pub(crate) trait Instructions {
    /// Answers as bits, the first lowest: whether both voxels are the same.
    fn equal_16(a: &[Material; 16], b: &[Material; 16]) -> u16;

    /// As [`equal_16`](Self::equal_16).
    #[inline(always)]
    fn equal_32(a: &[Material; 32], b: &[Material; 32]) -> u32 {
        let ([a, c], _) = a.as_chunks() else { return 0 };
        let ([b, d], _) = b.as_chunks() else { return 0 };
        u32::from(Self::equal_16(a, b)) | u32::from(Self::equal_16(c, d)) << 16
    }

    /// As [`equal_16`](Self::equal_16).
    #[inline(always)]
    fn equal_64(a: &[Material; 64], b: &[Material; 64]) -> u64 {
        let ([a, c], _) = a.as_chunks() else { return 0 };
        let ([b, d], _) = b.as_chunks() else { return 0 };
        u64::from(Self::equal_32(a, b)) | u64::from(Self::equal_32(c, d)) << 32
    }

    /// Turns a square over its diagonal: bit `x` of row `y` goes to bit `y` of word `step * x`
    /// of `to`. Rows beyond the end of `to` are left out.
    #[inline(always)]
    fn turn_16(rows: &[u16; 16], to: &mut [u16], step: usize) {
        portable::turn(rows, to, step);
    }

    /// As [`turn_16`](Self::turn_16).
    #[inline(always)]
    fn turn_32(rows: &[u32; 32], to: &mut [u32], step: usize) {
        portable::turn(rows, to, step);
    }

    /// As [`turn_16`](Self::turn_16).
    #[inline(always)]
    fn turn_64(rows: &[u64; 64], to: &mut [u64], step: usize) {
        portable::turn(rows, to, step);
    }
}

/// Does the work with the widest instructions that this machine has.
#[inline]
pub(crate) fn widest<W: Work>(work: W) -> W::Output {
    #[cfg(test)]
    match tests::MAX.get() {
        tests::Most::All => {}
        tests::Most::Portable => return work.run::<portable::Portable>(),
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        tests::Most::Narrow => return work.run::<x86::Narrow>(),
    }
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    return x86::widest(work);
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
    work.run::<portable::Portable>()
}
