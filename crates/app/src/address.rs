//! Packed worlds at addresses of web servers and object stores, and region files in object stores.

use std::path::Path;

use drystone_formats::SourceError;
use drystone_store::PackedWorld;

#[cfg(feature = "remote")]
mod regions;

#[cfg(feature = "remote")]
pub(crate) use drystone_store::{download, is_replaceable, upload};
#[cfg(feature = "remote")]
pub(crate) use regions::open_source;

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
pub(crate) use without::{download, is_replaceable, open, open_source, upload};

/// The functions of this module in a build without the feature.
#[cfg(not(feature = "remote"))]
mod without {
    use drystone_formats::Source;

    use super::{PackedWorld, Path, SourceError};

    pub(crate) fn open(address: &str) -> Result<PackedWorld, SourceError> {
        let found =
            "an address, which this build cannot read; build it with the feature remote".into();
        Err(SourceError::Unsupported { path: address.into(), found })
    }

    pub(crate) fn open_source(address: &str) -> Result<Box<dyn Source>, SourceError> {
        open(address).map(|world| Box::new(world) as _)
    }

    pub(crate) fn is_replaceable(address: &str) -> Result<bool, SourceError> {
        open(address).map(|_| false)
    }

    pub(crate) fn upload(
        _: &Path,
        address: &str,
        _: &mut dyn FnMut(u64),
    ) -> Result<(), SourceError> {
        open(address).map(drop)
    }

    pub(crate) fn download(address: &str, _: &Path) -> Result<(), SourceError> {
        open(address).map(drop)
    }
}
