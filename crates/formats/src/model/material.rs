use std::fmt;
use std::sync::Arc;

use super::Model;

/// Material of polygons.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelMaterial {
    /// Name in the file. May be empty. Names are cut to 255 bytes.
    pub name: String,
    /// Red, green, blue and opacity, in sRGB. Multiplies the base texture and the colours of
    /// vertices.
    pub color: [u8; 4],
    /// Texture of the colour.
    pub base_texture: Option<ModelTexture>,
    /// Use of the opacity of the base texture and of vertices. A colour with an opacity below 255
    /// is blended in any mode but [`AlphaMode::Mask`].
    pub alpha: AlphaMode,
    /// Light that the surface emits, in sRGB. Multiplies the emissive texture.
    pub emissive: [u8; 3],
    /// Texture of the emitted light.
    pub emissive_texture: Option<ModelTexture>,
    /// Whether the surface shows its colours without light and shade.
    pub is_unlit: bool,
}

impl ModelMaterial {
    /// Colour of polygons without a material: light grey.
    pub const DEFAULT_COLOR: [u8; 4] = [204, 204, 204, 255];

    /// Creates a material without textures.
    pub fn new(name: impl Into<String>, color: [u8; 4]) -> Self {
        Self {
            name: name.into(),
            color,
            base_texture: None,
            alpha: AlphaMode::default(),
            emissive: [0; 3],
            emissive_texture: None,
            is_unlit: false,
        }
    }

    fn textures(&mut self) -> impl Iterator<Item = &mut ModelTexture> {
        [self.base_texture.as_mut(), self.emissive_texture.as_mut()].into_iter().flatten()
    }
}

/// Use of the opacity of textures and vertices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AlphaMode {
    /// Ignored: the surface is opaque.
    #[default]
    Opaque,
    /// Positions with an opacity below this are not drawn, the others are opaque.
    Mask {
        /// Lowest opacity that is drawn.
        cutoff: u8,
    },
    /// Blended over what lies behind.
    Blend,
}

/// An image on a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelTexture {
    /// Index into [`Model::images`](Model::images).
    pub image: usize,
    /// Continuation of the image beyond its sides: across and down.
    pub wrap: [Wrap; 2],
    /// Maps the texture coordinates (u, v, 1) of a corner to a position in the image: across and
    /// down from its upper left corner, 1 at the other side.
    pub transform: [[f32; 3]; 2],
}

/// Continuation of an image beyond its sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wrap {
    /// The image repeats.
    #[default]
    Repeat,
    /// The image repeats, mirrored every second time.
    Mirror,
    /// The colours of its sides continue.
    Clamp,
}

/// A decoded image: four bytes for each texel, red, green, blue and opacity in sRGB, not
/// premultiplied, row by row from the top.
#[derive(Clone, PartialEq, Eq)]
pub struct ModelImage {
    /// Width and height, 1 to 8192.
    pub size: [u32; 2],
    /// The texels. Clones share them.
    pub rgba: Arc<[u8]>,
}

impl ModelImage {
    /// Whether any texel is not opaque.
    ///
    /// # Cost
    /// O(texels).
    pub fn is_translucent(&self) -> bool {
        self.rgba.chunks_exact(4).any(|texel| texel[3] < u8::MAX)
    }
}

impl fmt::Debug for ModelImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelImage").field("size", &self.size).finish_non_exhaustive()
    }
}

impl Model {
    /// Removes the images that no material uses.
    pub(super) fn drop_unused_images(&mut self) {
        let mut is_used = vec![false; self.images.len()];
        for texture in self.materials.iter_mut().flat_map(ModelMaterial::textures) {
            if let Some(is_used) = is_used.get_mut(texture.image) {
                *is_used = true;
            }
        }
        for texture in self.materials.iter_mut().flat_map(ModelMaterial::textures) {
            texture.image = is_used.iter().take(texture.image).filter(|is_used| **is_used).count();
        }
        let mut is_used = is_used.into_iter();
        self.images.retain(|_| is_used.next().unwrap_or_default());
    }
}
