use super::super::native;
use super::*;
use crate::open_source;

/// Bodies of many lengths, of few bytes and of many.
fn bodies() -> impl Iterator<Item = Vec<u8>> {
    let byte = |place: u32, kinds: u32| (place.wrapping_mul(2_654_435_761) >> 16) % kinds;
    [(60, 2), (900, 3), (5_000, 7), (20_000, 90), (196_000, 250)]
        .into_iter()
        .map(move |(len, kinds)| (0..len).map(|place: u32| byte(place / 5, kinds) as u8).collect())
}

#[test]
fn what_zstd_packed_is_unpacked() {
    let (mut zstd, mut twin) = (native::Zstd::new(), Zstd::new());
    for body in bodies() {
        let packed = zstd.pack(&body).unwrap();
        let mut read = Vec::with_capacity(body.len());
        assert_eq!(twin.unpack(&packed, &mut read), Some(()));
        assert!(read == body);
        let mut short = Vec::with_capacity(body.len() - 1);
        assert!(twin.unpack(&packed, &mut short).is_none() || short.len() < body.len());
    }
}

/// Packs a body; whether that made it shorter. zstd then unpacks it.
fn is_packed(body: &[u8], twin: &mut Zstd, zstd: &mut native::Zstd) -> Option<usize> {
    // Whatever comes of it, it leads back: the check of that is for what nobody has seen.
    let plain = pack(&twin.tables, &mut twin.finder, body);
    let packed = twin.pack(body);
    assert!(plain == packed);
    let packed = packed?;
    let mut read = Vec::with_capacity(body.len());
    assert_eq!(zstd.unpack(&packed, &mut read), Some(()), "{} bytes", body.len());
    assert!(read == body && packed.len() < body.len());
    Some(packed.len())
}

/// Pieces of few or many kinds of bytes, new ones and such as were there before.
fn made_of_pieces(len: usize, dice: &mut impl FnMut(u32) -> u32) -> Vec<u8> {
    let (kinds, piece) = ([1, 2, 9, 60, 256][dice(5) as usize], 1 + dice(70));
    let mut body = Vec::new();
    while body.len() < len {
        let again = body.len().checked_sub(1 + dice(300) as usize);
        for n in 0..1 + dice(piece) as usize {
            let old = again.and_then(|from| body.get(from + n).copied());
            body.push(old.unwrap_or_else(|| dice(kinds) as u8));
        }
    }
    body
}

#[test]
fn what_is_packed_here_is_unpacked_by_zstd() {
    let (mut zstd, mut twin) = (native::Zstd::new(), Zstd::new());
    let mut seed = 5_u32;
    let mut dice = |kinds: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) % kinds
    };
    let mut packed_count = 0;
    for round in 0..1_500 {
        let len = [20, 300, 2_000, 9_000, 131_000][if round % 100 == 0 { 4 } else { round % 4 }];
        let body = made_of_pieces(1 + dice(len) as usize, &mut dice);
        packed_count += usize::from(is_packed(&body, &mut twin, &mut zstd).is_some());
    }
    assert!(packed_count > 1_000, "{packed_count}");
    for body in bodies() {
        is_packed(&body, &mut twin, &mut zstd);
    }
    for len in [0, 1, 2, 3, 4, 7, 1 << 17, (1 << 17) + 1] {
        is_packed(&vec![7; len], &mut twin, &mut zstd);
    }
}

/// Chunks of land, which are most of what is packed: by a third and more.
#[test]
fn chunks_of_land_are_packed_well() {
    let (mut zstd, mut twin) = (native::Zstd::new(), Zstd::new());
    let world = open_source(None).unwrap();
    let (mut plain_bytes, mut bytes, mut zstd_bytes) = (0, 0, 0);
    for place in world.chunk_positions().into_iter().step_by(7) {
        let (mut chunk, mut body) = (world.chunk(place).unwrap(), vec![254]);
        chunk.compact();
        if !chunk.write_bricks(&mut body) || body.len() < 48 {
            continue;
        }
        plain_bytes += body.len();
        bytes += is_packed(&body, &mut twin, &mut zstd).unwrap_or(body.len());
        zstd_bytes += zstd.pack(&body).map_or(body.len(), |it| it.len());
    }
    println!("{plain_bytes} bytes, packed {bytes}, by zstd {zstd_bytes}");
    assert!(bytes * 3 < plain_bytes * 2 && bytes * 2 < zstd_bytes * 3);
}

#[test]
fn no_bytes_panic() {
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

/// In whichever frame it is asked for: one that was packed for windows of all lengths, with the
/// flags of a stream or of a single piece, behind frames that are well.
#[test]
fn long_windows_are_refused_in_every_frame() {
    /// Where a frame names its window, behind the magic number and the flags.
    const WINDOW: usize = 5;
    /// By which power of two that begins.
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
    // A frame that is one piece has a window as long as what it says that it holds.
    let single = |len: u64| {
        let mut packed = frame[..4].to_vec();
        packed.push(0b1110_0000);
        packed.extend(len.to_le_bytes());
        // The last block: one byte, 100 times.
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
