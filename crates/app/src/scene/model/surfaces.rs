use std::collections::HashMap;

use drystone_formats::{AlphaMode, Model, ModelMaterial, ModelTexture, Wrap};
use drystone_render::{Opacity, SurfaceMaterial, SurfaceTexture, TextureSet, TextureWrap};

/// Converts the materials of a model with textures to those of renderers, and their corners.
pub(super) struct Surfaces<'a> {
    model: &'a Model,
    pub(super) set: TextureSet,
    /// Number of each image in the set, once a material uses it.
    images: HashMap<usize, Option<u32>>,
    /// Numbers of corners by their content.
    corners: HashMap<[u32; 4], u32>,
}

impl<'a> Surfaces<'a> {
    pub(super) fn new(model: &'a Model) -> Self {
        let set = TextureSet::default();
        Self { model, set, images: HashMap::new(), corners: HashMap::new() }
    }

    /// The number of a material in the set; `None` if it has only a colour, or the set is full.
    pub(super) fn material(&mut self, material: &ModelMaterial) -> Option<u32> {
        let ModelMaterial { base_texture, emissive_texture, emissive, is_unlit, .. } = material;
        if base_texture.is_none() && *emissive == [0; 3] && !is_unlit {
            return None;
        }
        let base = base_texture.as_ref().and_then(|texture| self.texture(texture));
        let emissive_texture = emissive_texture.as_ref().and_then(|it| self.texture(it));
        let opacity = match material.alpha {
            AlphaMode::Mask { cutoff } if base.is_some() => Opacity::Mask(cutoff),
            AlphaMode::Opaque if material.color[3] == u8::MAX => Opacity::Opaque,
            _ => Opacity::Blended,
        };
        let is_unlit = *is_unlit;
        let emissive = *emissive;
        self.set.add_material(SurfaceMaterial {
            base,
            opacity,
            emissive,
            emissive_texture,
            is_unlit,
        })
    }

    fn texture(&mut self, texture: &ModelTexture) -> Option<SurfaceTexture> {
        let Self { model, set, images, .. } = self;
        let image = images.entry(texture.image).or_insert_with(|| {
            let image = model.images.get(texture.image)?;
            set.add_image(image.size, image.rgba.clone())
        });
        let wrap = texture.wrap.map(|wrap| match wrap {
            Wrap::Repeat => TextureWrap::Repeat,
            Wrap::Mirror => TextureWrap::Mirror,
            Wrap::Clamp => TextureWrap::Clamp,
        });
        let transform = texture.transform;
        image.map(|image| SurfaceTexture { image, wrap, transform })
    }

    /// The number of a corner; `None` if the set is full.
    pub(super) fn corner(&mut self, uv: [f32; 2], color: [u8; 4], material: u32) -> Option<u32> {
        let [u, v] = uv.map(f32::to_bits);
        let key = [u, v, u32::from_le_bytes(color), material];
        if let Some(&number) = self.corners.get(&key) {
            return Some(number);
        }
        let number = self.set.add_corner(uv, color, material)?;
        self.corners.insert(key, number);
        Some(number)
    }
}

/// The colour of a vertex: that of the material times its own. An opaque material ignores the opacity
/// of vertices.
pub(super) fn vertex_color(material: &ModelMaterial, own: [u8; 4]) -> [u8; 4] {
    let product = |channel: usize| {
        let (a, b) = (u32::from(material.color[channel]), u32::from(own[channel]));
        ((a * b + 127) / 255) as u8
    };
    let opacity = match material.alpha {
        AlphaMode::Blend => product(3),
        AlphaMode::Mask { .. } if material.base_texture.is_some() => product(3),
        _ => material.color[3],
    };
    [product(0), product(1), product(2), opacity]
}

/// Whether a material is blended, without regard to vertices.
pub(super) fn is_blended(material: &ModelMaterial, model: &Model) -> bool {
    let image = material.base_texture.and_then(|it| model.images.get(it.image));
    match (material.alpha, image) {
        (AlphaMode::Mask { .. }, Some(_)) => false,
        (AlphaMode::Blend, Some(image)) if image.is_translucent() => true,
        _ => material.color[3] < u8::MAX,
    }
}
