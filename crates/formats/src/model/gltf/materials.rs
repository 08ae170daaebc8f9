use std::collections::HashMap;

use gltf::json::Index;
use gltf::json::material::{self, Material};
use gltf::json::texture::Info;
use gltf::json::validation::Checked;

use super::Document;
use super::textures::{self, Slot};
use crate::fault::Fault;
use crate::model::builder::Builder;
use crate::model::fault::{malformed, name_of};
use crate::model::files::NamedFiles;
use crate::model::{AlphaMode, ModelMaterial, WarningKind};

/// Material indices in the model, by their index in the file.
pub(super) struct Materials<'a, 'f> {
    numbers: HashMap<Option<usize>, (usize, u32)>,
    named_files: &'a mut NamedFiles<'f>,
}

impl<'a, 'f> Materials<'a, 'f> {
    /// Creates a list without materials. Textures are read with `named_files`.
    pub(super) fn new(named_files: &'a mut NamedFiles<'f>) -> Self {
        Self { numbers: HashMap::new(), named_files }
    }

    /// The index of a material in the model, and the number of the texture coordinates that it
    /// uses. `None` is the default material.
    pub(super) fn number(
        &mut self,
        document: &Document,
        index: Option<Index<Material>>,
        builder: &mut Builder,
    ) -> Result<(usize, u32), Fault> {
        let index = index.map(|index| index.value());
        if let Some(&number) = self.numbers.get(&index) {
            return Ok(number);
        }
        let root = document.root;
        let number = match index {
            None => {
                let material = ModelMaterial::new("", ModelMaterial::DEFAULT_COLOR);
                (builder.add_material(material), 0)
            }
            Some(index) => {
                let Some(material) = root.materials.get(index) else {
                    let problem = format!("out of range, the file has {}", root.materials.len());
                    return Err(malformed(format_args!("material {index}"), problem));
                };
                let (material, uv_set) = self.read(document, (index, material), builder);
                (builder.add_material(material), uv_set)
            }
        };
        self.numbers.insert(index, number);
        Ok(number)
    }

    /// Converts a material and reads its textures. Also returns the number of its texture
    /// coordinates.
    fn read(
        &mut self,
        document: &Document,
        (index, material): (usize, &Material),
        builder: &mut Builder,
    ) -> (ModelMaterial, u32) {
        let location = format!("material {index}");
        let mut texture = |info: &Info, builder: &mut Builder| {
            textures::read((document, &mut *self.named_files), info, &location, builder)
        };
        let base: Option<Slot> = base_texture(material).and_then(|info| texture(info, builder));
        let emissive = material.emissive_texture.as_ref();
        let mut emissive: Option<Slot> = emissive.and_then(|info| texture(info, builder));
        let uv_set = base.as_ref().or(emissive.as_ref()).map_or(0, |slot| slot.uv_set);
        if emissive.as_ref().is_some_and(|slot| slot.uv_set != uv_set) {
            builder.warn(WarningKind::OtherCoordinates, &location);
            emissive = None;
        }
        let alpha = alpha_mode(material);
        let name = name_of(material.name.as_deref().unwrap_or_default().as_bytes());
        let extensions = material.extensions.as_ref();
        let strength = extensions.and_then(|it| it.emissive_strength.as_ref());
        let strength = strength.map_or(1.0, |it| it.emissive_strength.0);
        // Without its texture, the factor alone would make the whole surface shine.
        let lost_texture = emissive.is_none() && material.emissive_texture.is_some();
        let factor = if lost_texture { [0.0; 3] } else { material.emissive_factor.0 };
        let material = ModelMaterial {
            alpha,
            emissive: factor.map(|light| byte(to_srgb(light * strength))),
            is_unlit: extensions.is_some_and(|it| it.unlit.is_some()),
            emissive_texture: emissive.map(|slot| slot.texture),
            base_texture: base.as_ref().map(|slot| slot.texture),
            ..ModelMaterial::new(name, color(material, (alpha, base.is_some())))
        };
        (material, uv_set)
    }
}

/// The base texture, or the diffuse texture of the older specular-glossiness model.
fn base_texture(material: &Material) -> Option<&Info> {
    let extensions = material.extensions.as_ref();
    match extensions.and_then(|it| it.pbr_specular_glossiness.as_ref()) {
        Some(glossy) => glossy.diffuse_texture.as_ref(),
        None => material.pbr_metallic_roughness.base_color_texture.as_ref(),
    }
}

fn alpha_mode(material: &Material) -> AlphaMode {
    match material.alpha_mode {
        Checked::Valid(material::AlphaMode::Blend) => AlphaMode::Blend,
        Checked::Valid(material::AlphaMode::Mask) => {
            let cutoff = byte(material.alpha_cutoff.unwrap_or_default().0);
            AlphaMode::Mask { cutoff }
        }
        _ => AlphaMode::Opaque,
    }
}

/// The base colour, or the diffuse colour of the older specular-glossiness model.
fn color(material: &Material, (alpha, has_texture): (AlphaMode, bool)) -> [u8; 4] {
    let extensions = material.extensions.as_ref();
    let [red, green, blue, opacity] =
        match extensions.and_then(|it| it.pbr_specular_glossiness.as_ref()) {
            Some(glossy) => glossy.diffuse_factor.0,
            None => material.pbr_metallic_roughness.base_color_factor.0,
        };
    let opacity = match alpha {
        AlphaMode::Blend => opacity,
        // The opacity of a texture is tested position by position.
        AlphaMode::Mask { .. } if has_texture => opacity,
        AlphaMode::Mask { .. } => {
            let cutoff = material.alpha_cutoff.unwrap_or_default().0;
            if opacity < cutoff { 0.0 } else { 1.0 }
        }
        AlphaMode::Opaque => 1.0,
    };
    let [red, green, blue] = [red, green, blue].map(to_srgb);
    [red, green, blue, opacity].map(byte)
}

/// Converts a number from 0 to 1 to a byte.
pub(super) fn byte(number: f32) -> u8 {
    (number.clamp(0.0, 1.0) * 255.0).round() as u8
}

/// Converts linear light to sRGB.
pub(super) fn to_srgb(light: f32) -> f32 {
    if light <= 0.003_130_8 { light * 12.92 } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 }
}
