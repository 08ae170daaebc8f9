//! Wavefront `.obj`: first all numbers, then the faces that name them.
//!
//! The crates `tobj` and `obj` keep n-gons too. But `tobj`'s errors name no line, `obj` does
//! not ask whether the numbers of a face name anything, and neither joins lines that go on in
//! the next.

use std::collections::HashMap;

use super::builder::Builder;
use super::fault::Fault;
use super::files::Beside;
use super::{Model, ModelOptions, WarningKind};
use crate::WorldError;

mod faces;
mod lines;
mod materials;
mod numbers;
mod words;

use faces::Faces;
use numbers::Numbers;

/// Colours of materials by name, as the `.mtl` files have them.
type Colors = HashMap<String, [u8; 4]>;

pub(super) fn parse(
    bytes: &[u8],
    name: &str,
    options: &ModelOptions,
    mut beside: Beside,
) -> Result<Model, Fault> {
    let mut builder = Builder::new(name, options)?;
    let numbers = Numbers::read(bytes, &mut builder)?;
    let colors = read_materials(&numbers, &mut beside, &mut builder)?;
    Faces::new(&numbers, &colors, &mut builder).read(bytes)?;
    builder.finish()
}

/// The materials of every `.mtl` file that is named, each read once. One that cannot be
/// read is counted.
fn read_materials(
    numbers: &Numbers,
    beside: &mut Beside,
    builder: &mut Builder,
) -> Result<Colors, Fault> {
    let mut colors = Colors::new();
    let mut seen: Vec<&str> = Vec::new();
    for (line, names) in &numbers.material_files {
        if seen.contains(&names.as_str()) {
            continue;
        }
        seen.push(names);
        // One name that may have spaces in it, or several.
        let is_there = read_file(names, beside, &mut colors)?;
        let mut words = names.split_whitespace().filter(|word| word != names);
        let mut found = is_there || words.clone().next().is_some();
        if !is_there {
            words.try_for_each(|word| {
                found &= read_file(word, beside, &mut colors)?;
                Ok(())
            })?;
        }
        if !found {
            builder.warn(WarningKind::MissingMaterials, format_args!("line {line}"));
        }
    }
    Ok(colors)
}

/// Reads a file of materials; whether it is there.
fn read_file(name: &str, beside: &mut Beside, colors: &mut Colors) -> Result<bool, Fault> {
    match beside.read(name) {
        Ok(bytes) => materials::read(&bytes, name, colors).map(|()| true),
        Err(WorldError::Unreadable { .. } | WorldError::Unsupported { .. }) => Ok(false),
        Err(error) => Err(Fault::Other(error)),
    }
}
