//! glTF 2.0 reader. The crate `gltf` parses the JSON. This module resolves accessors and buffers,
//! and checks every size and offset against the actual bytes.

use gltf::json::Root;

use super::builder::Builder;
use super::fault::{SPLIT, malformed};
use super::files::NamedFiles;
use super::{Model, ModelOptions};
use crate::fault::Fault;

mod accessor;
mod affine;
mod buffers;
mod container;
mod extensions;
mod materials;
mod primitive;
mod scene;
mod triangles;
mod uri;

use buffers::Buffers;
use container::Container;
use materials::Materials;
use primitive::Part;

/// Maximum number of objects in the JSON. An object takes at least two bytes in the file, but some
/// hundred bytes in memory.
const MAX_OBJECTS: u64 = 1 << 20;
/// Maximum number of values in the JSON, for the same reason.
const MAX_VALUES: u64 = 1 << 22;

/// Parsed JSON and buffers of a file.
struct Document<'a> {
    root: &'a Root,
    buffers: Buffers<'a>,
}

pub(super) fn parse(
    bytes: &[u8],
    name: &str,
    options: &ModelOptions,
    mut named_files: NamedFiles,
) -> Result<Model, Fault> {
    let mut builder = Builder::new(name, options)?;
    let container = Container::split(bytes)?;
    let root = read_json(container.json)?;
    extensions::expect_known(&root)?;
    let buffers = Buffers::read(&root, container.binary, &mut named_files, &mut builder)?;
    let document = Document { root: &root, buffers };
    let mut materials = Materials::default();
    scene::for_each_instance(&root, |instance| {
        let Some(mesh) = root.meshes.get(instance.mesh) else {
            let problem = format!("mesh {} of {}", instance.mesh, root.meshes.len());
            return Err(malformed(instance.location(), problem));
        };
        let mut parts = mesh.primitives.iter().enumerate();
        parts.try_for_each(|(number, primitive)| {
            Part { instance, number, primitive }.read(&document, &mut materials, &mut builder)
        })
    })?;
    builder.finish()
}

fn read_json(bytes: &[u8]) -> Result<Root, Fault> {
    const MAX_PROBLEM_CHARS: usize = 200;
    let count = |what: &[u8]| bytes.iter().filter(|byte| what.contains(byte)).count() as u64;
    for (what, limit, unit) in [
        (&b"{"[..], MAX_OBJECTS, "objects in its JSON"),
        (&b"{[,"[..], MAX_VALUES, "values in its JSON"),
    ] {
        let found = count(what);
        if found > limit {
            return Err(Fault::TooLarge { found, limit, unit, advice: SPLIT });
        }
    }
    Root::from_slice(bytes).map_err(|error| {
        let location = format!("line {} column {} of its JSON", error.line(), error.column());
        let problem = error.to_string();
        let problem = problem.rsplit_once(" at line ").map_or(&*problem, |(problem, _)| problem);
        malformed(location, problem.chars().take(MAX_PROBLEM_CHARS).collect::<String>())
    })
}

/// Error for missing memory.
fn no_memory(location: &str) -> Fault {
    Fault::new(location, "out of memory", SPLIT)
}
