//! Portable implementations, used on other processors and as the reference in tests.

use drystone_mesh::Quad;

use super::transpose::{Square, transpose};
use super::{Instructions, Work};
use crate::Material;

/// Instructions that compilers generate from plain loops.
pub(crate) enum Portable {}

impl Instructions for Portable {
    #[inline(never)]
    fn call<W: Work>(work: W) -> W::Output {
        work.run::<Self>()
    }

    #[inline(always)]
    fn equal_16(a: &[Material; 16], b: &[Material; 16]) -> u16 {
        let lanes = a.iter().zip(b).enumerate();
        lanes.fold(0, |bits, (lane, (a, b))| bits | u16::from(a == b) << lane)
    }

    #[inline(always)]
    fn equal_bytes_16(bytes: &[u8; 16], value: u8) -> u16 {
        let lanes = bytes.iter().enumerate();
        lanes.fold(0, |bits, (lane, &byte)| bits | u16::from(byte == value) << lane)
    }
}

#[inline(always)]
pub(super) fn select_4(quads: &[u64; 4], mask: usize, to: &mut [Quad; 4]) {
    let mut count = 0;
    for (i, &bits) in quads.iter().enumerate() {
        // Without a branch: a quad that is not selected is overwritten by the next one.
        to[count & 3] = Quad::from_bits(bits);
        count += mask >> i & 1;
    }
}

/// Not inlined: a transposed square takes longer than a call, and there are eighteen callers.
#[inline(never)]
pub(super) fn transpose_rows<W: Square, const ROWS: usize>(
    rows: &[W; ROWS],
    to: &mut [W],
    step: usize,
) {
    let mut transposed = *rows;
    transpose(&mut transposed);
    for (to, row) in to.iter_mut().step_by(step).zip(transposed) {
        *to = row;
    }
}
