use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
};

use drystone_formats::{Format, Input, SourceError};
use indicatif::ProgressBar;

use super::is_same_file;
use crate::{AppError, address, commands::chunk_bar};

/// The packed world that a command writes: a file, or an object in an object store. The latter is first written to
/// a file in the current folder.
pub(super) struct Output<'a> {
    /// The path or address that the user named.
    pub(super) named: &'a Path,
    /// The file that is written.
    pub(super) file: PathBuf,
}

/// End of the names of files that will be uploaded.
const UPLOAD: &str = "upload";
const OTHER: &str = "exists and is not a packed world; name another file, or remove this one";

impl<'a> Output<'a> {
    /// Fails if the address cannot be written, or has another object than a packed world.
    pub(super) fn new(named: &'a Path) -> Result<Self, AppError> {
        let Some(address) = address::of(named) else {
            return Ok(Self { named, file: named.into() });
        };
        if !address::is_replaceable(address)? {
            return Err(failed(named, OTHER));
        }
        // Objects of the same name in other folders have files of their own.
        let mut hasher = DefaultHasher::new();
        address.hash(&mut hasher);
        let name = address.rsplit('/').next().unwrap_or_default();
        let file = PathBuf::from(format!("{name}.{:08x}.{UPLOAD}", hasher.finish() as u32));
        Ok(Self { named, file })
    }

    /// Fails if there is another file than a packed world.
    pub(super) fn refuse_other_file(&self) -> Result<(), AppError> {
        match is_other_file(&self.file) {
            true => Err(failed(&self.file, OTHER)),
            false => Ok(()),
        }
    }

    /// Whether writing the output would replace this input.
    pub(super) fn replaces(&self, input: &Path) -> bool {
        is_same_file(input, self.named) || is_same_file(input, &self.file)
    }

    /// Copies the complete file to the address, if one was named, and removes it here. If that fails, the file stays.
    pub(super) fn finish(&self) -> Result<(), AppError> {
        let Some(address) = address::of(self.named) else { return Ok(()) };
        let bar = ProgressBar::new(fs::metadata(&self.file).map_or(0, |it| it.len()));
        let template = "{bar:40} {bytes} of {total_bytes} uploaded, {eta} left";
        let bar = bar.with_style(chunk_bar::style(template));
        let sent = address::upload(&self.file, address, &mut |bytes| bar.set_position(bytes));
        bar.finish_and_clear();
        sent.map_err(|error| match error {
            SourceError::NotSent { path, problem } => {
                let file = self.file.display();
                let problem = format!("{problem}; the complete file stays in {file}");
                SourceError::NotSent { path, problem }
            }
            error => error,
        })?;
        // It does no harm where it cannot be removed.
        let _ = fs::remove_file(&self.file);
        Ok(())
    }
}

fn is_other_file(path: &Path) -> bool {
    let is_other = path.is_file() && Format::of(Input::Path(path)) != Some(Format::Packed);
    is_other && path.metadata().is_ok_and(|metadata| metadata.len() > 0)
}

fn failed(path: &Path, problem: &str) -> AppError {
    AppError::File { path: path.into(), problem: problem.into() }
}
