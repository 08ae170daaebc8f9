//! What lies over pictures: triangles in pixels, with textures.

use std::{collections::HashMap, ops::Range};

use bytemuck::{Pod, Zeroable};

use crate::RenderError;

/// Panels, text and the like, drawn over pictures: what any library for user interfaces makes
/// triangles of. Colours are as shown on screen, multiplied by their opacity already.
///
/// # Examples
/// ```
/// use drystone_render::{
///     Overlay, OverlayCorner, OverlayPart, OverlayPatch, PoolRenderer, Renderer, SoftDevice, View,
/// };
///
/// // A red square over the left half of a picture of 8 by 8 pixels.
/// let white = OverlayPatch { texture: 0, at: None, size: [1, 1], rgba: vec![255; 4] };
/// let corner = |x, y| OverlayCorner { at: [x, y], uv: [0.0; 2], color: [255, 0, 0, 255] };
/// let overlay = Overlay {
///     patches: vec![white],
///     corners: vec![corner(0.0, 0.0), corner(4.0, 0.0), corner(4.0, 8.0), corner(0.0, 8.0)],
///     indices: vec![0, 1, 2, 0, 2, 3],
///     parts: vec![OverlayPart { texture: 0, clip: [0, 0, 8, 8], indices: 0..6 }],
///     ..Overlay::default()
/// };
/// let mut renderer = PoolRenderer::new(SoftDevice::new(8, 8)?, 0, 1)?;
/// renderer.set_overlay(&overlay)?;
/// renderer.draw(&View::new(Default::default()))?;
/// let picture = renderer.read_image()?;
/// assert_eq!(picture.pixel(3, 7), [255, 0, 0, 255]);
/// assert_ne!(picture.pixel(4, 7), [255, 0, 0, 255]);
/// # Ok::<(), drystone_render::RenderError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overlay {
    /// What has changed of textures since the last overlay. They are kept until they are freed.
    pub patches: Vec<OverlayPatch>,
    /// Textures that are needed no more, not even by this overlay.
    pub freed: Vec<u64>,
    /// Corners of triangles.
    pub corners: Vec<OverlayCorner>,
    /// Three a triangle, seen from both sides.
    pub indices: Vec<u32>,
    /// What is drawn, one over the other.
    pub parts: Vec<OverlayPart>,
}

/// A corner of a triangle that lies over pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct OverlayCorner {
    /// Pixels to the right of the picture's left edge, and below its top.
    pub at: [f32; 2],
    /// The place in the texture: 0 is its left and top edge, 1 its right and bottom.
    pub uv: [f32; 2],
    /// What the texture's colour is multiplied with.
    pub color: [u8; 4],
}

const _: () = assert!(size_of::<OverlayCorner>() == 20);

/// Triangles of one texture, within a box.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverlayPart {
    /// The texture.
    pub texture: u64,
    /// The pixels that are touched: left, top, and beyond the right and the bottom ones.
    pub clip: [u32; 4],
    /// Which of [`Overlay::indices`].
    pub indices: Range<u32>,
}

/// A texture, or a part of one that has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverlayPatch {
    /// The texture, by any number.
    pub texture: u64,
    /// The pixel of it at which the part begins; `None`: this is all of it, in the place of what
    /// it was.
    pub at: Option<[u32; 2]>,
    /// Pixels across and down, more than none.
    pub size: [u32; 2],
    /// The pixels' bytes, rows from the top; colours are multiplied by their opacity.
    pub rgba: Vec<u8>,
}

impl Overlay {
    /// Pixels of a texture's side, at most: what every device allows.
    pub const MAX_TEXTURE_SIDE: u32 = 2048;

    /// Checks that all that it names is there; `textures` are the sizes of those that a device
    /// has, and become those that it has then.
    ///
    /// # Cost
    /// O(corners + indices).
    ///
    /// # Errors
    /// `BadOverlay`; what a device has may be said wrong then, and all is to be said anew.
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
            return bad("a corner is nowhere");
        }
        let end = self.corners.len();
        if self.indices.iter().any(|&index| index as usize >= end) {
            return bad("an index names no corner");
        }
        for part in &self.parts {
            let Range { start, end } = part.indices;
            if start > end || end as usize > self.indices.len() || (end - start) % 3 != 0 {
                return bad("a part has indices that are not there, or no three a triangle");
            }
            if !textures.contains_key(&part.texture) {
                return bad("a texture is not there");
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
    /// The box within a picture of this size; `None` where it holds no pixel.
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
            return Err("a texture has not as many bytes as its pixels take");
        }
        if width.max(height) > Overlay::MAX_TEXTURE_SIDE {
            return Err("a texture is larger than devices allow");
        }
        let Some(at) = self.at else {
            textures.insert(self.texture, self.size);
            return Ok(());
        };
        let Some(whole) = textures.get(&self.texture) else {
            return Err("a part is of a texture that is not there");
        };
        let is_within = |axis: usize| {
            at[axis].checked_add(self.size[axis]).is_some_and(|end| end <= whole[axis])
        };
        if is_within(0) && is_within(1) { Ok(()) } else { Err("a part is beyond its texture") }
    }
}
