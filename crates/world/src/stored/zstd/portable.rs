use ruzstd::decoding::FrameDecoder;

/// A frame begins with these bytes …
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// … and with flags, one of which says that it names no window.
const HAS_NO_WINDOW: u8 = 1 << 5;
/// 2 to the power of this is the longest window, in bytes, that is unpacked: no record is as
/// long, and the decoder reserves it before it has seen more.
const MAX_WINDOW_LOG: u8 = 20;
/// The shortest window there can be.
const MIN_WINDOW_LOG: u8 = 10;

pub(in super::super) struct Zstd(FrameDecoder);

impl Zstd {
    pub(in super::super) fn new() -> Self {
        Self(FrameDecoder::new())
    }

    /// Packs nothing.
    #[cfg(not(test))]
    pub(in super::super) fn pack(&mut self, _: &[u8]) -> Option<Vec<u8>> {
        None
    }

    /// Unpacks any bytes into an empty `body`, which becomes no larger than its capacity; `None`
    /// where that does not do.
    pub(in super::super) fn unpack(&mut self, packed: &[u8], body: &mut Vec<u8>) -> Option<()> {
        let (magic, rest) = packed.split_first_chunk()?;
        let [flags, window, ..] = *rest else { return None };
        let window_log = (window >> 3) + MIN_WINDOW_LOG;
        if *magic != MAGIC || flags & HAS_NO_WINDOW != 0 || window_log > MAX_WINDOW_LOG {
            return None;
        }
        self.0.decode_all_to_vec(packed, body).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::super::native;
    use super::*;

    /// Bodies of many lengths, of few bytes and of many.
    fn bodies() -> impl Iterator<Item = Vec<u8>> {
        let byte = |place: u32, kinds: u32| (place.wrapping_mul(2_654_435_761) >> 16) % kinds;
        [(60, 2), (900, 3), (5_000, 7), (20_000, 90), (196_000, 250)].into_iter().map(
            move |(len, kinds)| (0..len).map(|place: u32| byte(place / 5, kinds) as u8).collect(),
        )
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

    #[test]
    fn a_long_window_is_refused() {
        let body = vec![7; 1 << 16];
        let mut packed = native::Zstd::new().pack(&body).unwrap();
        let mut read = Vec::with_capacity(body.len());
        assert_eq!(Zstd::new().unpack(&packed, &mut read), Some(()));
        packed[MAGIC.len() + 1] = (MAX_WINDOW_LOG + 1 - MIN_WINDOW_LOG) << 3;
        read.clear();
        assert_eq!(Zstd::new().unpack(&packed, &mut read), None);
    }
}
