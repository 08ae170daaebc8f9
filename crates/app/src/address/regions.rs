use std::{env, io, path::PathBuf, sync::Arc};

use drystone_formats::{MinecraftWorld, RegionFiles, Source, SourceError};
use drystone_store::{PackedWorld, RemoteFolder};

/// Opens what is at an address: a packed world, or a folder of an object store with Minecraft's regions.
pub(crate) fn open_source(address: &str) -> Result<Box<dyn Source>, SourceError> {
    if drystone_store::is_object_address(address) && !address.ends_with(PackedWorld::EXTENSION) {
        let no_folder = match open_folder(address) {
            Ok(world) => return Ok(Box::new(world)),
            Err(problem) => problem,
        };
        // The name of a packed world may end in anything.
        return match super::open(address) {
            Ok(world) => Ok(Box::new(world)),
            Err(SourceError::NotReceived { .. }) => Err(no_folder),
            Err(problem) => Err(problem),
        };
    }
    super::open(address).map(|world| Box::new(world) as _)
}

/// Opens the Minecraft world in a folder of an object store. Region files are copied to the folder for temporary
/// files when they are first needed.
fn open_folder(address: &str) -> Result<MinecraftWorld, SourceError> {
    let mut last = None;
    for folder in MinecraftWorld::REGION_FOLDERS {
        let files = RemoteFolder::open(address, folder, &env::temp_dir())?;
        match MinecraftWorld::open_files(address, folder, Arc::new(Regions(files))) {
            Ok(world) => return Ok(world),
            Err(problem) => last = Some(problem),
        }
    }
    let found = "an empty folder".into();
    Err(last.unwrap_or(SourceError::Unsupported { path: address.into(), found }))
}

struct Regions(RemoteFolder);

impl RegionFiles for Regions {
    fn list(&self) -> Vec<(String, u64)> {
        self.0.files().to_vec()
    }

    fn copy(&self, name: &str) -> io::Result<PathBuf> {
        self.0.copy(name)
    }
}
