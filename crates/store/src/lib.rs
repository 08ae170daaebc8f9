#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod chunk_cache;
mod codec;
mod edited;
mod epochs;
mod import;
mod packed;
mod publish;
mod recent;
mod stored;

pub use chunk_cache::ChunkCache;
pub use edited::{EditAccess, EditOptions, EditedSource};
pub use import::{ImportOptions, ImportProgress, import};
#[doc(hidden)]
pub use packed::fuzzed as fuzzed_packed;
pub use packed::{
    ByteRanges, LocalRanges, PackOptions, PackProgress, PackedLevel, PackedWorld, pack,
};
#[doc(hidden)]
pub use stored::fuzzed;
pub use stored::{
    CommitPolicy, NotClosed, StoreAccess, StoreOptions, StoredLater, StoredSummary, StoredWorld,
    WorldCheck,
};
