//! Bloom: light around surfaces that emit light, as bright light has in an eye or a camera.
//!
//! ```text
//! scene ─► emitted light ─halve─► 1/4 ─halve─► 1/8 ─halve─► 1/16 ─halve─► 1/32 of a side
//!          1/2 of a side           +            +            +             │
//! picture ◄─────────add─────────── 1/4 ◄─widen─ 1/8 ◄─widen─ 1/16 ◄─widen──┘
//! ```
//! The scene is drawn again with a [`Frame`](crate::Frame) without sun, sky and ambient light, so that
//! only emitted light remains, and near surfaces hide it. Halving weighs four texels along each axis
//! 1 : 3 : 3 : 1, widening interpolates between texels. Both are steps of a quadratic B-spline, so each
//! of the four glows is smooth, and their sum is bright near its light and wide. The glow is added as
//! `glow + picture × (1 − glow)`, which never exceeds 1.
//!
//! All devices do this arithmetic: `soft/bloom.rs`, `wgpu_device/bloom.wgsl`, `gl/shaders/bloom.frag`.

use crate::samples::Samples;

/// Side of the picture in sides of the picture of emitted light.
pub(crate) const SHRINK: u32 = 2;

/// Samples in each pixel of the picture of emitted light: one for each pixel of the picture. With fewer,
/// the glow of small lights would flicker when the camera moves.
pub(crate) const SAMPLES: Samples = Samples::Four;

/// Number of glows that are added.
pub(crate) const WIDTHS: usize = 4;

/// Brightness of each glow. A pixel amid a large light receives four times this part of it, and a pixel
/// at its straight edge half of that.
#[cfg(any(feature = "soft", test))]
pub(crate) const STRENGTH: f32 = 0.15;

/// Returns the size of the picture of emitted light, followed by those of the glows. Each is half of the
/// one before, rounded up.
pub(crate) fn sizes(picture: [u32; 2]) -> [[u32; 2]; 1 + WIDTHS] {
    let mut size = picture.map(|side| side.max(1).div_ceil(SHRINK));
    std::array::from_fn(|_| {
        let own = size;
        size = size.map(|side| side.div_ceil(2));
        own
    })
}

#[cfg(test)]
mod tests;
