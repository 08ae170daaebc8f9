use std::io;
use std::path::PathBuf;

/// Region files of a Minecraft world that are elsewhere, such as in an object store. Used from many threads.
pub trait RegionFiles: Send + Sync {
    /// Returns the names and lengths in bytes of the region files, such as `r.-1.0.mca`. Other files may be among
    /// them.
    fn list(&self) -> Vec<(String, u64)>;

    /// Returns the path of a copy on this machine, which stays as long as this object. The first call for a file
    /// copies it. `name` is one of the list, or that of the separate file of a large column, such as `c.1.-9.mcc`.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound) for a file that does not exist, and what prevents copying. The next
    /// call tries again.
    fn copy(&self, name: &str) -> io::Result<PathBuf>;
}
