//! Wavefront `.obj` reader. Reads all positions, normals and texture coordinates first, then the
//! faces that refer to them.
//!
//! The crates `tobj` and `obj` support n-gons too. But errors of `tobj` name no line, `obj` does
//! not check the indices of faces, and neither supports continued lines.

use super::builder::Builder;
use crate::fault::Fault;

use super::files::NamedFiles;
use super::{Model, ModelOptions, ModelUp, WarningKind};
use crate::error::SourceError;

mod faces;
mod lines;
mod materials;
mod numbers;
mod textures;

use faces::Faces;
use materials::Definitions;
use numbers::Numbers;

pub(super) fn parse(
    bytes: &[u8],
    name: &str,
    options: &ModelOptions,
    mut named_files: NamedFiles,
) -> Result<Model, Fault> {
    let mut builder = Builder::new(name, options, ModelUp::by_comments(bytes, options))?;
    let numbers = Numbers::read(bytes, &mut builder)?;
    let definitions = read_materials(&numbers, &mut named_files, &mut builder)?;
    Faces::new(&numbers, (&definitions, &mut named_files), &mut builder).read(bytes)?;
    builder.finish()
}

/// Result of reading a material file.
#[derive(Clone, Copy, PartialEq)]
enum Found {
    Read,
    Missing,
    /// The name could lead outside the model's folder.
    Outside,
}

/// Reads every named `.mtl` file once. Counts statements that name a file that cannot be read.
fn read_materials(
    numbers: &Numbers,
    named_files: &mut NamedFiles,
    builder: &mut Builder,
) -> Result<Definitions, Fault> {
    let mut definitions = Definitions::new();
    let mut seen: Vec<&str> = Vec::new();
    for (line, names) in &numbers.material_files {
        if seen.contains(&names.as_str()) {
            continue;
        }
        seen.push(names);
        // Either one name, which may contain spaces, or several names.
        let mut found = vec![read_file(names, named_files, &mut definitions)?];
        let words = || names.split_whitespace().filter(|word| word != names);
        if found != [Found::Read] && words().next().is_some() {
            found = words()
                .map(|word| read_file(word, named_files, &mut definitions))
                .collect::<Result<_, _>>()?;
        }
        let line = format_args!("line {line}");
        if found.iter().any(|&found| found != Found::Read) {
            builder.warn(WarningKind::MissingMaterials, line);
        }
        if found.contains(&Found::Outside) {
            builder.warn(WarningKind::OutsideFolder, line);
        }
    }
    Ok(definitions)
}

/// Reads a material file if it exists.
fn read_file(
    name: &str,
    named_files: &mut NamedFiles,
    definitions: &mut Definitions,
) -> Result<Found, Fault> {
    match named_files.read(name) {
        Ok(Some(bytes)) => materials::read(&bytes, name, definitions).map(|()| Found::Read),
        Ok(None) => Ok(Found::Outside),
        Err(SourceError::Unreadable { .. } | SourceError::Unsupported { .. }) => Ok(Found::Missing),
        Err(error) => Err(Fault::Other(error)),
    }
}
