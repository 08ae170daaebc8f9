mod avx2;
mod avx512;
mod rows;
mod single_faces;

pub(super) use self::avx2::Narrow;
use self::avx2::Wide;
use self::avx512::Widest;
use super::Work;

#[inline]
pub(super) fn widest<W: Work>(work: W) -> W::Output {
    #[cfg(feature = "std")]
    if has_widest() {
        // SAFETY: the processor has the instructions.
        return unsafe { run_widest(work) };
    }
    wide(work)
}

/// Runs the work with at most AVX2.
#[inline]
pub(super) fn wide<W: Work>(work: W) -> W::Output {
    #[cfg(feature = "std")]
    if has_wide() {
        // SAFETY: the processor has the instructions.
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

/// Whether the processor has AVX-512 with VBMI2.
#[cfg(feature = "std")]
#[inline]
pub(super) fn has_widest() -> bool {
    use std::is_x86_feature_detected as has;
    let has_512 = has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl");
    has_wide() && has_512 && has!("avx512vbmi2")
}

/// Not inlined: [`Instructions::call`](super::Instructions::call) shares it.
#[inline(never)]
#[target_feature(
    enable = "avx2,bmi1,bmi2,popcnt,lzcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2"
)]
fn run_widest<W: Work>(work: W) -> W::Output {
    work.run::<Widest>()
}

/// Not inlined: [`Instructions::call`](super::Instructions::call) shares it.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn run_wide<W: Work>(work: W) -> W::Output {
    work.run::<Wide>()
}
