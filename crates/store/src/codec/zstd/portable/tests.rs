use super::super::native;
use super::*;

/// Bodies of several lengths and alphabet sizes.
fn bodies() -> impl Iterator<Item = Vec<u8>> {
    let byte = |at: u32, kinds: u32| (at.wrapping_mul(2_654_435_761) >> 16) % kinds;
    [(60, 2), (900, 3), (5_000, 7), (20_000, 90), (196_000, 250)]
        .into_iter()
        .map(move |(len, kinds)| (0..len).map(|at: u32| byte(at / 5, kinds) as u8).collect())
}

#[test]
fn decompresses_what_native_zstd_compressed() {
    let (mut zstd, mut twin) = (native::Zstd::new(), Zstd::new());
    // Longer than a window.
    let long = bodies().last().map(|body| body.repeat(12));
    for body in bodies().chain(long) {
        let packed = zstd.pack(&body).unwrap();
        let mut read = Vec::with_capacity(body.len());
        assert_eq!(twin.unpack(&packed, &mut read), Some(()));
        assert!(read == body);
        assert_eq!(twin.pack(&body), None);
        let mut short = Vec::with_capacity(body.len() - 1);
        assert!(twin.unpack(&packed, &mut short).is_none() || short.len() < body.len());
    }
}

#[test]
fn arbitrary_bytes_do_not_panic() {
    let (mut zstd, mut twin) = (native::Zstd::new(), Zstd::new());
    for body in bodies() {
        let packed = zstd.pack(&body).unwrap();
        let step = (packed.len() / 300).max(1);
        for at in (0..packed.len()).step_by(step) {
            let mut read = Vec::with_capacity(body.len());
            let capacity = read.capacity();
            assert_eq!(twin.unpack(&packed[..at], &mut read), None, "{at}");
            let mut wrong = packed.clone();
            wrong[at] ^= 0x41;
            read.clear();
            let _ = twin.unpack(&wrong, &mut read);
            assert!(read.capacity() == capacity);
        }
    }
}

/// Checks the limit in frames of every window length, in streamed and single-segment frames, and
/// behind valid frames.
#[test]
fn long_windows_are_refused_in_every_frame() {
    /// Offset of a frame's window descriptor, after the magic number and the flags.
    const WINDOW: usize = 5;
    /// Binary logarithm of the smallest window.
    const MIN_LOG: u8 = 10;
    let body = vec![7; 1 << 16];
    let frame = native::Zstd::new().pack(&body).unwrap();
    let unpack = |packed: &[u8]| {
        let mut read = Vec::with_capacity(8 * body.len());
        Zstd::new().unpack(packed, &mut read).map(|()| read.len() / body.len())
    };
    for before in 0..3 {
        let mut packed = frame.repeat(before);
        packed.extend(&frame);
        assert_eq!(unpack(&packed), Some(before + 1));
        for log in 16..=41_u8 {
            packed[before * frame.len() + WINDOW] = (log - MIN_LOG) << 3;
            let is_short = 1 << log <= MAX_WINDOW_BYTES;
            assert_eq!(unpack(&packed).is_some(), is_short, "{before} {log}");
        }
    }
    // A single-segment frame has a window of its content size.
    let single = |len: u64| {
        let mut packed = frame[..4].to_vec();
        packed.push(0b1110_0000);
        packed.extend(len.to_le_bytes());
        // The last block: one byte, repeated 100 times.
        packed.extend([0x23, 3, 0, 9]);
        packed
    };
    let mut read = Vec::with_capacity(1 << 10);
    assert_eq!(Zstd::new().unpack(&single(100), &mut read), Some(()));
    assert!(read == [9; 100]);
    for len in [MAX_WINDOW_BYTES + 1, 1 << 40, u64::MAX] {
        read.clear();
        assert_eq!(Zstd::new().unpack(&single(len), &mut read), None);
    }
}
