#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod chunk_cache;
mod chunk_list;
mod codec;
mod edited;
mod epochs;
mod import;
mod packed;
mod publish;
mod ranges;
mod recent;
mod remote;
mod stored;

pub use chunk_cache::ChunkCache;
pub use edited::{EditAccess, EditOptions, EditedSource};
pub use import::{ImportOptions, ImportProgress, import};
#[doc(hidden)]
pub use packed::fuzzed as fuzzed_packed;
pub use packed::{
    MergeProgress, PackOptions, PackPart, PackProgress, PackedLevel, PackedWorld, merge, pack,
};
pub use ranges::{ArrivingRanges, ByteRanges, LocalRanges};
#[doc(hidden)]
pub use remote::simulated as simulated_network;
#[cfg(all(feature = "remote", not(target_arch = "wasm32")))]
pub use remote::{RemoteFolder, RemoteOptions, download, is_replaceable, open_remote, upload};
pub use remote::{RemoteRanges, RemoteRequests, RemoteStep, is_address, is_object_address};
#[doc(hidden)]
pub use stored::fuzzed;
pub use stored::{
    CommitPolicy, NotClosed, StoreAccess, StoreOptions, StoredLater, StoredSummary, StoredWorld,
    WorldCheck,
};
