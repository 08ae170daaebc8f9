//! Folders of the user.

use std::path::PathBuf;

/// Returns the folder for received parts of worlds at addresses; `None` to store nothing.
#[cfg(feature = "remote")]
pub(crate) fn cache_folder() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let mac = "Library/Caches";
    let names = ["DRYSTONE_CACHE", "LOCALAPPDATA", mac, "XDG_CACHE_HOME", ".cache"];
    user_folder(variable, names).map(|folder| folder.join("received"))
}

/// Returns a folder of the user: the one in the first environment variable, none if that is empty; else
/// the platform's, from names for Windows, macOS and others.
pub(crate) fn user_folder(
    variable: impl Fn(&str) -> Option<PathBuf>,
    [named, windows, mac, other, hidden]: [&str; 5],
) -> Option<PathBuf> {
    if let Some(named) = variable(named) {
        return (!named.as_os_str().is_empty()).then_some(named);
    }
    let set = |name| variable(name).filter(|path| path.is_absolute());
    let folder = if cfg!(windows) {
        set(windows)?
    } else if cfg!(target_os = "macos") {
        set("HOME")?.join(mac)
    } else {
        set(other).or_else(|| Some(set("HOME")?.join(hidden)))?
    };
    Some(folder.join("drystone"))
}
