//! Overlays: textured triangles in pixel coordinates, drawn over pictures.

use std::{collections::HashMap, ops::Range};

use bytemuck::{Pod, Zeroable};

use crate::error::RenderError;

/// Panels, text and other triangles drawn over pictures, as libraries for user interfaces output
/// them. Colours are sRGB as shown on screen, with premultiplied opacity.
///
/// # Examples
/// ```
/// use drystone_render::{
/// Overlay, OverlayCorner, OverlayPart, OverlayPatch, PoolRenderer, Renderer, SoftDevice, View,
/// };
///
/// // A red square over the left half of a picture of 8 by 8 pixels.
/// let white = OverlayPatch { texture: 0, at: None, size: [1, 1], rgba: vec![255; 4] };
/// let corner = |x, y| OverlayCorner { at: [x, y], uv: [0.0; 2], color: [255, 0, 0, 255] };
/// let overlay = Overlay {
/// patches: vec![white],
/// corners: vec![corner(0.0, 0.0), corner(4.0, 0.0), corner(4.0, 8.0), corner(0.0, 8.0)],
/// indices: vec![0, 1, 2, 0, 2, 3],
/// parts: vec![OverlayPart { texture: 0, clip: [0, 0, 8, 8], indices: 0..6 }],
/// ..Overlay::default()
/// };
/// let mut renderer = PoolRenderer::new(SoftDevice::new(8, 8)?, 0, 1)?;
/// renderer.output().set_overlay(&overlay)?;
/// renderer.draw(&View::new(Default::default()))?;
/// let picture = renderer.read_image()?;
/// assert_eq!(picture.pixel(3, 7), [255, 0, 0, 255]);
/// assert_ne!(picture.pixel(4, 7), [255, 0, 0, 255]);
/// # Ok::<(), drystone_render::RenderError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overlay {
    /// Changes of textures since the last overlay. Textures remain until they are freed.
    pub patches: Vec<OverlayPatch>,
    /// Textures to free. This overlay must not use them.
    pub freed: Vec<u64>,
    /// Corners of triangles.
    pub corners: Vec<OverlayCorner>,
    /// Three for each triangle. Triangles are visible from both sides.
    pub indices: Vec<u32>,
    /// Parts to draw, from back to front.
    pub parts: Vec<OverlayPart>,
}

/// A corner of an overlay triangle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct OverlayCorner {
    /// Position in pixels, from the left and top edge of the picture.
    pub at: [f32; 2],
    /// Texture coordinates: 0 is the left and top edge, 1 the right and bottom.
    pub uv: [f32; 2],
    /// Colour that the texture's colour is multiplied with.
    pub color: [u8; 4],
}

const _: () = assert!(size_of::<OverlayCorner>() == 20);

/// Triangles with one texture, clipped to a box.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverlayPart {
    /// The texture.
    pub texture: u64,
    /// The pixels that can change: left, top, and the first column and row beyond the box.
    pub clip: [u32; 4],
    /// Range of [`Overlay::indices`].
    pub indices: Range<u32>,
}

/// A texture, or a changed part of one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverlayPatch {
    /// Number of the texture, chosen by the caller.
    pub texture: u64,
    /// Pixel of the texture at which the part begins. `None` replaces the whole texture.
    pub at: Option<[u32; 2]>,
    /// Width and height in pixels, both at least 1.
    pub size: [u32; 2],
    /// The pixels' bytes, rows from the top. Colours are premultiplied.
    pub rgba: Vec<u8>,
}

impl Overlay {
    /// Maximum side of a texture, in pixels: what every device allows.
    pub const MAX_TEXTURE_SIDE: u32 = 2048;

    /// Checks that all indices and textures of the overlay exist. `textures` contains the sizes of
    /// the device's textures, and is updated.
    ///
    /// # Cost
    /// O(corners + indices).
    ///
    /// # Errors
    /// `BadOverlay`. `textures` may be wrong then, and the whole overlay must be set again.
    pub(crate) fn check(&self, textures: &mut HashMap<u64, [u32; 2]>) -> Result<(), RenderError> {
        let bad = |reason| Err(RenderError::BadOverlay { reason });
        for patch in &self.patches {
            if let Err(reason) = patch.check(textures) {
                return bad(reason);
            }
        }
        for texture in &self.freed {
            textures.remove(texture);
        }
        if self.corners.iter().any(|corner| !corner.is_finite()) {
            return bad("the position of a corner is not finite");
        }
        let end = self.corners.len();
        if self.indices.iter().any(|&index| index as usize >= end) {
            return bad("an index is out of range");
        }
        for part in &self.parts {
            let Range { start, end } = part.indices;
            if start > end || end as usize > self.indices.len() || (end - start) % 3 != 0 {
                return bad("a part's range of indices is out of range or not a multiple of three");
            }
            if !textures.contains_key(&part.texture) {
                return bad("a part uses a texture that does not exist");
            }
        }
        Ok(())
    }
}

impl OverlayCorner {
    fn is_finite(&self) -> bool {
        self.at.iter().chain(&self.uv).all(|number| number.is_finite())
    }
}

impl OverlayPart {
    /// The box clipped to a picture of this size; `None` if no pixel remains.
    pub(crate) fn clip_within(&self, [width, height]: [u32; 2]) -> Option<[u32; 4]> {
        let [left, top, right, bottom] = self.clip;
        let (right, bottom) = (right.min(width), bottom.min(height));
        (left < right && top < bottom).then_some([left, top, right, bottom])
    }
}

impl OverlayPatch {
    fn check(&self, textures: &mut HashMap<u64, [u32; 2]>) -> Result<(), &'static str> {
        let [width, height] = self.size;
        let pixels = u64::from(width) * u64::from(height);
        if pixels == 0 || pixels * 4 != self.rgba.len() as u64 {
            return Err("a texture's size does not match its number of bytes");
        }
        if width.max(height) > Overlay::MAX_TEXTURE_SIDE {
            return Err("a texture is larger than 2048 pixels a side");
        }
        let Some(at) = self.at else {
            textures.insert(self.texture, self.size);
            return Ok(());
        };
        let Some(whole) = textures.get(&self.texture) else {
            return Err("a patch belongs to a texture that does not exist");
        };
        let is_within = |axis: usize| {
            at[axis].checked_add(self.size[axis]).is_some_and(|end| end <= whole[axis])
        };
        if is_within(0) && is_within(1) {
            Ok(())
        } else {
            Err("a patch reaches outside its texture")
        }
    }
}
