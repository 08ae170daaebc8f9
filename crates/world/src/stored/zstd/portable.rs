use ruzstd::decoding::FrameDecoder;

use super::pack::{Finder, Tables, pack};

/// The longest window that is unpacked, in bytes: no record is as long, and the decoder reserves
/// it before it has seen more.
const MAX_WINDOW_BYTES: u64 = 1 << 20;

pub(in super::super) struct Zstd {
    decoder: FrameDecoder,
    tables: Tables,
    finder: Finder,
}

impl Zstd {
    pub(in super::super) fn new() -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MAX_WINDOW_BYTES);
        Self { decoder, tables: Tables::new(), finder: Finder::new() }
    }

    /// The body packed, if that is shorter and leads back.
    pub(in super::super) fn pack(&mut self, body: &[u8]) -> Option<Vec<u8>> {
        let packed = pack(&self.tables, &mut self.finder, body)?;
        let mut read = Vec::with_capacity(body.len());
        // Whoever edits must not find out later.
        self.unpack(&packed, &mut read)?;
        (read == body).then_some(packed)
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
