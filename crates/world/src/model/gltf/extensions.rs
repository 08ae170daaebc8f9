use gltf::json::Root;

use crate::model::fault::{Fault, quoted};

/// Extensions that may be required of us: those that are read, and those that change only
/// how a surface, a light or a texture looks, which are not shown anyway.
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

/// That the file is of a version that is read, and requires nothing that is not known:
/// without it, the picture would be another one.
pub(super) fn expect_known(root: &Root) -> Result<(), Fault> {
    let version = root.asset.min_version.as_ref().unwrap_or(&root.asset.version);
    if version.split('.').next() != Some("2") {
        let problem = format!("version {}, only 2 is read", quoted(version.as_bytes()));
        return Err(Fault::new("asset", problem));
    }
    let known = |name: &str| name.starts_with(MATERIALS) || KNOWN.contains(&name);
    match root.extensions_required.iter().find(|name| !known(name)) {
        None => Ok(()),
        Some(name) => {
            let problem = format!("requires {}, which is not supported", quoted(name.as_bytes()));
            let advice = "export it again without this extension (no compression)";
            Err(Fault::with_advice("extensionsRequired", problem, advice))
        }
    }
}
