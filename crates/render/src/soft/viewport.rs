//! Conversion from clip space to pixels in fixed point.

use glam::{Vec4, Vec4Swizzles};

use crate::samples::Samples;

/// Number of steps per pixel in each direction, as on GPUs. Corners snap to them, so that edge
/// functions are exact integers from there on.
pub(super) const SUBPIXELS: i32 = 1 << SUBPIXEL_BITS;
pub(super) const SUBPIXEL_BITS: u32 = 8;

/// Maximum distance of a coordinate from the picture's corner, in pixels. Together with the eight
/// sub-pixel bits it fills 24 bits: products of two differences fit 64 bits.
const GUARD_PIXELS: f32 = 65536.0;

/// The largest side of a picture. Half the guard, so that there is space on all sides.
pub(super) const MAX_SIDE: u32 = 16384;

/// Points with a smaller clip `w` count as behind the camera; the reciprocal is still finite.
pub(super) const MIN_W: f32 = 1e-30;

/// Maps clip space to a picture.
pub(super) struct Viewport {
    pub(super) width: i32,
    pub(super) height: i32,
    half_width: f32,
    half_height: f32,
    /// Points within this many times `w` of the middle stay within [`GUARD_PIXELS`].
    pub(super) guard: f32,
    /// Positions of a pixel's samples, in sub-pixels from its centre, y down.
    pub(super) samples: &'static [[i32; 2]],
    /// Largest distance of a sample from its pixel's centre along an axis, in sub-pixels.
    pub(super) reach: i32,
}

/// Largest number of samples in a pixel.
pub(super) const MAX_SAMPLES: usize = 8;

/// Sub-pixels in the unit of the standard positions, 1/16 of a pixel.
const UNIT: i32 = SUBPIXELS / 16;

/// The standard positions of Vulkan and Direct3D, in sub-pixels from a pixel's centre, y down.
const fn positions(samples: Samples) -> &'static [[i32; 2]] {
    const U: i32 = UNIT;
    match samples {
        Samples::One => &[[0, 0]],
        Samples::Four => &[[-2 * U, -6 * U], [6 * U, -2 * U], [-6 * U, 2 * U], [2 * U, 6 * U]],
        Samples::Eight => &[
            [U, -3 * U],
            [-U, 3 * U],
            [5 * U, U],
            [-3 * U, -5 * U],
            [-5 * U, 5 * U],
            [-7 * U, -U],
            [3 * U, 7 * U],
            [7 * U, -7 * U],
        ],
    }
}

/// A corner on the grid of sub-pixels. Pixel centres lie at multiples of [`SUBPIXELS`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Snapped {
    pub(super) x: i32,
    pub(super) y: i32,
    pub(super) depth: f32,
}

/// Position of four corners relative to the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Containment {
    /// All corners are beyond one side of the view.
    Outside,
    /// All corners can be snapped without clipping.
    Inside,
    /// Anything else, which must be clipped.
    Across,
}

impl Viewport {
    /// Creates the viewport of a picture with at most [`MAX_SIDE`] pixels a side.
    pub(super) fn new(width: u32, height: u32) -> Self {
        let longest = width.max(height).max(1) as f32;
        Self {
            width: width as i32,
            height: height as i32,
            half_width: width as f32 / 2.0,
            half_height: height as f32 / 2.0,
            guard: 2.0 * GUARD_PIXELS / longest - 1.0,
            samples: positions(Samples::One),
            reach: 0,
        }
    }

    /// Replaces the samples of each pixel.
    pub(super) fn with_samples(self, samples: Samples) -> Self {
        let samples = positions(samples);
        let reach = samples.iter().flatten().map(|at| at.abs()).max().unwrap_or(0);
        Self { samples, reach, ..self }
    }

    #[inline]
    pub(super) fn containment(&self, corners: &[Vec4; 4]) -> Containment {
        const ALL: u32 = 0b1111;
        let (mut below_all, mut above_all, mut all_inside) = (ALL, ALL, ALL);
        for corner in corners {
            let w = corner.w;
            // Depth runs from 0 to w. The last lane never rejects.
            let low = Vec4::new(-w, -w, 0.0, f32::MIN);
            let high = Vec4::new(w, w, w, f32::MAX);
            below_all &= corner.cmplt(low).bitmask();
            above_all &= corner.cmpgt(high).bitmask();
            // Written so that NaN counts as not inside.
            let reach = w * self.guard;
            let low = Vec4::new(-reach, -reach, f32::MIN, MIN_W);
            let high = Vec4::new(reach, reach, w, f32::MAX);
            all_inside &= corner.cmpge(low).bitmask() & corner.cmple(high).bitmask();
        }
        if below_all | above_all != 0 {
            Containment::Outside
        } else if all_inside == ALL {
            Containment::Inside
        } else {
            Containment::Across
        }
    }

