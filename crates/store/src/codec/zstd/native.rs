use zstd_safe::{CCtx, CParameter, DCtx};

/// Compression level. Files of terrain are 7 % larger at level 3 and 2 % larger at level 9. A
/// dictionary does not help: the voxels of one chunk predict little of another.
const LEVEL: i32 = 13;
/// Longest body, in bytes, that is compressed with [`LEVEL`], and the level of longer ones. Long
/// bodies are almost noise: higher levels gain little and need megabytes per thread.
const LONG_BODY: (usize, i32) = (16 << 10, 3);

pub(crate) struct Zstd {
    compressor: CCtx<'static>,
    decompressor: DCtx<'static>,
}

impl Zstd {
    pub(crate) fn new() -> Self {
        let mut compressor = CCtx::create();
        // Omitted fields are redundant: the caller has the length and its own checksum.
        for parameter in [
            // The largest window that the decoder of browsers takes, see `portable`.
            CParameter::WindowLog(20),
            CParameter::ContentSizeFlag(false),
            CParameter::ChecksumFlag(false),
            CParameter::DictIdFlag(false),
        ] {
            // The parameters are constants within their bounds. A failure would only keep the
            // default, which makes records larger.
            let _ = compressor.set_parameter(parameter);
        }
        Self { compressor, decompressor: DCtx::create() }
    }

    /// Compresses the body of a chunk; `None` if the result is not shorter.
    pub(crate) fn pack(&mut self, body: &[u8]) -> Option<Vec<u8>> {
        let level = if body.len() > LONG_BODY.0 { LONG_BODY.1 } else { LEVEL };
        self.pack_at(level, body)
    }

    /// Compresses bytes with a level of zstd; `None` if the result is not shorter.
    pub(crate) fn pack_at(&mut self, level: i32, bytes: &[u8]) -> Option<Vec<u8>> {
        // The callers' levels are constants within the bounds, see `new`.
        let _ = self.compressor.set_parameter(CParameter::CompressionLevel(level));
        let mut packed = Vec::with_capacity(zstd_safe::compress_bound(bytes.len()));
        self.compressor.compress2(&mut packed, bytes).ok()?;
        (packed.len() < bytes.len()).then_some(packed)
    }

    /// Decompresses arbitrary bytes into an empty `body`, which never exceeds its capacity; `None`
    /// if that fails.
    pub(crate) fn unpack(&mut self, packed: &[u8], body: &mut Vec<u8>) -> Option<()> {
        // Writes at most the capacity.
        self.decompressor.decompress(body, packed).ok().map(drop)
    }
}
