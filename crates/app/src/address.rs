//! Packed worlds at addresses of web servers and object stores.

use std::path::Path;

use drystone_formats::SourceError;
use drystone_store::PackedWorld;

/// Returns the address that a path is, if it is one.
pub(crate) fn of(path: &Path) -> Option<&str> {
    path.to_str().filter(|text| drystone_store::is_address(text))
}

/// Opens the packed world at an address. What is read stays in the user's cache folder.
#[cfg(feature = "remote")]
pub(crate) fn open(address: &str) -> Result<PackedWorld, SourceError> {
    let options = drystone_store::RemoteOptions::default();
    drystone_store::open_remote(address, &options.with_cache_folder(crate::folders::cache_folder()))
}

#[cfg(not(feature = "remote"))]
pub(crate) fn open(address: &str) -> Result<PackedWorld, SourceError> {
    let found = "an address, which this build cannot read; build it with the feature remote".into();
    Err(SourceError::Unsupported { path: address.into(), found })
}
