use ruzstd::decoding::FrameDecoder;

/// The longest window that is unpacked, in bytes: no record is as long, and the decoder reserves
/// it before it has seen more.
const MAX_WINDOW_BYTES: u64 = 1 << 20;

pub(in super::super) struct Zstd {
    decoder: FrameDecoder,
}

impl Zstd {
    pub(in super::super) fn new() -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MAX_WINDOW_BYTES);
        Self { decoder }
    }

    /// Nothing is packed: ruzstd's encoder asserts on some valid data, and a panic ends a page
    /// with all that was not saved. What a page keeps is some chunks of edits, and whoever opens
    /// the file natively packs what it writes anew.
    pub(in super::super) const fn pack(&mut self, _body: &[u8]) -> Option<Vec<u8>> {
        None
    }

    /// Unpacks any bytes into an empty `body`, which becomes no larger than its capacity; `None`
    /// where that does not do.
    pub(in super::super) fn unpack(&mut self, packed: &[u8], body: &mut Vec<u8>) -> Option<()> {
        // No frames at all would be an empty body.
        (!packed.is_empty()).then(|| self.decoder.decode_all_to_vec(packed, body).ok())?
    }
}

#[cfg(test)]
mod tests;