    /// Divides by `w`, maps to pixels with y down and snaps.
    #[inline]
    pub(super) fn snap(&self, clip: Vec4) -> Snapped {
        let ndc = clip.xyz() * clip.w.recip();
        Snapped {
            x: snap(ndc.x * self.half_width + self.half_width),
            y: snap(ndc.y * -self.half_height + self.half_height),
            depth: ndc.z,
        }
    }
}

/// The nearest sub-pixel, ties to even, counted from the first pixel's centre. Coordinates beyond
/// the guard and NaN are clamped to it.
#[inline]
#[expect(clippy::manual_clamp, reason = "`clamp` would keep NaN")]
fn snap(pixels: f32) -> i32 {
    // Adding 1.5 × 2^52 leaves no bits for a fraction: the sum is rounded, and its lowest 32 bits
    // are the integer.
    const MAGIC: f64 = 6_755_399_441_055_744.0;
    let from_center = (pixels - 0.5).max(-GUARD_PIXELS).min(GUARD_PIXELS);
    (f64::from(from_center * SUBPIXELS as f32) + MAGIC).to_bits() as u32 as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snap_rounds_to_the_nearest_ties_to_even() {
        for (pixels, steps) in [
            (0.5, 0),
            (1.5, 256),
            (-1.5, -512),
            (0.5 + 0.49 / 256.0, 0),
            (0.5 + 0.51 / 256.0, 1),
            (0.5 - 0.51 / 256.0, -1),
            (0.5 + 1.5 / 256.0, 2),
            (0.5 + 2.5 / 256.0, 2),
            (16384.5, 16384 * 256),
            (f32::INFINITY, 1 << 24),
            (f32::NEG_INFINITY, -(1 << 24)),
            (f32::NAN, -(1 << 24)),
        ] {
            assert_eq!(snap(pixels), steps, "{pixels}");
        }
    }

    #[test]
    fn corners_of_the_picture_land_on_its_corners() {
        let viewport = Viewport::new(640, 480);
        let top_left = viewport.snap(Vec4::new(-2.0, 2.0, 1.0, 2.0));
        assert_eq!(top_left, Snapped { x: -128, y: -128, depth: 0.5 });
        let bottom_right = viewport.snap(Vec4::new(1.0, -1.0, 0.25, 1.0));
        let (x, y) = (640 * 256 - 128, 480 * 256 - 128);
        assert_eq!(bottom_right, Snapped { x, y, depth: 0.25 });
    }

    #[test]
    fn containment_is_classified() {
        let viewport = Viewport::new(MAX_SIDE, 100);
        let at = |x: f32, z: f32| Vec4::new(x, 0.0, z, 1.0);
        let classify = |a: Vec4, b: Vec4| viewport.containment(&[a, b, a, b]);
        assert_eq!(classify(at(0.0, 0.5), at(6.9, 1.0)), Containment::Inside);
        assert_eq!(classify(at(0.0, 0.5), at(7.1, 0.5)), Containment::Across);
        assert_eq!(classify(at(1.1, 0.5), at(9.0, 0.5)), Containment::Outside);
        assert_eq!(classify(at(-1.1, 0.5), at(9.0, 0.5)), Containment::Across);
        assert_eq!(classify(at(0.0, 0.5), at(0.0, 1.1)), Containment::Across);
        assert_eq!(classify(at(0.0, 1.5), at(0.0, 1.1)), Containment::Outside);
        assert_eq!(classify(at(0.0, 0.5), at(0.0, -0.1)), Containment::Inside);
        assert_eq!(classify(at(0.0, -0.1), at(0.0, -5.0)), Containment::Outside);
        assert_eq!(classify(at(0.0, 0.5), Vec4::new(0.0, 0.0, 0.0, 0.0)), Containment::Across);
        assert_eq!(classify(at(0.0, 0.5), Vec4::NAN), Containment::Across);
    }
}
