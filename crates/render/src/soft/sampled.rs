//! Pictures with several samples a pixel.
//!
//! ```text
//! triangle ─► row by row: covered samples ─► depth test ─► one colour a pixel ─► its samples
//! samples of a pixel ─► mean ─► picture
//! ```
//! A triangle is coloured at the centre of a pixel if it is seen at all samples of the pixel, else at
//! the first sample at which it is seen (centroid sampling). So no colour is computed outside of its
//! triangle. Mesa's drivers do the same; other hardware may count covered samples that are hidden. A
//! pixel can show one triangle for each sample, so colours are computed when triangles are drawn,
//! also for those that are hidden later.

use std::ops::Range;

use glam::Vec4;

use super::{
    bins::BAND_ROWS,
    memory::zeroed,
    shade::{FAR, Shader, center, over, packed},
    threads,
    triangle::{Fragment, Triangle},
    viewport::Viewport,
};
use crate::{error::RenderError, image::Image, mesh_data::Layer};

/// Largest number of samples in a picture, that of the largest picture with one sample a pixel:
/// 2 GiB.
const MAX_SAMPLES: u64 = 1 << 28;

/// Depths and colours of all samples, pixel by pixel.
pub(super) struct Sampled {
    /// Number of samples in a pixel.
    count: usize,
    width: usize,
    depths: Vec<f32>,
    colors: Vec<[u8; 4]>,
}

/// Some rows of a picture.
struct Band<'a> {
    number: usize,
    count: usize,
    width: usize,
    depths: &'a mut [f32],
    colors: &'a mut [[u8; 4]],
}

impl Sampled {
    /// # Errors
    /// `TooLarge` or `OutOfMemory`.
    pub(super) fn new([width, height]: [u32; 2], count: u32) -> Result<Self, RenderError> {
        let requested = u64::from(width) * u64::from(height) * u64::from(count);
        if requested > MAX_SAMPLES {
            let (what, limit) = ("the number of samples in a picture", MAX_SAMPLES);
            return Err(RenderError::TooLarge { what, requested, limit });
        }
        Ok(Self {
            count: count as usize,
            width: width as usize,
            depths: zeroed("depths of samples", requested as usize)?,
            colors: zeroed("colours of samples", requested as usize)?,
        })
    }

    pub(super) fn clear(&mut self) {
        self.depths.fill(FAR);
    }

    /// Draws the triangles of each band in order, over farther or equally far samples. `color`
    /// computes the colour of a triangle at a position in pixels and a depth; `None` where it has a
    /// hole.
    pub(super) fn draw<'b, T: Copy, I: Iterator<Item = (&'b Triangle, T)>>(
        &mut self,
        (viewport, layer): (&Viewport, Layer),
        of_band: impl Fn(usize) -> I + Sync,
        color: impl Fn([f32; 2], f32, T) -> Option<Vec4> + Sync,
    ) {
        threads::for_each(&mut self.bands(), |number, band| {
            let rows = band.rows();
            for (triangle, data) in of_band(number) {
                triangle.fragments(viewport, &rows, |fragment| {
                    band.fill(layer, fragment, |at, depth| color(at, depth, data));
                });
            }
        });
    }

    /// Colours the samples without a surface.
    pub(super) fn draw_sky(&mut self, shader: &Shader<'_>) {
        threads::for_each(&mut self.bands(), |_, band| band.draw_sky(shader));
    }

    /// Stores the mean of each pixel's samples in a picture of this size.
    pub(super) fn resolve(&mut self, image: &mut Image) {
        let pixels: &mut [[u8; 4]] = bytemuck::cast_slice_mut(image.rgba_mut());
        let band_pixels = self.width * BAND_ROWS;
        let samples = self.colors.chunks(band_pixels * self.count);
        let mut bands: Vec<_> = pixels.chunks_mut(band_pixels).zip(samples).collect();
        threads::for_each(&mut bands, |_, (pixels, samples)| {
            for (pixel, samples) in pixels.iter_mut().zip(samples.chunks_exact(self.count)) {
                *pixel = mean(samples);
            }
        });
    }

    fn bands(&mut self) -> Vec<Band<'_>> {
        let &mut Self { count, width, .. } = self;
        let band_samples = count * width * BAND_ROWS;
        let planes = self.depths.chunks_mut(band_samples).zip(self.colors.chunks_mut(band_samples));
        let bands = planes.enumerate();
        bands
            .map(|(number, (depths, colors))| Band { number, count, width, depths, colors })
            .collect()
    }
}

