//! glTF 2.0 reader. The crate `gltf` parses the JSON. This module resolves accessors and buffers,
//! and checks every size and offset against the actual bytes.

use gltf::json::Root;

use super::builder::Builder;
use super::fault::{SPLIT, malformed, quoted};
use super::files::NamedFiles;
use super::{Model, ModelOptions, ModelUp};
use crate::fault::Fault;

mod accessor;
mod affine;
mod buffers;
mod container;
mod materials;
mod primitive;
mod scene;
mod textures;
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
    let mut builder = Builder::new(name, options, ModelUp::by_format(options))?;
    let container = Container::split(bytes)?;
    let root = read_json(container.json)?;
    expect_known(&root)?;
    let buffers = Buffers::read(&root, container.binary, &mut named_files, &mut builder)?;
    let document = Document { root: &root, buffers };
    let mut materials = Materials::new(&mut named_files);
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

/// Extensions that a file may require: supported ones, and ones that only affect lights and images,
/// which are counted if they are not shown.
const KNOWN_EXTENSIONS: [&str; 9] = [
    "KHR_mesh_quantization",
    "KHR_texture_transform",
    "KHR_texture_basisu",
    "KHR_lights_punctual",
    "KHR_xmp_json_ld",
    "EXT_texture_webp",
    "EXT_texture_avif",
    "EXT_lights_image_based",
    "MSFT_texture_dds",
];
const MATERIAL_EXTENSIONS: &str = "KHR_materials_";

/// Checks that the file has a supported version and requires only known extensions. Other
/// extensions could change the model.
fn expect_known(root: &Root) -> Result<(), Fault> {
    let version = root.asset.min_version.as_ref().unwrap_or(&root.asset.version);
    if version.split('.').next() != Some("2") {
        let problem = format!("version {}, only 2 is supported", quoted(version.as_bytes()));
        return Err(malformed("asset", problem));
    }
    let known =
        |name: &str| name.starts_with(MATERIAL_EXTENSIONS) || KNOWN_EXTENSIONS.contains(&name);
    match root.extensions_required.iter().find(|name| !known(name)) {
        None => Ok(()),
        Some(name) => {
            let problem = format!("requires {}, which is not supported", quoted(name.as_bytes()));
            let advice = "export it again without this extension (no compression)";
            Err(Fault::new("extensionsRequired", problem, advice))
        }
    }
}
