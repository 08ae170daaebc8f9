use std::collections::HashMap;

use gltf::json::material::{AlphaMode, Material};
use gltf::json::validation::Checked;
use gltf::json::{Index, Root};

use crate::fault::Fault;
use crate::model::builder::Builder;
use crate::model::fault::{malformed, name_of};
use crate::model::{ModelMaterial, WarningKind};

/// Material indices in the model, by their index in the file.
#[derive(Default)]
pub(super) struct Materials {
    numbers: HashMap<Option<usize>, usize>,
}

impl Materials {
    /// The index of a material in the model; `None` is the default material.
    pub(super) fn number(
        &mut self,
        root: &Root,
        index: Option<Index<Material>>,
        builder: &mut Builder,
    ) -> Result<usize, Fault> {
        let index = index.map(|index| index.value());
        if let Some(&number) = self.numbers.get(&index) {
            return Ok(number);
        }
        let number = match index {
            None => builder.add_material(String::new(), ModelMaterial::DEFAULT_COLOR),
            Some(index) => {
                let location = format_args!("material {index}");
                let Some(material) = root.materials.get(index) else {
                    let problem = format!("out of range, the file has {}", root.materials.len());
                    return Err(malformed(location, problem));
                };
                if has_texture(material) {
                    builder.warn(WarningKind::Texture, location);
                }
                let name = name_of(material.name.as_deref().unwrap_or_default().as_bytes());
                builder.add_material(name, color(material))
            }
        };
        self.numbers.insert(index, number);
        Ok(number)
    }
}

fn has_texture(material: &Material) -> bool {
    let metallic = material.pbr_metallic_roughness.base_color_texture.is_some();
    let extensions = material.extensions.as_ref();
    let glossy = extensions.and_then(|it| it.pbr_specular_glossiness.as_ref());
    metallic || glossy.is_some_and(|glossy| glossy.diffuse_texture.is_some())
}

/// The base colour, or the diffuse colour of the older specular-glossiness model.
fn color(material: &Material) -> [u8; 4] {
    let extensions = material.extensions.as_ref();
    let [red, green, blue, opacity] =
        match extensions.and_then(|it| it.pbr_specular_glossiness.as_ref()) {
            Some(glossy) => glossy.diffuse_factor.0,
            None => material.pbr_metallic_roughness.base_color_factor.0,
        };
    let opacity = match material.alpha_mode {
        Checked::Valid(AlphaMode::Blend) => opacity,
        Checked::Valid(AlphaMode::Mask) => {
            let cutoff = material.alpha_cutoff.unwrap_or_default().0;
            if opacity < cutoff { 0.0 } else { 1.0 }
        }
        _ => 1.0,
    };
    let [red, green, blue] = [red, green, blue].map(to_srgb);
    [red, green, blue, opacity].map(|number| (number.clamp(0.0, 1.0) * 255.0).round() as u8)
}

/// Converts linear light to sRGB.
fn to_srgb(light: f32) -> f32 {
    if light <= 0.003_130_8 { light * 12.92 } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 }
}