impl Band<'_> {
    fn rows(&self) -> Range<i32> {
        let first = self.number * BAND_ROWS;
        first as i32..(first + self.depths.len() / (self.width * self.count)) as i32
    }

    #[inline]
    fn fill(
        &mut self,
        layer: Layer,
        fragment: &Fragment<'_>,
        color: impl Fn([f32; 2], f32) -> Option<Vec4>,
    ) {
        let row = fragment.y - self.number * BAND_ROWS;
        let first = (row * self.width + fragment.x) * self.count;
        let depths = &mut self.depths[first..first + self.count];
        let mut seen = 0;
        for sample in fragment.covered() {
            let depth = fragment.depth(sample);
            if depth >= depths[sample] {
                seen |= 1 << sample;
            }
        }
        if seen == 0 {
            return;
        }
        let (at, depth) = fragment.shaded_at(seen);
        let Some(own) = color(at, depth) else { return };
        let colors = &mut self.colors[first..first + self.count];
        let stored = packed(own);
        for (sample, there) in colors.iter_mut().enumerate() {
            if seen >> sample & 1 != 0 {
                if layer == Layer::Opaque {
                    depths[sample] = fragment.depth(sample);
                }
                *there = if layer == Layer::Opaque { stored } else { over(own, *there) };
            }
        }
    }

    fn draw_sky(&mut self, shader: &Shader<'_>) {
        let pixels = self.depths.chunks_exact(self.count);
        let pixels = pixels.zip(self.colors.chunks_exact_mut(self.count)).enumerate();
        for (pixel, (depths, colors)) in pixels {
            if depths.iter().all(|&depth| depth != FAR) {
                continue;
            }
            let (x, y) = (pixel % self.width, self.number * BAND_ROWS + pixel / self.width);
            let sky = packed(shader.sky(center(x, y)));
            for (color, &depth) in colors.iter_mut().zip(depths) {
                *color = if depth == FAR { sky } else { *color };
            }
        }
    }
}

/// Mean colour, rounded to nearest.
#[inline]
fn mean(samples: &[[u8; 4]]) -> [u8; 4] {
    let count = samples.len() as u16;
    let sums = samples.iter().fold([count / 2; 4], |sums, color| {
        [0, 1, 2, 3].map(|channel| sums[channel] + u16::from(color[channel]))
    });
    sums.map(|sum| (sum / count) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More samples than the limit are an error before any memory is allocated. A picture of
    /// 7680x4320 with eight samples is within the limit.
    #[test]
    fn too_many_samples_are_an_error() {
        for (size, count) in [([16_384, 16_384], 4), ([16_384, 8_192], 4), ([16_384, 2_049], 8)] {
            let error = Sampled::new(size, count).map(|_| ()).unwrap_err();
            assert!(matches!(error, RenderError::TooLarge { .. }), "{error}");
            assert!(error.to_string().contains("268435456"), "{error}");
        }
        const { assert!(7_680 * 4_320 * 8 <= MAX_SAMPLES) };
    }

    #[test]
    fn means_are_rounded_to_the_nearest() {
        let grey = |levels: &[u8]| mean(&levels.iter().map(|&it| [it; 4]).collect::<Vec<_>>())[0];
        assert_eq!(grey(&[255; 8]), 255);
        assert_eq!(grey(&[0, 0, 0, 1]), 0);
        assert_eq!(grey(&[0, 0, 1, 1]), 1);
        assert_eq!(grey(&[10, 20, 30, 41]), 25);
    }
}
