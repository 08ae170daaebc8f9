//! Numbers of variable length: seven bits per byte, lowest first, and bit 7 is set in all bytes but
//! the last (LEB128, as in DWARF and WebAssembly).

/// Maximum length of a number below 2^32, in bytes.
pub(super) const MAX_U32_BYTES: usize = 5;
/// Maximum length of any number, in bytes.
const MAX_BYTES: u32 = 19;

/// Appends a number.
pub(super) fn put(mut number: u128, bytes: &mut Vec<u8>) {
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Removes a number from the beginning of `bytes`. `None` if they end too early, or the number has more
/// than 128 bits.
pub(super) fn take(bytes: &mut &[u8]) -> Option<u128> {
    let mut number = 0;
    for at in 0..MAX_BYTES {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u128::from(byte & 0x7f);
        number |= bits << (7 * at);
        if byte < 0x80 {
            // The last byte has only two bits of a 128-bit number.
            return (bits == number >> (7 * at)).then_some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_back_and_damaged_ones_refused() {
        let numbers = (0..128).flat_map(|bit| [1 << bit, (1_u128 << bit) - 1, !0 >> bit]);
        for number in numbers {
            let mut bytes = Vec::new();
            put(number, &mut bytes);
            let mut rest = bytes.as_slice();
            assert_eq!((take(&mut rest), rest.len()), (Some(number), 0));
            assert_eq!(take(&mut &bytes[..bytes.len() - 1]), None);
            assert!(bytes.len() <= MAX_BYTES as usize);
        }
        let long = [[0xff; 18].as_slice(), &[4]].concat();
        assert_eq!(take(&mut long.as_slice()), None, "129 bits");
        assert_eq!(take(&mut [0x80; 30].as_slice()), None);
    }
}
