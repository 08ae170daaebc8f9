use zstd_safe::{CCtx, CParameter, DCtx};

/// zstd's level: at 3 a file of terrain is 7 % longer, at 9 2 %. With a dictionary it gets no
/// shorter: the voxels of one chunk say little about another's.
const LEVEL: i32 = 13;
/// The level of bodies longer than these bytes: of what is nearly noise, which gains little and
/// would take long, and megabytes a thread.
const LONG_BODY: (usize, i32) = (16 << 10, 3);

pub(in super::super) struct Zstd {
    compressor: CCtx<'static>,
    decompressor: DCtx<'static>,
}

impl Zstd {
    pub(in super::super) fn new() -> Self {
        let mut compressor = CCtx::create();
        // What is left out is kept elsewhere: the length is known, the checksum is ours.
        for parameter in [
            CParameter::ContentSizeFlag(false),
            CParameter::ChecksumFlag(false),
            CParameter::DictIdFlag(false),
        ] {
            // These are fixed and known to be in bounds; a default in their place is no worse
            // than larger.
            let _ = compressor.set_parameter(parameter);
        }
        Self { compressor, decompressor: DCtx::create() }
    }

    /// The body packed, if that is shorter.
    pub(in super::super) fn pack(&mut self, body: &[u8]) -> Option<Vec<u8>> {
        let level = if body.len() > LONG_BODY.0 { LONG_BODY.1 } else { LEVEL };
        // In bounds, as above.
        let _ = self.compressor.set_parameter(CParameter::CompressionLevel(level));
        let mut packed = Vec::with_capacity(zstd_safe::compress_bound(body.len()));
        self.compressor.compress2(&mut packed, body).ok()?;
        (packed.len() < body.len()).then_some(packed)
    }

    /// Unpacks any bytes into an empty `body`, which becomes no larger than its capacity; `None`
    /// where that does not do.
    pub(in super::super) fn unpack(&mut self, packed: &[u8], body: &mut Vec<u8>) -> Option<()> {
        // Never more than the capacity is written.
        self.decompressor.decompress(body, packed).ok().map(drop)
    }
}
