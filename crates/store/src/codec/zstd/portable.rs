use ruzstd::decoding::FrameDecoder;

/// Longest supported window, in bytes. No record is that long, and the decoder reserves the window
/// before it has checked more.
const MAX_WINDOW_BYTES: u64 = 1 << 20;

pub(crate) struct Zstd {
    decoder: FrameDecoder,
}

impl Zstd {
    pub(crate) fn new() -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MAX_WINDOW_BYTES);
        Self { decoder }
    }

    /// Never compresses. The encoder of ruzstd panics on some valid data, and a panic ends a page
    /// with all unsaved edits. A page stores only a few edited chunks; native programs compress
    /// them when they write them again.
    pub(crate) const fn pack(&mut self, _body: &[u8]) -> Option<Vec<u8>> {
        None
    }

    /// Never compresses, see [`pack`](Self::pack).
    #[cfg(target_arch = "wasm32")]
    pub(crate) const fn pack_at(&mut self, _level: i32, _bytes: &[u8]) -> Option<Vec<u8>> {
        None
    }

    /// Decompresses arbitrary bytes into an empty `body`, which never exceeds its capacity; `None`
    /// if that fails.
    pub(crate) fn unpack(&mut self, packed: &[u8], body: &mut Vec<u8>) -> Option<()> {
        // The decoder would decode zero frames to an empty body.
        (!packed.is_empty()).then(|| self.decoder.decode_all_to_vec(packed, body).ok())?
    }
}

#[cfg(test)]
mod tests;
