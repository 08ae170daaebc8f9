use super::WarningKind;
use crate::error::SourceError;

/// Function that returns the bytes of a file that a model names. The number is a limit in bytes.
///
/// The name is a relative path below the model's folder, with `/` as separator. Names that could
/// lead outside are refused before this function is called; see [`Model::open`].
///
/// [`Model::open`]: crate::Model::open
pub type ReadNamedFile<'a> = dyn FnMut(&str, u64) -> Result<Vec<u8>, SourceError> + 'a;

/// Reader of the files that a model names, with a limit for all of them together.
pub(super) struct NamedFiles<'a> {
    read: &'a mut ReadNamedFile<'a>,
    left_bytes: u64,
}

impl<'a> NamedFiles<'a> {
    pub(super) fn new(read: &'a mut ReadNamedFile<'a>, left_bytes: u64) -> Self {
        Self { read, left_bytes }
    }

    /// Reads a file by the name that the model gives; `None` if the name could lead outside the
    /// model's folder. Such a file is not opened.
    pub(super) fn read(&mut self, name: &str) -> Result<Option<Vec<u8>>, SourceError> {
        let Some(name) = name_inside(name) else { return Ok(None) };
        let bytes = (self.read)(&name, self.left_bytes)?;
        self.left_bytes = self.left_bytes.saturating_sub(bytes.len() as u64);
        Ok(Some(bytes))
    }

    /// Reads a texture, which is not fatal if it fails.
    ///
    /// # Errors
    /// The kind of warning.
    pub(super) fn texture(&mut self, name: &str) -> Result<Vec<u8>, WarningKind> {
        match self.read(name) {
            Ok(Some(bytes)) => Ok(bytes),
            Ok(None) => Err(WarningKind::OutsideFolder),
            Err(SourceError::TooLarge { .. }) => Err(WarningKind::LargeTexture),
            Err(_) => Err(WarningKind::MissingTexture),
        }
    }
}

/// Converts a file name to a path below the model's folder, with `/` as separator; `None` if it
/// could lead outside.
///
/// The result is the same on every system, so a model opens on all systems or on none.
fn name_inside(name: &str) -> Option<String> {
    let is_separator = |c| matches!(c, '/' | '\\');
    if name.starts_with(is_separator) {
        return None;
    }
    let parts: Vec<&str> =
        name.split(is_separator).filter(|part| !matches!(*part, "" | ".")).collect();
    let is_inside = !parts.is_empty() && parts.iter().all(|part| is_plain(part));
    is_inside.then(|| parts.join("/"))
}

/// Whether a path component is a plain file or folder name on every system.
fn is_plain(part: &str) -> bool {
    // A colon ends a drive or URL scheme, or begins an NTFS stream.
    let is_special = |c: char| c == ':' || c.is_control();
    // Windows removes trailing dots and spaces: `.. ` is `..` there.
    let is_dots = part.trim_end_matches(['.', ' ']).is_empty();
    !part.contains(is_special) && !is_dots && !is_device(part)
}

/// Whether Windows opens a device for this name, in any folder and with any extension.
fn is_device(part: &str) -> bool {
    const DEVICES: [&str; 6] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];
    const PORTS: [&str; 2] = ["COM", "LPT"];
    let stem = part.split('.').next().unwrap_or_default().trim_end();
    let stem = stem.to_ascii_uppercase();
    let is_port = |name: &&str| {
        let mut number = stem.strip_prefix(*name).unwrap_or_default().chars();
        let digit = number.next();
        let is_digit = digit.is_some_and(|c| c.is_ascii_digit() || "¹²³".contains(c));
        is_digit && number.next().is_none()
    };
    DEVICES.contains(&stem.as_str()) || PORTS.iter().any(is_port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_below_the_folder_are_accepted() {
        for (name, path) in [
            ("a.mtl", "a.mtl"),
            ("./a b.mtl", "a b.mtl"),
            ("colours\\all.mtl", "colours/all.mtl"),
            ("a//b/./c.bin", "a/b/c.bin"),
            (".hidden/..a...mtl", ".hidden/..a...mtl"),
            ("~/é.bin", "~/é.bin"),
            ("console.mtl", "console.mtl"),
            ("COM10.mtl", "COM10.mtl"),
            ("COM.mtl", "COM.mtl"),
            ("%2e%2e", "%2e%2e"),
        ] {
            assert_eq!(name_inside(name).as_deref(), Some(path), "{name}");
        }
    }

    #[test]
    fn names_that_could_lead_outside_are_refused() {
        for name in [
            "",
            ".",
            "./",
            "/",
            "/etc/passwd",
            "\\a",
            "//host/share/a",
            "\\\\host\\share\\a",
            "\\\\?\\C:\\a",
            "..",
            "../a",
            "a/../../b",
            "a/..",
            "..\\a",
            "a\\..\\..\\b",
            ".. /a",
            "... /a",
            ". ./a",
            "C:",
            "C:a",
            "c:/a",
            "C:\\a",
            "file:///a",
            "http://a/b",
            "a.bin:stream",
            "a\0b",
            "a\n",
            "nul",
            "NUL.mtl",
            "a/aux",
            "Con .txt",
            "com1.mtl",
            "LPT9",
            "lpt³.x",
            "CONIN$",
            "sub/prn.tar.gz",
        ] {
            assert_eq!(name_inside(name), None, "{name:?}");
        }
    }
}
