use gltf::json::Root;

use crate::fault::Fault;
use crate::model::fault::{malformed, quoted};

/// Extensions that a file may require: supported ones, and ones that only affect surfaces, lights
/// or textures, which are not shown.
const KNOWN: [&str; 9] = [
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
const MATERIALS: &str = "KHR_materials_";

/// Checks that the file has a supported version and requires only known extensions. Other
/// extensions could change the model.
pub(super) fn expect_known(root: &Root) -> Result<(), Fault> {
    let version = root.asset.min_version.as_ref().unwrap_or(&root.asset.version);
    if version.split('.').next() != Some("2") {
        let problem = format!("version {}, only 2 is supported", quoted(version.as_bytes()));
        return Err(malformed("asset", problem));
    }
    let known = |name: &str| name.starts_with(MATERIALS) || KNOWN.contains(&name);
    match root.extensions_required.iter().find(|name| !known(name)) {
        None => Ok(()),
        Some(name) => {
            let problem = format!("requires {}, which is not supported", quoted(name.as_bytes()));
            let advice = "export it again without this extension (no compression)";
            Err(Fault::new("extensionsRequired", problem, advice))
        }
    }
}
