//! Unpacking of palette indices from 64-bit words.

/// Unpacks palette indices that never span words. `None` if an index is beyond the palette.
pub(super) fn apart<T: Copy>(
    palette: &[T],
    words: &[[u8; 8]],
    bits: u32,
    values: &mut [T],
) -> Option<()> {
    let mask = (1_u64 << bits) - 1;
    let per_word = (u64::BITS / bits) as usize;
    for (some, word) in values.chunks_mut(per_word).zip(words) {
        let mut word = u64::from_be_bytes(*word);
        for value in some {
            *value = *palette.get((word & mask) as usize)?;
            word >>= bits;
        }
    }
    Some(())
}

/// Unpacks palette indices that can span two words. `None` if an index is beyond the palette.
pub(super) fn spanning<T: Copy>(
    palette: &[T],
    words: &[[u8; 8]],
    bits: u32,
    values: &mut [T],
) -> Option<()> {
    let mask = (1_u64 << bits) - 1;
    let (mut held, mut held_bits) = (0_u128, 0);
    let mut words = words.iter();
    for value in values {
        if held_bits < bits {
            held |= u128::from(u64::from_be_bytes(*words.next()?)) << held_bits;
            held_bits += u64::BITS;
        }
        *value = *palette.get((held as u64 & mask) as usize)?;
        held >>= bits;
        held_bits -= bits;
    }
    Some(())
}
